#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm init --yes`, `berm trust --yes`, then the package manager installs a dependency and the project's test passes, all behind
# the wall, with a registry on loopback. npm, pip and make always; the others with BERM_LONG=1. BERM_INIT_ONLY="cargo go" selects.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/npm-packages.sh
. "$support/npm-packages.sh"

# With the caller's home and its npm configuration.
clients=
case $(uname -m) in
aarch64) bun="bun-linux-aarch64" ;;
*) bun="bun-linux-x64" ;;
esac
if [[ -n ${BERM_LONG:-} || ${BERM_INIT_ONLY:-} =~ pnpm|yarn|bun ]] &&
	(npm_packages init-clients pnpm@9 yarn@1.22.22 "@oven/$bun@1.2.0"); then
	clients=$BERM_SOURCE_DIR/build/deps/init-clients
fi
real_home=$HOME
move_home
for name in $(compgen -e | grep -E '^(npm_|NPM_|PIP_|UV_|GO[A-Z]|CARGO_|BUNDLE_|COMPOSER_|YARN_|VIRTUAL_ENV)'); do
	unset "$name"
done
# Toolchains in the real home are not those of this one.
PATH=$(tr : '\n' <<<"$PATH" | grep -v "^$real_home/" | paste -sd:)

if ! command -v python3 >/dev/null; then
	echo "python3 is needed"
	exit 77
fi
mkdir "$scratch/registry"
PYTHONDONTWRITEBYTECODE=1 python3 "$support/registry.py" "$scratch/registry" &
until_true test -s "$scratch/registry/port" || exit 1
port=$(cat "$scratch/registry/port")
url=http://127.0.0.1:$port

mkdir "$scratch/empty"
ran=()
missing=()

# wants NAME PROGRAM...: true if this one is selected and its programs are installed.
wants() {
	local name=$1 program
	shift
	if [ -n "${BERM_INIT_ONLY:-}" ]; then
		[[ " $BERM_INIT_ONLY " == *" $name "* ]] || return 1
	else
		case $name in
		npm | pip | make) ;;
		*) [ -n "${BERM_LONG:-}" ] || return 1 ;;
		esac
	fi
	for program; do
		command -v "$program" >/dev/null || {
			missing+=("$name ($program)")
			return 1
		}
	done
}

# asked NAME MARKER HOST...: in a project with this file alone, each host is in the policy because the client was asked.
asked() {
	local name=$1 marker=$2 host
	shift 2
	new asked
	: >"$marker"
	expect_status "$name, asked: init" 0 "$BERM" init --yes --print
	[ $# -gt 0 ] || fail "$name, asked: it names nothing outside"
	for host; do
		expect "$name, asked: $host" grep -qE "^    - ${host//./\\.}:[0-9]+ +# .*, asked: " "$scratch/out"
	done
	expect_equal "$name, asked: nothing else" $# "$(grep -cE '^    - .*, asked: ' "$scratch/out")"
}

# hosts_in TEXT: the hosts of the addresses in it.
hosts_in() {
	grep -oE '[a-z]+://[^/ ,|`]+' <<<"$1" | sed -E 's#^[a-z]+://##; s#:[0-9]+$##' | sort -u
}

# new NAME: an empty project, and no requests yet.
new() {
	cd "$scratch" && rm -rf "${scratch:?}/$1" && mkdir "$scratch/$1" && cd "$scratch/$1" || exit 1
	: >"$scratch/registry/requests"
}

# begin NAME [LOCAL]: init and trust. The registry is in the policy unless LOCAL is `nothing`.
begin() {
	ran+=("${1%%,*}")
	expect_status "$1: init" 0 "$BERM" init --yes
	expect_status "$1: nothing of this machine is in it" 1 grep -F -e "$scratch" -e "$HOME" berm.yml
	[ "${2:-}" = nothing ] || expect "$1: the registry" grep -qE "^    - $port +# " berm.yml
	expect_status "$1: untrusted, it is not reached" 1 reached "$BERM" run -- "${install[@]}"
	expect_status "$1: trust" 0 "$BERM" trust --yes
}

# reached COMMAND...: true if the registry was asked.
reached() {
	: >"$scratch/registry/requests"
	timeout 60 "$@" >/dev/null 2>&1
	[ -s "$scratch/registry/requests" ]
}

# works NAME: install and test, inside.
works() {
	expect_status "$1: install" 0 "$BERM" run -- "${install[@]}"
	expect "$1: from the registry" test -s "$scratch/registry/requests"
	expect_status "$1: test" 0 "$BERM" run -- "${check[@]}"
	expect_contains "$1: the dependency is there" 42 "$out"
}

node_project() {
	new "$1"
	printf '{"name": "app", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"tinypkg": "^1.0.0"}}\n' >package.json
	echo 'console.log(require("tinypkg"))' >test.js
}

if wants npm node npm; then
	install=(npm install --no-audit --no-fund)
	check=(npm test)
	node_project npm-project
	echo "registry=$url/npm/" >.npmrc
	begin "npm, the project's .npmrc"
	works "npm, the project's .npmrc"

	# The user's file is not readable inside; its registry is passed as a variable.
	node_project npm-user
	echo "registry=$url/npm/" >"$HOME/.npmrc"
	begin "npm, the user's .npmrc"
	expect "npm, the user's .npmrc: the piece" grep -q '^use: \[node, registry-npm\]$' berm.yml
	works "npm, the user's .npmrc"
	expect_status "npm: the file stays hidden" 1 "$BERM" run -- test -r "$HOME/.npmrc"

	# The piece alone: the file is a dependency of the cached plan.
	node_project npm-piece
	printf 'version: 1\nuse: [node, registry-npm]\n' >berm.yml
	expect_status "npm, the piece: trust" 0 "$BERM" trust --yes
	works "npm, the piece"
	# shellcheck disable=SC2088
	expect_contains "npm, the piece: plan names the file" "~/.npmrc:1" "$("$BERM" plan -v)"
	rm "$HOME/.npmrc"
	rm -rf node_modules
	expect_status "npm, the piece: without the file it is not reached" 1 reached "$BERM" run -- "${install[@]}"
	expect_contains "npm, the piece: plan says how to find it out" "berm init" "$("$BERM" plan | tr -s ' \n' ' ')"

	# Nothing names a registry: the client is asked, and its answer is what it uses outside.
	mapfile -t names < <(cd "$scratch/empty" && hosts_in "$(npm config get registry 2>/dev/null)")
	asked npm package.json "${names[@]}"
fi

if wants pip python3; then
	if python3 -m venv "$scratch/venv-control" >/dev/null 2>&1; then
		rm -rf "$scratch/venv-control"
		install=(sh -c 'python3 -m venv .venv && .venv/bin/pip install -q -r requirements.txt')
		check=(.venv/bin/python -c 'import tinypkg; print(tinypkg.value)')
		new pip-user
		echo 'tinypkg==1.0.0' >requirements.txt
		mkdir -p "$HOME/.config/pip"
		printf '[global]\nindex-url = %s/simple/\n' "$url" >"$HOME/.config/pip/pip.conf"
		begin "pip, the user's pip.conf"
		works "pip, the user's pip.conf"
		rm "$HOME/.config/pip/pip.conf"

		new pip-project
		printf -- '--index-url %s/simple/\ntinypkg==1.0.0\n' "$url" >requirements.txt
		expect_status "pip, requirements.txt: init" 0 "$BERM" init --yes
		expect "pip, requirements.txt: the registry" grep -qE "^    - $port +# pip, from requirements.txt:1" berm.yml
	else
		missing+=("pip (python3-venv)")
	fi
fi

if wants pip python3 && python3 -c 'import pip' 2>/dev/null; then
	ran+=(pip)
	mapfile -t names < <(python3 -I -c 'from pip._internal.models.index import PyPI as p; print(p.netloc); print(p.file_storage_domain)')
	grep -qs index-url /etc/pip.conf || asked pip setup.py "${names[@]}"
fi

if wants make make cc; then
	new make
	printf 'test: app\n\t./app\napp: app.c\n\t$(CC) -o $@ app.c\n' >Makefile
	printf '#include <stdio.h>\nint main(void) { return printf("%%d\\n", 42) < 0; }\n' >app.c
	ran+=(make)
	expect_status "make: init" 0 "$BERM" init --yes
	expect_status "make: trust" 0 "$BERM" trust --yes
	expect_status "make: test" 0 "$BERM" run -- make test
	expect_contains "make: it ran" 42 "$out"
fi

# Package managers from npm are below a toolchain directory of the home, where berm asks them.
place_clients() {
	[ ! -d "$HOME/.nvm" ] || return 0
	mkdir -p "$HOME/.nvm/bin" && cp -a "$clients/node_modules" "$HOME/.nvm/" || return 1
	ln -s ../node_modules/pnpm/bin/pnpm.cjs "$HOME/.nvm/bin/pnpm"
	ln -s ../node_modules/yarn/bin/yarn.js "$HOME/.nvm/bin/yarn"
	ln -s "../node_modules/@oven/$bun/bin/bun" "$HOME/.nvm/bin/bun"
	chmod +x "$HOME/.nvm/bin/"*
	PATH=$HOME/.nvm/bin:$PATH
}

for client in pnpm yarn bun; do
	if wants "$client" node npm; then
		if [ -z "$clients" ]; then
			missing+=("$client")
			continue
		fi
		place_clients || exit 1
		install=("$client" install)
		check=("$client" run test)
		case $client in
		pnpm) lock=pnpm-lock.yaml ;;
		yarn) lock=yarn.lock ;;
		bun) lock=bun.lock ;;
		esac
		node_project "$client-user"
		sed -i "s/^{/{\"packageManager\": \"$client@$("$client" --version)\", /" package.json
		echo "registry=$url/npm/" >"$HOME/.npmrc"
		begin "$client, the user's .npmrc"
		works "$client, the user's .npmrc"
		expect "$client: its lock file" test -e "$lock"
		rm "$HOME/.npmrc"
	fi
done

if wants cargo cargo; then
	install=(cargo fetch)
	check=(cargo run -q)
	new cargo
	mkdir -p src .cargo
	printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2018"\n\n[dependencies]\ntinycrate = "1"\n' >Cargo.toml
	printf 'fn main() { println!("{}", tinycrate::value()); }\n' >src/main.rs
	printf '[source.crates-io]\nreplace-with = "here"\n\n[source.here]\nregistry = "sparse+%s/cargo/index/"\n' "$url" >.cargo/config.toml
	if [ -d "$real_home/.rustup" ]; then
		mkdir -p "$HOME/.cargo"
		ln -s "$real_home/.rustup" "$HOME/.rustup"
		ln -s "$real_home/.cargo/bin" "$HOME/.cargo/bin"
		PATH=$HOME/.cargo/bin:$PATH
	fi
	if cargo --version | grep -qE ' 1\.([0-9]|[0-5][0-9]|6[0-7])\.'; then
		missing+=("cargo (1.68, for a registry without git)")
	else
		begin cargo
		works cargo
		mapfile -t names < <(cd "$scratch/empty" && hosts_in "$(unshare -rn cargo search x 2>&1 | grep -o '`[a-z]*://[^`]*`')")
		asked cargo Cargo.toml "${names[@]}"
	fi
fi

if wants go go; then
	install=(go mod download)
	check=(go run .)
	new go
	printf 'module app.test/app\n\ngo 1.18\n\nrequire tiny.test/tinymod v1.0.0\n' >go.mod
	printf 'package main\n\nimport (\n\t"fmt"\n\n\t"tiny.test/tinymod"\n)\n\nfunc main() { fmt.Println(tinymod.Value()) }\n' >main.go
	mkdir -p "$HOME/.config/go"
	printf 'GOPROXY=%s/go\nGOSUMDB=off\nGOFLAGS=-mod=mod\n' "$url" >"$HOME/.config/go/env"
	begin go
	(cd "$scratch/go" && GOFLAGS=-mod=mod GOPATH=$scratch/gopath GOCACHE=$scratch/gocache go mod tidy >/dev/null 2>&1)
	works go
	chmod -R u+w "$scratch/gopath"
	rm "$HOME/.config/go/env"
	mapfile -t names < <(cd "$scratch/empty" && hosts_in "$(go env GOPROXY)" && go env GOSUMDB)
	asked go go.mod "${names[@]}"
fi

if wants bundler bundle gem; then
	mkdir -p "$scratch/registry/gems" "$scratch/gem/lib"
	cd "$scratch/gem" || exit 1
	echo 'def tiny; 42; end' >lib/tinygem.rb
	printf 'Gem::Specification.new do |s|\n  s.name = "tinygem"\n  s.version = "1.0.0"\n  s.summary = "x"\n  s.authors = ["x"]\n  s.files = ["lib/tinygem.rb"]\nend\n' >tinygem.gemspec
	gem build -q tinygem.gemspec >/dev/null 2>&1 && mv tinygem-1.0.0.gem "$scratch/registry/gems/"
	install=(bundle install --path vendor/bundle)
	check=(bundle exec ruby -e 'require "tinygem"; puts tiny')
	new bundler
	printf 'source "%s/ruby/"\ngem "tinygem"\n' "$url" >Gemfile
	begin bundler
	works bundler
	mapfile -t names < <(cd "$scratch/empty" && hosts_in "$(gem sources --list)")
	asked gem x.gemspec "${names[@]}"
fi

if wants composer composer php; then
	install=(composer install --no-interaction)
	check=(php -r 'require "vendor/autoload.php"; echo tiny(), "\n";')
	new composer
	cat >composer.json <<-END
		{"name": "acme/app", "require": {"acme/tiny": "1.0.0"}, "config": {"secure-http": false},
		 "repositories": [{"type": "composer", "url": "$url/composer"}, {"packagist": false}]}
	END
	begin composer
	works composer
	mapfile -t names < <(cd "$scratch/empty" && hosts_in "$(composer config --global --list 2>/dev/null | grep repositories)")
	asked composer composer.json "${names[@]}"
fi

[ "${#missing[@]}" -eq 0 ] || echo "not installed, so not tried: ${missing[*]}"
echo "tried: $(printf '%s\n' "${ran[@]}" | sort -u | paste -sd' ')"
if [ "${#ran[@]}" -eq 0 ]; then
	exit 77
fi
finish
