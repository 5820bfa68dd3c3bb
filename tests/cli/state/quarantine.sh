#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm quarantine: list, show, restore, drop, for files of every kind and hostile names.
. "$(dirname "$0")/../support/lib.sh"
# The guard would refuse the names; the subject is what happens without it.
mkdir -p "$XDG_CONFIG_HOME/berm"
printf 'version: 1\nfiles: {guard: repair}\n' >"$XDG_CONFIG_HOME/berm/berm.yml"

expect_output "nothing is in quarantine" "" "$BERM" quarantine list
# Complete before they get their names, which are moved to quarantine at once.
run "$BERM" run -- sh -c 'printf "\033[31mred\nx" >m; chmod 755 m; mkdir v; echo a >v/tasks.json; mv m .mcp.json; mv v .vscode; ln -s /etc/passwd .envrc'
expect_equal "three entries" 3 "$("$BERM" quarantine list | wc -l)"
expect_equal "as JSON" 3 "$("$BERM" quarantine list --json | grep -c '"id"')"
id_of() { "$BERM" quarantine list | awk -v name="$project/$1" '$NF == name { print $1 }'; }

run "$BERM" quarantine show "$(id_of .mcp.json)"
expect_contains "show: the path" "$project/.mcp.json" "$out"
expect_contains "show: the mode" "mode 0755" "$out"
expect_equal "show: the terminal obeys nothing" 0 "$(grep -c "$(printf '\033')" "$scratch/out")"
run "$BERM" quarantine show "$(id_of .vscode)"
expect_contains "show: what a directory holds" tasks.json "$out"
run "$BERM" quarantine show "$(id_of .envrc)"
expect_contains "show: where a link leads" /etc/passwd "$out"
expect_equal "the directory is private" 700 "$(stat -c %a "$XDG_STATE_HOME/berm/quarantine")"

echo mine >.mcp.json
expect_status "restore does not overwrite" 125 "$BERM" quarantine restore "$(id_of .mcp.json)"
expect_equal "what is there stays" mine "$(cat .mcp.json)"
rm .mcp.json
expect_status "restore" 0 "$BERM" quarantine restore "$(id_of .mcp.json)"
expect_equal "with its mode" 755 "$(stat -c %a .mcp.json)"
expect_status "restore a directory" 0 "$BERM" quarantine restore "$(id_of .vscode)"
expect_equal "with its files" a "$(cat .vscode/tasks.json)"
run "$BERM" run -- true
expect "what was restored stays" test -e .mcp.json

rm -rf .mcp.json .vscode
expect_status "an unknown id" 125 "$BERM" quarantine restore 00000000
expect_status "no id" 125 "$BERM" quarantine show
expect_status "a path is no id" 125 "$BERM" quarantine show ../../x
expect_status "drop asks" 125 "$BERM" quarantine drop "$(id_of .envrc)"
expect_status "drop" 0 "$BERM" quarantine drop --yes "$(id_of .envrc)"
expect_equal "nothing is left" "" "$("$BERM" quarantine list)"
expect_status "inside nothing is restored" 125 "$BERM" run --allow-read="${BERM%/*}" -- "$BERM" quarantine restore 00000000
expect_status "a verb that is unknown" 125 "$BERM" quarantine lst
expect_contains "with the nearest" "quarantine list" "$err"
finish
