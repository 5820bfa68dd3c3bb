#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Arguments, environment, umask and working directory: byte for byte those of the caller, or those of the plan.
. "$(dirname "$0")/../support/lib.sh"

same "plain arguments" printf '%s\0' a b c
same "empty arguments" printf '<%s>\0' '' '' x ''
# shellcheck disable=SC1003
same "quotes and blanks" printf '%s\0' '"' "'" '\' '\\' '  ' $'\t' '$HOME' '`id`' '$(id)' ';' '&' '|' '*' '?' '~' '!' '!!' '#' '%' '%s'
same "newlines and controls" printf '%s\0' $'a\nb' $'\n' $'\r\n' $'\e[31m' $'\a\b\f\v' $'\x01\x7f'
same "bytes that are no text" printf '%s\0' $'\xff' $'\xc3\x28' $'\xed\xa0\x80' $'\xf0\x9f' $'caf\xc3\xa9' $'\xe2\x80\xae'
same "things that look like options" printf '%s\0' -- -v --help --json -c -
same "a command that looks like one" env -- printf '%s' x
same "a hundred thousand bytes" printf '%s\0' "$(head -c 100000 /dev/zero | tr '\0' x)"

# Close to two megabytes: 15 arguments of almost the kernel's greatest length.
long=$(head -c 128000 /dev/urandom | base64 -w 0 | head -c 128000)
many=()
for ((i = 0; i < 14; i++)); do
	many+=("$i$long")
done
same "two megabytes of arguments" env printf '%s\0' "${many[@]}"
expect "the control: they are that long" test "$(printf '%s\0' "${many[@]}" | wc -c)" -gt 1790000
# And one too many: the kernel's own words, not a crash.
expect_status "an argument that the kernel refuses: the control" 126 bash -c "env \"\$(head -c 200000 /dev/zero | tr '\\0' x)\" 2>/dev/null"

# A shell line: $0 and the arguments after it.
for words in "" name "name one" "name one two"; do
	# shellcheck disable=SC2086
	expect_equal "-c with arguments '$words'" "$(sh -c 'echo "$# <$1> <$2>"' $words)" "$("$BERM" -c 'echo "$# <$1> <$2>"' $words)"
done
expect_output "-c knows its name" name "$BERM" -c 'echo "$0"' name
expect_output "-c is one word" "a  b" "$BERM" -c "echo 'a  b'"
expect_output "-c takes several lines" "1 2" "$BERM" -c $'x=1\necho $x \\\n 2'
expect_equal "-c with odd bytes" "$(sh -c "printf '%s' \$'\\xff' '!x'" | cksum)" "$("$BERM" -c "printf '%s' \$'\\xff' '!x'" | cksum)"
expect_status "-c and its status" 42 "$BERM" -c 'exit 42'

# The environment: the plan's variables, no others.
names() {
	tr '\0' '\n' | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | sort | xargs
}
planned=$("$BERM" plan --json | awk '/^  "environment": \[/ { on = 1 } on && /"name":/ { split($0, part, "\""); print part[4] } on && /^  \]/ { exit }' | sort | xargs)
expect "the plan names variables" test -n "$planned"
expect_equal "exactly the planned variables" "$planned" "$("$BERM" run -- env -0 | names)"
export AWS_SECRET_ACCESS_KEY=secret GITHUB_TOKEN=secret SSH_AUTH_SOCK=/none LD_PRELOAD_NOT=x BASH_ENV=/none FOO_SECRET=x
expect_contains "the control: they are in the environment" AWS_SECRET_ACCESS_KEY "$(env)"
expect_equal "secrets of the caller are not" "$planned" "$("$BERM" run -- env -0 | names)"
unset BASH_ENV
odd=$'a=b c\n\xff"\'$x\\ '
expect_equal "--env=NAME passes the bytes" "$(printf '%s' "$odd" | cksum)" "$(ODD=$odd "$BERM" run --env=ODD -- sh -c 'printf "%s" "$ODD"' | cksum)"
expect_equal "--env=NAME=VALUE sets them" "$(printf '%s' "$odd" | cksum)" "$("$BERM" run --env="ODD=$odd" -- sh -c 'printf "%s" "$ODD"' | cksum)"
expect_output "--env wins over the caller" set env ODD=callers "$BERM" run --env=ODD=set -- printenv ODD
expect_output "an empty value is a value" "<>" "$BERM" run --env=ODD= -- sh -c 'echo "<${ODD-unset}>"'
expect_output "a variable that is not set stays so" unset "$BERM" run --env=ODD -- sh -c 'echo "${ODD-unset}"'
expect_output "a pattern" "1 2" env MY_A=1 MY_B=2 "$BERM" run --env='MY_*' -- sh -c 'echo $MY_A $MY_B'
expect_output "HOME and TMPDIR exist and are writable" ok "$BERM" run -- sh -c 'touch "$HOME/x" "$TMPDIR/x" && rm "$HOME/x" "$TMPDIR/x" && mkdir -p "$XDG_CACHE_HOME" && echo ok'

big=()
for ((i = 0; i < 14; i++)); do
	big+=("BIG$i=$i$long")
done
wanted=$(env -i "${big[@]}" env -0 | sort -z | cksum)
expect_equal "two megabytes of environment" "$wanted" "$(env "${big[@]}" "$BERM" run --env='BIG*' -- env -0 | grep -z ^BIG | sort -z | cksum)"

# umask
for mask in 000 002 022 027 077 777; do
	bare=$(umask $mask && sh -c 'umask; touch made; stat -c %a made; rm -f made')
	expect_equal "umask $mask" "$bare" "$(umask $mask && "$BERM" run -- sh -c 'umask; touch made; stat -c %a made; rm -f made')"
done

# Working directory
same "the project" pwd -P
mkdir -p sub/directory
cd sub/directory || exit 1
same "a directory below" pwd -P
same "PWD agrees" sh -c 'test "$PWD" = "$(pwd -P)" && echo yes'
cd "$project" || exit 1
ln -s sub/directory link
cd link || exit 1
same "through a symlink" pwd -P
cd "$project" || exit 1
for ((i = 0; i < 14; i++)); do
	deep=$(printf 'd%.0s' {1..200})
	mkdir "$deep" && cd "$deep" || exit 1
done
same "a deep one" pwd -P
same "and its files" sh -c 'echo x >file; cat file; rm file'
cd "$project" || exit 1
mkdir -p gone "odd name $(printf '\xff\n')"
cd odd* || exit 1
same "an odd name" pwd -P
cd "$project/gone" || exit 1
rmdir "$project/gone"
expect_status "a removed directory: the control" 0 true
expect_status "a removed directory" 125 "$BERM" run -- touch x
expect_contains "a removed directory in words" "current directory" "$err"
mkdir "$scratch/outside"
cd "$scratch/outside" || exit 1
expect_output "outside the project, with --project" "$(cd "$project" && pwd -P)" "$BERM" run --project="$project" -- pwd -P
expect_output "--project relative to here" "$(cd "$project" && pwd -P)" "$BERM" run --project=../project -- pwd -P
cd /usr/bin || exit 1
expect_output "a readable directory stays" /usr/bin "$BERM" run --project="$project" -- pwd -P

finish
