#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The content decides about files named *.pem and *.key: certificates and public keys are readable, everything else stays hidden.
# Read at each launch, whatever an index of an earlier one holds, and again when the host changes one while a command runs. The level
# `launch` is the control of the latter.
. "$(dirname "$0")/../support/lib.sh"

mkdir -p "$XDG_CONFIG_HOME/berm"
config=$XDG_CONFIG_HOME/berm/berm.yml

# block LABEL
block() {
	printf -- '-----BEGIN %s-----\nMIIBszCCAVmgAwIBAgIU\nAQID+/8=\n-----END %s-----\n' "$1" "$1"
}

# readable FILE...: which of them the command can read, in order.
readable() {
	# shellcheck disable=SC2016 # the script is for the shell inside
	"$BERM" run -- sh -c 'for f; do if cat "$f" >/dev/null 2>&1; then printf "%s " "$f"; fi; done' sh "$@"
}

git init -q .
mkdir certs
block CERTIFICATE >certs/root.pem
{ echo "# two kinds" && block CERTIFICATE && block "X509 CRL"; } >chain2.pem
block "PUBLIC KEY" >pub.key
block "RSA PRIVATE KEY" >server.key
{ block CERTIFICATE && block "PRIVATE KEY"; } >both.pem
block "CERTIFICATE" | sed '$d' >cut.pem
echo secret >text.pem
: >empty.pem
block CERTIFICATE >twice.pem && ln twice.pem other-name
block "EC PRIVATE KEY" >target.txt && ln -s target.txt link.key
{ for _ in $(seq 16000); do block CERTIFICATE; done; } >large.pem
mkfifo pipe.pem
mkdir directory.pem && block CERTIFICATE >directory.pem/x
all="certs/root.pem chain2.pem pub.key server.key both.pem cut.pem text.pem empty.pem twice.pem other-name link.key target.txt large.pem directory.pem/x"

# Control: without berm all can be read.
# shellcheck disable=SC2086 # a list
expect "control: readable without berm" cat $all
# shellcheck disable=SC2086
expect_equal "only what is public" "certs/root.pem chain2.pem pub.key " "$(readable $all)"
run timeout 20 "$BERM" run -- sh -c 'cat <pipe.pem'
expect_equal "a FIFO is hidden and does not block" 1 "$((status > 0 && status < 124))"

# The plan and the answers agree with the sandbox.
run "$BERM" check read certs/root.pem server.key both.pem twice.pem large.pem empty.pem
expect_equal "check: one is readable" 1 "$(grep -c '^yes' <<<"$out")"
expect_contains "check: what is in a public one" "1 certificate" "$out"
expect_contains "check: where the private key is" "at line 5" "$out"
expect_contains "check: hard links" "hard links" "$out"
expect_contains "check: too large" "1 MB" "$out"
run "$BERM" plan
expect_contains "plan: the judged ones" "chain2.pem: readable: 1 certificate, 1 revocation list" "$out"
expect_contains "plan: the others" "server.key: hidden:" "$out"
run "$BERM" plan --json
expect "plan --json" python3 - "$scratch/out" <<-'PYTHON'
	import json, sys
	judged = {item["path"].rsplit("/", 1)[1]: item["public"] for item in json.load(open(sys.argv[1]))["files"]["judged"]}
	assert judged["root.pem"] and judged["pub.key"] and not judged["server.key"] and not judged["both.pem"], judged
PYTHON

# Read again at each launch; tests/cli/cache/tree-index.sh does the same with an index in use. Here neither size nor mtime changes.
before=$(stat -c %s pub.key)
touch -r pub.key "$scratch/time"
block "PUBLIC KEY" | sed 's/PUBLIC KEY/SECRET KEY/' >"$scratch/private" && cat "$scratch/private" >pub.key && touch -r "$scratch/time" pub.key
expect_equal "control: the same size" "$before" "$(stat -c %s pub.key)"
expect_equal "changed in place: hidden" "" "$(readable pub.key)"
block "PUBLIC KEY" >pub.key
expect_equal "and back" "pub.key " "$(readable pub.key)"

# The command can change a hidden file in no way, so it cannot make it readable either.
run "$BERM" run -- sh -c 'echo >server.key; rm -f server.key; mv pub.key server.key; ln -f server.key x.txt; cp pub.key server.key; cat server.key x.txt'
expect_equal "a hidden key stays hidden" "" "$out"
expect_equal "and unchanged" "$(block "RSA PRIVATE KEY")" "$(cat server.key)"
expect "the public one too: mv fails" test -e pub.key
# A hard link that a command makes hides both names from the next launch on.
"$BERM" run -- ln pub.key second
expect_equal "a second name hides" "" "$(readable pub.key second)"
rm second

# Rules. An untrusted project cannot add names; the user's own denial of a name is not weakened by the default policy.
block CERTIFICATE >id_rsa
printf 'version: 1\nfiles: {public: [id_rsa]}\n' >berm.yml
expect_equal "an untrusted project adds no name" "" "$(readable id_rsa 2>/dev/null)"
rm berm.yml
printf 'version: 1\nfiles: {public: [id_rsa]}\n' >"$config"
expect_equal "the user can" "id_rsa " "$(readable id_rsa)"
printf 'version: 1\nfiles: {deny: ["*.key"]}\n' >"$config"
expect_equal "the user's denial holds" "certs/root.pem " "$(readable certs/root.pem pub.key)"
printf 'version: 1\nfiles: {public: ["certs/*.pem"]}\n' >"$config"
expect_status "a name has no slash" 125 "$BERM" run -- true
expect_contains "it is said where" "berm.yml:2" "$err"
rm "$config" id_rsa

# While a command runs. `seen` in the end: what it could read when `stop` appeared.
start() {
	# shellcheck disable=SC2016
	"$BERM" run -- sh -c 'touch ready; until [ -e stop ]; do sleep 0.05; done; for f; do if cat "$f" >/dev/null 2>&1; then printf "%s " "$f"; fi; done' \
		sh "$@" >"$scratch/seen" 2>"$scratch/seen.err" &
	pid=$!
	until_true test -e ready || fail "the command does not start" "$(cat "$scratch/seen.err")"
}
finish_run() {
	touch stop
	wait "$pid"
	rm -f ready stop
}
# The mask is in the command's mount namespace only: a probe inside creates a file when it is there.
probe() {
	# shellcheck disable=SC2016
	"$BERM" run -- sh -c 'touch ready; until [ -e stop ]; do for f; do if cat "$f" >/dev/null 2>&1; then rm -f "closed-$(basename "$f")"; else : >"closed-$(basename "$f")"; fi; done; sleep 0.05; done' \
		sh "$@" >/dev/null 2>"$scratch/seen.err" &
	pid=$!
	until_true test -e ready || fail "the probe does not start" "$(cat "$scratch/seen.err")"
}

printf 'version: 1\nfiles: {guard: launch}\n' >"$config"
for name in one two; do block CERTIFICATE >$name.pem; done
start one.pem
block "PRIVATE KEY" >one.pem
sleep 0.5
finish_run
expect_equal "control: the level launch does not look again" "one.pem " "$(cat "$scratch/seen")"
rm "$config"
for name in one two three four; do block CERTIFICATE >$name.pem; done
probe one.pem two.pem three.pem four.pem
sleep 0.5
block "PRIVATE KEY" >one.pem
block "PRIVATE KEY" >two.new && mv two.new two.pem
block "PUBLIC KEY" >three.new && mv three.new three.pem
until_true test -e closed-one.pem || fail "written in place: still readable" "$(cat "$scratch/seen.err")"
until_true test -e closed-two.pem || fail "replaced: still readable" "$(cat "$scratch/seen.err")"
expect "replaced by a public one: readable" test ! -e closed-three.pem
expect "untouched: readable" test ! -e closed-four.pem
finish_run
expect_contains "it is reported" "one.pem was changed while the command ran" "$(cat "$scratch/seen.err")"
case $(cat "$scratch/seen.err") in *three.pem* | *four.pem*) fail "a public one is reported" "$(cat "$scratch/seen.err")" ;; *) pass ;; esac
expect_equal "and at the next launch" "three.pem four.pem " "$(readable one.pem two.pem three.pem four.pem)"

finish
