/* SPDX-License-Identifier: Apache-2.0 */
#include "common/setup/editor_tasks.h"

#include <string.h>

#include "common/base/text.h"
#include "common/setup/settings_file.h"

/* VS Code's name for the system, whose part of a task overrides the rest. */
#ifdef __APPLE__
#define OS_WORD "osx"
#else
#define OS_WORD "linux"
#endif

/* One file while it is read. */
struct reading {
	const struct setup_overrides_request *request;
	const char *file;
	struct jsonc_text text;
	struct setup_overrides *found;
};

static void add(const struct reading *reading, const struct jsonc_value *value, const char *why)
{
	struct arena *arena = reading->request->arena;
	const char *file = text_visible(arena, reading->file);
	size_t line = 0, column;

	if (value)
		jsonc_place(reading->text, value->start, &line, &column);
	*arena_push(arena, reading->found) =
		(struct setup_override_found){ .place = line ? arena_printf(arena, "%s:%zu", file, line) : file, .why = why };
}

static const char *string_of(const struct jsonc_value *object, const char *key)
{
	const struct jsonc_value *value = jsonc_member(object, key);
	return value && value->type == JSONC_STRING ? value->string : NULL;
}

/* Returns the task's name as its file has it, for the user. */
static const char *label_of(struct arena *arena, const struct jsonc_value *item, const char *key)
{
	const char *label = string_of(item, key);
	return text_visible(arena, label ? label : "(no name)");
}

static const struct jsonc_value *own_shell(const struct jsonc_value *task)
{
	static const char *const own[] = { OS_WORD, "options", "shell", NULL }, *const any[] = { "options", "shell", NULL };
	const struct jsonc_value *value = jsonc_find(task, own);
	return value ? value : jsonc_find(task, any);
}

/* A task with a command and without a type is one of the type process. */
static void judge_task(const struct reading *reading, const struct jsonc_value *task)
{
	struct arena *arena = reading->request->arena;
	const struct jsonc_value *type = jsonc_member(task, "type"), *command = jsonc_member(task, "command"), *shell;
	const char *label = label_of(arena, task, "label");

	if (type && jsonc_is_string(type, "process"))
		add(reading, type, arena_printf(arena, "task %s runs outside: its type is process", label));
	else if (!type && command)
		add(reading, command, arena_printf(arena, "task %s runs outside: without a type it is a process", label));
	else if ((shell = own_shell(task)))
		add(reading, shell, arena_printf(arena, "task %s runs outside: it names its own shell", label));
}

static void judge_tasks(const struct reading *reading, const struct jsonc_value *root)
{
	const struct jsonc_value *tasks = jsonc_member(root, "tasks"), *shell = own_shell(root);

	if (shell)
		add(reading, shell, "all tasks run outside: the file names its own shell");
	for (size_t i = 0; tasks && tasks->type == JSONC_ARRAY && i < tasks->count; i++)
		judge_task(reading, &tasks->children[i].value);
}

/* True for launches that the setting of the default node covers, or that have no program. */
static bool is_node(const struct jsonc_value *launch)
{
	static const char *const types[] = { "node", "pwa-node", "node-terminal" };
	const struct jsonc_value *type = jsonc_member(launch, "type");
	for (size_t i = 0; type && i < sizeof types / sizeof types[0]; i++)
		if (jsonc_is_string(type, types[i]))
			return true;
	return false;
}

static void judge_launch(const struct reading *reading, const struct jsonc_value *launch)
{
	struct arena *arena = reading->request->arena;
	const struct jsonc_value *request = jsonc_member(launch, "request"), *console = jsonc_member(launch, "console");
	const struct jsonc_value *type = jsonc_member(launch, "type"), *runtime = jsonc_member(launch, "runtimeExecutable");
	const char *label = label_of(arena, launch, "name");

	if (!request || !jsonc_is_string(request, "launch") || (console && jsonc_is_string(console, "integratedTerminal")))
		return;
	if (console && jsonc_is_string(console, "externalTerminal"))
		add(reading, console, arena_printf(arena, "launch %s runs outside: in another terminal", label));
	else if (!is_node(launch))
		add(reading, type ? type : request,
		    arena_printf(arena, "launch %s runs outside: its debugger starts it", label));
	else if (runtime)
		add(reading, runtime, arena_printf(arena, "launch %s runs outside: it names its own runtime", label));
}

static void judge_launches(const struct reading *reading, const struct jsonc_value *root)
{
	const struct jsonc_value *list = jsonc_member(root, "configurations");
	for (size_t i = 0; list && list->type == JSONC_ARRAY && i < list->count; i++)
		judge_launch(reading, &list->children[i].value);
}

static const struct row {
	const char *host, *file;
	void (*judge)(const struct reading *reading, const struct jsonc_value *root);
} rows[] = {
	{ "vscode", ".vscode/tasks.json", judge_tasks },
	{ "vscode", ".vscode/launch.json", judge_launches },
};

void setup_find_outside(const struct setup_overrides_request *request, struct setup_overrides *found)
{
	*found = (struct setup_overrides){ 0 };
	for (size_t i = 0; request->project && i < sizeof rows / sizeof rows[0]; i++) {
		struct reading reading = { .request = request, .found = found };
		struct error err = { 0 };
		struct jsonc_value root;

		if (strcmp(rows[i].host, request->host->name) != 0)
			continue;
		reading.file = path_join(request->arena, request->project, rows[i].file);
		if (setup_file_peek(request->arena, reading.file, &reading.text, &err) < 0)
			add(&reading, NULL, "cannot be read, so what it starts is unknown");
		else if (reading.text.length > 0 &&
			 jsonc_parse(request->arena, JSONC_COMMENTS, reading.file, reading.text, &root, &err) < 0)
			add(&reading, NULL, "cannot be parsed, so what it starts is unknown");
		else if (reading.text.length > 0)
			rows[i].judge(&reading, &root);
	}
}
