/* SPDX-License-Identifier: Apache-2.0 */
/* `berm init`: writes a berm.yml that fits the project. Never over a file that is there, never trusted by itself, and never one
 * that `berm plan` would refuse: the text goes through the same parser and plan before it is written. */
#include "common/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/cleanup.h"
#include "common/detect/detect.h"
#include "common/policy/file.h"
#include "common/cli/session.h"
#include "common/base/text.h"

static const char policy_name[] = "berm.yml";
static const char temporary_name[] = ".berm.yml.new";
static const char usual_schema[] = "/usr/share/berm/berm.schema.json";

static int print_help(void)
{
	struct text out = { 0 };
	text_add(&out, "berm init [options] [DIR]\n\n"
		       "Looks at the project (its files, and where its package managers are configured\n"
		       "to fetch from) and writes a commented berm.yml for it. Never overwrites one,\n"
		       "runs nothing, and trusts nothing. DIR is the project (default: nearest .git).\n\n");
	options_help(COMMAND_INIT, &out);
	text_add(&out, "\nExit status: 0 written; 1 there is one already; 125 an error.\n");
	fputs(out.data, stdout);
	text_free(&out);
	return 0;
}

/* Beside this program if it is installed so, else where packages put it. */
static const char *schema_path(struct session *session)
{
	const struct context *context = &session->context;
	const char *prefix, *path;
	struct file_info info;

	if (!context->executable)
		return usual_schema;
	prefix = path_parent(&session->arena, path_parent(&session->arena, context->executable));
	path = path_join(&session->arena, prefix, "share/berm/berm.schema.json");
	if (context->fs->inspect(context->fs, path, &info) < 0 || info.type != FILE_REGULAR || strpbrk(path, " \n\r\t"))
		return usual_schema;
	return path;
}

/* The text as the project's file, without a disk. */
struct trial {
	const char *path;
	const struct text *text;
	struct policy policy;
	struct plan plan;
};

static int read_trial(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	const struct trial *trial = self;
	if (strcmp(path, trial->path) != 0)
		return policy_file_read(NULL, arena, path, text, length, err);
	*text = arena_copy_n(arena, trial->text->data, trial->text->length);
	*length = trial->text->length;
	return 0;
}

static int try_text(struct session *session, bool is_trusted, struct trial *trial)
{
	const struct context *context = &session->context;
	const char *user_file = path_join(&session->arena, context->config_directory, policy_name);
	struct file_info info;
	struct policy_request request = {
		.project_file = trial->path,
		.project_is_trusted = is_trusted,
		.read = read_trial,
		.self = trial,
		.home = context->home,
	};

	if (context->fs->inspect(context->fs, user_file, &info) == 0 && info.type != FILE_ABSENT)
		request.user_file = user_file;
	session->diagnostics.arena = &session->arena;
	if (policy_load(&session->arena, &request, &trial->policy, &session->diagnostics) < 0)
		return -1;
	return plan_resolve(&session->arena, &trial->policy, context, &trial->plan, &session->diagnostics);
}

static bool holds_network(const struct trial *trial)
{
	struct guarantee_state states[GUARANTEE_COUNT] = { 0 };
	const struct plan *plan = &trial->plan;

	for (size_t i = 0; i < plan->notes.count; i++) {
		const struct plan_note *note = &plan->notes.items[i];
		if (note->kind == NOTE_UNSUPPORTED && note->rule && text_starts_with(note->rule->key, "network"))
			return false;
	}
	backend_expect(plan, states);
	return states[GUARANTEE_NETWORK].level >= plan->required[GUARANTEE_NETWORK];
}

/* The destinations are live where this version can keep to them. */
static int compose(struct session *session, const struct detection *detection, struct trial *trial, struct text *out)
{
	const char *schema = schema_path(session);

	detect_policy(detection, schema, true, out);
	trial->text = out;
	if (try_text(session, true, trial) < 0)
		return -1;
	if (holds_network(trial))
		return 0;
	text_free(out);
	*out = (struct text){ 0 };
	detect_policy(detection, schema, false, out);
	return try_text(session, true, trial);
}

static bool widens(struct session *session, const struct trial *trial)
{
	struct trial untrusted = { .path = trial->path, .text = trial->text };
	if (try_text(session, false, &untrusted) < 0)
		return true;
	for (size_t i = 0; i < untrusted.policy.ignored.count; i++)
		if (untrusted.policy.ignored.items[i].layer == LAYER_PROJECT)
			return true;
	return false;
}

static int create_file(int directory, const char *name, const struct text *text)
{
	autoclose int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	if (text_write(fd, text->data, text->length) == 0 && fsync(fd) == 0)
		return 0;
	unlinkat(directory, name, 0);
	return -1;
}

/* Whole or not at all, and never over another: written under another name, then linked. Where the file system has no hard links
 * it is created under its own name, which refuses what is there just the same. */
static int write_policy(const char *project, const struct text *text, struct error *err)
{
	autoclose int directory = open(project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status, number;

	if (directory < 0)
		return error_errno(err, errno, "cannot open %s", project);
	if (create_file(directory, temporary_name, text) < 0) {
		error_errno(err, errno, "cannot write %s/%s", project, temporary_name);
		return err->number == EEXIST ? error_hint(err, "left over from an earlier attempt: remove it") : -1;
	}
	status = linkat(directory, temporary_name, directory, policy_name, 0);
	number = errno;
	unlinkat(directory, temporary_name, 0);
	if (status < 0 && (number == EPERM || number == EOPNOTSUPP || number == EMLINK)) {
		status = create_file(directory, policy_name, text);
		number = errno;
	}
	return status < 0 ? error_errno(err, number, "cannot write %s/%s", project, policy_name) : 0;
}

static int say_exists(struct session *session, const char *path)
{
	fprintf(stderr, "berm: %s is there already; it was left as it is (--print shows a new one)\n",
		text_visible(&session->arena, path));
	return 1;
}

static void say_unread(struct session *session, const struct detection *detection)
{
	for (size_t i = 0; i < detection->registries.count; i++) {
		const struct registry *registry = &detection->registries.items[i];
		if (!registry->destination && !registry->local_port)
			fprintf(stderr, "berm: the address in %s could not be read and was left out\n",
				text_visible(&session->arena, registry->source));
	}
}

static void say_written(struct session *session, const struct trial *trial)
{
	const char *project = text_visible(&session->arena, session->context.project);
	printf("wrote %s\n", text_visible(&session->arena, trial->path));
	if (widens(session, trial))
		printf("It opens more than the default. Read it, then accept that with:\n  berm trust %s\n", project);
	printf("What it means here: berm plan\n");
}

static int init(struct session *session, const char *word)
{
	struct context_request request = { .project = word };
	struct detection detection;
	struct file_info info;
	struct trial trial = { 0 };
	struct text out = { 0 };
	struct error err = { 0 };
	int status = 0;

	if (context_detect(&session->arena, &request, &session->context, &err) < 0)
		return report_error(&err);
	trial.path = path_join(&session->arena, session->context.project, policy_name);
	if (session->context.fs->inspect(session->context.fs, trial.path, &info) < 0)
		info.type = FILE_UNKNOWN;
	if (info.type != FILE_ABSENT && !session->options.wants_print)
		return say_exists(session, trial.path);
	if (detect_project(&session->arena, &session->context, &detection, &err) < 0)
		return report_error(&err);
	say_unread(session, &detection);
	if (compose(session, &detection, &trial, &out) < 0)
		status = report_diagnostics(&session->diagnostics);
	else if (session->options.wants_print)
		fputs(out.data, stdout);
	else if (write_policy(session->context.project, &out, &err) < 0)
		status = err.number == EEXIST && !err.hint[0] ? say_exists(session, trial.path) : report_error(&err);
	else
		say_written(session, &trial);
	text_free(&out);
	return status;
}

int cmd_init(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (words_parse(&session.arena, COMMAND_INIT, argc, argv, &session.options, &word, &err) < 0)
		status = report_error(&err);
	else if (session.options.wants_help)
		status = print_help();
	else
		status = init(&session, word);
	session_close(&session);
	return status;
}
