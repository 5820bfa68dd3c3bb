# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of packages share: a release build in $packages and the static one in build/static, kept for the next run, and the
# paths of what cpack makes of them.
: "${BERM_SOURCE_DIR:?the top of the source tree}"
# shellcheck source=../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

packages=$BERM_SOURCE_DIR/build/package
static=$BERM_SOURCE_DIR/build/static

skip() {
	echo "skipped: $*"
	exit 77
}

make_packages() {
	cmake -S "$BERM_SOURCE_DIR" -B "$packages" -DCMAKE_BUILD_TYPE=Release -DBERM_TESTS=OFF &&
		cmake --build "$packages" --parallel 2 &&
		"$BERM_SOURCE_DIR/script/build" static &&
		rm -f "$packages"/*.deb* "$static"/*.tar.gz* &&
		(cd "$packages" && cpack) && (cd "$static" && cpack)
}

for tool in dpkg-deb dpkg-shlibdeps musl-gcc; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
mkdir -p "$packages"
# Two tests need the packages at the same time; the second waits.
exec 8>"$packages/.lock"
flock 8
if ! make_packages >"$scratch/packages.log" 2>&1 8>&-; then
	cat "$scratch/packages.log"
	echo "the packages were not made"
	exit 1
fi
deb=$(echo "$packages"/berm_*.deb)
archive=$(echo "$static"/berm-*.tar.gz)
cp "$deb" "$archive" "$deb.sha256" "$archive.sha256" "$scratch"
deb=$scratch/${deb##*/}
archive=$scratch/${archive##*/}
exec 8>&-
