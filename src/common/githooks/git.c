/* SPDX-License-Identifier: Apache-2.0 */
/* Runs git with a pipe for its output. Discards its stderr: the caller reports failures. */
#include "common/githooks/git.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/context/programs.h"
#include "common/base/text.h"

extern char **environ;

enum { ARGUMENTS_MAX = 15, ANSWER_MAX = 1 << 20 };

static int read_answer(struct arena *arena, int fd, struct git_answer *answer, struct error *err)
{
	struct text text = { 0 };
	char bytes[4096];
	ssize_t count;
	while ((count = read(fd, bytes, sizeof bytes)) != 0) {
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 || text.length > ANSWER_MAX) {
			text_free(&text);
			return error_errno(err, count < 0 ? errno : EFBIG, "cannot read the output of git");
		}
		text_add_n(&text, bytes, (size_t)count);
	}
	answer->length = text.length;
	answer->text = arena_alloc(arena, text.length + 1);
	if (text.length > 0)
		memcpy(answer->text, text.data, text.length);
	text_free(&text);
	return 0;
}

static int start(const char *git, char **argv, const int ends[2], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int number = posix_spawn_file_actions_init(&actions);
	if (number)
		return number;
	number = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!number)
		number = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (!number)
		number = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (!number)
		number = posix_spawn(pid, git, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return number;
}

int git_ask(struct arena *arena, const char *const *arguments, struct git_answer *answer, struct error *err)
{
	const char *git = program_find(arena, "git", err);
	char *argv[ARGUMENTS_MAX + 2] = { 0 };
	int ends[2], status = 0, number, result;
	pid_t pid;

	*answer = (struct git_answer){ .status = -1 };
	if (!git)
		return -1;
	argv[0] = arena_copy(arena, "git");
	for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
		argv[i + 1] = arena_copy(arena, arguments[i]);
	if (pipe(ends) < 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot create a pipe");
	number = start(git, argv, ends, &pid);
	close(ends[1]);
	if (number) {
		close(ends[0]);
		return error_errno(err, number, "cannot start %s", git);
	}
	result = read_answer(arena, ends[0], answer, err);
	close(ends[0]);
	if (child_wait(pid, &status) < 0)
		return error_errno(err, errno, "cannot wait for git");
	answer->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return result;
}

const char *git_ask_line(struct arena *arena, const char *const *arguments, struct error *err)
{
	struct git_answer answer = { 0 };
	if (git_ask(arena, arguments, &answer, err) < 0)
		return NULL;
	if (answer.status != 0 || answer.length == 0) {
		error_set(err, "git %s: exit status %d", arguments[0], answer.status);
		return NULL;
	}
	if (answer.text[answer.length - 1] == '\n')
		answer.text[answer.length - 1] = '\0';
	return answer.text;
}
