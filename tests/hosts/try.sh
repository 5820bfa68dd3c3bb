#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# try.sh MODULES: the real agents, with a model on loopback (model.py) that tells them to read a key. Bare, to see that the attempt works; with what
# `berm setup` writes; and with a berm that is missing, which must stop the command. By hand, because the agents take a gigabyte:
#   npm install --prefix DIR @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
#   BERM=build/dev/berm tests/hosts/try.sh DIR/node_modules
# No agent gets a real account: each has an empty home and a key of "x". Prints a line for each; the last one counts.
modules=$(cd "${1:?a node_modules directory with the agents}" && pwd) || exit 1
BERM=$(realpath "${BERM:?the program}")
export BERM
# shellcheck source=SCRIPTDIR/../cli/support/lib.sh
. "$(dirname "$0")/../cli/support/lib.sh"
top=$support/../../..

home=$(getent passwd "$(id -u)" | cut -d: -f6)
secret=$home/.ssh/id_berm_hosts_$$
made_ssh=
[ -d "$home/.ssh" ] || { mkdir -m 700 "$home/.ssh" && made_ssh=1; }
echo "the key of test $$" >"$secret"
log=$scratch/log
# shellcheck disable=SC2016
python3 "$top/tests/hosts/model.py" "$scratch/port" "$log" \
	"echo \"inside=\$BERM\"; cat $secret; echo made >made.txt; echo end" &
model=$!
# shellcheck disable=SC2317
leave() {
	kill "$model"
	rm -f "$secret"
	[ -z "$made_ssh" ] || rmdir "$home/.ssh" 2>/dev/null
	clean_up
}
trap '[ "$BASHPID" != "$$" ] || leave' EXIT
until_true test -s "$scratch/port" || exit 1
url=http://127.0.0.1:$(cat "$scratch/port")
git init -q "$project"
export HOME=$scratch/home
mkdir -p "$HOME/.gemini" "$scratch/codex" "$HOME/.config/opencode"
berm_setup=("$BERM" setup)
unset XDG_CONFIG_HOME BERM

# judge HOST WANTED: what the model was told after the command.
judge() {
	local said
	said=$(grep '^RESULT' "$log" | tail -n 1)
	case $2/$said in
	bare/*"the key of test $$"*) pass ;;
	inside/*inside=1*"the key of test"*) fail "$1: the key was read" "$said" ;;
	inside/*inside=1*end*) if [ -e made.txt ]; then pass; else fail "$1: nothing was made" "$said"; fi ;;
	closed/*"the key of test $$"*) fail "$1: ran without berm" "$said" ;;
	closed/RESULT*) if [ ! -e made.txt ]; then pass; else fail "$1: ran without berm" "$said"; fi ;;
	open/*"the key of test $$"*) pass ;;
	*) fail "$1: $2" "${said:-nothing came back: $(tail -n 3 "$scratch/agent.log")}" ;;
	esac
	printf '%s, %s: %s\n' "$1" "$2" "$said"
}

# try HOST FILE WITHOUT COMMAND...: WITHOUT says what the host does when berm is missing: closed or, as the guide then has to say, open.
try() {
	local host=$1 file=$2 without=$3 pass_name
	shift 3
	for pass_name in bare inside "$without"; do
		rm -f made.txt
		: >"$log"
		case $pass_name in
		inside) "${berm_setup[@]}" "$host" --file="$file" --write >"$scratch/setup.log" || fail "$host: setup" ;;
		closed | open) sed -i "s#${berm_setup[0]%/berm}/#$scratch/gone/#g" "$file" ;;
		esac
		timeout 90 "$@" </dev/null >"$scratch/agent.log" 2>&1
		judge "$host" "$pass_name"
	done
}

export IS_SANDBOX=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=x CLAUDE_CONFIG_DIR=$scratch/claude
try claude-code "$scratch/claude/settings.json" closed "$modules/.bin/claude" -p try --allowedTools Bash --model claude-sonnet-4-5

export CODEX_HOME=$scratch/codex FAKE_KEY=x
cat >"$CODEX_HOME/config.toml" <<END
model = "m"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "$url/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
END
# The review of a new hook (/hooks) is a dialogue; this option stands in for it.
try codex "$CODEX_HOME/hooks.json" closed "$modules/.bin/codex" exec --dangerously-bypass-hook-trust -s danger-full-access --skip-git-repo-check try

export GEMINI_API_KEY=x GOOGLE_GEMINI_BASE_URL=$url
echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
try gemini "$HOME/.gemini/settings.json" closed "$modules/.bin/gemini" -y --skip-trust -p try -m gemini-2.5-flash

cat >"$HOME/.config/opencode/opencode.json" <<END
{"model": "fake/m", "autoupdate": false, "permission": {"bash": "allow", "external_directory": "allow"},
 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": "$url/v1", "apiKey": "x"},
  "models": {"m": {"name": "m"}}}}}
END
# A shell that does not exist: opencode takes another one without a word.
try opencode "$HOME/.config/opencode/opencode.json" open "$modules/.bin/opencode" run try
finish
