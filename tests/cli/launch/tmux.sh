#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Full-screen programs and shells on a terminal with a screen: tmux, whose screen the test reads and whose keys it presses. Each
# scenario runs bare and inside, in a separate session, and prints its observations; both have to equal the text here.
. "$(dirname "$0")/../support/lib.sh"

for program in tmux vim less top git script; do
	if ! command -v "$program" >/dev/null; then
		echo "$program is not installed; script/setup --test installs it"
		exit 77
	fi
done

export LC_ALL=C.UTF-8 HISTFILE=/dev/null EDITOR=false
unset TMUX TMUX_PANE
scratch_home
tm() {
	tmux -S "$scratch/tmux" -f /dev/null -u "$@"
}
end_tmux() {
	tm kill-server 2>/dev/null
	clean_up
}
trap '[ "$BASHPID" != "$$" ] || end_tmux' EXIT

tm new-session -d -s first "sleep 600"
tm set-option -g remain-on-exit on

# Of a scenario: $window (its session), $wrap ("" or berm before the command), and its own project as the current directory.
line() {
	tm send-keys -t "$window" -l "$1"
	tm send-keys -t "$window" Enter
}

keys() {
	tm send-keys -t "$window" "$@"
}

screen() {
	tm capture-pane -p -t "$window"
}

shows() {
	screen | grep -qE -- "$1"
}

# soon COMMAND...: true within some seconds; asking tmux takes its time too.
soon() {
	local end=$((SECONDS + patience))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# sees PATTERN: waits until the screen shows it; otherwise the scenario prints that and ends.
sees() {
	soon shows "$1" && return
	echo "never saw: $1; but: $(screen | grep -v '^$' | tail -n 6 | tr '\n' '|')"
	exit 1
}

# until_shows PATTERN COMMAND...: does it again and again until it shows that: what has just been started may drop what was typed before it was
# ready, and what has just been resized may not know it yet.
until_shows() {
	local pattern=$1 i end=$((SECONDS + patience))
	shift
	while [ "$SECONDS" -lt "$end" ]; do
		"$@"
		for ((i = 0; i < 10; i++)); do
			! shows "$pattern" || return 0
			sleep 0.1
		done
	done
	sees "$pattern"
}

# prompts: the last line is a shell's prompt.
prompts() {
	screen | grep -v '^$' | tail -n 1 | grep -qE '[>$#] *$'
}

# Where a command waits until the scenario lets it go on: `read x <$gate`, which starts no program. (A shell that is just starting one cannot be
# stopped.)
make_gate() {
	gate=$PWD/gate
	mkfifo "$gate" && exec 9<>"$gate"
}

is_suspended() {
	local pid
	for pid in $(with_word "$gate"); do
		[ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != T ] || return 0
	done
	return 1
}

vim_says_size() {
	keys ":echo '<'.&columns.'x'.&lines.'>'" Enter
}

has_format() {
	[ "$(tm display-message -p -t "$window" "$1")" = "$2" ]
}

# is FORMAT VALUE: of tmux's, in the end.
is() {
	soon has_format "$1" "$2" && return
	ps -o pid,pgid,tpgid,stat,args -t "$(tm display-message -p -t "$window" '#{pane_tty}')" 2>&1
	echo "$1 is never $2: $(screen | grep -v '^$' | tail -n 6 | tr '\n' '|')"
	exit 1
}

open_shell() {
	tm new-session -d -x 100 -y 30 -s "$window" -c "$PWD" "exec env PS1='PROMPT> ' bash --norc --noprofile"
	sees '^PROMPT>'
}

# The shell has its terminal as a shell wants it.
is_cooked() {
	line 'stty -a | tr "\n" " " | grep -q " icanon .* echo " && echo "coo""ked"'
	sees '^cooked'
}

# A full-screen editor: opened, resized, suspended, resized, resumed, ended.
edit() {
	echo one >text
	line 'echo be""fore'
	sees '^before'
	line "${wrap}vim -u NONE -N text"
	is '#{alternate_on}' 1
	sees '^one'
	keys i 'héllo ' Escape
	tm resize-window -t "$window" -x 91 -y 26
	until_shows '<91x26>' vim_says_size
	keys ":put =&columns.'x'.&lines" Enter
	sees '^91x26'
	keys C-z
	is '#{alternate_on}' 0
	sees 'Stopped'
	sees '^before'
	is_cooked
	tm resize-window -t "$window" -x 83 -y 22
	line fg
	is '#{alternate_on}' 1
	sees '^héllo one'
	until_shows '<83x22>' vim_says_size
	keys ":put =&columns.'x'.&lines" Enter
	sees '^83x22'
	keys ':wq' Enter
	is '#{alternate_on}' 0
	line 'echo "ended $?"'
	sees 'ended [0-9]'
	screen | grep -o '^ended [0-9]*'
	cat text
}
edited='ended 0
héllo one
91x26
83x22'
vim_in_a_shell() {
	open_shell
	edit
}
# The same, recorded: a second terminal between tmux and berm.
vim_under_script() {
	open_shell
	line 'script -qec "bash --norc --noprofile" typescript'
	is '#{pane_current_command}' script
	edit
	line 'exit 7'
	is '#{pane_current_command}' bash # input for a program that is exiting is lost
	line 'echo "script $?"'
	sees 'script [0-9]'
	screen | grep -o '^script [0-9]*'
}

pager() {
	seq 1 500 >numbers
	open_shell
	line "${wrap}less numbers"
	is '#{alternate_on}' 1
	sees '^29$'
	until_shows '^500$' keys G
	keys '?^77$' Enter
	sees '^77$'
	keys C-z
	sees 'Stopped'
	line fg
	sees '^77$'
	tm resize-window -t "$window" -x 80 -y 12
	keys g
	sees '^11$'
	shows '^12$' && echo "too many lines"
	keys q
	is '#{alternate_on}' 0
	line 'echo "ended $?"'
	sees 'ended 0' && echo read
	line "seq 1 500 | ${wrap}less"
	is '#{alternate_on}' 1
	until_shows '^500$' keys G
	keys q
	is '#{alternate_on}' 0
	# less sets the terminal's modes after the command has started and before it ends, and keeps them.
	line "${wrap}sh -c 'seq 1 400; sleep 2' | { sleep 1; less; }"
	is '#{alternate_on}' 1
	until_shows '^400$' keys G
	sleep 2
	keys q
	is '#{alternate_on}' 0
	echo piped
}

git_pager() {
	git init -q . && git config user.name Ada && git config user.email ada@example.org
	for i in $(seq 1 40); do git commit -q --allow-empty -m "commit $i"; done
	open_shell
	line "${wrap}git log --format=%s"
	sees '^commit 40' && sees '^:'
	keys G
	sees '^commit 1$'
	keys q
	line 'echo "ended $?"'
	sees 'ended 0' && echo paged
	line "${wrap}git -c color.ui=auto diff --stat --exit-code; ${wrap}git -c color.ui=auto log -1 --format='%C(auto)%d'"
	sees 'HEAD'
	tm capture-pane -e -p -t "$window" | grep -q $'\033\\[.*HEAD' && echo coloured
}

monitor() {
	open_shell
	line "${wrap}top -d 1"
	sees 'load average'
	sees 'PID +USER'
	tm resize-window -t "$window" -x 70 -y 15
	sleep 0.4
	keys q
	is '#{pane_current_command}' bash # it drops what was typed when it leaves
	line 'echo "ended $?"'
	sees 'ended 0' && echo watched
	is_cooked && echo cooked
}

# A bar that is drawn over itself, as wide as the terminal, only because there is one.
progress() {
	cat >bar.py <<'END'
import os, sys, time
assert sys.stderr.isatty()
for i in range(0, 101, 20):
    width = os.get_terminal_size(2).columns - 10
    sys.stderr.write("\r[" + "█" * (width * i // 100) + " " * (width - width * i // 100) + f"] {i}%")
    sys.stderr.flush()
    time.sleep(0.02)
sys.stderr.write("\n")
END
	open_shell
	line "${wrap}python3 bar.py"
	sees '100%'
	screen | grep '%' | grep -o '.\{1,3\}] .*'
	screen | grep -o '█' | wc -l
}

# A paste is marked for programs that ask for it, and a shell does not execute it line by line.
paste() {
	open_shell
	tm set-buffer -b "$window" $'echo "pas""ted one"\necho "pas""ted two"'
	line "${wrap}bash --norc --noprofile"
	until_shows '^listening' line 'echo "liste""ning"'
	soon prompts
	tm paste-buffer -p -b "$window" -t "$window"
	sleep 0.3
	shows '^pasted' && echo "executed at once"
	keys Enter
	sees '^pasted one' && sees '^pasted two' && echo pasted
	keys C-d
	sleep 0.3
	line "${wrap}sh -c 'printf \"\\033[?2004h\"; stty -echo; printf \"rea\"; echo dy; cat -v'"
	sees '^ready'
	tm paste-buffer -p -b "$window" -t "$window"
	keys Enter C-d
	sees '\^\[\[200~echo' && sees '\^\[\[201~' && echo marked
}

unicode() {
	open_shell
	line "${wrap}sh -c 'printf \"rea\"; echo dy; exec cat'"
	sees '^ready'
	line 'ünïcödé 漢字 🙂 e´'
	sees '^ünïcödé 漢字 🙂 e´' && screen | grep -c 'ünïcödé 漢字 🙂 e´'
	keys C-u
	# Erasing a character erases all of its bytes where the terminal knows UTF-8.
	tm send-keys -t "$window" -l 'a漢'
	keys BSpace
	line 'b'
	sees '^ab' && echo erased
	keys C-d
	line "${wrap}sh -c 'printf \"%s\\n\" \"\$1\" | wc -c' sh '漢字🙂'"
	sees '^11' && echo bytes
}

# Killed in raw mode. Inside, berm puts the modes back; bare they stay, which bash hides from its own prompt, so a plain sh asks.
crash() {
	open_shell
	cat >crash.sh <<END
before=\$(stty -g)
${wrap}sh -c 'stty raw -echo; kill -KILL \$\$'
echo "status \$?"
[ "\$before" = "\$(stty -g)" ] && echo "modes restored" || echo "modes spoilt"
stty "\$before"
END
	line 'sh crash.sh'
	sees 'modes (restored|spoilt)'
	screen | grep -o -e 'status [0-9]*' -e 'modes .*' | sed 's/ *$//'
}

# kill -9 of berm (bare: of the program) in raw mode: only the shell is left to restore the mode, and it does.
kill_job() {
	open_shell
	line "${wrap}sh -c 'stty raw -echo; printf \"rea\"; echo dy; exec sleep 287'"
	sees ready
	sleep 0.2
	kill -KILL "$(tm list-panes -t "$window" -F '#{pane_pid}' | xargs -I% cat "/proc/%/task/%/children" | tr -d ' ')"
	sees 'Killed'
	is_cooked && echo usable
}

# Groups in the background: they may write, and are stopped when they read; those in front get the keys.
groups() {
	open_shell
	line "${wrap}bash --norc --noprofile"
	until_shows '^listening' line 'echo "liste""ning"'
	line 'cat &'
	until_shows 'Stopped.*cat' line jobs
	line '(sleep 0.3; echo "from be""hind") & sleep 30'
	sees '^from behind'
	keys C-c
	line 'echo "status $?"; kill %1; fg %1; echo "ke""ys"'
	sees '^status 130' && sees '^keys' && echo front
	line 'exit 4'
	sleep 0.3
	line 'echo "outside $?"'
	sees '^outside 4' && echo outside
}

# The sandbox as the terminal's own program, as a terminal profile has it: interactive shells without another one around them.
profile() {
	local name=$1
	shift
	tm new-session -d -x 100 -y 30 -s "$window" -c "$PWD" "exec ${wrap}$*"
	until_shows '^begin' line 'echo "be""gin"'
	make_gate
	line 'sh -c "echo rea\"\"dy; exec sleep 30"'
	sees '^ready'
	sleep 0.2
	keys C-c
	line "sh -c 'printf se; echo cond; read x <$gate; printf fini; echo shed'"
	sees '^second'
	keys C-z
	if ! soon is_suspended; then
		echo "never suspended"
		exit 1
	fi
	echo >&9
	sleep 0.6
	shows '^finished' && echo "not suspended"
	line fg
	sees '^finished' && echo jobs
	line 'exit 9'
	# With what status is asked on node-pty's terminals: tmux 3.3 loses it now and then, bare too.
	is '#{pane_dead}' 1
	echo "$name ended"
}
profile_bash() { profile bash bash --norc --noprofile -i; }
profile_dash() { profile dash dash -i; }
profile_zsh() { profile zsh zsh -f -i; }
profile_fish() { profile fish fish --no-config -i; }

# name, wanted bare, wanted inside
scenarios=()
wanted_bare=()
wanted_inside=()
scenario() {
	scenarios+=("$1")
	wanted_bare+=("$2")
	wanted_inside+=("${3:-$2}")
}
scenario vim_in_a_shell "$edited"
scenario vim_under_script "$edited
script 7"
scenario pager 'read
piped'
scenario git_pager 'paged
coloured'
scenario monitor 'watched
cooked'
scenario progress '███] 100%
90'
scenario paste 'pasted
marked'
scenario unicode '2
erased
bytes'
scenario crash 'status 137
modes spoilt' 'status 137
modes restored'
scenario kill_job usable
scenario groups 'front
outside'
for shell in bash dash zsh fish; do
	if command -v "$shell" >/dev/null; then
		scenario "profile_$shell" "jobs
$shell ended"
	elif [ "${BERM_MUST_RUN:-}" = 1 ]; then
		fail "$shell is not installed"
	fi
done

# play SCENARIO PLACE: what it saw, in a file.
play() {
	window=$1-$2
	wrap=
	[ "$2" = bare ] || wrap="'$BERM' run -- "
	mkdir "$scratch/$window" && cd "$scratch/$window" && git init -q . && ("$1") >"$scratch/$window.seen" 2>&1
	tm kill-session -t "$window" 2>/dev/null
}

for name in ${BERM_TMUX_ONLY:-"${scenarios[@]}"}; do
	for place in bare inside; do
		while [ "$(jobs -rp | wc -l)" -ge 8 ]; do sleep 0.05; done
		play "$name" "$place" &
	done
done
wait
for i in "${!scenarios[@]}"; do
	name=${scenarios[$i]}
	[ -e "$scratch/$name-bare.seen" ] || continue
	expect_equal "$name, bare" "${wanted_bare[$i]}" "$(cat "$scratch/$name-bare.seen")"
	expect_equal "$name, inside" "${wanted_inside[$i]}" "$(cat "$scratch/$name-inside.seen")"
done

finish
