/* SPDX-License-Identifier: Apache-2.0 */
/* One row per editor. The environment may come from a project's own tasks, so nothing in it is
 * believed: a socket must be a debugger's by its name, its owner and its type. */
#include "common/shell/editor_terminal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/format/jsonc.h"
#include "common/fs/path.h"

/* VS Code's shell integration, and the environments that its Python extension chooses. Not passed:
 * VSCODE_ENV_*, which contain variables of any name, and the paths of sockets (VSCODE_IPC_HOOK_CLI,
 * VSCODE_GIT_*). */
static const char *const vscode_variables[] = {
	"VSCODE_INJECTION",  "VSCODE_NONCE",	      "VSCODE_SHELL_LOGIN",
	"VSCODE_STABLE",     "VSCODE_SUGGEST",	      "VSCODE_PREVENT_SHELL_HISTORY",
	"VIRTUAL_ENV",	     "VIRTUAL_ENV_PROMPT",    "CONDA_PREFIX",
	"CONDA_DEFAULT_ENV", "CONDA_PROMPT_MODIFIER", NULL,
};

static const struct row {
	const char *variable, *value; /* how a terminal of this editor is recognised */
	const char *const *passed;
} rows[] = {
	{ "TERM_PROGRAM", "vscode", vscode_variables },
};

static const char debugger_key[] = PLAN_DEBUGGER_KEY, debugger_host[] = "vscode";

void editor_terminal_pass(struct plan *plan)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *value = context_variable(&plan->context, rows[i].variable);
		if (!value || strcmp(value, rows[i].value) != 0)
			continue;
		for (size_t k = 0; rows[i].passed[k]; k++) {
			value = context_variable(&plan->context, rows[i].passed[k]);
			if (value)
				plan_add_variable(plan, rows[i].passed[k], value);
		}
	}
}

static size_t skip(const char *text, const char *characters)
{
	return strspn(text, characters);
}

/* Matches node-cdp.31346-741e1e1f-6.sock. */
static bool is_debugger_name(const char *name)
{
	static const char start[] = "node-cdp.", end[] = ".sock", digits[] = "0123456789", hex[] = "0123456789abcdef";
	const char *at = name + strlen(start);
	size_t length;

	if (!text_starts_with(name, start) || (length = skip(at, digits)) == 0 || at[length] != '-')
		return false;
	at += length + 1;
	if ((length = skip(at, hex)) == 0)
		return false;
	at += length;
	if (at[0] == '-' && (length = skip(at + 1, digits)) > 0)
		at += length + 1;
	return strcmp(at, end) == 0;
}

/* The variable has one part for each debugger, the newest last, each after `:::`. */
static const char *last_part(const char *options)
{
	static const char separator[] = ":::";
	for (const char *at; (at = strstr(options, separator));)
		options = at + strlen(separator);
	return options;
}

const char *editor_debugger_parse(struct arena *arena, const char *options)
{
	const char *part = last_part(options);
	struct jsonc_text text = { part, strlen(part) };
	const struct jsonc_value *value;
	struct error ignored = { 0 };
	struct jsonc_value root;

	if (jsonc_parse(arena, JSONC_STRICT, "VSCODE_INSPECTOR_OPTIONS", text, &root, &ignored) < 0)
		return NULL;
	value = jsonc_member(&root, "inspectorIpc");
	if (!value || value->type != JSONC_STRING || !path_is_absolute_clean(value->string) ||
	    !is_debugger_name(path_base_name(value->string)))
		return NULL;
	return value->string;
}

/* True if a line of the text is this word. */
static bool has_line(const char *text, const char *word)
{
	size_t length = strlen(word);
	for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n'))
		if (strcspn(text, "\n") == length && memcmp(text, word, length) == 0)
			return true;
	return false;
}

bool editor_debug_is_shim(struct arena *arena, const char *program)
{
	return strchr(program, '/') && strcmp(path_base_name(path_parent(arena, program)), EDITOR_DEBUG_SHIMS) == 0;
}

bool editor_debugger_is_allowed(const char *allowed)
{
	return allowed && has_line(allowed, debugger_host);
}

void editor_debugger_find(struct arena *arena, const char *allowed, struct editor_debugger *debugger)
{
	const char *socket;
	struct stat info;

	if (!debugger->options || !editor_debugger_is_allowed(allowed))
		return;
	socket = editor_debugger_parse(arena, debugger->options);
	if (!socket || lstat(socket, &info) < 0 || !S_ISSOCK(info.st_mode) || info.st_uid != getuid())
		return;
	debugger->socket = socket;
	*arena_push(arena, &debugger->rules.sockets) = (struct rule){
		.key = debugger_key, .text = socket, .origin = { .source = "berm setup vscode --debugger" }, .layer = LAYER_BASE
	};
}

/* Returns the file of `--require FILE` that is the debugger's, or NULL. */
static const char *bootloader(struct arena *arena, const char *options)
{
	static const char word[] = "--require ", name[] = "/bootloader.js";
	const char *at = options ? strstr(options, word) : NULL, *path;

	if (!at)
		return NULL;
	at += strlen(word);
	path = arena_copy_n(arena, at, strcspn(at, " "));
	return path[0] == '/' && text_ends_with(path, name) ? path : NULL;
}

int editor_debugger_pass(struct plan *plan, const struct editor_debugger *debugger, struct error *err)
{
	const char *path = bootloader(plan->arena, debugger->node_options), *canonical;
	struct file_info info;

	if (!path)
		return error_set(err, "the debugger does not attach: NODE_OPTIONS does not name its file");
	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, &info, err) < 0)
		return -1;
	if (info.type != FILE_REGULAR || !plan_check_path(plan, ACCESS_READ, canonical, false).is_allowed ||
	    !plan_grant_for(plan, canonical)) {
		error_set(err, "the debugger does not attach: its files are not visible in the sandbox");
		return error_hint(err, "in ~/.config/berm/berm.yml: files: {read: [%s]}", path_parent(plan->arena, path));
	}
	if (debugger->is_typed)
		return 0;
	plan_add_variable(plan, "NODE_OPTIONS", debugger->node_options);
	plan_add_variable(plan, "VSCODE_INSPECTOR_OPTIONS", debugger->options);
	return 0;
}
