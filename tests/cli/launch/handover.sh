#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The launcher and init make a sandbox together. A file that one of them cannot look at, a signal, a hang-up or a delay in between changes
# neither the sandbox nor the status and messages.
. "$(dirname "$0")/../support/home.sh"
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hold.sh"

move_home
chmod 755 "$scratch"
cp "$BERM" "$scratch/berm" # one that no build replaces meanwhile
BERM=$scratch/berm
echo secret >.env
until_true sh -c '"$1" run -- true && "$1" plan --why-rebuilt >/dev/null' sh "$BERM"
"$BERM" run -- true

# Below a directory that may be listed and not entered, the launcher cannot look at a file and init can.
mkdir closed
echo secret >closed/.env
chmod 600 closed
expect_status "a hidden file in a directory without x" 0 "$BERM" run -- true
expect_status "is hidden" 1 "$BERM" run -- sh -c 'chmod 700 closed; cat closed/.env'
expect "with its size" grep -qx 7 <("$BERM" run -- sh -c 'chmod 700 closed; stat -c %s closed/.env')
chmod 700 closed
expect_output "control: it can be read outside" secret cat closed/.env
rm -r closed

# The mask directory that stays visible inside cannot be used.
expect_status "control: it is there" 0 "$BERM" run -- test -d /run/berm/.masks
for try in 'ls /run/berm/.masks' 'chmod 700 /run/berm/.masks' 'rm -r /run/berm/.masks' 'touch /run/berm/new'; do
	expect_status "inside: $try" 1 "$BERM" run -- sh -c "$try || exit 1"
done

# The caller's limits and umask.
# shellcheck disable=SC2016 # for the inner shell
said=$(bash -c 'ulimit -f 0; exec "$0" run -- true' "$BERM" 2>&1) # not into a file
expect_equal "no file may be written: refused" 125 $?
expect_contains "in words" "cannot write /run/berm/" "$said"
expect_equal "documents can be read whatever the umask" 444 "$(umask 0777 && "$BERM" run -- stat -c %a /run/berm/summary)"

# Signals while init is held. early: the launcher still has something to do; late: it waits for init.
for signals in WINCH CONT 'TSTP CONT' URG; do
	for moment in early late; do
		hold unshare "$BERM" run -- echo ran
		[ "$moment" = early ] || settle
		for signal in $signals; do
			kill -s "$signal" "$launcher"
			[ "$moment" = early ] || settle
		done
		settle
		release
		reap
		expect_equal "$signals, $moment" "0 ran" "$? $(cat "$scratch/out")"
	done
done
starter=(nohup)
hold unshare "$BERM" run -- echo ran
kill -s HUP "$launcher"
settle
release
reap
expect_equal "HUP, ignored" "0 ran" "$? $(grep -v nohup "$scratch/out")"
starter=(env)
hold unshare "$BERM" run -- sh -c 'sleep 20; echo ran'
kill -s TERM "$launcher"
settle
release
reap
expect_equal "TERM ends it" "143 " "$? $(cat "$scratch/out")"

# A command that is stopped after its fork and before its execution: init waits for it and sees nothing else.
has_command() {
	command=$(children "$(children "$launcher")") && [ "$(cat "/proc/$command/comm")" = berm ]
}
for signal in STOP TSTP; do
	# Looked for along PATH, in vain at first: a stop takes effect where a call returns. The first execution is that of berm itself.
	PATH=/nowhere:/nowhere/else:$PATH hold execve:2 "$BERM" run -- echo ran
	until_true has_command || fail "a command that is not executed yet" "$(cat "$scratch/out")"
	kill -s "$signal" "$command"
	expect_equal "control: it is not executed yet" berm "$(cat "/proc/$command/comm")"
	release
	reap
	expect_equal "$signal before the command is executed" "0 ran" "$? $(cat "$scratch/out")"
done

# A launcher that cannot receive from init has to end it: it would wait for ever. The longer init takes, the surer the launcher waits for it.
for delay in 1 2 4 8 16; do
	timeout -k 1 "$patience" strace -qq -f -o "$scratch/trace" -e trace=unshare,recvmsg -e "inject=unshare:delay_enter=${delay}000000:when=1" \
		-e inject=recvmsg:error=EPERM:when=1 "$BERM" run -- echo ran >"$scratch/out" 2>&1
	status=$?
	if [ "$status" != 125 ] || grep -q "the sandbox's init" "$scratch/out"; then
		break
	fi
done
expect_equal "init cannot be received from: refused" 125 "$status"
expect_contains "in words" "the sandbox's init" "$(cat "$scratch/out")"
expect "control: that was it" grep -q 'recvmsg.*EPERM.*INJECTED' "$scratch/trace"

# The same where init cannot be sent to. The launcher's last message starts the command, after the run's files.
for nth in 3 4 5; do
	timeout -k 1 "$patience" strace -qq -f -o "$scratch/trace" -e trace=unshare,sendmsg -e inject=unshare:delay_enter=1000000:when=1 \
		-e "inject=sendmsg:error=EPERM:when=$nth" "$BERM" run -- echo ran >"$scratch/out" 2>&1
	status=$?
	grep -q 'sendmsg.*EPERM.*INJECTED' "$scratch/trace" || break
	expect "message $nth cannot be sent: it ends, with status $status" test "$status" -ne 124
done
expect "control: there were four" test "$nth" -ge 4

# A terminal that ends while init is held: no user could end that run any more. As in was_killed, the launcher's call is looked for.
hang_up() {
	python3 - "$scratch/hang-up" "$BERM" <<-'END'
	import os, pty, signal, sys, time
	slow = "strace -qq -f -o '%s' -e trace=unshare,kill -e inject=unshare:delay_enter=600000000:when=1 '%s' run -- echo ran; true"
	pid, master = pty.fork()
	if pid == 0:
	    os.execvp("sh", ["sh", "-c", slow % tuple(sys.argv[1:])])  # the session's leader: at its end the kernel sends SIGHUP
	def child(of):
	    try:
	        return int(open(f"/proc/{of}/task/{of}/children").read().split()[0])
	    except (OSError, IndexError):
	        return 0
	def is_there(launcher):
	    return launcher and child(launcher) and open(f"/proc/{launcher}/comm").read() == "berm\n"
	def has_ended():
	    return "SIGKILL" in open(sys.argv[1]).read()
	tracer = launcher = 0
	end = time.monotonic() + 60
	while time.monotonic() < end and not is_there(launcher):
	    tracer = child(pid)
	    launcher = tracer and child(tracer)
	    time.sleep(0.01)
	time.sleep(0.3)
	os.close(master)
	end = time.monotonic() + 60
	while is_there(launcher) and not has_ended() and time.monotonic() < end:
	    time.sleep(0.05)
	print("ended" if launcher and has_ended() else "goes on")
	for process in tracer, launcher:
	    if process:
	        os.kill(process, signal.SIGKILL)
	END
}
expect_equal "a terminal that ends while it is being made ends it" ended "$(hang_up)"

# A job that is stopped while its sandbox is being made and continued in the background: the terminal stays the shell's. In the foreground it
# becomes the command's. Tries different moments until it has met five in which init was there and the command was not.
job() {
	python3 - "$BERM" "$1" <<-'END'
	import fcntl, os, pty, signal, sys, termios, time
	MISSED, LEFT, TAKEN = 1, 2, 3
	is_front = sys.argv[2] == "fg"
	def children(of):
	    return open(f"/proc/{of}/task/{of}/children").read().split()
	def shell(delay):  # what a shell does with ^Z, bg and fg
	    job = os.fork()
	    if job == 0:
	        os.setpgid(0, 0)
	        os.tcsetpgrp(0, os.getpgrp())
	        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
	        os.execv(sys.argv[1], ["berm", "run", "--", "sleep", "2"])
	    try:
	        os.setpgid(job, job)  # it may not have come to that yet, or be beyond it
	    except OSError:
	        pass
	    while not children(job) and os.waitpid(job, os.WNOHANG) == (0, 0):
	        pass  # until init is there, however long that takes
	    time.sleep(delay)
	    os.kill(-job, signal.SIGSTOP)
	    _, status = os.waitpid(job, os.WUNTRACED)
	    if not os.WIFSTOPPED(status):
	        return MISSED
	    is_met = children(job) and os.tcgetpgrp(0) == job
	    given = job if is_front else os.getpgrp()
	    os.tcsetpgrp(0, given)
	    os.kill(-job, signal.SIGCONT)
	    end = time.monotonic() + (30 if is_front else 1.5)
	    while is_met and os.tcgetpgrp(0) == given and time.monotonic() < end:
	        time.sleep(0.01)
	    is_taken = os.tcgetpgrp(0) != given
	    os.kill(job, signal.SIGKILL)
	    os.waitpid(job, 0)
	    return (TAKEN if is_taken else LEFT) if is_met else MISSED
	def play(delay):
	    master, slave = pty.openpty()
	    leader = os.fork()
	    if leader == 0:
	        os.setsid()
	        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
	        for fd in 0, 1, 2:
	            os.dup2(slave, fd)
	        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
	        try:
	            os._exit(shell(delay))
	        finally:
	            os._exit(99)
	    _, status = os.waitpid(leader, 0)
	    os.close(master)
	    os.close(slave)
	    return os.waitstatus_to_exitcode(status)
	met = taken = 0
	end = time.monotonic() + 120
	while met < 5 and time.monotonic() < end:
	    for delay in range(0, 12):
	        result = play(delay / 2000)
	        if result not in (MISSED, LEFT, TAKEN):
	            sys.exit("the shell has failed")
	        met += result != MISSED
	        taken += result == TAKEN
	print("not met" if met < 5 else "left" if taken == 0 else "taken" if taken == met else f"taken {taken} of {met} times")
	END
}
expect_equal "a job in the background leaves the terminal alone" left "$(job bg)"
expect_equal "control: one in the foreground takes it" taken "$(job fg)"

# The time limit counts while init is held. It begins when the launcher has nothing else to do.
printf 'version: 1\nlimits: {time: 1s}\n' >"$scratch/time.yml"
hold unshare "$BERM" run --policy="$scratch/time.yml" -- echo ran
expect "the time limit ends init" until_true was_killed
release
reap
expect_equal "a time limit holds while the sandbox is being made" 124 $?
expect_contains "in words" "time limit of 1s reached" "$(cat "$scratch/out")"
expect "and nothing has run" sh -c '! grep -qx ran "$1"' sh "$scratch/out"

# A directory that is missing in the cached root is not refused by the host: that is no reason for a weaker tier.
"$BERM" run -- true
for root in "$home"/.local/state/berm/projects/*/*/root-*; do
	chmod u+w "$root"
	rmdir "$root/usr"
done
expect_status "a damaged root: refused" 125 "$BERM" run -- echo ran
expect_contains "with the way out" "berm state reset" "$err"
rm -r "$home/.local/state/berm/projects"
expect_output "control: without it" ran "$BERM" run -- echo ran

# Containers mount single nodes into their /dev.
cat >"$scratch/nodes" <<'END'
mkdir "$1/dev" && mount -t tmpfs tmpfs "$1/dev" && mkdir "$1/dev/pts" "$1/dev/shm" || exit 9
for node in null zero full random urandom tty; do
	: >"$1/dev/$node" && mount --bind "/dev/$node" "$1/dev/$node" || exit 9
done
mount --move "$1/dev" /dev && "$2" run -- sh -c 'echo x >/dev/null && head -c 1 /dev/urandom | wc -c'
END
if [ "$(id -u)" -eq 0 ]; then
	expect_output "nodes that are mounts of their own" 1 unshare --mount sh "$scratch/nodes" "$scratch" "$BERM"
fi
finish
