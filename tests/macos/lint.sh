#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every generated profile has only constructs that the published tables of the profile compiler or a
# published profile prove (model/filters.txt, model/later.txt), in forms of bounded size: 1,000 random
# policies, thousands of secrets, policies that once failed. Controls: lint finds each mistake.
. "$(dirname "$0")/model/lib.sh"

cases profiles "${BERM_SEED:-1}" "${BERM_PROFILES:-1000}" | model lint-stream

# 2,000 secrets in directories of their own.
{
	cat "$here/machine.yml"
	for number in $(seq 2000); do
		printf '  - /Users/ann/app/packages/service-number-%s/config/.env\n' "$number"
	done
} >"$scratch/many-machine.yml"
"$BERM" plan --format=sbpl --context="$scratch/many-machine.yml" >"$scratch/many.sb"
model lint "$scratch/many.sb"
[ "$(wc -c <"$scratch/many.sb")" -lt 300000 ]
cat >"$scratch/many.table" <<-'END'
	deny  file-write-unlink path=/Users/ann/app/packages/service-number-7 type=DIRECTORY
	deny  file-write-unlink path=/Users/ann/app/packages/service-number-7/config type=DIRECTORY
	deny  file-write-unlink path=/Users/ann/app/packages type=DIRECTORY
	deny  file-read-data path=/Users/ann/app/packages/service-number-7/config/.env
	allow file-write-unlink path=/Users/ann/app/packages/service-number-7/README type=REGULAR-FILE
	allow file-write-unlink path=/Users/ann/app/src/x type=DIRECTORY
END
model table "$scratch/many.table" "$scratch/many.sb"

profile classes <<<'{version: 1, files: {deny: ["[acegikmoqsuwy02468]x.txt", "[!acegikmoqsuwy02468]y.txt"]}}'
profile directories <<<'{version: 1, files: {deny: ["secrets/", "~/lists/", "**/k*/"], except: ["**/keep/"], protect: ["gen/"]}}'
model lint "$scratch/classes.sb" "$scratch/directories.sb"
cat >"$scratch/classes.table" <<-'END'
	deny  file-read-data path=/Users/ann/app/0x.txt
	deny  file-read-data path=/Users/ann/app/yX.TXT
	allow file-read-data path=/Users/ann/app/bx.txt
	deny  file-read-data path=/Users/ann/app/by.txt
	allow file-read-data path=/Users/ann/app/ay.txt
END
model table "$scratch/classes.table" "$scratch/classes.sb"
cat >"$scratch/directories.table" <<-'END'
	deny  file-read-data path=/Users/ann/app/secrets type=DIRECTORY
	allow file-read-data path=/Users/ann/app/secrets type=REGULAR-FILE
	deny  file-read-data path=/Users/ann/app/secrets/x type=REGULAR-FILE
	deny  process-exec* path=/Users/ann/app/secrets/x type=REGULAR-FILE
	deny  network-outbound path=/Users/ann/app/secrets/x type=SOCKET
	deny  file-read-data path=/Users/ann/app/kit type=DIRECTORY
	allow file-read-data path=/Users/ann/app/keep type=DIRECTORY
	allow file-read-data path=/Users/ann/app/keep/x type=REGULAR-FILE
	allow process-exec* path=/Users/ann/app/keep/x type=REGULAR-FILE
	deny  file-write-create path=/Users/ann/app/gen type=DIRECTORY
	allow file-write-create path=/Users/ann/app/gen type=REGULAR-FILE
	deny  network-bind path=/Users/ann/app/gen/x type=SOCKET
END
model table "$scratch/directories.table" "$scratch/directories.sb"

# flaw TEXT FORM: lint reports TEXT for a correct profile with this form at its end.
profile right <<<'{version: 1}'
model lint "$scratch/right.sb"
flaw() {
	local out
	{ cat "$scratch/right.sb" && printf '%s\n' "$2"; } >"$scratch/wrong.sb"
	if out=$(model lint "$scratch/wrong.sb"); then
		echo "lint accepts: $2"
		exit 1
	fi
	case $out in
	*"$1"*) ;;
	*) echo "lint finds something else in: $2: $out" && exit 1 ;;
	esac
}
flaw 'may not take the filter vnode-type' '(deny process-exec* (vnode-type DIRECTORY) (with message "x"))'
flaw 'may not take the filter target' '(deny sysctl-read (target self) (with message "x"))'
flaw 'more than 15 ranges' '(deny file-read* (regex #"/[acegikmoqsuwy02468]$") (with message "x"))'
flaw 'bytes of text' "(deny file-read* (literal \"/$(printf '%020000d' 0)\") (with message \"x\"))"
flaw 'does not know same-sandbox' '(deny file-read* (vnode-type same-sandbox) (with message "x"))'
flaw 'macOS 10.15 does not know file-lock' '(deny file-lock (with message "x"))'
flaw 'a directory can be cloned' '(allow file-clone (subpath "/Users/ann/app"))'
flaw 'a link can be made' '(allow file-link (subpath "/Users/ann/app"))'
flaw 'the data volume is open' '(allow file-read* (subpath "/System"))'
flaw 'not known' '(deny file-read-everything (with message "x"))'
echo "lint finds every flaw"
