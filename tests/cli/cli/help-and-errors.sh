#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The output of help, plan, check and errors. The words here are the interface.
. "$(dirname "$0")/../support/lib.sh"

# Help fits 24 lines and 80 columns, is on stdout, and shows the usage of the subcommand.
for subcommand in help --help -h "run --help" "run -h" "plan --help" "check --help" "check read --help" "policies --help" "trust --help" "state --help" \
	"completions --help" "quarantine --help"; do
	# shellcheck disable=SC2086
	expect_status "berm $subcommand" 0 "$BERM" $subcommand
	expect_equal "berm $subcommand: nothing on stderr" "" "$err"
	expect_contains "berm $subcommand: its own name" "berm ${subcommand%% *}" "berm ${subcommand%% *} $out"
	expect "berm $subcommand: at most 24 lines" test "$(wc -l <"$scratch/out")" -le 24
	expect_equal "berm $subcommand: at most 80 columns" "" "$(awk 'length($0) > 80' "$scratch/out")"
done
expect_equal "berm help run" "$("$BERM" run --help)" "$("$BERM" help run)"
expect_equal "berm help completions" "$("$BERM" completions --help)" "$("$BERM" help completions)"
expect_equal "berm help state" "$("$BERM" state --help)" "$("$BERM" help state)"
expect_status "berm help with an unknown word" 125 "$BERM" help rnu
expect_contains "names the nearest one" '`berm run`' "$err"
expect_contains "completions are in the help" "completions" "$("$BERM" help)"

# Command lines with common slips.
expect_status "berm npm test" 125 "$BERM" npm run 'a test'
expect_contains "is suggested as a whole line" "berm run -- npm run 'a test'" "$err"
expect_status "an option without its value" 125 "$BERM" run --allow-read -- touch ran
expect_contains "does not take -- as its value" "--allow-read needs a value" "$err"
expect "and nothing ran" test ! -e ran
expect_equal "berm quarantine lists" "$("$BERM" quarantine list)" "$("$BERM" quarantine)"
expect_equal "berm state lists" "$("$BERM" state list)" "$("$BERM" state)"
expect_status "berm version" 0 "$BERM" version
expect "berm version looks like one" grep -Eq '^berm [0-9]+\.[0-9]+' "$scratch/out"
expect_equal "berm --version is the same" "$out" "$("$BERM" --version)"
expect_status "output that cannot be written" 125 sh -c "\"$BERM\" help >/dev/full"

# An invalid policy: position, line, a caret under the word, the nearest key, exit 125.
printf 'version: 1\nfiles:\n  denny: [x]\n' >p.yml
expect_status "a broken policy" 125 "$BERM" plan --policy p.yml
expect_contains "its place" "p.yml:3:3" "$err"
expect_contains "its line with a caret" "      denny: [x]
      ^" "$err"
expect_contains "the nearest key" 'did you mean `deny`?' "$err"
expect_equal "nothing on stdout" "" "$out"
expect_status "it does not run either" 125 "$BERM" run --policy=p.yml -- touch ran
expect "and nothing ran" test ! -e ran
printf 'version: 1\nfile: 1\nlimits: {tim: 3}\nnetwork: sometimes\n' >p.yml
expect_status "several errors" 125 "$BERM" plan --policy=p.yml
for place in p.yml:2:1 p.yml:3:10 p.yml:4:10; do
	expect_contains "are told at once" "$place" "$err"
done
printf 'version: 1\nfiles: {deny: ["\033]0;x\007"]}\n' >p.yml
expect_status "a policy with controls in it" 125 "$BERM" plan --policy=p.yml
expect "is quoted without them" test -z "$(tr -cd '\033\007' <"$scratch/err")"

# One check: the answer, and the rule with its position.
home=$(getent passwd "$(id -u)" | cut -d: -f6)
expect_status "check read ~/.ssh/id_rsa" 1 "$BERM" check read "$home/.ssh/id_rsa"
expect "the answer is no" grep -q '^no' "$scratch/out"
expect "with rule and line" grep -Eq 'built-in [a-z]+:[0-9]+:[0-9]+' "$scratch/out"
expect_status "check write ./src/x.c" 0 "$BERM" check write ./src/x.c
expect "the answer is yes" grep -q '^yes' "$scratch/out"
expect_status "check read .env" 1 "$BERM" check read .env
expect_status "check read .env.example" 0 "$BERM" check read .env.example
expect_status "check write /usr/bin/x" 1 "$BERM" check write /usr/bin/x
expect_status "check read /usr/bin/env" 0 "$BERM" check read /usr/bin/env
expect_status "check exec /bin/sh" 0 "$BERM" check exec /bin/sh
expect_status "check connect" 1 "$BERM" check connect example.org:443
expect_status "check connect, allowed" 0 "$BERM" check --allow-net=example.org:443 connect example.org:443
expect_status "check connect, another port" 1 "$BERM" check --allow-net=example.org:443 connect example.org:80
expect_status "check env AWS_SECRET_ACCESS_KEY" 1 "$BERM" check env AWS_SECRET_ACCESS_KEY
expect_status "check env LANG" 0 "$BERM" check env LANG
expect_status "several, one of them no" 1 "$BERM" check read /usr/bin/env .env
expect_status "check --deny" 1 "$BERM" check --deny=x.c read ./x.c
expect_status "check without a question" 125 "$BERM" check
expect_status "check of something unknown" 125 "$BERM" check smell x
expect_contains "says what there is" read "$err"

# `berm run` enforces what check reports.
echo secret >.env
echo open >.env.example
expect_status "the control: .env is readable" 0 cat .env
expect_status "cat .env" 1 "$BERM" run -- cat .env
expect_output "cat .env.example" open "$BERM" run -- cat .env.example
expect_status "--deny" 1 "$BERM" run --deny=.env.example -- cat .env.example
rm .env .env.example

# Programs that cannot work inside: one line with the reason, only if they fail.
printf '#!/bin/sh\nexit "$1"\n' >sudo
chmod +x sudo
expect_status "a program that wants to be root" 3 "$BERM" run -- ./sudo 3
expect_contains "gets a reason" "can become root" "$err"
expect_status "in a shell string" 3 "$BERM" -c 'cd . && ./sudo 3'
expect_contains "gets a reason too" "can become root" "$err"
expect_status "one that is not there" 127 "$BERM" run -- ./absent/sudo true
expect_contains "gets the reason as well" "can become root" "$err"
expect_status "one that succeeds" 0 "$BERM" run -- ./sudo 0
expect_equal "needs none" "" "$err"
rm sudo

# --dry-run prints the plan and runs nothing.
expect_status "--dry-run" 0 "$BERM" run --dry-run -- touch ran
expect_contains "shows the plan" Guarantees "$out"
expect_equal "the same as plan does" "$("$BERM" plan)" "$out"
expect_status "--dry-run without a command" 0 "$BERM" run --dry-run
expect "nothing ran" test ! -e ran
expect_equal "the page fits 80 columns" "" "$("$BERM" plan | awk 'length($0) > 80')"
expect "plan --json is JSON" sh -c "\"$BERM\" plan --json | python3 -m json.tool >/dev/null"
expect "check --json is JSON" sh -c "\"$BERM\" check --json read /usr/bin/env | python3 -m json.tool >/dev/null"

# No escape sequences outside a terminal.
escapes() {
	tr -cd '\033' | wc -c
}
printf 'version: 1\nfiles:\n  denny: [x]\n' >p.yml
for arguments in "plan" "plan -v" "help" "plan --policy=p.yml" "run --nonsense" "check read .env"; do
	# shellcheck disable=SC2086
	expect_equal "berm $arguments into a pipe" 0 "$("$BERM" $arguments 2>&1 | escapes)"
	if command -v script >/dev/null; then
		expect_equal "berm $arguments on a terminal with NO_COLOR" 0 "$(NO_COLOR=1 TERM=xterm script -qec "\"$BERM\" $arguments" /dev/null </dev/null | escapes)"
		expect_equal "berm $arguments on a dumb terminal" 0 "$(TERM=dumb script -qec "\"$BERM\" $arguments" /dev/null </dev/null | escapes)"
	fi
done
if command -v script >/dev/null; then
	expect "the control: there are colours on a terminal" test "$(TERM=xterm script -qec "\"$BERM\" run --nonsense" /dev/null </dev/null | escapes)" -gt 0
fi

finish
