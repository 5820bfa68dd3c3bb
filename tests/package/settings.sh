#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The settings that `berm setup` prints, asked of others: those of VS Code of a schema of its documented keys (with ajv, as in schema.sh), the JSON ones of
# a parser that is not ours, and all of them of the guides in docs/hosts, which have to show the same.
: "${BERM:?the binary}" "${BERM_SOURCE_DIR:?the top of the source tree}"
# shellcheck source=../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

guides=$BERM_SOURCE_DIR/docs/hosts
# shellcheck source=../cli/support/npm-packages.sh
. "$BERM_SOURCE_DIR/tests/cli/support/npm-packages.sh"
npm_packages schema-8-2 ajv@8 yaml@2

cat >"$scratch/validate.cjs" <<'EOF2'
const fs = require("fs");
const [, , modules, schema, file, change] = process.argv;
const Ajv = require(modules + "/node_modules/ajv/dist/2020").default;
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(JSON.parse(fs.readFileSync(schema)));
const settings = JSON.parse(fs.readFileSync(file, "utf8"));
if (change)
	eval(change);
const system = Object.keys(settings).some((key) => key.endsWith(".osx")) ? "osx" : "linux";
const profiles = settings[`terminal.integrated.profiles.${system}`] || {};
console.log(validate(settings) && settings[`terminal.integrated.defaultProfile.${system}`] in profiles ? "valid" : "invalid");
EOF2
# shellcheck disable=SC2317
validate() {
	node "$scratch/validate.cjs" "$modules" "$BERM_SOURCE_DIR/tests/package/vscode.schema.json" "$scratch/vscode.json" "$@"
}
"$BERM" setup vscode --print >"$scratch/vscode.json"
expect_output "VS Code's settings are valid" valid validate
# The schema can say no.
profile='settings["terminal.integrated.automationProfile.linux"]'
for change in "$profile.path = 5" "$profile.shell = 'x'" "delete $profile.path" "$profile.path = 'bash'" "$profile.args = '-l'" \
	'settings["terminal.integrated.defaultProfile.linux"] = "other"' 'settings["terminal.integrated.shell.linux"] = "/bin/sh"'; do
	expect_output "refused: $change" invalid validate "$change"
done
for host in claude-code codex gemini opencode cursor vscode zed; do
	"$BERM" setup "$host" --print >"$scratch/$host.json"
	expect "$host: another parser reads it" node -e 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))' "$scratch/$host.json"
done

# The guides speak of berm in /usr, as packages install it.
directory=${BERM%/*}
in_usr() {
	sed "s#$directory/shims#/usr/libexec/berm/shims#g; s#$directory/plugins#/usr/libexec/berm/plugins#g; s#$directory/berm#/usr/bin/berm#g"
}
"$BERM" setup --json >"$scratch/hosts.json"
hosts=
while IFS='|' read -r host label; do
	hosts="$hosts${hosts:+ }$host"
	guide=$guides/$host.md
	expect "$host: has a guide" test -s "$guide"
	expect "$host: is in the index" grep -q "($host.md)" "$guides/README.md"
	expect "$host: the guide's label" grep -qF "**$label**" "$guide"
	expect "$host: the index's label" grep -qF "($host.md) | $label |" "$guides/README.md"
	expect_equal "$host: the guide's settings" "$("$BERM" setup "$host" --print | in_usr)" \
		"$(awk '/^<!-- settings -->$/ { on = 1; next } on && /^```/ { fence++; if (fence == 2) exit; next } on && fence == 1' "$guide")"
	for heading in "1. " "2. " "3. "; do
		expect "$host: step $heading" grep -q "^$heading" "$guide"
	done
	expect "$host: how to see that it works" grep -qi "see that it works" "$guide"
done < <(node -e 'for (const h of JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")).hosts) console.log(h.host + "|" + h.label)' "$scratch/hosts.json")
expect_equal "every host was looked at" 16 "$(wc -w <<<"$hosts")"
expect_equal "no guide without a host" "$(tr ' ' '\n' <<<"$hosts" | sort)" \
	"$(cd "$guides" && printf '%s\n' *.md | sed '/^README.md$/d; s/\.md$//' | sort)"
# The completions and the table have the same hosts.
expect_equal "the words of the command line" "$hosts" "$("$BERM" completions bash | tr '\n' ' ' | grep -o 'claude-code codex[a-z -]*mcp' | head -n 1)"
finish
