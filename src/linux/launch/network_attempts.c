/* SPDX-License-Identifier: Apache-2.0 */
/* Two counters. `OutNoRoutes` grows with every connection or datagram to an address that no route leads to; `NoPorts` with every datagram
 * that nobody listens for, which is what a look-up comes to where the machine's resolver is one of its own loopback (127.0.0.53). Looks
 * once, when asked; changes nothing. */
#include "linux/launch/network_attempts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"

enum { COUNTERS_BYTES = 8192 }; /* some 1500 in use; a counter behind that is not seen */

static const struct {
	const char *protocol, *name;
} counters_of_interest[] = { { "Ip:", "OutNoRoutes" }, { "Udp:", "NoPorts" } };

/* Two lines for each protocol, both beginning with its name: the names of the counters, then their values. */
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

static bool counts(const char *text, const char *protocol, const char *name)
{
	const char *names = line_of(text, protocol), *end = names ? strchr(names, '\n') : NULL;
	const char *values = end ? line_of(end + 1, protocol) : NULL;
	size_t length = strlen(name);

	while (names && values && names < end && *values && *values != '\n') {
		if (strncmp(names, name, length) == 0 && strcspn(names, " \n") == length)
			return strtoull(values, NULL, 10) > 0;
		names = next_word(names);
		values = next_word(values);
	}
	return false;
}

bool sought_in(const char *counters)
{
	for (size_t i = 0; i < sizeof counters_of_interest / sizeof counters_of_interest[0]; i++)
		if (counts(counters, counters_of_interest[i].protocol, counters_of_interest[i].name))
			return true;
	return false;
}

bool sought_network(void)
{
	char counters[COUNTERS_BYTES];
	autoclose int fd = open("/proc/net/snmp", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, counters, sizeof counters - 1);
	if (got < 0)
		return false;
	counters[got] = '\0';
	return sought_in(counters);
}
