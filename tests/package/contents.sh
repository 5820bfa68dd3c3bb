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
		share/berm/berm.schema.json share/berm/apparmor/berm libexec/berm/plugins/opencode.js; do
		expect "$1: $file" test -s "$2/$file"
	done
	for file in bin/berm-sh libexec/berm/shims/{bash,zsh,sh,dash,fish,debug/bash,debug/berm-node}; do
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
expect_equal "the .deb has two scripts and no configuration files" "control md5sums postinst prerm" \
	"$(dpkg-deb --ctrl-tarfile "$deb" | tar -t | sed 's#^\./##; /^$/d' | sort | tr '\n' ' ' | sed 's/ $//')"
version=$(dpkg-deb -f "$deb" Version)
run "$scratch/deb/usr/bin/berm" version
expect_contains "the .deb's version is the program's" "berm $version" "$out"

for package in "$deb" "$archive"; do
	(cd "$scratch" && sha256sum --quiet --check "$package.sha256") >"$scratch/sum.log" 2>&1
	expect_equal "${package##*/}: its checksum ($(cat "$scratch/sum.log"))" 0 "$?"
	echo x >>"$package"
	# shellcheck disable=SC2016 # for the inner shell
	expect_status "${package##*/}: another file has another" 1 sh -c 'cd "$1" && sha256sum --check "$2"' sh "$scratch" "$package.sha256"
	truncate --size=-2 "$package"
done

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

# Recipes for other systems: what their own programs can check without a network. Each is checked
# where its program is installed.
recipes=$BERM_SOURCE_DIR/packaging
expect "the PKGBUILD is a shell script" bash -n "$recipes/arch/PKGBUILD"
if command -v makepkg >/dev/null; then
	mkdir "$scratch/arch"
	cp "$recipes/arch/PKGBUILD" "$scratch/arch"
	chmod 755 "$scratch"
	as_user=(env -i HOME="$scratch/arch" PATH=/usr/bin:/bin)
	# makepkg refuses root.
	if [ "$(id -u)" = 0 ]; then
		chown -R nobody:nogroup "$scratch/arch"
		as_user=(setpriv --reuid=nobody --regid=nogroup --clear-groups "${as_user[@]}")
	fi
	cd "$scratch/arch" || exit 1
	# Debian's makepkg fails for every PKGBUILD on some systems.
	printf "pkgname=x\npkgver=1\npkgrel=1\narch=(any)\npackage() { :; }\n" >least
	run "${as_user[@]}" makepkg -p least --printsrcinfo
	if [ "$status" = 0 ]; then
		expect_status "makepkg reads the PKGBUILD" 0 "${as_user[@]}" makepkg --printsrcinfo
		expect_contains "with the project's version" "pkgver = $version" "$out"
		sed -i 's/^pkgrel=.*/pkgrel=first/' PKGBUILD
		run "${as_user[@]}" makepkg --printsrcinfo
		expect "and refuses a wrong one" test "$status" != 0
	else
		echo "makepkg does not work here: the PKGBUILD is only parsed by bash"
	fi
	cd "$scratch" || exit 1
fi
if command -v nix-instantiate >/dev/null; then
	expect "nix parses its recipe" env HOME="$scratch" NIX_STATE_DIR="$scratch/nix" nix-instantiate --parse "$recipes/nix/package.nix"
	expect_contains "with the project's version" "version = \"$version\"" "$(cat "$recipes/nix/package.nix")"
fi
if command -v ruby >/dev/null; then
	expect "the formula is Ruby" ruby -wc "$recipes/homebrew/berm.rb"
fi
expect_contains "the formula has the project's version" "berm-$version.tar.gz" "$(cat "$recipes/homebrew/berm.rb")"

finish
