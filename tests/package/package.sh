#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The .deb in a Debian of its own: it installs, runs, and leaves nothing behind. The tree is made once by debootstrap from the
# mirror that this machine's apt uses, and kept in build/debootstrap; each run works on a copy. Everything is mounted in a
# mount namespace of its own only.
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root" && exit 77; }
. "$(dirname "$0")/support/packages.sh"

for tool in debootstrap unshare apt-get; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$codename" ] || skip "this system's release has no code name"
trees=$BERM_SOURCE_DIR/build/debootstrap
base=$trees/$codename-$(dpkg --print-architecture)

make_base() {
	local mirror
	# shellcheck disable=SC2016 # apt's own placeholders
	mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
		awk -v release="$codename" '$1 == release && $2 == "main" { print $3; exit }')
	[ -n "$mirror" ] || skip "apt knows no mirror of $codename"
	eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
	rm -rf --one-file-system "$base.new"
	mkdir -p "$trees"
	${http_proxy:+env http_proxy="$http_proxy"} ${https_proxy:+env https_proxy="$https_proxy"} \
		unshare --mount --propagation private debootstrap --variant=minbase "$codename" "$base.new" "$mirror" \
		>"$scratch/debootstrap.log" 2>&1 8>&- || skip "debootstrap: $(tail -n 1 "$scratch/debootstrap.log")"
	rm -f "$base.new"/var/cache/apt/archives/*.deb
	mv "$base.new" "$base"
}

[ -d "$base" ] || make_base
tree=$(mktemp -d "$trees/copy.XXXXXX")
trap 'rm -rf --one-file-system "$tree"; clean_up' EXIT
cp -a --reflink=auto "$base/." "$tree"
chmod 755 "$tree"
cp "$deb" "$tree/berm.deb"

inside=$BERM_SOURCE_DIR/tests/package/support/inside.sh
in_chroot=("$inside" chroot "$tree")

listing() {
	find "$tree" -xdev -printf '%y %m %u %P\n' | sort
}

expect "a user" "${in_chroot[@]}" useradd --create-home someone
mkdir "$tree/home/someone/.ssh" "$tree/srv/project"
echo secret >"$tree/home/someone/.ssh/id_ed25519"
"${in_chroot[@]}" chown -R someone: /home/someone
# dpkg begins its records with the first package of its own; what counts is what berm leaves.
expect "a first use of dpkg" "${in_chroot[@]}" dpkg --configure --pending
listing >"$scratch/before"

expect_status "there is no berm yet" 127 "${in_chroot[@]}" sh -c 'berm version'
expect "the package installs" "${in_chroot[@]}" dpkg --install /berm.deb
expect_output "nothing is missing or changed" "" "${in_chroot[@]}" dpkg --verify berm
expect "it installs over itself" "${in_chroot[@]}" dpkg --install /berm.deb
expect_status "berm version" 0 "${in_chroot[@]}" berm version
expect_contains "it is the package's version" "berm $(dpkg-deb -f "$deb" Version)" "$out"
expect_output "the completions load" "complete -F _berm berm" \
	"${in_chroot[@]}" bash -c '. /usr/share/bash-completion/completions/berm && complete -p berm'

# A chroot may not make user namespaces: that is said, and nothing runs.
expect_status "in a chroot it refuses" 125 "${in_chroot[@]}" berm run --project=/srv/project -- touch /srv/project/ran
expect_contains "in a chroot it says why" chroot "$err"
expect "in a chroot nothing runs" test ! -e "$tree/srv/project/ran"

for who in root user; do
	as=("$inside" "$who" "$tree")
	expect_output "$who: a command" "inside" "${as[@]}" berm run -- echo inside
	expect_output "$who: its project is writable" "written" "${as[@]}" sh -c 'berm run -- sh -c "echo written >file" && cat file'
	expect_status "$who: the exit status" 7 "${as[@]}" berm run -- sh -c 'exit 7'
	expect_output "$who: the secret: the control" secret "${as[@]}" cat /home/someone/.ssh/id_ed25519
	expect_status "$who: the secret" 1 "${as[@]}" berm run -- cat /home/someone/.ssh/id_ed25519
	expect_equal "$who: nothing of it is shown" "" "$out"
	expect_status "$who: the plan" 0 "${as[@]}" berm plan
done

expect "the package is removed" "${in_chroot[@]}" dpkg --purge berm
expect_status "berm is gone" 127 "${in_chroot[@]}" sh -c 'berm version'
listing >"$scratch/after"
expect_equal "nothing is left" "" "$(diff "$scratch/before" "$scratch/after")"

finish
