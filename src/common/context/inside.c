/* SPDX-License-Identifier: Apache-2.0 */
#include "common/context/inside.h"

#include <sys/stat.h>
#include <unistd.h>

bool inside_sandbox(void)
{
	struct stat info;
	/* /run belongs to root. For root, the read-only mount distinguishes a sandbox from the
	 * host. */
	if (lstat(INSIDE_SUMMARY, &info) == 0 && S_ISREG(info.st_mode) && access(INSIDE_DIRECTORY, W_OK) < 0)
		return true;
	return inside_is_marked();
}
