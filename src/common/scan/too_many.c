/* SPDX-License-Identifier: Apache-2.0 */
/* The error of a scan with too many matches. A command could make them to keep berm from ever
 * starting again, so the error has a command that ends this state. That command moves files and
 * deletes none: some of them may be the user's. */
#include "common/scan/internal.h"

#include <string.h>

#include "common/base/text.h"

enum {
	LEVELS = 32, /* below the grant; the search for the fullest directory is linear in it */
	COMMAND_BYTES = 800, /* a longer one would be cut in the hint */
};

static size_t count_within(const struct plan_matches *matches, const char *directory)
{
	size_t count = 0;
	for (size_t i = 0; i < matches->count; i++)
		count += path_is_within(matches->items[i].path, directory);
	return count;
}

/* Returns the innermost directory with more than half of the matches, at least the grant around
 * them. The list is sorted, so the match in the middle is in that directory. */
static const char *fullest_directory(const struct plan *plan, const struct plan_matches *matches)
{
	const char *middle = matches->items[matches->count / 2].path;
	const struct plan_grant *grant = plan_grant_for(plan, middle);
	const char *fullest = grant ? grant->path : "/";
	for (unsigned i = 0; i < LEVELS; i++) {
		size_t length = strlen(fullest) + 1;
		const char *slash = strlen(middle) > length ? strchr(middle + length, '/') : NULL;
		const char *inner = slash ? arena_copy_n(plan->arena, middle, (size_t)(slash - middle)) : NULL;
		if (!inner || count_within(matches, inner) <= matches->count / 2)
			break;
		fullest = inner;
	}
	return fullest;
}

/* Adds a test of find(1) for the files that the rule names. False if there is none. */
static bool add_test(struct text *command, const struct rule *rule)
{
	const char *slash = strrchr(rule->text, '/');
	const char *name = slash ? slash + 1 : rule->text;
	if (rule == &rule_host_socket || rule == &rule_host_fifo) {
		text_add(command, " -type %c", rule == &rule_host_fifo ? 'p' : 's');
		return true;
	}
	if (rule->origin.line == 0 || name[0] == '\0' || strcmp(name, "*") == 0 || strcmp(name, "**") == 0)
		return false;
	text_add(command, " -name ");
	text_add_shell_quoted(command, name);
	return true;
}

/* The text is empty if no command is known or it would not fit. */
static void make_command(const struct plan *plan, const char *directory, const struct plan_match *example, struct text *command)
{
	static const char target[] = "\"$(mktemp -d ~/berm-aside.XXXXXX)\"";
	bool is_known = true;
	if (!scan_holds_grant(plan, directory)) {
		text_add(command, "mv ");
		text_add_shell_word(command, directory);
		text_add(command, " %s", target);
	} else {
		text_add(command, "find ");
		text_add_shell_word(command, directory);
		is_known = add_test(command, example->rule);
		text_add(command, " -prune -exec mv --backup=numbered -t %s {} +", target);
	}
	if (!is_known || command->length > COMMAND_BYTES)
		text_free(command);
}

int scan_too_many(const struct plan *plan, const struct scan_results *results, struct error *err)
{
	const struct plan_matches *matches =
		results->masked.count > results->locked.count ? &results->masked : &results->locked;
	struct text command = { 0 };
	const char *directory;

	error_set(err, "too many files and directories are denied or protected here (at most %d; %d with those above them)",
		  SCAN_MATCHES_MAX, SCAN_MOUNTS_MAX);
	if (matches->count == 0)
		return -1;
	directory = fullest_directory(plan, matches);
	error_hint(err, "most of them are in %.200s", directory);
	make_command(plan, directory, &matches->items[matches->count / 2], &command);
	if (command.length > 0)
		error_hint(err, "to move them aside: %s", command.data);
	text_free(&command);
	return -1;
}
