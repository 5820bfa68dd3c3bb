#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Gemini CLI with what `berm setup gemini` writes: bare first, then with berm.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
agent gemini
own_settings=.gemini/settings.json
make_home
start_model
export GEMINI_API_KEY=x GOOGLE_GEMINI_BASE_URL=$url GEMINI_CLI_DISABLE_AUTO_UPDATE=1
mkdir "$HOME/.gemini"
settings=$HOME/.gemini/settings.json
guard_hook
cat >"$settings" <<END
{"security": {"auth": {"selectedType": "gemini-api-key"}},
 "hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "$guard"}]}]}}
END
gemini=("$modules/.bin/gemini" -y --skip-trust -p try -m gemini-2.5-flash)

read_file() {
	tool read_file "file_path=$1"
}

write_file() {
	tool write_file "file_path=$1" "content=$2"
}

# Its own tools refuse paths outside the workspace and ignored files, but not these.
mkdir "$project/config"
echo "FAKE-PEM-$$" >"$project/config/server.pem"
files() {
	steps=()
	read_file config/server.pem
	tool grep_search pattern=FAKE-PEM
	write_file "$project/.vscode/tasks.json" x
	tool glob 'pattern=*.txt'
	# shellcheck disable=SC2016
	shell 'echo "gemini=$GEMINI_CLI"'
}
own_tools=no bare_conversation "${gemini[@]}"
files
shell 'echo forbidden-by-hook >hooked.txt'
play "${gemini[@]}"
expect_result "bare: the user's hook blocks" 6 "BLOCKED by the user's hook"
expect_result "bare: the tool reads a key" 1 "FAKE-PEM-$$"
expect_result "bare: and finds it" 2 "FAKE-PEM-$$"
expect "bare: and writes a task" test -e "$project/.vscode/tasks.json"
rm -r "$project/.vscode"
run "$BERM" setup gemini --write
expect_equal "setup" 0 "$status"
inside_conversation "${gemini[@]}"
files
play "${gemini[@]}"
expect_hidden "the tool does not read a key" 1 "FAKE-PEM-$$"
expect_result "and says why" 1 "*.pem"
expect_hidden "nor finds it" 2 "FAKE-PEM-$$"
expect "nor writes a task" test ! -e "$project/.vscode/tasks.json"
expect_result "a fine one works" 4 first.txt
expect_result "the host's variables arrive" 5 gemini=1

# A project's settings count in a trusted folder.
printf '{"%s": "TRUST_FOLDER"}\n' "$project" >"$HOME/.gemini/trustedFolders.json"
planted .gemini/settings.json '{"hooksConfig": {"enabled": false}}' "$modules/.bin/gemini" -y -p try -m gemini-2.5-flash

proven gemini "$modules/.bin/gemini"
overridden gemini .gemini/settings.json '{"hooksConfig": {"enabled": false}}'

steps=()
shell 'echo ran >ran.txt'
sed -i "s#${BERM%/berm}/#$scratch/gone/#g" "$settings"
play "${gemini[@]}"
expect "a missing berm stops the command" test ! -e ran.txt
finish
