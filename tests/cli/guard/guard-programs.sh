#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real programs with `--strict`, bare and inside: the same exit status, the same output and the same tree (type, mode, path, link target,
# number of links of files), except for what the guard refuses on purpose. BERM_LONG=1 adds the slow ones; BERM_PROGRAMS="tar cp" selects.
. "$(dirname "$0")/../support/lib.sh"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022

if ! "$BERM" run --strict -- true 2>"$scratch/err"; then
	echo "the guard cannot be had here: $(head -n 1 "$scratch/err")"
	exit 77
fi

# Both runs of a program start with this. The home is new and empty. Dates are fixed, so that git's objects are the same.
prologue='HOME=$(mktemp -d); export HOME; trap "chmod -R u+rwX \"$HOME\"; rm -rf \"$HOME\"" EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z"
unset PYTHONDONTWRITEBYTECODE
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e@example.org GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e@example.org LC_ALL=C
'

# The project: a repository with two branches, sources, a subproject that a host obeys, links, and things to copy.
make_project() {
	mkdir -p src/deep/er docs packages/a/.vscode packages/a/lib packages/b things/sub
	echo '{}' >packages/a/.vscode/tasks.json
	for i in 1 2 3 4 5 6 7 8; do
		echo "text $i" | tee "src/$i.c" "src/deep/$i.h" "packages/a/lib/$i" >/dev/null
	done
	ln -s deep src/to-deep
	ln -s ../../packages/a src/deep/to-a
	ln -s ../absent docs/dangling
	echo run >things/sub/program
	ln things/sub/program things/hard
	mkfifo things/fifo
	chmod 755 things/sub/program
	chmod 600 things/hard
	mkdir -m 2775 things/set-gid
	mkdir -m 1777 things/sticky
	chmod 750 things/sub
	printf '/things/\n/out/\n/packages/a/.vscode/\n' >.gitignore
	bash -euc "$prologue"'
	git init -q -b main .; git config pack.threads 1; git config protocol.file.allow always; git config gc.auto 0
	git add .; git commit -qm one
	git checkout -q -b side; echo side >src/1.c; git mv src/2.c src/deep/two.c; mkdir new; echo n >new/file; git add .; git commit -qm side
	git checkout -q -b settings main; mkdir .vscode; echo "{}" >.vscode/tasks.json; git add -f .vscode; git commit -qm settings
	git checkout -q main; echo main >src/3.c; git commit -qam main'
}
make_project || { echo "the project cannot be made"; exit 1; }
(cd "$scratch" && tar cf project.tar project)

renew() {
	cd "$scratch" && chmod -R u+rwX project && rm -rf project && tar xpf project.tar && cd project || exit 1
}

# Packs are named by their content, which depends on git's threads.
tree() {
	find . -printf '%y %m %P %l\n' | sed -E 's/(pack-|sharedindex\.)[0-9a-f]{40}/\1N/g' | LC_ALL=C sort
	find . -type f -links +1 -printf 'links %n %P\n' | LC_ALL=C sort
	find . -type f ! -path './.git/*' ! -path '*/.git/*' ! -name '*.pyc' ! -name '*-journal' ! -name index -print0 | LC_ALL=C sort -z | xargs -0r sha256sum 2>/dev/null
}

# Root without its capabilities, which it does not have inside.
as_inside=()
if [ "$(id -u)" -eq 0 ]; then
	as_inside=(setpriv --bounding-set=-all --inh-caps=-all)
fi

# bare SCRIPT, strict SCRIPT: from a new project; leaves status, output and tree in files.
bare() {
	renew
	"${as_inside[@]}" timeout --foreground 300 bash -c "$prologue$1" >"$scratch/bare.out" 2>&1
	echo "status $?" >>"$scratch/bare.out"
	tree >"$scratch/bare.tree"
}
strict() {
	renew
	timeout --foreground 300 "$BERM" run --strict "${BERM_OPTIONS[@]}" -- bash -c "$prologue$1" >"$scratch/inside.raw" 2>&1
	echo "status $?" >>"$scratch/inside.raw"
	# Without the lines of berm itself at the end, such as names that are new and obeyed elsewhere.
	grep -v '^berm: ' "$scratch/inside.raw" >"$scratch/inside.out"
	tree >"$scratch/inside.tree"
}

# chosen NAME
chosen() {
	[ -z "${BERM_PROGRAMS:-}" ] || [[ " $BERM_PROGRAMS " == *" $1 "* ]]
}

# alike NAME SCRIPT: no difference.
alike() {
	chosen "$1" || return 0
	bare "$2"
	grep -q '^status 0$' "$scratch/bare.out" || { fail "$1: control" "$(tail -n 5 "$scratch/bare.out")"; return; }
	strict "$2"
	if cmp -s "$scratch/bare.out" "$scratch/inside.out" && cmp -s "$scratch/bare.tree" "$scratch/inside.tree"; then
		pass
	else
		fail "$1" "$(diff "$scratch/bare.out" "$scratch/inside.out" | head -n 20; diff "$scratch/bare.tree" "$scratch/inside.tree" | head -n 20)"
	fi
}

# slow NAME SCRIPT: only with BERM_LONG or if it is chosen by name.
slow() {
	if [ -n "${BERM_LONG:-}${BERM_PROGRAMS:-}" ]; then
		alike "$@"
	fi
}

# refused NAME PART SCRIPT: it works bare, and inside it fails with PART in its output.
refused() {
	chosen "$1" || return 0
	bare "$3"
	grep -q '^status 0$' "$scratch/bare.out" || { fail "$1: control" "$(tail -n 5 "$scratch/bare.out")"; return; }
	strict "$3"
	if grep -q '^status 0$' "$scratch/inside.out"; then
		fail "$1" "it succeeded"
	else
		expect_contains "$1" "$2" "$(cat "$scratch/inside.raw")"
	fi
}

has() {
	command -v "$1" >/dev/null && return
	echo "$1 is not installed; script/setup --test installs it"
	missing=1
	return 1
}
missing=

# Archives and copies: into what exists, into new directories, over existing files.
alike tar 'set -e; mkdir -p out; tar cf out/t.tar src docs packages things; tar xpf out/t.tar -C docs; mkdir out/x; tar xpf out/t.tar -C out/x
	tar xpf out/t.tar -C docs; tar xf out/t.tar --overwrite -C docs; tar xf out/t.tar --unlink-first --recursive-unlink -C docs; tar czf - src | tar xzf - -C out/x --transform s/src/dst/'
alike cp 'set -e; cp -a things out; cp -a things docs/; cp -r src docs; cp -al src out/linked; cp -rs "$PWD/src" out/sym; cp -a --parents src/deep/er docs
	cp --backup=numbered src/1.c src/3.c; cp --remove-destination src/1.c src/4.c; cp -f src/5.c src/6.c; cp -rL src/to-deep out/deref; cp -n src/1.c src/7.c; install -D -m 711 src/1.c out/i/n/s
	cp src/1.c docs/new; cp --attributes-only src/1.c docs/empty; cp --reflink=auto src/1.c docs/ref'
if has rsync; then
	alike rsync 'set -e; rsync -a src things docs/; rsync -aH things/ out/; rsync -a --delete src/ docs/src/; rsync -a --inplace packages/b/ out/b; rsync -ab --suffix=.old src/1.c docs/src/2.c
	rsync -a --link-dest="$PWD/src" src/ out/snapshot; rsync -a --delay-updates src/ docs/delayed; rsync -a --partial-dir=.parts src/ docs/parts'
fi
alike mv 'set -e; mkdir -p new/d out; mv src/1.c .; mv 1.c docs/; mv docs/1.c src/deep/; mv src/deep/1.c new/d/; mv new/d moved; mv moved src/; mv src/moved .; mv moved docs/m; mv docs/m packages/a/lib/m; mv packages/a/lib/m packages/a/
	mv packages/a/m packages/b; mv packages/b b; mv src source; mv source src; mv -T docs papers; mv papers docs; mv -n src/2.c src/3.c; mv -b src/2.c src/3.c; mv src/to-deep docs/; mv things/fifo out/; mv things/sticky out/
	echo x >"$HOME/f"; mv "$HOME/f" out/; mv out/f "$HOME/g"; mv src "$HOME/src"; mv "$HOME/src" src'
alike links 'set -e; ln src/1.c src/one; ln src/1.c one; ln one docs/one; ln -f docs/one src/3.c; ln -s one sym; ln -P sym hard-sym; ln -L sym hard; ln -sf src/2.c sym; ln -sfn src dir; ln -sfn docs dir; ln -sr src/deep docs/rel
	link src/4.c docs/four; unlink docs/four; ln -b src/5.c src/6.c; echo through >sym; echo into >docs/dangling; echo y >src/deep/to-a/lib/new; stat -c %h src/1.c'
alike exchange 'set -e; python3 - <<END
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def rename(a, b, flags): print(a, b, libc.renameat2(-100, a.encode(), -100, b.encode(), flags), ctypes.get_errno())
rename("src/1.c", "docs/dangling", 2); rename("src/deep", "docs", 2); rename("src/2.c", "src/3.c", 1); rename("src/2.c", "absent", 1); rename("src", "docs", 2)
END'

# Editors and tools that write beside a file and rename.
alike sed 'set -e; sed -i s/text/TEXT/ src/*.c src/deep/*.h; sed -i.bak s/TEXT/t/ src/1.c; sed -i --follow-symlinks s/t/T/ src/to-deep/1.h; cd src/deep; sed -i s/T/U/ to-a/lib/1'
alike perl 'set -e; perl -pi -e s/text/TEXT/ src/*.c; perl -pi.orig -e s/TEXT/t/ src/1.c; perl -e "mkdir q{pd}; open my \$f, q{>}, q{pd/f}; print \$f 1; close \$f; rename q{pd/f}, q{pd/g}; symlink q{g}, q{pd/h}; link q{pd/g}, q{i}"'
if has vim; then
	# The undo file has the time in it.
	alike vim 'set -e; vim -Nu NONE -es -c "%s/text/VIM/" -c wq src/1.c; vim -Nu NONE -es -c "set backup backupcopy=no" -c "%s/text/VIM/" -c wq src/2.c; vim -Nu NONE -es -c "set backupcopy=yes" -c "%s/text/VIM/" -c wq src/5.c
	vim -Nu NONE -es -c "set undofile" -c "norm ggOnew" -c wq docs/new; truncate -s 0 docs/.new.un~; vim -Nu NONE -es -c "norm ggOlink" -c wq src/to-deep/1.h; printf "%s\n" 1i x . w q | ex -s src/4.c'
fi
alike shell 'set -e; umask 027; echo x >a; umask 0; mkdir b; : >b/c; set -C; echo y >b/d; ! echo z 2>/dev/null >b/d; set +C; echo w >|b/d; umask 077; mktemp -d b/XXXXXX >/dev/null; rm -rf b/??????; touch -d @0 b/e; mkfifo b/f; (echo hi >b/f &) ; read -r l <b/f; echo "$l"
	rm -rf src docs; mkdir -p src/deep docs; echo again >src/deep/x; mkdir -p p/q/r/s; rm -rf packages/b; mkdir packages/b; echo b >packages/b/x; truncate -s 100 tr; dd if=/dev/zero of=dd bs=10 count=1 2>/dev/null; split -b 20 tr part-; patch -s src/deep/x <<END
--- x
+++ x
@@ -1 +1 @@
-again
+patched
END'

# git. Objects of .git are not linked into another repository: .git is a mount point, with or without the guard.
alike git-checkout 'set -e; git checkout -q side; git checkout -q main; git checkout -q side -- src/1.c; git checkout -q -f main; git checkout --orphan o; git rm -rqf .; git checkout -q -f side; git switch -q main; git restore -s side src; git clean -fdq; git status --short'
alike git-clone 'set -e; git clone -q --no-hardlinks . out/c; git clone -q --no-hardlinks --bare . out/b.git; git clone -q --no-local --depth 1 "file://$PWD" out/s 2>&1; git clone -q --shared . src/shared; git clone -q --no-hardlinks --separate-git-dir out/sep . out/sepwork; git clone -q --mirror out/c out/m.git
	cd out/c; git config core.abbrev 12; git remote add x ../b.git; git checkout -q -b w; echo w >w; git add w; git commit -qm w; git push -q x w; git fetch -q x'
alike git-rebase 'set -e; git checkout -q side; git rebase -q main; git log --format=%s; git checkout -q main; for i in 1 2 3; do echo $i >r$i; git add r$i; git commit -qm r$i; done
	GIT_SEQUENCE_EDITOR="sed -i -e 2s/pick/fixup/ -e 3s/pick/reword/" GIT_EDITOR="sed -i 1s/.*/reworded/" git rebase -q -i HEAD~3; git log --format=%s; git checkout -q -b x HEAD~2; echo x >r1; git add r1; git commit -qm x; git rebase main >/dev/null 2>&1 && exit 1; git rebase --abort; git rebase -q -X theirs --exec "echo in >>executed" main 2>/dev/null; git format-patch -q -1; git reset -q --hard HEAD~1; git am -q 0001-*; git status --short'
alike git-worktree 'set -e; git worktree add -q wt side; cd wt; echo t >t; git add t; git commit -qm t; cd ..; git worktree lock wt; git worktree unlock wt; git worktree move wt wt2; git worktree list --porcelain | grep -c worktree; git worktree add -q out/deep/wt3 -b third; git worktree remove wt2; rm -rf out; git worktree prune -v; git update-ref -d refs/heads/third'
alike git-stash 'set -e; echo d >>src/1.c; echo u >untracked; git stash -q -u; git status --short; git stash pop -q; git stash -q --keep-index; git stash branch stashed -q 2>/dev/null || git stash branch stashed >/dev/null; git status --short; git stash list'
alike git-merge 'set -e; git merge -q --no-edit side; git log --format=%s; git checkout -q -b left HEAD~1; echo l >src/4.c; git commit -qam l; git checkout -q -b right main; echo r >src/4.c; git commit -qam r; git merge left >/dev/null 2>&1 && exit 1; git merge --abort; git merge -q left -X ours --no-edit; git cherry-pick left >/dev/null 2>&1 || git cherry-pick --skip; git revert --no-edit HEAD~1 >/dev/null 2>&1 || git revert --abort; git status --short'
alike git-other 'set -e; git gc -q; git repack -adq; git pack-refs --all; git prune; git fsck --no-progress; git tag t; git tag -a -m m u; git notes add -m n; git bisect start HEAD HEAD~1 >/dev/null; git bisect reset -q >/dev/null 2>&1 || git bisect reset >/dev/null 2>&1; git archive -o out.tar HEAD; git bundle create -q b.bundle --all; git reflog expire --all --expire=now; git update-index --split-index; git mv docs papers; git commit -qm papers; git sparse-checkout list 2>/dev/null || :; git rm -rq papers; git reset -q --hard; git init -q out/i; git -C out/i commit -q --allow-empty -m e; git apply --stat /dev/null 2>/dev/null || :'
refused git-settings ".vscode" 'git checkout -q settings'
refused git-config "Device or resource busy" 'git config user.name x'

# Databases, threads.
if has sqlite3; then
	alike sqlite 'set -e; sqlite3 db "create table t(x); insert into t values(1)"; sqlite3 db "pragma journal_mode=wal; insert into t values(2); select count(*) from t"; sqlite3 src/db "pragma journal_mode=persist; create table t(x); begin; insert into t values(3); rollback; vacuum; select count(*) from t"; sqlite3 db ".backup docs/backup"; sqlite3 docs/backup "select sum(x) from t"'
fi
alike threads 'python3 - <<END
import os, threading
def work(n):
    for i in range(12):
        d = ("out/t/%d/%d", "src/t%d-%d")[n % 2] % (n, i)
        os.makedirs(d); open(d + "/f", "w").write("x"); os.close(os.open(d + "/e", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o640))
        os.rename(d + "/f", d + "/g"); os.link(d + "/g", d + "/h"); os.symlink("h", d + "/l"); os.mkfifo(d + "/p")
threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
[t.start() for t in threads]; [t.join() for t in threads]
END'
alike venv-quick 'set -e; /usr/bin/python3 -m venv --without-pip out/venv; out/venv/bin/python -c "import sys; print(sys.prefix != sys.base_prefix)"; /usr/bin/python3 -m compileall -q src >/dev/null; mkdir py; echo "x = 1" >py/m.py; cd py; /usr/bin/python3 -c "import m"; ls __pycache__ | wc -l'
alike make 'set -e; mkdir m; cd m; for i in 1 2 3 4 5 6; do echo "int f$i(void) { return $i; }" >$i.c; done; printf "all: lib.a\nlib.a: 1.o 2.o 3.o 4.o 5.o 6.o\n\tar rcsD \$@ \$^\n%%.o: %%.c\n\tcc -c \$< -o \$@\n" >Makefile; make -s -j4; ar t lib.a'

# Slow ones.
if has npm; then
	# Packages bring names that hosts obey elsewhere.
	slow npm 'set -e; export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_loglevel=error npm_config_progress=false
	for p in left right; do
		mkdir -p out/$p/bin out/$p/.idea out/$p/.vscode out/$p/lib; echo x | tee out/$p/.idea/x out/$p/.vscode/tasks.json out/$p/.pre-commit-config.yaml >/dev/null
		printf "#!/usr/bin/env node\nconsole.log(1)\n" >out/$p/bin/cli.js; echo "require(\"fs\").writeFileSync(\"installed\", \"1\")" >out/$p/install.js; for i in $(seq 100); do echo $i >out/$p/lib/$i.js; done
		echo "{\"name\":\"$p\",\"version\":\"1.0.0\",\"bin\":{\"$p\":\"bin/cli.js\"},\"scripts\":{\"postinstall\":\"node install.js\"}}" >out/$p/package.json
		(cd out/$p && npm pack --silent >/dev/null)
	done
	echo "{\"name\":\"s\",\"version\":\"1.0.0\"}" >package.json; npm install --silent ./out/left/left-1.0.0.tgz ./out/right/right-1.0.0.tgz; npx --no-install left; npm uninstall --silent left; npm install --silent ./out/left/left-1.0.0.tgz
	rm -rf node_modules; npm ci --silent; ls -A node_modules'
fi
if /usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null; then
	slow venv 'set -e; /usr/bin/python3 -m venv out/venv; out/venv/bin/pip --version | cut -d" " -f1,2; mkdir -p pkg/sample; echo "x = 1" >pkg/sample/__init__.py; find out -name __pycache__ -prune -exec rm -rf {} +; find out -name "*.pyc" -delete'
	# shellcheck disable=SC2016 # for the inner shell
	slow pip 'set -e; /usr/bin/python3 -m venv out/venv; mkdir -p w/sample/data w/sample-1.0.dist-info; echo "x = 1" >w/sample/__init__.py; for i in $(seq 60); do echo "y = $i" >w/sample/data/m$i.py; done
	printf "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n" >w/sample-1.0.dist-info/METADATA; printf "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n" >w/sample-1.0.dist-info/WHEEL; : >w/sample-1.0.dist-info/RECORD
	(cd w && /usr/bin/python3 -m zipfile -c ../sample-1.0-py3-none-any.whl sample sample-1.0.dist-info); out/venv/bin/pip -q --disable-pip-version-check install --no-index ./sample-1.0-py3-none-any.whl 2>/dev/null; out/venv/bin/python -c "import sample; print(sample.x)"
	out/venv/bin/pip -q --disable-pip-version-check uninstall -y sample; out/venv/bin/pip -q --disable-pip-version-check install --no-index --no-compile ./sample-1.0-py3-none-any.whl; out/venv/bin/pip --disable-pip-version-check list --format=freeze | grep sample; rm -f sample-1.0-py3-none-any.whl; find out -name __pycache__ -prune -exec rm -rf {} +'
else
	echo "python3 has no venv; script/setup --test installs it"
	missing=1
fi
if has cargo; then
	slow cargo 'set -e; cargo new -q --vcs none out/crate --name sample; cd out/crate; mkdir -p inner/src; printf "[package]\nname = \"inner\"\nversion = \"0.1.0\"\nedition = \"2021\"\n" >inner/Cargo.toml; echo "pub fn f() -> u32 { 7 }" >inner/src/lib.rs; printf "inner = { path = \"inner\" }\n" >>Cargo.toml; echo "fn main() { println!(\"{}\", inner::f()); }" >src/main.rs; cargo run -q --offline; touch src/main.rs; cargo build -q --offline; cargo test -q --offline | grep -c "test result"; cargo clean -q 2>/dev/null; ls'
fi

initdb=$(find /usr/lib/postgresql -path "*/bin/initdb" 2>/dev/null | tail -n 1)
if [ "$(id -u)" -eq 0 ]; then
	echo "initdb needs another user than root"
elif [ -z "$initdb" ]; then
	echo "initdb is not installed"
else
	# Numbers of transactions and times are in the files.
	slow initdb "set -e; $initdb -D out/db -A trust -N --no-locale -E UTF8 >/dev/null; ${initdb%/*}/pg_ctl -s -D out/db -l out/log -o '-k /tmp -c listen_addresses= -c fsync=off' -w start
	${initdb%/*}/psql -qAt -h /tmp postgres -c 'create table t(x int)' -c 'insert into t select generate_series(1, 1000)' -c 'select count(*) from t'; ${initdb%/*}/pg_ctl -s -D out/db -w stop; cat out/db/PG_VERSION; find out -type d | wc -l; rm -rf out"
fi

[ -z "$missing" ] || [ "$bad" -ne 0 ] || { [ -z "${BERM_MUST_RUN:-}" ] || exit 77; }
finish
