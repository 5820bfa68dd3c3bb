/* SPDX-License-Identifier: Apache-2.0 */
/* The agents. Everything about one that is not policy is in its row; hosts, variables and what it
 * reads of its configuration are in policies/agent-*.yml.
 *
 * Nothing that a run writes may be obeyed by the agent at a later start outside. So the directories
 * of the agents are private. So are transcripts: Claude Code reads the permission mode back from
 * one, and others may. Only data of the agent is kept, never settings,
 * programs, or text that a shell sources (shell-snapshots, session-env). */
#include "common/agents/agents.h"

#include <string.h>

static const char *const no_words[] = { NULL };

static const struct agent_field claude_login[] = {
	{ { "claudeAiOauth", "accessToken" }, AGENT_TOKEN, "sk-ant-oat" },
	{ { "claudeAiOauth", "refreshToken" }, AGENT_TOKEN, "sk-ant-ort" },
	{ { "claudeAiOauth", "expiresAt" }, AGENT_EXPIRY, NULL },
	{ { NULL }, AGENT_SAME, NULL },
};
/* Not the account, mcpServers, projects (allowed tools, trust), approved keys. */
static const struct agent_field claude_state[] = {
	{ { "numStartups" }, AGENT_COUNT, NULL },
	{ { "hasCompletedOnboarding" }, AGENT_TRUE, NULL },
	{ { "lastOnboardingVersion" }, AGENT_VERSION, NULL },
	{ { "lastReleaseNotesSeen" }, AGENT_VERSION, NULL },
	{ { NULL }, AGENT_SAME, NULL },
};
static const struct agent_copy claude_copies[] = {
	{ .path = ".claude/.credentials.json", .what = "login", .fields = claude_login, .is_login = true },
	{ .path = ".claude.json", .what = "state, of this project only", .fields = claude_state, .own_project = "projects" },
	{ 0 },
};
static const struct agent_kept claude_kept[] = {
	{ ".claude/projects", "transcripts and memory, for --resume and --continue" },
	{ ".claude/history.jsonl", "prompts, for the arrow keys" },
	{ ".claude/todos", "lists of tasks" },
	{ ".claude/tasks", "lists of tasks" },
	{ ".claude/plans", "plans that were written" },
	{ ".claude/file-history", "earlier versions of edited files, for /rewind" },
	{ ".claude/debug", "logs" },
	{ 0 },
};

/* Codex refreshes all three tokens. The account is in the file and in the claims of two of them. */
static const struct agent_field codex_login[] = {
	{ { "tokens", "account_id" }, AGENT_SAME, NULL },  { { "tokens", "id_token" }, AGENT_JWT, NULL },
	{ { "tokens", "access_token" }, AGENT_JWT, NULL }, { { "tokens", "refresh_token" }, AGENT_TOKEN, NULL },
	{ { "last_refresh" }, AGENT_DATE, NULL },	   { { NULL }, AGENT_SAME, NULL },
};
/* Codex writes its configuration (trust of projects, chosen model) and replaces the file. */
static const struct agent_copy codex_copies[] = {
	{ .path = ".codex/auth.json", .what = "login or API key", .fields = codex_login, .is_login = true },
	{ .path = ".codex/config.toml", .what = "settings" },
	{ 0 },
};
static const struct agent_kept codex_kept[] = {
	{ ".codex/sessions", "transcripts, for `resume`" },
	{ ".codex/archived_sessions", "the same" },
	{ ".codex/history.jsonl", "prompts, for the arrow keys" },
	{ ".codex/log", "logs" },
	{ ".codex/state_*", "the index of the transcripts" },
	{ ".codex/models_cache.json", "a list of models" },
	{ 0 },
};
/* Codex cannot build its own sandbox in this one, which makes no mounts. */
static const char *const codex_arguments[] = { "-c", "sandbox_mode=\"danger-full-access\"", NULL };

/* Google does not replace the refresh token, so that it never goes back. */
static const struct agent_field gemini_login[] = {
	{ { "refresh_token" }, AGENT_SAME, NULL },
	{ { "access_token" }, AGENT_TOKEN, "ya29." },
	{ { "expiry_date" }, AGENT_EXPIRY, NULL },
	{ { NULL }, AGENT_SAME, NULL },
};
static const struct agent_copy gemini_copies[] = {
	{ .path = ".gemini/oauth_creds.json", .what = "login", .fields = gemini_login, .is_login = true },
	{ .path = ".gemini/google_accounts.json", .what = "the name of the account" },
	{ .path = ".gemini/settings.json", .what = "settings" },
	{ .path = ".gemini/trustedFolders.json", .what = "trusted directories" },
	{ 0 },
};
static const struct agent_kept gemini_kept[] = {
	{ ".gemini/tmp", "transcripts, prompts and logs" },
	{ ".gemini/history", "checkpoints, for /restore" },
	{ ".gemini/installation_id", "a number" },
	{ 0 },
};

/* Of each provider that the user logged in to. A key (type: api) never changes. */
static const struct agent_field provider_login[] = {
	{ { "type" }, AGENT_SAME, NULL },	   { { "key" }, AGENT_SAME, NULL },	{ { "accountId" }, AGENT_SAME, NULL },
	{ { "enterpriseUrl" }, AGENT_SAME, NULL }, { { "access" }, AGENT_TOKEN, NULL }, { { "refresh" }, AGENT_TOKEN, NULL },
	{ { "expires" }, AGENT_EXPIRY, NULL },	   { { NULL }, AGENT_SAME, NULL },
};
static const struct agent_copy opencode_copies[] = {
	{ .path = ".local/share/opencode/auth.json",
	  .what = "logins and API keys",
	  .fields = provider_login,
	  .is_login = true,
	  .is_per_member = true },
	{ 0 },
};
static const struct agent_kept opencode_kept[] = {
	{ ".local/share/opencode/storage", "transcripts" },
	{ ".local/share/opencode/opencode*.db*", "transcripts" },
	{ ".local/share/opencode/snapshot", "earlier versions of edited files" },
	{ ".local/share/opencode/log", "logs" },
	{ ".local/state/opencode", "prompts and the chosen model" },
	{ 0 },
};

/* Not resource_url: it names the host to which the conversation goes. */
static const struct agent_field qwen_login[] = {
	{ { "resource_url" }, AGENT_SAME, NULL },
	{ { "access_token" }, AGENT_TOKEN, NULL },
	{ { "refresh_token" }, AGENT_TOKEN, NULL },
	{ { "expiry_date" }, AGENT_EXPIRY, NULL },
	{ { NULL }, AGENT_SAME, NULL },
};
static const struct agent_copy qwen_copies[] = {
	{ .path = ".qwen/oauth_creds.json", .what = "login", .fields = qwen_login, .is_login = true },
	{ .path = ".qwen/settings.json", .what = "settings" },
	{ .path = ".qwen/trustedFolders.json", .what = "trusted directories" },
	{ 0 },
};
static const struct agent_kept qwen_kept[] = {
	{ ".qwen/projects", "transcripts" }, { ".qwen/tmp", "prompts and logs" },     { ".qwen/todos", "lists of tasks" },
	{ ".qwen/debug", "logs" },	     { ".qwen/installation_id", "a number" }, { 0 },
};

static const struct agent_copy pi_copies[] = {
	{ .path = ".pi/agent/auth.json",
	  .what = "logins and API keys",
	  .fields = provider_login,
	  .is_login = true,
	  .is_per_member = true },
	{ .path = ".pi/agent/settings.json", .what = "settings" },
	{ 0 },
};
static const struct agent_kept pi_kept[] = {
	{ ".pi/agent/sessions", "transcripts" },
	{ 0 },
};

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Settings on the command line have precedence over those of the user and the project, also while
 * the agent runs and reads them again; only the administrator's are above. */
static const struct agent_commands claude_commands = {
	.arguments = WORDS("--settings", "{\"env\": {\"CLAUDE_CODE_SHELL\": \"@shims@/bash\"}}"),
	.refused = WORDS("--settings"),
	.how = "its shell is berm's shim, by --settings, which no settings of the user or the project override",
};
/* The hook is in the private copy, which commands behind the wall cannot write. */
static const struct agent_commands codex_commands = {
	.arguments = WORDS("-c", "features.hooks=true"),
	.refused = WORDS("--disable", "features", "-cfeatures", "--config=features", "hooks", "-chooks", "--config=hooks"),
	.host = "codex",
	.file = ".codex/hooks.json",
	.trust = ".codex/config.toml",
	.how = "a hook in the private copy of ~/.codex/hooks.json gives each command to berm-sh",
};
static const struct agent_commands gemini_commands = {
	.arguments = no_words,
	.refused = no_words,
	.host = "gemini",
	.file = ".gemini/settings.json",
	.how = "a hook in the private copy of ~/.gemini/settings.json gives each command to berm-sh",
};
static const struct agent_commands opencode_commands = {
	.refusal = "it starts formatters and language servers of the project itself, beside its commands",
};
static const struct agent_commands qwen_commands = {
	.refusal = "its hooks cannot change a command, and it takes its shell from PATH",
};
static const struct agent_commands pi_commands = {
	.refusal = "it has no hook, and a project's own settings and extensions decide how its commands run",
};

const struct agent agent_table[] = {
	{
		.name = "claude",
		.commands = &claude_commands,
		.title = "Claude Code",
		.piece = "agent-claude-code",
		.arguments = no_words,
		.places = WORDS(".local/bin", ".claude/local", ".npm-global/bin", ".bun/bin", ".volta/bin"),
		.directories = WORDS(".claude"),
		.directory_variable = "CLAUDE_CONFIG_DIR",
		.kept = claude_kept,
		.copies = claude_copies,
		.hooks = WORDS(".claude/settings.json", ".claude/settings.local.json"),
		.url_variables = WORDS("ANTHROPIC_BASE_URL"),
		.login = "log in once outside berm: `claude`, then /login; a login made inside ends with the run",
		.update = "off inside (DISABLE_AUTOUPDATER); run `claude update` outside berm",
	},
	{
		.name = "codex",
		.commands = &codex_commands,
		.title = "Codex",
		.piece = "agent-codex",
		.arguments = codex_arguments,
		.places = WORDS(".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin"),
		.directories = WORDS(".codex"),
		.directory_variable = "CODEX_HOME",
		.kept = codex_kept,
		.copies = codex_copies,
		.hooks = WORDS(".codex/hooks.json"),
		.url_variables = WORDS("OPENAI_BASE_URL"),
		.login = "log in once outside berm: `codex login`; a login made inside ends with the run",
		.update = "not possible inside: its directory is read-only; update outside berm",
	},
	{
		.name = "gemini",
		.commands = &gemini_commands,
		.title = "Gemini CLI",
		.piece = "agent-gemini",
		.arguments = no_words,
		.places = WORDS(".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin"),
		.directories = WORDS(".gemini"),
		.directory_variable = "GEMINI_CLI_HOME",
		.kept = gemini_kept,
		.copies = gemini_copies,
		.hooks = WORDS(".gemini/settings.json"),
		.url_variables = WORDS("GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
		.login = "log in once outside berm: `gemini`, then /auth; a login made inside ends with the run",
		.update = "not possible inside: its directory is read-only; update outside berm",
	},
	{
		.name = "opencode",
		.commands = &opencode_commands,
		.title = "opencode",
		.piece = "agent-opencode",
		.arguments = no_words,
		.places = WORDS(".opencode/bin", ".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin"),
		.directories = WORDS(".config/opencode", ".local/share/opencode", ".local/state/opencode", ".cache/opencode"),
		.directory_variable = "OPENCODE_CONFIG_DIR",
		.kept = opencode_kept,
		.copies = opencode_copies,
		.hooks = no_words,
		.url_variables = no_words,
		.login = "log in once outside berm: `opencode auth login`; a login made inside ends with the run",
		.update = "off inside (OPENCODE_DISABLE_AUTOUPDATE); run `opencode upgrade` outside berm",
	},
	{
		.name = "qwen",
		.commands = &qwen_commands,
		.title = "Qwen Code",
		.piece = "agent-qwen",
		.arguments = no_words,
		.places = WORDS(".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin"),
		.directories = WORDS(".qwen"),
		.directory_variable = "QWEN_HOME",
		.kept = qwen_kept,
		.copies = qwen_copies,
		.hooks = WORDS(".qwen/settings.json"),
		.url_variables = WORDS("OPENAI_BASE_URL", "DASHSCOPE_BASE_URL"),
		.login = "log in once outside berm: `qwen`, then /auth; a login made inside ends with the run",
		.update = "not possible inside: its directory is read-only; update outside berm",
	},
	{
		.name = "pi",
		.commands = &pi_commands,
		.title = "pi",
		.piece = "agent-pi",
		.arguments = no_words,
		.places = WORDS(".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin"),
		.directories = WORDS(".pi"),
		.directory_variable = "PI_CODING_AGENT_DIR",
		.kept = pi_kept,
		.copies = pi_copies,
		.hooks = no_words,
		.url_variables = no_words,
		.login = "log in once outside berm: `pi`, then /login; a login made inside ends with the run",
		.update = "not possible inside: its directory is read-only; update outside berm",
	},
};

const size_t agent_count = sizeof agent_table / sizeof agent_table[0];

const char *agent_name(size_t index)
{
	return index < agent_count ? agent_table[index].name : NULL;
}

const struct agent *agent_find(const char *name)
{
	for (size_t i = 0; i < agent_count; i++)
		if (strcmp(agent_table[i].name, name) == 0)
			return &agent_table[i];
	return NULL;
}
