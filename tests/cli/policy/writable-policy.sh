#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A user's policy that a command could have written is refused before anything runs: the command of one run must not
# write the policy of the next.
# lib.sh sets status, out and err.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../support/lib.sh"

config=$scratch/config

# write_policy DIRECTORY: a valid one, with an effect that can be seen.
write_policy() {
	mkdir -p "$1/berm"
	printf 'version: 1\nenvironment: {set: {SEEN: policy}}\n' >"$1/berm/berm.yml"
}

# refused NAME COMMAND...: with status 125 and a message about the policy's place, before anything runs.
refused() {
	local name=$1
	shift
	rm -f ran
	expect_status "$name: refused" 125 "$@" -- touch ran
	expect_contains "$name: the message is about the policy" "policy" "$err"
	expect "$name: nothing ran" test ! -e ran
}

# Control: outside the project, where no rule grants it, the same file is obeyed, and the command cannot write it.
write_policy "$config"
expect_output "a policy that only the user can write is obeyed" policy "$BERM" run -- printenv SEEN
expect_output "readable from inside, it is obeyed too" policy "$BERM" run --allow-read="$config" -- printenv SEEN
run "$BERM" run --allow-read="$config" -- sh -c 'echo >>"$0"' "$config/berm/berm.yml"
expect "it cannot be written from inside" test "$status" -ne 0

write_policy "$project/config"
refused "in the project" env XDG_CONFIG_HOME="$project/config" "$BERM" run
ln -s "$project/config" "$scratch/linked"
refused "in the project, through a symlink" env XDG_CONFIG_HOME="$scratch/linked" "$BERM" run
rm -r "$project/config"

refused "in a directory that an option grants" "$BERM" run --allow-write="$config"
refused "a file that an option grants" "$BERM" run --allow-write="$config/berm/berm.yml"
printf 'version: 1\nfiles: {write: ["%s"]}\n' "$config" >"$config/berm/berm.yml"
refused "that grants itself" "$BERM" run
write_policy "$config"

# The private home of a sandbox is on the host too. A command writes the policy there; nothing protects it, because at
# that time it is not the user's. Then an agent's settings move XDG_CONFIG_HOME to it.
expect_status "a command writes a policy in its private home" 0 "$BERM" run -- sh -c \
	'mkdir -p ~/planted/berm && printf "version: 1\nenvironment: {set: {SEEN: planted}}\n" >~/planted/berm/berm.yml'
planted=$(find "$XDG_STATE_HOME/berm/projects" -path '*/planted/berm/berm.yml')
expect "which the host sees" test -f "$planted"
planted=${planted%/berm/berm.yml}
refused "in a private home" env XDG_CONFIG_HOME="$planted" "$BERM" run
# With another state directory this is a directory like any other, but for its path.
refused "in the private home of another state directory" env XDG_STATE_HOME="$scratch/other" XDG_CONFIG_HOME="$planted" "$BERM" run
expect_status "berm plan refuses it" 125 env XDG_STATE_HOME="$scratch/other" XDG_CONFIG_HOME="$planted" "$BERM" plan
expect_output "without XDG_CONFIG_HOME there the user's policy counts" policy "$BERM" run -- printenv SEEN

finish
