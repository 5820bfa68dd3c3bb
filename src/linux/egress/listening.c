/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the kernel's table of TCP sockets, in which listening ones come first. */
#include "linux/egress/listening.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/egress/egress.h"

enum {
	TABLE_BYTES = 32 << 10, /* some 200 sockets; others are not seen */
	STATE_LISTEN = 0x0a,
	FIRST_CHOSEN_PORT = 32768, /* the kernel's choice begins here (ip_local_port_range) */
	NAME_BYTES = 32,
};

/* The address is printed as 32-bit words of the machine's byte order. */
static bool parse_address(const char *hex, size_t words, struct address *address)
{
	for (size_t i = 0; i < words; i++) {
		char digits[9] = { 0 };
		uint32_t word;
		for (size_t k = 0; k < 8; k++)
			if (!isxdigit((unsigned char)(digits[k] = hex[8 * i + k])))
				return false;
		word = (uint32_t)strtoul(digits, NULL, 16);
		memcpy(address->bytes + 4 * i, &word, sizeof word);
	}
	return hex[8 * words] == ':';
}

/* Reads one number and moves behind it. False if there is none, or none of this size. */
static bool parse_number(const char **at, int base, unsigned long long max, unsigned long long *number)
{
	char *end;
	errno = 0;
	*number = strtoull(*at, &end, base);
	if (end == *at || errno != 0 || *number > max)
		return false;
	*at = end;
	return true;
}

/* Moves behind so many fields and the blanks before each. */
static void skip_fields(const char **at, int count)
{
	for (; count > 0; count--) {
		*at += strspn(*at, " ");
		*at += strcspn(*at, " ");
	}
}

bool listening_parse(const char *line, bool is_v6, struct listening *result)
{
	size_t words = is_v6 ? 4 : 1;
	unsigned long long port, state, inode;
	const char *at = strchr(line, ':');

	*result = (struct listening){ .address.is_v6 = is_v6 };
	if (!at || at[1] != ' ' || !parse_address(at + 2, words, &result->address))
		return false;
	at += 3 + 8 * words;
	/* port, peer, state, queues, timer, retransmits, uid, timeout, inode */
	if (!parse_number(&at, 16, UINT16_MAX, &port))
		return false;
	skip_fields(&at, 1);
	if (!parse_number(&at, 16, UINT8_MAX, &state) || state != STATE_LISTEN)
		return false;
	skip_fields(&at, 5);
	if (!parse_number(&at, 10, UINT64_MAX, &inode))
		return false;
	result->port = (uint16_t)port;
	result->inode = inode;
	return true;
}

typedef void listening_found(void *self, const struct listening *listening);

static void parse_table(char *text, bool is_v6, listening_found *found, void *self)
{
	char *line;
	while ((line = strsep(&text, "\n"))) {
		struct listening listening;
		if (listening_parse(line, is_v6, &listening))
			found(self, &listening);
	}
}

/* Reads the tables of the process's network namespace. */
static void each_listening(const char *process, listening_found *found, void *self)
{
	static const char *const names[] = { "tcp", "tcp6" };
	for (int v6 = 0; v6 < 2; v6++) {
		char path[64], text[TABLE_BYTES];
		size_t length = 0;
		ssize_t got = 0;
		autoclose int fd = -1;
		snprintf(path, sizeof path, "/proc/%s/net/%s", process, names[v6]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		do {
			got = fd < 0 ? 0 : read(fd, text + length, sizeof text - 1 - length);
			length += got > 0 ? (size_t)got : 0;
		} while (got > 0 && length < sizeof text - 1);
		text[length] = '\0';
		parse_table(text, v6, found, self);
	}
}

struct owner_search {
	const struct address *address;
	uint16_t port;
	uint64_t inode; /* 0: not found */
};

static bool is_any(const struct address *address)
{
	static const uint8_t zero[sizeof address->bytes];
	return memcmp(address->bytes, zero, address->is_v6 ? 16 : 4) == 0;
}

/* A socket on `::` takes the port of IPv4, too. */
static void match_owner(void *self, const struct listening *listening)
{
	struct owner_search *search = self;
	bool is_same = listening->address.is_v6 == search->address->is_v6 &&
		       memcmp(listening->address.bytes, search->address->bytes, listening->address.is_v6 ? 16 : 4) == 0;
	if (listening->port == search->port && (is_same || is_any(&listening->address) || is_any(search->address)))
		search->inode = listening->inode;
}

static bool has_socket(int proc, const char *pid, const char *wanted)
{
	char path[NAME_BYTES], target[NAME_BYTES];
	autoclosedir DIR *stream = NULL;
	const struct dirent *entry;
	int fd;

	snprintf(path, sizeof path, "%.20s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !(stream = fdopendir(fd)))
		close(fd);
	while (stream && (entry = readdir(stream))) {
		ssize_t length = readlinkat(dirfd(stream), entry->d_name, target, sizeof target - 1);
		target[length > 0 ? length : 0] = '\0';
		if (strcmp(target, wanted) == 0)
			return true;
	}
	return false;
}

static void describe(int proc, const char *pid, char *out, size_t size)
{
	char path[NAME_BYTES], name[NAME_BYTES] = "a process\n";
	autoclose int fd = -1;
	ssize_t got;

	snprintf(path, sizeof path, "%.20s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
	if (got > 0)
		name[got] = '\0';
	name[strcspn(name, "\n")] = '\0';
	snprintf(out, size, "%s (pid %.20s)", name, pid);
}

bool listening_owner(const struct address *address, uint16_t port, char *out, size_t size)
{
	struct owner_search search = { .address = address, .port = port };
	char wanted[NAME_BYTES];
	autoclosedir DIR *proc = NULL;
	const struct dirent *entry;

	each_listening("self", match_owner, &search);
	if (search.inode == 0 || !(proc = opendir("/proc")))
		return false;
	snprintf(wanted, sizeof wanted, "socket:[%llu]", (unsigned long long)search.inode);
	while ((entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]) && has_socket(dirfd(proc), entry->d_name, wanted)) {
			describe(dirfd(proc), entry->d_name, out, size);
			return true;
		}
	return false;
}

struct unpublished {
	const struct plan *plan;
	const struct egress_port *own; /* on which berm listens inside */
	int own_count;
	uint16_t lowest; /* 0: none */
};

static void match_unpublished(void *self, const struct listening *listening)
{
	struct unpublished *search = self;
	const struct plan_published *published = &search->plan->network.publish;
	uint16_t port = listening->port;
	if (port >= FIRST_CHOSEN_PORT || (search->lowest && port >= search->lowest))
		return;
	for (int i = 0; i < search->own_count; i++)
		if (search->own[i].port == port)
			return;
	for (size_t i = 0; i < published->count; i++)
		if (published->items[i].port == port)
			return;
	search->lowest = port;
}

uint16_t listening_unpublished(const struct plan *plan, pid_t init)
{
	struct egress_port own[EGRESS_PORT_MAX];
	struct unpublished search = { .plan = plan, .own = own };
	struct error ignored = { 0 };
	char process[NAME_BYTES];

	if (egress_is_needed(plan))
		search.own_count = egress_ports(plan, own, &ignored);
	snprintf(process, sizeof process, "%ld", (long)init);
	each_listening(process, match_unpublished, &search);
	return search.lowest;
}
