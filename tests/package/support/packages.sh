# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of packages share: a release build with its packages in $packages, kept for the next run, and their paths.
: "${BERM_SOURCE_DIR:?the top of the source tree}"
# shellcheck source=../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

packages=$BERM_SOURCE_DIR/build/package

skip() {
	echo "skipped: $*"
	exit 77
}

make_packages() {
	cmake -S "$BERM_SOURCE_DIR" -B "$packages" -DCMAKE_BUILD_TYPE=Release -DBERM_TESTS=OFF &&
		cmake --build "$packages" --parallel 2 &&
		rm -f "$packages"/*.deb "$packages"/*.tar.gz &&
		(cd "$packages" && cpack)
}

for tool in dpkg-deb dpkg-shlibdeps; do
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
archive=$(echo "$packages"/berm-*.tar.gz)
cp "$deb" "$archive" "$scratch"
deb=$scratch/${deb##*/}
archive=$scratch/${archive##*/}
exec 8>&-
