# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What a command plants in the agent's directories: bare the next start runs it, from `berm agent` no
# later start does, inside or bare. The script defines `plant`, which prints the command, $mark, the
# file that what was planted makes, $places of the home, and $arguments for $command.
command=${0##*/whole-}
command=${command%.sh}
before=$(host_files "${places[@]}")
cp -a "$HOME" "$scratch/home-before"
steps=()
shell "$(plant)"
play "$command" "${arguments[@]}"
steps=()
shell 'echo fine'
play "$command" "${arguments[@]}"
expect "bare: what was planted runs" test -e "$mark"
rm -rf "$mark" "$HOME"
git -C "$project" clean -qfdx -e .env
cp -a "$scratch/home-before" "$HOME"
steps=()
shell "$(plant)"
shell 'sleep 1; echo after'
play "$BERM" agent "$command" "${arguments[@]}"
expect_result "planted inside" 1 end
expect_result "the next turn goes on" 2 after
rm -f "$mark" # inside, in the same run, its own private settings may count
expect_equal "nothing is in the real home" "$before" "$(host_files "${places[@]}")"
steps=()
shell 'echo fine'
play "$BERM" agent "$command" "${arguments[@]}"
expect_result "the next start inside" 1 fine
expect "runs none of it" test ! -e "$mark"
play "$command" "${arguments[@]}"
expect_result "a bare start" 1 fine
expect "runs none of it either" test ! -e "$mark"
