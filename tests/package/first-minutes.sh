#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The five commands under "Install" in README.md, in a home without anything. `git clone` is replaced
# by a directory whose script/install is that of this tree, so that nothing is compiled twice; with
# BERM_LONG=1 it clones this repository and builds it.
: "${BERM_SOURCE_DIR:?the top of the source tree}"
# shellcheck source=../cli/support/home.sh
. "$BERM_SOURCE_DIR/tests/cli/support/home.sh"
# shellcheck source=../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

cd / || exit 1
move_home
bash -eu "$BERM_SOURCE_DIR/tests/cli/support/documents-fixture.sh" "$home"
mkdir "$home/your" "$home/bin"
mv "$home/app" "$home/your/project"
awk '/^```sh$/ { block = ""; is_in = 1; next } /^```$/ { if (block ~ /script\/install/) { printf "%s", block; exit } is_in = 0 }
	is_in { block = block $0 "\n" }' "$BERM_SOURCE_DIR/README.md" >"$scratch/commands"
expect_equal "five commands" 5 "$(wc -l <"$scratch/commands")"
expect_equal "the first one clones" 1 "$(sed -n 1p "$scratch/commands" | grep -c '^git clone https://.*/berm\.git$')"
# Root's default is /usr/local, which is the machine's.
to_home=()
if [ "$(id -u)" = 0 ]; then
	to_home=(--prefix="$home/.local")
	sed -i "2s|\$| --prefix=$home/.local|" "$scratch/commands"
fi

# Comes before the real one in PATH for the first command.
cat >"$home/bin/git" <<END
#!/bin/sh
PATH=\${PATH#*:}
export PATH
if [ "\$1" != clone ]; then
	exec git "\$@"
elif [ -n "${BERM_LONG:-}" ]; then
	exec git clone -q "file://$BERM_SOURCE_DIR" berm
fi
mkdir -p berm/script
printf '#!/bin/sh\nexec "%s/script/install" "\$@"\n' "$BERM_SOURCE_DIR" >berm/script/install
chmod 755 berm/script/install
END
chmod 755 "$home/bin/git"

cd "$home" || exit 1
patience=500
PATH=$home/bin:/usr/local/bin:/usr/bin:/bin expect_status "the five commands" 0 bash -eu "$scratch/commands"
expect_contains "install ends with doctor" "Guarantees" "$out"
expect_equal "the last line is the project's test" "1 test passed" "$(tail -n 1 "$scratch/out")"
expect "berm is in ~/.local" test -x "$home/.local/bin/berm"
cd "$home/your/project" || exit 1
expect_status "a secret: the control" 0 cat .env
expect_status "a secret" 1 "$home/.local/bin/berm" run -- cat .env
cd "$home" || exit 1
expect_status "uninstall" 0 berm/script/install --uninstall "${to_home[@]}"
expect "berm is gone" test ! -e "$home/.local/bin/berm"
finish
