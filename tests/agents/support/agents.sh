# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Real agents with a model on loopback (model.py) that plays a script. Sourced after home.sh and
# lib.sh. Each agent has a scratch home with secrets that are none, a key of "x" and no account. A
# script names its package with `agent`, collects steps, plays them bare and with berm, and looks at
# what came back to the model and at the host.
# shellcheck source=SCRIPTDIR/../../cli/support/npm-packages.sh
. "$support/npm-packages.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# An agent with a native binary takes minutes on a slow line.
npm_patience=300
# Seconds for one conversation: opencode takes two minutes on a busy machine.
agent_patience=${BERM_AGENT_SECONDS:-600}

if [ "$(id -u)" -eq 0 ]; then
	echo "agents run as an ordinary user here: script/test --agents"
	exit 77
fi
command -v python3 >/dev/null || { echo "python3 is needed"; exit 77; }

declare -A titles=([claude-code]='Claude Code' [codex]=Codex [gemini]='Gemini CLI' [opencode]=opencode [qwen]='Qwen Code' [pi]=pi)
# agent NAME: installs the package of this name from tests/agents/packages and sets $modules and $title.
agent() {
	local package
	title=${titles[$1]:-$1}
	package=$(awk -v name="$1" '$1 == name { print $2 "@" $3 }' "$here/../packages")
	npm_packages "agents/$1-${package##*@}" "$package"
	modules=$modules/node_modules
}

# native PATTERN: the one program among these, which npm's postinstall scripts would have linked.
native() {
	local program
	for program in $1; do
		case $program in
		*-musl* | *-baseline*) ;;
		*) [ -x "$program" ] && echo "$program" && return ;;
		esac
	done
	echo "no program $1" >&2
	return 1
}

# start_model: sets $url.
start_model() {
	echo '[]' >"$scratch/script.json"
	: >"$scratch/model.log"
	PYTHONDONTWRITEBYTECODE=1 python3 "$here/model.py" "$scratch/port" "$scratch/script.json" "$scratch/model.log" &
	model=$!
	trap '[ "$BASHPID" != "$$" ] || { kill "$model"; clean_up; }' EXIT
	until_true test -s "$scratch/port" || exit 1
	url=http://127.0.0.1:$(cat "$scratch/port")
}

# make_home: a home with a key, a project with an .env and a repository.
make_home() {
	move_home
	mkdir -m 700 "$HOME/.ssh"
	echo "FAKE-KEY-$$" >"$HOME/.ssh/id_rsa"
	git config --global user.name 'Test User'
	git config --global user.email tester@example.org
	git config --global init.defaultBranch main
	git init -q "$project"
	echo "TOKEN=FAKE-ENV-$$" >"$project/.env"
	echo first >"$project/first.txt"
	printf '.env\n' >"$project/.gitignore"
	git -C "$project" add -A
	git -C "$project" commit -qm first
}

steps=()
# shell COMMAND [JSON]: a step with the agent's shell tool; JSON has further arguments.
shell() {
	steps+=("$(python3 -c 'import json, sys
print(json.dumps({"shell": sys.argv[1], "input": json.loads(sys.argv[2])}))' "$1" "${2:-{\}}")")
}

# tool NAME KEY=VALUE...: a step with a tool that takes JSON.
tool() {
	steps+=("$(python3 -c 'import json, sys
print(json.dumps({"tool": sys.argv[1], "input": dict(word.split("=", 1) for word in sys.argv[2:])}))' "$@")")
}

# text_tool NAME TEXT: a step with a tool that takes text.
text_tool() {
	steps+=("$(python3 -c 'import json, sys; print(json.dumps({"tool": sys.argv[1], "text": sys.argv[2]}))' "$@")")
}

# play COMMAND...: the agent, with the collected steps; they stay for the next time.
play() {
	local IFS=,
	: >"$scratch/model.log"
	printf '[%s]' "${steps[*]}" >"$scratch/script.json"
	played=0
	timeout --kill-after=5 "$agent_patience" "$@" </dev/null >"$scratch/agent.log" 2>&1 || played=$?
}

# result N: what the model got for step N, or nothing.
result() {
	python3 -c 'import json, sys
found = [entry for entry in map(json.loads, open(sys.argv[1])) if entry.get("step") == int(sys.argv[2])]
print(found[-1]["result"] if found else "")' "$scratch/model.log" "$1"
}

# expect_result NAME N PART
expect_result() {
	local said
	said=$(result "$2")
	case $said in
	*"$3"*) pass ;;
	*) fail "$1" "no \"$3\" in: ${said:-nothing came back: $(tail -n 5 "$scratch/agent.log")}" ;;
	esac
}

# expect_hidden NAME N SECRET: the step came back, without the secret.
expect_hidden() {
	local said
	said=$(result "$2")
	case $said in
	'') fail "$1" "nothing came back: $(tail -n 5 "$scratch/agent.log")" ;;
	*"$3"*) fail "$1" "$said" ;;
	*) pass ;;
	esac
}

# The conversation that every agent has. The script defines read_file PATH and write_file PATH TEXT,
# which add a step with the agent's own tool, and $own_settings, a file of the project that the agent
# obeys.
conversation() {
	steps=()
	# shellcheck disable=SC2016 # for the shell of the agent
	shell 'echo "inside=$BERM"; cat ~/.ssh/id_rsa'
	shell 'cat .env'
	shell "echo x >$HOME/outside-shell.txt; echo end"
	shell 'echo "#!/bin/sh" >.git/hooks/post-commit; echo end'
	shell 'echo content >made.txt && git add made.txt && git '"${git_options:-}"' commit -qm made && echo committed'
	shell "curl -sS --max-time 5 $url/reach"
	shell 'sh -c "exit 7"; echo "status=$?"'
	read_file "$HOME/.ssh/id_rsa"
	read_file "$project/.env"
	read_file "$project/first.txt"
	write_file "$HOME/outside-tool.txt" x
	write_file "$project/.git/hooks/pre-push" x
	write_file "$project/good.txt" "good $$"
	shell "mkdir -p $(dirname "$own_settings"); echo >$own_settings; echo end"
}

# word N SECRET: `read` if the step gave the secret away, `no`, or `?` if nothing came back.
word() {
	case $(result "$1") in
	'') echo '?' ;;
	*"$2"*) echo read ;;
	*) echo no ;;
	esac
}

# made FILE: `yes` or `no`.
made() {
	if [ -e "$1" ]; then echo yes; else echo no; fi
}

# milliseconds: the median of the first commands of a conversation, from the model's answer to the
# agent's next request. The sixth, which waits for the network, is left out.
milliseconds() {
	python3 -c 'import json, statistics, sys
entries = [entry for entry in map(json.loads, open(sys.argv[1])) if entry.get("step") in (1, 2, 3, 4, 5, 7)]
print(round(statistics.median({entry["step"]: entry["ms"] for entry in entries}.values())) if entries else "?")' "$scratch/model.log"
}

# rate SHAPE: after a conversation, one row for tests/agents/table, if the directory BERM_AGENT_TABLE is
# named: by the shell / by the agent's own tool.
rate() {
	local commit=no network=no
	[ -n "${BERM_AGENT_TABLE:-}" ] || return 0
	mkdir -p "$BERM_AGENT_TABLE"
	case $(result 5) in *committed*) commit=yes ;; esac
	case $(result 6) in *REACHED*) network=reached ;; esac
	{
		printf '| %s | %s |' "$title" "$1"
		if [ "${has_read_tool:-yes}" = yes ]; then
			printf ' %s / %s | %s / %s |' "$(word 1 "FAKE-KEY-$$")" "$(word 8 "FAKE-KEY-$$")" "$(word 2 "FAKE-ENV-$$")" "$(word 9 "FAKE-ENV-$$")"
		else
			printf ' %s / - | %s / - |' "$(word 1 "FAKE-KEY-$$")" "$(word 2 "FAKE-ENV-$$")"
		fi
		printf ' %s / %s | %s / %s | %s | %s | %s | %s |\n' "$(made "$HOME/outside-shell.txt")" "$(made "$HOME/outside-tool.txt")" \
			"$(made "$project/.git/hooks/post-commit")" "$(made "$project/.git/hooks/pre-push")" "$(made "$project/$own_settings")" \
			"$commit" "$network" "$(milliseconds)"
	} >"$BERM_AGENT_TABLE/$title, $1"
	# tests/agents/table --run wants rows only.
	[ "$1" != "${BERM_AGENT_LAST_ROW:-}" ] || finish
}

# own_sandbox COMMAND...: the same with the agent's own sandbox, for the table alone. Some agents go on
# without it, or run nothing: a sandbox counts only if a command ran and could not write outside.
own_sandbox() {
	[ -n "${BERM_AGENT_TABLE:-}" ] || return 0
	conversation
	play "$@"
	case $(result 7)$(made "$HOME/outside-shell.txt") in
	*status=7*no) rate "its own sandbox" ;;
	*) printf '| %s | its own sandbox | did not start here | | | | | | | |\n' "$title" >"$BERM_AGENT_TABLE/$title, its own sandbox" ;;
	esac
	tidy
}

# proven HOST PROGRAM: `--check` says what is so. Before --write; with it; and with the proof that a
# command of the real host ran in the sandbox. The caller then overrides the settings.
proven() {
	mkdir -p "$scratch/bin"
	ln -sf "$2" "$scratch/bin/${3:-$1}"
	PATH=$scratch/bin:$PATH
	expect_status "$1: configured" 0 "$BERM" setup "$1" --check
	expect_contains "$1: not proven" "configured, not proven" "$out"
	run timeout "$agent_patience" "$BERM" setup "$1" --check --prove
	expect_equal "$1: proven" "0 yes" "$status $(grep -qx '[^:]*: in force' <<<"$out" && echo yes)"
	expect_equal "$1: nothing is left" "" "$(find /tmp -maxdepth 1 -name 'berm-proof.*' -user "$(id -un)" 2>/dev/null)"
}

# overridden HOST FILE TEXT: `--check` names the project's file that turns berm off.
overridden() {
	mkdir -p "$(dirname "$project/$2")"
	printf '%s\n' "$3" >"$project/$2"
	expect_status "$1: $2 overrides" 1 "$BERM" setup "$1" --check
	expect_contains "$1: $2 is named" "$project/$2:" "$out"
	rm "$project/$2"
	rmdir "$(dirname "$project/$2")" 2>/dev/null
}

# guard_hook: makes the hook of a user who forbids a word. Every agent gets such a guard of its own,
# which blocks bare and must block with berm too. Sets $guard.
guard_hook() {
	guard=$HOME/guard.sh
	cat >"$guard" <<'END'
#!/bin/sh
! grep -q forbidden-by-hook || { echo "BLOCKED by the user's hook" >&2; exit 2; }
END
	chmod +x "$guard"
}

# user_policy [LINE...]: the user's policy, for commands and hooks alike.
user_policy() {
	mkdir -p "$HOME/.config/berm"
	printf '%s\n' 'version: 1' "$@" >"$HOME/.config/berm/berm.yml"
}

# planting FILE TEXT: steps that plant the agent's own settings by the shell and by its tool, and then
# try the next turn.
planting() {
	steps=()
	shell "mkdir -p $project/$(dirname "$1") && printf '%s\n' '$2' >$project/$1; echo end"
	write_file "$project/$1" "$2"
	# Claude Code reads its settings again within seconds.
	shell 'sleep 3'
	look_inside
	shell 'echo forbidden-by-hook >hooked.txt'
}

look_inside() {
	# shellcheck disable=SC2016 # for the shell of the agent
	shell 'echo "inside=$BERM"; cat ~/.ssh/id_rsa; cat .env; echo end'
}

# The next start after the control. A script whose agent is turned in another way defines its own.
control_is_bare() {
	expect_result "control: the next start reads the key" 1 "FAKE-KEY-$$"
	expect_result "control: and .env" 1 "FAKE-ENV-$$"
}

# planted FILE TEXT COMMAND...: settings of the project that turn berm off. The control is
# `files.guard: launch`, which leaves a new name where it is: the next start is bare. With the default
# they are gone before the next turn and the next start.
planted() {
	local file=$1 text=$2
	shift 2
	user_policy 'files: {guard: launch}'
	planting "$file" "$text"
	play "$@"
	expect "control: the settings are planted" grep -qF "$text" "$project/$file"
	steps=()
	look_inside
	play "$@"
	control_is_bare
	unplant "$file"
	user_policy
	planting "$file" "$text"
	play "$@"
	expect_result "planted: the next turn is inside" 4 "inside=1"
	expect_hidden "planted: the next turn does not read the key" 4 "FAKE-KEY-$$"
	expect_hidden "planted: nor .env" 4 "FAKE-ENV-$$"
	expect_result "planted: the user's hook still blocks" 5 "BLOCKED by the user's hook"
	expect "planted: and the command did not run" test ! -e "$project/hooked.txt"
	if [ "${tools_covered:-yes}" = yes ]; then
		expect_result "planted: the tool is told why" 2 "$(basename "$file")"
		expect "planted: nothing is left" test ! -e "$project/$file"
	else
		unplant "$file"
	fi
	steps=()
	look_inside
	play "$@"
	expect_result "planted: the next start is inside" 1 "inside=1"
	expect_hidden "planted: the next start does not read the key" 1 "FAKE-KEY-$$"
	unplant "$file"
}

unplant() {
	rm -rf "${project:?}/${1%%/*}" "$project/hooked.txt"
}

tidy() {
	rm -f "$HOME/outside-shell.txt" "$HOME/outside-tool.txt" "$project/.git/hooks/post-commit" "$project/.git/hooks/pre-push" \
		"$project/good.txt" "$project/made.txt"
	rm -rf "${project:?}/${own_settings%%/*}"
	git -C "$project" reset -q --hard "$(git -C "$project" rev-list --max-parents=0 HEAD)"
}

# bare_conversation COMMAND...: the control. Everything that is later denied works without berm, by
# the shell; `own_tools` (yes or no) says if the agent's tools do it too, or refuse it themselves.
bare_conversation() {
	conversation
	play "$@"
	rate bare
	expect_result "bare: the shell reads the key" 1 "FAKE-KEY-$$"
	expect "bare: the shell plants the agent's settings" test -e "$project/$own_settings"
	expect_result "bare: the shell reads .env" 2 "FAKE-ENV-$$"
	expect "bare: the shell writes outside" test -e "$HOME/outside-shell.txt"
	expect "bare: the shell plants a hook" test -e "$project/.git/hooks/post-commit"
	expect_result "bare: the shell reaches the host" 6 REACHED
	if [ "${own_tools:-yes}" = yes ]; then
		expect_result "bare: the tool reads the key" 8 "FAKE-KEY-$$"
		expect_result "bare: the tool reads .env" 9 "FAKE-ENV-$$"
		expect "bare: the tool writes outside" test -e "$HOME/outside-tool.txt"
		expect "bare: the tool plants a hook" test -e "$project/.git/hooks/pre-push"
	fi
	tidy
}

# inside_conversation COMMAND...: the same with berm. tools_covered (yes or no): the agent's file
# tools are judged too.
inside_conversation() {
	conversation
	play "$@"
	[ "${tools_covered:-yes}" = no ] || rate "berm per command"
	expect_result "the shell is inside" 1 "inside=1"
	expect "the agent's settings are not planted" test ! -e "$project/$own_settings"
	expect_hidden "the shell does not read the key" 1 "FAKE-KEY-$$"
	expect_hidden "nor .env" 2 "FAKE-ENV-$$"
	expect "nothing is written outside" test ! -e "$HOME/outside-shell.txt"
	expect "no hook is planted" test ! -e "$project/.git/hooks/post-commit"
	expect_result "a commit works" 5 committed
	expect_equal "the commit is there" made "$(git -C "$project" log -1 --format=%s)"
	expect_hidden "the host is not reached" 6 REACHED
	expect "nobody asked" test -z "$(grep '"reached"' "$scratch/model.log")"
	expect_result "a status comes back" 7 status=7
	if [ "${tools_covered:-yes}" = yes ]; then
		expect_hidden "the tool does not read the key" 8 "FAKE-KEY-$$"
		expect_hidden "nor .env by the tool" 9 "FAKE-ENV-$$"
		expect_result "the tool reads what is fine" 10 first
		expect "the tool writes nothing outside" test ! -e "$HOME/outside-tool.txt"
		expect "the tool plants no hook" test ! -e "$project/.git/hooks/pre-push"
		expect_equal "the tool writes what is fine" "good $$" "$(cat "$project/good.txt")"
	fi
	tidy
}

# boxed_conversation NAME,... COMMAND...: the whole agent in the sandbox, with these variables and the
# model's port. It reaches that port of the host, and so do its commands.
boxed_conversation() {
	local names=$1
	local -a options=(--allow-read="$modules")
	shift
	mkdir -p "$HOME/.config/berm"
	printf 'version: 1\nnetwork: {local: [%s]}\n' "${url##*:}" >"$HOME/.config/berm/berm.yml"
	while [ -n "$names" ]; do
		options+=(--env="${names%%,*}")
		[ "$names" != "${names#*,}" ] || break
		names=${names#*,}
	done
	conversation
	play "$BERM" run "${options[@]}" -- "$@"
		expect_result "boxed: the shell is inside" 1 "inside=1"
	expect "boxed: the agent's settings are not planted" test ! -e "$project/$own_settings"
	expect_hidden "boxed: the shell does not read the key" 1 "FAKE-KEY-$$"
	expect_hidden "boxed: nor .env" 2 "FAKE-ENV-$$"
	expect "boxed: nothing is written outside" test ! -e "$HOME/outside-shell.txt"
	expect "boxed: no hook is planted" test ! -e "$project/.git/hooks/post-commit"
	expect_result "boxed: a commit works" 5 committed
	expect_hidden "boxed: the tool does not read the key" 8 "FAKE-KEY-$$"
	expect_hidden "boxed: nor .env by the tool" 9 "FAKE-ENV-$$"
	expect_result "boxed: the tool reads what is fine" 10 first
	expect "boxed: the tool writes nothing outside" test ! -e "$HOME/outside-tool.txt"
	expect "boxed: the tool plants no hook" test ! -e "$project/.git/hooks/pre-push"
	expect_equal "boxed: the tool writes what is fine" "good $$" "$(cat "$project/good.txt")"
	tidy
}

# The whole agent in the sandbox: `berm agent NAME`.

# put_program NAME FILE: the program is found in PATH, as an installer would link it.
put_program() {
	mkdir -p "$scratch/bin"
	ln -sf "$2" "$scratch/bin/$1"
	PATH=$scratch/bin:$PATH
}

# whole_conversation NAME ARGUMENT...: the conversation of all agents with `berm agent`. The tools see
# what the shell sees, and the model is on the host's loopback, which is open for it.
whole_conversation() {
	conversation
	play "$BERM" agent "$@"
	rate "berm agent"
	expect_equal "whole: the agent ends well" 0 "$played"
	expect_result "whole: the shell is inside" 1 "inside=1"
	expect_hidden "whole: the shell does not read the key" 1 "FAKE-KEY-$$"
	expect_hidden "whole: nor .env" 2 "FAKE-ENV-$$"
	expect "whole: nothing is written outside" test ! -e "$HOME/outside-shell.txt"
	expect "whole: no hook is planted" test ! -e "$project/.git/hooks/post-commit"
	expect_result "whole: a commit works" 5 committed
	expect_equal "whole: the commit is there" made "$(git -C "$project" log -1 --format=%s)"
	[ "${keeps_status:-yes}" = no ] || expect_result "whole: a status comes back" 7 status=7
	expect_hidden "whole: the tool does not read the key" 8 "FAKE-KEY-$$"
	expect_hidden "whole: nor .env by the tool" 9 "FAKE-ENV-$$"
	expect_result "whole: the tool reads what is fine" 10 first
	expect "whole: the tool writes nothing outside" test ! -e "$HOME/outside-tool.txt"
	expect "whole: the tool plants no hook" test ! -e "$project/.git/hooks/pre-push"
	expect_equal "whole: the tool writes what is fine" "good $$" "$(cat "$project/good.txt")"
	tidy
}

# server_conversation NAME ARGUMENT...: a server of one command answers the next; nothing of it is left.
# background_input: the argument of the shell tool with which the agent itself runs a server.
server_conversation() {
	steps=()
	echo served >page.txt
	if [ -n "${background_input:-}" ]; then
		shell 'python3 -m http.server 8137 --bind 127.0.0.1' "$background_input"
	else
		# It waits for the server: the agent kills the process group of a command that ended.
		shell '(setsid python3 -m http.server 8137 --bind 127.0.0.1 >/dev/null 2>&1 </dev/null &) ;
			until curl -s http://127.0.0.1:8137/ >/dev/null; do sleep 0.1; done; echo started'
	fi
	shell 'curl -sS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8137/page.txt'
	play "$BERM" agent "$@"
	expect_result "a server that one command starts answers the next" 2 served
	expect "and is gone with the agent" test -z "$(with_word 'http.server 8137' | head -n 1)"
	rm -f page.txt
}

# walled_conversation NAME VARIABLE FILE ARGUMENT...: `berm agent NAME --commands`. A shell command sees neither
# the API key in this variable nor the login in this file of the home, which the agent itself has. The
# control is the same without --commands. The home is not in /tmp, see the caller.
walled_conversation() {
	local name=$1 variable=$2 file=$3 key=FAKE-API-$$
	local -x "$variable=$key"
	shift 3
	steps=()
	# shellcheck disable=SC2016 # for the shell of the agent
	shell 'echo "inside=$BERM key=$'"$variable"'."; cat '"$HOME/$file"'; cat /proc/[0-9]*/environ 2>/dev/null | tr "\0" "\n" | grep '"$variable"
	shell 'echo content >made.txt && git add made.txt && git '"${git_options:-}"' commit -qm made && echo committed'
	shell '(setsid python3 -m http.server 8138 --bind 127.0.0.1 >/dev/null 2>&1 </dev/null &) ;
		until curl -s http://127.0.0.1:8138/ >/dev/null; do sleep 0.1; done; echo started'
	shell 'curl -sS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8138/first.txt'
	shell 'echo from-a-command >/tmp/shared.txt; echo kept >~/kept.txt; sh -c "exit 7"; echo "status=$?"'
	shell 'cat /tmp/shared.txt ~/kept.txt'
	read_file "$project/first.txt"
	write_file "$project/good.txt" "good $$"
	shell "mkdir -p $(dirname "$own_settings"); echo >$own_settings; echo end"
	play "$BERM" agent "$name" "$@"
	expect_result "walled: the control: a command sees the API key" 1 "key=$key."
	expect_result "walled: the control: and the login" 1 "FAKE-LOGIN-$$"
	tidy
	play "$BERM" agent "$name" --commands "$@"
	expect_equal "walled: the agent ends well" 0 "$played"
	expect_result "walled: a command is inside, without the API key" 1 "inside=1 key=."
	expect_hidden "walled: nor in another process" 1 "$key"
	expect_hidden "walled: without the login" 1 "FAKE-LOGIN-$$"
	expect_result "walled: a commit works" 2 committed
	expect_result "walled: a server that one command starts answers the next" 4 first
	[ "${keeps_status:-yes}" = no ] || expect_result "walled: a status comes back" 5 status=7
	expect_result "walled: /tmp and the home stay" 6 "from-a-command"
	expect_result "walled: and the home of the commands" 6 kept
	expect_result "walled: the tool reads" 7 first
	expect_equal "walled: the tool writes" "good $$" "$(cat "$project/good.txt")"
	expect "walled: the agent's settings are not planted" test ! -e "$project/$own_settings"
	tidy
	[ -n "${BERM_AGENT_TABLE:-}" ] || return 0
	conversation
	play "$BERM" agent "$name" --commands "$@"
	rate "berm agent --commands"
	tidy
}

# A directory of the home as text, to compare: names, modes and content.
host_files() {
	(cd "$HOME" && find "$@" -printf '%y %m %p %l\n' 2>/dev/null | sort
		find "$@" -type f -exec md5sum {} + 2>/dev/null | sort)
}
