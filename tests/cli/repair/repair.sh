#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Files that the host replaces, and names that appear, while a command runs: editors, sed, git; two sandboxes in one project; what a
# command makes itself; processes that are killed. The level `launch` is the control: there a lost mask stays lost.
. "$(dirname "$0")/../support/lib.sh"

mkdir -p "$XDG_CONFIG_HOME/berm"
config=$XDG_CONFIG_HOME/berm/berm.yml

guard() {
	if [ -n "${1:-}" ]; then
		printf 'version: 1\nfiles: {guard: %s}\n' "$1" >"$config"
	else
		rm -f "$config"
	fi
}

renew() {
	cd "$scratch" && rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1
	git init -q . && git config user.name Ada && git config user.email ada@example.org
	mkdir config
	echo "first secret" >.env
	echo "second secret" >config/.env
	echo plain >file
}

# A reader inside that writes down whether each file can be read in the end, when `stop` is there: one line each.
watcher_of() {
	printf 'touch ready; until [ -e stop ]; do sleep 0.05; done; for f in %s; do if cat $f >/dev/null 2>&1; then echo open $f; else echo closed $f; fi; done' "$*"
}

# start NAME SCRIPT: in the background; waits until the command is inside and the watcher has had time to look at every directory.
start() {
	"$BERM" run -- sh -c "$2" >"$scratch/$1.out" 2>"$scratch/$1.err" &
	pids[$1]=$!
	until_true test -e ready || fail "$1 does not start" "$(cat "$scratch/$1.err")"
	sleep 1
}
declare -A pids

# end NAME: lets it end, and waits; $status, $out, $err.
end() {
	sleep 1
	touch stop
	status=0
	wait "${pids[$1]}" || status=$?
	out=$(cat "$scratch/$1.out")
	err=$(cat "$scratch/$1.err")
}

replace() {
	echo "third secret" >"$1.new" && mv "$1.new" "$1"
}

if ! command -v git >/dev/null; then
	echo "git is needed"
	exit 77
fi

# How a mask is lost, and that it comes back.
by_rename() { replace .env; }
by_sed() { sed -i s/first/other/ .env; }
by_checkout() { git checkout -q other; }
by_stash() { git stash -q; }
by_new_directory() { mv config config.old && mkdir config && echo new >config/.env; }

losses=(by_rename by_sed by_checkout by_stash)
for loss in "${losses[@]}"; do
	for level in launch ""; do
		renew
		guard "$level"
		git add -f .env file && git commit -qm first && git checkout -qb other && echo other >.env && git commit -qam other && git checkout -q -
		[ "$loss" != by_stash ] || echo changed >.env
		start one "$(watcher_of .env)"
		"$loss"
		end one
		if [ -n "$level" ]; then
			expect_equal "control: $loss loses the mask" "open .env" "$out"
		else
			expect_equal "$loss: hidden again" "closed .env" "$out"
			expect_contains "$loss: reported" ".env was replaced on the host" "$err"
			expect_equal "$loss: the status stays" 0 "$status"
		fi
	done
done

renew
guard
start one "$(watcher_of config/.env config.old/.env)"
by_new_directory
end one
expect_equal "a new directory: hidden again" "closed config/.env
closed config.old/.env" "$out"

# Two sandboxes in one project.
renew
start one "$(watcher_of .env config/.env)"
rm ready
start two "$(watcher_of .env config/.env)"
replace .env
replace config/.env
end one
expect_equal "the first of two" "closed .env
closed config/.env" "$out"
end two
expect_equal "the second of two" "closed .env
closed config/.env" "$out"

# A burst of replacements: one line with the number.
renew
start one "$(watcher_of .env)"
for _ in $(seq 20); do replace .env; done
end one
expect_equal "twenty replacements: hidden" "closed .env" "$out"
expect_equal "twenty replacements: one line" 1 "$(grep -c '\.env was replaced' <<<"$err")"

# The command's own files under denied names stay its own, made in any way.
renew
run "$BERM" run -v -- sh -c 'sleep 0.5; echo a >a.pem; echo b >b.tmp; mv b.tmp b.pem; mkdir d; echo c >d/c.key; cp a.pem .env.test; ln a.pem e.pem
	sleep 1; cat a.pem b.pem d/c.key .env.test e.pem'
expect_equal "a command's own files" "a
b
c
a
a" "$out"
expect_contains "with -v they are named" "a.pem has a denied name" "$err"
run "$BERM" run -- cat a.pem
expect_contains "and hidden in the next run" "Permission denied" "$err"

# git inside goes on working beside the watcher: clone and init bring hooks and configurations of their own.
renew
git add file && git commit -qm one
run "$BERM" run -- sh -c 'sleep 0.5; git clone -q . copy && git init -q fresh && echo x >fresh/y && git -C fresh add y && git commit -q --allow-empty -m two
	git worktree add -q tree && git worktree remove tree; sleep 1; ls copy/.git/config fresh/.git/hooks | head -1; git status --porcelain file'
expect_equal "git inside: status" 0 "$status"
expect_equal "git inside: repositories of its own" "copy/.git/config" "$out"
case $err in *quarantine*) fail "git inside: something was moved" "$err" ;; *) pass ;; esac

# A plant is moved once and the command goes on; what was moved is kept.
renew
guard repair
run "$BERM" run -- sh -c 'sleep 0.5; mkdir .zed; echo evil >.zed/tasks.json; sleep 1.5; echo on; exit 3'
expect_equal "a plant: status" 3 "$status"
expect "a plant: gone" test ! -e .zed
expect_contains "a plant: said" ".zed appeared while the command ran" "$err"
expect "a plant: kept" test -n "$(ls "$XDG_STATE_HOME/berm/quarantine")"
guard launch
run "$BERM" run -- sh -c 'mkdir .zed; echo evil >.zed/tasks.json; sleep 0.5'
expect "control: at the level launch it stays" test -e .zed/tasks.json
guard

# Killed at any moment, nothing is left: neither a process nor a file in the project.
watchers() {
	local all pid
	all=$(pgrep -u "$(id -u)" -x berm || true)
	for pid in $all; do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "$scratch" && echo "$pid"
	done
}
no_watchers() { [ -z "$(watchers)" ]; }
for delay in 0.01 0.03 0.05 0.3; do
	for victim in launcher watcher; do
		renew
		listing=$(find . | sort)
		BERM_MARK=$scratch "$BERM" run --project="$project" -- sleep 30 2>"$scratch/err" &
		pid=$!
		sleep "$delay"
		case $victim in
		launcher) kill -KILL "$pid" 2>/dev/null ;;
		watcher)
			# The child in the launcher's pid namespace: it has one pid. Its links in /proc are closed to its user.
			tr ' ' '\n' <"/proc/$pid/task/$pid/children" 2>/dev/null | while read -r child; do
				[ "$(awk '/^NSpid/ { print NF }' "/proc/$child/status")" != 2 ] || kill -KILL "$child"
			done
			[ "$delay" = 0.3 ] || kill -KILL "$pid" 2>/dev/null
			;;
		esac
		status=0
		wait "$pid" 2>/dev/null || status=$?
		until_true no_watchers || fail "$victim killed after $delay: processes are left" "$(watchers)"
		expect_equal "$victim killed after $delay: the project" "$listing" "$(find . | sort)"
		if [ "$victim" = watcher ] && [ "$delay" = 0.3 ]; then
			expect_equal "without its watcher the run ends" 123 "$status"
			expect_contains "and says why" "the watcher has ended" "$(cat "$scratch/err")"
		fi
	done
done

# The kernel's limit of watches is said, and masks hold all the same.
renew
if [ "$(id -u)" = 0 ] && unshare --user --map-root-user true 2>/dev/null; then
	mkdir -p $(seq -f 'd%g' 300)
	limited=$(printf 'echo 40 >/proc/sys/user/max_inotify_watches && exec "$@"')
	unshare --user --map-root-user sh -c "$limited" sh "$BERM" run -- sh -c "$(watcher_of .env)" >"$scratch/one.out" 2>"$scratch/one.err" &
	pids[one]=$!
	if until_true test -e ready; then
		sleep 1
		replace .env
		end one
		expect_equal "few watches: hidden again" "closed .env" "$out"
		expect_contains "few watches: said" "directories could be watched" "$err"
	fi
fi
finish
