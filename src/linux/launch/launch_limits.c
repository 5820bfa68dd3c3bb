/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of one launch: chooses how they are enforced, and makes the control group that they
 * need before init is forked. If the group cannot be made and the policy requires it, the run is
 * refused. */
#include "linux/launch/launch.h"

#include <unistd.h>

#include "linux/channel.h"
#include "linux/limits/systemd_scope.h"

/* Called if the expected control group could not be made: the limits are watched instead, if the
 * policy allows that. */
static int do_without_group(struct launch *launch, struct run_result *result, struct error *err)
{
	const struct plan *plan = launch->plan;
	struct cgroup_events ignored;
	launch->namespaces.has_group = false;
	cgroup_end(&launch->group, &ignored);
	if (limits_are_required(plan))
		return -1;
	result->note = *err;
	error_hint(&result->note, "limits are best effort in this run");
	limits_without_group(plan, &launch->limits);
	return 0;
}

int launch_limits(struct launch *launch, struct run_result *result, struct error *err)
{
	struct cgroup_base base;
	struct cgroup_limits limits;
	launch->group = (struct cgroup){ .base = -1, .outer = -1, .inner = -1 };
	limits_choose(launch->plan, &launch->limits, &base);
	launch->namespaces.has_scope = launch->limits.has_scope;
	if (!launch->limits.has_group) {
		if (base.fd >= 0)
			close(base.fd);
		return 0;
	}
	limits = limits_of_group(launch->plan, &base);
	if (cgroup_make(&base, &limits, &cgroup_kernel, &launch->group, err) < 0)
		return do_without_group(launch, result, err);
	launch->namespaces.has_group = true;
	launch->namespaces.group = launch->group.inner;
	return 0;
}

pid_t launch_fork(struct launch *launch, int *pidfd, struct run_result *result, struct error *err)
{
	pid_t pid = namespaces_fork(&launch->namespaces, pidfd, err);
	if (pid >= 0 || !launch->namespaces.has_group || do_without_group(launch, result, err) < 0)
		return pid;
	watch_end(&launch->watch);
	watch_start(&launch->watch, launch->plan, &launch->limits, launch->copy ? launch->copy->upper_path : NULL);
	return namespaces_fork(&launch->namespaces, pidfd, err);
}

int launch_scope(struct launch *launch, pid_t init, struct run_result *result, struct error *err)
{
	const struct plan *plan = launch->plan;
	struct cgroup_limits limits = limits_of_scope(plan, &launch->limits);
	struct message message = { .type = MESSAGE_SCOPE };

	message.value = systemd_scope_make(init, plan->context.uid, &limits, &launch->group, err) == 0;
	if (!message.value) {
		if (limits_are_required(plan))
			return error_hint(err, "the policy requires limits that the kernel enforces; --accept-weaker=limits "
					       "runs without them");
		result->note = *err;
		error_hint(&result->note, "limits are best effort in this run");
		*err = (struct error){ 0 };
	}
	limits_settle_scope(&launch->limits, message.value);
	if (!message.value) {
		watch_end(&launch->watch);
		watch_start(&launch->watch, plan, &launch->limits, launch->copy ? launch->copy->upper_path : NULL);
	}
	/* If init has exited, the supervisor reports it. */
	channel_send(launch->ends[0], &message);
	return 0;
}

void launch_await_scope(struct launch *launch)
{
	struct message message;
	if (channel_receive(launch->ends[1], &message) <= 0 || message.type != MESSAGE_SCOPE)
		_exit(EXIT_REFUSED);
	limits_settle_scope(&launch->limits, message.value);
}
