# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by script/bench: work inside, against the same work bare, each in a project of its own. Uses its functions and $place.
# shellcheck disable=SC2034,SC2154,SC2016 # variables are shared with script/bench; quotes are for inner shells
is_work=1
work=$place/work
counts=15

as_user() {
	(cd "$work" && "${prefix[@]}" "$@")
}

# A C program of 40 files; no compiler cache.
as_user mkdir build-c
as_user sh -c 'cd build-c && for i in $(seq 40); do
	printf "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int x) { char b[64]; snprintf(b, 64, \"%%d\", x); return atoi(b) + %d; }\n" $i $i >f$i.c
done
{ printf "OBJECTS = "; for i in $(seq 40); do printf "f%d.o " $i; done; printf "\nall: \$(OBJECTS)\n.PHONY: all\n"; } >Makefile'
if command -v make >/dev/null && command -v cc >/dev/null; then
	measure "C build, 40 files" $((counts * 4)) "$work/build-c" --warm-up=1 -- /usr/bin/make -s -B -j2 all
fi

# 20,000 tracked files.
if command -v git >/dev/null; then
	as_user git init -q repository
	as_user sh -c 'cd repository && seq -f d%.0f 400 | xargs mkdir && awk "BEGIN { for (i = 0; i < 20000; i++) print \"d\" i % 400 + 1 \"/f\" i }" | xargs touch &&
		git add -A && git -c user.name=bench -c user.email=bench@example.org commit -qm files && git status >/dev/null'
	measure "git status, 20,000 files" $((counts * 4)) "$work/repository" --warm-up=2 -- /usr/bin/git status --short
	measure "find, 20,000 files" "$counts" "$work/repository" --warm-up=1 -- /usr/bin/find . -name nothing
	measure "grep -r, 20,000 files" "$counts" "$work/repository" --warm-up=1 -- /bin/sh -c 'grep -r nothing d* || true'
fi

if [ -x /usr/bin/python3 ]; then
	measure "python3 -c pass" $((counts * 2)) "$place/small" --warm-up=2 -- /usr/bin/python3 -c pass
fi
if command -v node >/dev/null; then
	measure "node -e 0" $((counts * 2)) "$place/small" --warm-up=2 -- "$(command -v node)" -e 0
fi

# Ten packages from tarballs of this bench's own: no registry is asked.
if command -v npm >/dev/null; then
	as_user mkdir -p npm/packages npm/modules
	as_user sh -c 'cd npm/packages && for i in $(seq 10); do
		mkdir -p p$i/package && printf "{\"name\": \"p%d\", \"version\": \"1.0.0\"}" $i >p$i/package/package.json
		for k in $(seq 50); do echo "module.exports = $k" >p$i/package/f$k.js; done
		tar -C p$i -czf p$i.tgz package
	done'
	as_user sh -c 'cd npm/modules && { printf "{\"name\": \"bench\", \"version\": \"1.0.0\", \"dependencies\": {"; for i in $(seq 10); do
		[ $i -eq 1 ] || printf ", "; printf "\"p%d\": \"file:../packages/p%d.tgz\"" $i $i; done; printf "}}\n"; } >package.json &&
		npm install --offline --no-audit --no-fund --silent >/dev/null'
	measure "npm ci, 10 packages" 7 "$work/npm" --warm-up=1 -- /bin/sh -c 'cd modules && npm ci --offline --no-audit --no-fund --silent'
fi
is_work=
