#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The profiles of all built-in policies and of a few others give the verdicts of the tables and pass
# lint. The same plan gives the same bytes.
. "$(dirname "$0")/model/lib.sh"

# own PROFILE: prints its private home.
own() {
	grep -o '/Users/ann/.local/state/berm/projects/[^"]*/home' "$1" | head -n 1
}

# tmp PROFILE: prints its private temporary directory.
tmp() {
	grep -o '/Users/ann/.local/state/berm/t/[^"]*' "$1" | head -n 1
}

# table NAME PROFILE...: checks a table, with the names of the first profile.
table() {
	local name=$1 home
	shift
	home=$(own "$1")
	echo "$name: $(basename -a "$@" | tr '\n' ' ')"
	model table "$here/tables/$name.table" PROXY=localhost:49152 HOME=/Users/ann PROJECT=/Users/ann/app "OWN=$home" "TMP=$(tmp "$1")" "DOCUMENTS=${home%home}documents" "$@"
}

offline=()
for file in "$BERM_SOURCE_DIR"/policies/*.yml; do
	name=$(basename "$file" .yml)
	case $name in
	# `berm agent` is refused on macOS.
	floor | agent-*) continue ;;
	default | strict) profile "$name" <<<"{version: 1, extends: $name}" ;;
	registry-*)
		profile "$name" <<<"{version: 1, use: [$name]}"
		model lint "$scratch/$name.sb"
		continue
		;;
	*) profile "$name" <<<"{version: 1, use: [$name]}" ;;
	esac
	offline+=("$scratch/$name.sb")
done
[ "${#offline[@]}" -ge 10 ]
table default "${offline[@]}"
table network-none "${offline[@]}"
"$BERM" plan --format=sbpl --context="$here/machine.yml" --policy="$scratch/default.yml" | cmp - "$scratch/default.sb"

profile all <<<'{version: 1, network: all}'
table network-all "$scratch/all.sb"
profile list <<<'{version: 1, network: {allow: ["*.example.org:443"], local: [5432, 6000-6002], deny: ["localhost:6002"], publish: [3000]}}'
table network-list "$scratch/list.sb"
profile deny <<<'{version: 1, network: {allow: ["*"], deny: [telemetry.example.com]}}'
table network-deny "$scratch/deny.sb"
# shellcheck disable=SC2016
profile sockets <<<'{version: 1, sockets: [$SSH_AUTH_SOCK]}'
table sockets "$scratch/sockets.sb"

sed '/app\/src\/main.c/a\  - /Users/ann/app/vendor/cache/' "$here/machine.yml" >"$scratch/inner-machine.yml"
cat >"$scratch/inner.yml" <<-'END'
	version: 1
	files:
	  read: [vendor]
	  write: [vendor/cache, .vscode]
	  deny: [config/master.txt]
	  protect: [.github/workflows]
	home: host
END
"$BERM" plan --format=sbpl --context="$scratch/inner-machine.yml" --policy="$scratch/inner.yml" >"$scratch/inner.sb"
table inner "$scratch/inner.sb"

# Control: a wrong line and a flawed profile are detected.
sed 's/^deny /allow /' "$here/tables/sockets.table" >"$scratch/false.table"
sed 's/^(deny file-read/(allow file-read/' "$scratch/default.sb" >"$scratch/flawed.sb"
if model table "$scratch/false.table" HOME=/Users/ann "$scratch/sockets.sb" >/dev/null || model lint "$scratch/flawed.sb" >/dev/null; then
	echo "the model finds nothing wrong with what is wrong"
	exit 1
fi

# Every rule of the policy is a comment before its filters, with its line.
grep -q '^      ; files.deny: config/master.txt (.*inner.yml:5:10)$' "$scratch/inner.sb"
grep -q '^; files.read: vendor (.*inner.yml:3:10)$' "$scratch/inner.sb"

# A policy that a profile cannot express is refused.
printf '{version: 1, network: {allow: [a.example.org], local: [1-20000]}}' >"$scratch/ports.yml"
if "$BERM" plan --format=sbpl --context="$here/machine.yml" --policy="$scratch/ports.yml" >/dev/null 2>"$scratch/ports.err"; then
	echo "20000 local ports were taken"
	exit 1
fi
grep -q 'network.local' "$scratch/ports.err"
printf '{version: 1, network: {allow: [a.example.org], publish: ["8080:80"]}}' >"$scratch/publish.yml"
if "$BERM" plan --format=sbpl --context="$here/machine.yml" --policy="$scratch/publish.yml" >/dev/null 2>&1; then
	echo "a published port with another number was taken"
	exit 1
fi
if "$BERM" plan --format=sbpl --os=linux >/dev/null 2>&1; then
	echo "--os=linux was taken"
	exit 1
fi
# On any machine, with the files that exist there.
mkdir "$scratch/real" && cd "$scratch/real" && "$BERM" plan --format=sbpl >"$scratch/real.sb"
model lint "$scratch/real.sb"
