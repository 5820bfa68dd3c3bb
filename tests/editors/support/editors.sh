# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Real editors. Sourced after home.sh and lib.sh. VS Code is code-server with a page in Chromium; the
# extension of probe/ performs steps through the editor's own interface. What a step starts runs
# look.sh, which writes into the project where it ran and whether it could read a key.
editors=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
installed=${BERM_SOURCE_DIR:?the top of the source tree}/build/deps/editors

if [ "$(id -u)" -eq 0 ]; then
	echo "editors run as an ordinary user here: script/test --editors"
	exit 77
fi

# package NAME: its directory.
package() {
	awk -v name="$1" '$1 == name { print name "-" $3 "/node_modules/" $2 }' "$editors/packages"
}

# need_vscode: the paths of the packages, or a skip. They are kept outside of /tmp and of the home, as
# those of a system's package would be.
need_vscode() {
	node=$installed/$(package node)/bin/node
	server=$installed/$(package code-server)/out/node/entry.js
	playwright=$installed/$(package playwright)
	chromium=$(command -v chromium) || { echo "chromium is not installed; script/setup --editors installs it"; exit 77; }
	if [ ! -x "$node" ] || [ ! -e "$server" ] || [ ! -e "${server%/out/*}/../../built" ] || [ ! -d "$playwright" ]; then
		echo "code-server, node or playwright-core is not installed; tests/editors/install says why"
		exit 77
	fi
}

# make_home: a home with a key, a project with a repository and a script that looks around.
make_home() {
	move_home
	mkdir -m 700 "$HOME/.ssh"
	echo "FAKE-KEY-$$" >"$HOME/.ssh/id_rsa"
	git config --global user.name 'Test User'
	git config --global user.email tester@example.org
	git config --global init.defaultBranch main
	git init -q "$project"
	cat >"$project/look.sh" <<-'LOOK'
		mkdir -p look
		{ echo "${BERM:-0}"; cat ~/.ssh/id_rsa 2>/dev/null || echo no key; env; } >"look/.$1"
		mv "look/.$1" "look/$1"
	LOOK
	cat >"$project/look.js" <<-'LOOK'
		const fs = require("fs")
		const name = process.argv[2]
		let key = "no key"
		try { key = fs.readFileSync(`${process.env.HOME}/.ssh/id_rsa`, "utf8").trim() } catch {}
		fs.mkdirSync("look", { recursive: true })
		fs.writeFileSync(`look/${name}`, `${process.env.BERM || 0}\n${key}\n`)
	LOOK
	printf 'look\n' >"$project/.gitignore"
	git -C "$project" add -A
	git -C "$project" commit -qm first
}

# The editor's own settings, before `berm setup vscode`.
user_settings=.local/share/code-server/User/settings.json
make_settings() {
	mkdir -p "$HOME/${user_settings%/*}" "$HOME/.local/share/code-server/extensions"
	cp -r "$editors/support/probe" "$HOME/.local/share/code-server/extensions/test.bermprobe-0.0.1"
	cat >"$HOME/$user_settings" <<-'END'
		{
			"workbench.startupEditor": "none",
			"workbench.secondarySideBar.defaultVisibility": "hidden",
			"security.workspace.trust.enabled": false,
			"extensions.autoUpdate": false,
			"extensions.autoCheckUpdates": false,
			"telemetry.telemetryLevel": "off",
			"task.allowAutomaticTasks": "off",
			"git.autofetch": false
		}
	END
}

# user_policy LINE...
user_policy() {
	mkdir -p "$HOME/.config/berm"
	printf '%s\n' 'version: 1' "$@" >"$HOME/.config/berm/berm.yml"
}

editor=
browser=
# Every process that was started, by its pid.
stop_editor() {
	[ -z "$browser" ] || kill "$browser" 2>/dev/null
	[ -z "$editor" ] || kill "$editor" 2>/dev/null
	[ -z "$editor" ] || wait "$editor" 2>/dev/null
	editor=
	browser=
}
# The last children of an editor end after it, and may still write.
leave_editor() {
	stop_editor
	cd /
	until_true rm -rf "$scratch"
	clean_up
}
trap '[ "$BASHPID" != "$$" ] || leave_editor' EXIT

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start_editor [COMMAND...]: the server, below this command; sets $port.
start_editor() {
	port=$(free_port)
	env -i HOME="$HOME" USER="$(id -un)" LOGNAME="$(id -un)" SHELL=/bin/bash LANG=C.UTF-8 TERM=xterm-256color \
		PATH="${node%/*}:/usr/local/bin:/usr/bin:/bin" BERM_PROBE="$scratch/steps.json" ${BERM_PROBE_SECONDS:+BERM_PROBE_SECONDS="$BERM_PROBE_SECONDS"} \
		"$@" "$node" "$server" --auth none --bind-addr "127.0.0.1:$port" --disable-telemetry --disable-update-check \
		--disable-workspace-trust "$project" >"$scratch/editor.log" 2>&1 </dev/null &
	editor=$!
	until_true curl -so /dev/null --max-time 5 "http://127.0.0.1:$port/healthz" || fail "the editor starts" "$(tail -n 5 "$scratch/editor.log")"
}

# play_steps NAME JSON: the steps in a new editor, with a picture of its window in the build tree.
play_steps() {
	local name=$1 status=0
	printf '%s\n' "$2" >"$scratch/steps.json"
	rm -rf "$scratch/steps.json.done" "$scratch/steps.json.started" "$scratch/steps.json.results" "$scratch/browser" "$project/look"
	start_editor
	show_steps "$name" || status=$?
	stop_editor
	expect_equal "$name: every step was tried" 0 "$status"
}

# show_steps NAME [DONE]: the page of the running editor, until the file DONE is there.
show_steps() {
	local status=0
	mkdir -p "$pictures"
	"$node" "$editors/support/drive.js" "$playwright" "$chromium" "$scratch/browser" "http://127.0.0.1:$port/?folder=$project" \
		"${2:-$scratch/steps.json.done}" "$pictures/$1.png" >"$scratch/drive.log" 2>&1 </dev/null &
	browser=$!
	wait "$browser" || status=$?
	browser=
	[ "$status" -eq 0 ] || tail -n 3 "$scratch/drive.log"
	return "$status"
}
pictures=${BERM_PICTURES:-$scratch/pictures}

# answer STEP: what the editor said.
answer() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], "nothing"))' "$scratch/steps.json.results" "$1"
}

# where STEP: `inside`, `outside`, or what else the step's file says. Inside and without the key, or
# outside and with it: anything between is neither.
where() {
	case $(head -n 2 "$project/look/$1" 2>/dev/null | tr '\n' ' ') in
	"1 no key ") echo inside ;;
	"0 FAKE-KEY-$$ ") echo outside ;;
	'') echo "nothing ran: $(answer "$1")" ;;
	*) head -n 2 "$project/look/$1" ;;
	esac
}

# expect_where SIDE STEP...
expect_where() {
	local side=$1 step
	shift
	for step; do
		expect_equal "${round:+$round: }$step" "$side" "$(where "$step")"
	done
}
