#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `network: {allow: ...}` with the programs that people use. Each one reaches an allowed host, does not reach a denied one inside,
# and reaches that same one without berm: the control.
. "$(dirname "$0")/../support/internet.sh"
. "$(dirname "$0")/../support/lib.sh"
trap 'rm -rf "$internet"; clean_up' EXIT
export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
[ -x "$python" ] || python=python3

cat >"$scratch/policy.yml" <<END
version: 1
network:
  allow: [allowed.test, registry.test:80, "*.wild.test:80", six.test:80, inhosts.test:80, alias.test:80, big.test:80, slow.test:80,
    gone.test:80, none.test:80, later.test:80]
  deny: [bad.wild.test]
environment:
  set: {GIT_TERMINAL_PROMPT: "0"}
END
chmod 600 "$scratch/policy.yml"
policy=--policy=$scratch/policy.yml
mkdir certificates
cp "$internet/certificate" certificates/ca.crt

inside() {
	"$BERM" run "$policy" -- "$@"
}

# client NAME COMMAND...: with HOST replaced. Reaches the allowed host inside; not the denied one; but that one without berm.
client() {
	local name=$1 before
	shift
	run inside "${@//HOST/${allowed:-allowed}}"
	expect_equal "$name reaches an allowed host" 0 "$status$([ "$status" = 0 ] || echo ": $out $err")"
	expect_equal "$name: nothing to say about it" "" "$(grep berm: <<<"$err")"
	before=$(arrivals)
	run inside "${@//HOST/denied}"
	expect_equal "$name does not reach a denied host" yes "$([ "$status" -ne 0 ] && echo yes)"
	expect_contains "$name: the refusal is reported" "denied.test:" "$(grep '^berm: refused' <<<"$err")"
	expect_equal "$name: nothing arrived" "$before" "$(arrivals)"
	run "${@//HOST/denied}"
	expect_equal "control: $name reaches the same host without berm" 0 "$status$([ "$status" = 0 ] || echo ": $out $err")"
}

# Output of plan and check, before a run.
run "$BERM" plan "$policy"
expect_contains "plan says how" "programs that ignore proxy settings cannot connect" "$(tr -s ' \n' ' ' <<<"$out")"
expect_contains "plan says that it is enforced" "network enforced" "$(tr -s ' ' <<<"$out")"
expect_status "check connect: yes" 0 "$BERM" check "$policy" connect allowed.test:443
expect_status "check connect: no" 1 "$BERM" check "$policy" connect denied.test:443
expect_status "check connect: another port" 1 "$BERM" check "$policy" connect registry.test:443
expect_status "check env" 0 "$BERM" check "$policy" env HTTPS_PROXY

client curl curl -sSf -o /dev/null http://HOST.test/hello
client "curl through a tunnel" curl -sSf -o /dev/null --proxytunnel http://HOST.test/hello
client "curl with TLS" curl -sSf -o /dev/null --cacert certificates/ca.crt https://HOST.test/hello
# shellcheck disable=SC2016 # for the shell inside
client "curl with SOCKS" sh -c 'curl -sSf -o /dev/null ${BERM_SOCKS_PROXY:+--proxy "$BERM_SOCKS_PROXY"} http://HOST.test/hello'
client "python urllib" "$python" -c 'import urllib.request; urllib.request.urlopen("http://HOST.test/hello", timeout=10).read()'
if command -v wget >/dev/null; then
	client wget wget -q -t 1 -T 10 -O /dev/null http://HOST.test/hello
fi

git init -q --bare "$internet/site/repo.git"
git init -q "$scratch/origin"
git -C "$scratch/origin" -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
git -C "$scratch/origin" push -q "$internet/site/repo.git" HEAD:refs/heads/main
git -C "$internet/site/repo.git" symbolic-ref HEAD refs/heads/main
git -C "$internet/site/repo.git" update-server-info
client git git clone -q http://HOST.test/repo.git repo-HOST
expect "git cloned" git -C repo-allowed rev-parse -q --verify HEAD

if command -v javac >/dev/null; then
	cat >Fetch.java <<-'END'
	import java.net.*;
	public class Fetch {
		public static void main(String[] arguments) throws Exception {
			URLConnection connection = new URL(arguments[0]).openConnection();
			connection.setConnectTimeout(10000);
			connection.getInputStream().readAllBytes();
		}
	}
	END
	# Without the directory for its measurements in the real /tmp.
	javac -J-XX:-UsePerfData Fetch.java 2>/dev/null
	# shellcheck disable=SC2016 # for the shell inside
	client java sh -c 'java -XX:-UsePerfData -Xshare:auto -XX:TieredStopAtLevel=1 ${BERM_JAVA_OPTIONS:-} Fetch http://HOST.test/hello'
fi

if [ -x /usr/bin/npm ]; then
	echo '{"name":"work","version":"1.0.0"}' >package.json
	allowed=registry client npm sh -c 'rm -rf node_modules && /usr/bin/npm install --registry http://HOST.test/npm-HOST/ \
		--cache "$PWD/npm-cache-$$" --fetch-retries 0 --no-audit --no-fund --no-save --loglevel error tinypkg@1.0.0'
fi
if "$python" -m pip --version >/dev/null 2>&1; then
	client pip "$python" -m pip --disable-pip-version-check --no-cache-dir --isolated download -q --no-deps --retries 0 \
		--index-url http://HOST.test/simple --trusted-host HOST.test -d wheels tinypkg
	expect "pip downloaded" test -e wheels/tinypkg-1.0.0-py3-none-any.whl
fi

# More allowed destinations.
expect_output "a wildcard" hello inside curl -sSf http://sub.wild.test/hello
expect_output "IPv6 only" hello inside curl -sSf http://six.test/hello
expect_output "a name of the hosts file" hello inside curl -sSf http://inhosts.test/hello
# The proxy has read the file before; it looks again after two seconds, behind its own filter.
expect_equal "control: a name that is not in the hosts file yet" no "$(inside curl -sSf http://later.test/hello 2>/dev/null || echo no)"
(
	until [ -e ready ]; do sleep 0.1; done
	echo "11.22.33.44 later.test" >>"$internet/hosts"
	sleep 2.2
	touch go
) &
# shellcheck disable=SC2016 # for the shell inside
expect_output "a name that is added to the hosts file during a run" hello inside sh -c \
	'curl -sSf -o /dev/null http://inhosts.test/hello && touch ready && until [ -e go ]; do sleep 0.1; done && curl -sSf http://later.test/hello'
wait $!
rm ready go
expect_output "an alias" hello inside curl -sSf http://alias.test/hello
expect_output "an answer that only fits TCP" hello inside curl -sSf http://big.test/hello
expect_output "--allow-net" hello "$BERM" run --allow-net=denied.test:80 -- curl -sSf http://denied.test/hello
expect_output "--allow-net with an address" hello "$BERM" run --allow-net=11.22.33.44:80 -- curl -sSf http://11.22.33.44/hello
expect_output "a private address that is named" hello "$BERM" run --allow-net=10.1.2.3:80 -- curl -sSf http://10.1.2.3/hello
expect_output "the server sees its own name" allowed.test inside curl -sSf http://allowed.test/host
head -c 3000000 /dev/urandom >upload
sum=$(sha256sum upload | cut -d' ' -f1)
expect_output "a body with a length" "$sum" inside curl -sSf --data-binary @upload http://allowed.test/
expect_output "a body in chunks" "$sum" inside curl -sSf -H "Transfer-Encoding: chunked" --data-binary @upload http://allowed.test/
expect_output "a body through a tunnel" "$sum" inside curl -sSfp --data-binary @upload http://allowed.test/
expect_output "eight megabytes back" "$(sha256sum <"$internet/site/large")" inside sh -c 'curl -sSf http://allowed.test/large | sha256sum'
# shellcheck disable=SC2016 # for the shell inside
expect_output "forty at once" 40 inside sh -c 'for i in $(seq 40); do curl -sSf http://allowed.test/hello & done | grep -c hello; wait'
expect_equal "the server never saw the proxy's secret" "" "$(cat "$internet/leaks" 2>/dev/null)"
expect_output "its own loopback stays its own" hello inside sh -c \
	"echo hello >index.html; $python -m http.server --bind 127.0.0.1 8081 2>/dev/null & until curl -sf http://127.0.0.1:8081/; do :; done; kill \$!"

# A failure reports its reason.
run inside curl -sS http://denied.test/
expect_contains "403 in words" "network: {allow: [\"denied.test:80\"]}" "$out"
expect_equal "one line on stderr" "berm: refused 1 connection: denied.test:80 (no rule allows this name; do not retry, ask the user to allow it: --allow-net=denied.test:80 or network.allow)" "$err"
run "$BERM" run -v "$policy" -- sh -c 'for host in a b c d e; do curl -s -o /dev/null "http://$host.test/"; done; curl -s -o /dev/null http://a.test/'
expect_contains "several in one line" "refused 6 connections: a.test:80 ×2 (no rule" "$err"
expect_contains "and all of them with -v" "  e.test:80 (" "$err"
run inside curl -sS http://bad.wild.test/
expect_contains "a rule that denies is named" "network.deny: bad.wild.test" "$out"
run inside curl -sS http://none.test/
expect_contains "no such name" "this name has no address" "$out"
expect_equal "which is no refusal" "" "$err"
expect_equal "names that are not allowed were never asked for" "" "$(grep -x 'bad.wild.test\|[a-e].test' "$internet/names")"
expect "control: names that are allowed were" grep -qx allowed.test "$internet/names"
# shellcheck disable=SC2016 # for the shell inside
run inside sh -c 'curl -sS --proxy "$BERM_SOCKS_PROXY" http://denied.test/'
expect_equal "SOCKS refuses with its own code" 97 "$status"

finish
