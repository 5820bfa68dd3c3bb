#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm shell`: the shell that it starts, and its behaviour on a terminal.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
mkdir -p "$home/.ssh"
echo "the key" >"$home/.ssh/id_rsa"
expect_equal "the control: the key can be read" "the key" "$(cat ~/.ssh/id_rsa)"

expect_output "stdin is no terminal" /bin/dash bash -c "echo 'echo \$SHELL' | '$BERM' shell dash 2>/dev/null | grep -o /bin/dash"
expect_output "which shell: SHELL" "/bin/zsh" env SHELL=/usr/bin/zsh bash -c "echo 'echo \$SHELL' | '$BERM' shell 2>/dev/null | grep -o '/bin/zsh'"
expect_status "an unknown one" 125 "$BERM" shell tcsh
expect_contains "in words" "bash, zsh, sh, dash or fish" "$err"
expect_status "--help" 0 "$BERM" shell --help
expect_contains "options of the policy" "--allow-read" "$out"
# The cached plan of a shell without an option is not used with it, and the other way round.
mkdir "$home/private" && echo "the diary" >"$home/private/diary"
ask() {
	echo 'cat ~/private/diary' | "$BERM" shell "$@" 2>/dev/null | grep -o 'the diary'
}
for _ in 1 2; do
	expect_equal "without the option" "" "$(ask bash)"
	expect_equal "with it" "the diary" "$(ask --allow-read="$home/private" bash)"
done
expect_equal "no file of the user was made" ".local .ssh private" "$(cd "$home" && echo .[a-z]* *)"

python prompt.py
finish
