/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, binds and writes. The directory is judged by state.c's rules, the file must be this user's own and closed to others. A file that is not finished has
 * no name, so that a berm that is killed while it writes leaves nothing. */
#include "common/cache/tree_index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/capability.h>
#include <sys/syscall.h>
#endif

#include "common/base/cleanup.h"
#include "common/state/state.h"
#include "common/base/text.h"

#ifdef __APPLE__
#define st_ctim st_ctimespec
#endif

enum { NAME_BYTES = 64, GROUPS_MAX = 128 };

static uint64_t mix(uint64_t sum, uint64_t number)
{
	sum = (sum ^ number) * 0xff51afd7ed558ccdu;
	return sum ^ (sum >> 29);
}

/* Which directories are closed depends on these as well as on the directories. 0: more than can be looked at. */
static uint64_t sum_credentials(void)
{
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);
	uint64_t sum = mix(mix(1, geteuid()), getegid());
	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++)
		sum = mix(sum, groups[i]);
#ifdef __linux__
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	sum = mix(sum, data[0].effective);
#endif
	return sum ? sum : 1;
}

static void *read_file(int plans, const char *name, size_t *size)
{
	autoclose int fd = openat(plans, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	char *bytes;

	if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) ||
	    info.st_nlink > 1 || info.st_size <= 0 || info.st_size > WALK_MEMORY_MAX)
		return NULL;
	*size = (size_t)info.st_size;
	bytes = malloc(*size);
	if (bytes && text_read(fd, bytes, *size) == (ssize_t)*size)
		return bytes;
	free(bytes);
	return NULL;
}

void walk_store_open(struct walk_store *store, int plans, const char *slot, const struct stat *plan_file)
{
	const struct walk_owner owner = { .device = plan_file->st_dev,
					  .inode = plan_file->st_ino,
					  .changed_s = plan_file->st_ctim.tv_sec,
					  .changed_ns = plan_file->st_ctim.tv_nsec,
					  .credentials = sum_credentials() };
	char name[NAME_BYTES];
	size_t size = 0;
	void *bytes;

	*store = (struct walk_store){ 0 };
	if (!owner.credentials || !filesystem_host()->walk_again)
		return;
	store->slot = slot;
	store->is_open = true;
	walk_memory_start(&store->memory, &owner);
	snprintf(name, sizeof name, ".walk-%s", slot);
	bytes = read_file(plans, name, &size);
	walk_memory_read(&store->memory, bytes, size);
}

struct walk_memory *walk_store_memory(struct walk_store *store)
{
	return store->is_open ? &store->memory : NULL;
}

void walk_store_settle(struct walk_store *store, bool has_succeeded)
{
	if (!store->is_open)
		return;
	if (has_succeeded && walk_memory_is_worth_writing(&store->memory))
		store->bytes = walk_memory_write(&store->memory, &store->size);
	walk_memory_end(&store->memory);
	store->is_open = false;
}

/* Nameless until it is whole; then for a moment under a name that the next writer of this slot removes, if we are killed in it. Of two
 * writers either file may end up in place. */
static bool write_nameless(int plans, const struct walk_store *store, const char *name)
{
#ifdef O_TMPFILE
	autoclose int fd = openat(plans, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char temporary[NAME_BYTES], link[NAME_BYTES];
	if (fd < 0)
		return false;
	snprintf(temporary, sizeof temporary, ".new-walk-%s", store->slot);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (text_write(fd, store->bytes, store->size) < 0)
		return true;
	unlinkat(plans, temporary, 0);
	if (linkat(AT_FDCWD, link, plans, temporary, AT_SYMLINK_FOLLOW) < 0)
		return errno == EEXIST;
	if (renameat(plans, temporary, plans, name) < 0)
		unlinkat(plans, temporary, 0);
	return true;
#else
	(void)plans;
	(void)store;
	(void)name;
	return false;
#endif
}

/* For file systems that have no nameless files. */
static void write_named(int plans, const struct walk_store *store, const char *name)
{
	char temporary[NAME_BYTES];
	autoclose int fd = -1;
	snprintf(temporary, sizeof temporary, ".new-%ld", (long)getpid());
	unlinkat(plans, temporary, 0);
	fd = openat(plans, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (text_write(fd, store->bytes, store->size) < 0 || renameat(plans, temporary, plans, name) < 0)
		unlinkat(plans, temporary, 0);
}

void walk_store_write(struct walk_store *store, struct arena *arena, const char *state_directory)
{
	char name[NAME_BYTES];
	struct error ignored;
	autoclose int state = -1;
	autoclose int plans = -1;

	if (!store->bytes)
		return;
	if (state_may_write(store->size))
		state = state_open(arena, state_directory, false, &ignored);
	plans = state < 0 ? -1 : state_enter(state, "plans", state_directory, false, &ignored);
	snprintf(name, sizeof name, ".walk-%s", store->slot);
	if (plans >= 0 && !write_nameless(plans, store, name))
		write_named(plans, store, name);
	free(store->bytes);
	store->bytes = NULL;
}

void walk_store_close(struct walk_store *store)
{
	walk_store_settle(store, false);
	free(store->bytes);
	store->bytes = NULL;
}
