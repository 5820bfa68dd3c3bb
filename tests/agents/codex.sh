#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Codex with what `berm setup codex` writes: bare first, then with berm.
. "$(dirname "$0")/support/loopback.sh"
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/agents.sh"
agent codex
own_settings=.codex/config.toml
# Codex has no tool that reads a text file.
has_read_tool=no
make_home
start_model
export CODEX_HOME=$HOME/.codex FAKE_KEY=x
mkdir "$CODEX_HOME"
cat >"$CODEX_HOME/config.toml" <<END
model = "gpt-5.5"
model_provider = "fake"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = "$url/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
END
guard_hook
cat >"$CODEX_HOME/hooks.json" <<END
{"hooks": {"PreToolUse": [{"matcher": "^Bash$", "hooks": [{"type": "command", "command": "$guard"}]}]}}
END
# The review of a new hook (/hooks) is a dialogue; this option replaces it.
codex=("$modules/.bin/codex" exec --dangerously-bypass-hook-trust --skip-git-repo-check try)

# Codex has no tool that reads a text file. view_image reports only whether it could.
read_file() {
	shell "cat $1"
}

write_file() {
	text_tool apply_patch "*** Begin Patch
*** Add File: $1
+$2
*** End Patch"
}

# A picture that may not be seen, and one that may.
mkdir "$project/config"
for picture in "$HOME/.ssh/picture.png" "$project/picture.png"; do
	printf 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' | base64 -d >"$picture"
done
pictures() {
	steps=()
	tool view_image "path=$HOME/.ssh/picture.png"
	tool view_image "path=$project/picture.png"
	text_tool apply_patch "*** Begin Patch
*** Update File: first.txt
*** Move to: .env
@@
-first
+moved
*** End Patch"
	shell "apply_patch <<'PATCH'
*** Begin Patch
*** Add File: $HOME/by-shell.txt
+x
*** End Patch
PATCH"
	# shellcheck disable=SC2016
	shell 'echo "pager=$GIT_PAGER ci=$CODEX_CI"'
}

bare_conversation "${codex[@]}"
# Codex does not use a home in the directory for temporary files, and its sandbox makes that writable.
own_sandbox env TMPDIR=/tmp "${codex[@]}" -s workspace-write
pictures
shell 'echo forbidden-by-hook >hooked.txt'
play "${codex[@]}"
expect_result "bare: the user's hook blocks" 6 "BLOCKED by the user's hook"
expect_result "bare: the picture is seen" 1 "[input_image]"
expect "bare: a patch moves a file over .env" grep -q moved "$project/.env"
expect "bare: the shell form writes outside" test -e "$HOME/by-shell.txt"
rm "$HOME/by-shell.txt"
git -C "$project" reset -q --hard
echo "TOKEN=FAKE-ENV-$$" >"$project/.env"

run "$BERM" setup codex --write
expect_equal "setup" 0 "$status"
inside_conversation "${codex[@]}"
pictures
play "${codex[@]}"
expect_result "the picture is refused" 1 "may not read"
expect_result "another one is seen" 2 "[input_image]"
expect_result "the patch is refused with the path" 3 "$project/.env"
expect "and nothing moved" grep -q FAKE "$project/.env"
expect "the shell form writes nothing outside" test ! -e "$HOME/by-shell.txt"
expect_result "and says why" 4 "apply_patch tool"
expect_result "the host's variables arrive" 5 "pager=cat ci=1"

planted .codex/config.toml 'features.hooks = false' "${codex[@]}"

# Codex runs a hook only after its user trusts it. Without a terminal --write records that only with
# --yes, as /hooks would.
expect_status "an untrusted hook is not in force" 1 "$BERM" setup codex --check
expect_contains "and why" "does not trust" "$out"
cp "$CODEX_HOME/config.toml" "$scratch/untrusted.toml"
run "$BERM" setup codex --write
expect_equal "without a yes nothing is recorded" 0 "$(grep -c hook-rewrite "$CODEX_HOME/config.toml")"
expect "the file is as it was" cmp "$CODEX_HOME/config.toml" "$scratch/untrusted.toml"
run "$BERM" setup codex --write --yes
expect_equal "the trust is recorded" 0 "$status"
hash=$(python3 "$here/codex_trust.py" "$modules/.bin/codex" "$project")
expect "as Codex names the hook" grep -qF "[hooks.state.\"${hash% *}\"]" "$CODEX_HOME/config.toml"
expect "with Codex's own hash" grep -qxF "trusted_hash = \"${hash##* }\"" "$CODEX_HOME/config.toml"
proven codex "$modules/.bin/codex"
# A trust in another text is not one.
cp "$CODEX_HOME/config.toml" "$scratch/config.toml"
sed -i 's/sha256:..../sha256:0000/' "$CODEX_HOME/config.toml"
expect_status "a wrong hash is not in force" 1 "$BERM" setup codex --check
expect_contains "and why" "another text" "$out"
expect_status "and is refuted" 1 timeout "$agent_patience" "$BERM" setup codex --check --prove
expect_contains "by a command outside" OUTSIDE "$out"
cp "$scratch/config.toml" "$CODEX_HOME/config.toml"
overridden codex .codex/config.toml '[features]
hooks = false'

# What was recorded goes with the hook.
run "$BERM" setup codex --undo
expect_equal "undo" 0 "$status"
expect "the trust is gone" cmp "$CODEX_HOME/config.toml" "$scratch/untrusted.toml"
run "$BERM" setup codex --write --yes

# Without berm nothing runs.
steps=()
shell 'echo ran >ran.txt'
write_file "$project/patched.txt" x
sed -i "s#${BERM%/berm}/#$scratch/gone/#g" "$CODEX_HOME/hooks.json"
play "${codex[@]}"
expect "a missing berm stops the command" test ! -e ran.txt
expect "and the patch" test ! -e patched.txt
finish
