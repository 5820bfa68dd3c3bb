/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises git's complaint about a locked configuration, and ignores everything else. */
#include <greatest.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/backend.h"
#include "common/base/cleanup.h"
#include "linux/view/git_events.h"
#include "linux/view/view.h"
#include "unit/support/scratch.h"

static const struct {
	const char *line;
	unsigned refused;
} rows[] = {
	{ "error could not write config file .git/config: Device or resource busy\n", GIT_REFUSED_CONFIG },
	{ "error could not write config file /home/u/p/.git/config: Device or resource busy\n", GIT_REFUSED_CONFIG },
	{ "error could not write config file ../.git/modules/a/config: Device or resource busy\n", GIT_REFUSED_CONFIG },
	{ "error could not write config file .git/config.worktree: Device or resource busy\n", GIT_REFUSED_CONFIG },
	/* git directories of other names, and a bare one as the working directory */
	{ "error could not write config file other/config: Device or resource busy\n", GIT_REFUSED_CONFIG },
	{ "error could not write config file /p/x.git/config: Device or resource busy\n", GIT_REFUSED_CONFIG },
	{ "error could not write config file config: Device or resource busy\n", GIT_REFUSED_CONFIG },
	/* other reasons */
	{ "error could not write config file .git/config: No space left on device\n", 0 },
	{ "error could not lock config file .git/config: File exists\n", 0 },
	{ "error could not lock config file .git/config: Device or resource busy\n", 0 },
	/* other files */
	{ "error could not write config file other/gitconfig: Device or resource busy\n", 0 },
	{ "error could not write config file my.config: Device or resource busy\n", 0 },
	{ "error could not write config file .git/other: Device or resource busy\n", 0 },
	{ "error could not write config file .git/myconfig: Device or resource busy\n", 0 },
	/* beside the project */
	{ "error could not create leading directories of '../wt/.git': Read-only file system\n", GIT_REFUSED_BESIDE },
	{ "error could not create work tree dir '/home/u/clone': Read-only file system\n", GIT_REFUSED_BESIDE },
	{ "error cannot mkdir ../new: Read-only file system\n", GIT_REFUSED_BESIDE },
	{ "error could not create leading directories of '../wt/.git': Permission denied\n", 0 },
	{ "error could not create work tree dir 'inside': Read-only file system\n", 0 },
	{ "error cannot mkdir ../new: Read-only file system", 0 },
	/* other events with the same words */
	{ "start git commit -m 'error could not write config file .git/config: Device or resource busy'\n", 0 },
	{ "error error could not write config file .git/config: Device or resource busy\n", 0 },
	/* incomplete */
	{ "error could not write config file .git/config: Device or resource busy", 0 },
	{ "error could not write config file \n", 0 },
	{ "error could not write config file : Device or resource busy\n", 0 },
	{ "error", 0 },
	{ "", 0 },
	/* files of the working tree */
	{ "error unable to unlink old '.vscode/settings.json': Read-only file system\n", GIT_REFUSED_FILES },
	{ "error unable to unlink old '.env': Device or resource busy\n", GIT_REFUSED_FILES },
	{ "error unable to unlink 'mise.toml': Device or resource busy\n", GIT_REFUSED_FILES },
	{ "error unable to create file .helix/a: Read-only file system\n", GIT_REFUSED_FILES },
	{ "error unable to unlink old 'a': Permission denied\n", 0 },
	{ "error unable to create file a: No space left on device\n", 0 },
	{ "error unable to unlink old 'a': Read-only file system", 0 },
	{ "error unable to create file \n", 0 },
	{ "start git commit -m 'error unable to unlink old a: Read-only file system'\n", 0 },
};

TEST knows_refusals(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQm(rows[i].line, rows[i].refused, git_events_refusal(rows[i].line, strlen(rows[i].line)));
	PASS();
}

static void say(int fd, const void *data, size_t length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "run/berm/git-events" };
	sendto(fd, data, length, MSG_DONTWAIT, (struct sockaddr *)&address, sizeof address);
}

static int listens(void *data)
{
	char place[] = "/tmp/berm-unit-events.XXXXXX", *long_line = calloc(1, 20000);
	autoclose int root = -1, events = -1, sender = -1;
	(void)data;
	EXPECT(mkdtemp(place) && chdir(place) == 0 && mkdir("run", 0700) == 0 && mkdir("run/berm", 0700) == 0);
	root = open(place, O_PATH | O_CLOEXEC);
	EXPECT(chdir("/") == 0);
	events = git_events_open(root);
	EXPECT(events >= 0);
	sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	EXPECT(!git_events_take(events)); /* empty, and it does not block */
	say(sender, rows[0].line, strlen(rows[0].line));
	EXPECT(git_events_take(events));
	EXPECT(!git_events_take(events)); /* already read */
	say(sender, "", 0);
	memset(long_line, 'x', 20000);
	memcpy(long_line, rows[0].line, strlen("error could not write config file .git/"));
	memcpy(long_line + 20000 - strlen("/config: Device or resource busy\n"), "/config: Device or resource busy\n",
	       strlen("/config: Device or resource busy\n"));
	say(sender, long_line, 20000);
	say(sender, "\0\377\033[2J", 6);
	EXPECT(!git_events_take(events));
	for (int i = 0; i < 200; i++)
		say(sender, "noise\n", 6);
	git_events_take(events);
	say(sender, rows[0].line, strlen(rows[0].line));
	EXPECT(git_events_take(events));
	free(long_line);
	return unlink("run/berm/git-events") || rmdir("run/berm") || rmdir("run") || rmdir(place);
}

TEST takes_what_is_there(void)
{
	ASSERT_EQ(0, scratch_child(listens, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(knows_refusals);
	RUN_TEST(takes_what_is_there);
	GREATEST_MAIN_END();
}
