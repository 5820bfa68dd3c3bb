/* SPDX-License-Identifier: Apache-2.0 */
/* Key, load and save. Failures are not reported to the user: without a cached plan berm is slower,
 * not weaker. */
#include "common/cache/plan_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/file_time.h"
#include "common/base/checksum.h"
#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/context/identity.h"
#include "common/plan/plan.h"
#include "common/cache/plan_codec.h"
#include "common/policy/value.h"
#include "common/state/state.h"
#include "common/base/text.h"

extern char **environ;

enum {
	STALE_S = 60, /* a writer takes milliseconds */
	FILE_MAX = 1 << 20,
	PASSWD_MAX = 1 << 18,
	SLOT_HEX = 2
};

/* There is no format number: the key contains the binary's identity, so another binary has another
 * key. */
static const char magic[8] = { 'b', 'e', 'r', 'm', 'p', 'l', 'a', 'n' };

struct header {
	char magic[8];
	uint64_t length; /* of the body */
	char key[SHA256_HEX];
	uint64_t checksum;
};

/* Returns a field of a line of passwd(5): name:password:uid:gid:comment:home:shell. */
static char *field(char *line, int number)
{
	for (; line && number > 0; number--) {
		line = strchr(line, ':');
		if (line)
			line++;
	}
	return line;
}

/* Returns the home in /etc/passwd, or NULL. Plans of users that are not in it (network directories)
 * are not cached: changes of their entry would go unnoticed. */
static const char *find_home(struct arena *arena)
{
	struct private_file file;
	char *text = private_file_read(arena, AT_FDCWD, "/etc/passwd", PRIVATE_FILE_FOLLOW, PASSWD_MAX, &file) < 0 ? NULL
														   : file.bytes;
	char uid[16], *line;
	size_t length = (size_t)snprintf(uid, sizeof uid, "%u:", (unsigned)getuid());
	while ((line = strsep(&text, "\n"))) {
		char *number = field(line, 2), *home = field(line, 5), *end = field(line, 6);
		if (!end || strncmp(number, uid, length) != 0)
			continue;
		end[-1] = '\0';
		return home[0] == '/' ? home : NULL;
	}
	return NULL;
}

static void add_string(struct sha256 *hash, const char *string)
{
	sha256_add(hash, string ? "=" : "-", 1);
	if (string)
		sha256_add(hash, string, strlen(string) + 1);
}

static void add_number(struct sha256 *hash, uint64_t number)
{
	sha256_add(hash, &number, sizeof number);
}

/* Adds the variables that a plan consults. XDG_CONFIG_HOME and XDG_STATE_HOME are among
 * policy_path_variables. Variables that are only passed to the command are read anew at each
 * launch. */
static void add_variables(struct sha256 *hash)
{
	static const char *const names[] = { "PATH", "SHELL", "GIT_CONFIG_COUNT", "BERM" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		add_string(hash, getenv(names[i]));
	for (size_t i = 0; policy_path_variables[i]; i++)
		add_string(hash, getenv(policy_path_variables[i]));
}

void plan_cache_key(struct arena *arena, char *const *words, enum tier tier, struct plan_key *key)
{
	const char *state_home = getenv("XDG_STATE_HOME");
	const char *home = find_home(arena), *usual;
	char directory[4096];
	struct sha256 hash;

	*key = (struct plan_key){ 0 };
	/* Refused with a message when the plan is made. */
	if (getuid() != geteuid() || getgid() != getegid())
		return;
	if (!home || !getcwd(directory, sizeof directory) || directory[0] != '/')
		return;
	usual = path_join(arena, home, ".local/state");
	if (state_home && state_home[0] && strcmp(state_home, usual) != 0)
		return;
	sha256_start(&hash);
	if (!identity_add_program(&hash) || !identity_add_boot(&hash))
		return;
	add_number(&hash, getuid());
	add_number(&hash, getgid());
	add_number(&hash, tier);
	add_string(&hash, home);
	add_string(&hash, directory);
	add_variables(&hash);
	for (; *words; words++)
		add_string(&hash, *words);
	sha256_finish_hex(&hash, key->hash);
	/* A fixed number of slots limits the number of files; the file has the whole key. */
	for (size_t i = 0; i < PLAN_SLOTS; i++)
		key->slots[i] = arena_copy_n(arena, key->hash + i * SLOT_HEX, SLOT_HEX);
	key->home = home;
}

/* Opens the directory of the cached plans. Returns its fd, or -1. Follows no symlink below the
 * home: with one into a project, a command could have written the file. */
static int plan_cache_directory(const char *home)
{
	static const char *const names[] = { ".local", "state" };
	struct error ignored;
	autoclose int state = openat(AT_FDCWD, home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int berm = -1;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && state >= 0; i++) {
		int next = openat(state, names[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(state);
		state = next;
	}
	berm = state < 0 ? -1 : state_enter(state, "berm", home, false, &ignored);
	return berm < 0 ? -1 : state_enter(berm, "plans", home, false, &ignored);
}

struct plan_file {
	const char *slot;
	struct stat info;
	size_t length; /* of the body */
	uint64_t checksum; /* of the body */
};

enum slot_use {
	SLOT_OURS, /* a private file of this user with a header for this key */
	SLOT_TAKEN, /* the same for another key */
	SLOT_FREE, /* absent, or nothing that a load would accept */
};

/* Sets *reason unless the slot is ours. */
static enum slot_use read_header(const struct plan_key *key, int fd, struct plan_file *file, const char **reason)
{
	struct stat *info = &file->info;
	struct header header;

	*reason = "no plan is cached for this directory and these options";
	if (fd < 0)
		return SLOT_FREE;
	*reason = "the cached plan is not a private file of this user";
	if (!private_file_is_private(info))
		return SLOT_FREE;
	*reason = "the cached plan is damaged";
	if (read(fd, &header, sizeof header) != (ssize_t)sizeof header || memcmp(header.magic, magic, sizeof magic) != 0 ||
	    header.length > FILE_MAX || info->st_size != (off_t)(sizeof header + header.length))
		return SLOT_FREE;
	file->length = (size_t)header.length;
	file->checksum = header.checksum;
	*reason = "the cached plan is for another directory, other options, another binary or an earlier boot";
	return memcmp(header.key, key->hash, SHA256_HEX) == 0 ? SLOT_OURS : SLOT_TAKEN;
}

/* Opens the file and reads its header. Returns its fd, or -1 with the reason of the first slot that
 * has a file. */
static int open_file(const struct plan_key *key, int directory, struct plan_file *file, const char **reason)
{
	bool has_reason = false;
	for (size_t i = 0; i < PLAN_SLOTS; i++) {
		autoclose int fd = directory < 0 ? -1 : private_file_open(directory, key->slots[i], 0, &file->info);
		const char *why;
		file->slot = key->slots[i];
		if (read_header(key, fd, file, &why) == SLOT_OURS)
			return steal_fd(&fd);
		if (!has_reason)
			*reason = why;
		has_reason |= fd >= 0;
	}
	return -1;
}

static bool is_older(const struct stat *left, const struct stat *right)
{
	if (left->st_mtim.tv_sec != right->st_mtim.tv_sec)
		return left->st_mtim.tv_sec < right->st_mtim.tv_sec;
	return left->st_mtim.tv_nsec < right->st_mtim.tv_nsec;
}

/* Returns the slot for a new plan: the one that has this key, else one that is free, else the one
 * that was written first. */
static const char *choose_slot(const struct plan_key *key, int directory)
{
	enum slot_use uses[PLAN_SLOTS];
	struct plan_file files[PLAN_SLOTS];
	for (size_t i = 0; i < PLAN_SLOTS; i++) {
		autoclose int fd = private_file_open(directory, key->slots[i], 0, &files[i].info);
		const char *ignored;
		uses[i] = read_header(key, fd, &files[i], &ignored);
		if (uses[i] == SLOT_OURS)
			return key->slots[i];
	}
	for (size_t i = 0; i < PLAN_SLOTS; i++)
		if (uses[i] == SLOT_FREE)
			return key->slots[i];
	return key->slots[is_older(&files[1].info, &files[0].info) ? 1 : 0];
}

/* Reads the body. The strings of the plan point into it. Returns NULL if it is damaged. */
static const char *read_body(struct arena *arena, int fd, const struct plan_file *file)
{
	char *bytes = arena_alloc(arena, (size_t)file->length + 1);
	if (text_read(fd, bytes, file->length) != (ssize_t)file->length)
		return NULL;
	return checksum_of(bytes, file->length) == file->checksum ? bytes : NULL;
}

/* Returns the policy of a cached plan: only the rules that the environment is made from. */
static const struct policy *small_policy(struct arena *arena, const struct cached_plan *cached)
{
	struct policy *policy = arena_alloc(arena, sizeof *policy);
	policy->environment.pass = cached->passed;
	return policy;
}

bool plan_cache_load(struct arena *arena, const struct plan_key *key, struct plan *plan, struct plan_loaded *loaded)
{
	struct cached_plan cached;
	struct plan_file file;
	const char *bytes;
	autoclose int directory = -1;
	autoclose int fd = -1;

	*loaded = (struct plan_loaded){ .reason = "plans cannot be cached here" };
	if (!key->home)
		return false;
	directory = plan_cache_directory(key->home);
	fd = open_file(key, directory, &file, &loaded->reason);
	if (fd < 0)
		return false;
	loaded->reason = "the cached plan is damaged";
	bytes = read_body(arena, fd, &file);
	if (!bytes || !plan_decode(arena, bytes, file.length, plan, &cached))
		return false;
	tree_index_file_open(&loaded->index, directory, file.slot, &file.info);
	loaded->reason = NULL;
	loaded->dependencies = cached.dependencies.items;
	loaded->dependency_count = cached.dependencies.count;
	loaded->blob = cached.blob;
	loaded->blob_size = cached.blob_size;
	plan->context.environment = environ;
	plan->context.has_terminal = context_has_terminal();
	plan->context.fs = filesystem_host();
	plan->policy = small_policy(arena, &cached);
	environment_restore(plan, &cached.own_variables);
	return true;
}

bool plan_cache_verify(struct arena *arena, struct plan_loaded *loaded)
{
	const char *broken = dependencies_broken(loaded->dependencies, loaded->dependency_count);
	if (broken)
		loaded->reason = arena_printf(arena, "%s changed", broken);
	return !broken;
}

/* Collects the variables that do not come from the caller. */
static void collect_own_variables(const struct plan *plan, struct cached_plan *cached)
{
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!variable->rule || strcmp(variable->rule->key, "environment.pass") != 0)
			*arena_push(plan->arena, &cached->own_variables) = *variable;
	}
}

/* True if plan_cache_directory() will find the file: both paths are canonical, so there is no
 * symlink between the home and the state directory. */
static bool is_in_default_directory(const struct plan *plan)
{
	return strcmp(plan->context.state_directory, path_join(plan->arena, plan->context.home, ".local/state/berm")) == 0;
}

/* The directory is checked and made by state/state.h. The file appears whole or not at all. */
static bool write_file(struct arena *arena, const struct plan *plan, const struct plan_key *key, const struct text *content,
		       struct tree_index_file *index)
{
	struct error ignored;
	const char *shown = path_join(arena, plan->context.state_directory, "plans");
	autoclose int state = state_open(arena, plan->context.state_directory, true, &ignored);
	autoclose int directory = state < 0 ? -1 : state_enter(state, "plans", shown, true, &ignored);
	const char *slot = directory < 0 ? NULL : choose_slot(key, directory);
	struct stat info;
	const struct private_file_options options = { .mode = 0600, .info = &info };

	if (!slot || private_file_write(directory, slot, content->data, content->length, &options) < 0)
		return false;
	private_file_remove_stale(directory, STALE_S);
	tree_index_file_open(index, directory, slot, &info);
	return true;
}

bool plan_cache_save(struct arena *arena, const struct plan_key *key, const struct plan *plan,
		     const struct dependencies *dependencies, const struct plan_prepared *prepared,
		     struct tree_index_file *index)
{
	struct header header = { 0 };
	struct cached_plan cached = { .dependencies = { dependencies->items, dependencies->count },
				      .blob = prepared->blob,
				      .blob_size = prepared->blob_size };
	struct text body = { 0 }, whole = { 0 };
	bool is_saved = false;

	if (!key->home || dependencies->is_unstable || !plan_codec_fits(plan) || !is_in_default_directory(plan))
		return false;
	collect_own_variables(plan, &cached);
	cached.passed = plan->policy->environment.pass;
	if (plan_encode(plan, &cached, &body) && body.length + sizeof header <= FILE_MAX &&
	    state_may_write(body.length + sizeof header)) {
		memcpy(header.magic, magic, sizeof magic);
		memcpy(header.key, key->hash, SHA256_HEX);
		header.length = body.length;
		header.checksum = checksum_of(body.data, body.length);
		text_add_n(&whole, (const char *)&header, sizeof header);
		text_add_n(&whole, body.data, body.length);
		is_saved = write_file(arena, plan, key, &whole, index);
	}
	text_free(&body);
	text_free(&whole);
	return is_saved;
}
