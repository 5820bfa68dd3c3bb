/* SPDX-License-Identifier: Apache-2.0 */
/* The table of hosts. A label is what somebody saw, not what a manual says: it goes up only with a test or a run that is written down
 * in the host's guide. Looks at files only to choose between names; changes nothing. */
#include "common/setup/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* `|| exit 2`: the hosts run this in a shell. A berm that is missing or dies gives another status, which they would take for a hook
 * that failed and go on without it; 2 blocks. */
#define HOOK(host) "@berm@ hook-rewrite --host=" host " || exit 2"

static const struct setup_place claude_files[] = { { "CLAUDE_CONFIG_DIR", ".claude", "settings.json" }, { 0 } };
static const struct setup_edit claude_edits[] = {
	{ { "env", "CLAUDE_CODE_SHELL_PREFIX" }, "\"@berm-sh@\"", false, false },
	{ .value = NULL },
};
static const char *const claude_notes[] = {
	"Start a new session of Claude Code: the setting is read at its start.",
	"The prefix wraps the Bash tool, hooks and MCP servers over stdio. It fails closed: without berm-sh nothing runs.",
	NULL,
};

static const struct setup_place codex_files[] = { { "CODEX_HOME", ".codex", "hooks.json" }, { 0 } };
static const struct setup_edit codex_edits[] = {
	{ { "hooks", "PreToolUse" },
	  "{\"matcher\": \"^Bash$\", \"hooks\": [{\"type\": \"command\", \"command\": \"" HOOK("codex") "\"}]}",
	  true,
	  false },
	{ .value = NULL },
};
static const char *const codex_notes[] = {
	"Codex runs a new or changed hook only after you have reviewed it: start codex, enter /hooks, and trust this one.",
	"Until then commands run WITHOUT berm. `berm setup codex --check` cannot see that decision.",
	"Codex's own sandbox leaves no room for berm's. In config.toml: sandbox_mode = \"danger-full-access\"",
	"Where you do not want to depend on hooks: berm run -- codex -s danger-full-access",
	NULL,
};

static const struct setup_place gemini_files[] = { { NULL, ".gemini", "settings.json" }, { 0 } };
static const struct setup_edit gemini_edits[] = {
	{ { "hooks", "BeforeTool" },
	  "{\"matcher\": \"^run_shell_command$\", \"hooks\": [{\"name\": \"berm\", \"type\": \"command\", \"command\": \"" HOOK(
		  "gemini") "\"}]}",
	  true,
	  false },
	{ .value = NULL },
};
static const char *const gemini_notes[] = {
	"Start a new session of Gemini CLI; /hooks lists the hook `berm`.",
	"A project's own settings can switch hooks off (hooksConfig); berm protects .gemini from commands inside.",
	NULL,
};

static const struct setup_place opencode_files[] = {
	{ "XDG_CONFIG_HOME", ".config", "opencode/opencode.json" },
	{ "XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc" },
	{ 0 },
};
static const struct setup_edit opencode_edits[] = { { { "shell" }, "\"@shims@/bash\"", false, false }, { .value = NULL } };
static const char *const opencode_notes[] = {
	"Start opencode anew. A project's opencode.json can name another shell; berm protects that file from commands inside.",
	"If berm is removed, opencode takes another shell WITHOUT a word: `berm setup opencode --undo` first.",
	NULL,
};

static const struct setup_place aider_files[] = { { NULL, "", ".bashrc" }, { NULL, "", ".zshrc" }, { 0 } };
static const char *const aider_lines[] = { "alias aider='SHELL=@shims@/bash aider'", NULL };
static const char *const aider_notes[] = {
	"Open a new shell. Another start-up file: --file=PATH. For one run: SHELL=@shims@/bash aider",
	"Aider takes $SHELL only on a terminal. Started by another program: berm run -- aider",
	NULL,
};

static const struct setup_place cursor_files[] = { { NULL, ".cursor", "hooks.json" }, { 0 } };
static const struct setup_edit cursor_edits[] = {
	{ { "version" }, "1", false, true },
	{ { "hooks", "preToolUse" },
	  "{\"command\": \"" HOOK("cursor") "\", \"matcher\": \"Shell\", \"failClosed\": true}",
	  true,
	  false },
	{ { "hooks", "beforeShellExecution" }, "{\"command\": \"" HOOK("cursor") "\", \"failClosed\": true}", true, false },
	{ .value = NULL },
};
static const char *const cursor_notes[] = {
	"The second hook sees the command as it will run and denies what the first one did not put into berm.",
	"Restart Cursor.",
	NULL,
};

static const struct setup_place vscode_files[] = {
#ifdef __APPLE__
	{ NULL, "Library/Application Support", "Code/User/settings.json" },
#else
	{ "XDG_CONFIG_HOME", ".config", "Code/User/settings.json" },
#endif
	{ 0 },
};
static const struct setup_edit vscode_edits[] = {
	{ { "terminal.integrated.profiles.@os@", "berm" }, "{\"path\": \"@shims@/bash\"}", false, false },
	{ { "terminal.integrated.defaultProfile.@os@" }, "\"berm\"", false, false },
	{ { "terminal.integrated.automationProfile.@os@" }, "{\"path\": \"@shims@/bash\"}", false, false },
	{ { "terminal.integrated.agentHostProfile.@os@" }, "{\"path\": \"@shims@/bash\"}", false, false },
	{ { "chat.tools.terminal.terminalProfile.@os@" }, "{\"path\": \"@shims@/bash\"}", false, false },
	{ .value = NULL },
};
static const char *const vscode_notes[] = {
	"Close the terminals that are open; new ones start inside berm.",
	"A terminal of your own, outside: Terminal: Create New Terminal (With Profile), then bash.",
	"Another edition (Insiders, VSCodium, a profile of its own): --file=PATH",
	NULL,
};

static const struct setup_place zed_files[] = { { "XDG_CONFIG_HOME", ".config", "zed/settings.json" }, { 0 } };
static const struct setup_edit zed_edits[] = {
	{ { "terminal", "shell" }, "{\"with_arguments\": {\"program\": \"@shims@/bash\", \"args\": []}}", false, false },
	{ .value = NULL },
};
static const char *const zed_notes[] = {
	"This covers the terminals that you open. Zed's own agent always starts /bin/sh, which no setting changes: give an "
	"external agent a command instead (agent_servers: \"command\": \"@berm@\", \"args\": [\"run\", \"--\", \"AGENT\", "
	"...]).",
	NULL,
};

static const struct setup_place jetbrains_files[] = { { NULL, ".jetbrains", "acp.json" }, { 0 } };
static const char *const jetbrains_servers[] = { "agent_servers", NULL };
static const char *const jetbrains_lines[] = {
	"Settings > Tools > Terminal > Shell path: @shims@/bash",
	"~/.jetbrains/acp.json, for an agent: \"command\": \"@berm@\", \"args\": [\"run\", \"--\", \"AGENT\", ...]",
	NULL,
};
static const char *const jetbrains_notes[] = {
	"Where ~/.jetbrains/acp.json lists agents, --write puts berm before each. The shell path is entered by hand: "
	"@shims@/bash",
	"Close the terminals that are open; new ones start inside berm.",
	NULL,
};

static const struct setup_place emacs_files[] = {
	{ NULL, ".emacs.d", "init.el" },
	{ NULL, "", ".emacs.el" },
	{ NULL, "", ".emacs" },
	{ "XDG_CONFIG_HOME", ".config", "emacs/init.el" },
	{ 0 },
};
static const char *const emacs_lines[] = {
	"(setq shell-file-name \"@shims@/bash\")",
	"(setq explicit-shell-file-name \"@shims@/bash\")",
	NULL,
};
static const char *const emacs_notes[] = {
	"Covers M-x shell, compile, shell-command and what uses shell-file-name; call-process starts programs without a shell.",
	NULL,
};

static const struct setup_place vim_files[] = { { NULL, "", ".vimrc" }, { NULL, ".vim", "vimrc" }, { 0 } };
static const char *const vim_lines[] = { "set shell=@shims@/bash", "set noshelltemp", NULL };
static const char *const vim_notes[] = {
	"Covers :!, filters, :read ! and :terminal.",
	"Vim's system() and :make pass output through a file in /tmp, which is another one inside: they fail, and so do "
	"plugins that use them. Neovim has pipes there: --file with its init.vim.",
	NULL,
};

static const struct setup_place npm_files[] = { { NULL, "", ".npmrc" }, { 0 } };
static const char *const npm_lines[] = { "script-shell=@shims@/sh", NULL };
static const char *const npm_notes[] = {
	"Covers the scripts that npm runs (install scripts of packages too), not npm itself.",
	"For one run: npm_config_script_shell=@shims@/sh npm ci",
	"A project's .npmrc comes before yours, and a command inside may write it. The variable above comes before both.",
	NULL,
};

static const struct setup_place make_files[] = {
	{ NULL, "", ".profile" },
	{ NULL, "", ".bash_profile" },
	{ NULL, "", ".zprofile" },
	{ 0 },
};
static const char *const make_lines[] = { "export MAKEFLAGS=SHELL=@shims@/sh", NULL };
static const char *const make_notes[] = {
	"Log in anew, or enter that line. Another start-up file: --file=PATH",
	"make does not read the environment variable SHELL. For one run: make SHELL=@shims@/sh",
	"A makefile that sets SHELL itself is overruled by both. $(shell ...) is covered too.",
	NULL,
};

static const struct setup_place tmux_files[] = {
	{ NULL, "", ".tmux.conf" },
	{ "XDG_CONFIG_HOME", ".config", "tmux/tmux.conf" },
	{ 0 },
};
static const char *const tmux_lines[] = { "set -g default-shell @shims@/bash", NULL };
static const char *const tmux_notes[] = {
	"For a server that runs already: tmux source-file, then a new window. Every window is inside, your own too.",
	NULL,
};

static const char *const mcp_lines[] = { "\"command\": \"@berm@\", \"args\": [\"run\", \"--\", \"npx\", \"SERVER\"]", NULL };
static const char *const mcp_servers[] = { "mcpServers", "servers", "context_servers", NULL };
static const char *const mcp_notes[] = {
	"In a file of the host's: berm setup mcp --file=.mcp.json --write puts berm before each server that it starts.",
	"In the host's list of servers (mcpServers, servers or context_servers): berm as the command, and in front of what was "
	"there.",
	"A server that needs the network: \"args\": [\"run\", \"--allow-net=api.example.org:443\", \"--\", \"npx\", "
	"\"SERVER\"]",
	NULL,
};

const struct setup_host setup_host_table[] = {
	{ "claude-code", "Claude Code", SETUP_TRIED, SETUP_JSON, claude_files, claude_edits, NULL, NULL, NULL, claude_notes,
	  NULL },
	{ "codex", "Codex", SETUP_TRIED, SETUP_JSON, codex_files, codex_edits, NULL, NULL, NULL, codex_notes, NULL },
	{ "gemini", "Gemini CLI", SETUP_TRIED, SETUP_JSON, gemini_files, gemini_edits, NULL, NULL, NULL, gemini_notes, NULL },
	{ "opencode", "opencode", SETUP_TRIED, SETUP_JSON, opencode_files, opencode_edits, NULL, NULL, NULL, opencode_notes,
	  NULL },
	{ "aider", "Aider", SETUP_REPLAYED, SETUP_LINES, aider_files, NULL, "#", aider_lines, "SHELL", aider_notes, NULL },
	{ "cursor", "Cursor", SETUP_UNVERIFIED, SETUP_JSON, cursor_files, cursor_edits, NULL, NULL, NULL, cursor_notes, NULL },
	{ "vscode", "VS Code", SETUP_REPLAYED, SETUP_JSON, vscode_files, vscode_edits, NULL, NULL, NULL, vscode_notes, NULL },
	{ "zed", "Zed", SETUP_UNVERIFIED, SETUP_JSON, zed_files, zed_edits, NULL, NULL, NULL, zed_notes, NULL },
	{ "jetbrains", "JetBrains IDEs", SETUP_UNVERIFIED, SETUP_SERVERS, jetbrains_files, NULL, NULL, jetbrains_lines, NULL,
	  jetbrains_notes, jetbrains_servers },
	{ "emacs", "Emacs", SETUP_TRIED, SETUP_LINES, emacs_files, NULL, ";;", emacs_lines, NULL, emacs_notes, NULL },
	{ "vim", "Vim", SETUP_TRIED, SETUP_LINES, vim_files, NULL, "\"", vim_lines, NULL, vim_notes, NULL },
	{ "npm", "npm", SETUP_TRIED, SETUP_LINES, npm_files, NULL, "#", npm_lines, NULL, npm_notes, NULL },
	{ "make", "GNU make", SETUP_TRIED, SETUP_LINES, make_files, NULL, "#", make_lines, "MAKEFLAGS", make_notes, NULL },
	{ "tmux", "tmux", SETUP_TRIED, SETUP_LINES, tmux_files, NULL, "#", tmux_lines, NULL, tmux_notes, NULL },
	{ "mcp", "MCP servers", SETUP_REPLAYED, SETUP_SERVERS, NULL, NULL, NULL, mcp_lines, NULL, mcp_notes, mcp_servers },
};
const size_t setup_host_count = sizeof setup_host_table / sizeof setup_host_table[0];

const struct setup_host *setup_host_find(const char *name)
{
	for (size_t i = 0; i < setup_host_count; i++)
		if (strcmp(setup_host_table[i].name, name) == 0)
			return &setup_host_table[i];
	return NULL;
}

const char *setup_label_name(enum setup_label label)
{
	static const char *const names[] = {
		[SETUP_TRIED] = "tried here",
		[SETUP_REPLAYED] = "replayed from its documented call shape",
		[SETUP_UNVERIFIED] = "unverified",
	};
	return names[label];
}

const char *setup_expand(struct arena *arena, const char *text, const struct install_paths *paths, enum operating_system os)
{
	const struct {
		const char *word, *value;
	} rows[] = {
		{ "@berm@", paths->program },
		{ "@berm-sh@", paths->shell },
		{ "@shims@", paths->shims },
		{ "@os@", os == OS_MACOS ? "osx" : "linux" },
	};
	struct text out = { 0 };
	const char *result;

	text_add_n(&out, "", 0);
	while (*text) {
		size_t row = 0;
		while (row < sizeof rows / sizeof rows[0] && !text_starts_with(text, rows[row].word))
			row++;
		if (row == sizeof rows / sizeof rows[0]) {
			text_add_n(&out, text++, 1);
			continue;
		}
		text_add(&out, "%s", rows[row].value);
		text += strlen(rows[row].word);
	}
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

struct jsonc_edit setup_edit_expand(struct arena *arena, const struct setup_edit *edit, const struct install_paths *paths,
				    enum operating_system os)
{
	struct jsonc_edit result = { .value = setup_expand(arena, edit->value, paths, os), .is_element = edit->is_element };
	for (size_t i = 0; edit->path[i]; i++)
		result.path[i] = setup_expand(arena, edit->path[i], paths, os);
	return result;
}

static const char *place_path(struct arena *arena, const struct setup_place *place, const struct context *context)
{
	const char *value = place->variable ? getenv(place->variable) : NULL;
	const char *directory = context->home;
	if (value && value[0] == '/')
		directory = path_absolute(arena, "/", value);
	else if (place->directory[0])
		directory = path_join(arena, context->home, place->directory);
	return path_join(arena, directory, place->name);
}

const char *setup_host_file(struct arena *arena, const struct setup_host *host, const struct context *context)
{
	struct stat status;
	if (!host->files)
		return NULL;
	for (size_t i = 0; host->files[i].name; i++) {
		const char *path = place_path(arena, &host->files[i], context);
		if (lstat(path, &status) == 0)
			return path;
	}
	return place_path(arena, &host->files[0], context);
}
