#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The commands and policies in README.md and the task pages of docs/ work as printed. A page is
# tested unless it is in the list of reference pages below.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
: "${BERM_SOURCE_DIR:?the top of the source tree}"

for tool in python3 git node npm make; do
	command -v "$tool" >/dev/null || { echo "$tool is needed"; exit 77; }
done

# Reference pages: formats, measurements, mechanisms. Their examples are excerpts.
reference='decisions doctor-json filter macos performance plan-json planting tiers work'
pages=("$BERM_SOURCE_DIR/README.md")
for page in "$BERM_SOURCE_DIR"/docs/*.md; do
	name=${page##*/}
	case " $reference " in *" ${name%.md} "*) continue ;; esac
	pages+=("$page")
done

cd / || exit 1
move_home
PATH=$(dirname "$BERM"):$PATH
export PATH
unset npm_config_registry
documents() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$support/documents.py" "$home" "$support/documents-fixture.sh" "$@"
}

# page TEXT: checks a page with this text, with the status of the check in $status and its words in $out.
page() {
	printf '%b\n' "$1" >"$scratch/page.md"
	run documents "$scratch/page.md"
}
# wrong NAME TEXT: a fault that the check must find.
wrong() {
	page "$2"
	expect_equal "a fault is found: $1" "1 page.md:" "$status $(grep -o 'page\.md:' <<<"$out" | head -n 1)"
}

page '```console\n$ berm run -- echo hi\nhi\n$ berm run -- cat .env\ncat: .env: Permission denied\nberm: a file that this command may need is hidden (.env): berm why\n```'
expect_equal "a page that is right ($out)" 0 "$status"
page '```console\n$ berm plan\n...\nGuarantees\n...\n```'
expect_equal "with lines left out ($out)" 0 "$status"
wrong "another output" '```console\n$ berm run -- echo hi\nho\n```'
wrong "a missing line" '```console\n$ berm run -- printf "a\\nb\\n"\na\n```'
wrong "a command that fails" '```console\n$ berm nonsense\n```'
wrong "a script that fails" '```sh\nberm run -- false\ntrue\n```'
wrong "an unknown option" '```sh\nberm run --nonsense -- true\n```'
wrong "an unknown key" '```yaml\nversion: 1\nfiles: {denny: [x]}\n```'
wrong "no reason" '<!-- not run: -->\n```sh\nsudo true\n```\n```sh\ntrue\n```'
wrong "an unknown reason" '<!-- not run: I do not like it -->\n```sh\ntrue\n```\n```sh\ntrue\n```'
wrong "an indented block" 'text\n\n    berm plan\n\n```sh\ntrue\n```'
wrong "a block without a kind" '```\nberm plan\n```\n```sh\ntrue\n```'
wrong "a transcript as text" '```text\n$ berm plan\n```\n```sh\ntrue\n```'
wrong "no end" '```sh\ntrue\n```\n```sh\ntrue'

# One page at a time, so that a failure names it.
for page in "${pages[@]}"; do
	name=${page#"$BERM_SOURCE_DIR/"}
	run documents "$page"
	case $out in
	*"0 blocks run, "*" 0 wrong") pass ;; # an index
	*) expect_equal "$name: $out $err" 0 "$status" ;;
	esac
done

# Every link to a file of this repository leads somewhere.
for page in "${pages[@]}" "$BERM_SOURCE_DIR"/docs/*.md; do
	grep -oE '\]\([A-Za-z0-9._/-]+' "$page" | cut -c3- | sort -u | while read -r target; do
		[ -e "$(dirname "$page")/$target" ] || echo "${page##*/}: $target"
	done
done >"$scratch/dead"
expect_equal "no dead links" "" "$(cat "$scratch/dead")"

# unlisted DIRECTORY: pages of the directory that its index does not list.
unlisted() {
	local page
	for page in "$1"/*.md; do
		page=${page##*/}
		[ "$page" = README.md ] || grep -qF "](${page}" "$1/README.md" || echo "$page"
	done
}
expect_equal "every page is in the index" "" "$(unlisted "$BERM_SOURCE_DIR/docs")"
expect_equal "every host is in its index" "" "$(unlisted "$BERM_SOURCE_DIR/docs/hosts")"
mkdir "$scratch/index" && cp "$BERM_SOURCE_DIR/docs/README.md" "$scratch/index" && touch "$scratch/index/new.md"
expect_equal "the control: a page that is not" new.md "$(unlisted "$scratch/index")"

# The picture shows what berm prints today.
expect_status "the picture is up to date" 0 "$BERM_SOURCE_DIR/script/render-terminal" --check
mkdir "$scratch/docs"
sed 's/denied/allowed/' "$BERM_SOURCE_DIR/docs/terminal-light.svg" >"$scratch/docs/terminal-light.svg"
sed 's/files.deny/files.allow/' "$BERM_SOURCE_DIR/docs/terminal-dark.svg" >"$scratch/docs/terminal-dark.svg"
expect_status "another one is not" 1 "$BERM_SOURCE_DIR/script/render-terminal" --check "$scratch/docs"
expect_equal "both are named" 2 "$(grep -c 'out of date' <<<"$out")"
finish
