/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the host's sockets and System V and POSIX objects. A name that starts with @ is
 * abstract. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t unix_address(struct sockaddr_un *address, const char *name)
{
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	size_t length = strlen(name);
	if (length >= sizeof address->sun_path)
		exit(64);
	memcpy(address->sun_path, name, length);
	if (name[0] != '@')
		return sizeof *address;
	address->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static long connect_stream(const char *name)
{
	struct sockaddr_un address;
	socklen_t length = unix_address(&address, name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	long result = result_of(connect(fd, (struct sockaddr *)&address, length));
	if (result == 0 && write(fd, "ATTACK", 6) < 0)
		result = -errno;
	close(fd);
	return result;
}

static void run_connect(char **names)
{
	for (; *names; names++)
		report(labelled("connect", *names), connect_stream(*names));
}

/* Datagram sockets need no connect: one end of a pair sends to any path (and AF_UNSPEC undoes the
 * pairing first). */
static long send_from_pair(const char *name, bool is_disconnected)
{
	struct sockaddr_un address;
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	socklen_t length = unix_address(&address, name);
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	if (is_disconnected && connect(pair[0], &none, sizeof none))
		return -errno;
	return result_of(sendto(pair[0], "ATTACK", 6, MSG_DONTWAIT, (struct sockaddr *)&address, length));
}

static long send_message(const char *name)
{
	struct sockaddr_un address;
	socklen_t length = unix_address(&address, name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	struct iovec vector = { (char[]){ "ATTACK" }, 6 };
	struct mmsghdr messages[1] = {
		{ .msg_hdr = { .msg_name = &address, .msg_namelen = length, .msg_iov = &vector, .msg_iovlen = 1 } }
	};
	if (sendmsg(fd, &messages[0].msg_hdr, MSG_DONTWAIT) >= 0)
		return 0;
	return sendmmsg(fd, messages, 1, MSG_DONTWAIT) == 1 ? 0 : -errno;
}

static void run_datagram(char **names)
{
	for (; *names; names++) {
		report(labelled("pair-sendto", *names), send_from_pair(*names, false));
		report(labelled("pair-unspec-sendto", *names), send_from_pair(*names, true));
		report(labelled("sendmsg", *names), send_message(*names));
	}
}

/* Takes over a name that a host program may connect to. */
static void run_bind(char **names)
{
	for (; *names; names++) {
		struct sockaddr_un address;
		socklen_t length = unix_address(&address, *names);
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		report(labelled("bind", *names), fd < 0 ? -errno : result_of(bind(fd, (struct sockaddr *)&address, length)));
	}
}

static long read_shared(int id)
{
	char *memory = shmat(id, NULL, SHM_RDONLY);
	return memory == (void *)-1 ? -errno : memory[0] ? 0 : -ENODATA;
}

/* KEY SHMID MSGID SEMID */
static void run_sysv(char **arguments)
{
	key_t key = (key_t)strtoul(arguments[0], NULL, 0);
	int id = shmget(key, 0, 0);
	report("shm-key", id < 0 ? -errno : read_shared(id));
	report("shm-id", read_shared(atoi(arguments[1])));
	report("msg-key", result_of(msgget(key, 0)));
	struct msqid_ds queue;
	report("msg-id", result_of(msgctl(atoi(arguments[2]), IPC_STAT, &queue)));
	report("sem-key", result_of(semget(key, 0, 0)));
	report("sem-id", result_of(semctl(atoi(arguments[3]), 0, GETVAL)));
}

/* NAME, as for shm_open and mq_open. */
static void run_posix(char **names)
{
	char path[300];
	snprintf(path, sizeof path, "/dev/shm%s", names[0]);
	report("posix-shm", result_of(open(path, O_RDONLY | O_CLOEXEC)));
	report("posix-queue", result_of(mq_open(names[0], O_RDONLY | O_NONBLOCK)));
}

/* Reads a key by its serial and by its description. SERIAL DESCRIPTION */
static void run_keyring(char **arguments)
{
	char payload[64];
	long serial = strtol(arguments[0], NULL, 10);
	report("key-read", result_of(syscall(SYS_keyctl, 11 /* KEYCTL_READ */, serial, payload, sizeof payload, 0)));
	report("key-request", result_of(syscall(SYS_request_key, "user", arguments[1], NULL, 0)));
	report("key-search",
	       result_of(syscall(SYS_keyctl, 10 /* KEYCTL_SEARCH */, -4 /* user keyring */, "user", arguments[1], 0)));
}

const struct attack attacks_sockets[] = {
	{ "connect", run_connect, "PATH|@NAME...: stream" },
	{ "datagram", run_datagram, "PATH|@NAME...: sendto, sendmsg, unspec" },
	{ "bind", run_bind, "PATH|@NAME..." },
	{ "sysv", run_sysv, "KEY SHMID MSGID SEMID" },
	{ "posix-ipc", run_posix, "NAME" },
	{ "keyring", run_keyring, "SERIAL DESCRIPTION" },
	{ NULL, NULL, NULL },
};
