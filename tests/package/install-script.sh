#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# script/install: installs below a prefix, replaces an older installation, removes exactly its own
# files, and leaves the modes of directories and other files alone.
: "${BERM_SOURCE_DIR:?the top of the source tree}"
# shellcheck source=../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

install=$BERM_SOURCE_DIR/script/install
prefix="$scratch/a prefix"
mkdir -p "$prefix/bin"
chmod 700 "$prefix"
echo other >"$prefix/bin/other"

# Builds first, which takes longer than expectations wait.
if ! command -v musl-gcc >/dev/null || ! "$BERM_SOURCE_DIR/script/build" static; then
	"$BERM_SOURCE_DIR/script/build" release
fi

expect_status "--help" 0 "$install" --help
expect_contains "shows the usage" "--uninstall" "$out"
expect_status "an unknown option" 2 "$install" --nonsense
expect_status "nothing to uninstall" 1 "$install" --uninstall --prefix="$prefix"
expect_contains "is said" "nothing was installed" "$err"

expect_status "install" 0 "$install" --prefix="$prefix"
expect_contains "names the program" "$prefix/bin/berm" "$out"
if command -v musl-gcc >/dev/null; then
	expect_contains "the static one, where it can be built" "the static build" "$out"
fi
expect_contains "says that PATH lacks it" "is not in PATH" "$out"
expect_contains "ends with doctor" "Guarantees" "$out"
expect_status "the program runs" 0 "$prefix/bin/berm" version
expect_status "and its shell" 0 "$prefix/bin/berm-sh" -c true
expect_equal "the prefix keeps its mode" 700 "$(stat -c %a "$prefix")"

inode=$(stat -c %i "$prefix/bin/berm")
exec 7<"$prefix/bin/berm"
expect_status "install again" 0 "$install" --prefix="$prefix"
expect "a running program keeps its file" test "$(stat -c %i "$prefix/bin/berm")" != "$inode"
exec 7<&-

echo "/etc/passwd" >>"$prefix/share/berm/installed-files"
expect_status "a damaged list" 1 "$install" --uninstall --prefix="$prefix"
expect "removes nothing" test -e /etc/passwd -a -e "$prefix/bin/berm"
expect_status "install after that" 0 "$install" --prefix="$prefix"
expect_status "uninstall" 0 "$install" --uninstall --prefix="$prefix"
expect_equal "only other files are left" "bin/other" "$(cd "$prefix" && find . -type f -o -type l | sed 's#^\./##')"
expect "empty directories are gone" test ! -e "$prefix/share"

finish
