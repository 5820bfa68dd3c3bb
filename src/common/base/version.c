/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/version.h"

#include <stdlib.h>

bool version_is_at_least(const char *version, unsigned major, unsigned minor, bool if_unreadable)
{
	char *end;
	unsigned long found_major = strtoul(version, &end, 10);
	unsigned long found_minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	if (end == version || *end != '.')
		return if_unreadable;
	return found_major > major || (found_major == major && found_minor >= minor);
}
