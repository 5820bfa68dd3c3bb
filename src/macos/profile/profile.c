/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a Seatbelt profile: the order of its blocks, and the grants.
 *
 * How the kernel reads it: of the filtered rules of an operation the newest that matches decides; if none does, the operation's
 * unfiltered rule; if there is none, the parent operation is asked the same. So a rule on a child operation beats every rule on
 * its parent, wherever it stands. Hence: grants and denials are written at the same level (file-read*, file-write*, ...), denials
 * after grants, and on children (file-write-unlink, file-write-create) there are only denials. */
#include "macos/profile/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/scan/scan.h"

enum { TAG_MAX = 64 };

static const char read_operations[] = "file-read* process-exec*";
static const char write_operations[] =
	"file-read* file-write* file-link file-clone process-exec*\n  network-inbound network-outbound";
/* What write_operations has and read_operations has not. */
static const char only_write_operations[] = "file-write* file-link file-clone network-inbound network-outbound";

static bool is_plain_character(char c)
{
	return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* Printable ASCII stays; the rest becomes %XX. Nothing in a comment ends it. */
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

void profile_own_places(struct profile_writer *writer)
{
	profile_path(writer, "subpath", writer->home);
	text_add(&writer->out, " ");
	profile_path(writer, "subpath", writer->tmp);
}

static bool is_inside_writable(const struct plan *plan, const struct plan_grant *grant)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && &plan->grants.items[i] != grant &&
		    plan_is_within(plan, grant->path, plan->grants.items[i].path))
			return true;
	return false;
}

static int compare_lengths(const void *left, const void *right)
{
	const struct plan_grant *a = *(const struct plan_grant *const *)left, *b = *(const struct plan_grant *const *)right;
	size_t length = strlen(a->path), other = strlen(b->path);
	return length != other ? (length < other ? -1 : 1) : strcmp(a->path, b->path);
}

/* By length: an inner grant comes after the one around it and decides, also where case does not count. */
static const struct plan_grant **sorted_grants(const struct profile_writer *writer)
{
	const struct plan_grants *grants = &writer->plan->grants;
	const struct plan_grant **sorted = arena_alloc(writer->arena, (grants->count + 1) * sizeof *sorted);
	for (size_t i = 0; i < grants->count; i++)
		sorted[i] = &grants->items[i];
	qsort(sorted, grants->count, sizeof *sorted, compare_lengths);
	return sorted;
}

static void write_grants(struct profile_writer *writer)
{
	const struct plan *plan = writer->plan;
	const struct plan_grant **sorted = sorted_grants(writer);
	text_add(&writer->out, "\n; Granted.\n");
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = sorted[i];
		const char *kind = grant->type == FILE_DIRECTORY ? "subpath" : "literal";
		bool is_writable = grant->kind == GRANT_WRITE;
		profile_comment(writer, "", grant->rule);
		text_add(&writer->out, "(allow %s ", is_writable ? write_operations : read_operations);
		profile_path(writer, kind, grant->path);
		text_add(&writer->out, ")\n");
		if (is_writable || !is_inside_writable(plan, grant))
			continue;
		text_add(&writer->out, "(deny %s ", only_write_operations);
		profile_path(writer, kind, grant->path);
		profile_end_deny(writer);
	}
}

static void write_own(struct profile_writer *writer)
{
	text_add(&writer->out, "\n; The command's own home and directory for temporary files.\n(allow %s\n  ",
		 write_operations);
	profile_own_places(writer);
	text_add(&writer->out,
		 ")\n; Texts that berm made for the command: who commits, what git is to ignore.\n(allow file-read* ");
	profile_path(writer, "subpath", writer->plan->state.documents);
	text_add(&writer->out, ")\n(deny %s process-exec* ", only_write_operations);
	profile_path(writer, "subpath", writer->plan->state.documents);
	profile_end_deny(writer);
	if (!writer->run->helper)
		return;
	text_add(&writer->out, "; What proves that the sandbox holds.\n(allow %s ", read_operations);
	profile_path(writer, "literal", writer->run->helper);
	text_add(&writer->out, ")\n");
}

static void write_sockets(struct profile_writer *writer)
{
	const struct plan_sockets *sockets = &writer->plan->sockets;
	for (size_t i = 0; i < sockets->count; i++) {
		profile_comment(writer, "", sockets->items[i].rule);
		text_add(&writer->out, "(allow file-read* network-outbound ");
		profile_path(writer, "literal", sockets->items[i].path);
		text_add(&writer->out, ")\n(deny process-exec* ");
		profile_path(writer, "literal", sockets->items[i].path);
		profile_end_deny(writer);
	}
}

static void write_head(struct profile_writer *writer)
{
	text_add(&writer->out, "(version 1)\n"
			       "; Made by berm from a policy. Compiled and checked on a model, never run on a Mac.\n"
			       "(deny default");
	profile_end_deny(writer);
}

static int judge_tag(const char *tag, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:_-";
	size_t length = strlen(tag);
	if (length == 0 || length > TAG_MAX || strspn(tag, allowed) != length)
		return error_set(err, "a profile's tag is letters, digits and .:_- only");
	return 0;
}

static int judge_path(const char *path, struct error *err)
{
	if (!path || path_is_absolute_clean(path))
		return 0;
	return error_set(err, "a profile needs absolute, clean paths: %s", path);
}

static int judge(const struct plan *plan, const struct profile_writer *writer, struct error *err)
{
	if (plan->context.os != OS_MACOS)
		return error_set(err, "a profile is made from a plan for macOS");
	if (judge_tag(writer->tag, err) < 0 || judge_path(writer->run->helper, err) < 0)
		return -1;
	for (size_t i = 0; i < writer->run->terminal_count; i++)
		if (judge_path(writer->run->terminals[i], err) < 0)
			return -1;
	if (judge_path(writer->home, err) < 0 || judge_path(writer->tmp, err) < 0)
		return -1;
	/* They are exempt from every denial, so they must be berm's own and nothing around that. */
	if (strcmp(writer->home, "/") == 0 || strcmp(writer->tmp, "/") == 0 ||
	    path_is_within(plan->context.home, writer->home) || path_is_within(plan->context.home, writer->tmp) ||
	    path_is_within(plan->context.project, writer->home) || path_is_within(plan->context.project, writer->tmp))
		return error_set(err, "the private home %s or %s holds the real home or the project", writer->home,
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
	if (judge(plan, &writer, err) < 0)
		return -1;
	write_head(&writer);
	profile_write_process(&writer);
	write_grants(&writer);
	write_sockets(&writer);
	write_own(&writer);
	result = profile_write_network(&writer, err);
	profile_write_protect(&writer);
	/* After what is protected: a pattern for files of the project does not mean a terminal. */
	profile_write_devices(&writer);
	profile_write_pins(&writer);
	profile_write_deny(&writer);
	profile_write_closed(&writer);
	if (result == 0) {
		profile->text = arena_copy_n(arena, writer.out.data, writer.out.length);
		profile->length = writer.out.length;
		profile->parameters = writer.parameters;
	}
	text_free(&writer.out);
	return result;
}
