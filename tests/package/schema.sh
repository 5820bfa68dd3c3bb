#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The shipped JSON Schema and berm's own parser, asked about the same policies: a validator from npm (ajv, draft 2020-12) must take what
# berm takes and refuse what berm refuses. What only berm can see (duplicate keys, anchors, the meaning of paths) is not in the lists.
: "${BERM:?the binary}" "${BERM_SOURCE_DIR:?the top of the source tree}"
# shellcheck source=../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

cases=$BERM_SOURCE_DIR/tests/package/schema

# shellcheck source=../cli/support/npm-packages.sh
. "$BERM_SOURCE_DIR/tests/cli/support/npm-packages.sh"
npm_packages schema-8-2 ajv@8 yaml@2

cat >"$scratch/validate.cjs" <<'EOF'
const fs = require("fs");
const [, , modules, schema, ...files] = process.argv;
const Ajv = require(modules + "/node_modules/ajv/dist/2020").default;
const yaml = require(modules + "/node_modules/yaml");
const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(JSON.parse(fs.readFileSync(schema)));
for (const file of files)
	console.log((validate(yaml.parse(fs.readFileSync(file, "utf8"))) ? "valid " : "invalid ") + file.replace(/.*\//, ""));
EOF

"$BERM" policies --schema >"$scratch/schema.json"
expect "the schema compiles" node "$scratch/validate.cjs" "$modules" "$scratch/schema.json"

# agrees WORD DIRECTORY: the validator's word on each file, and berm's own (125: it refuses the policy).
agrees() {
	local file answer status verdict
	for file in "$2"/*.yml; do
		answer=$(node "$scratch/validate.cjs" "$modules" "$scratch/schema.json" "$file")
		expect_equal "schema: ${file##*/}" "$1 ${file##*/}" "$answer"
		status=0
		(cd "$project" && "$BERM" check --policy="$file" env X >/dev/null 2>"$scratch/errors") || status=$?
		verdict=valid
		[ "$status" -ne 125 ] || verdict=invalid
		expect_equal "berm: ${file##*/}" "$1" "$verdict"
	done
}

agrees valid "$cases/good"
agrees invalid "$cases/bad"

# Every built-in policy is a policy.
for name in $("$BERM" policies | awk '/^  [a-z]/ { print $1 }'); do
	"$BERM" policies --show="$name" >"$scratch/$name.yml"
	expect_equal "built-in $name" "valid $name.yml" \
		"$(node "$scratch/validate.cjs" "$modules" "$scratch/schema.json" "$scratch/$name.yml")"
done
finish
