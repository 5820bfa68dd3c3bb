/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the quarantine, puts files back, removes entries. Trusts no record: a damaged one is
 * counted and left alone. */
#include "common/state/quarantine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/format/jsonc.h"
#include "common/fs/path.h"
#include "common/state/copy_tree.h"
#include "common/state/quarantine_internal.h"
#include "common/state/remove_tree.h"
#include "common/state/state.h"

enum { RECORD_BYTES = 1 << 16, CONTENT_BYTES = 64 << 20 };

static const int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

static bool is_id(const char *name)
{
	return strlen(name) == QUARANTINE_ID && strspn(name, "0123456789abcdef") == QUARANTINE_ID;
}

static const char *string_of(const struct jsonc_value *root, const char *key)
{
	const struct jsonc_value *value = jsonc_member(root, key);
	return value && value->type == JSONC_STRING ? value->string : NULL;
}

static uint64_t number_of(struct arena *arena, const struct jsonc_value *root, const char *key, uint64_t maximum)
{
	const struct jsonc_value *value = jsonc_member(root, key);
	uint64_t number = 0;
	if (value && value->type == JSONC_NUMBER &&
	    !text_parse_u64(arena_copy_n(arena, value->raw, value->end - value->start), maximum, &number))
		number = 0;
	return number;
}

static bool read_record(struct arena *arena, int own, struct quarantine_entry *entry)
{
	const struct jsonc_value *beside;
	struct private_file record, path;
	struct jsonc_value root;
	struct error ignored;

	if (private_file_read(arena, own, quarantine_record, PRIVATE_FILE_OWN, RECORD_BYTES, &record) < 0 ||
	    private_file_read(arena, own, quarantine_path, PRIVATE_FILE_OWN, PATH_MAX, &path) < 0 ||
	    jsonc_parse(arena, JSONC_STRICT, "record", (struct jsonc_text){ record.bytes, record.length }, &root, &ignored) < 0)
		return false;
	entry->path = path.bytes;
	entry->project_key = string_of(&root, "project");
	entry->reason = string_of(&root, "reason");
	entry->type = string_of(&root, "type");
	entry->edited = string_of(&root, "edited");
	entry->mode = (mode_t)number_of(arena, &root, "mode", 07777);
	entry->time = (int64_t)number_of(arena, &root, "time", INT64_MAX);
	entry->run = (int64_t)number_of(arena, &root, "run", INT64_MAX);
	beside = jsonc_member(&root, "beside");
	entry->is_beside = beside && beside->type == JSONC_TRUE;
	return strlen(path.bytes) == path.length && path_is_absolute_clean(entry->path) && entry->reason && entry->type &&
	       entry->project_key;
}

/* An entry whose writer was killed before it took anything. */
static bool is_empty(int own, const struct quarantine_entry *entry)
{
	struct stat info;
	return !entry->is_beside && fstatat(own, quarantine_content, &info, AT_SYMLINK_NOFOLLOW) < 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct quarantine_entry *a = left, *b = right;
	return a->time != b->time ? (a->time < b->time ? 1 : -1) : strcmp(a->path, b->path);
}

static void add_entry(struct arena *arena, int all, const char *id, struct quarantine_entries *entries)
{
	autoclose int own = openat(all, id, directory_flags);
	struct quarantine_entry entry = { .id = arena_copy(arena, id) };

	bool is_read = own >= 0 && read_record(arena, own, &entry);

	if (own >= 0 && is_empty(own, &entry))
		return;
	if (is_read)
		*(struct quarantine_entry *)arena_push(arena, entries) = entry;
	else
		entries->damaged++;
}

int quarantine_list(struct arena *arena, const char *state_directory, struct quarantine_entries *entries, struct error *err)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *found;
	int all = quarantine_open_all(arena, state_directory, false, err);

	*entries = (struct quarantine_entries){ 0 };
	if (all < 0)
		return err->number == ENOENT ? 0 : -1;
	stream = fdopendir(all);
	if (!stream) {
		close(all);
		return error_errno(err, errno, "cannot read the quarantine");
	}
	while ((found = readdir(stream)))
		if (is_id(found->d_name))
			add_entry(arena, all, found->d_name, entries);
	if (entries->count > 0)
		qsort(entries->items, entries->count, sizeof *entries->items, compare_entries);
	return 0;
}

int quarantine_open(struct arena *arena, const char *state_directory, const char *id, struct error *err)
{
	autoclose int all = is_id(id) ? quarantine_open_all(arena, state_directory, false, err) : -1;
	int own = all < 0 ? -1 : openat(all, id, directory_flags);

	if (own >= 0)
		return own;
	error_set(err, "nothing in quarantine has the id %s", id);
	err->number = ENOENT;
	return error_hint(err, "`berm quarantine list` shows the ids");
}

int quarantine_find(struct arena *arena, const char *state_directory, const char *id, struct quarantine_entry *entry,
		    struct error *err)
{
	autoclose int own = quarantine_open(arena, state_directory, id, err);

	*entry = (struct quarantine_entry){ .id = arena_copy(arena, id) };
	if (own < 0)
		return -1;
	if (!read_record(arena, own, entry) || is_empty(own, entry))
		return error_set(err, "the record of %s in quarantine is damaged", id);
	return 0;
}

int quarantine_open_parent(const char *path)
{
	autoclose int fd = open("/", directory_flags);
	char name[NAME_MAX + 1];

	for (const char *at = path + 1, *slash; fd >= 0 && (slash = strchr(at, '/')); at = slash + 1) {
		size_t length = (size_t)(slash - at);
		int next;
		if (length >= sizeof name) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, at, length);
		name[length] = '\0';
		next = openat(fd, name, directory_flags);
		cleanup_close(&fd);
		fd = next;
	}
	return steal_fd(&fd);
}

static int refuse_existing(const struct quarantine_entry *entry, struct error *err)
{
	error_errno(err, EEXIST, "cannot restore %s", entry->path);
	return error_hint(err, "nothing is overwritten: move what is there now away first");
}

/* Copies to a neutral name beside the target first: a program of the host never finds half of
 * it. */
static int restore_copy(struct arena *arena, int own, int parent, const struct quarantine_entry *entry)
{
	const char *temporary = quarantine_beside_name(arena, entry->id);
	struct error ignored = { 0 };
	int status, number;

	if (copy_tree(own, quarantine_content, parent, temporary) == 0 &&
	    rename_exclusively(parent, temporary, parent, path_base_name(entry->path)) == 0)
		return 0;
	number = errno;
	status = unlinkat(parent, temporary, 0);
	if (status < 0)
		(void)state_remove(parent, temporary, temporary, &ignored);
	errno = number;
	return -1;
}

/* Last: with its own mode a user could neither move nor copy every directory. */
static void restore_mode(int parent, const char *name, const struct quarantine_entry *entry)
{
	bool has_mode = strcmp(entry->type, "file") == 0 || strcmp(entry->type, "directory") == 0;
	autoclose int fd = has_mode ? openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
	if (fd >= 0)
		(void)fchmod(fd, entry->mode);
}

static int restore_moved(struct arena *arena, int own, int parent, const struct quarantine_entry *entry, struct error *err)
{
	const char *name = path_base_name(entry->path);
	int status;

	if (entry->is_beside) {
		status = rename_exclusively(parent, quarantine_beside_name(arena, entry->id), parent, name);
	} else {
		status = rename_exclusively(own, quarantine_content, parent, name);
		if (status < 0 && errno == EXDEV)
			status = restore_copy(arena, own, parent, entry);
	}
	if (status < 0 && errno == EEXIST)
		return refuse_existing(entry, err);
	if (status < 0)
		return error_errno(err, errno, "cannot restore %s", entry->path);
	if (!entry->is_beside)
		restore_mode(parent, name, entry);
	return 0;
}

static int restore_edited(struct arena *arena, int own, int parent, const struct quarantine_entry *entry, struct error *err)
{
	const struct private_file_options options = { .mode = entry->mode, .is_synced = true };
	const char *name = path_base_name(entry->path);
	struct private_file now, original;
	char hash[SHA256_HEX + 1];
	struct sha256 sum;

	if (private_file_read(arena, parent, name, 0, CONTENT_BYTES, &now) < 0)
		return error_errno(err, errno, "cannot restore %s", entry->path);
	sha256_start(&sum);
	sha256_add(&sum, now.bytes, now.length);
	sha256_finish_hex(&sum, hash);
	if (strcmp(hash, entry->edited) != 0) {
		error_set(err, "cannot restore %s: it was changed since berm edited it", entry->path);
		return error_hint(err, "`berm quarantine show %s` prints the original", entry->id);
	}
	if (private_file_read(arena, own, quarantine_content, PRIVATE_FILE_OWN, CONTENT_BYTES, &original) < 0 ||
	    private_file_write(parent, name, original.bytes, original.length, &options) < 0)
		return error_errno(err, errno, "cannot restore %s", entry->path);
	return 0;
}

static int forget(struct arena *arena, const char *state_directory, const char *id, struct error *err)
{
	autoclose int all = quarantine_open_all(arena, state_directory, false, err);
	return all < 0 ? -1 : state_remove(all, id, id, err);
}

int quarantine_restore(struct arena *arena, const char *state_directory, const struct quarantine_entry *entry,
		       struct error *err)
{
	autoclose int own = quarantine_open(arena, state_directory, entry->id, err);
	autoclose int parent = own < 0 ? -1 : quarantine_open_parent(entry->path);

	if (own < 0)
		return -1;
	if (parent < 0)
		return error_errno(err, errno, "cannot open the directory of %s", entry->path);
	if ((entry->edited ? restore_edited : restore_moved)(arena, own, parent, entry, err) < 0)
		return -1;
	return forget(arena, state_directory, entry->id, err);
}

int quarantine_drop(struct arena *arena, const char *state_directory, const struct quarantine_entry *entry, struct error *err)
{
	if (entry->is_beside) {
		const char *name = quarantine_beside_name(arena, entry->id);
		autoclose int parent = quarantine_open_parent(entry->path);
		if (parent >= 0 && unlinkat(parent, name, 0) < 0 && errno != ENOENT &&
		    state_remove(parent, name, name, err) < 0)
			return -1;
	}
	return forget(arena, state_directory, entry->id, err);
}
