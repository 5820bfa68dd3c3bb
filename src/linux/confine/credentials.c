/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up privileges for good. Each call is checked: a wall that half dropped its powers is none. */
#include "linux/confine/credentials.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

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

/* What would let a later execve or setuid give capabilities back. */
static int close_ways_back(void)
{
	const unsigned bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
			      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	/* Not by libcap, which asks for each capability first: a launch would make 41 system calls more. */
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0 ? -1
															   : 0;
}

/* To ask is cheaper than to drop, where it was done before. */
static int empty_bounding_set(bool asks)
{
	for (int capability = 0; capability < cap_max_bits(); capability++)
		if ((!asks || prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 0) && cap_drop_bound((cap_value_t)capability) < 0)
			return -1;
	return 0;
}

static void cleanup_cap(cap_t *capabilities)
{
	if (*capabilities)
		cap_free(*capabilities);
}

static int drop(struct error *err)
{
	__attribute__((cleanup(cleanup_cap))) cap_t none = cap_init();
	__attribute__((cleanup(cleanup_cap))) cap_t left = NULL;
	if (!none || cap_set_proc(none) < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	/* Looked at again, because everything inside rests on it. */
	left = cap_get_proc();
	if (!left || cap_compare(none, left) != 0)
		return error_set(err, "capabilities are still there after dropping them");
	return 0;
}

int credentials_bound(struct error *err)
{
	return empty_bounding_set(false) < 0 ? error_errno(err, errno, "cannot empty the bounding set of capabilities") : 0;
}

int credentials_drop(struct error *err)
{
	if (close_ways_back() < 0 || empty_bounding_set(true) < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	return drop(err);
}

int credentials_drop_all(struct error *err)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return error_set(err, "no_new_privs is not set");
	if ((close_ways_back() < 0 || empty_bounding_set(true) < 0) && errno != EPERM)
		return error_errno(err, errno, "cannot drop capabilities");
	return drop(err);
}

int credentials_follow_parent(struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot tie init's life to berm's");
	return 0;
}

int credentials_drop_outside(struct error *err)
{
	enum { NOBODY = 65534 };
	__attribute__((cleanup(cleanup_cap))) cap_t none = cap_init();
	__attribute__((cleanup(cleanup_cap))) cap_t left = NULL;

	/* EINVAL: in this user namespace there is nobody else. EPERM: a user namespace that forbids setgroups. Then root's name is kept
	 * and its powers go all the same. */
	if (geteuid() == 0) {
		if (setgroups(0, NULL) < 0 && errno != EPERM)
			return error_errno(err, errno, "cannot leave root's groups");
		if (setresgid(NOBODY, NOBODY, NOBODY) < 0 && errno != EINVAL)
			return error_errno(err, errno, "cannot leave root's group");
		if (setresuid(NOBODY, NOBODY, NOBODY) < 0 && errno != EINVAL)
			return error_errno(err, errno, "cannot become nobody");
	}
	if (!none || cap_reset_ambient() < 0 || cap_set_proc(none) < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	left = cap_get_proc();
	if (!left || cap_compare(none, left) != 0)
		return error_set(err, "capabilities are still there after dropping them");
	return 0;
}
