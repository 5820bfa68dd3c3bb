/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's part of `berm agent --plan`, from the table that the run uses. */
#include "common/agents/agents.h"

#include <string.h>

enum { INDENT = 2, DEEPER = 6 };

static void line(struct text *out, size_t indent, const char *words)
{
	text_add(out, "%*s", (int)indent, "");
	text_add_wrapped(out, indent, words);
}

static const char *fields_of(struct arena *arena, const struct agent_copy *copy)
{
	const char *names = "";
	for (const struct agent_field *field = copy->fields; field && field->path[0]; field++) {
		const char *name = copy->is_per_member ? "*" : "";
		for (size_t i = 0; field->path[i]; i++)
			name = arena_printf(arena, "%s%s%s", name, *name ? "." : "", field->path[i]);
		if (field->kind != AGENT_SAME)
			names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", name);
	}
	return *names ? arena_printf(arena, "back to the host, if fine: %s", names) : "nothing of it goes back to the host";
}

static bool is_there(struct arena *arena, const struct context *context, const char *path)
{
	struct file_info info;
	return context->fs->inspect(context->fs, path_join(arena, context->home, path), &info) == 0 && info.type != FILE_ABSENT;
}

void agent_describe(struct arena *arena, const struct agent *agent, const struct agent_program *program,
		    const struct context *context, struct text *out)
{
	text_add(out, "Agent\n");
	line(out, INDENT,
	     arena_printf(arena, "%s: %s%s%s", agent->title, program->interpreter ? program->interpreter : "",
			  program->interpreter ? " " : "", program->path));
	text_add(out, "\nPrivate copies, made at each start\n");
	for (const struct agent_copy *copy = agent->copies; copy->path; copy++) {
		line(out, INDENT,
		     arena_printf(arena, "~/%s: %s%s", copy->path, copy->what,
				  is_there(arena, context, copy->path) ? "" : " (there is none)"));
		line(out, DEEPER, fields_of(arena, copy));
	}
	text_add(out, "\nKept for the next run of this project, never written to the host's own\n");
	for (const struct agent_kept *kept = agent->kept; kept->path; kept++)
		line(out, INDENT, arena_printf(arena, "~/%s: %s", kept->path, kept->why));
	for (size_t i = 0; agent->directories[i]; i++)
		line(out, INDENT, arena_printf(arena, "the rest of ~/%s is removed at the next start", agent->directories[i]));
	text_add(out, "\nLogin and updates\n");
	line(out, INDENT, agent->login);
	line(out, INDENT, arena_printf(arena, "updates: %s", agent->update));
}
