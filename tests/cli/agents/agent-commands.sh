#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm agent NAME --commands` with programs that stand for the agents and run their argument as these run a command: Claude
# Code's with the shell of its settings, Codex's with the command that its hook answers. Their shell commands see neither login
# nor API key, and do not reach the API. tests/agents has the real ones.
# A home in /tmp is refused: commands share /tmp with the agent.
export TMPDIR=/var/tmp
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/internet.sh"
. "$(dirname "$0")/../support/lib.sh"
trap 'rm -rf "$internet"; clean_up' EXIT
move_home
unset CLAUDE_CONFIG_DIR CODEX_HOME
python=/usr/bin/python3
[ -x "$python" ] || { echo "/usr/bin/python3 is needed"; exit 77; }
command -v curl >/dev/null || { echo "curl is needed"; exit 77; }
PATH=/usr/local/bin:/usr/bin:/bin
git init -q .

mkdir -p ~/.local/bin ~/.local/share/agents ~/.claude/hooks ~/.codex ~/.config/berm
cat >~/.local/share/agents/claude <<'END'
#!/usr/bin/python3
import json, os, subprocess, sys
words, shell = sys.argv[1:], "/bin/bash"
if words and words[0] == "--settings":
    shell = json.loads(words[1])["env"]["CLAUDE_CODE_SHELL"]
    words = words[2:]
leak = os.open(os.path.expanduser("~/.claude/.credentials.json"), os.O_RDONLY)
os.set_inheritable(leak, True)
if words and words[0] == "own":
    sys.exit(subprocess.run(["/bin/bash", "-c", words[1]]).returncode)
status = 0
for word in words:
    status = subprocess.run([shell, "-c", word], close_fds=False).returncode
sys.exit(status)
END
cat >~/.local/share/agents/codex <<'END'
#!/usr/bin/python3
import json, os, subprocess, sys
words, settings = sys.argv[1:], {}
while words and words[0] == "-c":
    settings.update([words[1].split("=", 1)])
    words = words[2:]
command = words[0]
try:
    groups = json.load(open(os.path.expanduser("~/.codex/hooks.json")))["hooks"]["PreToolUse"]
except FileNotFoundError:
    groups = []
for hook in [hook for group in groups for hook in group["hooks"]]:
    call = {"hook_event_name": "PreToolUse", "cwd": os.getcwd(), "tool_name": "Bash", "tool_input": {"command": command}}
    answer = subprocess.run(["/bin/sh", "-c", hook["command"]], input=json.dumps(call), stdout=subprocess.PIPE, text=True)
    if answer.returncode:
        sys.exit(99)
    if answer.stdout.strip():
        command = json.loads(answer.stdout)["hookSpecificOutput"]["updatedInput"]["command"]
sys.exit(subprocess.run(["/bin/bash", "-c", command]).returncode)
END
chmod +x ~/.local/share/agents/*
ln -s ../share/agents/claude ~/.local/bin/claude
ln -s ../share/agents/codex ~/.local/bin/codex
ln -s ../share/agents/codex ~/.local/bin/opencode
echo '{"claudeAiOauth": {"accessToken": "THE-LOGIN"}}' >~/.claude/.credentials.json
echo '{"mcpServers": {"x": {"env": {"T": "THE-STATE"}}}}' >~/.claude.json
echo '{"env": {"X": "THE-SETTING"}}' >~/.claude/settings.json
echo '{"tokens": {"access_token": "THE-LOGIN"}}' >~/.codex/auth.json
echo 'model = "THE-SETTING"' >~/.codex/config.toml
chmod 600 ~/.claude/.credentials.json ~/.claude.json ~/.codex/auth.json
export ANTHROPIC_API_KEY=THE-KEY OPENAI_API_KEY=THE-KEY ANTHROPIC_BASE_URL=http://allowed.test OPENAI_BASE_URL=http://allowed.test
real=$HOME

# The attempts of a command. Each line names one result.
tries() {
	cat <<END
echo "key=\$ANTHROPIC_API_KEY\$OPENAI_API_KEY"
cat $real/.claude/.credentials.json $real/.claude.json $real/.claude/settings.json $real/.codex/auth.json $real/.codex/config.toml 2>/dev/null
cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a THE-KEY | sed 's/^/environ: /'
for link in /proc/[0-9]*/root /proc/[0-9]*/cwd; do cat \$link$real/.claude/.credentials.json \$link$real/.codex/auth.json 2>/dev/null; done
for file in /proc/self/fd/* /proc/\$PPID/fd/*; do test -f \$file && timeout 2 cat <\$file; done 2>/dev/null | grep -a THE-LOGIN
curl -s --max-time 20 http://allowed.test/hello | sed 's/^/api: /'
curl -s --max-time 20 --noproxy '*' http://allowed.test/hello | sed 's/^/api: /'
END
}
found() {
	grep -aoE 'key=THE-KEY|THE-LOGIN|THE-STATE|THE-SETTING|environ: .*THE-KEY|api: hello' <<<"$1" | sed 's/environ: .*/environ/' | LC_ALL=C sort -u | tr '\n' ' '
}
printf 'version: 1\nnetwork: {allow: [registry.test]}\n' >"$scratch/base.yml"
for level in launch repair strict; do
	printf 'version: 1\nfiles: {guard: %s}\nnetwork: {allow: [registry.test]}\n' "$level" >"$scratch/$level.yml"
done
levels="launch repair"
"$BERM" plan --policy="$scratch/strict.yml" --json | tr -d ' \n' | grep -q '"name":"planting",[^}]*"level":"strict"' && levels="$levels strict"

for level in $levels; do
	policy=--policy=$scratch/$level.yml
	run "$BERM" agent "$policy" claude "$(tries)"
	expect_equal "$level, Claude Code: the control, without --commands" "THE-LOGIN THE-SETTING THE-STATE api: hello environ key=THE-KEY " "$(found "$out")"
	run "$BERM" agent "$policy" claude --commands "$(tries)"
	expect_equal "$level, Claude Code: nothing of the agent" "0 " "$status $(found "$out")"
	expect_contains "$level, Claude Code: the command ran" "key=" "$out"
	run "$BERM" agent "$policy" codex "$(tries)"
	expect_equal "$level, Codex: the control" "THE-LOGIN THE-SETTING api: hello environ key=THE-KEY " "$(found "$out")"
	run "$BERM" agent "$policy" codex --commands "$(tries)"
	expect_equal "$level, Codex: nothing of the agent" "0 " "$status $(found "$out")"
	expect_contains "$level, Codex: the command ran" "key=" "$out"

	# The agent itself has everything, and its commands work.
	run "$BERM" agent --commands "$policy" claude own "echo \"key=\$ANTHROPIC_API_KEY\"; cat ~/.claude/.credentials.json; curl -sS http://allowed.test/hello | sed 's/^/api: /'"
	expect_equal "$level: the agent has its key, login and API" "THE-LOGIN api: hello key=THE-KEY " "$(found "$out")"
	run "$BERM" agent --commands "$policy" claude 'echo "inside=$BERM"; mkdir -p d/e && date +%N >d/e/f && mv d/e/f d/g && git add d && git -c user.name=a -c user.email=b commit -qm "$(date +%N)" &&
		echo y >~/mine && mkdir -p ~/.cache/x && cat ~/mine && echo z >/tmp/shared && rm -r d && bash -c "sh -c \"echo nested\""' 'cat /tmp/shared ~/mine'
	expect_equal "$level: work" "0 inside=1 y nested z y" "$status $(tr '\n' ' ' <<<"$out" | sed 's/ $//')"
	run "$BERM" agent --commands "$policy" claude 'curl -sS http://registry.test/hello; sh -c "exit 7"'
	expect_equal "$level: a host of the policy, and a status" "7 hello" "$status $out"
	run "$BERM" agent --commands "$policy" claude "(setsid $python -m http.server 8137 --bind 127.0.0.1 >/dev/null 2>&1 &); echo served >page" \
		'curl -sS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8137/page'
	expect_equal "$level: a server of one command answers the next" served "$out"
	# A command does not touch the agent's files or processes, and cannot make the next one run in front of the wall.
	run "$BERM" agent --commands "$policy" claude "echo x >$real/.claude/new; mkdir $real/.claude/d; ln -s x $real/.claude/l; mv ~/mine $real/.claude/m; rm -rf $real/.claude.json $real/.claude; echo x >$real/new
		kill -USR1 \$PPID; kill -9 \$PPID; chmod 000 /run/berm/agent; chmod 000 $real; rm -rf ~; mkdir -p .claude; echo '{\"env\": {\"CLAUDE_CODE_SHELL\": \"/bin/bash\"}}' >.claude/settings.local.json; echo end" "$(tries)"
	expect_equal "$level: after an attack, nothing of the agent" "" "$(found "$out")"
	expect_contains "$level: after an attack, the next command ran" key= "$out"
	rm -rf .claude
	private=$(find "$real/.local/state/berm" -maxdepth 4 -type d -path '*/agent-claude-commands/home')
	chmod 700 "$private"
	expect_equal "$level: nothing was made there" "" "$(cd "$private" && find . -name new -o -name d -o -name l -o -name m | grep -v commands-home)"
done

# Many commands after each other: the guard has a layer for each, and takes those of ended ones again.
many=()
for ((i = 0; i < 40; i++)); do
	many+=('touch many && rm many')
done
run "$BERM" agent --commands claude "${many[@]}" 'touch last && echo made'
expect_equal "many commands" "0 made" "$status $out"

# A variable and a host that the user's policy names are for commands too.
printf 'version: 1\nnetwork: {allow: [allowed.test]}\nenvironment: {pass: [ANTHROPIC_API_KEY]}\n' >"$scratch/open.yml"
run "$BERM" agent --policy="$scratch/open.yml" --commands claude "$(tries)"
expect_equal "what the policy opens itself" "api: hello environ key=THE-KEY " "$(found "$out")"

# Files of the home that the policy opens have their names in the home of the commands.
mkdir -p ~/tools/sub "$scratch/real"
echo tool >~/tools/sub/tool
run "$BERM" agent --allow-read="$HOME/tools/sub" --commands claude 'cat ~/tools/sub/tool; touch ~/tools/sub/x'
expect_equal "what is open below the home" "1 tool" "$status $out"

# The user's own hooks of Codex stay before berm's, and a project that turns hooks off is refused.
echo '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "! grep -q forbidden || exit 2"}]}]}}' >~/.codex/hooks.json
run "$BERM" agent --commands codex "echo forbidden"
expect_equal "Codex: a hook of the user blocks" 99 "$status"
run "$BERM" agent --commands codex "$(tries)"
expect_equal "Codex: with a hook of the user, nothing of the agent" "0 " "$status $(found "$out")"
mkdir .codex
printf '[features]\nhooks = false\n' >.codex/config.toml
run "$BERM" agent --commands codex true
expect_equal "Codex: a project that turns hooks off" 125 "$status"
expect_contains "is named" .codex/config.toml "$err"
rm -r .codex
before=$(cat ~/.codex/hooks.json ~/.codex/config.toml)
expect_equal "the user's files stay" "$before" "$(cat ~/.codex/hooks.json ~/.codex/config.toml)"
mv ~/.codex/hooks.json "$scratch/real/hooks.json"
ln -s "$scratch/real/hooks.json" ~/.codex/hooks.json
run "$BERM" agent --commands codex "$(tries)"
expect_equal "Codex: settings behind a link: refused, or nothing of the agent" "" "$(found "$out")"
rm ~/.codex/hooks.json

# The plan, and refusals.
run "$BERM" agent claude --commands --plan
for part in "second wall" ANTHROPIC_API_KEY api.anthropic.com .claude/.credentials.json "MCP servers"; do
	expect_contains "the plan names $part" "$part" "$(tr -s ' \n' ' ' <<<"$out")"
done
ANTHROPIC_BASE_URL=http://127.0.0.1:4321 run "$BERM" agent claude --commands --plan
expect_contains "a gateway on this machine is not held, and told" "NOT held: port 4321" "$(tr -s ' \n' ' ' <<<"$out")"
refused() {
	local name=$1 part=$2
	shift 2
	run "$BERM" agent "$@"
	expect_equal "$name: refused" "125 " "$status $out"
	expect_contains "$name: why" "$part" "$err"
}
refused "opencode" formatters opencode --commands true
refused "other settings" --settings claude --commands --settings '{}' true
refused "hooks that are turned off" features codex --commands -c features.hooks=false true
refused "a command" "name of an agent" --commands -- true
refused "the whole network" "network: all" --allow-net --commands claude true
run "$BERM" agent --allow-read="$HOME/.claude,$HOME/.claude.json" --commands claude "$(tries)"
expect_equal "what an option opens of its files stays hidden" "0 " "$status $(found "$out")"
# In a home in /tmp the agent's files would be open for commands.
mkdir "/tmp/berm-home.$$"
set_home "/tmp/berm-home.$$"
HOME=/tmp/berm-home.$$ PATH=$real/.local/bin:$PATH run "$BERM" agent --commands claude true
rm -rf "/tmp/berm-home.$$"
expect_equal "a home in /tmp: refused" 125 "$status"
expect_contains "a home in /tmp: why" "is in /tmp" "$err"
finish
