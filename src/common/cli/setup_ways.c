/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a way of `berm setup` that would take away the user's own guards, or that would be added
 * to another one. Only reads. */
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
