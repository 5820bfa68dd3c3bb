/* SPDX-License-Identifier: Apache-2.0 */
/* One row per editor. The editor is found in the system's directories, never by PATH, and runs in
 * /, where no project has a say. */
#include "common/setup/ask_editor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/context/programs.h"
#include "common/fs/path.h"

enum { ANSWER_MAX = 4096, ANSWER_MS = 15000, WORDS_MAX = 12 };

static const char mark[] = "berm-shell=";

/* @file@: the settings file. vim in silent mode and emacs in batch mode read no file by themselves;
 * nvim does. */
static const struct row {
	const char *host, *program;
	const char *words[WORDS_MAX];
	const char *named[3]; /* further words for a file that the user named */
} rows[] = {
	{ "vim",
	  "vim",
	  { "-es", "-N", "-n", "-i", "NONE", "-u", "@file@", "-c", "call writefile(['berm-shell=' . &shell], '/dev/stdout')",
	    "-c", "qa!" },
	  { NULL } },
	{ "nvim",
	  "nvim",
	  { "--headless", "-n", "-i", "NONE", "-c", "lua io.stdout:write('\\nberm-shell=' .. vim.o.shell .. '\\n')", "-c",
	    "qa!" },
	  { "-u", "@file@" } },
	{ "emacs",
	  "emacs",
	  { "--batch", "-l", "@file@", "--eval", "(princ (concat \"\\nberm-shell=\" shell-file-name \"\\n\"))" },
	  { NULL } },
};

static const struct row *find(const char *host)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].host, host) == 0)
			return &rows[i];
	return NULL;
}

/* Runs in the child. */
static void start(const char *program, char **words, int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    setpgid(0, 0) < 0 || chdir("/") < 0)
		_exit(126);
	execv(program, words);
	_exit(127);
}

/* Reads until the end, or until the time is over. */
static size_t read_answer(int fd, char *bytes)
{
	int64_t end = clock_ms() + ANSWER_MS;
	size_t length = 0;

	while (length < ANSWER_MAX - 1) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int64_t left = end - clock_ms();
		ssize_t count;
		if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
			break;
		count = read(fd, bytes + length, ANSWER_MAX - 1 - length);
		if (count <= 0)
			break;
		length += (size_t)count;
	}
	return length;
}

/* Returns the rest of the line after the mark, or NULL. */
static const char *find_answer(struct arena *arena, const char *bytes)
{
	const char *at = strstr(bytes, mark);
	return at ? arena_copy_n(arena, at + strlen(mark), strcspn(at + strlen(mark), "\r\n")) : NULL;
}

static const char *ask(struct arena *arena, const char *program, char **words)
{
	char *bytes = arena_alloc(arena, ANSWER_MAX);
	autoclose int read_end = -1;
	int ends[2];
	pid_t child;

	if (pipe(ends) < 0)
		return NULL;
	read_end = ends[0];
	child = fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0 ? -1 : fork();
	if (child == 0)
		start(program, words, ends[1]);
	close(ends[1]);
	if (child < 0)
		return NULL;
	bytes[read_answer(read_end, bytes)] = '\0';
	kill(-child, SIGKILL);
	child_end(child);
	return find_answer(arena, bytes);
}

static void add_words(struct arena *arena, char **words, size_t *count, const char *const *from, size_t most, const char *file)
{
	for (size_t i = 0; i < most && from[i]; i++)
		words[(*count)++] = arena_copy(arena, strcmp(from[i], "@file@") == 0 ? file : from[i]);
}

void setup_ask_editor(struct arena *arena, const struct setup_host *host, const struct install_paths *paths, const char *file,
		      bool is_named, struct editor_asked *asked)
{
	const struct row *row = find(host->name);
	char *words[WORDS_MAX + 4] = { 0 };
	struct error ignored = { 0 };
	size_t count = 1;

	*asked = (struct editor_asked){ .answer = EDITOR_NOT_ASKED };
	asked->program = row ? program_find(arena, row->program, &ignored) : NULL;
	if (!asked->program)
		return;
	words[0] = arena_copy(arena, row->program);
	if (is_named)
		add_words(arena, words, &count, row->named, 3, file);
	add_words(arena, words, &count, row->words, WORDS_MAX, file);
	asked->said = ask(arena, asked->program, words);
	if (!asked->said)
		asked->answer = EDITOR_SILENT;
	else
		asked->answer =
			strcmp(asked->said, path_join(arena, paths->shims, "bash")) == 0 ? EDITOR_USES_SHIM : EDITOR_USES_OTHER;
}
