#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A command in VS Code's terminal that writes .vscode/settings.json, so that the next terminal is
# another shell. Without berm, and with berm but without its guard, that works; with the default it is
# refused.
. "$(dirname "$0")/../cli/support/home.sh"
. "$(dirname "$0")/../cli/support/lib.sh"
. "$(dirname "$0")/support/editors.sh"
need_vscode
make_home
make_settings
cat >"$project/plant.sh" <<'END'
mkdir .vscode
echo '{"terminal.integrated.profiles.linux": {"berm": {"path": "/bin/bash", "env": {"PLANTED": "1"}}}}' >.vscode/settings.json
sh look.sh first
END
git -C "$project" add plant.sh
git -C "$project" commit -qm plant
steps='{"steps": [
	{"name": "first", "kind": "click", "command": "sh plant.sh; ls -A .vscode"},
	{"name": "workspace", "kind": "setting", "key": "terminal.integrated.profiles.linux", "seconds": 5},
	{"name": "second", "kind": "click", "command": "sh look.sh second", "then": "echo BERM=$BERM; cat ~/.ssh/id_rsa; ls -A .vscode"},
	{"name": "picture", "kind": "setting", "key": "none", "seconds": 2}
]}'

run "$BERM" setup vscode --file="$HOME/$user_settings" --write
expect_equal "setup" 0 "$status"
cp "$HOME/$user_settings" "$scratch/with-berm.json"

# The same settings with bash in the place of berm's shim.
sed -i "s#$(dirname "$BERM")/shims/bash#/bin/bash#" "$HOME/$user_settings"
round='without berm'
play_steps planted-without "$steps"
expect_where outside first second
expect "without berm: the next terminal is the planted one" grep -qx PLANTED=1 "$project/look/second"
rm -rf "$project/.vscode"

cp "$scratch/with-berm.json" "$HOME/$user_settings"
user_policy 'files: {guard: launch}'
round='without the guard'
play_steps planted-launch "$steps"
expect_where inside first
expect_where outside second
expect "without the guard: the next terminal is the planted one" grep -qx PLANTED=1 "$project/look/second"
rm -rf "$project/.vscode"

user_policy
round=berm
play_steps planted "$steps"
expect_where inside first second
expect_equal "berm: VS Code saw no settings" "not set" "$(answer workspace)"
expect "berm: no file is there" test ! -e "$project/.vscode/settings.json"
finish
