/* SPDX-License-Identifier: Apache-2.0 */
/* For the case on LD_PRELOAD: writes the name of every program that loads it to
 * $BERM_TEST_MARKER. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((constructor)) void loaded(void)
{
	const char *marker = getenv("BERM_TEST_MARKER");
	int fd = marker ? open(marker, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	if (fd < 0)
		return;
	dprintf(fd, "%s\n", program_invocation_short_name);
	close(fd);
}
