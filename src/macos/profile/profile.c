/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a Seatbelt profile: the order of the blocks, and the grants.
 *
 * Semantics of the kernel: of the filtered rules of an operation the last match decides. If none
 * matches, the operation's unfiltered rule decides. If there is none, the same applies to the
 * parent operation. So a rule on a child operation overrides every rule on its parent, at any
 * position. Therefore grants and denials have the same level (file-read*, file-write*, ...),
 * denials come after grants, and child operations (file-write-unlink, file-write-create) have
 * denials only. */
#include "macos/profile/internal.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_MAX = 64 };

static const char read_operations[] = "file-read* process-exec*";
/* Not file-link. If the kernel checked a link by its destination alone, a grant would make denied
 * files and files of the host writable under another name. Which end it checks is not certain. */
static const char write_operations[] = "file-read* file-write* file-clone process-exec*\n  network-inbound network-outbound";
/* write_operations without read_operations. */
static const char only_write_operations[] = "file-write* file-link file-clone network-inbound network-outbound";
/* Every operation on a file that a grant allows. */
static const char all_operations[] = "file-read* file-write* file-link file-clone file-map-executable process-exec*\n"
				     "  network-inbound network-outbound";

static bool is_plain_character(char c)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* Adds text with every byte but printable ASCII as %XX, so that no text can end a comment. */
static void add_commented(struct text *out, const char *text)
{
	for (; *text; text++) {
		if (*text >= ' ' && *text <= '~' && *text != '%')
			text_add_n(out, text, 1);
		else
			text_add(out, "%%%02X", (unsigned)(unsigned char)*text);
	}
}

void profile_comment(struct profile_writer *writer, const char *indent, const struct rule *rule)
{
	struct text *out = &writer->out;
	text_add(out, "%s; ", indent);
	if (!rule) {
		text_add(out, "berm's own\n");
		return;
	}
	add_commented(out, rule->key);
	text_add(out, ": ");
	add_commented(out, rule->text);
	text_add(out, " (");
	add_commented(out, rule->origin.source);
	if (rule->origin.line)
		text_add(out, ":%u:%u", rule->origin.line, rule->origin.column);
	text_add(out, ")\n");
}

static const char *parameter_for(struct profile_writer *writer, const char *value)
{
	struct profile_parameters *parameters = &writer->parameters;
	struct profile_parameter *added;
	for (size_t i = 0; i < parameters->count; i++)
		if (strcmp(parameters->items[i].value, value) == 0)
			return parameters->items[i].name;
	added = arena_push(writer->arena, parameters);
	added->name = arena_printf(writer->arena, "P%zu", parameters->count);
	added->value = arena_copy(writer->arena, value);
	return added->name;
}

void profile_path(struct profile_writer *writer, const char *kind, const char *path)
{
	const char *at = path;
	while (is_plain_character(*at))
		at++;
	if (*at == '\0')
		text_add(&writer->out, "(%s \"%s\")", kind, path);
	else
		text_add(&writer->out, "(%s (param \"%s\"))", kind, parameter_for(writer, path));
}

void profile_end_deny(struct profile_writer *writer)
{
	bool is_new_line = writer->out.data[writer->out.length - 1] == '\n';
	text_add(&writer->out, "%s  (with message \"%s\"))\n", is_new_line ? "" : "\n", writer->tag);
}

void profile_private_paths(struct profile_writer *writer)
{
	profile_path(writer, "subpath", writer->home);
	text_add(&writer->out, " ");
	profile_path(writer, "subpath", writer->tmp);
}

static int compare_lengths(const void *left, const void *right)
{
	const struct plan_grant *a = *(const struct plan_grant *const *)left, *b = *(const struct plan_grant *const *)right;
	size_t length = strlen(a->path), other = strlen(b->path);
	return length != other ? (length < other ? -1 : 1) : strcmp(a->path, b->path);
}

/* Sorts by length: an inner grant comes after the outer one and decides, even without regard to
 * case. */
static const struct plan_grant **sorted_grants(const struct profile_writer *writer)
{
	const struct plan_grants *grants = &writer->plan->grants;
	const struct plan_grant **sorted = arena_alloc(writer->arena, (grants->count + 1) * sizeof *sorted);
	for (size_t i = 0; i < grants->count; i++)
		sorted[i] = &grants->items[i];
	qsort(sorted, grants->count, sizeof *sorted, compare_lengths);
	return sorted;
}

static void write_grant(struct profile_writer *writer, const struct plan_grant *grant)
{
	const char *kind = grant->type == FILE_DIRECTORY ? "subpath" : "literal";
	bool is_writable = grant->kind == GRANT_WRITE;
	profile_comment(writer, "", grant->rule);
	text_add(&writer->out, "(allow %s ", is_writable ? write_operations : read_operations);
	profile_path(writer, kind, grant->path);
	text_add(&writer->out, ")\n");
	if (is_writable || !plan_is_below_writable(writer->plan, grant->path))
		return;
	text_add(&writer->out, "(deny %s ", only_write_operations);
	profile_path(writer, kind, grant->path);
	profile_end_deny(writer);
}

/* The data volume shows every file of the machine a second time. The kernel folds that spelling
 * away only for directories that have a firmlink, so a grant above the volume does not reach in. */
static void write_data_volume(struct profile_writer *writer)
{
	text_add(&writer->out, "; The data volume: only what a rule names in it.\n(deny %s\n  ", all_operations);
	profile_path(writer, "subpath", plan_data_volume);
	profile_end_deny(writer);
}

static void write_grants(struct profile_writer *writer)
{
	const struct plan *plan = writer->plan;
	const struct plan_grant **sorted = sorted_grants(writer);
	bool has_volume = false;
	text_add(&writer->out, "\n; Granted.\n");
	for (size_t i = 0; i < plan->grants.count; i++) {
		if (!has_volume && strlen(sorted[i]->path) >= strlen(plan_data_volume)) {
			write_data_volume(writer);
			has_volume = true;
		}
		write_grant(writer, sorted[i]);
	}
	if (!has_volume)
		write_data_volume(writer);
}

/* For programs that ignore TMPDIR. Patterns apply in these directories. */
static void write_user_directories(struct profile_writer *writer)
{
	const char *const paths[] = { writer->run->user_temporary, writer->run->user_cache };
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		if (!paths[i])
			continue;
		text_add(&writer->out, "; This run's own part of the user's temporary or cache directory.\n(allow %s\n  ",
			 write_operations);
		profile_path(writer, "subpath", paths[i]);
		text_add(&writer->out, ")\n");
	}
}

static void write_own(struct profile_writer *writer)
{
	text_add(&writer->out, "\n; The command's private home and temporary directory.\n(allow %s\n  ", write_operations);
	profile_private_paths(writer);
	text_add(&writer->out, ")\n");
	write_user_directories(writer);
	text_add(&writer->out,
		 "; Files that berm wrote for the command: the git identity and ignored names.\n(allow file-read* ");
	profile_path(writer, "subpath", writer->plan->state.documents);
	text_add(&writer->out, ")\n(deny %s process-exec* ", only_write_operations);
	profile_path(writer, "subpath", writer->plan->state.documents);
	profile_end_deny(writer);
	if (writer->run->mark) {
		text_add(&writer->out, "; Marks the processes of this run.\n(deny file-read* ");
		profile_path(writer, "literal", writer->run->mark);
		profile_end_deny(writer);
	}
	if (!writer->run->helper)
		return;
	text_add(&writer->out, "; Writes the proof that the sandbox is active.\n(allow %s ", read_operations);
	profile_path(writer, "literal", writer->run->helper);
	text_add(&writer->out, ")\n");
}

static void write_sockets(struct profile_writer *writer)
{
	const struct plan_items *sockets = &writer->plan->sockets;
	for (size_t i = 0; i < sockets->count; i++) {
		profile_comment(writer, "", sockets->items[i].rule);
		text_add(&writer->out, "(allow file-read* network-outbound ");
		profile_path(writer, "literal", sockets->items[i].value);
		text_add(&writer->out, ")\n(deny process-exec* ");
		profile_path(writer, "literal", sockets->items[i].value);
		profile_end_deny(writer);
	}
}

static void write_head(struct profile_writer *writer)
{
	text_add(&writer->out, "(version 1)\n"
			       "; Made by berm from a policy. Compiled and model-checked, never run on a Mac.\n"
			       "(deny default");
	profile_end_deny(writer);
}

static int check_tag(const char *tag, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-";
	size_t length = strlen(tag);
	if (length == 0 || length > TAG_MAX || strspn(tag, allowed) != length)
		return error_set(err, "the tag of a profile may have only letters, digits and .:_-");
	return 0;
}

static int check_path(const char *path, struct error *err)
{
	if (!path || path_is_absolute_clean(path))
		return 0;
	return error_set(err, "a profile needs absolute paths without . and ..: %s", path);
}

static int check_run_paths(const struct profile_writer *writer, struct error *err)
{
	const struct profile_run *run = writer->run;
	const char *const paths[] = { run->mark, run->helper, run->user_temporary, run->user_cache, writer->home, writer->tmp };
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (check_path(paths[i], err) < 0)
			return -1;
	for (size_t i = 0; i < run->terminal_count; i++)
		if (check_path(run->terminals[i], err) < 0)
			return -1;
	return 0;
}

static int check(const struct plan *plan, const struct profile_writer *writer, struct error *err)
{
	if (plan->context.os != OS_MACOS)
		return error_set(err, "a profile needs a plan for macOS");
	if (check_tag(writer->tag, err) < 0 || check_run_paths(writer, err) < 0)
		return -1;
	/* They are exempt from every denial, so they must contain only berm's directories. */
	if (strcmp(writer->home, "/") == 0 || strcmp(writer->tmp, "/") == 0 ||
	    path_is_within(plan->context.home, writer->home) || path_is_within(plan->context.home, writer->tmp) ||
	    path_is_within(plan->context.project, writer->home) || path_is_within(plan->context.project, writer->tmp))
		return error_set(err, "the private home %s or %s contains the real home or the project", writer->home,
				 writer->tmp);
	return 0;
}

void profile_print(const struct profile *profile, struct text *out)
{
	for (size_t i = 0; i < profile->parameters.count; i++) {
		text_add(out, "; -D %s=", profile->parameters.items[i].name);
		add_commented(out, profile->parameters.items[i].value);
		text_add(out, "\n");
	}
	text_add_n(out, profile->text, profile->length);
}

bool profile_needs_proxy(const struct plan *plan)
{
	return plan->network.mode == NETWORK_ALLOW || (plan->network.mode == NETWORK_ALL && plan->network.deny.count > 0);
}

int profile_write(struct arena *arena, const struct plan *plan, const struct profile_run *run, struct profile *profile,
		  struct error *err)
{
	struct profile_writer writer = { .arena = arena, .plan = plan, .run = run, .tag = run->tag ? run->tag : "berm" };
	int result;

	*profile = (struct profile){ 0 };
	writer.home = run->home ? run->home : plan->state.home;
	writer.tmp = run->tmp ? run->tmp : plan->state.tmp;
	if (check(plan, &writer, err) < 0)
		return -1;
	write_head(&writer);
	profile_write_process(&writer);
	write_grants(&writer);
	write_sockets(&writer);
	write_own(&writer);
	result = profile_write_network(&writer, err);
	profile_write_protect(&writer);
	/* After the protected names: a pattern for files of the project must not match a
	 * terminal. */
	profile_write_devices(&writer);
	profile_write_pins(&writer);
	profile_write_deny(&writer);
	profile_write_carried(&writer);
	profile_write_closed(&writer);
	if (result == 0) {
		profile->text = arena_copy_n(arena, writer.out.data, writer.out.length);
		profile->length = writer.out.length;
		profile->parameters = writer.parameters;
	}
	text_free(&writer.out);
	return result;
}
