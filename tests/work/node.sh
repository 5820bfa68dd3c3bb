#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Node: npm ci from a registry, node --test, global packages. The registry is a small server in the same sandbox, because `network: none`
# leaves a loopback of the sandbox's own and nothing else; its packages are made here.
. "$(dirname "$0")/support/lib.sh"
need node npm

# package NAME VERSION DEPENDENCIES-JSON: packages/NAME-VERSION.tgz
mkdir packages
package() {
	local directory=$scratch/package/package
	rm -rf "$scratch/package" && mkdir -p "$directory/bin"
	cat >"$directory/package.json" <<-END
	{ "name": "$1", "version": "$2", "main": "index.js", "bin": { "$1": "bin/cli.js" }, "dependencies": $3,
	  "scripts": { "postinstall": "node -e \"require('fs').writeFileSync('installed', process.env.HOME)\"" } }
	END
	echo "module.exports = { name: '$1', version: '$2' };" >"$directory/index.js"
	printf '#!/usr/bin/env node\nconsole.log("%s %s");\n' "$1" "$2" >"$directory/bin/cli.js"
	chmod 755 "$directory/bin/cli.js"
	tar -C "$scratch/package" -czf "packages/$1-$2.tgz" package
}
package left-example 1.2.0 '{}'
package right-example 2.0.1 '{ "left-example": "^1.0.0" }'

# Every package in packages/, as the registry's documents describe it.
cat >registry.mjs <<'END'
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const documents = new Map();
for (const file of readdirSync('packages')) {
	const bytes = readFileSync(`packages/${file}`);
	const manifest = JSON.parse(execFileSync('tar', ['-xzOf', `packages/${file}`, 'package/package.json']));
	manifest.hasInstallScript = true;
	manifest.dist = { tarball: `http://127.0.0.1:4873/-/${file}`, integrity: 'sha512-' + createHash('sha512').update(bytes).digest('base64') };
	documents.set(manifest.name, { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: manifest } });
}
createServer((request, response) => {
	const name = request.url.slice(1);
	if (name.startsWith('-/'))
		return response.end(readFileSync(`packages/${name.slice(2)}`));
	const document = documents.get(decodeURIComponent(name));
	response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}));
}).listen(4873, '127.0.0.1', () => writeFileSync('/tmp/registry.ready', ''));
END
cat >with-registry <<'END'
#!/bin/bash -e
rm -f /tmp/registry.ready
node registry.mjs &
until [ -e /tmp/registry.ready ]; do sleep 0.05; done
"$@"
kill %1
END
chmod 755 with-registry
cat >package.json <<'END'
{ "name": "sample", "version": "1.0.0", "private": true, "dependencies": { "right-example": "^2.0.0" },
  "scripts": { "test": "node --test", "where": "right-example" } }
END
cat >.npmrc <<'END'
registry=http://127.0.0.1:4873/
audit=false
fund=false
END
mkdir test
cat >test/sample.test.mjs <<'END'
import test from 'node:test';
import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import left from 'left-example';
import right from 'right-example';
test('the packages', () => assert.deepEqual([left.version, right.version], ['1.2.0', '2.0.1']));
test('a worker', () => new Promise((done) => new Worker('process.exit(0)', { eval: true }).on('exit', done)));
test('a server on loopback', async () => {
	const { createServer } = await import('node:http');
	const server = createServer((request, response) => response.end('hello'));
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	assert.equal(await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text(), 'hello');
	server.close();
});
END

works "npm install: makes the lock file" ./with-registry npm install
expect "the lock file" grep -q '"integrity"' package-lock.json
rm -rf node_modules
works "npm ci" ./with-registry npm ci
expect_equal "the script of a package ran, with the home's own path" "$HOME" "$(cat node_modules/right-example/installed)"
works "npm test: node --test" npm test
expect_contains "three tests" "pass 3" "$out"
works "npm run" npm run --silent where
expect_equal "a program of a package" "right-example 2.0.1" "$out"
works "npx" npx --no-install left-example
home=$(private_home)
expect "npm's cache is in the private home" test -d "$home/.npm/_cacache"
rm -rf node_modules
works "npm ci --offline, from the cache of the first run" npm ci --offline
expect "from the cache" test -e node_modules/left-example/index.js
works_sh "npm install --global, into the private home" 'npm config set prefix ~/.local; npm install --global ./packages/left-example-1.2.0.tgz --offline; ~/.local/bin/left-example'
works_sh "and it is there the next time" '~/.local/bin/left-example'
expect_equal "the global program" "left-example 1.2.0" "$out"
expect "npm's own settings are private" grep -q prefix "$home/.npmrc"
works_sh "no token of the user arrives" 'never grep -rs token-of-the-host ~ /tmp'

finish_work
