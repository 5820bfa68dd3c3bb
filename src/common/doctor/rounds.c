/* SPDX-License-Identifier: Apache-2.0 */
/* The two rounds of attempts. A worker in a session of its own holds the victims (sockets, memory, a process), starts the attempts bare
 * and then through backend_run, and watches from the host's side what only the host can see: who was signalled, what arrived, what is left. */
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

#include "common/base/cleanup.h"
#include "common/doctor/socket.h"
#include "common/base/descriptors.h"
#include "common/doctor/attempts_kernel.h"
#include "common/fs/filesystem.h"
#include "common/base/text.h"

enum {
	WORKER_S = 60, /* for everything; each round has a time limit of its own */
	ROUND_S = 20,
	TOLD_MS = 5000, /* for the victim to say what it got */
	LINGER_MS = 60, /* what keeps the pipe open for so long has outlived its parent */
	END_MS = 2000, /* for the last process inside to be gone */
};

struct rounds {
	const struct plan *plan;
	const struct doctor_scratch *scratch;
	struct doctor_world *world;
	struct doctor_result *result; /* shared with the parent */
	int udp, victim_pipe;
	pid_t victim;
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
	const char *const directories[] = { rounds->scratch->outside, rounds->scratch->project };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length;
	for (size_t i = 0; i < 2; i++) {
		snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", directories[i]);
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

/* Removed at once: Linux keeps it for those who know its number until the last one detaches. */
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

static void tell_signal(int number)
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
		signal(SIGURG, tell_signal);
		signal(SIGWINCH, tell_signal);
		signal(SIGUSR1, tell_signal);
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

/* What the host's side saw since the last time. A signal of our own is told last: what came before it has been told by then. */
static void look(const struct rounds *rounds, int *numbers)
{
	char byte = 0, bytes[64];
	struct pollfd told = { .fd = rounds->victim_pipe, .events = POLLIN };
	if (rounds->udp >= 0 && recv(rounds->udp, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		numbers[find("send-udp")] = ATTEMPT_REACHED;
	kill(rounds->victim, SIGUSR1);
	while (byte != SIGUSR1 && poll(&told, 1, TOLD_MS) > 0 && read(rounds->victim_pipe, &byte, 1) == 1) {
		if (byte == SIGURG)
			numbers[find("signal-process")] = ATTEMPT_REACHED;
		if (byte == SIGWINCH)
			numbers[find("signal-group")] = ATTEMPT_REACHED;
	}
}

/* Files that an attempt left in places of the host count, whatever it was told. */
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

/* Until the end of the output, or `milliseconds` without any; true at the end. */
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

/* stdin a file opened for reading, stdout the pipe, stderr nothing. */
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
	    backend_run(&plan, &request, &run, &result->failure) < 0)
		_exit(EXIT_REFUSED);
	result->has_run = true;
	if (error_is_set(&run.ended))
		result->failure = run.ended;
	_exit(run.exit_code);
}

/* One round; the child's stdout is all it says, and open for as long as anything of it lives. */
static void run_round(struct rounds *rounds, bool is_inside, int *numbers)
{
	struct output output = { .length = 0 };
	int ends[2];
	pid_t pid;
	char **words;
	bool is_at_end;

	rounds->world->round = is_inside ? "inside" : "bare";
	words = doctor_arguments(rounds->plan->arena, rounds->scratch->program, rounds->world);
	if (pipe(ends) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		die_with_parent();
		close(ends[0]);
		take_stdio(rounds, ends[1]);
		if (is_inside)
			run_inside(rounds, words);
		run_bare(words);
	}
	close(ends[1]);
	/* A survivor keeps the pipe open, so the end of the first process is waited for and not the end of the output. */
	for (is_at_end = false; pid > 0 && !is_at_end && waitpid(pid, NULL, WNOHANG) == 0;)
		is_at_end = read_output(ends[0], 20, &output, numbers);
	if (pid > 0 && is_at_end)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (!is_at_end && !read_output(ends[0], is_inside ? END_MS : LINGER_MS, &output, numbers))
		numbers[find("survive")] = ATTEMPT_REACHED;
	if (!is_inside && output.lingering > 1)
		kill(output.lingering, SIGKILL);
	close(ends[0]);
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
	run_round(rounds, false, rounds->result->bare);
	run_round(rounds, true, rounds->result->inside);
	kill(rounds->victim, SIGKILL);
	waitpid(rounds->victim, NULL, 0);
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
		error_errno(&result->failure, errno, "cannot start the trial");
		return;
	}
	*shared = *result;
	pid = fork();
	if (pid == 0)
		work(&rounds);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*result = *shared;
	munmap(shared, sizeof *shared);
}
