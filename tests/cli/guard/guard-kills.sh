#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The supervisor or init, of which the deputy is a thread, killed with SIGKILL at random moments while a command makes names: no protected
# name is ever made, no process is left, and the next run works. BERM_LONG=1: 200 rounds each.
. "$(dirname "$0")/../support/lib.sh"

if ! "$BERM" run --strict -- true 2>"$scratch/err"; then
	echo "the guard cannot be had here: $(head -n 1 "$scratch/err")"
	exit 77
fi
rounds=${BERM_LONG:+200}
rounds=${rounds:-12}
names=(.mcp.json .vscode .envrc .hg/hgrc)
mkdir src
# The word finds every process of the run.
attempts='while :; do echo x >.mcp.json; mkdir .vscode; echo x >src/f; mv src/f .envrc; mkdir src/h; echo x >src/h/hgrc; mv src/h .hg; : >src/started; rm -rf src/h; done 2>/dev/null; : '

is_clean() {
	local name
	for name in "${names[@]}"; do
		[ ! -e "$name" ] || return 1
	done
}
is_gone() {
	[ -z "$(with_word "$1")" ]
}

bash -c "${attempts/while :; do/for i in 1; do}" && expect "control: bare, the names are made" test -e .mcp.json -a -e .vscode -a -e .envrc -a -e .hg/hgrc
rm -rf .mcp.json .vscode .envrc .hg src/*

# Init is the supervisor's child with pid 1 in its own namespace.
init_of() {
	local child
	tr ' ' '\n' <"/proc/$1/task/$1/children" | while read -r child; do
		if grep -q '^NSpid:.*[[:space:]]1$' "/proc/$child/status" 2>/dev/null; then
			echo "$child"
		fi
	done
}

for victim in supervisor init; do
	for ((i = 0; i < rounds; i++)); do
		word=guard-kill-$$-$victim-$i
		rm -f src/started
		"$BERM" run --strict -- bash -c "$attempts $word" >/dev/null 2>&1 &
		launcher=$!
		[ $((i % 2)) -eq 0 ] || until_true test -e src/started
		sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"
		target=$launcher
		if [ $victim = init ]; then
			until_true test -e src/started
			target=$(init_of "$launcher")
			[ -n "$target" ] || fail "$victim: init is not found"
		fi
		# shellcheck disable=SC2086 # a pid
		kill -KILL $target
		wait "$launcher" 2>/dev/null
		until_true is_gone "$word" || fail "$victim: a process is left" "$(with_word "$word")"
		is_clean || fail "$victim: a name was made" "$(ls -A . .hg 2>&1)"
	done
	pass
	expect_status "$victim: the next run works" 0 "$BERM" run --strict -- bash -c 'echo x >src/after && rm src/after'
	expect "$victim: and is clean" is_clean
done
finish
