#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# npm with a shim as its script-shell: `npm ci && npm test` works in a project with a dependency,
# and a postinstall script of the dependency cannot read ~/.aws/credentials. npm itself runs
# outside. The dependency is a local tarball, so no network is needed.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "node and npm are needed"
	exit 77
fi
move_home
shims=$(dirname "$BERM")/shims
mkdir -p "$home/.aws"
echo "aws_secret_access_key = the secret" >"$home/.aws/credentials"
export npm_config_cache=$home/.npm npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
# Newer versions of npm run scripts of dependencies only with this option; older ones ignore it.
export npm_config_dangerously_allow_all_scripts=true

# dependency SCRIPT: creates dependency.tgz with this postinstall script.
dependency() {
	rm -rf package node_modules package-lock.json
	mkdir package
	cat >package/package.json <<-END
	{ "name": "dependency", "version": "1.0.0", "main": "index.js", "scripts": { "postinstall": "$1" } }
	END
	echo "module.exports = () => 'from the dependency';" >package/index.js
	tar -czf dependency.tgz package
	rm -rf package
	run npm install --package-lock-only --ignore-scripts
	expect_equal "a lock file" "0 yes" "$status $(test -s package-lock.json && echo yes)"
}
cat >package.json <<'END'
{ "name": "sample", "version": "1.0.0", "private": true, "dependencies": { "dependency": "file:dependency.tgz" },
  "scripts": { "pretest": "echo \"shell: $0 '$npm_lifecycle_event'\"", "test": "node test.js && echo \"inside: $BERM_SUMMARY\"" } }
END
echo "console.log(require('dependency')()); require('fs').writeFileSync('tested', 'yes');" >test.js

# shellcheck disable=SC2016 # for the shell of the script
dependency 'echo ${BERM_SUMMARY:-outside} >installed'
run npm ci
expect_equal "the control: npm ci without berm" "0 outside" "$status $(cat node_modules/dependency/installed)"
run npm test
expect_contains "the control: npm test without berm" "inside: " "$out"
rm -rf node_modules tested

export npm_config_script_shell=$shims/sh
run npm ci
expect_equal "npm ci" "0 /run/berm/summary" "$status $(cat node_modules/dependency/installed)"
run npm test
expect_equal "npm test" 0 "$status"
expect_contains "npm test: the dependency" "from the dependency" "$out"
expect_contains "npm test: inside" "inside: /run/berm/summary" "$out"
expect_contains "npm test: which script" "shell: /bin/sh 'pretest'" "$out"
expect_equal "npm test: what it wrote" yes "$(cat tested)"
run npm run missing
expect_equal "a script that is not there" 1 "$status"
run npm exec -c 'exit 9'
expect_equal "a status" 9 "$status"

dependency "cat ~/.aws/credentials >stolen"
run env -u npm_config_script_shell npm ci
expect_equal "the control: without berm a dependency reads the credentials" "0 aws_secret_access_key = the secret" \
	"$status $(cat node_modules/dependency/stolen)"
rm -rf node_modules
run npm ci
expect_equal "with it the installation fails" 1 "$status"
expect_contains "because they are not there" ".aws/credentials" "$err$out"
expect_equal "and nothing was stolen" "" "$(cat node_modules/dependency/stolen 2>/dev/null)"

# A project's .npmrc does not replace the shell: the environment overrides it.
echo 'script-shell=/bin/sh' >.npmrc
expect_equal "the control: .npmrc chooses the shell" /bin/sh "$(env -u npm_config_script_shell npm config get script-shell)"
expect_equal "the environment is stronger" "$shims/sh" "$(npm config get script-shell)"

finish
