/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up file runs in the home and with a short environment: a project's settings may have
 * set variables such as BASH_ENV, and its directory may contain what the file reads. */
#include "common/shell/user_functions.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/context/programs.h"
#include "common/state/state.h"

enum { SIZE_MAX_BYTES = (1 << 20) - 1, TAKE_MS = 10000, CHUNK = 4096 };

static const char directory_name[] = "functions", file_name[] = "bash";

/* The file's own output does not count. The last line shows that nothing is missing. */
static const char script[] = "exec 3>&1 >/dev/null 2>&1\n"
			     ". ~/.bashrc </dev/null\n"
			     "{ echo 'shopt -s expand_aliases'; builtin declare -f; builtin alias -p; echo '# end'; } >&3\n";
static const char end_mark[] = "# end\n";

const char *user_functions_file(struct arena *arena, const struct context *context)
{
	return path_join(arena, path_join(arena, context->state_directory, directory_name), file_name);
}

/* Runs in the child. */
static void start(struct arena *arena, const struct context *context, const char *bash, int output)
{
	char name[] = "bash", no_profile[] = "--noprofile", no_rc[] = "--norc", dash_c[] = "-c";
	char *words[] = { name, no_profile, no_rc, dash_c, arena_copy(arena, script), NULL };
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", terminal[] = "TERM=dumb", language[] = "LANG=C.UTF-8";
	char *environment[] = { arena_printf(arena, "HOME=%s", context->home), path, terminal, language, NULL };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    setpgid(0, 0) < 0 || chdir(context->home) < 0)
		_exit(126);
	execve(bash, words, environment);
	_exit(127);
}

static void read_all(int fd, struct text *out)
{
	int64_t end = clock_ms() + TAKE_MS;
	char bytes[CHUNK];

	while (out->length <= SIZE_MAX_BYTES) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int64_t left = end - clock_ms();
		ssize_t count;
		if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
			return;
		count = read(fd, bytes, sizeof bytes);
		if (count <= 0)
			return;
		text_add_n(out, bytes, (size_t)count);
	}
}

/* Fills `out` with what the file defines. */
static int run_startup(struct arena *arena, const struct context *context, struct text *out, struct error *err)
{
	const char *bash = program_find(arena, "bash", err);
	autoclose int read_end = -1;
	int ends[2];
	pid_t child;

	if (!bash)
		return -1;
	if (pipe(ends) < 0)
		return error_errno(err, errno, "cannot create a pipe");
	read_end = ends[0];
	child = fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0 ? -1 : fork();
	if (child == 0)
		start(arena, context, bash, ends[1]);
	close(ends[1]);
	if (child < 0)
		return error_errno(err, errno, "cannot start bash");
	read_all(read_end, out);
	kill(-child, SIGKILL);
	child_end(child);
	if (out->length > SIZE_MAX_BYTES || !out->data || memchr(out->data, '\0', out->length) ||
	    !text_ends_with(out->data, end_mark))
		return error_set(err, "~/.bashrc takes too long, defines too much, or ends the shell");
	return 0;
}

static int save(struct arena *arena, const struct context *context, const struct text *text, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };
	autoclose int state = state_open(arena, context->state_directory, true, err), directory = -1;
	const char *shown = path_join(arena, context->state_directory, directory_name);

	if (state < 0)
		return -1;
	directory = state_enter(state, directory_name, shown, true, err);
	if (directory < 0)
		return -1;
	if (text->length == 0)
		return unlinkat(directory, file_name, 0) < 0 && errno != ENOENT
			       ? error_errno(err, errno, "cannot remove %s/%s", shown, file_name)
			       : 0;
	if (private_file_write(directory, file_name, text->data, text->length, &options) < 0)
		return error_errno(err, errno, "cannot write %s/%s", shown, file_name);
	return 0;
}

int user_functions_take(struct arena *arena, const struct context *context, struct error *err)
{
	struct text text = { 0 };
	int status = 0, saved;
	struct error why = { 0 };

	if (access(path_join(arena, context->home, ".bashrc"), R_OK) == 0)
		status = run_startup(arena, context, &text, err);
	if (status < 0)
		text.length = 0;
	saved = save(arena, context, &text, &why);
	text_free(&text);
	if (status == 0 && saved < 0)
		*err = why;
	return status < 0 ? status : saved;
}
