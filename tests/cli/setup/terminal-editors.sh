#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Editors of the terminal and tmux, beyond what setup-tools.sh has: Neovim in its two languages,
# `--check` that asks the editor itself, the mark in the prompt of a shim's shell, variables of an
# editor, and a tmux window that shows why it has no shell.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
git init -q "$project"
shims=$(dirname "$BERM")/shims
mkdir -m 700 "$HOME/.ssh"
echo "FAKE-KEY-$$" >"$HOME/.ssh/id_rsa"
socket=$scratch/tmux
leave() {
	tmux -S "$socket" kill-server 2>/dev/null
	clean_up
}
trap '[ "$BASHPID" != "$$" ] || leave' EXIT
unset TMUX TMUX_PANE STY TERM_PROGRAM PROMPT_COMMAND

if command -v nvim >/dev/null; then
	look='silent !echo "${BERM:-0}" >where; cat ~/.ssh/id_rsa >>where || echo no key >>where'
	nvim_looks() {
		rm -f where
		timeout "$patience" env -u BERM nvim --headless -n -i NONE -c "$look" -c 'qa!' </dev/null >/dev/null 2>&1
		tr '\n' ' ' <where
	}
	expect_equal "nvim: bare, with the key" "0 FAKE-KEY-$$ " "$(nvim_looks)"
	expect_status "nvim: set up" 0 "$BERM" setup nvim --write
	expect "nvim: in Lua" grep -qx "vim.o.shell = \"$shims/bash\"" "$HOME/.config/nvim/init.lua"
	expect_equal "nvim: inside" "1 no key " "$(nvim_looks)"
	expect_status "nvim: asked" 0 "$BERM" setup nvim --check
	expect_contains "nvim: and it answered" "nvim was asked: its shell is berm's" "$out"
	expect_contains "nvim: the first lines say what is outside" "not covered: system([...])" "$out"
	# A later line of the same file takes it back.
	echo 'vim.o.shell = "/bin/sh"' >>"$HOME/.config/nvim/init.lua"
	expect_status "nvim: another shell is seen" 1 "$BERM" setup nvim --check
	expect_contains "nvim: and named" "says that its shell is /bin/sh" "$out"
	rm -r "$HOME/.config/nvim"
	mkdir -p "$HOME/.config/nvim"
	# Vim script where there is such a file.
	echo 'set number' >"$HOME/.config/nvim/init.vim"
	expect_status "nvim: init.vim" 0 "$BERM" setup nvim --write
	expect "nvim: in Vim script" grep -qx "set shell=$shims/bash" "$HOME/.config/nvim/init.vim"
	expect_equal "nvim: inside, by init.vim" "1 no key " "$(nvim_looks)"
	# init.lua wins over it, and the answer is Neovim's.
	echo '-- mine' >"$HOME/.config/nvim/init.lua"
	expect_status "nvim: the other file wins" 1 "$BERM" setup nvim --check
	expect_equal "nvim: and is outside" "0 FAKE-KEY-$$ " "$(nvim_looks)"
	rm "$HOME/.config/nvim/init.lua"
	expect_status "nvim: undone" 0 "$BERM" setup nvim --undo
	expect_equal "nvim: as before" 'set number' "$(cat "$HOME/.config/nvim/init.vim")"
	expect_equal "nvim: outside again" "0 FAKE-KEY-$$ " "$(nvim_looks)"
	expect_status "vim: a file in Lua" 0 "$BERM" setup vim --file="$scratch/x.lua" --write
	expect "vim: gets Lua" grep -q '^vim.o.shell = ' "$scratch/x.lua"
fi
if command -v vim >/dev/null; then
	expect_status "vim: set up" 0 "$BERM" setup vim --write
	expect_status "vim: asked" 0 "$BERM" setup vim --check
	expect_contains "vim: and it answered" "vim was asked: its shell is berm's" "$out"
	echo 'set shell=/bin/sh' >>"$HOME/.vimrc"
	expect_status "vim: another shell is seen" 1 "$BERM" setup vim --check
fi
if command -v emacs >/dev/null; then
	expect_status "emacs: set up" 0 "$BERM" setup emacs --write
	expect_status "emacs: asked" 0 "$BERM" setup emacs --check
	expect_contains "emacs: and it answered" "emacs was asked: its shell is berm's" "$out"
	expect_contains "emacs: eshell is named" "not covered: eshell" "$out"
	# eshell runs programs itself, as its page warns. shell-command, the control, is inside.
	timeout "$patience" emacs --batch -l "$HOME/.emacs" --eval "(progn (require 'eshell) (eshell-command \"cat $HOME/.ssh/id_rsa >$project/eshell\")
		(shell-command \"cat $HOME/.ssh/id_rsa >shell-command\"))" >/dev/null 2>&1
	expect_equal "emacs: eshell is outside" "FAKE-KEY-$$" "$(cat "$project/eshell")"
	expect_equal "emacs: shell-command is inside" "" "$(cat "$project/shell-command")"
	echo '(setq shell-file-name "/bin/sh")' >>"$HOME/.emacs"
	expect_status "emacs: another shell is seen" 1 "$BERM" setup emacs --check
fi

# Variables of an editor: by their full names, in its terminals only.
variables() {
	env TERM_PROGRAM="$1" VSCODE_NONCE=nonce VSCODE_INJECTION=1 VIRTUAL_ENV=/venv VSCODE_IPC_HOOK_CLI=/x VSCODE_ENV_REPLACE=A_TOKEN=t \
		VSCODE_TOKEN=t GITHUB_TOKEN=t EXTVAR=e "$shims/bash" -c 'env' | grep -E '^(VSCODE|VIRTUAL|GITHUB|EXTVAR|A_TOKEN)' | sort | tr '\n' ' '
}
expect_equal "of VS Code: the listed ones" "VIRTUAL_ENV=/venv VSCODE_INJECTION=1 VSCODE_NONCE=nonce " "$(variables vscode)"
expect_equal "elsewhere: none" "" "$(variables tmux)"
mkdir -p "$HOME/.config/berm"
printf 'version: 1\nenvironment: {pass: [EXTVAR]}\n' >"$HOME/.config/berm/berm.yml"
expect_contains "one that the user's policy names" "EXTVAR=e" "$(variables vscode)"
rm "$HOME/.config/berm/berm.yml"

# VS Code: a project's settings that take a terminal outside are named, for each edition.
expect_status "vscode: set up" 0 "$BERM" setup vscode --file="$HOME/edition.json" --write
expect_status "vscode: configured" 0 "$BERM" setup vscode --file="$HOME/edition.json" --check
expect_contains "vscode: the first lines say what is outside" "not covered: tasks of the type process" "$(sed -n 2p <<<"$out")"
mkdir "$project/.vscode"
for setting in '"terminal.integrated.profiles.linux": {"berm": {"path": "/bin/bash"}}' '"terminal.integrated.defaultProfile.linux": "bash"' \
	'"terminal.integrated.automationProfile.linux": {"path": "/bin/sh"}'; do
	echo "{$setting}" >"$project/.vscode/settings.json"
	expect_status "vscode: $setting" 1 "$BERM" setup vscode --file="$HOME/edition.json" --check
	expect_contains "vscode: the file is named" "$project/.vscode/settings.json:1" "$out"
done
# Tasks and launches of the project that run outside are listed, with file and line.
rm "$project/.vscode/settings.json"
cat >"$project/.vscode/tasks.json" <<'END'
{
	// a comment
	"version": "2.0.0",
	"tasks": [
		{"label": "inside", "type": "shell", "command": "make"},
		{"label": "packages", "type": "npm", "script": "build"},
		{"label": "direct", "type": "process", "command": "/bin/make"},
		{"label": "untyped", "command": "make"},
		{"label": "own", "type": "shell", "command": "make", "options": {"cwd": "x",
			"shell": {"executable": "/bin/bash"}}},
		{"label": "own here", "type": "shell", "command": "make", "linux": {"options": {"shell": {}}}},
	],
}
END
cat >"$project/.vscode/launch.json" <<'END'
{"configurations": [
	{"name": "covered", "type": "node", "request": "launch", "program": "x.js"},
	{"name": "typed", "type": "debugpy", "request": "launch", "console": "integratedTerminal"},
	{"name": "attached", "type": "debugpy", "request": "attach"},
	{"name": "runtime", "type": "node", "request": "launch", "runtimeExecutable": "deno"},
	{"name": "external", "type": "node", "request": "launch", "console": "externalTerminal"},
	{"name": "python", "type": "debugpy", "request": "launch"}
]}
END
expect_status "vscode: still configured" 0 "$BERM" setup vscode --file="$HOME/edition.json" --check
expect_equal "vscode: the tasks and launches that run outside" \
	"tasks.json:7 direct tasks.json:8 untyped tasks.json:10 own tasks.json:11 own launch.json:5 runtime launch.json:6 external launch.json:7 python" \
	"$(sed -n "s#.*$project/.vscode/\([a-z.]*:[0-9]*\): [a-z]* \([a-z]*\) .*runs outside.*#\1 \2#p" <<<"$out" | tr '\n' ' ' | sed 's/ $//')"
expect_status "vscode: as JSON" 0 "$BERM" setup vscode --file="$HOME/edition.json" --check --json
expect_contains "vscode: the same" "tasks.json:7: task direct runs outside" "$out"
echo '{' >"$project/.vscode/tasks.json"
expect_status "vscode: a broken file" 0 "$BERM" setup vscode --file="$HOME/edition.json" --check
expect_contains "vscode: is named" "tasks.json: cannot be parsed" "$out"
rm -r "$project/.vscode"

# The debugger's socket: only with the user's consent, only if it is one.
mkdir "$scratch/sockets"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$scratch/sockets/node-cdp.1-ab12-3.sock"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$scratch/sockets/agent.sock"
echo >"$scratch/sockets/node-cdp.2-ab12-3.sock"
mkdir -p "$project/js"
echo >"$project/js/bootloader.js"
debugged() {
	env TERM_PROGRAM=vscode NODE_OPTIONS="--require $project/js/bootloader.js" VSCODE_INSPECTOR_OPTIONS=":::{\"inspectorIpc\":\"$1\"}" \
		"$shims/bash" -c '[ -S "$0" ] && echo socket; ls -A "${0%/*}" 2>/dev/null; echo "${NODE_OPTIONS:-no} options"' "$1" 2>&1 |
		sed "s#--require $project/js/bootloader.js#js#" | tr '\n' ' '
}
expect_equal "debugger: not without consent" "no options " "$(debugged "$scratch/sockets/node-cdp.1-ab12-3.sock")"
expect_status "debugger: allowed" 0 "$BERM" setup vscode --debugger --write
expect_status "debugger: seen" 0 "$BERM" setup vscode --debugger --check
expect_equal "debugger: the socket alone" "socket node-cdp.1-ab12-3.sock js options " "$(debugged "$scratch/sockets/node-cdp.1-ab12-3.sock")"
expect_equal "debugger: no other socket" "no options " "$(debugged "$scratch/sockets/agent.sock")"
expect_equal "debugger: no file" "no options " "$(debugged "$scratch/sockets/node-cdp.2-ab12-3.sock")"
# A launch that VS Code types into a new terminal: the line is read before there is a sandbox.
launched() {
	rm -f "$project/launched"
	python3 "$BERM_SOURCE_DIR/tests/cli/support/typed.py" "$shims/debug/bash" "$project/launched" \
		" cd $project ; /usr/bin/env 'NODE_OPTIONS=--require $project/js/bootloader.js ' 'VSCODE_INSPECTOR_OPTIONS={\"inspectorIpc\":\"$1\",\"execPath\":\"it'\\''s\"}' sh look.sh $1; $shims/debug/berm-node --version >version" \
		>"$scratch/screen" 2>&1
	tr '\n' ' ' <"$project/launched"
}
cat >"$project/look.sh" <<'END'
{
	echo "inside=$BERM"
	[ -S "$1" ] && echo socket
	ls -A "${1%/*}" 2>/dev/null
	echo "options=${NODE_OPTIONS:+js} typed=${BERM_TYPED-no}"
} >launching
mv launching launched
END
unset PS1
expect_equal "launch: the socket alone" "inside=1 socket node-cdp.1-ab12-3.sock options=js typed=no " "$(launched "$scratch/sockets/node-cdp.1-ab12-3.sock")"
expect "launch: the line is shown" grep -q 'sh look.sh' "$scratch/screen"
expect "launch: node is there" grep -q '^v[0-9]' "$project/version"
expect "launch: then the shell prompts" grep -qF '(berm) ' "$scratch/screen"
expect_equal "launch: no other socket" "inside=1 options=js typed=no " "$(launched "$scratch/sockets/agent.sock")"
# A program that the editor starts itself, without a terminal.
if command -v node >/dev/null; then
	cat >"$project/look.js" <<'END'
const fs = require("fs")
const socket = process.argv[2]
console.log(process.env.BERM, fs.existsSync(socket), process.env.VSCODE_INSPECTOR_OPTIONS ? "options" : "none")
END
	started() {
		env NODE_OPTIONS="--require $project/js/bootloader.js" VSCODE_INSPECTOR_OPTIONS="{\"inspectorIpc\":\"$1\"}" \
			"$shims/debug/berm-node" look.js "$1" 2>&1
	}
	expect_equal "node: the socket" "1 true options" "$(started "$scratch/sockets/node-cdp.1-ab12-3.sock")"
	expect_equal "node: no other" "1 false none" "$(started "$scratch/sockets/agent.sock")"
	expect_equal "node: in the sandbox it is node" "1 false none" "$("$BERM" run --allow-read="$(dirname "$BERM")" -- "$shims/debug/berm-node" look.js /x 2>&1)"
fi
expect_status "debugger: not in another host" 125 "$BERM" setup vim --debugger
expect_status "debugger: undone" 0 "$BERM" setup vscode --debugger --undo
expect_equal "debugger: no longer" "no options " "$(debugged "$scratch/sockets/node-cdp.1-ab12-3.sock")"
expect_equal "launch: inside, without it" "inside=1 options=js typed=no " "$(launched "$scratch/sockets/node-cdp.1-ab12-3.sock")"
expect "launch: that is said" grep -qF 'berm setup vscode --debugger --write' "$scratch/screen"
if command -v node >/dev/null; then
	expect_contains "node: inside, without it" "1 false none" "$(started "$scratch/sockets/node-cdp.1-ab12-3.sock")"
fi

if command -v tmux >/dev/null; then
	screen() {
		tmux -S "$socket" capture-pane -p -t "$1"
	}
	shows() {
		screen "$1" | grep -qF "$2"
	}
	for shell in bash zsh sh fish; do
		[ -x "/usr/bin/$shell" ] || continue
		tmux -S "$socket" -f /dev/null new-session -d -s "$shell" -x 120 -y 20 "env ENV= $shims/$shell -i"
		expect "$shell: the prompt shows that it is inside" until_true shows "$shell" '(berm) '
	done
	tmux -S "$socket" -f /dev/null new-session -d -s bare -x 120 -y 20 "env PS1='bare> ' bash --norc -i"
	expect "control: a bare prompt" until_true shows bare 'bare>'
	expect "control: has no mark" test -z "$(screen bare | grep -F '(berm)')"
	tmux -S "$socket" kill-server
	socket=$scratch/tmux-2 # a server that ends still answers on its socket
	expect_status "tmux: set up" 0 "$BERM" setup tmux --write
	# The page names these as outside.
	tmux -S "$socket" -f "$HOME/.tmux.conf" new-session -d -s project -x 120 -y 20
	told() {
		until_true test -s "$project/$1" || return 1
		grep -qF "FAKE-KEY-$$" "$project/$1"
	}
	look="cat $HOME/.ssh/id_rsa >$project"
	tmux -S "$socket" run-shell "$look/run-shell"
	expect "tmux: run-shell is outside" told run-shell
	tmux -S "$socket" if-shell "$look/if-shell" ""
	expect "tmux: if-shell is outside" told if-shell
	# Without a client tmux may drop the job of a format; another text is another job.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		tmux -S "$socket" display-message -p "#($look/format # $try)" >/dev/null
		sleep 0.5
		[ ! -s "$project/format" ] || break
	done
	expect "tmux: #() is outside" told format
	tmux -S "$socket" pipe-pane -t project "$look/pipe-pane"
	expect "tmux: pipe-pane is outside" told pipe-pane
	(cd "$HOME" && tmux -S "$socket" -f "$HOME/.tmux.conf" new-session -d -s home -x 120 -y 20)
	expect "tmux in the home says why" until_true shows home "cannot be the project: it is your home"
	expect "and names no option that a shell does not have" test -z "$(screen home | grep -F -e --project)"
	expect "and waits" shows home "press Enter"
	tmux -S "$socket" send-keys -t home Enter
	closed() {
		! tmux -S "$socket" has-session -t home 2>/dev/null
	}
	expect "and then closes" until_true closed
fi
finish
