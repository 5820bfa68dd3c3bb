/* SPDX-License-Identifier: Apache-2.0 */
/* `berm init`: writes a berm.yml that fits the project. Never overwrites a file and never trusts
 * the result. Parses and plans the text before writing it, so that `berm plan` accepts it. */
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
#include "common/cli/progress.h"
#include "common/cli/session.h"
#include "common/base/text.h"

static const char policy_name[] = POLICY_FILE_NAME;
static const char temporary_name[] = "." POLICY_FILE_NAME ".new";

static int print_help(void)
{
	return report_help("berm init [options] [DIR]\n\n"
			   "Writes a commented berm.yml for the project, by its files and the registries\n"
			   "that its package managers are configured for. A package manager is asked in a\n"
			   "sandbox without network and without the project. Never overwrites a file, never\n"
			   "trusts the result. DIR is the project (default: nearest .git).\n",
			   COMMAND_INIT, "Exit status: 0 written; 1 one exists already; 125 an error.\n");
}

/* A policy text that is parsed as the project's file without being on disk. */
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

/* Writes the text. The destinations are comments if this machine cannot enforce them. */
static int compose(struct session *session, const struct detection *detection, struct trial *trial, struct text *out)
{
	detect_policy(detection, true, out);
	trial->text = out;
	if (try_text(session, true, trial) < 0)
		return -1;
	if (holds_network(trial))
		return 0;
	text_free(out);
	*out = (struct text){ 0 };
	detect_policy(detection, false, out);
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

/* Writes the whole file or nothing, and never replaces one: writes a temporary file, then links it.
 * Without hard links it creates the file by its final name, which also fails if it exists. */
static int write_policy(const char *project, const struct text *text, struct error *err)
{
	autoclose int directory = open(project, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status, number;

	if (directory < 0)
		return error_errno(err, errno, "cannot open %s", project);
	if (create_file(directory, temporary_name, text) < 0) {
		error_errno(err, errno, "cannot write %s/%s", project, temporary_name);
		return err->number == EEXIST ? error_hint(err, "an earlier `berm init` left it: remove it") : -1;
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

static int report_existing(struct session *session, const char *path)
{
	fprintf(stderr, "berm: %s exists already and was not changed (--print shows a new one)\n",
		text_visible(&session->arena, path));
	return 1;
}

/* Prints every host with its source, and each unknown registry. With --print the file shows the
 * hosts itself. */
static void report_found(struct session *session, const struct detected *detected, struct text *out)
{
	const struct registries *registries = &detected->registries;

	for (size_t i = 0; i < registries->count; i++) {
		const struct registry *registry = &registries->items[i];
		struct text source = { 0 };
		text_add_visible(&source, registry->source, strlen(registry->source));
		if (registry->line > 0)
			text_add(&source, ":%u", registry->line);
		if (!registry->destination && !registry->local_port)
			fprintf(stderr, "berm: skipped the address in %s: it cannot be parsed\n", source.data);
		else if (registry->local_port)
			text_add(out, "  localhost:%-24u %s\n", registry->local_port, source.data);
		else
			text_add(out, "  %-34s %s\n", registry->destination, source.data);
		text_free(&source);
	}
	if (registries->left_out > 0)
		fprintf(stderr, "berm: %zu further addresses in the files of %s are left out: too many\n", registries->left_out,
			detected->tool);
	if (detected->unanswered)
		fprintf(stderr,
			"berm: the default registry of %s is not known: %s\n"
			"  add it to network.allow in " POLICY_FILE_NAME " if downloads are refused\n",
			detected->tool, text_visible(&session->arena, detected->unanswered));
}

static void report_hosts(struct session *session, const struct detection *detection)
{
	struct text out = { 0 };

	for (int i = 0; i < ECOSYSTEM_COUNT; i++)
		if (detection->ecosystems[i].marker)
			report_found(session, &detection->ecosystems[i], &out);
	if (out.length > 0 && !session->options.wants_print)
		printf("Registries that commands may reach once the policy is trusted:\n%s", out.data);
	text_free(&out);
}

/* An address outside the public network needs a separate rule. On a terminal the user is asked.
 * --yes accepts those of names that the user's configuration or a package manager chose; the
 * project's own files cannot open a private address that way. All others become comments. */
static void judge_addresses(struct session *session, struct detection *detection)
{
	for (size_t i = 0; i < detection->addresses.count; i++) {
		struct detected_address *address = &detection->addresses.items[i];
		struct error ignored = { 0 };
		const char *question = arena_printf(&session->arena, "%s resolves to the %s address %s. Allow that address?",
						    address->host, address->kind, address->destination);
		if (session->options.is_yes)
			address->is_accepted = address->is_usual;
		else if (!session->options.wants_print)
			address->is_accepted = arguments_confirm(question, "", &ignored) == 1;
		fprintf(stderr, "berm: %s resolves to the %s address %s, which %s\n", address->host, address->kind,
			address->destination,
			address->is_accepted ? "gets a rule too" : "is a comment in the policy: not allowed");
	}
}

static void report_written(struct session *session, const struct trial *trial)
{
	const char *project = text_visible(&session->arena, session->context.project);
	printf("wrote %s\n", text_visible(&session->arena, trial->path));
	if (widens(session, trial))
		printf("It allows more than the default. Read it, then accept it with:\n  berm trust %s\n", project);
	printf("To see its effect: berm plan\n");
}

static int init(struct session *session, const char *word)
{
	struct context_request request = { .project = word };
	struct progress progress;
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
		return report_existing(session, trial.path);
	if (detect_project(&session->arena, &session->context, &detection, &err) < 0)
		return report_error(&err);
	progress_begin(&progress, "asking the package managers for their registries");
	detect_ask(&session->arena, &session->context, &detection);
	detect_addresses(&session->arena, &detection);
	progress_end(&progress);
	report_hosts(session, &detection);
	judge_addresses(session, &detection);
	if (compose(session, &detection, &trial, &out) < 0)
		status = report_diagnostics(&session->diagnostics);
	else if (session->options.wants_print)
		fputs(out.data, stdout);
	else if (write_policy(session->context.project, &out, &err) < 0)
		status = err.number == EEXIST && !err.hint[0] ? report_existing(session, trial.path) : report_error(&err);
	else
		report_written(session, &trial);
	text_free(&out);
	return status;
}

int cmd_init(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	const char *word;
	int status;

	if (arguments_parse(&session.arena, COMMAND_INIT, argc, argv, &session.options, &word, &err) < 0)
		status = report_error(&err);
	else if (session.options.wants_help)
		status = print_help();
	else
		status = init(&session, word);
	session_close(&session);
	return status;
}
