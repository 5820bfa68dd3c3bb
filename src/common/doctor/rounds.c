/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the two rounds of attempts. A worker in its own session holds the victims (sockets, memory,
 * a process) and runs the attempts bare and then through backend_run. It observes from the host's
 * side: received signals, received data, files and processes left. */
#include "common/doctor/doctor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/descriptors.h"
#include "common/doctor/internal.h"
#include "common/fs/path.h"
#include "common/base/text.h"
#include "common/scan/scan.h"

enum {
	WORKER_S = 60, /* for both rounds; each round has its own limit */
	ROUND_S = 20,
	REPORT_MS = 5000, /* for the victim to report its signals */
	LINGER_MS = 60, /* a process that holds the pipe longer has outlived its parent */
	POLL_MS = 20,
	BRING_US = 800000, /* until the sandbox watches every directory */
	END_MS = 2000, /* for the last process in the sandbox to exit */
};

struct rounds {
	const struct plan *plan;
	const struct doctor_scratch *scratch;
	struct doctor_world *world;
	struct doctor_result *result; /* shared with the parent */
	int udp, victim_pipe;
	pid_t victim, replacer;
};

static int find(const char *name)
{
	for (size_t i = 0; i < attempt_count; i++)
		if (strcmp(attempt_table[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void die_with_parent(void)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
}

static int listen_on(int family, const struct sockaddr *address, socklen_t length, int type)
{
	int fd = doctor_socket(family, type);
	if (fd >= 0 && bind(fd, address, length) == 0 && (type == SOCK_DGRAM || listen(fd, 8) == 0))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static unsigned port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} address = { .any = { 0 } };
	socklen_t length = sizeof address;
	if (fd < 0 || getsockname(fd, &address.any, &length) < 0)
		return 0;
	return ntohs(address.any.sa_family == AF_INET ? address.four.sin_port : address.six.sin6_port);
}

static void listen_inet(struct rounds *rounds)
{
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	rounds->world->tcp = port_of(listen_on(AF_INET, (struct sockaddr *)&four, sizeof four, SOCK_STREAM));
	rounds->world->tcp6 = port_of(listen_on(AF_INET6, (struct sockaddr *)&six, sizeof six, SOCK_STREAM));
	rounds->udp = listen_on(AF_INET, (struct sockaddr *)&four, sizeof four, SOCK_DGRAM);
	rounds->world->udp = port_of(rounds->udp);
}

static void listen_unix(const struct rounds *rounds)
{
	const struct {
		const char *directory, *name;
	} paths[] = { { rounds->scratch->outside, "socket" },
		      { rounds->scratch->project, "socket" },
		      { rounds->scratch->project, "node_modules/socket" } };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", paths[i].directory, paths[i].name);
		listen_on(AF_UNIX, (struct sockaddr *)&address, sizeof address, SOCK_STREAM);
	}
#ifdef __linux__
	memset(address.sun_path, 0, sizeof address.sun_path);
	length =
		snprintf(address.sun_path + 1, sizeof address.sun_path - 1, ATTEMPT_ABSTRACT_PREFIX "%s", rounds->world->token);
	listen_on(AF_UNIX, (struct sockaddr *)&address,
		  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length), SOCK_STREAM);
#else
	(void)length;
#endif
}

/* Removes the segment at once: Linux keeps it for processes that know its id until the
 * last one detaches. */
static void share_memory(struct rounds *rounds)
{
	int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	char *memory = segment < 0 ? NULL : shmat(segment, NULL, 0);
	rounds->world->segment = -1;
	if (segment < 0)
		return;
	shmctl(segment, IPC_RMID, NULL);
	if ((intptr_t)memory == -1)
		return;
	snprintf(memory, 4096, "%s", rounds->world->token);
	rounds->world->segment = segment;
}

static int victim_out;

static void report_signal(int number)
{
	char byte = (char)number;
	if (write(victim_out, &byte, 1) < 0)
		_exit(1);
}

static int start_victim(struct rounds *rounds)
{
	int ends[2], ready[2];
	char byte;
	if (pipe(ends) < 0 || pipe(ready) < 0)
		return -1;
	rounds->victim = fork();
	if (rounds->victim == 0) {
		die_with_parent();
		victim_out = ends[1];
		signal(SIGURG, report_signal);
		signal(SIGWINCH, report_signal);
		signal(SIGUSR1, report_signal);
#ifdef __linux__
		prctl(PR_SET_NAME, rounds->world->token, 0, 0, 0);
#endif
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ends[1]);
	close(ready[1]);
	if (rounds->victim < 0 || read(ready[0], &byte, 1) != 0)
		return -1;
	close(ready[0]);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	rounds->victim_pipe = ends[0];
	rounds->world->victim = rounds->victim;
	return 0;
}

static bool write_token(const struct rounds *rounds, const char *file)
{
	autoclose int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t length = strlen(rounds->world->token);
	return fd >= 0 && write(fd, rounds->world->token, length) == (ssize_t)length;
}

/* Replaces one denied file and moves another in, by rename, as editors and people do. */
static void replace(const struct rounds *rounds, const char *round)
{
	const char *project = rounds->scratch->project, *outside = rounds->scratch->outside;
	char from[4096], to[4096];
	int answer;
	snprintf(from, sizeof from, "%s/new-%s", outside, round);
	snprintf(to, sizeof to, "%s/" ATTEMPT_REPLACED, project);
	if (!write_token(rounds, from) || rename(from, to) < 0)
		return;
	usleep(BRING_US);
	snprintf(to, sizeof to, "%s/" ATTEMPT_LATE "%s", project, round);
	if (!write_token(rounds, from) || rename(from, to) < 0)
		return;
	snprintf(to, sizeof to, "%s/" ATTEMPT_ANSWER "%s", project, round);
	answer = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (answer >= 0)
		close(answer);
}

_Noreturn static void serve_questions(const struct rounds *rounds)
{
	static const char *const names[] = { "bare", "inside" };
	char question[4096];
	for (size_t i = 0; i < 2; i++) {
		snprintf(question, sizeof question, "%s/" ATTEMPT_QUESTION "%s", rounds->scratch->project, names[i]);
		while (access(question, F_OK) < 0)
			usleep(POLL_MS * 1000);
		replace(rounds, names[i]);
	}
	_exit(0);
}

static void start_replacer(struct rounds *rounds)
{
	rounds->replacer = fork();
	if (rounds->replacer != 0)
		return;
	die_with_parent();
	alarm(WORKER_S);
	serve_questions(rounds);
}

/* Collects what the host's side observed since the last call. Sends SIGUSR1 last: when the victim
 * reports it, all earlier signals are reported. */
static void look(const struct rounds *rounds, int *numbers)
{
	char byte = 0, bytes[64];
	struct pollfd report = { .fd = rounds->victim_pipe, .events = POLLIN };
	if (rounds->udp >= 0 && recv(rounds->udp, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		numbers[find("send-udp")] = ATTEMPT_REACHED;
	kill(rounds->victim, SIGUSR1);
	while (byte != SIGUSR1 && poll(&report, 1, REPORT_MS) > 0 && read(rounds->victim_pipe, &byte, 1) == 1) {
		if (byte == SIGURG)
			numbers[find("signal-process")] = ATTEMPT_REACHED;
		if (byte == SIGWINCH)
			numbers[find("signal-group")] = ATTEMPT_REACHED;
	}
}

/* Counts files that an attempt left on the host, whatever errno it got. */
static void look_at_files(const struct rounds *rounds, int *numbers)
{
	static const struct {
		const char *attempt, *name;
		size_t directory;
	} files[] = {
		{ "write-outside", "created-inside", offsetof(struct doctor_scratch, outside) },
		{ "rename-visible", "renamed-inside", offsetof(struct doctor_scratch, readable) },
		{ "change-state", "planted-inside", offsetof(struct doctor_scratch, state) },
	};
	char file[4096];
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *directory;
		memcpy(&directory, (const char *)rounds->scratch + files[i].directory, sizeof directory);
		snprintf(file, sizeof file, "%s/%s", directory, files[i].name);
		if (access(file, F_OK) == 0)
			numbers[find(files[i].attempt)] = ATTEMPT_REACHED;
	}
}

struct output {
	char line[256];
	size_t length;
	pid_t lingering;
};

static void take_line(struct output *output, int *numbers)
{
	char *blank = strchr(output->line, ' ');
	int at;
	if (!blank)
		return;
	*blank++ = '\0';
	if (strcmp(output->line, "lingers") == 0) {
		output->lingering = (pid_t)strtol(blank, NULL, 10);
		return;
	}
	at = find(output->line);
	if (at >= 0)
		numbers[at] = (int)strtol(blank, NULL, 10);
}

/* Reads until the end of the output, or `milliseconds` without output. True at the end. */
static bool read_output(int fd, int milliseconds, struct output *output, int *numbers)
{
	char bytes[512];
	for (;;) {
		struct pollfd readable = { .fd = fd, .events = POLLIN };
		ssize_t count;
		if (poll(&readable, 1, milliseconds) <= 0)
			return false;
		count = read(fd, bytes, sizeof bytes);
		if (count <= 0)
			return true;
		for (ssize_t i = 0; i < count; i++) {
			if (bytes[i] != '\n' && output->length + 1 < sizeof output->line) {
				output->line[output->length++] = bytes[i];
				continue;
			}
			output->line[output->length] = '\0';
			output->length = 0;
			take_line(output, numbers);
		}
	}
}

/* Sets stdin to a file opened for reading, stdout to the pipe, stderr to /dev/null. */
static void take_stdio(const struct rounds *rounds, int out)
{
	char file[4096];
	int in, nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	snprintf(file, sizeof file, "%s/input", rounds->scratch->outside);
	in = open(file, O_RDONLY | O_CLOEXEC);
	if (in < 0 || nowhere < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(nowhere, 2) < 0)
		_exit(EXIT_REFUSED);
}

_Noreturn static void run_bare(char *const *words)
{
	alarm(ROUND_S);
	execv(words[0], words);
	_exit(EXIT_REFUSED);
}

_Noreturn static void run_inside(const struct rounds *rounds, char *const *words)
{
	struct doctor_result *result = rounds->result;
	struct plan plan = *rounds->plan;
	struct run_request request = { .argv = words };
	struct run_result run = { 0 };
	if (descriptors_close_others(NULL, 0, &result->failure) < 0 || plan_scan(&plan, &result->failure) < 0 ||
	    backend_run(&plan, &request, &run, &result->failure) != RUN_DONE)
		_exit(EXIT_REFUSED);
	result->has_run = true;
	if (error_is_set(&run.ended))
		result->failure = run.ended;
	_exit(run.exit_code);
}

/* Forks the process that makes the attempts. Returns the read end of its stdout, or -1. */
static int start_round(struct rounds *rounds, bool is_inside, pid_t *pid)
{
	int ends[2];
	char **words;

	rounds->world->round = is_inside ? "inside" : "bare";
	words = doctor_arguments(rounds->plan->arena, rounds->scratch->program, rounds->world);
	if (pipe(ends) < 0)
		return -1;
	*pid = fork();
	if (*pid == 0) {
		die_with_parent();
		close(ends[0]);
		take_stdio(rounds, ends[1]);
		if (is_inside)
			run_inside(rounds, words);
		run_bare(words);
	}
	close(ends[1]);
	return ends[0];
}

/* Reads until the process exits. True at the end of its output: no descendant holds the pipe open.
 * A survivor does, so this waits for the process and not for the end of the output. */
static bool read_until_exit(int fd, pid_t pid, struct output *output, int *numbers)
{
	bool is_at_end = false;
	while (pid > 0 && !is_at_end && waitpid(pid, NULL, WNOHANG) == 0)
		is_at_end = read_output(fd, POLL_MS, output, numbers);
	if (pid > 0 && is_at_end)
		(void)child_wait(pid, NULL);
	return is_at_end;
}

static void run_round(struct rounds *rounds, bool is_inside, int *numbers)
{
	struct output output = { .length = 0 };
	pid_t pid = -1;
	int fd = start_round(rounds, is_inside, &pid);

	if (fd < 0)
		return;
	if (!read_until_exit(fd, pid, &output, numbers) && !read_output(fd, is_inside ? END_MS : LINGER_MS, &output, numbers))
		numbers[find("survive")] = ATTEMPT_REACHED;
	if (!is_inside && output.lingering > 1)
		kill(output.lingering, SIGKILL);
	close(fd);
	look(rounds, numbers);
	if (is_inside)
		look_at_files(rounds, numbers);
}

_Noreturn static void work(struct rounds *rounds)
{
	setsid();
	die_with_parent();
	signal(SIGPIPE, SIG_IGN);
	alarm(WORKER_S);
	listen_inet(rounds);
	listen_unix(rounds);
	share_memory(rounds);
	if (start_victim(rounds) < 0)
		_exit(1);
	start_replacer(rounds);
	run_round(rounds, false, rounds->result->bare);
	run_round(rounds, true, rounds->result->inside);
	child_end(rounds->victim);
	child_end(rounds->replacer);
	_exit(0);
}

void doctor_try(const struct plan *plan, const struct doctor_scratch *scratch, struct doctor_world *world,
		struct doctor_result *result)
{
	struct doctor_result *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
	struct rounds rounds = { .plan = plan, .scratch = scratch, .world = world, .result = shared, .udp = -1 };
	pid_t pid;

	for (int i = 0; i < ATTEMPT_MAX; i++)
		result->bare[i] = result->inside[i] = ATTEMPT_UNTRIED;
	if (shared == MAP_FAILED) {
		error_errno(&result->failure, errno, "cannot start the test");
		return;
	}
	*shared = *result;
	pid = fork();
	if (pid == 0)
		work(&rounds);
	if (pid > 0)
		(void)child_wait_long(pid, NULL);
	*result = *shared;
	munmap(shared, sizeof *shared);
}
