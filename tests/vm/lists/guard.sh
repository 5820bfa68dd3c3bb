# Protected names that do not exist: refused from 6.6 on, moved to quarantine before. Every attack has its control outside.
# renew: a new project. The tools here cannot remove paths of more than 4095 bytes.
renew() {
	umount /home/ann/app 2>/dev/null
	mount -t tmpfs -o mode=755 app /home/ann/app
	mkdir -p /home/ann/app/src /home/ann/app/.git/hooks /home/ann/app/packages/a/.vscode
	echo '[core]' >/home/ann/app/.git/config
	echo 'ref: refs/heads/main' >/home/ann/app/.git/HEAD
	cp /usr/bin/attack /home/ann/app/attack
	chown -R 1000:1000 /home/ann
}
renew
policy 'files: {protect: [own.cfg, "**/ci/steps"]}'

version=$(uname -r)
minor=${version#*.}
minor=${minor%%[!0-9]*}
level=repair
if [ "${version%%.*}" -gt 6 ] || { [ "${version%%.*}" -eq 6 ] && [ "$minor" -ge 6 ]; }; then
	level=strict
fi

run as_user berm plan
expect "the level of planting in the plan" "$level" "$(sed -n 's/^ *planting  *\([a-z]*\).*/\1/p' /tmp/out | head -n 1)"

# tried NAME... -- ATTACK...: outside it works, inside no NAME is there afterwards; at the level strict no attempt got through.
tried() {
	names=
	while [ "$1" != -- ]; do
		names="$names $1"
		shift
	done
	shift
	renew
	run as_user ./attack "$@"
	expect "control: $*: works outside" yes "$(grep -q '^REACHED' /tmp/out && tail -n 1 /tmp/out | grep -q '^END' && echo yes)"
	renew
	run as_user berm run --policy=/tmp/policy.yml -- ./attack "$@"
	if [ $level = strict ]; then
		expect "$*: came to its end" END "$(tail -n 1 /tmp/out)"
		expect "$*: nothing got through" 0 "$(grep -c '^REACHED' /tmp/out)"
	fi
	for name in $names; do
		expect "$*: $name is not there" no "$([ -e "/home/ann/app/$name" ] && echo yes || echo no)"
	done
}
tried .vscode .mcp.json -- make .vscode .mcp.json
tried .git/commondir -- make .git/commondir
tried packages/a/.mcp.json -- make packages/a/.mcp.json
tried own.cfg src/own.cfg -- make own.cfg src/own.cfg
renew
if [ $level = strict ]; then
	tried .github/hooks -- holder .github hooks
	tried src/ci/steps -- holder src/ci steps
	tried own.cfg -- race 20
	tried own.cfg -- long 8190 make own.cfg
	tried own.cfg -- long-race 40
	run as_user berm run -- sh -c 'mkdir made && echo x >made/file && mv made other && ln other/file link && ln -s other symlink'
	expect "ordinary names are made" 0 $status
	run as_user berm run --strict -- true
	expect "it can be required" 0 $status
else
	run as_user berm run --strict -- true
	expect "it cannot be required" 125 $status
	run as_user berm run -- sh -c 'mkdir .vscode; exit 0'
	contains "what was moved is said" .vscode
fi
umount /home/ann/app
