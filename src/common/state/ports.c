/* SPDX-License-Identifier: Apache-2.0 */
/* The files are empty and stay: a file that is removed while another run opens it could be locked
 * twice. */
#include "common/state/ports.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/remove_tree.h"
#include "common/state/state.h"

const char state_ports[] = "ports";

int state_claim_port(const struct plan *plan, const char *name)
{
	const char *shown = plan->state.directory;
	struct error ignored = { 0 };
	autoclose int top = state_open(plan->arena, plan->context.state_directory, true, &ignored);
	autoclose int projects = top < 0 ? -1 : state_enter(top, state_projects, shown, true, &ignored);
	autoclose int project = projects < 0 ? -1 : state_enter(projects, plan->state.project_key, shown, true, &ignored);
	autoclose int ports = project < 0 ? -1 : state_enter(project, state_ports, shown, true, &ignored);
	autoclose int fd = -1;

	if (ports < 0)
		return STATE_PORT_UNKNOWN;
	fd = openat(ports, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return STATE_PORT_UNKNOWN;
	state_remember_project(project, plan->context.project);
	switch (state_lock(fd, false)) {
	case 0:
		return steal_fd(&fd);
	case 1:
		return STATE_PORT_TAKEN;
	default: /* a network file system without locks */
		return STATE_PORT_UNKNOWN;
	}
}

void state_forget_ports(int project)
{
	struct error ignored = { 0 };
	state_remove(project, state_ports, state_ports, &ignored);
}
