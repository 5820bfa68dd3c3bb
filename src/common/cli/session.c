/* SPDX-License-Identifier: Apache-2.0 */
/* From options to a resolved plan. Reads policy files and looks at the file system; changes nothing, prints nothing. */
#include "common/cli/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/policy/file.h"
#include "common/state/trust.h"

static const char policy_name[] = "berm.yml";

/* With a plan to store, everything that is looked at on the way to it is noted. */
static const struct filesystem *recorder(struct session *session)
{
	return session->words ? facts_record(&session->facts, &session->arena, filesystem_host()) : NULL;
}

static void note_content(struct session *session, const char *path)
{
	if (session->words)
		facts_note_content(&session->facts, path);
}

static int open_context(struct session *session, struct error *err)
{
	const struct options *options = &session->options;
	struct context_request request = { .project = options->project,
					   .fs = recorder(session),
					   .is_narrowing = session->is_narrowing };
	char *text;
	size_t length;

	note_content(session, "/etc/passwd");
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

/* The path if there is such a file, else NULL. A dangling or planted symlink counts as there: reading it then fails in words. */
static const char *existing(struct session *session, const char *directory)
{
	const char *path = arena_printf(&session->arena, "%s/%s", directory, policy_name);
	struct file_info info;
	if (session->context.fs->inspect(session->context.fs, path, &info) < 0 || info.type == FILE_ABSENT)
		return NULL;
	return path;
}

/* Reads the project's file, the only time in this process, and compares what was read with what the user trusts. */
static void read_project_file(struct session *session)
{
	struct session_project_file *file = &session->project_file;
	const struct context *context = &session->context;

	file->path = existing(session, context->project);
	if (file->path) {
		note_content(session, file->path);
		/* Records come and go by rename, which the directory's time shows. */
		note_content(session, path_join(&session->arena, context->state_directory, "trust"));
	}
	if (!file->path || policy_file_read(NULL, &session->arena, file->path, &file->text, &file->length, &file->error) < 0)
		return;
	trust_hash(file->text, file->length, file->content);
	file->is_trusted = !session->ignores_trust &&
			   trust_is_recorded(&session->arena, context->state_directory, file->path, file->content);
}

/* The `read` of struct policy_request: the project's file from memory, others from the disk. */
static int read_policy(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	struct session *session = self;
	const struct session_project_file *file = &session->project_file;

	if (!file->path || strcmp(path, file->path) != 0) {
		note_content(session, path);
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

/* XDG_CONFIG_HOME counts for nothing where the caller may only narrow. A policy that lies there all the same could be the user's, with
 * denials that they count on: it is not passed over in silence. */
static int refuse_moved_policy(struct session *session, struct error *err)
{
	const struct context *context = &session->context;
	const char *value = getenv("XDG_CONFIG_HOME"), *moved, *usual = NULL, *path;

	if (!session->is_narrowing || !value || value[0] != '/')
		return 0;
	path = path_absolute(&session->arena, "/", path_join(&session->arena, value, "berm/berm.yml"));
	if (path_resolve(context->fs, &session->arena, path, &moved, NULL, NULL, err) < 0)
		return -1;
	if (!existing(session, path_parent(&session->arena, moved)))
		return 0;
	path = existing(session, context->config_directory);
	if (path && path_resolve(context->fs, &session->arena, path, &usual, NULL, NULL, err) < 0)
		return -1;
	if (usual && strcmp(moved, usual) == 0)
		return 0;
	error_set(err, "XDG_CONFIG_HOME names a policy, %s, but shims and hooks take the user's from ~/.config/berm only",
		  moved);
	return error_hint(err, "if it is yours: ln -s %s ~/.config/berm", path_parent(&session->arena, moved));
}

int session_load(struct session *session, struct error *err)
{
	const struct options *options = &session->options;
	struct policy_request request = { .read = read_policy,
					  .self = session,
					  .command_line = &options->command_line,
					  .is_narrowing = session->is_narrowing,
					  .piece = session->piece };

	session->diagnostics.arena = &session->arena;
	if (open_context(session, err) < 0 || refuse_moved_policy(session, err) < 0)
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
	}
	return policy_load(&session->arena, &request, &session->policy, &session->diagnostics);
}

/* A user's policy that the command could rewrite would be no policy (an agent may have set XDG_CONFIG_HOME). */
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
	error_set(err, "the user's policy %s lies where the command could write", path);
	return error_hint(err, "move it out of the project, or unset XDG_CONFIG_HOME");
}

/* The same for records of trust. In its usual place the state directory is denied in every run, whatever a rule grants. */
static int refuse_writable_state(struct session *session, struct error *err)
{
	const struct context *context = &session->context;
	const char *usual = path_join(&session->arena, context->home, ".local/state/berm");
	const struct plan_grant *grant = plan_grant_for(&session->plan, context->state_directory);

	if (session->options.context_file || strcmp(context->state_directory, usual) == 0 || !grant ||
	    grant->kind != GRANT_WRITE)
		return 0;
	error_set(err, "the state directory %s lies where the command could write", context->state_directory);
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

bool session_guess(struct session *session)
{
	if (!session->words || session->is_outdated || session->tier != TIER_FULL)
		return false;
	plan_guess_read(session->words, &session->guess);
	return session->guess.can_begin;
}

/* A new plan that is stored is as likely to be there the next time as the one before was. */
bool session_could_begin(const struct session *session)
{
	return session->is_restored ? session->loaded.file.can_begin
				    : session->is_stored && session->guess.can_begin && backend_can_begin(&session->plan);
}

void session_learn(struct session *session, bool can_begin)
{
	struct plan_guess *guess = &session->guess;
	int plans;
	if (!guess->name[0] || guess->can_begin == can_begin || !session->key.home)
		return;
	plans = plan_store_directory(session->key.home);
	if (plans < 0)
		return;
	plan_guess_write(guess, plans, can_begin);
	guess->can_begin = can_begin;
	close(plans);
}

bool session_find(struct session *session)
{
	if (!session->words)
		return false;
	session->is_restored = false;
	plan_store_key(&session->arena, session->words, session->tier, &session->key);
	return !session->is_outdated && plan_store_open(&session->key, &session->loaded);
}

bool session_restore(struct session *session)
{
	if (!plan_store_load(&session->arena, &session->key, &session->plan, &session->loaded))
		return false;
	session->context = session->plan.context;
	session->is_restored = true;
	return true;
}

bool session_confirm(struct session *session)
{
	if (session->is_restored && !session->is_outdated)
		session->is_outdated = !plan_store_confirm(&session->arena, &session->loaded);
	return !session->is_restored || !session->is_outdated;
}

void session_keep(struct session *session, const void *blob, size_t blob_size)
{
	struct plan_prepared prepared = { blob, blob_size, backend_can_begin(&session->plan) };
	if (!session->words || !session->key.home)
		return;
	session->is_stored = plan_store_save(&session->arena, &session->key, &session->plan, &session->facts, &prepared,
					     &session->loaded.walks);
}

/* From here on questions are about the moment, not about the plan. */
static void stop_recording(struct session *session)
{
	if (!session->words)
		return;
	facts_settle(&session->facts);
	session->context.fs = session->facts.host;
	session->plan.context.fs = session->facts.host;
}

int session_open(struct session *session, struct error *err)
{
	if (session_load(session, err) < 0)
		return -1;
	if (plan_resolve(&session->arena, &session->policy, &session->context, &session->plan, &session->diagnostics) < 0)
		return -1;
	if (refuse_writable_state(session, err) < 0 || refuse_writable_policy(session, err) < 0)
		return -1;
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
	*note = (struct plan_note){ .kind = NOTE_OTHER,
				    .text = arena_printf(&session->arena, "tier landlock, because this host refuses more: %s",
							 why.message) };
	return 0;
}

void session_restart(struct session *session, enum tier tier)
{
	walk_store_close(&session->loaded.walks);
	*session = (struct session){ .arena = session->arena,
				     .options = session->options,
				     .words = session->words,
				     .guess = session->guess,
				     .ignores_trust = session->ignores_trust,
				     .is_narrowing = session->is_narrowing,
				     .piece = session->piece,
				     .opened = session->opened,
				     .self = session->self,
				     .is_outdated = session->is_outdated && session->tier == tier,
				     .tier = tier };
}

void session_close(struct session *session)
{
	walk_store_close(&session->loaded.walks);
	arena_free(&session->arena);
}
