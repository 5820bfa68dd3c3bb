/* SPDX-License-Identifier: Apache-2.0 */
/* See tracer.h. strace's injection counts each process's calls apart and cannot aim at one process
 * alone; this can. */
#include "tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRACEES_MAX = 64 };

struct tracee {
	pid_t pid;
	int process, count;
	bool is_failing; /* between entry and exit of the call that is made to fail */
};

struct session {
	struct tracee tracees[TRACEES_MAX];
	int born;
	pid_t program;
	bool is_started; /* the program itself runs: what came before were our own calls */
	bool is_born; /* the first child has made a process */
	const struct fault *fault;
	struct trace *trace;
};

static const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

static long long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Threads come and go with the amount of work; only processes are numbered. */
static bool is_thread_of(pid_t pid, pid_t program)
{
	char path[64], text[1024];
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	const char *group = strstr(text, "\nTgid:");
	return group && pid != program && atoi(group + 6) == program;
}

static struct tracee *tracee_of(struct session *session, pid_t pid)
{
	struct tracee *free_slot = NULL;
	for (int i = 0; i < TRACEES_MAX; i++) {
		if (session->tracees[i].pid == pid)
			return &session->tracees[i];
		if (!session->tracees[i].pid && !free_slot)
			free_slot = &session->tracees[i];
	}
	if (!free_slot)
		abort();
	*free_slot =
		(struct tracee){ .pid = pid, .process = is_thread_of(pid, session->program) ? TRACE_THREAD : session->born++ };
	return free_slot;
}

static void skip_call(pid_t pid)
{
#if defined(__x86_64__)
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
#elif defined(__aarch64__)
	int number = -1;
	struct iovec vector = { &number, sizeof number };
	ptrace(PTRACE_SETREGSET, pid, (void *)(uintptr_t)NT_ARM_SYSTEM_CALL, &vector);
#endif
}

static void set_result(pid_t pid, long result)
{
#if defined(__x86_64__)
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), result);
#elif defined(__aarch64__)
	struct user_regs_struct registers;
	struct iovec vector = { &registers, sizeof registers };
	ptrace(PTRACE_GETREGSET, pid, (void *)(uintptr_t)NT_PRSTATUS, &vector);
	registers.regs[0] = (unsigned long)result;
	ptrace(PTRACE_SETREGSET, pid, (void *)(uintptr_t)NT_PRSTATUS, &vector);
#endif
}

static void note_call(struct session *session, const struct tracee *tracee, long number)
{
	struct trace *trace = session->trace;
	if (!trace->calls || trace->count == TRACE_CALLS_MAX || tracee->process == TRACE_THREAD)
		return;
	trace->calls[trace->count++] = (struct traced_call){ tracee->process, tracee->count, number };
}

static void on_call(struct session *session, struct tracee *tracee)
{
	struct __ptrace_syscall_info info;
	const struct fault *fault = session->fault;
	memset(&info, 0, sizeof info);
	if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->pid, sizeof info, &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && tracee->is_failing) {
		set_result(tracee->pid, -fault->error_number);
		tracee->is_failing = false;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !session->is_started)
		return;
	note_call(session, tracee, (long)info.entry.nr);
	if (tracee->process == fault->process && tracee->count == fault->index) {
		skip_call(tracee->pid);
		session->trace->failed_number = (long)info.entry.nr;
		session->trace->is_born = session->is_born;
		tracee->is_failing = true;
	}
	tracee->count++;
}

/* A process was made, as its parent tells it: the child's own first stop may come later than the
 * parent's next call. */
static void on_birth(struct session *session, const struct tracee *parent)
{
	unsigned long child = 0;
	if (parent->process != 1 || ptrace(PTRACE_GETEVENTMSG, parent->pid, 0, &child))
		return;
	if (!is_thread_of((pid_t)child, session->program))
		session->is_born = true;
}

/* One stop. Once the command runs nothing is counted any more and everybody runs freely. */
static void on_stop(struct session *session, pid_t pid, int status)
{
	struct tracee *tracee = tracee_of(session, pid);
	int signal_number = WSTOPSIG(status), event = status >> 16;
	if (signal_number == (SIGTRAP | 0x80)) {
		on_call(session, tracee);
		signal_number = 0;
	} else if (event == PTRACE_EVENT_EXEC) {
		if (pid != session->program)
			session->trace->has_executed = true;
		session->is_started = true;
		signal_number = 0;
	} else if (event == PTRACE_EVENT_STOP && signal_number != SIGTRAP) {
		ptrace(PTRACE_LISTEN, pid, 0, 0);
		return;
	} else if (event) {
		if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
			on_birth(session, tracee);
		signal_number = 0;
	}
	bool is_free = session->trace->has_executed && !tracee->is_failing;
	ptrace(is_free ? PTRACE_CONT : PTRACE_SYSCALL, pid, 0, (long)signal_number);
}

static void wake(int number)
{
	(void)number;
}

static pid_t start(char *const *argv, char *const *environment, const char *directory, int out)
{
	int ends[2];
	char byte;
	if (pipe2(ends, O_CLOEXEC))
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		setpgid(0, 0);
		dup2(null, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		if (chdir(directory) || read(ends[0], &byte, 1) != 1)
			_exit(99);
		execve(argv[0], argv, environment);
		_exit(98);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, 0, options) || write(ends[1], "x", 1) != 1)
		abort();
	close(ends[0]);
	close(ends[1]);
	ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	return pid;
}

int trace_run(char *const *argv, char *const *environment, const char *directory, int out, const struct fault *fault,
	      int milliseconds, struct trace *trace)
{
	struct session session = { .fault = fault, .trace = trace };
	struct sigaction action = { .sa_handler = wake };
	struct itimerval limit = { { 1, 0 }, { milliseconds / 1000, milliseconds % 1000 * 1000 } };
	long long deadline = now_ms() + milliseconds;
	int exit_code = -1;
	sigaction(SIGALRM, &action, NULL); /* without SA_RESTART: a wait that lasts too long is interrupted */
	setitimer(ITIMER_REAL, &limit, NULL);
	trace->count = 0;
	trace->has_executed = false;
	trace->is_born = false;
	trace->failed_number = -1;
	session.program = start(argv, environment, directory, out);
	tracee_of(&session, session.program);
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == ECHILD)
			break;
		if (now_ms() > deadline)
			kill(-session.program, SIGKILL);
		if (pid <= 0)
			continue;
		if (WIFSTOPPED(status)) {
			on_stop(&session, pid, status);
			continue;
		}
		tracee_of(&session, pid)->pid = 0;
		if (pid == session.program && now_ms() <= deadline)
			exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	return exit_code;
}
