#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Replays calls of agents' file tools, which run outside the sandbox: the hook that `berm setup` writes
# refuses what the policy refuses, and is silent about the rest. Claude Code's commands run in a shim
# by a setting; its hook refuses them where that setting has no effect.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
move_home

git init -q "$project"
mkdir -p "$HOME/.ssh" "$project/config" "$project/plain" "$HOME/.claude/plans"
echo key >"$HOME/.ssh/id_rsa"
echo secret >"$project/.env"
echo fine >"$project/fine.txt"
echo secret >"$project/config/server.pem"
ln -s ../.env "$project/plain/link"
ln "$project/.env" "$project/hard"
ln -s "$HOME/.ssh" "$project/keys"
slug=${project//[^a-zA-Z0-9]/-}
mkdir -p "$HOME/.claude/projects/$slug/session/tool-results" "$HOME/.claude/projects/-other/session/tool-results"
touch "$HOME/.claude/projects/$slug/session/tool-results/1.txt" "$HOME/.claude/projects/$slug/session.jsonl" \
	"$HOME/.claude/projects/-other/session/tool-results/1.txt"
ln -s "$HOME/.ssh/id_rsa" "$HOME/.claude/projects/$slug/session/tool-results/link"

# call HOST TOOL JSON: the hook's status in $status.
call() {
	local event=PreToolUse
	[ "$1" != gemini ] || event=BeforeTool
	[ "$1" != opencode ] || event=tool.execute.before
	printf '{"cwd": "%s", "hook_event_name": "%s", "tool_name": "%s", "tool_input": %s}' "$project" "$event" "$2" "$3" >"$scratch/call"
	run bash -c "'$BERM' hook-rewrite --host=$1 <'$scratch/call'"
}

# fine HOST TOOL JSON: no decision. refused HOST TOOL JSON [PART]: blocked, with this in the reason.
fine() {
	call "$@"
	expect_equal "$2 $3" "0 " "$status $out"
}

refused() {
	call "$1" "$2" "$3"
	expect_equal "$2 $3" "2 " "$status $out"
	expect_contains "$2 $3: the reason" "${4:-berm: }" "$err"
}

fine claude-code Read "{\"file_path\": \"$project/fine.txt\"}"
fine claude-code Read '{"file_path": "fine.txt"}'
fine claude-code Read '{"file_path": "/etc/hostname"}'
fine claude-code Write "{\"file_path\": \"$project/new/file.txt\", \"content\": \"x\"}"
fine claude-code Edit '{"file_path": "fine.txt", "old_string": "a", "new_string": "b"}'
fine claude-code Glob '{"pattern": "**/*.pem"}'
fine claude-code Grep "{\"pattern\": \"x\", \"path\": \"$project/plain\"}"
fine claude-code LS "{\"path\": \"$project\"}"
refused claude-code Read "{\"file_path\": \"$HOME/.ssh/id_rsa\"}" "ask the user"
refused claude-code Read "{\"file_path\": \"$project/keys/id_rsa\"}"
refused claude-code Read '{"file_path": ".env"}' "files.deny"
refused claude-code Read '{"file_path": "plain/link"}'
refused claude-code Read '{"file_path": "hard"}'
refused claude-code Read '{"file_path": "plain/../.env"}' "in full"
refused claude-code Read '{"file_path": "~/.ssh/id_rsa"}' "in full"
refused claude-code Read '{"file_path": "/proc/self/environ"}'
refused claude-code Read '{"file_path": "/tmp/somewhere"}'
refused claude-code Write "{\"file_path\": \"$HOME/x\", \"content\": \"x\"}"
refused claude-code Write '{"file_path": ".git/hooks/post-commit", "content": "x"}' "protected"
refused claude-code Write '{"file_path": ".claude/settings.local.json", "content": "{}"}' "protected"
refused claude-code Write '{"file_path": ".vscode/tasks.json", "content": "{}"}'
refused claude-code MultiEdit '{"file_path": ".git/config", "edits": []}'
refused claude-code NotebookEdit "{\"notebook_path\": \"$HOME/x.ipynb\", \"new_source\": \"\"}"
refused claude-code Glob "{\"pattern\": \"$HOME/.ssh/*\"}"
refused claude-code Glob '{"pattern": "../../*"}'
refused claude-code Glob '{"pattern": "{fine.txt,/etc/../root/*}"}'
refused claude-code Grep "{\"pattern\": \"x\", \"path\": \"$HOME/.ssh\"}"
refused claude-code LS "{\"path\": \"$HOME/.ssh\"}"
refused claude-code Read '{}'
refused claude-code Read '{"file_path": ["fine.txt"]}'
refused claude-code Read '{"file_path": "fine.txt\u0000"}'
refused claude-code Unknown '{"file_path": "fine.txt"}'

# Files that the host itself made for this project, and nothing beside them.
fine claude-code Read "{\"file_path\": \"$HOME/.claude/projects/$slug/session/tool-results/1.txt\"}"
fine claude-code Write "{\"file_path\": \"$HOME/.claude/plans/plan.md\", \"content\": \"x\"}"
refused claude-code Write "{\"file_path\": \"$HOME/.claude/projects/$slug/session/tool-results/1.txt\", \"content\": \"x\"}"
refused claude-code Read "{\"file_path\": \"$HOME/.claude/projects/$slug/session.jsonl\"}"
refused claude-code Read "{\"file_path\": \"$HOME/.claude/projects/-other/session/tool-results/1.txt\"}"
refused claude-code Read "{\"file_path\": \"$HOME/.claude/projects/$slug/session/tool-results/link\"}"
refused claude-code Write "{\"file_path\": \"$HOME/.claude/settings.json\", \"content\": \"{}\"}"

# A search in a directory with hidden files gets a pattern that leaves them out, and its own stays.
call claude-code Grep '{"pattern": "secret", "glob": "*.{pem,txt}", "-n": true}'
expect "a search without the hidden names" python3 -c '
import json, sys
specific = json.load(open(sys.argv[1]))["hookSpecificOutput"]
assert set(specific) == {"hookEventName", "updatedInput"}, specific
words = specific["updatedInput"].pop("glob").split(" ")
assert words[0] == "*.{pem,txt}" and {"!.env", "!server.pem", "!hard"} <= set(words[1:]), words
assert specific["updatedInput"] == {"pattern": "secret", "-n": True}, specific' "$scratch/out"
echo secret >"$project/config/with space.pem"
refused claude-code Grep "{\"pattern\": \"x\", \"path\": \"$project/config\"}" "config/server.pem"

patch() {
	printf '{"command": "*** Begin Patch\\n%s\\n*** End Patch"}' "$1"
}
fine opencode read '{"filePath": "fine.txt"}'
refused opencode read "{\"filePath\": \"$HOME/.ssh/id_rsa\"}"
refused opencode read '{"filePath": ".env"}' "files.deny"
refused opencode write "{\"filePath\": \"$project/.git/hooks/x\", \"content\": \"x\"}"
refused opencode edit "{\"filePath\": \"$HOME/x\", \"oldString\": \"\", \"newString\": \"x\"}"
refused opencode glob "{\"pattern\": \"*\", \"path\": \"$HOME/.ssh\"}"
refused opencode apply_patch '{"patchText": "*** Begin Patch\n*** Add File: opencode.json\n+x\n*** End Patch"}'
refused opencode websearch '{}'
# Its pattern is a single one: another takes its place, or its own suffices.
refused opencode grep '{"pattern": "secret"}'
rm "$project/config/with space.pem"
call opencode grep '{"pattern": "secret"}'
expect_contains "a search gets a pattern" '"include": "!{' "$out"
expect_contains "with the hidden names" server.pem "$out"
for include in '*.txt' 'src/**/*.{ts,tsx}' package.json '*.?s'; do
	fine opencode grep "{\"pattern\": \"x\", \"include\": \"$include\"}"
done
for include in '*' '*.pem' '*.{ts,pem}' '*.PEM' '.e*' '*.[p]em' '{*.pem,a}' '*.p?m' '{config/server,x}.pem' '!*.ts' '*.{ts,{pem}}' 'config/'; do
	refused opencode grep "{\"pattern\": \"x\", \"include\": \"$include\"}"
done
# A command runs only in berm's shell, which the plugin names.
refused opencode bash '{"command": "true"}' "outside the sandbox"
export OPENCODE_SHELL=/bin/bash
refused opencode bash '{"command": "true"}' "outside the sandbox"
export CLAUDE_CODE_SHELL_PREFIX=${BERM%/berm}/berm-sh
refused opencode bash '{"command": "true"}' "outside the sandbox"
unset CLAUDE_CODE_SHELL_PREFIX
export OPENCODE_SHELL=${BERM%/berm}/shims/bash
fine opencode bash '{"command": "true"}'
unset OPENCODE_SHELL

fine codex apply_patch "$(patch '*** Add File: new.txt\n+x\n*** Update File: fine.txt\n@@\n-fine\n+good')"
refused codex apply_patch "$(patch "*** Add File: $HOME/x\n+x")"
refused codex apply_patch "$(patch '*** Add File: new.txt\n+x\n*** Delete File: .git/config')"
refused codex apply_patch "$(patch '*** Update File: fine.txt\n*** Move to: .env\n@@\n-a\n+b')"
refused codex apply_patch "$(patch '\u2003*** Add File: .git/hooks/x\n+x')"
refused codex apply_patch "$(patch '*** Add File: fine.txt\u2003\n+x')"
refused codex apply_patch "$(patch '*** Add File: ../x\n+x')" "in full"
refused codex apply_patch "$(patch 'nothing')"
refused codex apply_patch '{}'
refused codex view_image "{\"path\": \"$HOME/.ssh/id_rsa\"}"
fine codex view_image '{"path": "fine.txt"}'
fine gemini read_file '{"file_path": "fine.txt"}'
refused gemini read_file '{"file_path": ".env"}'
refused gemini read_many_files '{"include": ["**/*"]}'
refused gemini read_many_files '{"include": ["fine.txt", ".env"]}'
fine gemini read_many_files '{"include": ["fine.txt"]}'
refused gemini grep_search '{"pattern": "x"}'
refused gemini replace "{\"file_path\": \"$HOME/.bashrc\"}"

# Claude Code's commands: only with berm's shell, and never changed.
shims=${BERM%/berm}/shims
call claude-code Bash '{"command": "true"}'
expect_equal "no shell of berm's" 2 "$status"
expect_contains "and why" CLAUDE_CODE_SHELL "$err"
export CLAUDE_CODE_SHELL=$shims/bash
fine claude-code Bash '{"command": "true"}'
CLAUDE_CODE_SHELL=/bin/bash call claude-code Bash '{"command": "true"}'
expect_equal "another shell" 2 "$status"
CLAUDE_CODE_SHELL=$shims/missing call claude-code Bash '{"command": "true"}'
expect_equal "a missing shim" 2 "$status"
CLAUDE_CODE_SHELL=$shims/../shims/bash call claude-code Bash '{"command": "true"}'
expect_equal "another spelling" 2 "$status"
refused claude-code Bash '{}'
# A policy that cannot be read blocks.
mkdir -p "$HOME/.config/berm"
echo 'nonsense: [' >"$HOME/.config/berm/berm.yml"
refused claude-code Read '{"file_path": "fine.txt"}'
rm "$HOME/.config/berm/berm.yml"

# The shim with a string of Claude Code: the directory comes out, nothing else does.
cd "$project" || exit 1
report=/tmp/claude-$$-cwd
rm -f "$report"
string="\\builtin shopt -u extglob 2>/dev/null || true && eval 'cd plain' < /dev/null && pwd -P >| $report"
run "$shims/bash" -c -l "$string"
expect_equal "the directory is reported" "0 $project/plain" "$status $(cat "$report")"
rm -f "$report"
run "$shims/bash" -c "id && eval true && pwd -P >| $report"
expect "another string gets no report" test ! -e "$report"
rm -f "$report"

# The settings of the administrator. As root in a copy of /etc.
expect_status "no such settings for this host" 125 "$BERM" setup codex --managed
if [ "$(id -u)" -ne 0 ]; then
	expect_status "not for other users" 125 "$BERM" setup claude-code --managed --write
	expect_contains "and how" "sudo berm setup claude-code --managed --write" "$err"
	[ -e /etc/claude-code ] || expect_status "--check only looks" 1 "$BERM" setup claude-code --managed --check
	finish
fi
cp -a /etc "$scratch/etc"
managed() {
	unshare --mount bash -c 'mount --bind "$1" /etc && shift && "$@"' bash "$scratch/etc" "$@"
}
run managed "$BERM" setup claude-code --managed --write
expect_equal "the administrator's settings" 0 "$status"
expect "are there" grep -q CLAUDE_CODE_SHELL "$scratch/etc/claude-code/managed-settings.json"
mkdir -p "$project/.claude"
echo '{"disableAllHooks": true, "env": {"CLAUDE_CODE_SHELL": "/bin/bash"}}' >"$project/.claude/settings.json"
expect_status "no project overrides them" 0 managed "$BERM" setup claude-code --managed --check
rm -r "$project/.claude"
# For an ordinary user without settings of berm the administrator's are reported.
chmod 711 "$scratch" && chmod 777 "$project"
user() {
	managed setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"
}
if user "$BERM" --version >/dev/null 2>&1; then
	for option in '' --managed; do
		expect_status "another user${option:+, $option}: configured" 0 user "$BERM" setup claude-code ${option:+"$option"} --check
		expect_contains "another user: by whom" "administrator's settings: /etc/claude-code" "$out"
	done
	expect_status "another user: cannot write" 125 user "$BERM" setup claude-code --managed --write
	expect_contains "another user: and how" "sudo berm setup" "$err"
fi
run managed "$BERM" setup claude-code --managed --undo
expect_equal "and undone" "0 no" "$status $(test -e "$scratch/etc/claude-code" && echo yes || echo no)"
finish
