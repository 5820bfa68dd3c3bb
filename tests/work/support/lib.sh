# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts in tests/work share, on top of the expectations of tests/cli: a home that may be compared, commands inside that
# have to work, and the end, which fails if anything in the real home changed.
#
# berm takes the home from the password database, so a test cannot simply name another one. Root gets a mount namespace in which a
# small home lies over the real one; for other users the real home is compared.

# Programs of the system only: what lies in somebody's home differs from machine to machine.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

if [ "$(id -u)" -eq 0 ] && [ -z "${BERM_WORK_NAMESPACE:-}" ] && unshare --mount true 2>/dev/null; then
	exec env BERM_WORK_NAMESPACE=yes unshare --mount --propagation private bash "$0" "$@"
fi

# shellcheck source=../../cli/support/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../cli/support/lib.sh"

HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
export HOME
has_own_home=false

# What a person has in a home: an identity, keys, tokens, a toolchain.
furnish_home() {
	mkdir -p "$1"/{.ssh,.cargo/bin,.npm,.cache,.config,.local/bin}
	chmod 700 "$1" "$1/.ssh"
	cat >"$1/.gitconfig" <<-'END'
	[include]
		path = .config/identity
	[user]
		name = Ada Example
		email = ada@example.org
	[core]
		pager = false-pager
		excludesFile = ~/.ignored
	[includeIf "gitdir:/**/of-a-client/"]
		path = ~/.config/identity-client
	[includeIf "onbranch:special"]
		path = .config/identity-branch
	[includeIf "gitdir:~/elsewhere/"]
		path = .config/identity-elsewhere
	END
	# The first is overridden, and included again by the second.
	printf '[user]\n\tname = Overridden\n\temail = first@example.org\n[core]\n\tpager = included-pager\n' >"$1/.config/identity"
	printf '[include]\n\tpath = identity\n[user]\n\tname = "For \\"a\\" Client"\n' >"$1/.config/identity-client"
	printf '[user]\n\tname = On A Branch\n' >"$1/.config/identity-branch"
	printf '[user]\n\tname = Secret Identity\n' >"$1/.config/identity-elsewhere"
	echo '*.swp' >"$1/.ignored"
	echo 'key of the host' >"$1/.ssh/id_ed25519"
	# shellcheck disable=SC2016 # as npm writes it
	echo '//registry.example.org/:_authToken=token-of-the-host' >"$1/.npmrc"
	printf '#!/bin/sh\necho toolchain of the home\n' >"$1/.cargo/bin/home-tool"
	chmod 755 "$1/.cargo/bin/home-tool"
	echo 'export FROM_BASHRC=1' >"$1/.bashrc"
}

if [ -n "${BERM_WORK_NAMESPACE:-}" ]; then
	furnish_home "$scratch/home"
	mount --bind "$scratch/home" "$HOME" || exit 1
	has_own_home=true
fi

# A home in which nobody works but these tests is compared as a whole; in a person's home, browsers and editors write all the time, so
# there it is the places that the programs of these tests use.
compared=("$HOME")
if ! $has_own_home && [ "$(id -un)" != berm-tester ]; then
	compared=()
	for place in .cargo .cache/{ccache,go-build,pip} .config/{ccache,git,go,pip} .gitconfig .local/{bin,lib} .m2 .npm .npmrc go; do
		compared+=("$HOME/$place")
	done
fi

# Every name with its inode, mode, owner, size, times and link target. A change of content shows in ctime, which nobody can set.
# berm's own state is elsewhere in these tests; what other runs of berm keep here is none of ours.
home_listing() {
	find "${compared[@]}" -xdev -path "$HOME/.local/state/berm" -prune -o ! -path "$HOME" \
		-printf '%p\t%y\t%i\t%m\t%U:%G\t%s\t%T@\t%C@\t%l\n' 2>/dev/null | sort
}
# The bytes too, where it is small enough to read all of it.
home_content() {
	[ "$(wc -l <"$scratch/home.before")" -lt 2000 ] || return
	find "${compared[@]}" -xdev -path "$HOME/.local/state/berm" -prune -o -type f -print0 2>/dev/null | sort -z |
		xargs -0r sha256sum 2>/dev/null | sha256sum
}
home_listing >"$scratch/home.before"
content_before=$(home_content)

# finish_work: nothing in the real home changed, then the sum.
finish_work() {
	home_listing >"$scratch/home.after"
	if cmp -s "$scratch/home.before" "$scratch/home.after"; then
		pass
	else
		fail "nothing in the real home changed" "$(diff "$scratch/home.before" "$scratch/home.after")"
	fi
	expect_equal "the content of the real home" "$content_before" "$(home_content)"
	finish
}

# need PROGRAM...: or the test is skipped, with the reason.
need() {
	local program
	for program; do
		if ! command -v "$program" >/dev/null; then
			echo "$program is not installed; script/setup --test installs it"
			exit 77
		fi
	done
}

# inside COMMAND...: in the sandbox, with BERM_OPTIONS.
inside() {
	"$BERM" run "${BERM_OPTIONS[@]}" -- "$@"
}

# works NAME COMMAND...: it succeeds inside. $out and $err are what it printed.
works() {
	local name=$1
	shift
	status=0
	timeout --foreground 120 "$BERM" run "${BERM_OPTIONS[@]}" -- "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	out=$(tr -d '\0' <"$scratch/out")
	err=$(tr -d '\0' <"$scratch/err")
	if [ "$status" = 0 ]; then
		pass
	else
		fail "$name" "status $status of: $*
stdout: $(tail -n 15 <<<"$out")
stderr: $(tail -n 25 <<<"$err")"
	fi
}

# works_sh NAME SCRIPT [ARGUMENT...]: the same for a shell script that ends at the first failure. In it, `never COMMAND...` ends it if the
# command succeeds; `! command` would not.
works_sh() {
	local name=$1 script=$2
	shift 2
	works "$name" bash -euo pipefail -c 'never() { if "$@" 2>/dev/null; then echo "it worked: $*" >&2; exit 1; fi; }
'"$script" bash "$@"
}

# refused NAME PART COMMAND...: it fails inside, with PART in what it says; the host's state is for the caller to look at.
refused() {
	local name=$1 part=$2
	shift 2
	run "$BERM" run "${BERM_OPTIONS[@]}" -- "$@"
	if [ "$status" = 0 ]; then
		fail "$name" "it succeeded: $*"
	else
		expect_contains "$name" "$part" "$err"
	fi
}

# milliseconds COMMAND...: how long it takes, in $elapsed; its output is dropped.
milliseconds() {
	local start end
	start=$(date +%s%N)
	"$@" >/dev/null 2>&1 || fail "measured command" "$*"
	end=$(date +%s%N)
	elapsed=$(((end - start) / 1000000))
}

# private_home: the directory on the host that the command has for a home.
private_home() {
	"$BERM" state path "${BERM_OPTIONS[@]}" | sed -n 's/^home //p'
}

# The host's git, with an identity of its own: the user may have none.
host() {
	git -c user.name='Host User' -c user.email=host@example.org -c init.defaultBranch=main -c commit.gpgSign=false \
		-c protocol.file.allow=always "$@"
}

# locked_content GIT-DIRECTORY: what the host's git would execute or obey, as hashes. gc may leave info/refs.
locked_content() {
	find "$1"/{config,hooks,info} -type f ! -name refs -exec sha256sum {} + | sort
}
