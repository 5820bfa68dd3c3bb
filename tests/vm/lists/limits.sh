# Limits with a control group that is delegated to the user, and without one.
memory='limits: {memory: 32M, processes: 20, time: 60s}'
left_over() {
	ls $groups/user | grep -c '^berm-'
}

policy "$memory"
run as_user berm run --policy=/tmp/policy.yml -- true
case $(uname -r) in
5.10.*)
	expect "this kernel is refused" 125 $status
	contains "in words" "Linux 5.19 or newer"
	return 0
	;;
esac
expect "it runs" 0 $status
expect "no group is left" 0 "$(left_over)"
run as_user berm plan --policy=/tmp/policy.yml
contains "memory is hard" "memory 32M        hard         control group"
contains "limits is enforced" "limits       enforced"

for bomb in private children shared memfd; do
	run as_user bomb $bomb 64
	expect "the control: $bomb gets all of it" 0 $status
	run as_user berm run --policy=/tmp/policy.yml -- bomb $bomb 64
	expect "$bomb is ended" 123 $status
	contains "$bomb: in words" "memory limit of 32M reached"
	contains "$bomb: with the way out" "limits.memory, /tmp/policy.yml:2:18"
done
expect "no group is left by bombs" 0 "$(left_over)"

run as_user bomb processes 60
expect "the control: all processes" 0 $status
run as_user berm run --policy=/tmp/policy.yml -- bomb processes 60
expect "fork fails at the limit" 3 $status
contains "and berm says so" "process limit of 20 reached"

# A launcher that is killed leaves its group, and the next one removes it.
as_user berm run --policy=/tmp/policy.yml -- sleep 100 >/dev/null 2>&1 &
sleep 3
expect "a run has a group" 1 "$(left_over)"
launcher=$(ls $groups/user | sed -n 's/^berm-\([0-9]*\)-.*/\1/p')
kill -9 "$launcher"
sleep 1
expect "its group stays" 1 "$(left_over)"
run as_user berm run --policy=/tmp/policy.yml -- true
expect "the next run" 0 $status
expect "has swept it" 0 "$(left_over)"

# With namespaces of its own the command finds no limit to raise.
policy 'nesting: true\nlimits: {memory: 32M, time: 60s}'
run as_user berm run --policy=/tmp/policy.yml -- sh -c 'mkdir -p /tmp/groups; bomb raise /tmp/groups; bomb private 64'
expect "nested, the limit holds" 123 $status
echo "note: nested: $(head -n 3 /tmp/out | tr '\n' ' ')"
if grep -q RAISED /tmp/out; then echo "FAIL a limit was raised from inside"; else echo "ok no limit was raised from inside"; fi

# Without delegation.
policy "$memory"
run as_user --outside berm plan --policy=/tmp/policy.yml
contains "without delegation it is best effort" "memory 32M        best effort"
for bomb in private children shared memfd; do
	run as_user --outside berm run --policy=/tmp/policy.yml -- bomb $bomb 60
	expect "watched, $bomb is ended" 123 $status
done
policy 'limits: {memory: 32M}\nrequire: {limits: enforced}'
run as_user --outside berm run --policy=/tmp/policy.yml -- true
expect "which is not enforced" 125 $status
run as_user berm run --policy=/tmp/policy.yml -- true
expect "with delegation it is" 0 $status

# Root's processes.
policy 'limits: {processes: 20}'
run as_root berm run --policy=/tmp/policy.yml -- bomb processes 60
expect "root's forks fail at the limit" 3 $status
run as_root berm plan --policy=/tmp/policy.yml
contains "by the group" "processes 20      hard         control group"
