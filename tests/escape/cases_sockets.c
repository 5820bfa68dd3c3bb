/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on the host's sockets and shared objects. The test listens itself, at the places where
 * daemons would. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* A listener at a path, or at an abstract name that starts with @; -1 if the place is taken or not
 * ours. */
static int listen_at(const char *name, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(name);
	socklen_t size = sizeof address;
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || length >= sizeof address.sun_path)
		die("socket %s", name);
	memcpy(address.sun_path, name, length);
	if (name[0] == '@') {
		address.sun_path[0] = '\0';
		size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	}
	if (bind(fd, (struct sockaddr *)&address, size) || (type == SOCK_STREAM && listen(fd, 16))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int drain(int fd, int type)
{
	char block[64];
	int count = 0;
	for (;; count++) {
		ssize_t result = type == SOCK_STREAM ? accept4(fd, NULL, NULL, SOCK_CLOEXEC)
						     : recv(fd, block, sizeof block, MSG_DONTWAIT);
		if (result < 0)
			return count;
		if (type == SOCK_STREAM)
			close((int)result);
	}
}

/* Compares, with a look at the listener: the control connects once, the verdict must not. */
static void contain_socket(struct trial *trial, const char *name)
{
	if (name[0] == '/')
		forget_later(&trial->world, name);
	int fd = listen_at(name, SOCK_STREAM);
	if (!expect(trial, fd >= 0, "control: cannot listen at %s", name))
		return;
	CONTAIN(trial, "connect", name);
	int arrived = drain(fd, SOCK_STREAM);
	expect(trial, arrived == 1, "%d connections arrived at %s", arrived, name);
	close(fd);
	if (name[0] == '/')
		unlink(name);
}

/* Where a daemon of the system would listen; only root can, and only where no daemon does. */
static void contain_system_socket(struct trial *trial, const char *directory, const char *path)
{
	if (geteuid() != 0 || access(path, F_OK) == 0)
		return;
	if (directory)
		make_elsewhere(&trial->world, directory, true, NULL);
	contain_socket(trial, path);
}

static void container_sockets(struct trial *trial)
{
	contain_socket(trial, path_of("%s/docker.sock", trial->world.runtime));
	make_directory(path_of("%s/podman", trial->world.runtime), 0700);
	contain_socket(trial, path_of("%s/podman/podman.sock", trial->world.runtime));
	contain_system_socket(trial, NULL, "/run/docker.sock");
	contain_system_socket(trial, NULL, "/var/run/docker.sock");
	contain_system_socket(trial, "/run/containerd", "/run/containerd/containerd.sock");
	contain_system_socket(trial, "/run/podman", "/run/podman/podman.sock");
}

static void bus_sockets(struct trial *trial)
{
	trial_variable(trial, "DBUS_SESSION_BUS_ADDRESS=unix:path=$RUNTIME/bus");
	contain_socket(trial, path_of("%s/bus", trial->world.runtime));
	make_directory(path_of("%s/systemd", trial->world.runtime), 0700);
	contain_socket(trial, path_of("%s/systemd/private", trial->world.runtime));
	contain_socket(trial, path_of("@/tmp/dbus-%s", strrchr(trial->world.base, '-') + 1));
	contain_system_socket(trial, "/run/dbus", "/run/dbus/system_bus_socket");
	contain_system_socket(trial, "/run/systemd", "/run/systemd/private");
}

static void agent_sockets(struct trial *trial)
{
	char *directory = path_of("/tmp/ssh-%.12s", trial->world.token + 7);
	make_elsewhere(&trial->world, directory, true, NULL);
	trial_variable(trial, path_of("SSH_AUTH_SOCK=%s/agent.1", directory));
	contain_socket(trial, path_of("%s/agent.1", directory));
	make_directory(path_of("%s/gnupg", trial->world.runtime), 0700);
	contain_socket(trial, path_of("%s/gnupg/S.gpg-agent", trial->world.runtime));
	make_elsewhere(&trial->world, path_of("%s/.gnupg", trial->world.home), true, NULL);
	contain_socket(trial, path_of("%s/.gnupg/S.berm-escape-%d", trial->world.home, getpid()));
}

static void multiplexer_sockets(struct trial *trial)
{
	char *directory = path_of("/tmp/tmux-%u", getuid());
	make_elsewhere(&trial->world, directory, true, NULL);
	trial_variable(trial, path_of("TMUX=%s/berm-escape-%d,1,0", directory, getpid()));
	contain_socket(trial, path_of("%s/berm-escape-%d", directory, getpid()));
}

static void display_sockets(struct trial *trial)
{
	trial_variable(trial, "DISPLAY=:987");
	trial_variable(trial, "WAYLAND_DISPLAY=wayland-987");
	if (make_elsewhere(&trial->world, "/tmp/.X11-unix", true, NULL))
		chmod("/tmp/.X11-unix", 01777);
	contain_socket(trial, path_of("/tmp/.X11-unix/X%d", 9870000 + getpid()));
	contain_socket(trial, path_of("@/tmp/.X11-unix/X%d", 9870000 + getpid()));
	contain_socket(trial, path_of("%s/wayland-987", trial->world.runtime));
}

static void abstract_socket(struct trial *trial)
{
	contain_socket(trial, path_of("@berm-escape-%s", strrchr(trial->world.base, '-') + 1));
}

static void datagrams(struct trial *trial)
{
	char *names[] = { path_of("%s/log.sock", trial->world.runtime),
			  path_of("@berm-escape-log-%s", strrchr(trial->world.base, '-') + 1) };
	for (size_t i = 0; i < 2; i++) {
		int fd = listen_at(names[i], SOCK_DGRAM);
		if (!expect(trial, fd >= 0, "control: cannot listen at %s", names[i]))
			continue;
		CONTAIN(trial, "datagram", names[i]);
		int arrived = drain(fd, SOCK_DGRAM);
		expect(trial, arrived == 3, "%d datagrams arrived at %s", arrived, names[i]);
		close(fd);
	}
}

static void link_to_socket(struct trial *trial)
{
	make_link(path_of("%s/host.sock", trial->world.runtime), path_of("%s/link.sock", trial->world.project));
	make_link(trial->world.runtime, path_of("%s/run", trial->world.project));
}

static void socket_behind_link(struct trial *trial)
{
	char *path = path_of("%s/host.sock", trial->world.runtime);
	int fd = listen_at(path, SOCK_STREAM);
	if (!expect(trial, fd >= 0, "control: cannot listen"))
		return;
	CONTAIN(trial, "connect", "link.sock", "run/host.sock", "/proc/self/cwd/link.sock");
	int arrived = drain(fd, SOCK_STREAM);
	expect(trial, arrived == 3, "%d connections arrived", arrived);
}

/* The abstract names belong to the network namespace: with the host's network only Landlock keeps
 * them apart. */
static void abstract_with_network(struct trial *trial)
{
	make_file(path_of("%s/policy.yml", trial->world.base), "version: 1\nnetwork: all\n", 0600);
	trial_option(trial, "--policy=$BASE/policy.yml");
	contain_socket(trial, path_of("@berm-escape-%s", strrchr(trial->world.base, '-') + 1));
}

static void abstract_without_landlock(struct trial *trial)
{
	(void)trial;
	refuse_call(444 /* landlock_create_ruleset */, EOPNOTSUPP);
}

static void abstract_name_shared(struct trial *trial)
{
	abstract_with_network(trial);
	char *name = path_of("@berm-escape-%s", strrchr(trial->world.base, '-') + 1);
	int fd = listen_at(name, SOCK_STREAM);
	trial->before_exec = abstract_without_landlock;
	INSIDE(trial, "$ATTACK", "connect", name);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "without Landlock an abstract socket of the host is reached");
	close(fd);
}

static int listeners[2] = { -1, -1 };

/* The project is made anew for each half, so the listener is too; the control's connection is
 * drained with it. */
static void listen_in_project(struct trial *trial)
{
	char *readable = path_of("%s/daemon.sock", trial->world.readonly);
	for (int i = 0; i < 2; i++)
		if (listeners[i] >= 0)
			close(listeners[i]);
	unlink(readable);
	listeners[0] = listen_at(path_of("%s/dev.sock", trial->world.project), SOCK_STREAM);
	listeners[1] = listen_at(readable, SOCK_STREAM);
	if (listeners[0] < 0 || listeners[1] < 0)
		die("listen in the project");
	if (!trial->berm_options[0])
		trial_option(trial, "--allow-read=$READONLY");
}

static void nothing_arrived(struct trial *trial)
{
	expect(trial, drain(listeners[0], SOCK_STREAM) == 0, "a connection arrived at the socket in the project");
	expect(trial, drain(listeners[1], SOCK_STREAM) == 0, "a connection arrived at the socket in a readable directory");
}

enum { UNSEARCHED = 3 };
static int unsearched[UNSEARCHED] = { -1, -1, -1 };

/* A listener in a directory that is not searched, bound by a relative path from the project. */
static int listen_from(const char *directory, const char *name)
{
	int before = open(".", O_PATH | O_CLOEXEC), fd;
	if (before < 0 || chdir(directory))
		die("chdir %s", directory);
	fd = listen_at(name, SOCK_STREAM);
	if (fchdir(before))
		die("fchdir");
	close(before);
	return fd;
}

/* A tree of software, as /opt and /nix are, and a directory of files.prune: nothing is searched
 * there. */
static void listen_unsearched(struct trial *trial)
{
	char *software = path_of("%s/daemon.sock", trial->world.readonly);
	for (int i = 0; i < UNSEARCHED; i++)
		if (unsearched[i] >= 0)
			close(unsearched[i]);
	unlink(software);
	make_directory(path_of("%s/node_modules", trial->world.project), 0755);
	make_directory(path_of("%s/node_modules/.cache", trial->world.project), 0755);
	make_file(path_of("%s/policy.yml", trial->world.base),
		  path_of("version: 1\nfiles: {system: [%s]}\n", trial->world.readonly), 0600);
	unsearched[0] = listen_at(software, SOCK_STREAM);
	unsearched[1] = listen_at(path_of("%s/node_modules/.cache/dev.sock", trial->world.project), SOCK_STREAM);
	unsearched[2] = listen_from(trial->world.project, "node_modules/relative.sock");
	if (unsearched[0] < 0 || unsearched[1] < 0 || unsearched[2] < 0)
		die("listen where nothing is searched");
	if (!trial->berm_options[0])
		trial_option(trial, "--policy=$BASE/policy.yml");
}

static void nothing_arrived_unsearched(struct trial *trial)
{
	for (int i = 0; i < UNSEARCHED; i++)
		expect(trial, drain(unsearched[i], SOCK_STREAM) == 0, "a connection arrived at socket %d", i);
}

static int fifo_reader = -1;

/* The test reads, so that opening it for writing does not wait. */
static void make_protected_fifo(struct trial *trial)
{
	char *path = path_of("%s/.vscode/deep/pipe", trial->world.project);
	if (fifo_reader >= 0)
		close(fifo_reader);
	make_directory(path_of("%s/.vscode", trial->world.project), 0755);
	make_directory(path_of("%s/.vscode/deep", trial->world.project), 0755);
	if (mkfifo(path, 0600) || (fifo_reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
		die("mkfifo %s", path);
}

static void nothing_in_fifo(struct trial *trial)
{
	char byte;
	expect(trial, read(fifo_reader, &byte, 1) <= 0, "bytes arrived in the protected FIFO");
}

static long make_key(const char *description, const char *payload)
{
	return syscall(SYS_add_key, "user", description, payload, strlen(payload), -4 /* user keyring */);
}

static void sysv_objects(struct trial *trial)
{
	key_t key = (key_t)(0x62000000 | getpid());
	int shm = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0600), msg = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
	int sem = semget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
	if (!expect(trial, shm >= 0 && msg >= 0 && sem >= 0, "control: cannot make System V objects"))
		return;
	char *memory = shmat(shm, NULL, 0);
	strcpy(memory, trial->world.token);
	char *key_text = path_of("%#x", key), *shm_text = path_of("%d", shm), *msg_text = path_of("%d", msg),
	     *sem_text = path_of("%d", sem);
	CONTAIN(trial, "sysv", key_text, shm_text, msg_text, sem_text);
	shmctl(shm, IPC_RMID, NULL);
	msgctl(msg, IPC_RMID, NULL);
	semctl(sem, 0, IPC_RMID);
}

static void posix_objects(struct trial *trial)
{
	char *name = path_of("/berm-escape-%d", getpid());
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	int shm = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	if (expect(trial, shm >= 0 && queue >= 0, "control: cannot make POSIX objects"))
		CONTAIN(trial, "posix-ipc", name);
	shm_unlink(name);
	mq_unlink(name);
}

static void shared_objects(struct trial *trial)
{
	sysv_objects(trial);
	posix_objects(trial);
	char *description = path_of("berm-escape-%d", getpid());
	long key = make_key(description, trial->world.token);
	if (!expect(trial, key > 0, "control: cannot make a key"))
		return;
	/* Possessed by the user keyring; any of his processes may read it. */
	syscall(SYS_keyctl, 5 /* SETPERM */, key, 0x3f3f0000);
	char *serial = path_of("%ld", key);
	CONTAIN(trial, "keyring", serial, description);
	CONTAIN(trial, "grep", "/proc/keys", description);
	syscall(SYS_keyctl, 21 /* INVALIDATE */, key);
}

const struct escape_case cases_sockets[] = {
	{ 25, "docker, podman, containerd sockets", 0, NULL, { NULL }, NULL, container_sockets, 0 },
	{ 26, "session and system D-Bus, systemd", 0, NULL, { NULL }, NULL, bus_sockets, 0 },
	{ 27, "ssh-agent, gpg-agent", 0, NULL, { NULL }, NULL, agent_sockets, 0 },
	{ 28, "a tmux server", 0, NULL, { NULL }, NULL, multiplexer_sockets, 0 },
	{ 29, "X11 (path and abstract), Wayland", 0, NULL, { NULL }, NULL, display_sockets, 0 },
	{ 30, "an abstract socket of the host", 0, NULL, { NULL }, NULL, abstract_socket, 0 },
	{ 31, "datagrams to a host socket, paired and AF_UNSPEC", 0, NULL, { NULL }, NULL, datagrams, 0 },
	{ 32, "a host socket behind a symlink in the project", 0, link_to_socket, { NULL }, NULL, socket_behind_link, 0 },
	{ 60, "System V, POSIX shared memory, queues, keyrings", 0, NULL, { NULL }, NULL, shared_objects, 0 },
	{ 123,
	  "a host socket that lies in the project or in what is readable",
	  0,
	  listen_in_project,
	  { "connect", "dev.sock", "$READONLY/daemon.sock" },
	  nothing_arrived,
	  NULL,
	  0 },
	{ 153, "an abstract socket with network: all", 0, NULL, { NULL }, NULL, abstract_name_shared, 0 },
	{ 185,
	  "a host socket in a tree of software or in a pruned directory",
	  0,
	  listen_unsearched,
	  { "connect", "$READONLY/daemon.sock", "node_modules/.cache/dev.sock", "node_modules/relative.sock" },
	  nothing_arrived_unsearched,
	  NULL,
	  0 },
	{ 186,
	  "a write to a FIFO in a protected directory",
	  0,
	  make_protected_fifo,
	  { "write", ".vscode/deep/pipe" },
	  nothing_in_fifo,
	  NULL,
	  0 },
	{ 0 },
};
