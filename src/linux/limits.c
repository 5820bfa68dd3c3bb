/* SPDX-License-Identifier: Apache-2.0 */
/* rlimits from the plan. Never raises a limit above what berm itself was started with. */
#include "linux/limits.h"

#include <errno.h>
#include <sys/resource.h>

static int set_limit(int resource, uint64_t value, const char *name, struct error *err)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return error_errno(err, errno, "cannot read the limit on %s", name);
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = value;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (setrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return error_errno(err, errno, "cannot limit %s", name);
	return 0;
}

int limits_apply(const struct plan *plan, struct error *err)
{
	const struct setting *limits = plan->limits;
	/* A core file would carry the command's memory to wherever the host's core_pattern sends it. */
	if (set_limit(RLIMIT_CORE, 0, "core files", err) < 0)
		return -1;
	if (limits[LIMIT_OPEN_FILES].is_set && set_limit(RLIMIT_NOFILE, limits[LIMIT_OPEN_FILES].value, "open files", err) < 0)
		return -1;
	if (limits[LIMIT_PROCESSES].is_set && set_limit(RLIMIT_NPROC, limits[LIMIT_PROCESSES].value, "processes", err) < 0)
		return -1;
	/* RLIMIT_AS would break programs that reserve address space (java, node's WebAssembly); DATA counts what they use. */
	if (limits[LIMIT_MEMORY].is_set && set_limit(RLIMIT_DATA, limits[LIMIT_MEMORY].value, "memory", err) < 0)
		return -1;
	return 0;
}
