#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Claude Code with what `berm setup claude-code` writes: bare first, then with berm.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
agent claude-code
own_settings=.claude/settings.local.json
program=$(native "$modules/@anthropic-ai/claude-code-*/claude") || exit 1
make_home
start_model
export ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=x CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
claude=("$program" -p try --model claude-sonnet-4-5 --dangerously-skip-permissions)
settings=$HOME/.claude/settings.json

read_file() {
	tool Read "file_path=$1"
}

write_file() {
	tool Write "file_path=$1" "content=$2"
}

# The user's own guards: a hook that blocks, and a rule that denies. A second set of steps tries them,
# and what agents do with git and directories.
mkdir -p "$HOME/.claude"
guard_hook
cat >"$settings" <<END
{
  "permissions": {"deny": ["Bash(touch:*)"]},
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "$guard"}]}]}
}
END
mkdir -p "$project/config" "$project/sub"
echo "FAKE-PEM-$$" >"$project/config/server.pem"
echo "FAKE-PEM in words" >"$project/config/readme.txt"
ln -s ../.env "$project/sub/harmless.txt"
guards() {
	steps=()
	shell 'echo forbidden-by-hook >hooked.txt'
	shell 'touch ruled.txt'
	shell 'cd sub'
	shell 'pwd'
	shell "cd $project && git commit --amend && echo amended=\$?"
	tool Grep pattern=FAKE-PEM output_mode=content
	tool Grep pattern=FAKE-PEM output_mode=content "path=$project/config" "glob=*.*"
	tool Glob "pattern=$HOME/.ssh/*"
	tool Read "file_path=$project/sub/harmless.txt"
	tool Read "file_path=/proc/self/environ"
	shell 'echo ran' '{"run_in_background": true}'
	shell 'echo "CC=$CLAUDECODE GE=$GIT_EDITOR"'
}
guarded=("${claude[@]}" --allowedTools Bash Read Write Edit Grep Glob)

bare_conversation "${claude[@]}"
own_sandbox "${claude[@]}" --settings '{"sandbox": {"enabled": true, "autoAllowBashIfSandboxed": true, "allowUnsandboxedCommands": false}}'
guards
play "${guarded[@]}"
expect_result "bare: the user's hook blocks" 1 "BLOCKED by the user's hook"
expect_result "bare: the user's rule denies" 2 "denied"
expect_result "bare: cd is kept" 4 "$project/sub"
expect_result "bare: Grep finds the key" 6 "FAKE-PEM-$$"
expect_result "bare: Glob lists the keys" 8 id_rsa
expect_result "bare: a symlink leads to .env" 9 "FAKE-ENV-$$"

# Functions and aliases of the user's shell; no variable of it.
cat >"$HOME/.bashrc" <<'END'
myfunction() { echo "from the function"; }
alias myalias='echo from the alias'
MYVARIABLE=of-the-file
export FAKE_TOKEN=FAKE-TOKEN-OF-THE-FILE
END
functions() {
	steps=()
	shell myfunction
	shell myalias
	shell 'echo "token=$FAKE_TOKEN"; cat ~/.bashrc'
	shell 'cd sub; myfunction'
	shell 'pwd; false || echo status-kept'
}
functions
play "${claude[@]}"
expect_result "bare: a function" 1 "from the function"
expect_result "bare: an alias" 2 "from the alias"
expect_result "bare: the file" 3 FAKE-TOKEN-OF-THE-FILE

# What Claude Code saves for the model is readable for its commands, of this project only; transcripts are not.
saved() {
	steps=()
	shell 'seq 1 200000; echo the-last-line'
	shell 'echo from-the-background' '{"run_in_background": true}'
	shell 'sleep 1; find ~/.claude/projects -path "*/tool-results/*" -type f -exec tail -n 1 {} +; find /tmp/claude-* -type f -name "*.output" -exec cat {} +'
	shell 'cat ~/.claude/projects/*/of-a-test.jsonl /tmp/claude-*/other/x.output; echo searched'
	shell 'f=$(find /tmp/claude-* -type f -name "*.output" | head -n 1); echo planted >>"$f"; find ~/.claude/projects -path "*/tool-results/*" -type f -exec rm {} +; echo end'
}
slug=$(tr -c '[:alnum:]\n' - <<<"$project")
# Claude Code tidies its directory.
others() {
	while mkdir -p "/tmp/claude-$(id -u)/other" "$HOME/.claude/projects/$slug"; do
		echo of-another-project >"/tmp/claude-$(id -u)/other/x.output"
		echo of-a-transcript >"$HOME/.claude/projects/$slug/of-a-test.jsonl"
		sleep 0.2
	done
}
others &
others=$!
saved
play env -u TMPDIR "${claude[@]}"
expect_result "bare: a saved result" 3 the-last-line
expect_result "bare: the output of a background command" 3 from-the-background
expect_result "bare: that of another project" 4 of-another-project
expect_result "bare: a transcript" 4 of-a-transcript

before=$(md5sum <"$settings")
run "$BERM" setup claude-code --write
expect_equal "setup" 0 "$status"
inside_conversation "${claude[@]}"
expect_result "the reason names the rule" 9 ".env"
guards
play "${guarded[@]}"
expect_result "the user's hook still blocks" 1 "BLOCKED by the user's hook"
expect "and the command did not run" test ! -e hooked.txt
expect_result "the user's rule still denies" 2 "denied"
expect "and this one neither" test ! -e ruled.txt
expect_result "cd is kept" 4 "$project/sub"
expect_result "git opens no editor" 5 amended=0
expect_hidden "Grep leaves the key out" 6 "FAKE-PEM-$$"
expect_result "and finds the rest" 6 "FAKE-PEM in words"
expect_hidden "with a pattern too" 7 "FAKE-PEM-$$"
expect_result "and finds the rest" 7 "FAKE-PEM in words"
expect_hidden "Glob does not list the keys" 8 id_rsa
expect_hidden "a symlink does not lead to .env" 9 "FAKE-ENV-$$"
expect_hidden "the environment of the agent is not read" 10 ANTHROPIC_API_KEY
expect_result "the host's variables arrive" 12 "CC=1 GE=true"

functions
play "${claude[@]}"
expect_result "a function" 1 "from the function"
expect_result "an alias" 2 "from the alias"
expect_hidden "no variable, and not the file" 3 FAKE-TOKEN-OF-THE-FILE
expect_result "with another directory" 4 "from the function"
expect_result "which is kept" 5 "$project/sub"
expect_result "and the rest works" 5 status-kept

saved
play env -u TMPDIR "${claude[@]}"
expect_result "a saved result" 3 the-last-line
expect_result "the output of a background command" 3 from-the-background
expect_hidden "transcripts are not there" 4 of-a-transcript
expect_hidden "nor another project" 4 of-another-project
expect_result "what is saved cannot be changed" 5 "Read-only"
kill "$others"
wait "$others"
rm -r "/tmp/claude-$(id -u)/other" "$HOME/.claude/projects/$slug/of-a-test.jsonl"

planted .claude/settings.local.json '{"disableAllHooks": true, "env": {"CLAUDE_CODE_SHELL": "/bin/bash"}}' "${claude[@]}"

proven claude-code "$program" claude
overridden claude-code .claude/settings.local.json '{"env": {"CLAUDE_CODE_SHELL": "/bin/bash"}}'
overridden claude-code .claude/settings.json '{
  "disableAllHooks": true}'

# A prompt is not skipped: berm answers no call with "allow".
steps=()
write_file "$project/asked.txt" x
play "$program" -p try --model claude-sonnet-4-5 --permission-mode default
expect "a fine path is still asked about" test ! -e "$project/asked.txt"

# A session that began before --write keeps its shell: the hook says so instead of letting it run.
call="{\"cwd\":\"$project\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"true\"}}"
export CLAUDE_CODE_SHELL=${BERM%/berm}/shims/bash
# shellcheck disable=SC2016 # for the inner shell
expect_status "a new session goes on" 0 bash -c 'echo "$0" | CLAUDE_PID=$$ "$1" hook-rewrite --host=claude-code' "$call" "$BERM"
# shellcheck disable=SC2016
expect_status "an older one is blocked" 2 bash -c 'echo "$0" | CLAUDE_PID=1 "$1" hook-rewrite --host=claude-code' "$call" "$BERM"
unset CLAUDE_CODE_SHELL

# Without berm nothing runs.
steps=()
shell 'echo ran >ran.txt'
read_file "$project/first.txt"
cp "$settings" "$scratch/settings.json"
sed -i "s#${BERM%/berm}/#$scratch/gone/#g" "$settings"
play "${claude[@]}"
expect "a missing berm stops the command" test ! -e ran.txt
expect_hidden "and the tool" 2 first
# A project that names another shell: blocked, not bare.
cp "$scratch/settings.json" "$settings"
mkdir "$project/.claude"
echo '{"env": {"CLAUDE_CODE_SHELL": "/bin/bash"}}' >"$project/.claude/settings.local.json"
play "${claude[@]}"
expect "another shell stops the command" test ! -e ran.txt
rm -r "$project/.claude"

# The other way is refused while there are hooks, and keeps functions of the user's shell.
run "$BERM" setup claude-code --undo
expect_equal "undone" "0 $before" "$status $(md5sum <"$settings")"
run "$BERM" setup claude-code --how=prefix --write
expect_equal "the prefix is refused" 125 "$status"
expect_contains "with the hook's name" guard.sh "$err"
expect_equal "and nothing is written" "$before" "$(md5sum <"$settings")"
rm "$settings"
run "$BERM" setup claude-code --how=prefix --write
expect_equal "the prefix without hooks" 0 "$status"
tools_covered=no inside_conversation "${claude[@]}"
steps=()
shell myfunction
play "${claude[@]}"
expect_result "a function of the user's shell" 1 "from the function"
finish
