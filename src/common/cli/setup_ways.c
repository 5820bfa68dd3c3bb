/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the host and the way of `berm setup`. Refuses a way that would take away the user's own
 * guards, or that would be added to another one. Only reads. */
#include "common/cli/setup_command.h"

#include <string.h>

#include "common/base/text.h"

/* Lists the hooks of one settings file. A file that does not exist has none. */
static int list_hooks(struct setup *setup, const char *path, struct text *hooks, struct error *err)
{
	struct setup_request request = setup->request;
	struct setup_file file;

	request.source = path;
	if (setup_file_read(request.arena, &setup->session.context, path, &file, err) < 0)
		return -1;
	return setup_list_hooks(&request, file.text, hooks, err);
}

/* The prefix also wraps the user's hooks. In the sandbox most do not find their files, end with
 * 127, and Claude Code then goes on: a hook that guards would stop guarding. */
int setup_refuse_prefix(struct setup *setup, struct error *err)
{
	static const char *const names[] = { ".claude/settings.json", ".claude/settings.local.json" };
	const struct context *context = &setup->session.context;
	struct arena *arena = setup->request.arena;
	const char *project = context_find_project(arena, context);
	struct text hooks = { 0 };
	int status = 0;

	if (!setup->host->how || strcmp(setup->host->how, "prefix") != 0)
		return 0;
	text_add_n(&hooks, "", 0);
	status = list_hooks(setup, setup->file.path, &hooks, err);
	for (size_t i = 0; status == 0 && project && i < sizeof names / sizeof names[0]; i++)
		status = list_hooks(setup, path_join(arena, project, names[i]), &hooks, err);
	if (status == 0 && hooks.length > 0) {
		status = error_set(err, "--how=prefix would run your hooks in the sandbox, where they may no longer block");
		error_hint(err, "%.*s", (int)hooks.length - 1, hooks.data);
		error_hint(err, "the default way leaves them alone: berm setup %s --write", setup->host->name);
	}
	text_free(&hooks);
	return status;
}

/* Both ways at once would put a sandbox into a sandbox. */
int setup_refuse_other(const struct setup *setup, const struct setup_host *asked, struct error *err)
{
	enum setup_state state = SETUP_ABSENT;
	struct setup_request request = setup->request;
	const struct setup_host *found = setup->host != asked ? setup->host : NULL;

	request.host = setup_host_find(asked->name);
	if (!found && request.host != asked && setup_judge(&request, setup->file.text, &state, err) < 0)
		return -1;
	if (!found && state != SETUP_ABSENT)
		found = request.host;
	if (!found)
		return 0;
	error_set(err, "%s is set up in another way (--how=%s)", asked->title, found->how);
	return error_hint(err, "first: berm setup %s --undo", asked->name);
}

static int unknown_host(const char *word, struct error *err)
{
	const char *names[32], *nearest;
	size_t count = 0;
	for (; count < setup_host_count && count < sizeof names / sizeof names[0]; count++)
		names[count] = setup_host_table[count].name;
	nearest = text_nearest(word, names, count);
	error_set(err, "no such host: %s", word);
	return nearest ? error_hint(err, "did you mean `%s`?", nearest) : error_hint(err, "`berm setup` lists them");
}

static int check_combination(const struct options *options, const struct setup_host *host, struct error *err)
{
	if (options->wants_prove && !options->wants_check)
		return error_set(err, "--prove needs --check");
	if (options->wants_managed && !host->managed)
		return error_set(err, "%s has no settings that a project cannot override", host->title);
	if (options->wants_managed && options->file)
		return error_set(err, "--managed and --file exclude each other");
	if (options->wants_debugger && !host->debugger)
		return error_set(err, "--debugger: %s has no debugger that berm knows", host->title);
	if (options->wants_debugger && (options->file || options->how))
		return error_set(err, "--debugger takes neither --file nor --how");
	return 0;
}

/* Replaces the host by the same one in this way. */
static int choose_way(const char *how, const struct setup_host **host, struct error *err)
{
	const struct setup_host *other = (*host)->other;

	if ((*host)->how && strcmp((*host)->how, how) == 0)
		return 0;
	if (!other || strcmp(other->how, how) != 0)
		return error_set(err, "--how=%s: %s has no such way", how, (*host)->title);
	*host = other;
	return 0;
}

static bool needs_host(const struct options *options)
{
	return options->file || options->how || options->wants_managed || options->wants_prove || options->wants_debugger;
}

int setup_choose_host(const struct options *options, const char *word, const struct setup_host **host, struct error *err)
{
	int actions = options->wants_write + options->wants_undo + options->wants_check + options->wants_print;

	*host = word ? setup_host_find(word) : NULL;
	if (actions > 1)
		return error_set(err, "--write, --undo, --check and --print exclude each other");
	if (word && !*host)
		return unknown_host(word, err);
	if (*host && check_combination(options, *host, err) < 0)
		return -1;
	if (options->how && *host && choose_way(options->how, host, err) < 0)
		return -1;
	if (*host && options->wants_debugger)
		*host = (*host)->debugger;
	if (!word && (actions > 0 || needs_host(options)))
		return error_set(err, "this option needs a HOST; `berm setup` lists them");
	return 0;
}
