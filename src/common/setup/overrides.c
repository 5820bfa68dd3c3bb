/* SPDX-License-Identifier: Apache-2.0 */
/* One table of what each host lets override its user's settings. The rows were seen with the
 * versions that tests/agents runs. Opens files for reading only. */
#include "common/setup/overrides.h"

#include <string.h>

#include "common/base/text.h"
#include "common/setup/codex_trust.h"
#include "common/setup/settings_file.h"

enum scope {
	SCOPE_PROJECT, /* a file below the project */
	SCOPE_MACHINE, /* an absolute path */
	SCOPE_SAME, /* the file that berm edits */
	SCOPE_BESIDE, /* a file in the directory of the one that berm edits */
};

enum condition {
	IS_TRUE,
	IS_FALSE,
	IS_OTHER, /* present, and not the value that berm sets */
	HAS_NAME, /* a list that contains `value` */
	HAS_LINE, /* of a TOML file: the first key, with the value false, on one line */
	IS_UNTRUSTED, /* Codex's record of trust in berm's hook is missing or about another text */
};

struct override {
	const char *host, *how; /* how NULL: every way */
	enum scope scope;
	const char *file; /* NULL for SCOPE_SAME */
	enum condition condition;
	const char *path[4]; /* ends with NULL */
	const char *value;
	const char *why; /* NULL for IS_UNTRUSTED */
};

#define CLAUDE(scope_, file_)                                                                                                  \
	{ "claude-code", "hook", scope_, file_, IS_TRUE, { "disableAllHooks" }, NULL, "turns all hooks off" },                 \
		{ "claude-code",	"hook", scope_, file_, IS_OTHER, { "env", "CLAUDE_CODE_SHELL" }, "\"@shims@/bash\"",   \
		  "names another shell" },                                                                                     \
	{                                                                                                                      \
		"claude-code", "prefix", scope_, file_, IS_OTHER, { "env", "CLAUDE_CODE_SHELL_PREFIX" }, "\"@berm-sh@\"",      \
			"sets another prefix"                                                                                  \
	}
#define CODEX(scope_, file_)                                                                                                   \
	{ "codex", NULL, scope_, file_, HAS_LINE, { "hooks" }, NULL, "turns hooks off" },                                      \
	{                                                                                                                      \
		"codex", NULL, scope_, file_, HAS_LINE, { "codex_hooks" }, NULL, "turns hooks off"                             \
	}
#define GEMINI(scope_, file_)                                                                                                  \
	{ "gemini", NULL, scope_, file_, IS_FALSE, { "hooksConfig", "enabled" }, NULL, "turns hooks off" },                    \
		{ "gemini", NULL, scope_, file_, HAS_NAME, { "hooksConfig", "disabled" }, "berm", "turns berm's hook off" },   \
	{                                                                                                                      \
		"gemini", NULL, scope_, file_, HAS_NAME, { "hooks", "disabled" }, "berm", "turns berm's hook off"              \
	}
#define VSCODE(key_, value_)                                                                                                   \
	{                                                                                                                      \
		"vscode", NULL, SCOPE_PROJECT, ".vscode/settings.json", IS_OTHER, { key_ }, value_, "names another shell"      \
	}
#define OPENCODE(file_)                                                                                                        \
	{                                                                                                                      \
		"opencode", NULL, SCOPE_PROJECT, file_, IS_OTHER, { "shell" }, "\"@shims@/bash\"", "names another shell"       \
	}

/* VS Code's keys end with the system's name. */
#ifdef __APPLE__
#define OS_WORD "osx"
#else
#define OS_WORD "linux"
#endif

static const struct override overrides[] = {
	CLAUDE(SCOPE_SAME, NULL),
	CLAUDE(SCOPE_PROJECT, ".claude/settings.json"),
	CLAUDE(SCOPE_PROJECT, ".claude/settings.local.json"),
	CLAUDE(SCOPE_MACHINE, "/etc/claude-code/managed-settings.json"),
	CLAUDE(SCOPE_MACHINE, "/Library/Application Support/ClaudeCode/managed-settings.json"),
	{ "claude-code",
	  "hook",
	  SCOPE_MACHINE,
	  "/etc/claude-code/managed-settings.json",
	  IS_TRUE,
	  { "allowManagedHooksOnly" },
	  NULL,
	  "ignores the hooks of users" },
	CODEX(SCOPE_BESIDE, "config.toml"),
	{ "codex", NULL, SCOPE_BESIDE, "config.toml", IS_UNTRUSTED, { NULL }, NULL, NULL },
	CODEX(SCOPE_PROJECT, ".codex/config.toml"),
	CODEX(SCOPE_MACHINE, "/etc/codex/config.toml"),
	GEMINI(SCOPE_SAME, NULL),
	GEMINI(SCOPE_PROJECT, ".gemini/settings.json"),
	GEMINI(SCOPE_MACHINE, "/etc/gemini-cli/settings.json"),
	{ "vscode",
	  NULL,
	  SCOPE_PROJECT,
	  ".vscode/settings.json",
	  IS_OTHER,
	  { "terminal.integrated.profiles." OS_WORD, "berm" },
	  "{\"path\": \"@shims@/bash\"}",
	  "gives the profile berm another shell" },
	VSCODE("terminal.integrated.defaultProfile." OS_WORD, "\"berm\""),
	VSCODE("terminal.integrated.automationProfile." OS_WORD, "{\"path\": \"@shims@/debug/bash\"}"),
	VSCODE("terminal.integrated.agentHostProfile." OS_WORD, "{\"path\": \"@shims@/bash\"}"),
	VSCODE("chat.tools.terminal.terminalProfile." OS_WORD, "{\"path\": \"@shims@/bash\"}"),
	{ "vscode",
	  NULL,
	  SCOPE_PROJECT,
	  ".vscode/settings.json",
	  IS_OTHER,
	  { "debug.javascript.defaultRuntimeExecutable" },
	  "{\"pwa-node\": \"@shims@/debug/berm-node\"}",
	  "names another node for debugging" },
	OPENCODE("opencode.json"),
	OPENCODE("opencode.jsonc"),
	OPENCODE(".opencode/opencode.json"),
	OPENCODE(".opencode/opencode.jsonc"),
};

static void add(const struct setup_overrides_request *request, struct setup_overrides *found, const char *file, size_t line,
		const char *why)
{
	const char *shown = text_visible(request->arena, file);
	struct setup_override_found *item = arena_push(request->arena, found);

	item->place = line ? arena_printf(request->arena, "%s:%zu", shown, line) : shown;
	item->why = why;
}

static const char *file_of(const struct setup_overrides_request *request, const struct override *row)
{
	struct arena *arena = request->arena;
	switch (row->scope) {
	case SCOPE_SAME:
		return request->file;
	case SCOPE_BESIDE:
		return path_join(arena, path_parent(arena, request->file), row->file);
	case SCOPE_PROJECT:
		return request->project ? path_join(arena, request->project, row->file) : NULL;
	case SCOPE_MACHINE:
		break;
	}
	return row->file;
}

static void find_line(const struct setup_overrides_request *request, const struct override *row, const char *file,
		      struct jsonc_text text, struct setup_overrides *found)
{
	size_t offset = 0, number = 1;
	for (; offset < text.length; number++)
		if (toml_is_switched_off(toml_take_line(request->arena, text, &offset), row->path[0]))
			add(request, found, file, number, row->why);
}

static bool has_name(const struct jsonc_value *list, const char *name)
{
	for (size_t i = 0; list->type == JSONC_ARRAY && i < list->count; i++)
		if (jsonc_is_string(&list->children[i].value, name))
			return true;
	return false;
}

/* True if the row takes berm's setting back with this value. */
static bool applies(const struct setup_overrides_request *request, const struct override *row, const struct jsonc_value *value)
{
	switch (row->condition) {
	case IS_TRUE:
		return value->type != JSONC_FALSE;
	case IS_FALSE:
		return value->type != JSONC_TRUE;
	case IS_OTHER: {
		const char *wanted = setup_expand(request->arena, row->value, request->paths, request->context->os);
		return strlen(wanted) != value->end - value->start || memcmp(wanted, value->raw, strlen(wanted)) != 0;
	}
	case HAS_NAME:
		return has_name(value, row->value);
	case HAS_LINE:
	case IS_UNTRUSTED:
		break;
	}
	return false;
}

static void find_trust(const struct setup_overrides_request *request, const char *file, struct jsonc_text text,
		       struct setup_overrides *found)
{
	static const char *const reasons[] = {
		[CODEX_UNTRUSTED] = "does not trust berm's hook yet: `berm setup codex --write` records it, or /hooks in codex",
		[CODEX_TRUSTS_OTHER] = "trusts another text of berm's hook: start codex, enter /hooks, review it and trust it",
		[CODEX_HOOK_OFF] = "turns berm's hook off",
	};
	enum codex_trust_state state = CODEX_UNTRUSTED;
	struct codex_trust trust;

	if (codex_trust_find(request->arena, request->paths, request->named, request->text, &trust))
		state = codex_trust_read(request->arena, text, &trust);
	/* A symlink on the way: Codex may name either. */
	if (state == CODEX_UNTRUSTED && codex_trust_find(request->arena, request->paths, request->file, request->text, &trust))
		state = codex_trust_read(request->arena, text, &trust);
	if (state == CODEX_TRUSTED)
		return;
	add(request, found, file, 0, reasons[state]);
	/* A later Codex may compute the hash in another way. */
	found->items[found->count - 1].is_doubt = state == CODEX_TRUSTS_OTHER;
}

static void find_in_json(const struct setup_overrides_request *request, const struct override *row, const char *file,
			 struct jsonc_text text, struct setup_overrides *found)
{
	struct error err = { 0 };
	const struct jsonc_value *value;
	struct jsonc_value root;
	size_t line, column;

	if (text.length == 0)
		return;
	if (jsonc_parse(request->arena, JSONC_COMMENTS, file, text, &root, &err) < 0) {
		add(request, found, file, 0, "cannot be parsed, so its effect is unknown");
		return;
	}
	value = jsonc_find(&root, row->path);
	if (!value || !applies(request, row, value))
		return;
	jsonc_place(text, value->start, &line, &column);
	add(request, found, file, line, row->why);
}

static bool is_for(const struct override *row, const struct setup_overrides_request *request)
{
	const struct setup_host *host = request->host;
	if (strcmp(row->host, host->name) != 0 || (row->how && (!host->how || strcmp(row->how, host->how) != 0)))
		return false;
	/* The administrator's settings win over all others. */
	return !host->managed || strcmp(request->file, host->managed) != 0 || row->scope == SCOPE_SAME;
}

static void find(const struct setup_overrides_request *request, const struct override *row, const char *file,
		 struct jsonc_text text, struct setup_overrides *found)
{
	if (row->condition == HAS_LINE)
		find_line(request, row, file, text, found);
	else if (row->condition == IS_UNTRUSTED)
		find_trust(request, file, text, found);
	else
		find_in_json(request, row, file, text, found);
}

/* True if the row before it read the same file, which could not be read then. */
static bool is_reported(const struct setup_overrides *found, const char *file)
{
	return found->count > 0 && strcmp(found->items[found->count - 1].place, file) == 0;
}

void setup_find_overrides(const struct setup_overrides_request *request, struct setup_overrides *found)
{
	*found = (struct setup_overrides){ 0 };
	for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
		const struct override *row = &overrides[i];
		const char *file = is_for(row, request) ? file_of(request, row) : NULL;
		struct jsonc_text text = request->text;
		struct error err = { 0 };

		if (!file || is_reported(found, file))
			continue;
		if (row->scope != SCOPE_SAME && setup_file_peek(request->arena, file, &text, &err) < 0)
			add(request, found, file, 0, "cannot be read, so its effect is unknown");
		else
			find(request, row, file, text, found);
	}
}
