/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a host in a scratch directory with its settings and a model on loopback. The command looks
 * for a file in that directory: it exists on the host and is absent in a sandbox, whatever any
 * variable says. */
#include "common/prove/prove.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/prove/scratch.h"
#include "common/prove/server.h"

enum { EDITS_MAX = 2, WORDS_MAX = 12, VARIABLES_MAX = 8 };

/* @url@: the model; @scratch@: the scratch directory. */
static const struct row {
	const char *host, *copy; /* where the copy of the settings is, below the scratch directory */
	struct {
		const char *path[4], *value;
	} edits[EDITS_MAX + 1];
	const char *command[WORDS_MAX + 1];
	const char *set[VARIABLES_MAX + 1]; /* NAME=VALUE, or NAME: unset */
} rows[] = {
	{ "claude-code",
	  "config/settings.json",
	  { { { "env", "ANTHROPIC_BASE_URL" }, "\"@url@\"" }, { { "env", "ANTHROPIC_API_KEY" }, "\"x\"" } },
	  { "claude", "-p", "proof", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5" },
	  { "CLAUDE_CONFIG_DIR=@scratch@/config", "ANTHROPIC_BASE_URL=@url@", "ANTHROPIC_API_KEY=x", "ANTHROPIC_AUTH_TOKEN",
	    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1" } },
	{ "codex",
	  "config/hooks.json",
	  { { { NULL }, NULL } },
	  { "codex", "exec", "--skip-git-repo-check", "-c", "model=\"gpt-5.5\"", "-c", "model_provider=\"berm\"", "-c",
	    "model_providers.berm={name=\"berm\",base_url=\"@url@/v1\",wire_api=\"responses\",env_key=\"BERM_PROOF_KEY\"}",
	    "proof" },
	  { "CODEX_HOME=@scratch@/config", "BERM_PROOF_KEY=x" } },
	{ "gemini",
	  "home/.gemini/settings.json",
	  { { { "security", "auth", "selectedType" }, "\"gemini-api-key\"" } },
	  { "gemini", "-y", "--skip-trust", "-p", "proof", "-m", "gemini-2.5-flash" },
	  { "HOME=@scratch@/home", "GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=@url@" } },
	{ "opencode",
	  "config/opencode/opencode.json",
	  { { { "model" }, "\"berm/m\"" },
	    { { "provider", "berm" },
	      "{\"npm\": \"@ai-sdk/openai-compatible\", \"name\": \"berm\", \"options\": {\"baseURL\": \"@url@/v1\", "
	      "\"apiKey\": "
	      "\"x\"}, \"models\": {\"m\": {\"name\": \"m\"}}}" } },
	  { "opencode", "run", "proof" },
	  { "XDG_CONFIG_HOME=@scratch@/config", "XDG_DATA_HOME=@scratch@/data", "XDG_CACHE_HOME=@scratch@/cache",
	    "HOME=@scratch@/home", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1" } },
};

struct proof {
	struct arena *arena;
	const struct prove_request *request;
	const struct row *row;
	const char *scratch;
	struct prove_scratch keeper;
	const char *url;
};

static const struct row *find(const char *host)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].host, host) == 0)
			return &rows[i];
	return NULL;
}

bool prove_is_known(const char *host)
{
	return find(host) != NULL;
}

/* Returns the text with every `word` replaced. */
static const char *replace(struct arena *arena, const char *text, const char *word, const char *value)
{
	struct text out = { 0 };
	const char *found, *result;

	text_add_n(&out, "", 0);
	for (; (found = strstr(text, word)); text = found + strlen(word))
		text_add(&out, "%.*s%s", (int)(found - text), text, value);
	text_add(&out, "%s", text);
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

static const char *expand(const struct proof *proof, const char *text)
{
	return replace(proof->arena, replace(proof->arena, text, "@url@", proof->url), "@scratch@", proof->scratch);
}

static int make_parents(struct arena *arena, const char *path, size_t from, struct error *err)
{
	for (size_t i = from; path[i]; i++)
		if (path[i] == '/' && mkdir(arena_copy_n(arena, path, i), 0700) < 0 && errno != EEXIST)
			return error_errno(err, errno, "cannot create %s", path);
	return 0;
}

static int write_copy(const struct proof *proof, const char *name, const char *bytes, size_t length, struct error *err)
{
	const char *path = path_join(proof->arena, proof->scratch, name);
	autoclose int fd = -1;

	if (make_parents(proof->arena, path, strlen(proof->scratch) + 1, err) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || text_write(fd, bytes, length) < 0)
		return error_errno(err, errno, "cannot write %s", path);
	return 0;
}

static int copy_settings(const struct proof *proof, struct error *err)
{
	struct jsonc_text at = proof->request->text;

	if (at.length == 0)
		at = (struct jsonc_text){ "{}\n", 3 };
	for (size_t i = 0; proof->row->edits[i].value; i++) {
		struct jsonc_edit edit = { .value = expand(proof, proof->row->edits[i].value) };
		struct text made = { 0 };
		int status;
		for (size_t k = 0; proof->row->edits[i].path[k]; k++)
			edit.path[k] = proof->row->edits[i].path[k];
		status = jsonc_set(proof->arena, proof->request->file, at, &edit, &made, err);
		if (status == 0)
			at = (struct jsonc_text){ arena_copy_n(proof->arena, made.data, made.length), made.length };
		text_free(&made);
		if (status < 0)
			return -1;
	}
	return write_copy(proof, proof->row->copy, at.data, at.length, err);
}

/* Copies the file beside the settings that has Codex's trust, with the new place of the hooks. */
static int copy_trust(const struct proof *proof, struct error *err)
{
	struct arena *arena = proof->arena;
	const char *path = path_join(arena, path_parent(arena, proof->request->file), "config.toml"), *text;
	const char *copy = path_join(arena, proof->scratch, proof->row->copy);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *bytes;
	ssize_t length;

	if (strcmp(proof->row->host, "codex") != 0 || fd < 0)
		return 0;
	bytes = arena_alloc(arena, JSONC_SIZE_MAX);
	length = text_read(fd, bytes, JSONC_SIZE_MAX - 1);
	if (length < 0)
		return error_errno(err, errno, "cannot read %s", path);
	text = replace(arena, bytes, proof->request->file, copy);
	return write_copy(proof, "config/config.toml", text, strlen(text), err);
}

/* Runs in the child. */
static void start_host(const struct proof *proof)
{
	const struct row *row = proof->row;
	char *words[WORDS_MAX + 1] = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; row->set[i]; i++) {
		char *variable = arena_copy(proof->arena, expand(proof, row->set[i])), *equals = strchr(variable, '=');
		if (equals)
			*equals = '\0';
		if (equals ? setenv(variable, equals + 1, 1) : unsetenv(variable))
			_exit(126);
	}
	for (size_t i = 0; row->command[i]; i++)
		words[i] = arena_copy(proof->arena, expand(proof, row->command[i]));
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || setpgid(0, 0) < 0 ||
	    chdir(proof->request->project) < 0)
		_exit(126);
	if (words[0])
		execvp(words[0], words);
	_exit(127);
}

/* True if the host's program is in a directory of PATH. */
static bool is_installed(struct arena *arena, const char *name)
{
	const char *at = getenv("PATH");
	while (at && *at) {
		size_t length = strcspn(at, ":");
		if (length > 0 && access(path_join(arena, arena_copy_n(arena, at, length), name), X_OK) == 0)
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

static int converse(const struct proof *proof, struct prove_server *server, enum prove_outcome *outcome, struct error *err)
{
	const char *nonce = arena_printf(proof->arena, "%s", path_base_name(proof->scratch));
	/* The two halves meet only in the output. */
	const char *command = arena_printf(
		proof->arena, "[ -e %s/witness ] && r=out || r=in; printf 'proof-%%s-%%s\\n' %s \"$r\"", proof->scratch, nonce);
	pid_t child = fork(), group = child;

	if (child < 0)
		return error_errno(err, errno, "cannot start %s", proof->row->command[0]);
	if (child == 0)
		start_host(proof);
	prove_scratch_guard(&proof->keeper, group);
	*outcome = prove_server_run(server, &child, command, arena_printf(proof->arena, "proof-%s", nonce));
	/* The group of the host: its commands are its children, or in sandboxes that end with
	 * them. */
	kill(-group, SIGKILL);
	child_end(child);
	prove_scratch_guard(&proof->keeper, 0);
	return 0;
}

static int prepare(struct proof *proof, struct error *err)
{
	if (!is_installed(proof->arena, proof->row->command[0])) {
		error_set(err, "%s is not in PATH", proof->row->command[0]);
		return error_hint(err, "without --prove, the settings alone are judged");
	}
	if (write_copy(proof, "witness", "", 0, err) < 0 || write_copy(proof, "home/.keep", "", 0, err) < 0)
		return -1;
	return copy_settings(proof, err) < 0 || copy_trust(proof, err) < 0 ? -1 : 0;
}

int prove_run(struct arena *arena, const struct prove_request *request, enum prove_outcome *outcome, struct error *err)
{
	struct proof proof = { .arena = arena, .request = request, .row = find(request->host) };
	struct prove_server server;
	int status;

	if (!proof.row)
		return error_set(err, "this host cannot be started without its user");
	/* Before the server: the keeper must not hold its sockets. */
	if (prove_scratch_open(&proof.keeper, err) < 0) {
		prove_scratch_close(&proof.keeper);
		return -1;
	}
	proof.scratch = proof.keeper.path;
	status = prove_server_open(&server, err);
	proof.url = arena_printf(arena, "http://127.0.0.1:%u", server.port);
	if (status == 0)
		status = prepare(&proof, err);
	if (status == 0)
		status = converse(&proof, &server, outcome, err);
	prove_server_close(&server);
	prove_scratch_close(&proof.keeper);
	return status;
}
