/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a resolved plan. Reads policy files and inspects the file system; changes
 * nothing, prints nothing. */
#include "common/cli/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/policy/file.h"
#include "common/state/trust.h"

static const char policy_name[] = POLICY_FILE_NAME;

static int open_context(struct session *session, struct error *err)
{
	const struct options *options = &session->options;
	struct context_request request = { .project = options->project,
					   .fs = cache_record(&session->cache, &session->arena),
					   .is_narrowing = session->is_narrowing,
					   .agent = session->agent };
	char *text;
	size_t length;

	cache_note_content(&session->cache, "/etc/passwd");
	if (!options->context_file) {
		if (context_detect(&session->arena, &request, &session->context, err) < 0)
			return -1;
		session->context.tier = session->tier;
		if (!options->os)
			return 0;
		session->context.os = strcmp(options->os, "macos") == 0 ? OS_MACOS : OS_LINUX;
		return 0;
	}
	if (policy_file_read(NULL, &session->arena, options->context_file, &text, &length, err) < 0)
		return -1;
	if (context_parse(&session->arena, options->context_file, text, length, &session->context, err) < 0)
		return -1;
	if (options->os)
		session->context.os = strcmp(options->os, "macos") == 0 ? OS_MACOS : OS_LINUX;
	return 0;
}

/* Returns the path of the directory's policy file, or NULL if there is none. A dangling or planted
 * symlink counts as a file: reading it fails with a message. */
static const char *existing(struct session *session, const char *directory)
{
	const char *path = arena_printf(&session->arena, "%s/%s", directory, policy_name);
	struct file_info info;
	if (session->context.fs->inspect(session->context.fs, path, &info) < 0 || info.type == FILE_ABSENT)
		return NULL;
	return path;
}

/* Reads the project's file, once per process, and compares it with the user's records of trust. */
static void read_project_file(struct session *session)
{
	struct session_project_file *file = &session->project_file;
	const struct context *context = &session->context;

	file->path = existing(session, context->project);
	if (file->path)
		cache_note_content(&session->cache, file->path);
	if (!file->path || policy_file_read(NULL, &session->arena, file->path, &file->text, &file->length, &file->error) < 0)
		return;
	trust_hash(file->text, file->length, file->content);
	file->is_trusted = !session->ignores_trust &&
			   trust_is_recorded(&session->arena, context->state_directory, file->path, file->content);
}

/* The policies of enclosing projects, ending with NULL. Their trust does not matter: they only
 * narrow. */
static const char *const *enclosing_files(struct session *session)
{
	const struct enclosing_projects *enclosing = &session->context.enclosing;
	struct {
		const char **items;
		size_t count;
	} files = { 0 };
	for (size_t i = 0; i < enclosing->count; i++)
		if (enclosing->items[i].has_policy && !enclosing->items[i].skipped)
			*arena_push(&session->arena, &files) =
				path_join(&session->arena, enclosing->items[i].path, policy_name);
	*arena_push(&session->arena, &files) = NULL;
	return files.items;
}

/* The `read` of struct policy_request: takes the project's file from memory, others from the
 * disk. */
static int read_policy(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	struct session *session = self;
	const struct session_project_file *file = &session->project_file;

	if (!file->path || strcmp(path, file->path) != 0) {
		cache_note_content(&session->cache, path);
		return policy_file_read(NULL, arena, path, text, length, err);
	}
	if (error_is_set(&file->error)) {
		*err = file->error;
		return -1;
	}
	*text = file->text;
	*length = file->length;
	return 0;
}

static const char *user_file(struct session *session)
{
	return session->options.context_file ? NULL : existing(session, session->context.config_directory);
}

/* XDG_CONFIG_HOME is ignored if the caller may only narrow. A policy there could be the user's,
 * with denials that the user relies on: it is refused rather than skipped silently. */
static int refuse_moved_policy(struct session *session, struct error *err)
{
	const struct context *context = &session->context;
	const char *value = getenv("XDG_CONFIG_HOME"), *moved, *usual = NULL, *path;

	if (!session->is_narrowing || !value || value[0] != '/')
		return 0;
	path = path_absolute(&session->arena, "/", path_join(&session->arena, value, "berm/" POLICY_FILE_NAME));
	if (path_resolve(context->fs, &session->arena, path, &moved, NULL, NULL, err) < 0)
		return -1;
	if (!existing(session, path_parent(&session->arena, moved)))
		return 0;
	path = existing(session, context->config_directory);
	if (path && path_resolve(context->fs, &session->arena, path, &usual, NULL, NULL, err) < 0)
		return -1;
	if (usual && strcmp(moved, usual) == 0)
		return 0;
	error_set(err,
		  "XDG_CONFIG_HOME names a policy, %s, but shims and hooks read the user's policy only from ~/.config/berm",
		  moved);
	return error_hint(err, "if it is yours: ln -s %s ~/.config/berm", path_parent(&session->arena, moved));
}

/* Commands of an enclosing project may have prepared a directory of policy or state in it, which
 * the caller names by a variable. The usual ones below the home are safe: no project may contain
 * them. */
static int refuse_enclosed(struct session *session, const char *usual, const char *directory, struct error *err)
{
	const struct context *context = &session->context;
	const char *path = path_join(&session->arena, context->home, usual), *parent, *whole;

	if (!context_is_enclosed(context, directory))
		return 0;
	if (path_resolve(context->fs, &session->arena, path, &parent, NULL, NULL, err) < 0 ||
	    path_resolve(context->fs, &session->arena, path_join(&session->arena, path, "berm"), &whole, NULL, NULL, err) < 0)
		return -1;
	if (strcmp(whole, directory) == 0 || strcmp(path_join(&session->arena, parent, "berm"), directory) == 0)
		return 0;
	error_set(err, "%s is in a project that encloses this one: a command could have prepared it", directory);
	return error_hint(err, "unset XDG_CONFIG_HOME and XDG_STATE_HOME, or name directories that no sandbox can write");
}

int session_load(struct session *session, struct error *err)
{
	const struct options *options = &session->options;
	struct policy_request request = { .read = read_policy,
					  .self = session,
					  .command_line = &options->command_line,
					  .is_narrowing = session->is_narrowing,
					  .piece = session->piece,
					  .piece_rules = session->piece_rules };

	session->diagnostics.arena = &session->arena;
	if (open_context(session, err) < 0)
		return -1;
	/* Records are added and removed by rename, which changes the directory's ctime. */
	cache_note_content(&session->cache, path_join(&session->arena, session->context.state_directory, "trust"));
	if (refuse_moved_policy(session, err) < 0)
		return -1;
	if (refuse_enclosed(session, ".config", session->context.config_directory, err) < 0 ||
	    refuse_enclosed(session, ".local/state", session->context.state_directory, err) < 0)
		return -1;
	request.home = session->context.home;
	request.user_file = user_file(session);
	if (options->policy_file) {
		request.explicit_file = options->policy_file;
	} else if (!options->context_file) {
		if (trust_judge_place(session->context.state_directory, session->context.project, err) < 0)
			return -1;
		read_project_file(session);
		request.project_file = session->project_file.path;
		request.project_is_trusted = session->project_file.is_trusted;
		request.enclosing_files = enclosing_files(session);
	}
	return policy_load(&session->arena, &request, &session->policy, &session->diagnostics);
}

/* Refuses a user's policy that the command could rewrite: an agent may have set XDG_CONFIG_HOME. */
static int refuse_writable_policy(struct session *session, struct error *err)
{
	const struct context *context = &session->context;
	const char *path = user_file(session), *canonical;
	struct verdict verdict;

	if (!path)
		return 0;
	if (path_resolve(context->fs, &session->arena, path, &canonical, NULL, NULL, err) < 0)
		return -1;
	verdict = plan_check_path(&session->plan, ACCESS_WRITE, canonical, false);
	if (!verdict.is_allowed && !path_is_within(canonical, context->project) && !trust_is_in_sandbox(canonical))
		return 0;
	error_set(err, "the user's policy %s is in a directory that the command can write", path);
	return error_hint(err, "move it out of the project, or unset XDG_CONFIG_HOME");
}

/* The same for the records of trust. The default state directory is denied in every run, whatever a
 * rule grants. */
static int refuse_writable_state(struct session *session, struct error *err)
{
	const struct context *context = &session->context;
	const char *usual = path_join(&session->arena, context->home, ".local/state/berm");
	const struct plan_grant *grant = plan_grant_for(&session->plan, context->state_directory);

	if (session->options.context_file || strcmp(context->state_directory, usual) == 0 || !grant ||
	    grant->kind != GRANT_WRITE)
		return 0;
	error_set(err, "the state directory %s is in a directory that the command can write", context->state_directory);
	return error_hint(err, "unset XDG_STATE_HOME, or name a directory that no sandbox can write");
}

char *const *session_words(struct arena *arena, char **argv, int rest, const char *omitted)
{
	char **words = arena_alloc(arena, ((size_t)rest + 1) * sizeof *words);
	size_t count = 0;
	for (int i = 1; i < rest; i++)
		if (!omitted || strcmp(argv[i], omitted) != 0)
			words[count++] = argv[i];
	if (count > 0 && strcmp(words[count - 1], "--") == 0)
		words[--count] = NULL;
	return words;
}

char *const *session_narrow_words(struct arena *arena, const char *piece)
{
	struct {
		char **items;
		size_t count;
	} words = { 0 };
	*arena_push(arena, &words) = arena_printf(arena, "\nnarrow %s", piece ? piece : "");
	for (size_t i = 0; context_workspace_variables[i]; i++) {
		const char *value = getenv(context_workspace_variables[i]);
		if (value && value[0])
			*arena_push(arena, &words) = arena_printf(arena, "%s=%s", context_workspace_variables[i], value);
	}
	*arena_push(arena, &words) = NULL;
	return words.items;
}

void session_add_word(struct session *session, const char *word)
{
	char *const *old = session->cache.words;
	char **words;
	size_t count = 0;
	if (!old)
		return;
	while (old[count])
		count++;
	words = arena_alloc(&session->arena, (count + 2) * sizeof *words);
	memcpy(words, old, count * sizeof *words);
	words[count] = arena_copy(&session->arena, word);
	session->cache.words = words;
}

bool session_restore(struct session *session)
{
	if (!cache_load(&session->cache, &session->arena, session->tier, &session->plan))
		return false;
	session->context = session->plan.context;
	return true;
}

/* Later queries are not dependencies of the plan. */
static void stop_recording(struct session *session)
{
	const struct filesystem *host = cache_stop_recording(&session->cache);
	if (!host)
		return;
	session->context.fs = host;
	session->plan.context.fs = host;
}

/* True if the file that the user trusted is not there: absent, of another type, or reached through
 * a symlink. */
static bool is_absent(struct session *session, const char *path)
{
	const struct context *context = &session->context;
	struct path_links links = { 0 };
	struct file_info info;
	struct error ignored;
	const char *canonical;

	if (path_resolve(context->fs, &session->arena, path, &canonical, &links, &info, &ignored) < 0)
		return false;
	return links.count > 0 || info.type != FILE_REGULAR;
}

static void add_project(struct session *session, const char *path)
{
	struct plan *plan = &session->plan;
	if (plan_is_below_writable(plan, path))
		*arena_push(&session->arena, &plan->projects) =
			(struct plan_match){ .path = path, .type = FILE_DIRECTORY, .rule = NULL };
}

/* Finds projects that hosts look into, and trusted policies that are absent. Every answer is a
 * dependency of the cached plan, as the directory of the records is. */
static void find_projects(struct session *session)
{
	const struct enclosing_projects *enclosing = &session->context.enclosing;
	struct trust_entries entries;
	struct error ignored = { 0 };

	for (size_t i = 0; i < enclosing->count; i++)
		add_project(session, enclosing->items[i].path);
	if (session->options.context_file ||
	    trust_list(&session->arena, session->context.state_directory, &entries, &ignored) < 0)
		return;
	for (size_t i = 0; i < entries.count; i++) {
		const char *path = entries.items[i].path;
		bool is_repeated = i > 0 && strcmp(entries.items[i - 1].path, path) == 0;
		if (!is_repeated && strrchr(path, '/') > path)
			add_project(session, arena_copy_n(&session->arena, path, (size_t)(strrchr(path, '/') - path)));
		if (!is_repeated && plan_is_below_writable(&session->plan, path) && is_absent(session, path))
			*arena_push(&session->arena, &session->absent) = path;
	}
}

int session_open(struct session *session, struct error *err)
{
	if (session_load(session, err) < 0)
		return -1;
	if (plan_resolve(&session->arena, &session->policy, &session->context, &session->plan, &session->diagnostics) < 0)
		return -1;
	session->plan.is_guarded = session->plan.guards_creation && !session->options.os && !session->options.context_file &&
				   backend_can_guard(&session->plan);
	if (refuse_writable_state(session, err) < 0 || refuse_writable_policy(session, err) < 0)
		return -1;
	find_projects(session);
	stop_recording(session);
	return 0;
}

int session_open_here(struct session *session, struct error *err)
{
	struct error why = { 0 };
	struct plan_note *note;

	if (session_open(session, err) < 0)
		return -1;
	if (session->options.os || session->options.context_file || backend_tier(&session->plan, &why) == TIER_FULL)
		return 0;
	session_restart(session, TIER_LANDLOCK);
	if (session_open(session, err) < 0)
		return -1;
	note = arena_push(&session->arena, &session->plan.notes);
	*note = (struct plan_note){
		.kind = NOTE_OTHER,
		.text = arena_printf(&session->arena, "tier landlock, because this host refuses the full one: %s", why.message)
	};
	return 0;
}

void session_restart(struct session *session, enum tier tier)
{
	cache_restart(&session->cache, session->tier == tier);
	*session = (struct session){ .arena = session->arena,
				     .options = session->options,
				     .cache = session->cache,
				     .ignores_trust = session->ignores_trust,
				     .is_narrowing = session->is_narrowing,
				     .piece = session->piece,
				     .piece_rules = session->piece_rules,
				     .agent = session->agent,
				     .opened = session->opened,
				     .ended = session->ended,
				     .self = session->self,
				     .joining = session->joining,
				     .tier = tier };
}

int session_detect(struct session *session, struct error *err)
{
	struct context_request request = { .has_no_project = true };
	return context_detect(&session->arena, &request, &session->context, err);
}

void session_close(struct session *session)
{
	cache_close(&session->cache);
	arena_free(&session->arena);
}
