#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The npm package: packed from the static archive, installed from the local file as a global package
# and by npx, without a network; as a dependency of the project it refuses to run.
. "$(dirname "$0")/support/packages.sh"

for tool in npm npx node; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
export HOME=$scratch/home npm_config_cache=$scratch/cache npm_config_offline=true npm_config_update_notifier=false
mkdir "$HOME"
expect_status "it packs" 0 env BERM_NPM_DIRECTORY="$scratch" "$BERM_SOURCE_DIR/script/package-npm" "$archive"
package=$(echo "$scratch"/berm-*.tgz)
expect "the package" test -s "$package"
expect_equal "no install scripts" "" "$(tar -xOzf "$package" package/package.json | grep -i install)"

prefix=$scratch/prefix
expect_status "npm install --global ($err)" 0 npm install --global --prefix="$prefix" --ignore-scripts "$package"
berm=$prefix/bin/berm
expect_status "berm version" 0 "$berm" version
expect_contains "the version" "berm $(dpkg-deb -f "$deb" Version)" "$out"
# shellcheck disable=SC2016 # for the inner shell
expect_status "a command" 0 "$berm" run -- sh -c 'echo "inside: $BERM"'
expect_equal "is inside" "inside: 1" "$out"
expect_status "the exit status" 7 "$berm" run -- sh -c 'exit 7'
expect_status "berm-sh" 3 "$prefix/bin/berm-sh" -c 'exit 3'
echo secret >.env
expect_status "the secret: the control" 0 cat .env
expect_status "the secret" 1 "$berm" run -- cat .env
for shim in bash sh; do
	# shellcheck disable=SC2016 # for the inner shell
	expect_status "the shim $shim" 0 "$prefix/lib/node_modules/berm/linux-"*"/libexec/berm/shims/$shim" -c 'test "$BERM" = 1'
done
run "$berm" doctor
expect_contains "doctor" "Guarantees" "$out"

expect_status "npx" 0 npx --yes --package="$package" berm run -- echo hi
expect_equal "runs a command" hi "$out"

echo '{"name": "app", "version": "1.0.0"}' >package.json
expect_status "as a dependency: npm installs it" 0 npm install --ignore-scripts "$package"
expect_status "it refuses to run" 125 node_modules/.bin/berm run -- touch ran
expect_contains "with the way out" "npm install --global" "$err"
mkdir sub && cd sub || exit 1
expect_status "also from a subdirectory" 125 ../node_modules/.bin/berm run -- touch ran
expect "nothing ran" test ! -e ran -a ! -e ../ran
finish
