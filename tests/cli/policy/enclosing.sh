#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A marker in a subdirectory (.git, berm.yml) decides which files are writable, never which rules hold: with the cached plan, with a workspace
# that the host names, in the hook of an agent, and as `plan` and `check` show it. The home is a scratch directory, because plans are
# cached in the user's home only.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"

chmod 755 "$scratch"
move_home
mkdir -p "$home/.config/berm" "$home/app"
project=$home/app
cd "$project" || exit 1
cat >"$home/.config/berm/berm.yml" <<-END
	version: 1
	files: {deny: [conf/hidden], protect: [conf/locked], except: [conf/open.pem]}
	END

# renew: an outer project with a subdirectory.
renew() {
	cd "$home" || exit 1
	rm -rf "$project"
	mkdir -p "$project/conf"
	cd "$project" || exit 1
	git init -q .
	echo hidden >conf/hidden
	echo denied >conf/denied
	echo open >conf/open.pem
	echo locked >conf/locked
}

# kept NAME [COMMAND...]: in conf, with this prefix of a shell command line, the rules of the outer project hold.
kept() {
	local name=$1
	shift
	expect_status "$name: hidden" 1 "$@" 'cat hidden'
	expect_status "$name: locked" 2 "$@" 'echo x >locked'
}

is_cached() {
	"$BERM" -c true && "$BERM" run -- true && "$BERM" plan --why-rebuilt >/dev/null
}

# With the cached plan: the marker appears after a plan for exactly this directory was cached.
for plant in 'mkdir conf/.git' 'echo x >conf/.git' 'ln -s x conf/.git' 'echo "version: 1" >conf/berm.yml'; do
	renew
	expect_output "$plant: control" hidden cat conf/hidden
	cd conf || exit 1
	expect "$plant: control: the plan is cached" until_true is_cached
	run "$BERM" plan --json
	expect_contains "$plant: control: the project before" "\"project\": \"$project\"" "$out"
	kept "$plant: before" "$BERM" -c
	cd .. || exit 1
	expect_status "$plant" 0 "$BERM" -c "$plant"
	cd conf || exit 1
	run "$BERM" plan --json
	expect_contains "$plant: control: the project after" "\"project\": \"$project/conf\"" "$out"
	kept "$plant: after" "$BERM" -c
	expect "$plant: the plan is cached again" until_true is_cached
	kept "$plant: cached again" "$BERM" -c
	expect_status "$plant: the directory is writable" 0 "$BERM" -c 'echo x >new'
done

# The outer policy: what it denies, and that it appears and changes while a plan for the inner project is cached.
renew
mkdir conf/.git
cd conf || exit 1
expect "an outer policy: control: the plan is cached" until_true is_cached
expect_output "an outer policy: control" denied "$BERM" -c 'cat denied'
printf 'version: 1\nfiles: {deny: [conf/denied]}\nlimits: {open_files: 100}\n' >../berm.yml
expect_status "an outer policy counts at once" 1 "$BERM" -c 'cat denied'
expect_output "its limits too" 100 "$BERM" -c 'ulimit -n'
expect "an outer policy: it is cached" until_true is_cached
expect_status "and holds" 1 "$BERM" -c 'cat denied'
printf 'version: 1\nfiles: {read: [/root]}\nnetwork: all\n' >../berm.yml
expect_output "an outer policy that changed counts at once" denied "$BERM" -c 'cat denied'
expect_status "trusted" 0 "$BERM" trust --yes ..
run "$BERM" plan
expect_contains "a trusted outer policy still only restricts" "only restricts" "$out"
expect_contains "and what it does not open is shown" "network: all" "$out"
expect_status "no network by an outer policy" 1 "$BERM" check connect example.org:443
printf 'version: 2\n' >../berm.yml
expect_status "a wrong outer policy is refused" 125 "$BERM" -c true
# shellcheck disable=SC2088 # as it is printed
expect_contains "with its name" "~/app/berm.yml" "$err"
rm ../berm.yml
ln -s nowhere ../berm.yml
expect_status "a linked outer policy is refused" 125 "$BERM" -c true
rm ../berm.yml

# A trusted inner policy does not open what an outer one closes; --policy replaces both.
printf 'version: 1\nfiles: {deny: [conf/denied], protect: [conf/held]}\nnetwork: none\n' >../berm.yml
printf 'version: 1\nfiles: {except: [denied], write: [held]}\nnetwork: {allow: ["example.org:443"]}\n' >berm.yml
echo held >held
expect_status "trust" 0 "$BERM" trust --yes
expect_status "not the deny" 1 "$BERM" -c 'cat denied'
expect_status "not the protect" 1 "$BERM" check write held
expect_status "not the network" 1 "$BERM" check connect example.org:443
rm ../berm.yml
expect_output "control: without the outer one" denied "$BERM" -c 'cat denied'
expect_status "control: the network" 0 "$BERM" check connect example.org:443
printf 'version: 1\nfiles: {deny: [conf/denied]}\n' >../berm.yml
echo 'version: 1' >"$scratch/policy.yml"
expect_output "--policy replaces the projects' files" denied "$BERM" run --policy="$scratch/policy.yml" -- cat denied
expect_status "and the user's rules stay" 1 "$BERM" run --policy="$scratch/policy.yml" -- cat hidden
rm ../berm.yml berm.yml

# Output of plan and check.
expect_status "check" 1 "$BERM" check read hidden
expect_contains "check: the rule" "conf/hidden" "$out"
run "$BERM" plan -v
expect_contains "plan: the outer project" "in ~/app (its rules hold" "$out"
# shellcheck disable=SC2088 # as it is printed
expect_contains "plan: the pattern" "~/app/conf/hidden" "$out"
expect_contains "plan: an exception that does not apply" "conf/open.pem" "$(tr -s ' \n' '  ' <"$scratch/out" | grep -o '[^ ]*conf/open.pem` does not apply')"
expect_status "the exception is not moved" 1 "$BERM" -c 'cat open.pem'
mkdir -p conf
echo open >conf/open.pem
expect_status "to this directory" 1 "$BERM" -c 'cat conf/open.pem'
mkdir "$home/.git"
run "$BERM" plan
expect_contains "plan: the home is skipped" "skipped: it is your home" "$(tr -s ' \n' '  ' <"$scratch/out")"
rmdir "$home/.git"
if [ "$(id -u)" = 0 ]; then
	chown 12345 ../.git
	run "$BERM" plan
	expect_contains "plan: another owner is skipped" "skipped: it belongs to another user" "$(tr -s ' \n' '  ' <"$scratch/out")"
	chown 0 ../.git
fi

# A workspace that the host names is a base, without its own marker.
renew
rm -rf .git
mkdir conf/.git
cd conf || exit 1
expect_output "a workspace: control: nothing else marks it" hidden "$BERM" -c 'cat hidden'
sh=$(dirname "$BERM")/berm-sh
if [ -x "$sh" ]; then
	export CLAUDE_PROJECT_DIR=$project
	kept "a workspace" "$sh" -c
	kept "a workspace, cached" "$sh" -c
	unset CLAUDE_PROJECT_DIR
	expect_output "a workspace: control: no variable" hidden "$sh" -c 'cat hidden'
else
	fail "berm-sh is there"
fi

# The hook of an agent: the agent chooses cwd.
renew
mkdir conf/.git
hook() {
	printf '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "%s", "tool_input": {"command": "%s"}}' "$PWD/conf" "$1" |
		"$BERM" hook-rewrite --host=codex |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["hookSpecificOutput"]["updatedInput"]["command"])' >"$scratch/command"
	(cd conf && sh "$scratch/command")
}
expect_status "the hook" 1 hook "cat hidden"
expect_contains "the hook: it was wrapped for the inner project" "--project=$project/conf" "$(cat "$scratch/command")"
expect_status "the hook: locked" 2 hook "sh -c 'echo x >locked'"

# A directory of state or policy that a command of the outer project could have prepared.
cd conf || exit 1
mkdir -p ../made/berm ../state
chmod 700 ../made/berm ../state
echo 'version: 1' >../made/berm/berm.yml
expect_status "a prepared policy" 125 env XDG_CONFIG_HOME="$project/made" "$BERM" -c true
expect_contains "a prepared policy: why" encloses "$err"
expect_status "a prepared state" 125 env XDG_STATE_HOME="$project/state" "$BERM" -c true
expect_contains "a prepared state: why" encloses "$err"

finish
