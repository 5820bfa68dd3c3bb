#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent` with programs that stand for the agents: where they are found, what they see, what stays and what goes back.
# tests/agents has the real ones.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home
unset CLAUDE_CONFIG_DIR CODEX_HOME ANTHROPIC_BASE_URL
PATH=/usr/local/bin:/usr/bin:/bin
git init -q .

# The agent: a script behind a link, as installers make it. It runs its arguments as a command.
mkdir -p ~/.local/bin ~/.local/share/claude/versions ~/.claude/hooks ~/.ssh "$scratch/other"
printf '#!/usr/bin/env sh\nexec sh -c "$1"\n' >~/.local/share/claude/versions/9.9
chmod +x ~/.local/share/claude/versions/9.9
ln -s ../share/claude/versions/9.9 ~/.local/bin/claude
ln -s ../share/claude/versions/9.9 ~/.local/bin/codex
echo KEY >~/.ssh/id_rsa
echo '{"permissions": {"deny": ["Bash(touch:*)"]}}' >~/.claude/settings.json
echo 'echo guard' >~/.claude/hooks/guard.sh
cat >~/.claude.json <<END
{
  "numStartups": 7, "hasCompletedOnboarding": false, "lastOnboardingVersion": "1.0.0",
  "oauthAccount": {"accountUuid": "me"}, "mcpServers": {},
  "projects": {"$scratch/other": {"allowedTools": ["SECRET-OF-ANOTHER"]}, "$project": {"allowedTools": ["own"]}}
}
END
chmod 600 ~/.claude.json
# login ACCESS REFRESH EXPIRES
login() {
	printf '{\n  "claudeAiOauth": {"accessToken": "sk-ant-oat01-%s", "refreshToken": "sk-ant-ort01-%s", "expiresAt": %s, "scopes": ["a"]}\n}\n' \
		"$1" "$2" "$3"
}
now=$(date +%s)000
login old-access old-refresh "$now" >~/.claude/.credentials.json
chmod 600 ~/.claude/.credentials.json
# claude COMMAND: the agent, inside.
claude() {
	run "$BERM" agent claude "$1"
}

# Control: without berm the agent reads the key and changes its settings.
expect_output "bare: the key is read" KEY ~/.local/bin/claude 'cat ~/.ssh/id_rsa'

# Found in a known place, started by its canonical path, with the interpreter of its first line.
claude 'echo "inside=$BERM"; echo "$PATH"'
expect_equal "the agent runs" "0 inside=1" "$status ${out%%$'\n'*}"
expect_equal "the private ~/.local/bin is not searched" "" "$(grep -o "$HOME/.local/bin" <<<"$out")"
claude 'cat ~/.ssh/id_rsa'
expect_equal "no key" "1 " "$status $out"
claude 'cat ~/.claude/settings.json ~/.claude/hooks/guard.sh'
expect_equal "its settings are there" "$(cat ~/.claude/settings.json ~/.claude/hooks/guard.sh)" "$out"
claude 'cat ~/.claude/.credentials.json'
expect_equal "and its login" "$(cat ~/.claude/.credentials.json)" "$out"
claude 'cat ~/.claude.json'
expect_contains "the state of this project" '"own"' "$out"
expect_equal "of no other" "" "$(grep -o SECRET-OF-ANOTHER <<<"$out")"
run "$BERM" run -- sh -c 'ls -A ~'
expect_equal "berm run has another home" "" "$(grep -o claude <<<"$out")"

# Planted files are refused, or gone at the next start; they never arrive on the host.
before=$(cd ~ && find .claude .claude.json .local -type f ! -path '*/berm/*' -exec md5sum {} + | sort)
claude 'echo x >~/.claude/settings.json; echo x >>~/.claude/hooks/guard.sh; rm -rf ~/.claude/settings.json; rm ~/.claude/hooks/guard.sh; echo end'
expect_contains "settings that exist are read-only" "Read-only" "$err"
claude 'cd ~/.claude && mkdir -p skills/s commands plugins agents shell-snapshots session-env projects/p &&
	for name in settings.local.json skills/s/SKILL.md commands/c.md plugins/p.json agents/a.md shell-snapshots/s.sh session-env/e.sh \
		CLAUDE.md daemon.json projects/p/t.jsonl history.jsonl; do echo planted >$name || exit; done
	ln -sf /etc ~/.claude/todos; mkdir -p ~/.local/bin; echo planted >~/.local/bin/claude; echo planted >~/.local/bin/sh; ls'
expect_equal "what does not exist can be made" 0 "$status"
expect_contains "in the private directory" daemon.json "$out"
claude 'cd ~/.claude && grep -rl planted . | sort | tr "\n" " "; test -L todos || echo no-link'
expect_equal "the next start has the transcripts alone" "./history.jsonl ./projects/p/t.jsonl no-link" "$out"
expect_equal "nothing is on the host" "$before" \
	"$(cd ~ && find .claude .claude.json .local -type f ! -path '*/berm/*' -exec md5sum {} + | sort)"
expect "no link is followed" test ! -e "$scratch/followed"
claude "rm -rf ~/.claude; ln -s $scratch/other ~/.claude"
claude 'ls ~/.claude/.credentials.json'
expect_equal "a link in place of the directory is removed" "0 yes" "$status $(test -z "$(ls -A "$scratch/other")" && echo yes)"

# A refreshed login reaches the host; nothing else does.
new=$(login new-access new-refresh $((now + 3600000)))
claude "echo '$new' >~/.claude/.credentials.json.new && mv ~/.claude/.credentials.json.new ~/.claude/.credentials.json"
expect_equal "a refreshed login goes back" "0 $new" "$status $(cat ~/.claude/.credentials.json)"
expect_equal "with its mode" 600 "$(stat -c %a ~/.claude/.credentials.json)"
# refused NAME TEXT: the copy has this text, and the host's file stays.
refused() {
	printf '%s' "$2" >forged
	claude 'cat forged >~/.claude/.credentials.json'
	expect_equal "not written back: $1" "0 $new" "$status $(cat ~/.claude/.credentials.json)"
}
refused "an older one" "$(login late-access late-refresh "$now")"
refused "a year too far" "$(login far-access far-refresh 99999999999999)"
refused "a token of another kind" "$(login x y $((now + 7200000)) | sed 's/sk-ant-oat01-x/ghp_xxxxxxxxxxxxxxxxxxxx/')"
refused "a token with a command" "$(login '$(touch /tmp/x)aaaaaaaaaaaaa' y $((now + 7200000)))"
refused "no JSON" '{"claudeAiOauth": '
refused "two of one key" '{"claudeAiOauth": {}, "claudeAiOauth": {}}'
refused "a list" '[1]'
expect_contains "and it is told" "stays as it was" "$err"
claude 'rm ~/.claude/.credentials.json; ln -s ~/.claude/settings.json ~/.claude/.credentials.json'
expect_equal "a link is not read" "$new" "$(cat ~/.claude/.credentials.json)"
claude 'rm ~/.claude/.credentials.json; mkfifo ~/.claude/.credentials.json'
expect_equal "a FIFO does not hang" "0 $new" "$status $(cat ~/.claude/.credentials.json)"
claude "printf '%s' '$new' | sed 's/expiresAt\": [0-9]*/expiresAt\": $((now + 9000000))/; s/new-access/newer-access/; s/\"scopes\"/\"apiKeyHelper\": \"x\", \"scopes\"/' \
	>~/.claude/.credentials.json"
expect_equal "an unknown field stays behind" "newer-access 0" \
	"$(grep -o newer-access ~/.claude/.credentials.json) $(grep -c apiKeyHelper ~/.claude/.credentials.json)"

claude 'sed -i "s/\"numStartups\": 7/\"numStartups\": 8/; s/\"hasCompletedOnboarding\": false/\"hasCompletedOnboarding\": true/
	s/\"me\"/\"other\"/; s/\"mcpServers\": {}/\"mcpServers\": {\"x\": {\"command\": \"x\"}}/; s/\"own\"/\"Bash\"/" ~/.claude.json'
expect_equal "counters go back" "8 true" \
	"$(sed -n 's/.*"numStartups": \([0-9]*\),.*"hasCompletedOnboarding": \([a-z]*\).*/\1 \2/p' ~/.claude.json)"
expect_equal "account, servers and rights do not" "1 1 1 1" \
	"$(grep -c '"me"' ~/.claude.json) $(grep -c '"mcpServers": {}' ~/.claude.json) $(grep -c '"own"' ~/.claude.json) $(grep -c SECRET-OF-ANOTHER ~/.claude.json)"

# While it runs, and if the launcher is killed.
newest=$(login newest-access newest-refresh $((now + 10000000)))
"$BERM" agent claude "printf '%s' '$newest' >~/.claude/.credentials.json; touch running; exec sleep 60" &
pid=$!
disown "$pid"
expect "the agent has a new login" until_true test -e running
expect "it goes back while the agent runs" until_true grep -q newest-access ~/.claude/.credentials.json
last=$(login last-access last-refresh $((now + 11000000)))
kill -STOP "$pid"
private=$(dirname "$(find ~/.local/state/berm -name .credentials.json)")
printf '%s\n' "$last" >"$private/.credentials.json"
kill -KILL "$pid"
expect "and after the launcher is killed" until_true grep -q last-access ~/.claude/.credentials.json

# Two at a time: the second does not take the files from the first.
"$BERM" agent claude 'echo mine >~/.claude/mine; touch first; until test -e second; do sleep 0.05; done; cat ~/.claude/mine' >"$scratch/first" 2>&1 &
pid=$!
until_true test -e first
claude 'cat ~/.claude/mine; touch second'
wait "$pid"
expect_equal "two at a time" "mine mine" "$out $(cat "$scratch/first")"

# The environment and the network.
export ANTHROPIC_API_KEY=the-key AWS_SECRET_ACCESS_KEY=no
claude 'echo "$ANTHROPIC_API_KEY $AWS_SECRET_ACCESS_KEY $DISABLE_AUTOUPDATER"'
expect_equal "its variables, no others" "the-key  1" "$out"
run "$BERM" agent --plan claude
expect_equal "the plan" 0 "$status"
for part in api.anthropic.com:443 .claude/settings.json claudeAiOauth.refreshToken .claude/history.jsonl /login "claude update" \
	.local/share/claude/versions/9.9; do
	expect_contains "the plan names $part" "$part" "$out"
done
expect_equal "nothing is wider than the screen" "" "$(grep -E '^.{81}' <<<"$out" | grep -v /)"
ANTHROPIC_BASE_URL=https://gateway.example.org:8443/v1 run "$BERM" agent --plan claude
expect_contains "a gateway" gateway.example.org:8443 "$out"
ANTHROPIC_BASE_URL=http://127.0.0.1:4321 run "$BERM" agent --plan claude
expect_contains "one on this machine" 4321 "$out"
for url in ftp://x/ https://user@host/ "https:///" "https://a,b/"; do
	ANTHROPIC_BASE_URL=$url expect_status "no gateway: $url" 125 "$BERM" agent --plan claude
done
CLAUDE_CONFIG_DIR=$scratch/other expect_status "another directory of settings" 125 "$BERM" agent claude true
CLAUDE_CONFIG_DIR=$HOME/.claude expect_status "the usual one" 0 "$BERM" agent claude true

# A program that commands can write gets no credentials.
mkdir bin
cp ~/.local/share/claude/versions/9.9 bin/claude
PATH=$project/bin:$PATH expect_status "a program in the project" 125 "$BERM" agent claude 'touch ran'
expect "was not run" test ! -e ran
mkdir "$scratch/bin"
ln -s "$project/bin/claude" "$scratch/bin/claude"
PATH=$scratch/bin:$PATH expect_status "a link into the project" 125 "$BERM" agent claude 'touch ran'
ln -s ~/.local/share/claude/versions/9.9 bin/codex
PATH=$project/bin:$PATH expect_status "a link in the project" 125 "$BERM" agent codex 'touch ran'
expect_status "a directory that an option opens" 125 "$BERM" agent --allow-write="$HOME/.local/share/claude" claude 'touch ran'
printf '#!/usr/bin/env fakenode\n' >"$scratch/bin/gemini"
chmod +x "$scratch/bin/gemini"
PATH=$scratch/bin:$PATH expect_status "an interpreter that is missing" 125 "$BERM" agent gemini
printf '#!/bin/sh\ntouch ran\n' >bin/fakenode
chmod +x bin/fakenode
PATH=$scratch/bin:$project/bin:$PATH expect_status "one in the project" 125 "$BERM" agent gemini
expect "was not run either" test ! -e ran
expect_status "a file of the agent in the project" 0 mv ~/.claude/.credentials.json "$project/moved.json"
ln -s "$project/moved.json" ~/.claude/.credentials.json
expect_status "is refused" 125 "$BERM" agent claude true
expect_contains "with its name" moved.json "$err"
rm ~/.claude/.credentials.json

# A guard of the user that would be missing inside is not left out silently.
mkdir -p ~/guards
printf '#!/bin/sh\n' >~/guards/guard.sh
chmod +x ~/guards/guard.sh
mv ~/.claude/settings.json "$scratch/settings.json"
# shellcheck disable=SC2088 # as in a settings file
for word in "$HOME/guards/guard.sh" '~/guards/guard.sh -x' 'bash \"$HOME/guards/guard.sh\"'; do
	printf '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "%s"}]}]}}' "$word" >~/.claude/settings.json
	expect_status "a hidden guard: $word" 125 "$BERM" agent claude true
	expect_contains "is named" guards/guard.sh "$err"
done
expect_status "shown, it is fine" 0 "$BERM" agent --allow-read="$HOME/guards" claude true
sed -i 's#\$HOME/guards#$HOME/.claude/hooks#' ~/.claude/settings.json
expect_status "and where hooks are" 0 "$BERM" agent claude true
mv "$scratch/settings.json" ~/.claude/settings.json

# Errors, and commands without an agent.
expect_status "not installed" 125 "$BERM" agent opencode
# shellcheck disable=SC2088 # as it is printed
expect_contains "where it was searched" "~/.opencode/bin" "$err"
expect_status "unknown" 125 "$BERM" agent cluade
expect_contains "the nearest" "berm agent claude" "$err"
expect_status "none" 125 "$BERM" agent
expect_status "help" 0 "$BERM" agent --help
expect_status "the agent's status" 7 "$BERM" agent claude 'exit 7'
run "$BERM" agent -- sh -c 'echo "inside=$BERM key=$ANTHROPIC_API_KEY"; ls -A ~; touch ~/of-the-command'
expect_equal "a command" "inside=1 key=" "$out"
run "$BERM" agent -- ls -A "$HOME"
expect_equal "has a home that is kept" of-the-command "$out"
run "$BERM" run -- ls -A "$HOME"
expect_equal "and its own" "" "$out"
run "$BERM" agent --allow-read="$BERM" -- "$BERM" agent claude true
expect_equal "not inside a sandbox" 125 "$status"
expect_contains "and why" "sandbox of berm" "$err"

# Codex names the account in its tokens.
jwt() {
	printf 'eyJhbGciOiJub25lIn0.%s.c2lnbmF0dXJl' "$(printf '{"sub": "%s", "https://api.openai.com/auth": {"chatgpt_account_id": "%s"}, "n": "%s"}' "$1" "$2" "$3" | base64 -w0 | tr '+/' '-_' | tr -d =)"
}
auth() {
	printf '{"OPENAI_API_KEY": null, "tokens": {"id_token": "%s", "access_token": "%s", "refresh_token": "rt_%s", "account_id": "%s"}, "last_refresh": "%s"}' \
		"$1" "$2" "$3" "$4" "$5"
}
mkdir -p ~/.codex
auth "$(jwt me acc 1)" "$(jwt me acc 1)" 1111111111111111 acc 2026-01-01T00:00:00Z >~/.codex/auth.json
chmod 600 ~/.codex/auth.json
echo 'model = "m"' >~/.codex/config.toml
today=$(date -u +%Y-%m-%dT%H:%M:%SZ)
# codex TEXT: it leaves this login.
codex() {
	printf '%s' "$1" >forged
	PATH=$HOME/.local/bin:$PATH
	run "$BERM" agent codex ignored
}
# Its first arguments are the table's.
printf '#!/bin/sh\necho "$1 $2"; cat forged >~/.codex/auth.json; echo "[hooks]" >>~/.codex/config.toml\n' >~/.local/share/claude/versions/codex
chmod +x ~/.local/share/claude/versions/codex
ln -sf ../share/claude/versions/codex ~/.local/bin/codex
fine=$(auth "$(jwt me acc 2)" "$(jwt me acc 2)" 2222222222222222 acc "$today")
codex "$fine"
expect_equal "Codex: refreshed tokens go back" "0 $fine" "$status $(cat ~/.codex/auth.json)"
expect_equal "its settings do not" 'model = "m"' "$(cat ~/.codex/config.toml)"
expect_contains "its own sandbox is off" 'sandbox_mode="danger-full-access"' "$out"
later=$(date -u -d '+2 hours' +%Y-%m-%dT%H:%M:%SZ)
codex "$(auth "$(jwt me acc 3)" "$(jwt thief thief 3)" 3333333333333333 acc "$later")"
expect_equal "another account's token does not" "$fine" "$(cat ~/.codex/auth.json)"
codex "$(auth "$(jwt me acc 3)" "$(jwt me acc 3)" 3333333333333333 thief "$later")"
expect_equal "nor another account" "$fine" "$(cat ~/.codex/auth.json)"
codex "$(auth "$(jwt me acc 3)" "$(jwt me acc 3)" 3333333333333333 acc 2999-01-01T00:00:00Z)"
expect_equal "nor one from the future" "$fine" "$(cat ~/.codex/auth.json)"
finish
