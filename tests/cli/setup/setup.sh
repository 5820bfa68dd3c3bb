#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm setup on files of every kind: shown, written once, in force, undone byte by byte. Files that
# cannot be parsed or changed meanwhile stay untouched. All files are in the scratch directory; the
# user's own settings are not touched.
. "$(dirname "$0")/../support/lib.sh"

# A separate installation, so that the settings have the paths of an installed berm.
prefix=$scratch/prefix
mkdir -p "$prefix/bin" "$prefix/libexec/berm/shims"
cp "$BERM" "$prefix/bin/berm"
for name in bin/berm-sh libexec/berm/shims/bash libexec/berm/shims/sh; do
	ln -s "$prefix/bin/berm" "$prefix/$name"
done
berm=$prefix/bin/berm
shims=$prefix/libexec/berm/shims
files=$scratch/files
mkdir "$files"
cd "$files" || exit 1

hash_of() {
	sha256sum <"$1"
}

# round NAME HOST FILE: --write and --undo. The file may be absent.
round() {
	local name=$1 host=$2 file=$3 before=absent mode=
	if [ -e "$file" ]; then
		before=$(hash_of "$file")
		mode=$(stat -L -c '%a %u %g' "$file")
	fi
	expect_status "$name: not in force" 1 "$berm" setup "$host" --file="$file" --check
	expect_status "$name: shown" 0 "$berm" setup "$host" --file="$file"
	expect_contains "$name: as a difference" "@@ -" "$out"
	expect_contains "$name: with the command" "--write" "$out"
	if [ -e "$file" ]; then
		expect_equal "$name: showing changes nothing" "$before" "$(hash_of "$file")"
	else
		expect_equal "$name: showing makes nothing" absent "$before"
	fi
	expect_status "$name: written" 0 "$berm" setup "$host" --file="$file" --write
	expect "$name: names the installed paths" grep -qF "$prefix/" "$file"
	[ -z "$mode" ] || expect_equal "$name: mode and owner" "$mode" "$(stat -L -c '%a %u %g' "$file")"
	expect_status "$name: in force" 0 "$berm" setup "$host" --file="$file" --check
	written=$(hash_of "$file")
	inode=$(stat -L -c %i "$file")
	expect_status "$name: written again" 0 "$berm" setup "$host" --file="$file" --write
	expect_equal "$name: the second time changes nothing" "$written $inode" "$(hash_of "$file") $(stat -L -c %i "$file")"
	expect_status "$name: undone" 0 "$berm" setup "$host" --file="$file" --undo
	if [ "$before" = absent ]; then
		expect "$name: gone again" test ! -e "$file"
	else
		expect_equal "$name: the original bytes" "$before" "$(hash_of "$file")"
		expect_equal "$name: mode and owner, back" "$mode" "$(stat -L -c '%a %u %g' "$file")"
	fi
	expect_status "$name: not in force any more" 1 "$berm" setup "$host" --file="$file" --check
	expect_status "$name: nothing left to undo" 0 "$berm" setup "$host" --file="$file" --undo
}

json_hosts="claude-code codex gemini opencode cursor vscode zed"
line_hosts="emacs vim nvim npm tmux make aider"
for host in $json_hosts $line_hosts; do
	round "$host, absent" "$host" "$files/new/deep/$host"
	expect "$host: the directories made for it are gone" test ! -e "$files/new"
	: >"$files/$host"
	round "$host, empty" "$host" "$files/$host"
done
for host in $json_hosts; do
	printf '{\r\n\t// mine\r\n\t"a": [1, 2,], /* two */\r\n\t"hooks": {"Stop": []},\r\n\t"env": {"A": "b"} // last\r\n}' >"$host.jsonc"
	chmod 640 "$host.jsonc"
	round "$host, with comments" "$host" "$files/$host.jsonc"
done
for host in $line_hosts; do
	# Emacs reads no further after a line that it cannot evaluate.
	case $host in
	emacs) printf '; one\n; two' ;;
	*) printf 'one\ntwo' ;;
	esac >"$host.conf"
	chmod 600 "$host.conf"
	round "$host, without a last line end" "$host" "$files/$host.conf"
done

# Typical settings of VS Code: --undo restores the user's own value.
cat >settings.json <<'END'
// Place your settings in this file to overwrite the default settings
{
    "editor.fontSize": 14, // bigger
    "terminal.integrated.defaultProfile.linux": "fish",
    "terminal.integrated.profiles.linux": {
        "fish": { "path": "/usr/bin/fish" }
    },
    /* "commented.out": true, */
}
END
round "vscode, real" vscode "$files/settings.json"
"$berm" setup vscode --file=settings.json --write >"$scratch/log"
expect "comments stay" grep -q '14, // bigger' settings.json
expect "the user's profile stays" grep -q '"fish": { "path": "/usr/bin/fish" }' settings.json
# Changed since: --undo removes only berm's keys and restores the user's value.
sed -i 's/"editor.fontSize": 14/"editor.fontSize": 18/' settings.json
expect_status "undo after another change" 0 "$berm" setup vscode --file=settings.json --undo
expect "the change stays" grep -q '"editor.fontSize": 18, // bigger' settings.json
expect "the default profile is the user's" grep -q '"terminal.integrated.defaultProfile.linux": "fish"' settings.json
expect_status "nothing of berm is left" 1 grep -q berm settings.json
# A changed value of berm's: refused, with its position.
"$berm" setup vscode --file=settings.json --write >"$scratch/log"
sed -i 's/"terminal.integrated.defaultProfile.linux": "berm"/"terminal.integrated.defaultProfile.linux": "zsh"/' settings.json
before=$(hash_of settings.json)
expect_status "undo over a changed value" 125 "$berm" setup vscode --file=settings.json --undo
expect_contains "with the place" "settings.json:4:49:" "$err"
expect_equal "and nothing written" "$before" "$(hash_of settings.json)"
expect_status "partly in force is not in force" 1 "$berm" setup vscode --file=settings.json --check
expect_contains "and says so" "partly" "$out"
expect_status "setting up again" 0 "$berm" setup vscode --file=settings.json --write
expect_status "is in force" 0 "$berm" setup vscode --file=settings.json --check
# Hooks of other programs beside berm's.
printf '{"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": []}]}}\n' >hooks.json
"$berm" setup codex --file=hooks.json --write >"$scratch/log"
sed -i 's/"Write"/"Edit"/' hooks.json
expect_status "another's hook: undo" 0 "$berm" setup codex --file=hooks.json --undo
expect_equal "another's hook stays" '{"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": []}]}}' "$(cat hooks.json)"

# Malformed: the position, and nothing written.
printf '{\n  "a": 1\n  "b": 2\n}\n' >bad.json
before=$(hash_of bad.json)
for option in --check --write --undo --print; do
	expect_status "malformed, $option" 125 "$berm" setup vscode --file=bad.json "$option"
	expect_contains "malformed, $option: the place" "bad.json:3:3:" "$err"
done
expect_equal "malformed: nothing written" "$before" "$(hash_of bad.json)"
printf '{"hooks": {"PreToolUse": {}}}' >bad.json
expect_status "a key of another type" 125 "$berm" setup codex --file=bad.json --write
expect_contains "a key of another type: the place" "bad.json:1:26:" "$err"
printf '# berm setup: begin\nx\n' >bad.conf
expect_status "a block without an end" 125 "$berm" setup npm --file=bad.conf --write
expect_contains "a block without an end: the place" "bad.conf:1:1:" "$err"
"$berm" setup npm --file=lines.conf --write >"$scratch/log"
sed -i 's#/sh$#/dash#' lines.conf
expect_status "lines that somebody changed" 125 "$berm" setup npm --file=lines.conf --undo
expect_contains "their place" "lines.conf:1:1:" "$err"

# Follows symlinks to the target; the link stays. Refuses files that cannot be replaced safely.
mkdir dotfiles
printf '{}\n' >dotfiles/settings.json
ln -s dotfiles/settings.json link.json
round "a symlink" vscode "$files/link.json"
expect "the link stays" test -L link.json
expect_status "it is said" 0 "$berm" setup vscode --file=link.json
expect_contains "it is said" "is a link to $files/dotfiles/settings.json" "$out"
ln -s nowhere/settings.json dangling.json
expect_status "a link to nothing is followed" 0 "$berm" setup vscode --file=dangling.json --write
expect "a link to nothing: where it leads" test -f nowhere/settings.json
"$berm" setup vscode --file=dangling.json --undo >"$scratch/log"
expect "and back" test ! -e nowhere
ln dotfiles/settings.json hard.json
expect_status "a hard link is refused" 125 "$berm" setup vscode --file=hard.json --write
rm hard.json
mkfifo pipe.json
expect_status "a pipe is refused" 125 "$berm" setup vscode --file=pipe.json --write
expect_status "a directory is refused" 125 "$berm" setup vscode --file=dotfiles --write
ln -s loop.json loop.json
expect_status "a loop is refused" 125 "$berm" setup vscode --file=loop.json --write
if [ "$(id -u)" != 0 ]; then
	expect_status "another user's file is refused" 125 "$berm" setup vscode --file=/etc/hostname --write
	mkdir locked
	printf '{}' >locked/s.json
	chmod 500 locked
	expect_status "a directory that cannot be written" 125 "$berm" setup vscode --file=locked/s.json --write
	expect_equal "is left alone" '{}' "$(cat locked/s.json)"
	expect_status "and nothing is recorded as done" 1 "$berm" setup vscode --file=locked/s.json --check
fi

# Concurrent runs: every file stays whole, with one change or both, and --undo restores the original
# bytes.
printf '{\n  "a": 1\n}\n' >race.json
before=$(hash_of race.json)
for i in 1 2 3 4 5; do
	pids=
	for j in 1 2 3 4; do
		"$berm" setup gemini --file=race.json --write >"$scratch/race.$i.$j" 2>&1 &
		pids="$pids $!"
	done
	ok=0
	for pid in $pids; do
		wait "$pid" && ok=$((ok + 1))
	done
	expect_equal "all of them succeed" 4 "$ok"
	expect_status "in force after a race" 0 "$berm" setup gemini --file=race.json --check
	expect_equal "once" 1 "$(grep -c hook-rewrite race.json)"
	expect_status "undone after a race" 0 "$berm" setup gemini --file=race.json --undo
	expect_equal "the original bytes after a race" "$before" "$(hash_of race.json)"
done
expect_equal "no file is left over" "" "$(find "$files" -name '.*berm*')"

# The command line.
expect_status "the list" 0 "$berm" setup
for host in claude-code codex gemini opencode aider cursor vscode zed jetbrains emacs vim nvim npm make tmux mcp; do
	expect "the list has $host" grep -q "^$host " "$scratch/out"
done
expect_status "the list, for programs" 0 "$berm" setup --json
expect "is JSON" python3 -c 'import json,sys; assert len(json.load(open(sys.argv[1]))["hosts"]) == 16' "$scratch/out"
expect_status "one host, for programs" 0 "$berm" setup gemini --file=race.json --json
expect "is JSON too" python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert d["host"] == "gemini" and not d["in_force"]; json.loads(d["settings"])' "$scratch/out"
expect_status "an unknown host" 125 "$berm" setup vscod
expect_contains "has a neighbour" "vscode" "$err"
expect_status "two wishes" 125 "$berm" setup vscode --write --undo
expect_status "no host" 125 "$berm" setup --write
for host in jetbrains mcp; do
	expect_status "$host: steps" 0 "$berm" setup "$host"
	expect_contains "$host: name the paths" "$prefix/" "$out"
	expect_status "$host: nothing to write" 125 "$berm" setup "$host" --write
	expect_contains "$host: says which file is missing" --file "$err"
	expect_status "$host: not in force here" 1 "$berm" setup "$host" --check
done

# Lists of programs that a host starts: berm before each, with its variables. Comments and servers
# without a command stay unchanged.
cat >"$files/servers.json" <<'END'
{
	// mine
	"mcpServers": {
		"one": { "command": "npx", "args": ["-y", "a \"b\"", "\u00e9"], "env": { "API_KEY": "x", "not a name": "y" } },
		"two": { "command": "/bin/server" }, // no arguments
		"far": { "type": "http", "url": "https://mcp.example.org" }
	},
	"other": { "command": "stays" },
}
END
before=$(hash_of servers.json)
expect_status "servers: what would change" 0 "$berm" setup mcp --file="$files/servers.json"
expect_contains "servers: as a difference" '"--env=API_KEY"' "$out"
expect_equal "servers: nothing is written yet" "$before" "$(hash_of servers.json)"
expect_status "servers: not in force" 1 "$berm" setup mcp --file="$files/servers.json" --check
expect_status "servers: written" 0 "$berm" setup mcp --file="$files/servers.json" --write
after=$(hash_of servers.json)
expect_status "servers: in force" 0 "$berm" setup mcp --file="$files/servers.json" --check
expect_status "servers: written again" 0 "$berm" setup mcp --file="$files/servers.json" --write
expect_equal "servers: changes nothing the second time" "$after" "$(hash_of servers.json)"
expect_output "servers: what the host starts" \
	"$berm run --env=API_KEY -- npx -y a \"b\" é|$berm run -- /bin/server|None|stays" python3 -c '
import json, re, sys
text = re.sub(r"^\s*// .*$|// no .*$", "", open(sys.argv[1]).read(), flags=re.M).replace("},\n}", "}\n}")
d = json.loads(text)
words = lambda s: " ".join([s["command"]] + s.get("args", [])) if "command" in s else "None"
print("|".join([words(d["mcpServers"][n]) for n in ("one", "two", "far")] + [words(d["other"])]))' "$files/servers.json"
expect_contains "servers: comments stay" "// no arguments" "$(cat "$files/servers.json")"
sed -i 's#// mine#// mine, and more#' "$files/servers.json"
expect_status "servers: undone after a change" 0 "$berm" setup mcp --file="$files/servers.json" --undo
sed -i 's#// mine, and more#// mine#' "$files/servers.json"
expect_equal "servers: the original bytes, but for that change" "$before" "$(hash_of servers.json)"
expect_status "servers: written once more" 0 "$berm" setup mcp --file="$files/servers.json" --write
# The line that it printed works as it is.
expect_status "servers: undone as printed" 0 bash -c "$(sed -n 's/.*to undo: berm/"$0"/p' "$scratch/out")" "$berm"
expect_equal "servers: the original bytes" "$before" "$(hash_of servers.json)"
echo '{"mcpServers": {"far": {"url": "https://mcp.example.org"}}}' >"$files/far.json"
expect_status "servers: none that is started" 125 "$berm" setup mcp --file="$files/far.json" --write
expect_status "servers: no such file" 125 "$berm" setup mcp --file="$files/absent.json" --write
expect "servers: which is not made" test ! -e "$files/absent.json"
echo '{"agent_servers": {"mine": {"command": "agent", "args": ["acp"]}}}' >"$files/acp.json"
before=$(hash_of acp.json)
expect_status "jetbrains: agents" 0 "$berm" setup jetbrains --file="$files/acp.json" --write
expect_contains "jetbrains: berm before the agent" '"--", "agent", "acp"' "$(tr -s '\n\t ' ' ' <"$files/acp.json" | sed 's/\[ /[/; s/ \]/]/')"
expect_status "jetbrains: undone" 0 "$berm" setup jetbrains --file="$files/acp.json" --undo
expect_equal "jetbrains: the original bytes" "$before" "$(hash_of acp.json)"
expect_status "make, by the environment" 0 env MAKEFLAGS=SHELL="$shims/sh" "$berm" setup make --check
expect_status "aider, by the environment" 0 env SHELL="$shims/bash" "$berm" setup aider --check

# The host's variable names the directory of its settings.
expect_status "the host's own variable" 0 env CLAUDE_CONFIG_DIR="$files/claude" "$berm" setup claude-code --write
expect_contains "is followed" "$prefix/bin/berm hook-rewrite" "$(cat "$files/claude/settings.json")"
env CLAUDE_CONFIG_DIR="$files/claude" "$berm" setup claude-code --undo >"$scratch/log"
expect "and undone" test ! -e "$files/claude"

# berm moves: the next --write replaces the earlier settings, and --undo by either berm restores the
# original bytes.
mkdir -p "$scratch/moved/bin" "$scratch/moved/libexec/berm/shims"
cp "$BERM" "$scratch/moved/bin/berm"
for name in bin/berm-sh libexec/berm/shims/bash libexec/berm/shims/sh; do
	ln -s "$scratch/moved/bin/berm" "$scratch/moved/$name"
done
moved=$scratch/moved/bin/berm
for host in codex vscode npm; do
	case $host in
	npm) printf 'a=1\n' >"moved-$host" ;;
	*) printf '{\n  "a": 1,\n  "hooks": {\n    "PreToolUse": [1]\n  }\n}\n' >"moved-$host" ;;
	esac
	before=$(hash_of "moved-$host")
	"$berm" setup "$host" --file="moved-$host" --write >"$scratch/log"
	expect_status "$host: not in force for another berm" 1 "$moved" setup "$host" --file="moved-$host" --check
	expect_status "$host: set up by another berm" 0 "$moved" setup "$host" --file="moved-$host" --write
	expect_status "$host: nothing of the first is left" 1 grep -qF "$prefix/" "moved-$host"
	expect_status "$host: in force for the other" 0 "$moved" setup "$host" --file="moved-$host" --check
	expect_status "$host: taken back" 0 "$moved" setup "$host" --file="moved-$host" --undo
	expect_equal "$host: the first bytes" "$before" "$(hash_of "moved-$host")"
	# Written by one, edited by hand, undone by the other.
	"$berm" setup "$host" --file="moved-$host" --write >"$scratch/log"
	sed -i 's/a\(["=:]*\) *1/a\1 2/' "moved-$host"
	expect_status "$host: taken back by another berm" 0 "$moved" setup "$host" --file="moved-$host" --undo
	expect_status "$host: nothing is left" 1 grep -q 'prefix/' "moved-$host"
	expect "$host: the change is" grep -q 'a["=:]* 2' "moved-$host"
done

# Not from inside, and not by an incomplete installation.
expect_status "the control: BERM=1 outside has no effect" 0 env BERM=1 "$berm" setup vscode --file=x.json --write
"$berm" setup vscode --file=x.json --undo >"$scratch/log"
expect_status "not from inside" 125 "$berm" run --project="$files" --allow-read="$scratch/prefix" -- "$berm" setup vscode --file=x.json --write
expect_contains "which is said" "this is a sandbox" "$err"
rm "$shims/bash"
expect_status "a shim is missing" 125 "$berm" setup vscode --file=x.json --write
expect_contains "which is said" "$shims/bash" "$err"
expect "and nothing written" test ! -e x.json
mkdir "$scratch/odd path"
cp "$BERM" "$scratch/odd path/berm"
expect_status "a path that settings cannot carry" 125 "$scratch/odd path/berm" setup codex --print
finish
