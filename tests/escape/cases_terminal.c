/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on the terminal. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void nothing_typed(struct trial *trial)
{
	expect(trial, trial->terminal_state->queued == 0, "the terminal has %d bytes that nobody typed",
	       trial->terminal_state->queued);
}

static void foreign_terminals(struct trial *trial)
{
	char name[64], text[64];
	int other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (other < 0 || grantpt(other) || unlockpt(other) || ptsname_r(other, name, sizeof name))
		die("posix_openpt");
	int held = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	CONTAIN(trial, "write", name);
	fcntl(other, F_SETFL, O_NONBLOCK);
	ssize_t length = read(other, text, sizeof text - 1);
	text[length > 0 ? length : 0] = '\0';
	/* The control wrote one line. */
	char *first = strstr(text, "PLANTED");
	expect(trial, first && !strstr(first + 1, "PLANTED"), "a line reached another terminal");
	close(held);
	close(other);
	if (geteuid() == 0)
		CONTAIN(trial, "open", "/dev/tty0", "/dev/tty1", "/dev/console", "/dev/vcs", "/dev/vcsa1", "/dev/ttyS0");
}

static bool has_control(const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if ((c < ' ' && c != '\n' && c != '\t') || c == 127)
			return true;
	}
	return false;
}

static void escape_in_names(struct trial *trial)
{
	static const char evil[] = "no\033]0;pwned\007\033[2Jsuch";
	char *path = path_of("%s/.env.%s", trial->world.project, evil);
	make_file(path, trial->world.token, 0644);
	BARE(trial, "/bin/sh", "-c", "printf %s \"$1\"", "sh", evil);
	expect(trial, has_control(trial->outcome.out), "control: the bytes do not arrive");
	INSIDE(trial, path_of("./%s", evil));
	expect(trial, trial->outcome.exit_code == 127 && strstr(trial->outcome.err, "such"), "a missing command is not named");
	expect(trial, !has_control(trial->outcome.err), "an error message carries control bytes");
	BERM(trial, "check", "read", path);
	expect(trial, !has_control(trial->outcome.out) && !has_control(trial->outcome.err), "check prints control bytes");
	BERM(trial, "plan", "-v");
	expect(trial, strstr(trial->outcome.out, ".env") != NULL, "plan does not name the denied file");
	expect(trial, !has_control(trial->outcome.out) && !has_control(trial->outcome.err), "plan prints control bytes");
	BERM(trial, "run", path_of("--project=/%s", evil), "--", "/bin/true");
	expect(trial, trial->outcome.exit_code == 125 && !has_control(trial->outcome.err),
	       "a bad option carries control bytes");
}

static bool is_same(const struct terminal_state *state)
{
	return state->before.c_iflag == state->after.c_iflag && state->before.c_oflag == state->after.c_oflag &&
	       state->before.c_lflag == state->after.c_lflag && state->before.c_cflag == state->after.c_cflag;
}

static void terminal_left_broken(struct trial *trial)
{
	struct terminal_state *state = trial->terminal_state;
	BARE(trial, "$ATTACK", "spoil-terminal");
	expect(trial, !is_same(state), "control: the terminal is not spoilt");
	expect(trial, state->foreground != state->job, "control: the foreground group is not taken");
	INSIDE(trial, "$ATTACK", "spoil-terminal");
	expect(trial, trial->outcome.exit_code == 0, "the command ended with %d", trial->outcome.exit_code);
	expect(trial, is_same(state), "the terminal's settings are not restored");
	expect(trial, state->foreground == state->job, "the foreground group is not given back");
}

/* Beyond settings and groups: what else of a terminal is shared with the shell. */
static void terminal_left_unusable(struct trial *trial)
{
	struct terminal_state *state = trial->terminal_state;
	BARE(trial, "$ATTACK", "block-terminal");
	expect(trial, state->exclusive && (state->flags & O_NONBLOCK) && state->discipline,
	       "control: the terminal is not spoilt");
	INSIDE(trial, "$ATTACK", "block-terminal");
	expect(trial, state->discipline == 0, "the terminal is left with line discipline %d", state->discipline);
	expect(trial, state->exclusive == 0, "the terminal is left in exclusive mode");
	expect(trial, !(state->flags & (O_NONBLOCK | O_ASYNC)), "standard input is left non-blocking");
}

const struct escape_case cases_terminal[] = {
	{ 1, "ioctl TIOCSTI types into the terminal", NEED_TERMINAL, NULL, { "tiocsti" }, nothing_typed, NULL, 0 },
	{ 2, "TIOCSTI with the high 32 bits set", NEED_TERMINAL, NULL, { "tiocsti-high" }, nothing_typed, NULL, 0 },
	{ 3, "ioctl TIOCLINUX", NEED_TERMINAL, NULL, { "tioclinux" }, NULL, NULL, 0 },
	{ 4, "another terminal, the console", 0, NULL, { NULL }, NULL, foreign_terminals, 0 },
	{ 6, "a file name with ESC in messages", 0, NULL, { NULL }, NULL, escape_in_names, 0 },
	{ 7,
	  "terminal left raw, foreign foreground group, stopped job",
	  NEED_TERMINAL,
	  NULL,
	  { NULL },
	  NULL,
	  terminal_left_broken,
	  0 },
	{ 152,
	  "terminal left with a line discipline, exclusive, non-blocking",
	  NEED_TERMINAL,
	  NULL,
	  { NULL },
	  NULL,
	  terminal_left_unusable,
	  0 },
	{ 0 },
};
