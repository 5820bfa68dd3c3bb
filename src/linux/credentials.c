/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up privileges for good. Each call is checked: a wall that half dropped its powers is none. */
#include "linux/credentials.h"

#include <errno.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>

int credentials_hide(struct error *err)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot make init unreadable");
	return 0;
}

int credentials_freeze(struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot set no_new_privs");
	return 0;
}

int credentials_drop(struct error *err)
{
	if (cap_set_mode(CAP_MODE_NOPRIV) < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	/* Verified, because everything inside rests on it. */
	if (cap_get_mode() != CAP_MODE_NOPRIV)
		return error_set(err, "capabilities are still there after dropping them");
	return 0;
}

int credentials_follow_parent(struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot tie init's life to berm's");
	return 0;
}
