/* SPDX-License-Identifier: Apache-2.0 */
/* Gives up privileges for good. Each call is checked: a sandbox with half of its privileges dropped
 * is none. */
#include "linux/confine/credentials.h"

#include <errno.h>
#include <grp.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

extern char **environ;

int credentials_hide(struct error *err)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot make init not dumpable");
	return 0;
}

void credentials_wipe_environment(void)
{
	for (char **entry = environ; entry && *entry; entry++)
		explicit_bzero(*entry, strlen(*entry));
}

int credentials_freeze(struct error *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot set no_new_privs");
	return 0;
}

/* Locks the securebits and clears the ambient set, by which a later execve or setuid would regain
 * capabilities. */
static int lock_securebits(void)
{
	const unsigned bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
			      SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	/* Not by libcap, which queries each capability first: 41 more system calls in every
	 * launch. */
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0 ? -1
															   : 0;
}

static int empty_bounding_set(void)
{
	for (int capability = 0; capability < cap_max_bits(); capability++)
		/* Without CAP_SETPCAP the kernel refuses even what has been dropped before. */
		if (cap_drop_bound((cap_value_t)capability) < 0 && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) != 0) {
			errno = EPERM;
			return -1;
		}
	return 0;
}

static void cleanup_cap(cap_t *capabilities)
{
	if (*capabilities)
		cap_free(*capabilities);
}

/* Drops all but the first `count` of these. */
static int drop_but(const cap_value_t *kept, int count, struct error *err)
{
	__attribute__((cleanup(cleanup_cap))) cap_t none = cap_init();
	__attribute__((cleanup(cleanup_cap))) cap_t left = NULL;
	if (!none ||
	    (count > 0 && (cap_set_flag(none, CAP_PERMITTED, count, kept, CAP_SET) < 0 ||
			   cap_set_flag(none, CAP_EFFECTIVE, count, kept, CAP_SET) < 0)) ||
	    cap_set_proc(none) < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	/* Verified, because every restriction inside depends on it. */
	left = cap_get_proc();
	if (!left || cap_compare(none, left) != 0)
		return error_set(err, "the kernel still reports capabilities after dropping them");
	return 0;
}

static int drop(struct error *err)
{
	return drop_but(NULL, 0, err);
}

int credentials_bound(struct error *err)
{
	return empty_bounding_set() < 0 ? error_errno(err, errno, "cannot empty the bounding set of capabilities") : 0;
}

int credentials_drop(struct error *err)
{
	if (lock_securebits() < 0 || empty_bounding_set() < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	return drop(err);
}

int credentials_drop_bounded(bool keeps_ptrace, struct error *err)
{
	const cap_value_t kept = CAP_SYS_PTRACE;
	/* The last one suffices: credentials_bound drops them in order, or fails. */
	if (prctl(PR_CAPBSET_READ, cap_max_bits() - 1, 0, 0, 0) != 0)
		return error_set(err, "the bounding set of capabilities is not empty");
	if (lock_securebits() < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	return drop_but(&kept, keeps_ptrace, err);
}

int credentials_drop_rest(struct error *err)
{
	return drop(err);
}

int credentials_keep_mounting(struct error *err)
{
	static const cap_value_t kept[] = { CAP_SYS_ADMIN, CAP_DAC_OVERRIDE };
	if (lock_securebits() < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	return drop_but(kept, sizeof kept / sizeof kept[0], err);
}

int credentials_drop_all(struct error *err)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return error_set(err, "no_new_privs is not set");
	if ((lock_securebits() < 0 || empty_bounding_set() < 0) && errno != EPERM)
		return error_errno(err, errno, "cannot drop capabilities");
	return drop(err);
}

int credentials_follow_parent(struct error *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return error_errno(err, errno, "cannot make the kernel kill this process with its parent");
	return 0;
}

int credentials_drop_outside(struct error *err)
{
	enum { NOBODY = 65534 };
	__attribute__((cleanup(cleanup_cap))) cap_t none = cap_init();
	__attribute__((cleanup(cleanup_cap))) cap_t left = NULL;

	/* EINVAL: this user namespace does not map that id. EPERM: it forbids setgroups. Then the
	 * ids stay root's and the capabilities are dropped all the same. */
	if (geteuid() == 0) {
		if (setgroups(0, NULL) < 0 && errno != EPERM)
			return error_errno(err, errno, "cannot drop root's supplementary groups");
		if (setresgid(NOBODY, NOBODY, NOBODY) < 0 && errno != EINVAL)
			return error_errno(err, errno, "cannot switch from root's group");
		if (setresuid(NOBODY, NOBODY, NOBODY) < 0 && errno != EINVAL)
			return error_errno(err, errno, "cannot switch to an unprivileged user");
	}
	if (!none || cap_reset_ambient() < 0 || cap_set_proc(none) < 0)
		return error_errno(err, errno, "cannot drop capabilities");
	left = cap_get_proc();
	if (!left || cap_compare(none, left) != 0)
		return error_set(err, "the kernel still reports capabilities after dropping them");
	return 0;
}
