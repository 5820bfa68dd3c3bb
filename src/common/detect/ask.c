/* SPDX-License-Identifier: Apache-2.0 */
/* Asks package managers for their registry. Each runs in a separate sandbox: an empty directory as
 * the project, no network, an empty home with the user's configuration of this package manager
 * read-only, five seconds. An answer is a text: only hosts and ports are taken from it. */
#include "common/detect/detect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/state/remove_tree.h"

enum {
	WORDS_MAX = 5,
	ANSWER_BYTES_MAX = 64 * 1024,
	TICK_MS = 100, /* between calls of progress_tick() */
	GRACE_MS = 20000, /* beyond the limit of the policy, which ends the client itself */
};
#define TIME_LIMIT "5s"

enum answer_form {
	ANSWER_URLS, /* addresses in the output */
	ANSWER_HOSTS, /* the same, and hosts without a scheme */
	ANSWER_FAILURE, /* cargo prints no settings: its error quotes the address that it tried */
};

/* The first row whose program is installed and answers is used. A client that does not read the
 * configuration tells its built-in default only: it is asked if no file replaces that. */
static const struct client {
	enum ecosystem ecosystem;
	const char *tool; /* of struct detected */
	const char *program;
	const char *words[WORDS_MAX + 1];
	enum answer_form form;
	bool ignores_configuration;
	const char *shown; /* the question, in the comment of berm.yml */
} clients[] = {
#define PIP_QUESTION "from pip._internal.models.index import PyPI as p; print(p.simple_url, p.file_storage_domain)"
	{ ECOSYSTEM_NODE, "npm", "npm", { "config", "get", "registry" }, ANSWER_URLS, false, "npm config get registry" },
	{ ECOSYSTEM_NODE, "pnpm", "pnpm", { "config", "get", "registry" }, ANSWER_URLS, false, "pnpm config get registry" },
	{ ECOSYSTEM_NODE,
	  "yarn",
	  "yarn",
	  { "config", "get", "npmRegistryServer" },
	  ANSWER_URLS,
	  false,
	  "yarn config get npmRegistryServer" },
	/* yarn 1 prints its default here even if .npmrc names another registry, which it then
	 * uses. */
	{ ECOSYSTEM_NODE, "yarn", "yarn", { "config", "get", "registry" }, ANSWER_URLS, true, "yarn config get registry" },
	/* bun has no such command. Its default is npm's, and it reads the same files. */
	{ ECOSYSTEM_NODE, "bun", "npm", { "config", "get", "registry" }, ANSWER_URLS, false, "npm config get registry" },
	{ ECOSYSTEM_PYTHON, "pip", "python3", { "-I", "-c", PIP_QUESTION }, ANSWER_HOSTS, true, "pip's default" },
	{ ECOSYSTEM_PYTHON, "pipenv", "python3", { "-I", "-c", PIP_QUESTION }, ANSWER_HOSTS, true, "pip's default" },
	{ ECOSYSTEM_PYTHON, "poetry", "python3", { "-I", "-c", PIP_QUESTION }, ANSWER_HOSTS, true, "pip's default" },
	{ ECOSYSTEM_PYTHON, "pdm", "python3", { "-I", "-c", PIP_QUESTION }, ANSWER_HOSTS, true, "pip's default" },
	{ ECOSYSTEM_RUST, "cargo", "cargo", { "search", "--limit=1", "berm" }, ANSWER_FAILURE, false, "cargo search" },
	{ ECOSYSTEM_GO, "go", "go", { "env", "GOPROXY", "GOSUMDB" }, ANSWER_HOSTS, false, "go env GOPROXY GOSUMDB" },
	{ ECOSYSTEM_RUBY, "bundler", "gem", { "sources", "--list" }, ANSWER_URLS, false, "gem sources --list" },
	{ ECOSYSTEM_RUBY, "gem", "gem", { "sources", "--list" }, ANSWER_URLS, false, "gem sources --list" },
	{ ECOSYSTEM_PHP,
	  "composer",
	  "composer",
	  { "config", "--global", "--list" },
	  ANSWER_URLS,
	  false,
	  "composer config --list" },
};

struct question {
	struct arena *arena;
	const struct context *context;
	const struct client *client;
	const char *program; /* its path */
	char scratch[32];
	char answer[ANSWER_BYTES_MAX + 1];
	const char *failure; /* a clause, or NULL */
};

/* Grants the user's files of this ecosystem. Some of them are denied by default, because they may
 * have tokens: without network and project nothing can take them out of this sandbox. */
static const char *policy_text(const struct question *question)
{
	const char *files = "";

	for (size_t i = 0;; i++) {
		const char *file = registry_user_file(question->arena, question->client->ecosystem, i);
		if (!file)
			break;
		files = arena_printf(question->arena, "%s%s\"%s\"", files, i > 0 ? ", " : "", file);
	}
	return arena_printf(
		question->arena,
		"version: 1\n"
		"extends: default\n"
		"home: empty\n"
		"tmp: empty\n"
		"network: none\n"
		"files: {read: [%s], except: [%s]}\n"
		"limits: {time: " TIME_LIMIT ", processes: 256}\n"
		"environment: {set: {COMPOSER_ALLOW_SUPERUSER: \"1\", COREPACK_ENABLE_NETWORK: \"0\", NO_COLOR: \"1\"}}\n",
		files, files);
}

static int make_scratch(struct question *question, struct error *err)
{
	struct arena *arena = question->arena;
	const char *text = policy_text(question), *path;
	autoclose int fd = -1;

	/* In /tmp, which is private in a sandbox; TMPDIR may be in the project. */
	if (!mkdtemp(strcpy(question->scratch, "/tmp/berm-init.XXXXXX")))
		return error_errno(err, errno, "cannot create %s", question->scratch);
	if (mkdir(path_join(arena, question->scratch, "empty"), 0700) < 0 ||
	    mkdir(path_join(arena, question->scratch, "state"), 0700) < 0)
		return error_errno(err, errno, "cannot create a directory in %s", question->scratch);
	path = path_join(arena, question->scratch, "policy.yml");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || text_write(fd, text, strlen(text)) < 0)
		return error_errno(err, errno, "cannot write %s", path);
	return 0;
}

static void remove_scratch(const struct question *question)
{
	autoclose int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error ignored = { 0 };

	if (parent >= 0 && question->scratch[0] && !text_ends_with(question->scratch, "XXXXXX"))
		(void)state_remove(parent, path_base_name(question->scratch), question->scratch, &ignored);
}

/* Runs in the child. berm's own messages and the client's errors go to `out` for ANSWER_FAILURE
 * only. */
static void start_client(const struct question *question, int out)
{
	struct arena *arena = question->arena;
	const char *words[WORDS_MAX + 8] = { question->context->executable, "run",
					     arena_printf(arena, "--policy=%s/policy.yml", question->scratch), "--",
					     question->program };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *arguments[WORDS_MAX + 8] = { 0 };

	for (size_t i = 0; i < WORDS_MAX && question->client->words[i]; i++)
		words[5 + i] = question->client->words[i];
	for (size_t i = 0; words[i]; i++)
		arguments[i] = arena_copy(arena, words[i]);
	if (!arguments[0] || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(question->client->form == ANSWER_FAILURE ? out : null, 2) < 0 || setpgid(0, 0) < 0 ||
	    chdir(path_join(arena, question->scratch, "empty")) < 0 ||
	    setenv("XDG_STATE_HOME", path_join(arena, question->scratch, "state"), 1) < 0 || unsetenv("BERM_POLICY") < 0)
		_exit(126);
	execv(arguments[0], arguments);
	_exit(126);
}

/* Reads until the end or the limit. False if the client did not end in time. */
static bool read_answer(struct question *question, int in)
{
	int64_t end = clock_ms() + GRACE_MS;
	size_t used = 0;

	while (used < ANSWER_BYTES_MAX) {
		struct pollfd watched = { .fd = in, .events = POLLIN };
		int64_t left = end - clock_ms();
		ssize_t count;
		if (left <= 0)
			return false;
		progress_tick();
		if (poll(&watched, 1, left < TICK_MS ? (int)left : TICK_MS) <= 0)
			continue;
		count = read(in, question->answer + used, ANSWER_BYTES_MAX - used);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		used += (size_t)count;
	}
	question->answer[used] = '\0';
	return true;
}

static const char *describe_status(const struct question *question, int status)
{
	const char *shown = question->client->shown;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 124)
		return arena_printf(question->arena, "`%s` did not answer within " TIME_LIMIT, shown);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 125)
		return arena_printf(question->arena, "no sandbox could be made for `%s` (berm doctor explains)", shown);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return arena_printf(question->arena, "`%s` failed", shown);
	return NULL;
}

static int converse(struct question *question, struct error *err)
{
	int ends[2], status = 0;
	bool has_ended;
	pid_t child;

	if (pipe(ends) < 0)
		return error_errno(err, errno, "cannot make a pipe");
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	child = fork();
	if (child == 0)
		start_client(question, ends[1]);
	close(ends[1]);
	has_ended = child > 0 && read_answer(question, ends[0]);
	close(ends[0]);
	if (child < 0)
		return error_errno(err, errno, "cannot start berm");
	if (!has_ended)
		kill(-child, SIGKILL);
	if (child_wait(child, &status) < 0)
		return error_errno(err, errno, "cannot wait for berm");
	question->failure = describe_status(question, status);
	return 0;
}

/* Adds the texts in backquotes: cargo quotes the address that it tried, and explains with
 * others. */
static void add_quoted(struct arena *arena, struct registries *answers, const struct registry *like, const char *text)
{
	const char *start;

	while ((start = strchr(text, '`'))) {
		size_t length = strcspn(start + 1, "`\n");
		registries_add_text(arena, answers, like, arena_copy_n(arena, start + 1, length), false);
		text = start + 1 + length + (start[1 + length] == '`');
	}
}

static void parse_answer(const struct question *question, struct registries *answers)
{
	const struct client *client = question->client;
	struct registry like = {
		.ecosystem = client->ecosystem, .origin = REGISTRY_CLIENT, .source = client->shown, .is_default = true
	};

	if (client->form == ANSWER_FAILURE)
		add_quoted(question->arena, answers, &like, question->answer);
	else
		registries_add_text(question->arena, answers, &like, question->answer, client->form == ANSWER_HOSTS);
}

static bool is_among(const struct registries *registries, const struct registry *wanted)
{
	for (size_t i = 0; i < registries->count; i++) {
		const struct registry *registry = &registries->items[i];
		if (wanted->local_port ? registry->local_port == wanted->local_port
				       : wanted->destination && registry->destination &&
						 strcmp(registry->destination, wanted->destination) == 0)
			return true;
	}
	return false;
}

/* The client knows which of the user's and the system's files it reads. A default that it does not
 * confirm is of another client, or of a file that this one does not read. */
static void take_answers(struct arena *arena, const struct client *client, struct registries *found,
			 const struct registries *answers)
{
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct registry *registry = &found->items[i];
		bool is_doubtful =
			registry->is_default && (registry->origin == REGISTRY_USER || registry->origin == REGISTRY_SYSTEM);
		if (client->ignores_configuration || !is_doubtful || is_among(answers, registry))
			found->items[kept++] = *registry;
	}
	found->count = kept;
	for (size_t i = 0; i < answers->count; i++)
		registries_add(arena, found, &answers->items[i]);
}

static bool is_answer(const struct registries *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->items[i].destination || answers->items[i].local_port)
			return true;
	return false;
}

/* Asks one client. Returns NULL and adds its answer, or returns why there is none. */
static const char *ask(struct arena *arena, const struct context *context, const struct client *client,
		       struct registries *found)
{
	struct question *question = arena_alloc(arena, sizeof *question);
	struct registries answers = { 0 };
	struct error err = { 0 };
	int status;

	question->arena = arena;
	question->context = context;
	question->client = client;
	question->program = detect_client(arena, context, client->program);
	if (!question->program || !context->executable)
		return arena_printf(arena, "%s is not installed where root or a toolchain directory vouches for it",
				    client->program);
	status = make_scratch(question, &err);
	if (status == 0)
		status = converse(question, &err);
	remove_scratch(question);
	if (status < 0)
		return arena_copy(arena, err.message);
	if (!question->failure || client->form == ANSWER_FAILURE)
		parse_answer(question, &answers);
	if (!is_answer(&answers))
		return question->failure ? question->failure : arena_printf(arena, "`%s` names no host", client->shown);
	take_answers(arena, client, found, &answers);
	return NULL;
}

static bool is_replaced_by_file(const struct registries *found)
{
	return found->is_replaced[REGISTRY_USER] || found->is_replaced[REGISTRY_SYSTEM];
}

static void ask_ecosystem(struct arena *arena, const struct context *context, enum ecosystem ecosystem,
			  struct detected *detected)
{
	struct registries *found = &detected->registries;
	const char *reason = NULL;

	if (found->is_replaced[REGISTRY_PROJECT])
		return;
	for (size_t i = 0; i < sizeof clients / sizeof clients[0]; i++) {
		const struct client *client = &clients[i];
		if (client->ecosystem != ecosystem || strcmp(client->tool, detected->tool) != 0)
			continue;
		if (client->ignores_configuration && is_replaced_by_file(found))
			return;
		reason = ask(arena, context, client, found);
		if (!reason)
			return;
	}
	/* The files that berm read are the second best source. */
	if (is_replaced_by_file(found))
		return;
	detected->unanswered = reason ? reason : arena_printf(arena, "%s cannot be asked", detected->tool);
}

void detect_ask(struct arena *arena, const struct context *context, struct detection *detection)
{
	struct detected *rust = &detection->ecosystems[ECOSYSTEM_RUST];

	for (int i = 0; i < ECOSYSTEM_COUNT; i++)
		if (detection->ecosystems[i].marker && ecosystem_table[i].registry)
			ask_ecosystem(arena, context, (enum ecosystem)i, &detection->ecosystems[i]);
	if (rust->marker)
		registries_of_cargo_indexes(arena, context, &rust->registries);
}
