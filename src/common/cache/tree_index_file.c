/* SPDX-License-Identifier: Apache-2.0 */
/* The directory is checked by state/state.h; the file must be private to this user. An unfinished
 * file has no name, so that a launcher that is killed while it writes leaves nothing. */
#include "common/cache/tree_index_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/capability.h>
#include <sys/syscall.h>
#endif

#include "common/base/file_time.h"
#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/state/state.h"

enum { NAME_BYTES = 64, GROUPS_MAX = 128 };

static uint64_t mix(uint64_t sum, uint64_t number)
{
	sum = (sum ^ number) * 0xff51afd7ed558ccdu;
	return sum ^ (sum >> 29);
}

/* Returns a hash of the credentials: they decide which directories can be listed. 0 if they cannot
 * be read. */
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

void tree_index_file_open(struct tree_index_file *file, int plans, const char *slot, const struct stat *plan_file)
{
	const struct tree_index_owner owner = { .device = plan_file->st_dev,
						.inode = plan_file->st_ino,
						.changed_s = plan_file->st_ctim.tv_sec,
						.changed_ns = plan_file->st_ctim.tv_nsec,
						.credentials = sum_credentials() };
	char name[NAME_BYTES];
	struct private_file content;

	*file = (struct tree_index_file){ 0 };
	if (!owner.credentials || !filesystem_host()->walk_indexed)
		return;
	file->slot = slot;
	file->is_open = true;
	tree_index_start(&file->index, &owner);
	snprintf(name, sizeof name, ".walk-%s", slot);
	/* Without an index the walk reads every directory. */
	(void)private_file_read(NULL, plans, name, PRIVATE_FILE_OWN, TREE_INDEX_MAX, &content);
	tree_index_read(&file->index, content.bytes, content.length);
}

struct tree_index *tree_index_file_index(struct tree_index_file *file)
{
	return file->is_open ? &file->index : NULL;
}

void tree_index_file_commit(struct tree_index_file *file, bool has_succeeded)
{
	if (!file->is_open)
		return;
	if (has_succeeded && tree_index_is_worth_writing(&file->index))
		file->bytes = tree_index_write(&file->index, &file->size);
	file->is_open = false;
	if (has_succeeded) {
		tree_index_forget(&file->index);
		file->is_kept = true;
	} else {
		tree_index_end(&file->index);
	}
}

/* The new index covers more directories than the one that was read. */
static void take_written(struct tree_index_file *file)
{
	struct tree_index_owner owner = file->index.owner;
	if (!file->is_kept) {
		free(file->bytes);
	} else {
		tree_index_end(&file->index);
		tree_index_start(&file->index, &owner);
		tree_index_read(&file->index, file->bytes, file->size);
	}
	file->bytes = NULL;
}

struct tree_index *tree_index_file_again(struct tree_index_file *file)
{
	return file->is_kept ? &file->index : NULL;
}

void tree_index_file_write(struct tree_index_file *file, struct arena *arena, const char *state_directory)
{
	char name[NAME_BYTES];
	struct error ignored;
	autoclose int state = -1;
	autoclose int plans = -1;

	if (!file->bytes)
		return;
	if (state_may_write(file->size))
		state = state_open(arena, state_directory, false, &ignored);
	plans = state < 0 ? -1 : state_enter(state, "plans", state_directory, false, &ignored);
	snprintf(name, sizeof name, ".walk-%s", file->slot);
	if (plans >= 0)
		(void)private_file_write(plans, name, file->bytes, file->size, &(struct private_file_options){ .mode = 0600 });
	take_written(file);
}

void tree_index_file_close(struct tree_index_file *file)
{
	tree_index_file_commit(file, false);
	if (file->is_kept)
		tree_index_end(&file->index);
	file->is_kept = false;
	free(file->bytes);
	file->bytes = NULL;
}
