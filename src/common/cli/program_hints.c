/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/program_hints.h"

#include <stddef.h>
#include <string.h>

#include "common/fs/path.h"

#define ALWAYS(hint) hint, hint

static const struct {
	const char *names[PROGRAM_NAMES_MAX];
	const char *hint;
	const char *nested; /* with nesting: true; NULL: it works then */
} hints[] = {
	{ { "sudo", "su", "doas", "pkexec" },
	  ALWAYS("nothing inside can become root: setuid does not work there, and no program gains privileges; do not "
		 "retry, ask the user to run that command outside berm") },
	{ { "chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell" },
	  "the browser's own sandbox needs namespaces: add --no-sandbox (berm is around it), or nesting: true in the policy",
	  NULL },
	{ { "bwrap", "firejail", "unshare", "podman", "buildah" },
	  "a sandbox that mounts cannot be built inside berm: turn that sandbox off, berm is around it (nesting: true permits "
	  "user namespaces, but no mounts)",
	  "nesting: true permits user namespaces, but Landlock refuses mounts inside: turn that sandbox off, berm is around "
	  "it" },
	{ { "perf" }, ALWAYS("perf_event_open is refused inside: measure outside berm") },
	{ { "docker", "docker-compose", "nerdctl" },
	  ALWAYS("the container engine's socket is not reachable inside, because it gives access to the whole machine") },
};

/* A word that starts a command, or the program's name. */
struct word {
	const char *start;
	size_t length;
};

static bool is_one_of(const char *const names[PROGRAM_NAMES_MAX], struct word word)
{
	for (size_t i = 0; i < PROGRAM_NAMES_MAX && names[i]; i++)
		if (strlen(names[i]) == word.length && memcmp(names[i], word.start, word.length) == 0)
			return true;
	return false;
}

static struct word base_name(struct word word)
{
	for (size_t i = word.length; i-- > 0;)
		if (word.start[i] == '/')
			return (struct word){ word.start + i + 1, word.length - i - 1 };
	return word;
}

/* The words of a command so far. */
struct position {
	bool is_start; /* the next word can be a program */
	bool is_wrapped; /* a program that runs another one came before: its options may follow */
};

/* True if the word is a program. Variables, and the options and durations of a program that runs
 * another one, come before one. */
static bool take_word(struct position *position, struct word word)
{
	static const char *const wrappers[PROGRAM_NAMES_MAX] = { "env", "timeout", "nice", "nohup", "xvfb-run", "exec" };
	bool is_prefix = memchr(word.start, '=', word.length) ||
			 (position->is_wrapped && (word.start[0] == '-' || (word.start[0] >= '0' && word.start[0] <= '9')));
	if (!position->is_start || is_prefix)
		return false;
	position->is_wrapped = is_one_of(wrappers, base_name(word));
	position->is_start = position->is_wrapped;
	return true;
}

/* Finds the next word of the string that is a program. False at the end. */
static bool next_program(const char **string, struct position *position, struct word *found)
{
	static const char blanks[] = " \t", operators[] = ";&|(\n`";
	while (**string) {
		struct word word = { *string, strcspn(*string, " \t;&|(\n`") };
		bool is_program = word.length > 0 && take_word(position, word);
		*string += word.length;
		if (**string && strchr(operators, **string))
			*position = (struct position){ .is_start = true };
		if (**string && (strchr(operators, **string) || strchr(blanks, **string)))
			++*string;
		if (is_program) {
			*found = base_name(word);
			return true;
		}
	}
	return false;
}

/* The string of `sh -c STRING`, or NULL. */
static const char *string_of(char *const *argv)
{
	static const char *const shells[PROGRAM_NAMES_MAX] = { "sh", "bash", "dash", "zsh" };
	const char *name = path_base_name(argv[0]);
	return is_one_of(shells, (struct word){ name, strlen(name) }) && argv[1] && strcmp(argv[1], "-c") == 0 ? argv[2] : NULL;
}

bool program_is_started(char *const *argv, const char *const names[PROGRAM_NAMES_MAX])
{
	const char *string = string_of(argv);
	struct position position = { .is_start = true };
	struct word word;
	for (size_t i = 0; !string && argv[i] && position.is_start; i++) {
		word = (struct word){ argv[i], strlen(argv[i]) };
		if (word.length > 0 && take_word(&position, word) && is_one_of(names, base_name(word)))
			return true;
	}
	while (string && next_program(&string, &position, &word))
		if (is_one_of(names, word))
			return true;
	return false;
}

const char *program_hint(char *const *argv, bool has_nesting)
{
	for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
		if (program_is_started(argv, hints[i].names))
			return has_nesting ? hints[i].nested : hints[i].hint;
	return NULL;
}
