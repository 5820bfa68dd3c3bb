#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# --publish and network.publish: parallel runs of a project, ports of strangers, free ports, and the line about a port that is not published.
. "$(dirname "$0")/../support/internet.sh"
. "$(dirname "$0")/../support/lib.sh"
trap 'rm -rf "$internet"; clean_up' EXIT
python=/usr/bin/python3
[ -x "$python" ] || python=python3
export PYTHONDONTWRITEBYTECODE=1
mkdir site
echo inside >site/index.html
mkdir "$scratch/host"
echo host >"$scratch/host/index.html"

fetch() {
	curl -sS --max-time 5 "http://$1/"
}
# answers ADDRESS TEXT
answers() {
	[ "$(fetch "$1")" = "$2" ]
}
serve=("$python" -m http.server -d site -b 127.0.0.1)

"${serve[@]}" 3100 >/dev/null 2>&1 &
bare=$!
expect "control: bare the server answers" until_true answers 127.0.0.1:3100 inside
kill "$bare"
wait "$bare" 2>/dev/null

"$BERM" run --publish=3100 -- "${serve[@]}" 3100 >/dev/null 2>"$scratch/first" &
first=$!
expect "a published port answers" until_true answers 127.0.0.1:3100 inside
run fetch 11.22.33.1:3100
expect_equal "on the loopback only" 7 "$status"
run "$BERM" run --publish=3100 -- echo second
expect_equal "a second run of the project is not refused" "0 second" "$status $out"
expect_contains "and is told who has the port" "127.0.0.1:3100 leads to another run of this project" "$err"
expect_equal "in one line" 1 "$(wc -l <"$scratch/err")"
expect_equal "the first still answers" inside "$(fetch 127.0.0.1:3100)"
printf 'version: 1\nnetwork: {publish: [3100]}\n' >"$scratch/policy.yml"
chmod 600 "$scratch/policy.yml"
run "$BERM" run --policy="$scratch/policy.yml" -- echo third
expect_equal "neither is one by a policy" "0 third" "$status $out"
mkdir "$scratch/other"
run sh -c "cd '$scratch/other' && '$BERM' run --publish=3100 -- echo other"
expect_equal "another project is refused" 125 "$status"
expect_contains "with the port" "cannot publish port 3100 on 127.0.0.1:3100" "$err"
expect_contains "and the way out" "--publish=auto:3100" "$err"
expect_equal "the first is told nothing" 0 "$(grep -c berm: "$scratch/first")"

# Many at once: one has the port, none is refused.
many() {
	local i pids=()
	for ((i = 0; i < 6; i++)); do
		"$BERM" run --publish=3101 -- sh -c 'echo ran' >>"$scratch/many" 2>"$scratch/many.$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
}
many
expect_equal "six at once" 6 "$(grep -c ran "$scratch/many")"

# A free port.
"$BERM" run --publish=auto:3100 -- "${serve[@]}" 3100 >/dev/null 2>"$scratch/auto" &
auto=$!
expect "a free port is named" until_true grep -q 'port 3100 of the command is http://127.0.0.1:' "$scratch/auto"
url=$(sed -n 's,.*http://,,p' "$scratch/auto")
expect "and answers" until_true answers "$url" inside
expect "it is another one" test "$url" != 127.0.0.1:3100
kill "$auto" "$first"
wait "$auto" "$first" 2>/dev/null
run fetch 127.0.0.1:3100
expect_equal "with the run its port is free" 7 "$status"
expect_output "and can be published again" ok "$BERM" run --publish=3100 -- echo ok

# A stranger.
"$python" -m http.server -d "$scratch/host" -b 127.0.0.1 3102 >/dev/null 2>&1 &
stranger=$!
expect "control: the stranger answers" until_true answers 127.0.0.1:3102 host
run "$BERM" run --publish=3102 -- touch ran
expect_equal "a port of a stranger refuses the run" 125 "$status"
expect_contains "with its name" "(pid $stranger) listens there" "$err"
expect "nothing ran" test ! -e ran
expect_output "another port for the same one" ok "$BERM" run --publish=3103:3102 -- echo ok
kill "$stranger"
wait "$stranger" 2>/dev/null

# Never more than was asked for.
expect_status "no other network" 7 "$BERM" run --publish=3100 -- curl -sS --max-time 3 http://11.22.33.44/
run "$BERM" plan --publish=3104
expect_contains "the plan shows it" 3104 "$out"
printf 'version: 1\nnetwork: {allow: [allowed.test]}\n' >"$scratch/config.yml"
mkdir -p "$XDG_CONFIG_HOME/berm"
cp "$scratch/config.yml" "$XDG_CONFIG_HOME/berm/berm.yml"
printf 'version: 1\nnetwork: none\n' >berm.yml
expect_status "network: none of the project revokes the user's destinations" 1 "$BERM" check connect allowed.test:443
expect_status "and a published port does not bring them back" 1 "$BERM" check --publish=3100 connect allowed.test:443
rm berm.yml "$XDG_CONFIG_HOME/berm/berm.yml"
for each in 0 70000 x auto: auto:0 localhost:80:80; do
	expect_status "--publish=$each" 125 "$BERM" run --publish="$each" -- true
done

# A port that is not published. The look is 2 s after the start, so these take that long.
"$BERM" run -- "${serve[@]}" 5173 >/dev/null 2>"$scratch/listens" &
listens=$!
"$BERM" run --publish=5174 -- "${serve[@]}" 5174 >/dev/null 2>"$scratch/published" &
published=$!
"$BERM" run -- "${serve[@]}" 0 >/dev/null 2>"$scratch/chosen" &
chosen=$!
"$BERM" run --allow-net -- "${serve[@]}" 5175 >/dev/null 2>"$scratch/open" &
open=$!
expect "a port that is not published is named" until_true grep -q 'listens on port 5173.*berm run --publish=5173' "$scratch/listens"
run fetch 127.0.0.1:5173
expect_equal "control: it cannot be reached" 7 "$status"
sleep 0.5 # the others are looked at in the same moment, and must stay silent
expect_equal "once" 1 "$(grep -c berm: "$scratch/listens")"
expect_equal "a published one is not" 0 "$(grep -c berm: "$scratch/published")"
expect_equal "nor one that the kernel chose" 0 "$(grep -c berm: "$scratch/chosen")"
expect_equal "nor one in the machine's own network" 0 "$(grep -c berm: "$scratch/open")"
kill "$listens" "$published" "$chosen" "$open"
wait "$listens" "$published" "$chosen" "$open" 2>/dev/null
finish
