/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/confine/listener.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "linux/confine/filter.h"

bool listener_is_available(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct filter_program program = { &allow, 1 };
	struct error ignored;
	int status = -1;
	pid_t pid = fork();
	if (pid == 0) {
		bool works = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && filter_load(&program, true, &ignored) >= 0;
		_exit(works ? 0 : 1);
	}
	if (pid < 0)
		return false;
	return child_wait(pid, &status) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
