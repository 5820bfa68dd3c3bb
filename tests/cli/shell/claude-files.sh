#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The files that Claude Code saves for a project are readable for the commands of that project: output of background commands in
# /tmp/claude-UID, and saved results of tools. Transcripts, other projects and other users' directories are not.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
git init -q .
shim=${BERM%/berm}/shims/bash
top=/tmp/claude-$(id -u)
slug=$(tr -c '[:alnum:]\n' - <<<"$project")
is_new=$([ -e "$top" ] || echo yes)
trap 'rm -rf "$top/$slug" "$top/$slug-sub" "$top/$slug-other" "$top/${slug%-project}"; [ -z "$is_new" ] || rmdir "$top"; clean_up' EXIT
mkdir -p "$top" "$top/$slug/session/tasks" "$top/$slug-other" "$top/${slug%-project}"
chmod 700 "$top" "$top/$slug" "$top/$slug-other" "$top/${slug%-project}"
projects=~/.claude/projects
mkdir -p "$projects/$slug/0a-1/tool-results" "$projects/$slug-other/0a-2/tool-results" sub
echo own >"$top/$slug/session/tasks/a.output"
echo foreign >"$top/$slug-other/b.output"
echo foreign >"$top/${slug%-project}/c.output"
echo saved >"$projects/$slug/0a-1/tool-results/r.txt"
echo foreign >"$projects/$slug-other/0a-2/tool-results/r.txt"
echo transcript >"$projects/$slug/0a-1.jsonl"
echo login >~/.claude/.credentials.json
read='cat '"$top/${slug%-project}"'*/*.output '"$top/${slug%-project}"'*/*/*/*.output ~/.claude/projects/*/*/tool-results/* ~/.claude/projects/*/*.jsonl ~/.claude/.credentials.json 2>/dev/null | sort -u | tr "\n" " "; true'

expect_output "bare: the control" "foreign login own saved transcript " bash -c "$read"
expect_output "a command sees what is its project's" "own saved " "$shim" -c "$read"
expect_output "again, with the plan of the cache" "own saved " "$shim" -c "$read"
(cd sub && expect_output "in a directory of the project" "own saved " "$shim" -c "$read"; [ "$bad" -eq 0 ]) || fail "in a directory of the project"
expect_status "it cannot be changed" 1 "$shim" -c "echo x >$top/$slug/session/tasks/a.output"
expect_equal "and was not" own "$(cat "$top/$slug/session/tasks/a.output")"
mkdir -p "$projects/$slug/0a-3/tool-results"
echo later >"$projects/$slug/0a-3/tool-results/r.txt"
expect_output "a new session" "later own saved " "$shim" -c "$read"
# A link is not followed, nor a directory that others can write.
mv "$top/$slug" "$top/$slug-sub"
ln -s "$top/$slug-other" "$top/$slug"
expect_output "a link" "later saved " "$shim" -c "$read"
rm "$top/$slug"
mv "$top/$slug-sub" "$top/$slug"
chmod 777 "$top/$slug"
expect_output "a directory that others can write" "later saved " "$shim" -c "$read"
expect_status "berm run is not concerned" 0 "$BERM" run -- sh -c "$read"
expect_equal "berm run: none of it" "" "$out"
finish
