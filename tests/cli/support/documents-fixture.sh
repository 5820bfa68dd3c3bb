#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# documents-fixture.sh HOME: the home and project in which the documents' examples run. All secrets
# are fake.
home=$1
set -eu
umask 022
mkdir -p "$home/.ssh" "$home/app/src"
chmod 700 "$home/.ssh"
echo FAKE-KEY >"$home/.ssh/id_ed25519"
git config --file "$home/.gitconfig" user.name Ann
git config --file "$home/.gitconfig" user.email ann@example.org
cd "$home/app" || exit 1
git init -q -b main .
echo API_TOKEN=fake-token >.env
echo .env >.gitignore
cat >package.json <<'END'
{"name": "app", "version": "1.0.0", "scripts": {"test": "node test.js"}}
END
cat >test.js <<'END'
require("node:assert").equal(1 + 1, 2);
console.log("1 test passed");
END
cat >Makefile <<'END'
check:
	@echo ok
END
echo 'console.log("hi")' >src/main.js
git add .gitignore package.json test.js Makefile src
git -c user.name=Ann -c user.email=ann@example.org commit -q -m 'first commit'
