/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts. berm itself makes them, bare and as the command in the sandbox, and behaves the
 * same in both. It touches only the victims that doctor created. */
#include "common/doctor/doctor.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/doctor/internal.h"
#include "common/fs/path.h"
#include "common/policy/file.h"
#include "common/base/text.h"

enum {
	PATH_SIZE = 4096,
	THREADS_MAX = 2048,
	LINGER_S = 20,
	STEP_US = 20000,
	HOST_STEPS = 250, /* for the host to answer */
	REPAIR_STEPS = 50, /* for a lost mask to come back, and a plant to be moved */
};

static const char *path(const char *directory, const char *name, const char *suffix)
{
	static char buffers[2][PATH_SIZE];
	static unsigned next;
	char *buffer = buffers[next++ % 2];
	snprintf(buffer, PATH_SIZE, "%s/%s%s", directory, name, suffix);
	return buffer;
}

/* Returns 0 if the call succeeded, else its errno. */
static int outcome(int result)
{
	return result < 0 ? errno : ATTEMPT_REACHED;
}

static int append_to(const char *file)
{
	autoclose int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	return fd < 0 ? errno : outcome((int)write(fd, "# doctor\n", 9));
}

/* Reached if the file has the token, which only the host knows. */
static int read_secret(const struct doctor_world *world, const char *file)
{
	autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
	char text[256] = "";
	ssize_t count = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (count < 0)
		return errno;
	return strstr(text, world->token) ? ATTEMPT_REACHED : ENODATA;
}

static int create_outside(const struct doctor_world *world)
{
	autoclose int fd = open(path(world->outside, "created-", world->round), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return outcome(fd);
}

static int change_visible(const struct doctor_world *world)
{
	return append_to(path(world->readable, "file", ""));
}

static int chmod_visible(const struct doctor_world *world)
{
	return outcome(chmod(path(world->readable, "file", ""), 0600));
}

static int rename_visible(const struct doctor_world *world)
{
	return outcome(rename(path(world->readable, "name-", world->round), path(world->readable, "renamed-", world->round)));
}

/* Standard input is a file that was opened for reading. */
static int reopen_input(const struct doctor_world *world)
{
	autoclose int fd = open("/proc/self/fd/0", O_WRONLY | O_APPEND | O_CLOEXEC);
	(void)world;
	return outcome(fd);
}

static int read_denied(const struct doctor_world *world)
{
	return read_secret(world, path(world->project, ".env", ""));
}

static int read_linked(const struct doctor_world *world)
{
	const char *link_name = path(world->project, "linked-", world->round);
	if (link(path(world->project, ".env.link-", world->round), link_name) < 0)
		return errno;
	return read_secret(world, path(world->project, "linked-", world->round));
}

static int read_renamed(const struct doctor_world *world)
{
	const char *new_name = path(world->project, "shown-", world->round);
	if (rename(path(world->project, ".env.name-", world->round), new_name) < 0)
		return errno;
	return read_secret(world, path(world->project, "shown-", world->round));
}

static int list_keys(const struct doctor_world *world)
{
	autoclosedir DIR *stream = opendir(path(world->home, ".ssh", ""));
	return stream ? ATTEMPT_REACHED : errno;
}

static int plant_hook(const struct doctor_world *world)
{
	return append_to(path(world->project, ".git/hooks/pre-commit", ""));
}

static int plant_config(const struct doctor_world *world)
{
	return append_to(path(world->project, ".git/config", ""));
}

static int replace_git(const struct doctor_world *world)
{
	const char *directory = path(world->project, ".git", "");
	if (rename(directory, path(world->project, ".git-", world->round)) < 0)
		return errno;
	directory = path(world->project, ".git-", world->round);
	return outcome(rename(directory, path(world->project, ".git", "")));
}

/* Creates a file in a settings directory, which is protected as a whole. */
static int plant_settings(const struct doctor_world *world)
{
	const char *file = path(world->project, ".claude/settings.local.json", "");
	autoclose int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	return outcome(unlink(file));
}

/* Reads until that is refused, or often enough to count as readable for good. */
static int read_for_a_while(const struct doctor_world *world, const char *file)
{
	int number = ATTEMPT_REACHED;
	for (int i = 0; i < REPAIR_STEPS && number == ATTEMPT_REACHED; i++) {
		usleep(STEP_US);
		number = read_secret(world, file);
	}
	return number;
}

/* The worker on the host sees the question, replaces a denied file and brings another one. */
static int read_replaced(const struct doctor_world *world)
{
	autoclose int question =
		open(path(world->project, ATTEMPT_QUESTION, world->round), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < HOST_STEPS && access(path(world->project, ATTEMPT_ANSWER, world->round), F_OK) < 0; i++)
		usleep(STEP_US);
	if (question < 0 || access(path(world->project, ATTEMPT_ANSWER, world->round), F_OK) < 0)
		return ATTEMPT_UNTRIED;
	return read_for_a_while(world, path(world->project, ATTEMPT_REPLACED, ""));
}

static int read_late(const struct doctor_world *world)
{
	return read_for_a_while(world, path(world->project, ATTEMPT_LATE, world->round));
}

static int plant_kept(const struct doctor_world *world)
{
	const char *directory = path(world->project, ".zed", "");
	if (mkdir(directory, 0700) < 0)
		return errno;
	for (int i = 0; i < REPAIR_STEPS; i++) {
		usleep(STEP_US);
		if (access(directory, F_OK) < 0)
			return errno;
	}
	return outcome(rmdir(directory));
}

/* Creates protected names that do not exist yet: only `strict` refuses those. */
static int plant_new(const struct doctor_world *world)
{
	const char *directory = path(world->project, ".vscode", "");
	if (mkdir(directory, 0700) < 0)
		return errno;
	return outcome(rmdir(directory));
}

static int plant_file(const struct doctor_world *world)
{
	const char *file = path(world->project, ".mcp.json", "");
	autoclose int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? errno : outcome(unlink(file));
}

/* An ordinary file gets the name. */
static int plant_moved(const struct doctor_world *world)
{
	const char *plain = path(world->project, "plain-", world->round), *name = path(world->project, ".envrc", "");
	autoclose int fd = open(plain, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return ATTEMPT_UNTRIED;
	if (rename(plain, name) == 0)
		return outcome(unlink(name));
	if (link(plain, name) == 0)
		return outcome(unlink(name));
	return errno;
}

static int connect_to(int family, const void *address, socklen_t length)
{
	autoclose int fd = doctor_socket(family, SOCK_STREAM);
	return fd < 0 ? errno : outcome(connect(fd, address, length));
}

static int connect_tcp(const struct doctor_world *world)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)world->tcp) };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return world->tcp ? connect_to(AF_INET, &address, sizeof address) : ATTEMPT_UNTRIED;
}

static int connect_tcp6(const struct doctor_world *world)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)world->tcp6) };
	address.sin6_addr = in6addr_loopback;
	return world->tcp6 ? connect_to(AF_INET6, &address, sizeof address) : ATTEMPT_UNTRIED;
}

/* Sends a datagram. Only doctor sees whether it arrived: without a receiver
 * sendto() succeeds, too. */
static int send_udp(const struct doctor_world *world)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)world->udp) };
	autoclose int fd = doctor_socket(AF_INET, SOCK_DGRAM);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!world->udp)
		return ATTEMPT_UNTRIED;
	if (fd < 0 || sendto(fd, world->token, strlen(world->token), 0, (struct sockaddr *)&address, sizeof address) < 0)
		return errno;
	return ENETUNREACH;
}

static int see_process(const struct doctor_world *world)
{
	char file[64];
	snprintf(file, sizeof file, "/proc/%d/comm", world->victim);
	return read_secret(world, file);
}

/* Signals the victim's pid. Every other process ignores SIGURG, since in the sandbox the pid may be
 * another process. The victim reports the signal to doctor. */
static int signal_process(const struct doctor_world *world)
{
	return kill(world->victim, SIGURG) < 0 ? errno : ESRCH;
}

static int signal_group(const struct doctor_world *world)
{
	(void)world;
	return kill(0, SIGWINCH) < 0 ? errno : ESRCH;
}

/* Leaves a process that keeps doctor's pipe open. */
static int survive(const struct doctor_world *world)
{
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		signal(SIGTERM, SIG_IGN);
		sleep(LINGER_S);
		_exit(0);
	}
	if (pid > 0)
		*world->lingering = pid;
	return pid < 0 ? errno : ESRCH;
}

static int connect_unix(const char *name, size_t length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (length > sizeof address.sun_path)
		return ATTEMPT_UNTRIED;
	memcpy(address.sun_path, name, length);
	return connect_to(AF_UNIX, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
}

static int connect_outside(const struct doctor_world *world)
{
	const char *name = path(world->outside, "socket", "");
	return connect_unix(name, strlen(name) + 1);
}

static int connect_project(const struct doctor_world *world)
{
	const char *name = path(world->project, "socket", "");
	return connect_unix(name, strlen(name) + 1);
}

static int connect_pruned(const struct doctor_world *world)
{
	const char *name = path(world->project, "node_modules/socket", "");
	return connect_unix(name, strlen(name) + 1);
}

static int read_segment(const struct doctor_world *world)
{
	const char *memory = world->segment < 0 ? NULL : shmat(world->segment, NULL, SHM_RDONLY);
	int result;
	if (!memory)
		return ATTEMPT_UNTRIED;
	if ((intptr_t)memory == -1)
		return errno;
	result = strncmp(memory, world->token, strlen(world->token)) == 0 ? ATTEMPT_REACHED : ENODATA;
	shmdt(memory);
	return result;
}

static int read_variable(const struct doctor_world *world)
{
	const char *value = getenv("DOCTOR_TOKEN");
	return value && strcmp(value, world->token) == 0 ? ATTEMPT_REACHED : ENOENT;
}

static int open_many(const struct doctor_world *world)
{
	struct rlimit limit;
	unsigned count = 0;
	int number = 0, lowest = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = lowest;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	while (fd >= 0 && count <= world->open_files) {
		count++;
		fd = dup(lowest);
		number = errno;
	}
	for (int i = lowest + 1; lowest >= 0 && i <= lowest + (int)count; i++)
		close(i);
	close(lowest);
	return count > world->open_files ? ATTEMPT_REACHED : number;
}

/* Linux refuses every core file at a limit of 1; at 0 it still starts the program of a
 * core_pattern that is a pipe. */
static int keep_core(const struct doctor_world *world)
{
	struct rlimit limit;
	(void)world;
	if (getrlimit(RLIMIT_CORE, &limit) < 0)
		return errno;
	return limit.rlim_max > 1 ? ATTEMPT_REACHED : EFBIG;
}

static void *wait_at_gate(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static int start_many(const struct doctor_world *world)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static pthread_t threads[THREADS_MAX];
	pthread_attr_t attributes;
	unsigned count = 0;
	int number = 0;
	if (world->processes >= THREADS_MAX || pthread_attr_init(&attributes) != 0)
		return ATTEMPT_UNTRIED;
	pthread_attr_setstacksize(&attributes, 65536);
	pthread_mutex_lock(&gate);
	while (count <= world->processes && number == 0) {
		number = pthread_create(&threads[count], &attributes, wait_at_gate, &gate);
		count += number == 0;
	}
	pthread_mutex_unlock(&gate);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_attr_destroy(&attributes);
	return count > world->processes ? ATTEMPT_REACHED : number;
}

static int change_policy(const struct doctor_world *world)
{
	return append_to(path(world->project, POLICY_FILE_NAME, ""));
}

static int change_state(const struct doctor_world *world)
{
	autoclose int fd = open(path(world->state, "planted-", world->round), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return outcome(fd);
}

/* Only opens the directory: it is the user's. */
static int open_state(const struct doctor_world *world)
{
	autoclose int fd = open(path(world->home, ".local/state/berm", ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return outcome(fd);
}

static int change_log(const struct doctor_world *world)
{
	autoclose int fd =
		open(path(world->state, "log/planted-", world->round), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return outcome(fd);
}

#define ANY_LEVEL LEVEL_PARTIAL

/* The limits come last: reaching one may end the run. */
const struct attempt attempt_table[] = {
	{ "write-outside", GUARANTEE_WRITES, ANY_LEVEL, "create a file outside the project", create_outside },
	{ "write-visible", GUARANTEE_WRITES, ANY_LEVEL, "write to a readable file", change_visible },
	{ "chmod-visible", GUARANTEE_WRITES, LEVEL_ENFORCED, "change the mode of a readable file", chmod_visible },
	{ "rename-visible", GUARANTEE_WRITES, ANY_LEVEL, "rename a readable file", rename_visible },
	{ "reopen-input", GUARANTEE_WRITES, LEVEL_ENFORCED, "reopen standard input for writing", reopen_input },
	{ "read-denied", GUARANTEE_SECRETS, LEVEL_LAUNCH, "read .env", read_denied },
	{ "read-linked", GUARANTEE_SECRETS, LEVEL_LAUNCH, "read .env through a new hard link", read_linked },
	{ "read-renamed", GUARANTEE_SECRETS, LEVEL_LAUNCH, "rename .env and read it", read_renamed },
	{ "list-keys", GUARANTEE_SECRETS, LEVEL_LAUNCH, "list ~/.ssh", list_keys },
#ifdef __APPLE__
	{ "clone-directory", GUARANTEE_SECRETS, LEVEL_LAUNCH, "clone the project and read .env in the clone",
	  attempt_clone_directory },
	{ "data-volume", GUARANTEE_SECRETS, LEVEL_LAUNCH, "read .env below /System/Volumes/Data", attempt_data_volume },
#endif
	{ "read-replaced", GUARANTEE_SECRETS, LEVEL_REPAIR, "read a denied file that the host has replaced", read_replaced },
	{ "read-late", GUARANTEE_SECRETS, LEVEL_REPAIR, "read a denied file that the host has brought", read_late },
	{ "plant-hook", GUARANTEE_PLANTING, LEVEL_LAUNCH, "write to a git hook", plant_hook },
	{ "plant-config", GUARANTEE_PLANTING, LEVEL_LAUNCH, "write to .git/config", plant_config },
	{ "replace-git", GUARANTEE_PLANTING, LEVEL_LAUNCH, "rename .git", replace_git },
	{ "plant-settings", GUARANTEE_PLANTING, LEVEL_LAUNCH, "create a file in an agent's settings directory",
	  plant_settings },
	{ "plant-kept", GUARANTEE_PLANTING, LEVEL_REPAIR, "create a protected name that stays", plant_kept },
	{ "plant-new", GUARANTEE_PLANTING, LEVEL_STRICT, "create a protected directory that does not exist", plant_new },
	{ "plant-file", GUARANTEE_PLANTING, LEVEL_STRICT, "create a protected file that does not exist", plant_file },
	{ "plant-moved", GUARANTEE_PLANTING, LEVEL_STRICT, "rename or link a file to a protected name", plant_moved },
	{ "plant-exchange", GUARANTEE_PLANTING, LEVEL_STRICT, "exchange a directory for one with a protected name in it",
	  attempt_exchange },
	{ "connect-tcp", GUARANTEE_NETWORK, ANY_LEVEL, "connect to a service on the host's loopback", connect_tcp },
	{ "connect-tcp6", GUARANTEE_NETWORK, ANY_LEVEL, "connect to the host's loopback over IPv6", connect_tcp6 },
	{ "send-udp", GUARANTEE_NETWORK, ANY_LEVEL, "send a datagram to the host's loopback", send_udp },
	{ "see-process", GUARANTEE_PROCESSES, LEVEL_ENFORCED, "inspect a process of the host", see_process },
	{ "signal-process", GUARANTEE_PROCESSES, LEVEL_ENFORCED, "signal a process of the host", signal_process },
	{ "signal-group", GUARANTEE_PROCESSES, LEVEL_ENFORCED, "signal the process group that berm is in", signal_group },
	{ "survive", GUARANTEE_PROCESSES, ANY_LEVEL, "leave a process behind", survive },
	{ "connect-unix", GUARANTEE_IPC, ANY_LEVEL, "connect to a Unix socket of the host", connect_outside },
	{ "connect-project", GUARANTEE_IPC, ANY_LEVEL, "connect to a Unix socket in the project", connect_project },
	{ "connect-pruned", GUARANTEE_IPC, LEVEL_LAUNCH, "connect to a Unix socket that no search finds", connect_pruned },
	{ "connect-abstract", GUARANTEE_IPC, LEVEL_LAUNCH, "connect to an abstract socket of the host", attempt_abstract },
	{ "shared-memory", GUARANTEE_IPC, LEVEL_LAUNCH, "attach shared memory of the host", read_segment },
	{ "variable", GUARANTEE_ENVIRONMENT, ANY_LEVEL, "read a variable that no rule passes", read_variable },
	{ "change-policy", GUARANTEE_INTEGRITY, ANY_LEVEL, "write to the project's policy", change_policy },
	{ "change-state", GUARANTEE_INTEGRITY, ANY_LEVEL, "create a file in the state directory", change_state },
	{ "open-state", GUARANTEE_INTEGRITY, ANY_LEVEL, "open ~/.local/state/berm", open_state },
	{ "change-log", GUARANTEE_AUDIT, ANY_LEVEL, "create a file among the records of runs", change_log },
	{ "namespace", GUARANTEE_KERNEL, ANY_LEVEL, "create a user namespace", attempt_namespace },
	{ "keyring", GUARANTEE_KERNEL, ANY_LEVEL, "use the user's keyring", attempt_keyring },
	{ "userfaultfd", GUARANTEE_KERNEL, ANY_LEVEL, "call userfaultfd", attempt_userfaultfd },
	{ "io-uring", GUARANTEE_KERNEL, ANY_LEVEL, "call io_uring_setup", attempt_io_uring },
	{ "perf", GUARANTEE_KERNEL, ANY_LEVEL, "call perf_event_open", attempt_perf },
	{ "bpf", GUARANTEE_KERNEL, ANY_LEVEL, "call bpf", attempt_bpf },
	{ "privileges", GUARANTEE_KERNEL, ANY_LEVEL, "gain privileges by a set-user-ID program", attempt_privileges },
	{ "capabilities", GUARANTEE_KERNEL, ANY_LEVEL, "hold or gain a capability", attempt_capabilities },
	{ "core", GUARANTEE_LIMITS, ANY_LEVEL, "leave a core file", keep_core },
	{ "open-files", GUARANTEE_LIMITS, ANY_LEVEL, "open more files than limits.open_files", open_many },
	{ "processes", GUARANTEE_LIMITS, LEVEL_ENFORCED, "start more threads than limits.processes", start_many },
};

const size_t attempt_count = sizeof attempt_table / sizeof attempt_table[0];
_Static_assert(sizeof attempt_table / sizeof attempt_table[0] <= ATTEMPT_MAX, "results have room");

/* The members of a world as arguments: one table for writing and parsing. */
static const struct field {
	const char *name;
	size_t offset;
	bool is_text;
} fields[] = {
	{ "round", offsetof(struct doctor_world, round), true },
	{ "token", offsetof(struct doctor_world, token), true },
	{ "project", offsetof(struct doctor_world, project), true },
	{ "outside", offsetof(struct doctor_world, outside), true },
	{ "readable", offsetof(struct doctor_world, readable), true },
	{ "state", offsetof(struct doctor_world, state), true },
	{ "home", offsetof(struct doctor_world, home), true },
	{ "tcp", offsetof(struct doctor_world, tcp), false },
	{ "tcp6", offsetof(struct doctor_world, tcp6), false },
	{ "udp", offsetof(struct doctor_world, udp), false },
	{ "victim", offsetof(struct doctor_world, victim), false },
	{ "segment", offsetof(struct doctor_world, segment), false },
	{ "open-files", offsetof(struct doctor_world, open_files), false },
	{ "processes", offsetof(struct doctor_world, processes), false },
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

char **doctor_arguments(struct arena *arena, const char *program, const struct doctor_world *world)
{
	char **words = arena_alloc(arena, (FIELD_COUNT + 3) * sizeof *words);
	words[0] = arena_copy(arena, program);
	words[1] = arena_copy(arena, "doctor-attempts");
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		const char *place = (const char *)world + fields[i].offset;
		if (fields[i].is_text) {
			const char *text;
			memcpy(&text, place, sizeof text);
			words[i + 2] = arena_copy(arena, text);
		} else {
			int number;
			memcpy(&number, place, sizeof number);
			words[i + 2] = arena_printf(arena, "%d", number);
		}
	}
	return words;
}

bool doctor_world_parse(int argc, char **argv, struct doctor_world *world)
{
	if (argc != FIELD_COUNT + 1)
		return false;
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		char *place = (char *)world + fields[i].offset;
		const char *text = argv[i + 1];
		int number = (int)strtol(text, NULL, 10);
		if (fields[i].is_text)
			memcpy(place, &text, sizeof text);
		else
			memcpy(place, &number, sizeof number);
	}
	return true;
}
