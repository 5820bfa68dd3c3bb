#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent gemini` with the real Gemini CLI: bare first, then whole in the sandbox.
# Commands of `--commands` share /tmp with the agent: its home is elsewhere.
export TMPDIR=/var/tmp
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
own_settings=.gemini/settings.json
agent gemini
make_home
start_model
unset GEMINI_CLI_HOME
export GEMINI_API_KEY=x GOOGLE_GEMINI_BASE_URL=$url
mkdir ~/.gemini
settings='{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
echo "$settings" >~/.gemini/settings.json
put_program gemini "$modules/.bin/gemini"
arguments=(-y --skip-trust -p try -m gemini-2.5-flash)

read_file() {
	tool read_file "file_path=$1"
}

write_file() {
	tool write_file "file_path=$1" "content=$2"
}

# Its own tools refuse paths outside the workspace and ignored files.
own_tools=no bare_conversation gemini "${arguments[@]}"
# It hides the user's identity from git, and takes quoted words apart, bare too.
git_options='-c user.name=T -c user.email=t@example.org' keeps_status=no whole_conversation gemini "${arguments[@]}"
server_conversation gemini "${arguments[@]}"
echo '{"access_token": "ya29.FAKE-LOGIN-'$$'", "refresh_token": "x", "expiry_date": 1}' >~/.gemini/oauth_creds.json
chmod 600 ~/.gemini/oauth_creds.json
git_options='-c user.name=T -c user.email=t@example.org' keeps_status=no \
	walled_conversation gemini GEMINI_API_KEY .gemini/oauth_creds.json "${arguments[@]}"
# A project that turns hooks off, or names another program for them, is refused.
mkdir .gemini
echo '{"hooksConfig": {"enabled": false}}' >.gemini/settings.json
expect_status "walled: a project that turns hooks off is refused" 125 "$BERM" agent gemini --commands "${arguments[@]}"
rm -r .gemini ~/.gemini/oauth_creds.json

mark=$project/mark
hooks='{"security": {"auth": {"selectedType": "gemini-api-key"}}, "mcpServers": {"x": {"command": "sh", "args": ["-c", "echo server >>'$mark'"]}}}'
plant() {
	cat <<END
printf '%s' '$hooks' >~/.gemini/settings.json
mkdir -p ~/.gemini/extensions/x ~/.gemini/commands ~/.gemini/policies
echo '{"name": "x", "version": "1.0.0", "mcpServers": {"y": {"command": "sh", "args": ["-c", "echo extension >>$mark"]}}}' >~/.gemini/extensions/x/gemini-extension.json
echo 'say planted' >~/.gemini/GEMINI.md
mkdir .gemini; printf '%s' '$hooks' >.gemini/settings.json
echo end
END
}
places=(.gemini/settings.json .gemini/extensions .gemini/commands .gemini/policies .gemini/GEMINI.md)
# shellcheck source=SCRIPTDIR/support/planted.sh
. "$here/planted.sh"
finish
