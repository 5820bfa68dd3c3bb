/* SPDX-License-Identifier: Apache-2.0 */
/* Uses two counters. `OutNoRoutes` counts connections and datagrams to addresses without a route.
 * `NoPorts` counts datagrams to ports on which no process listens; a DNS query to a resolver on the
 * loopback (127.0.0.53) is one of those. Reads the counters once per call and changes nothing. */
#include "linux/launch/network_attempts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum { COUNTERS_BYTES = 8192 }; /* about 1500 are in use; counters after that are missed */

static const struct {
	const char *protocol, *name;
} counters_of_interest[] = { { "Ip:", "OutNoRoutes" }, { "Udp:", "NoPorts" } };

/* Returns the next line of this protocol, or NULL. Each protocol has two lines that begin with its
 * name: the counters' names, then their values. */
static const char *line_of(const char *text, const char *protocol)
{
	size_t length = strlen(protocol);
	while (text && strncmp(text, protocol, length) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

static const char *next_word(const char *at)
{
	at += strcspn(at, " \n");
	return at + strspn(at, " ");
}

/* Returns the value of this counter. */
static unsigned long long count_of(const char *text, const char *protocol, const char *name)
{
	const char *names = line_of(text, protocol), *end = names ? strchr(names, '\n') : NULL;
	const char *values = end ? line_of(end + 1, protocol) : NULL;
	size_t length = strlen(name);

	while (names && values && names < end && *values && *values != '\n') {
		if (strncmp(names, name, length) == 0 && strcspn(names, " \n") == length)
			return strtoull(values, NULL, 10);
		names = next_word(names);
		values = next_word(values);
	}
	return 0;
}

unsigned long long network_attempts_counted(const char *counters)
{
	unsigned long long sum = 0;
	for (size_t i = 0; i < sizeof counters_of_interest / sizeof counters_of_interest[0]; i++)
		sum += count_of(counters, counters_of_interest[i].protocol, counters_of_interest[i].name);
	return sum;
}

bool network_attempts_seen(void)
{
	return network_attempts_total() > 0;
}

unsigned long long network_attempts_total(void)
{
	char counters[COUNTERS_BYTES];
	autoclose int fd = open("/proc/net/snmp", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, counters, sizeof counters - 1);
	if (got < 0)
		return 0;
	counters[got] = '\0';
	return network_attempts_counted(counters);
}
