/* SPDX-License-Identifier: Apache-2.0 */
/* The only table of hosts: a new host is a row here. A label states what was observed, not what a
 * manual claims; raising it takes a test or a run that the host's guide describes. Reads files only
 * to choose between names. */
#include "common/setup/hosts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Hosts run this in a shell. A missing or crashing berm gives another status, which hosts treat as
 * a failed hook and ignore. `|| exit 2` blocks the command instead. */
#define HOOK(host) "@berm@ hook-rewrite --host=" host " || exit 2"

/* Claude Code compares its permission rules with the rewritten command: rules such as
 * Bash(git push:*) would no longer match, denials included. Its shell is therefore a shim, and the
 * hook only checks that. */
static const struct agent_tool claude_tools[] = {
	{ "Read", TOOL_READ, "file_path", NULL, false },
	{ "Edit", TOOL_WRITE, "file_path", NULL, false },
	{ "MultiEdit", TOOL_WRITE, "file_path", NULL, false },
	{ "Write", TOOL_WRITE, "file_path", NULL, false },
	{ "NotebookRead", TOOL_READ, "notebook_path", NULL, false },
	{ "NotebookEdit", TOOL_WRITE, "notebook_path", NULL, false },
	{ "Glob", TOOL_GLOB, "path", "pattern", false },
	{ "Grep", TOOL_SEARCH, "path", "glob", false },
	{ "LS", TOOL_LIST, "path", NULL, false },
	{ 0 },
};
static const struct agent_place claude_places[] = {
	{ "@config@/projects/@slug@/*/tool-results", false }, /* of this project; not the transcripts */
	{ "/tmp/claude-@uid@/@slug@", false }, /* output of background commands */
	{ "@config@/plans", true }, /* plan mode writes its plan there */
	{ 0 },
};
static const struct agent_hook claude_hook = {
	"PreToolUse",	     "Bash",	   NULL, "CLAUDE_PROJECT_DIR", false, HOOK_UPDATED_INPUT, claude_tools,
	"CLAUDE_CODE_SHELL", claude_places
};
static const struct setup_place claude_files[] = { { "CLAUDE_CONFIG_DIR", ".claude", "settings.json" }, { 0 } };
#ifdef __APPLE__
#define CLAUDE_MANAGED "/Library/Application Support/ClaudeCode/managed-settings.json"
#else
#define CLAUDE_MANAGED "/etc/claude-code/managed-settings.json"
#endif
#define CLAUDE_MATCHER "Bash|Read|Edit|MultiEdit|Write|NotebookRead|NotebookEdit|Glob|Grep|LS"
static const struct setup_edit claude_edits[] = {
	{ { "env", "CLAUDE_CODE_SHELL" }, "\"@shims@/bash\"", false, false },
	{ { "hooks", "PreToolUse" },
	  "{\"matcher\": \"" CLAUDE_MATCHER
	  "\", \"hooks\": [{\"type\": \"command\", \"command\": \"" HOOK("claude-code") "\"}]}",
	  true,
	  false },
	{ { "hooks", "SessionStart" },
	  "{\"hooks\": [{\"type\": \"command\", \"command\": \"@berm@ hook-session\"}]}",
	  true,
	  false },
	{ .value = NULL },
};
static const char *const claude_notes[] = {
	"Start a new session of Claude Code: it chooses its shell at the start. Until then the hook blocks commands.",
	"Covered: the Bash tool, in the sandbox; Read, Edit, Write, Glob, Grep and the like, judged by the same policy before "
	"each use. Not covered: MCP servers (`berm setup mcp`), your hooks, web tools.",
	"Your permission rules, prompts and hooks stay as they are.",
	NULL,
};
static const struct setup_edit claude_prefix_edits[] = {
	{ { "env", "CLAUDE_CODE_SHELL_PREFIX" }, "\"@berm-sh@\"", false, false },
	{ .value = NULL },
};
static const char *const claude_prefix_notes[] = {
	"Start a new session of Claude Code: it reads the setting at its start.",
	"The prefix wraps the Bash tool, hooks and MCP servers over stdio. It fails closed: without berm-sh nothing runs.",
	"Not covered: Read, Edit, Write and the other file tools. Hooks run in the sandbox, where files of your home are "
	"absent; MCP servers do not get the `env` of their entry.",
	NULL,
};
static const struct setup_host claude_prefix_host = {
	"claude-code",
	"Claude Code",
	SETUP_TRIED,
	SETUP_JSON,
	.files = claude_files,
	.edits = claude_prefix_edits,
	.notes = claude_prefix_notes,
	.hook = &claude_hook,
	.managed = CLAUDE_MANAGED,
	.how = "prefix",
};

/* Codex accepts updatedInput only with an explicit "allow". Other hosts would skip their own
 * question to the user then. */
static const struct agent_tool codex_tools[] = {
	{ "apply_patch", TOOL_PATCH, "command", NULL, false },
	{ "view_image", TOOL_READ, "path", NULL, false },
	{ 0 },
};
static const struct agent_hook codex_hook = { "PreToolUse", "Bash", NULL, NULL, false, HOOK_UPDATED_INPUT_ALLOW,
					      codex_tools,  NULL,   NULL };
static const struct setup_place codex_files[] = { { "CODEX_HOME", ".codex", "hooks.json" }, { 0 } };
static const struct setup_edit codex_edits[] = {
	{ { "hooks", "PreToolUse" },
	  "{\"matcher\": \"^(Bash|apply_patch|view_image)$\", \"hooks\": [{\"type\": \"command\", \"command\": \"" HOOK(
		  "codex") "\"}]}",
	  true,
	  false },
	{ .value = NULL },
};
static const char *const codex_notes[] = {
	"Codex runs a new or changed hook only after you trust it; until then commands run WITHOUT berm.",
	"--write asks and records your trust in config.toml, as /hooks in codex would; --yes does not ask.",
	"berm cannot start in Codex's own sandbox. In config.toml: sandbox_mode = \"danger-full-access\".",
	"Then only this hook holds: commands run in berm, and apply_patch and view_image are judged before each use.",
	"Not covered: MCP servers (`berm setup mcp`), web search.",
	"To do without hooks: berm run -- codex -s danger-full-access",
	NULL,
};

static const struct agent_tool gemini_tools[] = {
	{ "read_file", TOOL_READ, "file_path", NULL, false },	  { "read_many_files", TOOL_READ_MANY, "include", NULL, false },
	{ "write_file", TOOL_WRITE, "file_path", NULL, false },	  { "replace", TOOL_WRITE, "file_path", NULL, false },
	{ "list_directory", TOOL_LIST, "dir_path", NULL, false }, { "glob", TOOL_GLOB, "dir_path", "pattern", false },
	{ "grep_search", TOOL_SEARCH, "dir_path", NULL, false },  { 0 },
};
static const struct agent_hook gemini_hook = { "BeforeTool", "run_shell_command", NULL,		"GEMINI_PROJECT_DIR",
					       false,	     HOOK_TOOL_INPUT,	  gemini_tools, NULL,
					       NULL };
static const struct setup_place gemini_files[] = { { NULL, ".gemini", "settings.json" }, { 0 } };
#define GEMINI_MATCHER "^(run_shell_command|read_file|read_many_files|write_file|replace|list_directory|glob|grep_search)$"
static const struct setup_edit gemini_edits[] = {
	{ { "hooks", "BeforeTool" },
	  "{\"matcher\": \"" GEMINI_MATCHER
	  "\", \"hooks\": [{\"name\": \"berm\", \"type\": \"command\", \"command\": \"" HOOK("gemini") "\"}]}",
	  true,
	  false },
	{ .value = NULL },
};
static const char *const gemini_notes[] = {
	"Start a new session of Gemini CLI; /hooks lists the hook `berm`.",
	"Covered: shell commands, in the sandbox; the tools that read, write, list and search files, judged by the same policy "
	"before each use. Not covered: MCP servers (`berm setup mcp`), web tools, context files that Gemini CLI reads itself.",
	"A project's settings can turn hooks off (hooksConfig); berm protects .gemini from commands in the sandbox.",
	NULL,
};

static const struct setup_place opencode_files[] = {
	{ "XDG_CONFIG_HOME", ".config", "opencode/opencode.json" },
	{ "XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc" },
	{ 0 },
};
/* Its hooks are plugins. berm's passes the shell of the configuration in OPENCODE_SHELL. */
static const struct agent_tool opencode_tools[] = {
	{ "read", TOOL_READ, "filePath", NULL, false },
	{ "write", TOOL_WRITE, "filePath", NULL, false },
	{ "edit", TOOL_WRITE, "filePath", NULL, false },
	{ "multiedit", TOOL_WRITE, "filePath", NULL, false },
	{ "list", TOOL_LIST, "path", NULL, false },
	{ "glob", TOOL_GLOB, "path", "pattern", false },
	{ "grep", TOOL_SEARCH, "path", "include", true },
	{ "lsp", TOOL_READ, "filePath", NULL, false },
	{ "patch", TOOL_PATCH, "patchText", NULL, false },
	{ "apply_patch", TOOL_PATCH, "patchText", NULL, false },
	{ 0 },
};
static const struct agent_hook opencode_hook = { "tool.execute.before", "bash",		  NULL, NULL, false, HOOK_UPDATED_INPUT,
						 opencode_tools,	"OPENCODE_SHELL", NULL };
static const struct setup_edit opencode_edits[] = {
	{ { "shell" }, "\"@shims@/bash\"", false, false },
	{ { "plugin" }, "\"file://@plugins@/opencode.js\"", true, false },
	{ .value = NULL },
};
static const char *const opencode_notes[] = {
	"Restart opencode. Covered: the bash tool, in the sandbox; read, write, edit, glob, grep and the like, judged by the "
	"same policy before each use. Not covered: MCP servers (`berm setup mcp`), webfetch, other plugins.",
	"A project's opencode.json can name another shell; the plugin then blocks commands, and berm protects that file from "
	"commands in the sandbox.",
	"Before you remove berm: `berm setup opencode --undo`. Without berm, opencode uses another shell and no "
	"plugin, WITHOUT a warning.",
	NULL,
};

static const struct setup_place aider_files[] = { { NULL, "", ".bashrc" }, { NULL, "", ".zshrc" }, { 0 } };
static const char *const aider_lines[] = { "alias aider='SHELL=@shims@/bash aider'", NULL };
static const char *const aider_notes[] = {
	"Open a new shell. For another start-up file: --file=PATH. For one run: SHELL=@shims@/bash aider",
	"Aider uses $SHELL only on a terminal. If another program starts it: berm run -- aider",
	NULL,
};

static const struct agent_hook cursor_hook = { "preToolUse", "Shell", "beforeShellExecution",
					       NULL,	     true,    HOOK_SNAKE_INPUT,
					       NULL,	     NULL,    NULL };
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
	"The second hook gets the final command and denies it if the first hook did not put it into berm.",
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
	{ { "terminal.integrated.automationProfile.@os@" }, "{\"path\": \"@shims@/debug/bash\"}", false, false },
	{ { "terminal.integrated.agentHostProfile.@os@" }, "{\"path\": \"@shims@/bash\"}", false, false },
	{ { "chat.tools.terminal.terminalProfile.@os@" }, "{\"path\": \"@shims@/bash\"}", false, false },
	{ { "debug.javascript.defaultRuntimeExecutable", "pwa-node" }, "\"@shims@/debug/berm-node\"", false, false },
	{ .value = NULL },
};
static const char *const vscode_uncovered[] = {
	"tasks of the type process, and tasks with a shell of their own (options.shell)",
	"debugging: configurations with a runtimeExecutable or another console, and languages other than JavaScript",
	"extensions: programs that they start themselves, and terminals for which they name a shell",
	"the Git panel: git and its hooks; `berm hooks install` puts the hooks inside",
	NULL,
};
static const char *const vscode_notes[] = {
	"Covered: terminals, tasks of the types shell and npm, and node programs that are debugged.",
	"Debuggers attach only after `berm setup vscode --debugger --write`.",
	"NOT covered: tasks of the type process or with a shell of their own, debugging with a runtimeExecutable of its own.",
	"NOT covered: programs that extensions start, git of the Git panel. To have all of it inside: docs/whole-editor.md.",
	"Close open terminals; new ones start in the sandbox, with (berm) in the prompt.",
	"For a terminal outside the sandbox: Terminal: Create New Terminal (With Profile), then bash.",
	"For another edition or profile (Insiders, VSCodium): --file=PATH",
	NULL,
};

/* One word in a file beside the user's policy, which no command can write. */
static const struct setup_place debugger_files[] = { { NULL, ".config/berm", "debuggers" }, { 0 } };
static const char *const vscode_debugger_lines[] = { "vscode", NULL };
static const char *const vscode_debugger_notes[] = {
	"The one socket that VS Code names for a launch is then reachable from inside, and nothing else of its directory.",
	"The debug adapter runs outside and obeys what comes through it: it reads files and addresses that source maps name, "
	"as "
	"you. Allow it for programs that you would also run outside.",
	NULL,
};
static const struct setup_host vscode_debugger_host = {
	"vscode",
	"VS Code's debugger",
	SETUP_TRIED,
	SETUP_LINES,
	.files = debugger_files,
	.comment = "#",
	.lines = vscode_debugger_lines,
	.notes = vscode_debugger_notes,
};

static const struct setup_place zed_files[] = { { "XDG_CONFIG_HOME", ".config", "zed/settings.json" }, { 0 } };
static const struct setup_edit zed_edits[] = {
	{ { "terminal", "shell" }, "{\"with_arguments\": {\"program\": \"@shims@/bash\", \"args\": []}}", false, false },
	{ .value = NULL },
};
static const char *const zed_notes[] = {
	"This covers the terminals that you open. Zed's own agent always starts /bin/sh, and no setting changes that: give an "
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
	"If ~/.jetbrains/acp.json lists agents, --write puts berm before each. Enter the shell path by hand: "
	"@shims@/bash",
	"Close open terminals; new ones start in the sandbox.",
	NULL,
};

static const struct setup_place emacs_files[] = {
	{ NULL, "", ".emacs" }, /* Emacs reads the first that exists, in this order */
	{ NULL, "", ".emacs.el" }, { NULL, ".emacs.d", "init.el" }, { "XDG_CONFIG_HOME", ".config", "emacs/init.el" }, { 0 },
};
static const char *const emacs_lines[] = {
	"(setq shell-file-name \"@shims@/bash\")",
	"(setq explicit-shell-file-name \"@shims@/bash\")",
	NULL,
};
static const char *const emacs_notes[] = {
	"Covers M-x shell, compile, shell-command and all users of shell-file-name.",
	NULL,
};
static const char *const emacs_uncovered[] = {
	"eshell, which is no shell of the system: Emacs itself reads the files and starts the programs",
	"call-process and start-process: programs that packages start without a shell",
	NULL,
};

static const struct setup_place vim_files[] = { { NULL, "", ".vimrc" }, { NULL, ".vim", "vimrc" }, { 0 } };
static const char *const vim_lines[] = { "set shell=@shims@/bash", "set noshelltemp", NULL };
static const char *const vim_notes[] = {
	"Covers :!, filters, :read ! and :terminal.",
	"Vim's system() and :make pass output through a file in /tmp, which is private in the sandbox: they fail, and so do "
	"plugins that use them, unless Vim's TMPDIR is in the project. Neovim: berm setup nvim",
	NULL,
};
static const char *const vim_uncovered[] = {
	"job_start([...]) and term_start([...]) with a list: programs that plugins start without a shell",
	NULL,
};
/* Neovim reads init.lua and then ignores init.vim. */
static const struct setup_place nvim_files[] = {
	{ "XDG_CONFIG_HOME", ".config", "nvim/init.lua" },
	{ "XDG_CONFIG_HOME", ".config", "nvim/init.vim" },
	{ 0 },
};
static const char *const lua_lines[] = { "vim.o.shell = \"@shims@/bash\"", "vim.o.shelltemp = false", NULL };
static const char *const nvim_notes[] = {
	"Covers :!, filters, :read !, :terminal and system() with a string.",
	":make and :grep pass output through a file in /tmp, which is private in the sandbox: they fail unless Neovim's TMPDIR "
	"is in the project.",
	NULL,
};
static const char *const nvim_uncovered[] = {
	"system([...]), jobstart([...]) and vim.system: programs that plugins and language servers start without a shell",
	NULL,
};
/* Neovim takes a file for Lua by its name. */
static const struct setup_host nvim_lua_host = {
	"nvim", "Neovim", SETUP_TRIED, SETUP_LINES, .comment = "--", .lines = lua_lines,
};
static const struct setup_host vim_lua_host = {
	"vim", "Vim", SETUP_TRIED, SETUP_LINES, .comment = "--", .lines = lua_lines,
};

static const struct setup_place npm_files[] = { { NULL, "", ".npmrc" }, { 0 } };
static const char *const npm_lines[] = { "script-shell=@shims@/sh", NULL };
static const char *const npm_notes[] = {
	"Covers the scripts that npm runs, also install scripts of packages, but not npm itself.",
	"For one run: npm_config_script_shell=@shims@/sh npm ci",
	"A project's .npmrc overrides yours, and a command in the sandbox can write it. The variable above overrides both.",
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
	"Log in again, or enter that line. For another start-up file: --file=PATH",
	"make does not read the environment variable SHELL. For one run: make SHELL=@shims@/sh",
	"Both override a makefile that sets SHELL, and cover $(shell ...).",
	NULL,
};

static const struct setup_place tmux_files[] = {
	{ NULL, "", ".tmux.conf" },
	{ "XDG_CONFIG_HOME", ".config", "tmux/tmux.conf" },
	{ 0 },
};
static const char *const tmux_lines[] = { "set -g default-shell @shims@/bash", NULL };
static const char *const tmux_notes[] = {
	"For a running server: tmux source-file, then a new window. All windows are then in the sandbox.",
	"A window whose directory cannot be a project, such as your home, says why and waits for Enter: start tmux in the "
	"directory you work in.",
	NULL,
};
static const char *const tmux_uncovered[] = {
	"run-shell, if-shell, #() and pipe-pane: tmux itself runs these with /bin/sh",
	NULL,
};

static const char *const mcp_lines[] = { "\"command\": \"@berm@\", \"args\": [\"run\", \"--\", \"npx\", \"SERVER\"]", NULL };
static const char *const mcp_servers[] = { "mcpServers", "servers", "context_servers", NULL };
static const char *const mcp_notes[] = {
	"For a file of the host: berm setup mcp --file=.mcp.json --write puts berm before each server that has a command.",
	"By hand, in the list of servers (mcpServers, servers or context_servers): berm becomes the command, and the old "
	"command "
	"goes to its arguments.",
	"For a server that needs the network: \"args\": [\"run\", \"--allow-net=api.example.org:443\", \"--\", \"npx\", "
	"\"SERVER\"]",
	NULL,
};

const struct setup_host setup_host_table[] = {
	{ "claude-code", "Claude Code", SETUP_TRIED, SETUP_JSON, .files = claude_files, .edits = claude_edits,
	  .notes = claude_notes, .hook = &claude_hook, .managed = CLAUDE_MANAGED, .how = "hook", .other = &claude_prefix_host },
	{ "codex", "Codex", SETUP_TRIED, SETUP_JSON, .files = codex_files, .edits = codex_edits, .notes = codex_notes,
	  .hook = &codex_hook },
	{ "gemini", "Gemini CLI", SETUP_TRIED, SETUP_JSON, .files = gemini_files, .edits = gemini_edits, .notes = gemini_notes,
	  .hook = &gemini_hook },
	{ "opencode", "opencode", SETUP_TRIED, SETUP_JSON, .files = opencode_files, .edits = opencode_edits,
	  .notes = opencode_notes, .hook = &opencode_hook },
	{ "aider", "Aider", SETUP_REPLAYED, SETUP_LINES, .files = aider_files, .comment = "#", .lines = aider_lines,
	  .variable = "SHELL", .notes = aider_notes },
	{ "cursor", "Cursor", SETUP_UNVERIFIED, SETUP_JSON, .files = cursor_files, .edits = cursor_edits, .notes = cursor_notes,
	  .hook = &cursor_hook },
	{ "vscode", "VS Code", SETUP_TRIED, SETUP_JSON, .files = vscode_files, .edits = vscode_edits, .notes = vscode_notes,
	  .uncovered = vscode_uncovered, .has_editions = true, .debugger = &vscode_debugger_host },
	{ "zed", "Zed", SETUP_UNVERIFIED, SETUP_JSON, .files = zed_files, .edits = zed_edits, .notes = zed_notes },
	{ "jetbrains", "JetBrains IDEs", SETUP_UNVERIFIED, SETUP_SERVERS, .files = jetbrains_files, .lines = jetbrains_lines,
	  .notes = jetbrains_notes, .servers = jetbrains_servers },
	{ "emacs", "Emacs", SETUP_TRIED, SETUP_LINES, .files = emacs_files, .comment = ";;", .lines = emacs_lines,
	  .notes = emacs_notes, .uncovered = emacs_uncovered },
	{ "vim", "Vim", SETUP_TRIED, SETUP_LINES, .files = vim_files, .comment = "\"", .lines = vim_lines, .notes = vim_notes,
	  .uncovered = vim_uncovered, .suffix = ".lua", .dialect = &vim_lua_host },
	{ "nvim", "Neovim", SETUP_TRIED, SETUP_LINES, .files = nvim_files, .comment = "\"", .lines = vim_lines,
	  .notes = nvim_notes, .uncovered = nvim_uncovered, .suffix = ".lua", .dialect = &nvim_lua_host },
	{ "npm", "npm", SETUP_TRIED, SETUP_LINES, .files = npm_files, .comment = "#", .lines = npm_lines, .notes = npm_notes },
	{ "make", "GNU make", SETUP_TRIED, SETUP_LINES, .files = make_files, .comment = "#", .lines = make_lines,
	  .variable = "MAKEFLAGS", .notes = make_notes },
	{ "tmux", "tmux", SETUP_TRIED, SETUP_LINES, .files = tmux_files, .comment = "#", .lines = tmux_lines,
	  .notes = tmux_notes, .uncovered = tmux_uncovered },
	{ "mcp", "MCP servers", SETUP_REPLAYED, SETUP_SERVERS, .lines = mcp_lines, .notes = mcp_notes, .servers = mcp_servers },
};
const size_t setup_host_count = sizeof setup_host_table / sizeof setup_host_table[0];

const char *setup_host_name(size_t index)
{
	return index < setup_host_count ? setup_host_table[index].name : NULL;
}

const struct setup_host *setup_host_find(const char *name)
{
	for (size_t i = 0; i < setup_host_count; i++)
		if (strcmp(setup_host_table[i].name, name) == 0)
			return &setup_host_table[i];
	return NULL;
}

const struct setup_host *setup_host_for(const struct setup_host *host, const char *file)
{
	return host->dialect && file && text_ends_with(file, host->suffix) ? host->dialect : host;
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
		{ "@plugins@", paths->plugins },
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
