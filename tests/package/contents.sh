#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What is in the packages and in an installed tree. Needs no root: nothing is installed on this machine.
. "$(dirname "$0")/support/packages.sh"

# below DIRECTORY: its files, one a line, sorted.
below() {
	(cd "$1" && find . -type f | sed 's#^\./##' | sort)
}

# holds NAME DIRECTORY: what every way of installing has to bring.
holds() {
	local file
	for file in bin/berm share/bash-completion/completions/berm share/fish/vendor_completions.d/berm.fish \
		share/berm/berm.schema.json share/berm/apparmor/berm; do
		expect "$1: $file" test -s "$2/$file"
	done
	for file in bin/berm-sh libexec/berm/shims/{bash,zsh,sh,dash,fish}; do
		expect "$1: $file leads to the program" test "$(readlink -f "$2/$file")" = "$(readlink -f "$2/bin/berm")"
		expect_equal "$1: $file, wherever the tree lies" "" "$(readlink "$2/$file" | grep '^/')"
	done
	expect "$1: the schema is the program's own" cmp "$2/share/berm/berm.schema.json" <("$2/bin/berm" policies --schema)
	expect_equal "$1: bash completions are the program's own" "$("$2/bin/berm" completions bash)" \
		"$(cat "$2/share/bash-completion/completions/berm")"
	expect_equal "$1: nothing that others could write" "" "$(find "$2" -perm /022 ! -type l)"
	expect_equal "$1: nothing that others cannot read" "" "$(find "$2" ! -perm -004)"
}

# Another umask must not reach what is packed.
umask 022
mkdir "$scratch/prefix" "$scratch/deb" "$scratch/archive"
expect "cmake --install" cmake --install "$packages" --prefix "$scratch/prefix"
holds "an installed tree" "$scratch/prefix"
for file in share/man/man1/berm.1 share/zsh/site-functions/_berm share/doc/berm/LICENSE; do
	expect "an installed tree: $file" test -s "$scratch/prefix/$file"
done

expect "the archive unpacks" tar -C "$scratch/archive" -xzf "$archive"
unpacked=$(echo "$scratch"/archive/*)
holds "the archive" "$unpacked"
expect_equal "the archive's program needs nothing of the system it runs on" "" "$(readelf -lW "$unpacked/bin/berm" | grep INTERP)"
expect_equal "the archive is the installed tree" "$(below "$scratch/prefix")" "$(below "$unpacked")"

expect "the .deb unpacks" dpkg-deb -x "$deb" "$scratch/deb"
holds "the .deb" "$scratch/deb/usr"
for file in share/man/man1/berm.1.gz share/zsh/vendor-completions/_berm share/doc/berm/copyright share/doc/berm/changelog.gz; do
	expect "the .deb: $file" test -s "$scratch/deb/usr/$file"
done
expect_equal "the .deb: nothing outside /usr" "usr" "$(ls "$scratch/deb")"
expect_contains "the .deb depends on its libraries" "libc6 (>= " "$(dpkg-deb -f "$deb" Depends)"
expect_equal "the .deb's section" utils "$(dpkg-deb -f "$deb" Section)"
expect_equal "the .deb has no scripts and no configuration files" "control md5sums" \
	"$(dpkg-deb --ctrl-tarfile "$deb" | tar -t | sed 's#^\./##; /^$/d' | sort | tr '\n' ' ' | sed 's/ $//')"
version=$(dpkg-deb -f "$deb" Version)
run "$scratch/deb/usr/bin/berm" version
expect_contains "the .deb's version is the program's" "berm $version" "$out"

if command -v lintian >/dev/null; then
	expect_output "lintian has no complaint" "" lintian --allow-root "$deb"
fi
if command -v apparmor_parser >/dev/null; then
	profile=$scratch/profile
	cp "$BERM_SOURCE_DIR/packaging/apparmor/berm" "$profile"
	# userns and the flag came with AppArmor 4.0; an older parser can read the rest.
	if [ ! -e /etc/apparmor.d/abi/4.0 ]; then
		sed -i 's#<abi/4.0>#<abi/3.0>#; s# flags=(unconfined)##; /^  userns,$/d' "$profile"
	fi
	expect "the AppArmor profile parses" apparmor_parser --skip-kernel-load --skip-cache "$profile"
	sed -i 's/^}/nonsense/' "$profile"
	expect_status "a broken one does not" 1 apparmor_parser --skip-kernel-load --skip-cache "$profile"
fi
expect "the PKGBUILD is a shell script" bash -n "$BERM_SOURCE_DIR/packaging/arch/PKGBUILD"

finish
