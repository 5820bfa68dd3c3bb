/* SPDX-License-Identifier: Apache-2.0 */
/* Key, load and save. Never an error to the user: without a stored plan berm is slower, not weaker. */
#include "common/cache/plan_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/checksum.h"
#include "common/base/cleanup.h"
#include "common/plan/build.h"
#include "common/cache/plan_codec.h"
#include "common/policy/value.h"
#include "common/state/state.h"
#include "common/base/text.h"
#include "version.h"

#ifdef __APPLE__
#define st_ctim st_ctimespec
#endif

extern char **environ;

enum { FORMAT = 7, FILE_MAX = 1 << 20, PASSWD_MAX = 1 << 18, SLOT_HEX = 2 };

static const char magic[8] = { 'b', 'e', 'r', 'm', 'p', 'l', 'a', 'n' };

struct header {
	char magic[8];
	uint32_t format, length; /* of what follows */
	char key[SHA256_HEX];
	uint64_t checksum;
	uint64_t can_begin;
};

/* The whole of a small file into the arena, NUL-terminated; NULL if that cannot be. */
static char *read_whole(struct arena *arena, int fd, size_t maximum)
{
	struct stat info;
	char *text;
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size > (off_t)maximum)
		return NULL;
	text = arena_alloc(arena, (size_t)info.st_size + 1);
	return text_read(fd, text, (size_t)info.st_size) == (ssize_t)info.st_size ? text : NULL;
}

/* name:password:uid:gid:comment:home:shell */
static char *field(char *line, int number)
{
	for (; line && number > 0; number--) {
		line = strchr(line, ':');
		if (line)
			line++;
	}
	return line;
}

/* The home in /etc/passwd. Users who are not there (network directories) have no stored plans: their entry can change unseen. */
static const char *find_home(struct arena *arena)
{
	autoclose int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	char *text = fd < 0 ? NULL : read_whole(arena, fd, PASSWD_MAX);
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

static bool add_binary(struct sha256 *hash)
{
	struct stat info;
	if (stat("/proc/self/exe", &info) < 0)
		return false;
	add_string(hash, BERM_VERSION);
	add_number(hash, (uint64_t)info.st_dev);
	add_number(hash, (uint64_t)info.st_ino);
	add_number(hash, (uint64_t)info.st_size);
	add_number(hash, (uint64_t)info.st_ctim.tv_sec);
	add_number(hash, (uint64_t)info.st_ctim.tv_nsec);
	return true;
}

static bool add_boot(struct sha256 *hash)
{
	autoclose int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char id[64] = "";
	if (fd < 0 || read(fd, id, sizeof id - 1) <= 0)
		return false;
	add_string(hash, id);
	return true;
}

/* Variables that a plan consults. Those that are only passed on are not among them: they are taken from the caller each time. */
static void add_variables(struct sha256 *hash)
{
	static const char *const names[] = { "PATH", "SHELL", "GIT_CONFIG_COUNT", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "BERM" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		add_string(hash, getenv(names[i]));
	for (size_t i = 0; policy_path_variables[i]; i++)
		add_string(hash, getenv(policy_path_variables[i]));
}

void plan_store_key(struct arena *arena, char *const *words, enum tier tier, struct plan_key *key)
{
	const char *state_home = getenv("XDG_STATE_HOME");
	const char *home = find_home(arena), *usual;
	char directory[4096];
	struct sha256 hash;

	*key = (struct plan_key){ 0 };
	/* Refused in words when the plan is made. */
	if (getuid() != geteuid() || getgid() != getegid())
		return;
	if (!home || !getcwd(directory, sizeof directory) || directory[0] != '/')
		return;
	usual = path_join(arena, home, ".local/state");
	if (state_home && state_home[0] && strcmp(state_home, usual) != 0)
		return;
	sha256_start(&hash);
	add_number(&hash, FORMAT);
	if (!add_binary(&hash) || !add_boot(&hash))
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
	/* A fixed number of slots bounds what piles up; the file has the whole key. */
	key->slot = arena_copy_n(arena, key->hash, SLOT_HEX);
	key->home = home;
}

/* No symlink is followed below the home: one that leads into a project would let a command have written what is read here. */
int plan_store_directory(const char *home)
{
	static const char *const names[] = { ".local", "state" };
	struct error ignored;
	autoclose int state = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclose int berm = -1;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && state >= 0; i++) {
		int next = openat(state, names[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(state);
		state = next;
	}
	berm = state < 0 ? -1 : state_enter(state, "berm", home, false, &ignored);
	return berm < 0 ? -1 : state_enter(berm, "plans", home, false, &ignored);
}

/* A file of ours, for this key. */
static bool read_head(const struct plan_key *key, int fd, struct plan_file *file, const char **reason)
{
	struct stat *info = &file->info;
	struct header header;

	*reason = "no plan is stored for this directory and these options";
	if (fd < 0)
		return false;
	*reason = "the stored file is not a private file of this user";
	if (fstat(fd, info) < 0 || !S_ISREG(info->st_mode) || info->st_uid != geteuid() || (info->st_mode & 077) ||
	    info->st_nlink > 1)
		return false;
	*reason = "the stored file is damaged";
	if (read(fd, &header, sizeof header) != (ssize_t)sizeof header || memcmp(header.magic, magic, sizeof magic) != 0 ||
	    header.format != FORMAT || header.length > FILE_MAX || header.can_begin > 1 ||
	    info->st_size != (off_t)(sizeof header + header.length))
		return false;
	file->length = header.length;
	file->checksum = header.checksum;
	file->can_begin = header.can_begin == 1;
	*reason = "the stored plan is for another directory, other options, another binary or an earlier boot";
	return memcmp(header.key, key->hash, SHA256_HEX) == 0;
}

bool plan_store_open(const struct plan_key *key, struct plan_loaded *loaded)
{
	autoclose int plans = -1;
	autoclose int fd = -1;

	*loaded = (struct plan_loaded){ .reason = "plans are not stored here", .file = { .fd = -1, .directory = -1 } };
	if (!key->home)
		return false;
	plans = plan_store_directory(key->home);
	if (plans >= 0)
		fd = openat(plans, key->slot, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (!read_head(key, fd, &loaded->file, &loaded->reason))
		return false;
	loaded->file.fd = steal_fd(&fd);
	loaded->file.directory = steal_fd(&plans);
	return true;
}

/* What follows the head, whole. Strings of the plan stay in it. */
static const char *read_body(struct arena *arena, struct plan_file *file)
{
	autoclose int fd = steal_fd(&file->fd);
	char *bytes = arena_alloc(arena, (size_t)file->length + 1);
	if (text_read(fd, bytes, file->length) != (ssize_t)file->length)
		return NULL;
	return checksum_of(bytes, file->length) == file->checksum ? bytes : NULL;
}

/* The policy of a stored plan: only what the environment is made from. */
static const struct policy *small_policy(struct arena *arena, const struct plan_stored *stored)
{
	struct policy *policy = arena_alloc(arena, sizeof *policy);
	policy->environment.pass = stored->passed;
	return policy;
}

bool plan_store_load(struct arena *arena, const struct plan_key *key, struct plan *plan, struct plan_loaded *loaded)
{
	struct plan_stored stored;
	const char *bytes;
	autoclose int plans = steal_fd(&loaded->file.directory);

	loaded->reason = "the stored file is damaged";
	bytes = read_body(arena, &loaded->file);
	if (!bytes || !plan_decode(arena, bytes, loaded->file.length, plan, &stored))
		return false;
	walk_store_open(&loaded->walks, plans, key->slot, &loaded->file.info);
	loaded->reason = NULL;
	loaded->facts = stored.facts.items;
	loaded->fact_count = stored.facts.count;
	loaded->blob = stored.blob;
	loaded->blob_size = stored.blob_size;
	plan->context.environment = environ;
	plan->context.fs = filesystem_host();
	plan->policy = small_policy(arena, &stored);
	environment_restore(plan, &stored.own_variables);
	return true;
}

bool plan_store_confirm(struct arena *arena, struct plan_loaded *loaded)
{
	const char *broken = facts_broken(loaded->facts, loaded->fact_count);
	if (broken)
		loaded->reason = arena_printf(arena, "%s changed", broken);
	return !broken;
}

static void collect_own(const struct plan *plan, struct plan_stored *stored)
{
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!variable->rule || strcmp(variable->rule->key, "environment.pass") != 0)
			*arena_push(plan->arena, &stored->own_variables) = *variable;
	}
}

/* Canonical both: no symlink between the home and the state, which is what plan_store_directory asks. */
static bool is_at_usual_place(const struct plan *plan)
{
	return strcmp(plan->context.state_directory, path_join(plan->arena, plan->context.home, ".local/state/berm")) == 0;
}

/* The directory was judged and made by state.c's rules; the file appears whole or not at all. */
static bool write_file(struct arena *arena, const struct plan *plan, const struct plan_key *key, const struct text *content,
		       struct walk_store *walks)
{
	struct error ignored;
	const char *shown = path_join(arena, plan->context.state_directory, "plans");
	const char *temporary = arena_printf(arena, ".new-%ld", (long)getpid());
	autoclose int state = state_open(arena, plan->context.state_directory, true, &ignored);
	autoclose int directory = state < 0 ? -1 : state_enter(state, "plans", shown, true, &ignored);
	autoclose int fd = -1;
	struct stat info;

	if (directory < 0)
		return false;
	unlinkat(directory, temporary, 0);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (text_write(fd, content->data, content->length) < 0 || renameat(directory, temporary, directory, key->slot) < 0) {
		unlinkat(directory, temporary, 0);
		return false;
	}
	if (fstat(fd, &info) == 0)
		walk_store_open(walks, directory, key->slot, &info);
	return true;
}

bool plan_store_save(struct arena *arena, const struct plan_key *key, const struct plan *plan, const struct facts *facts,
		     const struct plan_prepared *prepared, struct walk_store *walks)
{
	struct header header = { .format = FORMAT };
	struct plan_stored stored = { .facts = { facts->items, facts->count },
				      .blob = prepared->blob,
				      .blob_size = prepared->blob_size };
	struct text body = { 0 }, whole = { 0 };
	bool is_stored = false;

	if (!key->home || facts->is_unstable || !plan_codec_fits(plan) || !is_at_usual_place(plan))
		return false;
	collect_own(plan, &stored);
	stored.passed = plan->policy->environment.pass;
	if (plan_encode(plan, &stored, &body) && body.length + sizeof header <= FILE_MAX &&
	    state_may_write(body.length + sizeof header)) {
		memcpy(header.magic, magic, sizeof magic);
		memcpy(header.key, key->hash, SHA256_HEX);
		header.length = (uint32_t)body.length;
		header.checksum = checksum_of(body.data, body.length);
		header.can_begin = prepared->can_begin;
		text_add_n(&whole, (const char *)&header, sizeof header);
		text_add_n(&whole, body.data, body.length);
		is_stored = write_file(arena, plan, key, &whole, walks);
	}
	text_free(&body);
	text_free(&whole);
	return is_stored;
}
