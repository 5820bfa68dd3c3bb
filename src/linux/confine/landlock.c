/* SPDX-License-Identifier: Apache-2.0 */
/* Grants what the plan names and nothing else, with the rights that the kernel's ABI knows. Never
 * follows a symlink to a granted path: the plan's paths are canonical, so a symlink on the way was
 * put there since. */
#include "linux/confine/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/confine/landlock_internal.h"

/* Rights for a path that is not a directory; the kernel refuses others with EINVAL. */
#define FILE_RIGHTS (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV | RESOLVE_UNIX)

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
	size_t attribute_size; /* of struct landlock_ruleset_attr at this ABI: it grew twice */
	const char *missing;
} by_abi[LANDLOCK_ABI_NEWEST + 1] = {
	[0] = { { 0, 0, 0 }, 0, "no Landlock: only mounts protect files" },
	[1] = { { FILES_1, 0, 0 },
		8,
		"Landlock refuses renames across directories and does not restrict truncation, TCP, signals and sockets" },
	[2] = { { FILES_2, 0, 0 }, 8, "Landlock does not restrict truncation, TCP, signals and sockets" },
	[3] = { { FILES_3, 0, 0 }, 8, "Landlock does not restrict TCP, device ioctls, signals and sockets" },
	[4] = { { FILES_3, TCP, 0 }, 16, "Landlock does not restrict device ioctls, signals and sockets" },
	[5] = { { FILES_5, TCP, 0 }, 16, "Landlock does not restrict signals and sockets" },
	[6] = { { FILES_5, TCP, SCOPES }, 24, "Landlock does not restrict sockets that have a path" },
	[7] = { { FILES_5, TCP, SCOPES }, 24, "Landlock does not restrict sockets that have a path" }, /* audit flags */
	[8] = { { FILES_5, TCP, SCOPES }, 24, "Landlock does not restrict sockets that have a path" }, /* all threads at once */
	[9] = { { FILES_9, TCP, SCOPES }, 24, "" },
	[10] = { { FILES_9, TCP | UDP, SCOPES }, 24, "" }, /* 48 bytes with audit options, unused here */
	[11] = { { FILES_9, TCP | UDP, SCOPES }, 24, "" }, /* can set no_new_privs itself */
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

static int row_for(int abi)
{
	if (abi < 0)
		return 0;
	return abi > LANDLOCK_ABI_NEWEST ? LANDLOCK_ABI_NEWEST : abi;
}

/* Opens a path for a rule. Returns 1 with a descriptor, 0 if there is nothing to grant, -1 on
 * failure. */
static int open_granted(const char *path, uint64_t resolve, int *fd, struct error *err)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };

	*fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	if (*fd >= 0)
		return 1;
	/* Absent, below a masked directory, or changed since the plan: granting less is always
	 * safe. */
	if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP)
		return 0;
	return error_errno(err, errno, "cannot open %s for Landlock", path);
}

/* On open the kernel walks up the path until every right that the file could use is granted, among
 * them TRUNCATE even for reading. On a read-only mount that right permits nothing and lets the walk
 * end at the grant. */
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

int landlock_grant(const struct landlock_ruleset *ruleset, const char *path, uint64_t resolve, uint64_t rights,
		   struct error *err)
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

static int grant_files(const struct landlock_ruleset *ruleset, const struct plan *plan, bool is_landlock_tier,
		       struct error *err)
{
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *item = &plan->grants.items[i];
		uint64_t rights = item->kind == GRANT_WRITE ? WRITE_RIGHTS : READ_RIGHTS;
		int result;
		if (is_landlock_tier && item->kind != GRANT_WRITE)
			result = landlock_grant_around(ruleset, plan, item->path, err);
		else
			result = landlock_grant(ruleset, item->path, RESOLVE_NO_SYMLINKS, rights, err);
		if (result < 0)
			return -1;
	}
	return 0;
}

static int grant_reach(const struct landlock_ruleset *ruleset, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->devices.count; i++)
		if (landlock_grant(ruleset, plan->devices.items[i].value, 0, DEVICE_RIGHTS, err) < 0)
			return -1;
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (landlock_grant(ruleset, plan->sockets.items[i].value, RESOLVE_NO_SYMLINKS, RESOLVE_UNIX, err) < 0)
			return -1;
	return 0;
}

static uint64_t extra_rights(const struct landlock_extra *extra)
{
	uint64_t rights = extra->is_writable ? WRITE_RIGHTS : READ_RIGHTS;

	if (extra->is_list_only)
		return READ_DIR;
	if (extra->is_socket)
		return RESOLVE_UNIX;
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

/* The rules of a ruleset. */
struct content {
	const struct plan *plan; /* or NULL */
	const struct landlock_extra *extra;
	size_t extra_count;
	const char *const *directories; /* get these rights */
	size_t directory_count;
	uint64_t directory_rights;
	const int *trees; /* fds of directories below which regular files may be made */
	size_t tree_count;
	bool is_landlock_tier;
};

static int grant_tree(const struct landlock_ruleset *ruleset, int tree, struct error *err)
{
	struct path_attributes attributes = { .allowed = MAKE_REG & ruleset->handled, .parent = tree };
	if (syscall(NR_ADD_RULE, ruleset->fd, RULE_PATH_BENEATH, &attributes, 0) < 0)
		return error_errno(err, errno, "cannot allow files in a directory with Landlock");
	return 0;
}

static int fill(const struct landlock_ruleset *ruleset, const struct content *content, struct error *err)
{
	if (content->plan && (grant_files(ruleset, content->plan, content->is_landlock_tier, err) < 0 ||
			      grant_reach(ruleset, content->plan, err) < 0))
		return -1;
	for (size_t i = 0; i < content->directory_count; i++)
		if (landlock_grant(ruleset, content->directories[i], 0, content->directory_rights, err) < 0)
			return -1;
	for (size_t i = 0; i < content->tree_count; i++)
		if (grant_tree(ruleset, content->trees[i], err) < 0)
			return -1;
	for (size_t i = 0; i < content->extra_count; i++)
		if (landlock_grant(ruleset, content->extra[i].path, content->extra[i].is_exact ? RESOLVE_NO_SYMLINKS : 0,
				   extra_rights(&content->extra[i]), err) < 0)
			return -1;
	return 0;
}

static int enforce(const struct landlock_handled *handled, int abi, const struct content *content, struct error *err)
{
	struct landlock_ruleset ruleset = { -1, handled->filesystem };
	autoclose int fd = -1;

	if (abi < 1)
		return error_set(err, "this kernel has no Landlock");
	fd = create_ruleset(handled, abi, err);
	if (fd < 0)
		return -1;
	ruleset.fd = fd;
	if (content && fill(&ruleset, content, err) < 0)
		return -1;
	if (syscall(NR_RESTRICT_SELF, fd, 0) < 0)
		return error_errno(err, errno, "cannot enforce the Landlock ruleset");
	return 0;
}

int landlock_apply_reader(const char *const *directories, size_t count, int abi, struct error *err)
{
	struct landlock_handled handled = landlock_known_at(abi);
	struct content content = { .directories = directories, .directory_count = count, .directory_rights = READ_FILE };
	/* The helper's task is to connect and to query name servers. */
	handled.network &= BIND_TCP;
	return enforce(&handled, abi, &content, err);
}

int landlock_apply(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi, struct error *err)
{
	/* TCP is not handled: the network namespace holds the command's own sockets and the proxy's
	 * listener only. */
	struct landlock_handled handled = landlock_handled_at(abi, false);
	struct content content = { .plan = plan, .extra = extra, .extra_count = extra_count };
	return enforce(&handled, abi, &content, err);
}

int landlock_apply_tier(const struct plan *plan, const struct landlock_extra *extra, size_t extra_count, int abi,
			struct error *err)
{
	struct landlock_handled handled = landlock_known_at(abi);
	struct content content = { .plan = plan, .extra = extra, .extra_count = extra_count, .is_landlock_tier = true };
	/* The filter refuses sockets already. Without a rule for a port, Landlock denies all
	 * ports. */
	if (plan->network.mode == NETWORK_ALL)
		handled.network = 0;
	return enforce(&handled, abi, &content, err);
}

int landlock_apply_no_creation(const char *const *directories, size_t count, const int *trees, size_t tree_count,
			       bool has_signals, int abi, struct error *err)
{
	const uint64_t creation = MAKE_CHAR | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM | REFER;
	struct landlock_handled handled = { .filesystem = creation & landlock_known_at(abi).filesystem,
					    .scoped = has_signals ? 0 : landlock_known_at(abi).scoped & SCOPE_SIGNAL };
	struct content content = { .directories = directories,
				   .directory_count = count,
				   .directory_rights = creation,
				   .trees = trees,
				   .tree_count = tree_count };
	return enforce(&handled, abi, &content, err);
}

int landlock_apply_paths(const struct landlock_extra *paths, size_t count, int abi, struct error *err)
{
	struct landlock_handled handled = landlock_handled_at(abi, false);
	struct content content = { .extra = paths, .extra_count = count };
	return enforce(&handled, abi, &content, err);
}

int landlock_scope_signals(int abi, struct error *err)
{
	struct landlock_handled handled = { .scoped = landlock_known_at(abi).scoped & SCOPE_SIGNAL };
	return handled.scoped ? enforce(&handled, abi, NULL, err) : 0;
}
