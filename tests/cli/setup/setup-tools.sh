#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real programs with the settings that `berm setup` writes: make, npm, vim, tmux, emacs, and a
# server over stdio. Each runs a command in the sandbox, which works and cannot read a key; without
# the settings it can.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home # shims ignore XDG_STATE_HOME

plant_key "id_berm_tools_$$" "the key of test $$"
socket=$scratch/tmux
leave() {
	tmux -S "$socket" kill-server 2>/dev/null
	remove_key
	clean_up
}
trap '[ "$BASHPID" != "$$" ] || leave' EXIT
git init -q "$project"

# Run by every program: reports whether it is in the sandbox, writes in the project, tries to read
# the key.
cat >"$project/task.sh" <<END
case \$BERM in 1) where=inside ;; *) where=outside ;; esac
echo "\$where sum=\$((40 + 2))" >result
cat "$secret" >>result 2>/dev/null || echo no key >>result
END

# tries NAME COMMAND...: the command ran task.sh in the sandbox.
inside() {
	local name=$1
	shift
	rm -f "$project/result"
	run "$@"
	if until_true test -s "$project/result"; then
		until_true grep -q key "$project/result"
	fi
	expect_equal "$name: inside, without the key" "inside sum=42
no key" "$(cat "$project/result" 2>/dev/null || echo "$out $err")"
}

# bare NAME COMMAND...: the control.
bare() {
	local name=$1
	shift
	rm -f "$project/result"
	run "$@"
	if until_true test -s "$project/result"; then
		until_true grep -q key "$project/result"
	fi
	expect_equal "$name: bare, with the key" "outside sum=42
the key of test $$" "$(cat "$project/result" 2>/dev/null || echo "$out $err")"
}

shims=$(dirname "$BERM")/shims
unset MAKEFLAGS MAKELEVEL npm_config_script_shell
printf 'all:\n\t@sh ./task.sh\n' >Makefile
bare make make -s
# The line itself is what a user would type.
inside make sh -c "$("$BERM" setup make --print); make -s"
inside "make, for one run" make -s SHELL="$shims/sh"
inside "make, by the environment" env MAKEFLAGS="SHELL=$shims/sh" make -s
printf '# mine\n' >"$scratch/profile"
expect_status "make: set up" 0 "$BERM" setup make --file="$scratch/profile" --write
inside "make, after a login" sh -c '. "$1"; make -s' sh "$scratch/profile"
# Aider is simulated: its guide describes how it uses $SHELL.
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec "$SHELL" -i -c "sh ./task.sh" 2>/dev/null\n' >"$scratch/bin/aider"
chmod +x "$scratch/bin/aider"
printf '# mine\n' >"$scratch/bashrc"
aider_task() {
	printf '. %s\naider\n' "$scratch/bashrc" >"$scratch/typed"
	PATH=$scratch/bin:$PATH SHELL=/bin/bash bash --norc -O expand_aliases "$scratch/typed"
}
bare aider aider_task
expect_status "aider: set up" 0 "$BERM" setup aider --file="$scratch/bashrc" --write
inside aider aider_task
rm Makefile

if command -v npm >/dev/null; then
	echo '{"name": "app", "version": "1.0.0", "scripts": {"test": "sh ./task.sh"}}' >package.json
	bare npm env NPM_CONFIG_USERCONFIG="$scratch/npmrc" npm --offline test
	expect_status "npm: set up" 0 "$BERM" setup npm --file="$scratch/npmrc" --write
	inside npm env NPM_CONFIG_USERCONFIG="$scratch/npmrc" npm --offline test
	expect_status "npm: taken back" 0 "$BERM" setup npm --file="$scratch/npmrc" --undo
	bare "npm, afterwards" env NPM_CONFIG_USERCONFIG="$scratch/npmrc" npm --offline test
	rm package.json
fi

if command -v vim >/dev/null; then
	: >"$scratch/vimrc"
	vim_run() {
		timeout "$patience" vim -N -u "$scratch/vimrc" -i NONE -es -c "$1" -c 'qall!'
	}
	bare vim vim_run 'silent! !sh ./task.sh'
	expect_status "vim: set up" 0 "$BERM" setup vim --file="$scratch/vimrc" --write
	inside vim vim_run 'silent! !sh ./task.sh'
	inside "vim, reading" vim_run 'silent! read !sh ./task.sh'
	printf 'b\na\n' >lines
	run vim -N -u "$scratch/vimrc" -i NONE -es -c 'silent %!sort' -c wq lines
	expect_equal "vim: a filter" "a
b" "$(cat lines)"
fi

if command -v tmux >/dev/null; then
	unset TMUX TMUX_PANE
	: >"$scratch/tmux.conf"
	tmux_task() {
		tmux -S "$socket" -f "$scratch/tmux.conf" new-session -d -s "s$RANDOM" "sh ./task.sh; sleep 60"
	}
	bare tmux tmux_task
	tmux -S "$socket" kill-server 2>/dev/null
	socket=$scratch/tmux-2 # a server that ends still answers on its socket
	expect_status "tmux: set up" 0 "$BERM" setup tmux --file="$scratch/tmux.conf" --write
	inside tmux tmux_task
	tmux_keys() {
		tmux -S "$socket" -f "$scratch/tmux.conf" new-session -d -s keys
		tmux -S "$socket" send-keys -t keys -l 'sh ./task.sh'
		tmux -S "$socket" send-keys -t keys Enter
	}
	inside "tmux, typed" tmux_keys
	tmux -S "$socket" kill-server 2>/dev/null
fi

if command -v emacs >/dev/null; then
	: >"$scratch/init.el"
	emacs_task() {
		timeout "$patience" emacs --batch -Q -l "$scratch/init.el" --eval '(shell-command "sh ./task.sh")'
	}
	bare emacs emacs_task
	expect_status "emacs: set up" 0 "$BERM" setup emacs --file="$scratch/init.el" --write
	inside emacs emacs_task
fi

# A server over stdio, started as in the list of servers: initialize, and its reply.
cat >server.py <<END
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    try:
        text = open("$secret").read()
    except OSError:
        text = "no key"
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"inside": os.environ.get("BERM") == "1", "text": text}}), flush=True)
END
cat >client.py <<'END'
import json, subprocess, sys
entry = json.loads("{" + sys.argv[1] + "}")
server = subprocess.Popen([entry["command"]] + entry["args"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}) + "\n")
server.stdin.flush()
answer = json.loads(server.stdout.readline())
server.stdin.close()
print(answer["id"], answer["result"]["inside"], answer["result"]["text"].strip(), server.wait(60))
END
expect_output "mcp: bare, with the key" "1 False the key of test $$ 0" \
	python3 client.py '"command": "python3", "args": ["server.py"]'
entry=$("$BERM" setup mcp --print | sed 's/"npx", "SERVER"/"python3", "server.py"/')
expect_output "mcp: inside, without the key" "1 True no key 0" python3 client.py "$entry"
finish
