# The wall itself, made in each of the ways that a launch can be made: from a new plan and from the cached one. The project lies on
# a file system whose directories can be known again.
mount -t tmpfs -o mode=755 app /home/ann/app
mkdir -p /home/ann/app/d1/d2 /home/ann/app/.git/hooks /home/ann/.ssh /home/ann/app/.vscode
echo secret >/home/ann/app/.env
echo secret >/home/ann/app/d1/d2/.env
echo secret >/home/ann/.ssh/id_rsa
echo notes >/home/ann/app/notes
echo '[core]' >/home/ann/app/.git/config
echo 'ref: refs/heads/main' >/home/ann/app/.git/HEAD
echo '{}' >/home/ann/app/.vscode/settings.json
chown -R 1000:1000 /home/ann

plans=/home/ann/.local/state/berm/plans
inside() {
	[ "$way" != "a new plan" ] || rm -rf $plans
	run as_user berm run -- "$@"
}
# allowed NAME COMMAND... and refused NAME COMMAND...: inside. What is refused inside is done outside too, in a copy, or it would show nothing.
allowed() {
	name=$1
	shift
	inside "$@"
	expect "$way: $name" 0 $status
}
refused() {
	name=$1
	shift
	rm -rf /tmp/copy && cp -a /home/ann/app /tmp/copy
	run as_user "$@"
	expect "$way: control: $name, outside" 0 $status
	rm -rf /home/ann/app/* /home/ann/app/.[a-z]* 2>/dev/null
	cp -a /tmp/copy/. /home/ann/app/
	inside "$@"
	if [ $status -ne 0 ] && [ $status -lt 120 ]; then
		echo "ok $way: $name"
	else
		echo "FAIL $way: $name: status $status"
		cat /tmp/out /tmp/err | head -c 800 | sed 's/^/     /'
	fi
}

wall() {
	allowed "the project can be written" sh -c 'echo x >new && rm new'
	allowed "its files can be read" grep -q notes notes
	refused "a secret" grep -q secret .env
	refused "a secret further down" grep -q secret d1/d2/.env
	refused "a key" grep -q secret /home/ann/.ssh/id_rsa
	refused "a directory above a secret cannot be moved away" mv d1 d3
	refused "git's configuration" sh -c 'echo x >>.git/config'
	refused "an editor's settings" sh -c 'echo x >>.vscode/settings.json'
	refused "other processes" sh -c 'kill -0 '"$victim"
	refused "a new namespace" unshare -U true
	allowed "the network has nothing but loopback" sh -c '[ "$(grep -c : /proc/net/dev)" = 1 ]'
	allowed "a home can be written" touch /home/ann/left
	expect "$way: which is another one" 1 "$(ls /home/ann/left >/dev/null 2>&1; echo $?)"
	allowed "a secret that is made inside can be read inside" sh -c 'echo mine >.env.local && grep -q mine .env.local && rm .env.local'
}

(as_user sleep 1000 &)
sleep 1
victim=$(pidof sleep)
run as_user berm run -- true
case $(uname -r) in
5.10.*)
	expect "this kernel is refused" 125 $status
	contains "in words" "Linux 5.19 or newer"
	kill "$victim"
	umount /home/ann/app
	return 0
	;;
esac
expect "it runs" 0 $status
run as_user berm doctor
expect "doctor" 0 $status
echo "note: $(grep -i landlock /tmp/out | head -n 3 | tr '\n' ' ')"

way="a new plan"
wall
way="the stored plan"
sleep 1
run as_user berm run -- true
run as_user berm run -- true
run as_user berm plan --why-rebuilt
expect "the plan is stored" 0 $status
contains "with an index" "an index of"
wall
# What is new since the plan was stored and the directories were known.
echo secret >/home/ann/app/d1/.env
chown 1000:1000 /home/ann/app/d1/.env
run as_user berm run -- grep -q secret d1/.env
expect "$way: a new secret" 2 $status
run as_user grep -q secret d1/.env
expect "control: it can be read outside" 0 $status

# The end: of the command, of its launcher.
run as_user berm run -- sh -c 'kill -TERM $$'
expect "a signal is passed on" 143 $status
(as_user berm run -- sh -c 'sleep 2000 & exec sleep 2000' >/dev/null 2>&1 &)
sleep 2
launcher=$(pidof berm | tr ' ' '\n' | sort -n | head -n 1)
expect "control: two run inside" 2 "$(ps -o args | grep -cx 'sleep 2000')"
kill -9 "$launcher"
sleep 1
expect "nothing survives a killed launcher" 0 "$(ps -o args | grep -c '[s]leep 2000')"
kill "$victim"
umount /home/ann/app
