/* SPDX-License-Identifier: Apache-2.0 */
/* Grants what the plan names and nothing else, with the rights that the kernel's ABI knows. Holds its own constants: the uapi
 * header of a build machine may be older than the kernel that berm runs on. Never follows a symlink to a granted path: the plan's
 * paths are canonical, so a symlink on the way was put there since. */
#include "linux/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"

#define BIT(number) (UINT64_C(1) << (number))

#define EXECUTE BIT(0)
#define WRITE_FILE BIT(1)
#define READ_FILE BIT(2)
#define READ_DIR BIT(3)
#define REMOVE_DIR BIT(4)
#define REMOVE_FILE BIT(5)
#define MAKE_CHAR BIT(6)
#define MAKE_DIR BIT(7)
#define MAKE_REG BIT(8)
#define MAKE_SOCK BIT(9)
#define MAKE_FIFO BIT(10)
#define MAKE_BLOCK BIT(11)
#define MAKE_SYM BIT(12)
#define REFER BIT(13) /* ABI 2 */
#define TRUNCATE BIT(14) /* ABI 3 */
#define IOCTL_DEV BIT(15) /* ABI 5 */
#define RESOLVE_UNIX BIT(16) /* ABI 9 */

#define BIND_TCP BIT(0) /* ABI 4 */
#define CONNECT_TCP BIT(1)
#define BIND_UDP BIT(2) /* ABI 10 */
#define CONNECT_SEND_UDP BIT(3)

#define SCOPE_ABSTRACT_SOCKET BIT(0) /* ABI 6 */
#define SCOPE_SIGNAL BIT(1)

/* Rights that make sense for something that is not a directory; others are refused by the kernel (EINVAL). */
#define FILE_RIGHTS (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX)

#define READ_RIGHTS (EXECUTE | READ_FILE | READ_DIR)
/* Without device nodes (MAKE_CHAR, MAKE_BLOCK), and without RESOLVE_UNIX: sockets that the command makes itself are reachable in any
 * case, and a socket of the host that lies in the project is reachable only if the policy names it. */
#define WRITE_RIGHTS                                                                                                           \
	(READ_RIGHTS | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM |        \
	 REFER | TRUNCATE)
#define DEVICE_RIGHTS (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV)

#define FILES_1 (BIT(13) - 1)
#define FILES_2 (FILES_1 | REFER)
#define FILES_3 (FILES_2 | TRUNCATE)
#define FILES_5 (FILES_3 | IOCTL_DEV)
#define FILES_9 (FILES_5 | RESOLVE_UNIX)
#define TCP (BIND_TCP | CONNECT_TCP)
#define UDP (BIND_UDP | CONNECT_SEND_UDP)
#define SCOPES (SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL)

static const struct {
	struct landlock_handled known;
	size_t attribute_size; /* how much of the ruleset's attributes this kernel can read: it grew twice */
	const char *missing;
} by_abi[LANDLOCK_ABI_NEWEST + 1] = {
	[0] = { { 0, 0, 0 }, 0, "no Landlock: nothing stands behind the mounts" },
	[1] = { { FILES_1, 0, 0 },
		8,
		"Landlock cannot allow renames across directories, stop truncation, or see TCP, signals and sockets" },
	[2] = { { FILES_2, 0, 0 }, 8, "Landlock does not stop truncation and does not see TCP, signals and sockets" },
	[3] = { { FILES_3, 0, 0 }, 8, "Landlock does not see TCP, device ioctls, signals and sockets" },
	[4] = { { FILES_3, TCP, 0 }, 16, "Landlock does not see device ioctls, signals and sockets" },
	[5] = { { FILES_5, TCP, 0 }, 16, "Landlock does not see signals and sockets" },
	[6] = { { FILES_5, TCP, SCOPES }, 24, "Landlock does not see sockets that have a path" },
	[7] = { { FILES_5, TCP, SCOPES }, 24, "Landlock does not see sockets that have a path" }, /* audit flags */
	[8] = { { FILES_5, TCP, SCOPES }, 24, "Landlock does not see sockets that have a path" }, /* all threads at once */
	[9] = { { FILES_9, TCP, SCOPES }, 24, "" },
	[10] = { { FILES_9, TCP | UDP, SCOPES }, 24, "" }, /* 48 bytes with what is kept out of the audit log: not used */
	[11] = { { FILES_9, TCP | UDP, SCOPES }, 24, "" }, /* sets no_new_privs itself if asked */
};

/* struct landlock_ruleset_attr and landlock_path_beneath_attr */
struct ruleset_attributes {
	uint64_t filesystem, network, scoped;
};
struct path_attributes {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

enum {
	NR_CREATE_RULESET = 444, /* the same on every architecture */
	NR_ADD_RULE = 445,
	NR_RESTRICT_SELF = 446,
	RULE_PATH_BENEATH = 1,
	CREATE_VERSION = 1,
};

struct ruleset {
	int fd;
	uint64_t handled;
};

static int row_for(int abi)
{
	if (abi < 0)
		return 0;
	return abi > LANDLOCK_ABI_NEWEST ? LANDLOCK_ABI_NEWEST : abi;
}

/* Opens for a rule. 1 and a descriptor, 0 if there is nothing to grant, -1. */
static int open_granted(const char *path, uint64_t resolve, int *fd, struct error *err)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };

	*fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	if (*fd >= 0)
		return 1;
	/* Absent, behind a directory that is hidden, or no longer what the plan saw: to grant less is always safe. */
	if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP)
		return 0;
	return error_errno(err, errno, "cannot open %s for Landlock", path);
}

/* An open walks up until every right that the file could use is granted, TRUNCATE among them even for reading. On a read-only mount
 * that right gives nothing away and lets the walk end at the grant. */
static bool is_truncate_harmless(int fd)
{
	struct statfs info;

	return fstatfs(fd, &info) == 0 && (info.f_flags & ST_RDONLY);
}

static uint64_t rights_for(int fd, mode_t mode, uint64_t rights)
{
	if (S_ISCHR(mode) || S_ISBLK(mode))
		rights |= IOCTL_DEV;
	if ((rights & READ_FILE) && !(rights & TRUNCATE) && is_truncate_harmless(fd))
		rights |= TRUNCATE;
	return S_ISDIR(mode) ? rights : rights & FILE_RIGHTS;
}

static int grant(const struct ruleset *ruleset, const char *path, uint64_t resolve, uint64_t rights, struct error *err)
{
	struct path_attributes attributes = { 0 };
	autoclose int fd = -1;
	struct stat info;
	int opened;

	if ((rights & ruleset->handled) == 0)
		return 0;
	opened = open_granted(path, resolve, &fd, err);
	if (opened <= 0)
		return opened;
	if (fstat(fd, &info) < 0)
		return error_errno(err, errno, "cannot inspect %s for Landlock", path);
	attributes.allowed = rights_for(fd, info.st_mode, rights) & ruleset->handled;
	attributes.parent = fd;
	if (attributes.allowed == 0)
		return 0;
	if (syscall(NR_ADD_RULE, ruleset->fd, RULE_PATH_BENEATH, &attributes, 0) < 0)
		return error_errno(err, errno, "cannot allow %s with Landlock", path);
	return 0;
}

static int grant_plan(const struct ruleset *ruleset, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *item = &plan->grants.items[i];
		uint64_t rights = item->kind == GRANT_WRITE ? WRITE_RIGHTS : READ_RIGHTS;
		if (grant(ruleset, item->path, RESOLVE_NO_SYMLINKS, rights, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < plan->devices.count; i++)
		if (grant(ruleset, plan->devices.items[i].path, 0, DEVICE_RIGHTS, err) < 0)
			return -1;
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (grant(ruleset, plan->sockets.items[i].path, RESOLVE_NO_SYMLINKS, RESOLVE_UNIX, err) < 0)
			return -1;
	return 0;
}

static uint64_t extra_rights(const struct landlock_extra *extra)
{
	uint64_t rights = extra->is_writable ? WRITE_RIGHTS : READ_RIGHTS;

	if (extra->is_list_only)
		return READ_DIR;
	return extra->is_device ? rights | IOCTL_DEV : rights;
}

static int create_ruleset(const struct landlock_handled *handled, int abi, struct error *err)
{
	struct ruleset_attributes attributes = { handled->filesystem, handled->network, handled->scoped };
	int fd = (int)syscall(NR_CREATE_RULESET, &attributes, by_abi[row_for(abi)].attribute_size, 0);

	if (fd < 0)
		return error_errno(err, errno, "cannot create a Landlock ruleset (ABI %d)", abi);
	return fd;
}

int landlock_abi(void)
{
	long abi = syscall(NR_CREATE_RULESET, NULL, 0, CREATE_VERSION);

	return abi > 0 ? (int)abi : 0;
}

int landlock_refusal(void)
{
	return syscall(NR_CREATE_RULESET, NULL, 0, CREATE_VERSION) > 0 ? 0 : errno;
}

struct landlock_handled landlock_known_at(int abi)
{
	return by_abi[row_for(abi)].known;
}

struct landlock_handled landlock_handled_at(int abi, bool has_network)
{
	struct landlock_handled handled = landlock_known_at(abi);

	handled.network = has_network ? handled.network & TCP : 0;
	return handled;
}

const char *landlock_describe(int abi)
{
	return by_abi[row_for(abi)].missing;
}

int landlock_apply(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi, struct error *err)
{
	/* TCP is not handled: what is in the network namespace besides the command's own sockets is the proxy's listener. */
	struct landlock_handled handled = landlock_handled_at(abi, false);
	struct ruleset ruleset = { -1, handled.filesystem };
	autoclose int fd = -1;

	if (abi < 1)
		return error_set(err, "this kernel has no Landlock");
	fd = create_ruleset(&handled, abi, err);
	if (fd < 0)
		return -1;
	ruleset.fd = fd;
	if (grant_plan(&ruleset, plan, err) < 0)
		return -1;
	for (size_t i = 0; i < extra_count; i++)
		if (grant(&ruleset, extra[i].path, 0, extra_rights(&extra[i]), err) < 0)
			return -1;
	if (syscall(NR_RESTRICT_SELF, fd, 0) < 0)
		return error_errno(err, errno, "cannot enforce the Landlock ruleset");
	return 0;
}

int landlock_apply_reader(const char *const *directories, size_t count, int abi, struct error *err)
{
	struct landlock_handled handled = landlock_known_at(abi);
	struct ruleset ruleset = { -1, handled.filesystem };
	autoclose int fd = -1;

	if (abi < 1)
		return error_set(err, "this kernel has no Landlock");
	/* Connecting is what the helper is for, and asking name servers too. */
	handled.network &= BIND_TCP;
	fd = create_ruleset(&handled, abi, err);
	if (fd < 0)
		return -1;
	ruleset.fd = fd;
	for (size_t i = 0; i < count; i++)
		if (grant(&ruleset, directories[i], 0, READ_FILE, err) < 0)
			return -1;
	if (syscall(NR_RESTRICT_SELF, fd, 0) < 0)
		return error_errno(err, errno, "cannot enforce the Landlock ruleset");
	return 0;
}
