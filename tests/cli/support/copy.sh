# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Shared by the tests of copies, after lib.sh: a real overlay over the project, with its upper directory where berm keeps copies.
# shellcheck disable=SC2154 # scratch, project and the like come from lib.sh

# The state of the project is not in berm's way until its directory exists.
home=$("$BERM" state path | sed -n 's/^home //p')
state=${home%/*/home}
mkdir -p -m 700 "$XDG_STATE_HOME"
(umask 077 && mkdir -p "$state/copies")

# copy_begin NAME: what a run prepares: upper, work and the baseline, which is over before the command starts.
copy_begin() {
	local copy=$state/copies/$1
	(umask 077 && mkdir -p "$copy")
	[ -d "$copy/upper" ] || mkdir -m "$(stat -c %a "$project")" "$copy/upper"
	chmod -R u+rwx "$copy/work" 2>/dev/null
	rm -rf "$copy/work"
	mkdir "$copy/work"
	if [ ! -e "$copy/base" ]; then
		: >"$copy/base"
		sleep 0.03
	fi
}

# in_copy NAME COMMAND...: runs a command with the project as an overlay, in its own namespaces.
in_copy() {
	local copy=$state/copies/$1
	copy_begin "$1"
	shift
	COPY=$copy PROJECT=$project unshare --user --map-root-user --mount bash -c '
		mount -t overlay -o "lowerdir=$PROJECT,upperdir=$COPY/upper,workdir=$COPY/work,userxattr,volatile" overlay "$PROJECT" &&
			cd "$PROJECT" && "$@"' bash "$@"
	local status=$?
	chmod -R u+rwx "$copy/work" 2>/dev/null
	rm -rf "$copy/work"
	return "$status"
}

# Prints the content of a tree: paths, types, modes, targets and contents.
tree_of() {
	(cd "$1" && find . -mindepth 1 ! -path './.berm-*' \( -type f -printf '%P f %m ' -exec sha256sum {} \; -o -type l -printf '%P l %l\n' \
		-o -printf '%P %y %m\n' \) | sed 's/  .*//' | LC_ALL=C sort)
}

if ! in_copy probe true 2>/dev/null; then
	echo "skipped: no overlay in a user namespace on this machine"
	exit 77
fi
rm -rf "$state/copies/probe"
