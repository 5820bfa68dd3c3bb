/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's files in the private home: made anew at each start, read again for what may go back.
 * Commands of earlier runs wrote that home: every component is opened without following symlinks,
 * and what is read from it is bounded. On the host only files that exist are replaced, in one step,
 * with the text that agent_merge made of them. */
#include "common/agents/agents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/file_time.h"
#include "common/base/private_file.h"
#include "common/fs/pattern.h"
#include "common/state/remove_tree.h"

enum { COPY_MAX = 4 << 20, NAME_BYTES = 256 };

static const char lock_name[] = "agent.lock";
static const int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

int agent_open_below(int top, const char *path, bool is_creating, const char **name)
{
	autoclose int at = fcntl(top, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/'))) {
		char part[NAME_BYTES];
		size_t length = (size_t)(slash - path);
		int next;
		if (length >= sizeof part) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, path, length);
		part[length] = '\0';
		next = openat(at, part, directory_flags);
		if (next < 0 && is_creating &&
		    (errno == ENOENT || ((errno == ENOTDIR || errno == ELOOP) && unlinkat(at, part, 0) == 0)))
			next = mkdirat(at, part, 0700) == 0 ? openat(at, part, directory_flags) : -1;
		close(at);
		at = next;
		path = slash + 1;
	}
	*name = path;
	return steal_fd(&at);
}

static int remove_entry(int directory, const char *name, const char *shown, struct error *err)
{
	if (unlinkat(directory, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return error_errno(err, errno, "cannot remove %s", shown);
	return state_remove(directory, name, shown, err);
}

/* True if this path is kept. *is_above: something below it is. Only the last component of a kept
 * path has wildcards. */
static bool is_kept(const struct agent *agent, const char *path, bool *is_above)
{
	*is_above = false;
	for (const struct agent_kept *kept = agent->kept; kept->path; kept++) {
		size_t parent = (size_t)(path_base_name(kept->path) - kept->path), length = strlen(path);
		if (strncmp(kept->path, path, parent) == 0 && length > parent && !strchr(path + parent, '/') &&
		    pattern_matches_name(kept->path + parent, path + parent))
			return true;
		*is_above |= strncmp(kept->path, path, length) == 0 && kept->path[length] == '/';
	}
	return false;
}

static bool is_real(int directory, const char *name, bool *is_directory)
{
	struct stat info;
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	*is_directory = S_ISDIR(info.st_mode);
	return S_ISDIR(info.st_mode) || S_ISREG(info.st_mode);
}

/* Removes every entry of an open directory that is not kept. `path` is its path below the home. */
static int empty(const struct agent_box *box, int directory, const char *path, struct error *err)
{
	int copy = openat(directory, ".", directory_flags);
	autoclosedir DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!list)
		return error_errno(err, errno, "cannot list %s/%s", box->private_home, path);
	while ((entry = readdir(list))) {
		const char *below = path_join(box->arena, path, entry->d_name);
		bool is_above, is_directory = false;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (is_real(directory, entry->d_name, &is_directory)) {
			if (is_kept(box->agent, below, &is_above))
				continue;
			if (is_above && is_directory) {
				autoclose int next = openat(directory, entry->d_name, directory_flags);
				if (next >= 0 && empty(box, next, below, err) == 0)
					continue;
			}
		}
		if (remove_entry(directory, entry->d_name, below, err) < 0)
			return -1;
	}
	return 0;
}

static int empty_directories(const struct agent_box *box, int home, struct error *err)
{
	for (size_t i = 0; box->agent->directories[i]; i++) {
		const char *path = box->agent->directories[i], *name;
		bool is_above, is_directory = false;
		autoclose int parent = agent_open_below(home, path, true, &name);
		autoclose int directory = -1;
		if (parent < 0)
			return error_errno(err, errno, "cannot open %s/%s", box->private_home, path);
		if (is_kept(box->agent, path, &is_above) && is_real(parent, name, &is_directory) && is_directory)
			continue;
		directory = openat(parent, name, directory_flags);
		if (directory < 0 && errno == ENOENT)
			continue;
		if (directory < 0 ? remove_entry(parent, name, path, err) < 0 : empty(box, directory, path, err) < 0)
			return -1;
	}
	return 0;
}

/* Opens the directory of the host's file behind all links. */
static int open_host(const struct agent_box *box, const struct agent_copy *copy, const char **name)
{
	const char *path = path_join(box->arena, box->home, copy->path), *canonical;
	struct error ignored;
	int fd;
	if (path_resolve(filesystem_host(), box->arena, path, &canonical, NULL, NULL, &ignored) < 0) {
		errno = ENOENT;
		return -1;
	}
	fd = open(path_parent(box->arena, canonical), directory_flags);
	*name = path_base_name(canonical);
	return fd;
}

/* Leaves out what a member says about other projects: their prompts, servers and tokens. */
static int filter(const struct agent_box *box, const struct agent_copy *copy, struct private_file *file, struct text *out,
		  struct error *err)
{
	struct jsonc_value root;
	bool has_member = false;

	if (jsonc_parse(box->arena, JSONC_STRICT, copy->path, (struct jsonc_text){ file->bytes, file->length }, &root, err) < 0)
		return -1;
	if (root.type != JSONC_OBJECT)
		return error_set(err, "~/%s is not an object", copy->path);
	text_add(out, "{");
	for (size_t i = 0; i < root.count; i++) {
		const struct jsonc_child *child = &root.children[i];
		bool is_own = strcmp(child->key, copy->own_project) == 0 && child->value.type == JSONC_OBJECT;
		text_add(out, "%s\n  ", has_member ? "," : "");
		text_add_json(out, child->key);
		text_add(out, ": ");
		has_member = true;
		if (!is_own) {
			text_add_n(out, child->value.raw, child->value.end - child->value.start);
			continue;
		}
		text_add(out, "{");
		for (size_t k = 0, count = 0; k < child->value.count; k++) {
			const struct jsonc_child *project = &child->value.children[k];
			if (strcmp(project->key, box->project) != 0 && strcmp(project->key, box->working_directory) != 0)
				continue;
			text_add(out, "%s", count++ > 0 ? "," : "");
			text_add_json(out, project->key);
			text_add(out, ": ");
			text_add_n(out, project->value.raw, project->value.end - project->value.start);
		}
		text_add(out, "}");
	}
	text_add(out, "\n}\n");
	return 0;
}

/* An absent file is not copied, and what an earlier run left under its name is removed. */
static int make_copy(const struct agent_box *box, int home, const struct agent_copy *copy, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };
	const char *name, *host_name;
	struct private_file file;
	struct text text = { 0 };
	int status = 0;
	autoclose int directory = agent_open_below(home, copy->path, true, &name);
	autoclose int host = open_host(box, copy, &host_name);

	if (directory < 0)
		return error_errno(err, errno, "cannot open the directory of %s/%s", box->private_home, copy->path);
	if (remove_entry(directory, name, copy->path, err) < 0)
		return -1;
	if (host < 0 || private_file_read(box->arena, host, host_name, 0, COPY_MAX, &file) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return error_errno(err, errno, "cannot read ~/%s", copy->path);
	}
	if (copy->own_project && filter(box, copy, &file, &text, err) < 0) {
		text_free(&text);
		return -1;
	}
	if (private_file_write(directory, name, copy->own_project ? text.data : file.bytes,
			       copy->own_project ? text.length : file.length, &options) < 0)
		status = error_errno(err, errno, "cannot write %s/%s", box->private_home, copy->path);
	text_free(&text);
	return status;
}

/* A file of the agent behind a link into the project could be exchanged by a command, and berm
 * would then read or replace another one. */
int agent_box_judge(const struct agent_box *box, const struct plan *plan, struct error *err)
{
	for (const struct agent_copy *copy = box->agent->copies; copy->path; copy++) {
		const char *path = path_join(box->arena, box->home, copy->path), *canonical;
		struct path_links links = { 0 };
		if (path_resolve(plan->context.fs, box->arena, path, &canonical, &links, NULL, err) < 0)
			return -1;
		bool is_writable = plan_is_below_writable(plan, canonical);
		for (size_t i = 0; i < links.count; i++)
			is_writable |= plan_is_below_writable(plan, links.items[i].path);
		if (!is_writable)
			continue;
		error_set(err, "~/%s leads to %s, which commands inside can write", copy->path, canonical);
		return error_hint(err, "keep the agent's files outside of the project and of files.write");
	}
	return 0;
}

/* Waits for no one: a run that finds the lock taken uses the copies that are there. */
static int lock(struct agent_box *box, int class, struct error *err)
{
	box->lock = openat(class, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (box->lock < 0)
		return error_errno(err, errno, "cannot open %s beside the private home", lock_name);
	if (flock(box->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return error_errno(err, errno, "cannot lock the private home of the agent");
	box->is_shared = true;
	return flock(box->lock, LOCK_SH) == 0 ? 0 : error_errno(err, errno, "cannot lock the private home of the agent");
}

int agent_box_fill(struct agent_box *box, int class, struct error *err)
{
	autoclose int home = open(box->private_home, directory_flags);
	if (home < 0)
		return error_errno(err, errno, "cannot open %s", box->private_home);
	if (lock(box, class, err) < 0)
		return -1;
	if (box->is_shared)
		return 0;
	if (empty_directories(box, home, err) < 0)
		return -1;
	for (const struct agent_copy *copy = box->agent->copies; copy->path; copy++)
		if (make_copy(box, home, copy, err) < 0)
			return -1;
	return flock(box->lock, LOCK_SH) == 0 ? 0 : error_errno(err, errno, "cannot unlock the private home of the agent");
}

static bool is_unchanged(int directory, const char *name, const struct stat *before)
{
	struct stat now;
	return fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == before->st_dev &&
	       now.st_ino == before->st_ino && now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* Returns 1 if the host's file was replaced, 0 if there is nothing to do, -1 with err. */
static int write_back(const struct agent_box *box, int home, const struct agent_copy *copy, struct error *err)
{
	struct private_file_options options = { .is_synced = true };
	struct timespec now = { 0 };
	struct private_file old, new;
	struct text text = { 0 };
	const char *name, *host_name;
	int status;
	autoclose int directory = agent_open_below(home, copy->path, false, &name);
	autoclose int host = open_host(box, copy, &host_name);

	if (directory < 0 || host < 0 || private_file_read(box->arena, host, host_name, 0, COPY_MAX, &old) < 0)
		return 0;
	if (private_file_read(box->arena, directory, name, 0, COPY_MAX, &new) < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "the private copy cannot be read");
	clock_gettime(CLOCK_REALTIME, &now);
	status = agent_merge(box->arena, copy, now.tv_sec * INT64_C(1000), (struct jsonc_text){ old.bytes, old.length },
			     (struct jsonc_text){ new.bytes, new.length }, &text, err);
	options.mode = old.info.st_mode & 0777;
	if (status > 0 && !is_unchanged(host, host_name, &old.info))
		status = error_set(err, "it changed meanwhile");
	if (status > 0 && private_file_write(host, host_name, text.data, text.length, &options) < 0)
		status = error_errno(err, errno, "cannot write it");
	text_free(&text);
	return status;
}

void agent_box_write_back(const struct agent_box *box, bool is_verbose, struct text *lines)
{
	autoclose int home = open(box->private_home, directory_flags);
	if (home < 0)
		return;
	for (const struct agent_copy *copy = box->agent->copies; copy->path; copy++) {
		struct error err = { 0 };
		int status = copy->fields ? write_back(box, home, copy, &err) : 0;
		if (status < 0)
			text_add(lines, "~/%s stays as it was: %s\n", copy->path, err.message);
		else if (status > 0 && is_verbose)
			text_add(lines, "~/%s: the %s went back\n", copy->path,
				 copy->is_login ? "refreshed login" : "counters");
	}
}
