/* SPDX-License-Identifier: Apache-2.0 */
/* `berm quarantine`: what was taken out of projects after a run, and the way back. */
#include "common/cli/commands.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/cli/listing.h"
#include "common/cli/verbs.h"
#include "common/state/quarantine.h"

enum { CONTENT_MAX = 64 << 10, NAMES_MAX = 200 };

static int print_help(void)
{
	return report_help("berm quarantine [list] [options]  list what is in quarantine, the newest first\n"
			   "berm quarantine show ID           print one entry with its content\n"
			   "berm quarantine restore ID        put it back where it was\n"
			   "berm quarantine drop ID|--all     remove it for ever\n\n"
			   "After a run, new files of the project that programs of the host would obey are\n"
			   "moved here, or lines in them become comments and the original is kept here.\n"
			   "restore never overwrites a file.\n\n",
			   COMMAND_QUARANTINE, "Exit status: 0 done; 1 not confirmed; 125 an error.\n");
}

static void add_json(struct json *json, const void *item)
{
	const struct quarantine_entry *entry = item;
	json_object(json, NULL);
	json_string(json, "id", entry->id);
	json_string(json, "path", entry->path);
	json_string(json, "project", entry->project_key);
	json_string(json, "reason", entry->reason);
	json_string(json, "type", entry->type);
	json_number(json, "mode", entry->mode);
	json_number(json, "time", (uint64_t)entry->time);
	json_number(json, "run", (uint64_t)entry->run);
	json_boolean(json, "edited", entry->edited != NULL);
	json_boolean(json, "beside", entry->is_beside);
	json_object_end(json);
}

static void print_entries(struct session *session, const struct quarantine_entries *entries)
{
	static const char *const titles[TABLE_COLUMNS_MAX] = { "id", "time", "kind", "path" };
	struct table table = listing_table(session, "nothing is in quarantine");

	memcpy(table.titles, titles, sizeof titles);
	for (size_t i = 0; i < entries->count; i++) {
		const struct quarantine_entry *entry = &entries->items[i];
		const char *cells[TABLE_COLUMNS_MAX] = { entry->id, arguments_date(&session->arena, entry->time),
							 entry->edited ? "edited" : entry->type, entry->path };
		table_add(&table, MARK_NONE, cells);
	}
	table_print(&table);
}

static int list(struct session *session, const char *word)
{
	struct quarantine_entries entries = { 0 };
	struct error err = { 0 };
	int status = listing_begin(session, "quarantine", word);

	if (status != 0)
		return status;
	if (quarantine_list(&session->arena, session->context.state_directory, &entries, &err) < 0)
		return report_error(&err);
	if (session->options.wants_json)
		status = listing_print_json(entries.items, entries.count, sizeof *entries.items, add_json);
	else
		print_entries(session, &entries);
	if (entries.damaged)
		fprintf(stderr, "berm: %zu damaged entr%s in %s/quarantine\n", entries.damaged,
			entries.damaged == 1 ? "y" : "ies", session->context.state_directory);
	return status;
}

/* Finds the entry that the word names. */
static int find(struct session *session, const char *word, struct quarantine_entry *entry, struct error *err)
{
	if (!word) {
		error_set(err, "which one: an id is missing");
		return error_hint(err, "`berm quarantine list` shows the ids");
	}
	if (session_detect(session, err) < 0)
		return -1;
	return quarantine_find(&session->arena, session->context.state_directory, word, entry, err);
}

static void add_names(struct arena *arena, struct text *out, int own)
{
	int fd = openat(own, quarantine_content, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	autoclosedir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t count = 0;

	if (!stream && fd >= 0)
		close(fd);
	while (stream && (entry = readdir(stream)) && count < NAMES_MAX)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			text_add(out, "  %s\n", text_visible(arena, entry->d_name));
			count++;
		}
	if (count == NAMES_MAX)
		text_add(out, "  ...\n");
}

/* Line by line, so that nothing in the file is obeyed by the terminal. */
static void add_text(struct text *out, const char *bytes, size_t length)
{
	for (size_t at = 0, end; at < length; at = end) {
		const char *newline = memchr(bytes + at, '\n', length - at);
		end = newline ? (size_t)(newline - bytes) + 1 : length;
		text_add(out, "  ");
		text_add_visible(out, bytes + at, end - at - (newline != NULL));
		text_add(out, "\n");
	}
}

static void add_content(struct arena *arena, struct text *out, int own, const struct quarantine_entry *entry)
{
	char bytes[PATH_MAX];
	struct private_file file;
	ssize_t length;

	if (entry->is_beside)
		text_add(out, "content    in its directory, as %s\n", quarantine_beside_name(arena, entry->id));
	else if (entry->type && strcmp(entry->type, "directory") == 0)
		add_names(arena, out, own);
	else if ((length = readlinkat(own, quarantine_content, bytes, sizeof bytes)) >= 0)
		add_text(out, bytes, (size_t)length);
	else if (private_file_read(arena, own, quarantine_content, 0, CONTENT_MAX, &file) == 0)
		add_text(out, file.bytes, file.length);
	else
		text_add(out, "content    not shown: %s\n", errno == EFBIG ? "too large" : "not a regular file");
}

static int show(struct session *session, const char *word)
{
	struct quarantine_entry entry = { 0 };
	struct text out = { 0 };
	struct json json = { .out = &out };
	struct error err = { 0 };
	autoclose int own = -1;

	if (find(session, word, &entry, &err) < 0)
		return report_error(&err);
	own = quarantine_open(&session->arena, session->context.state_directory, entry.id, &err);
	if (own < 0)
		return report_error(&err);
	if (session->options.wants_json) {
		add_json(&json, &entry);
		return report_text(&out);
	}
	text_add(&out, "path       %s\n", text_visible(&session->arena, entry.path));
	text_add(&out, "type       %s, mode %04o%s\n", entry.type, (unsigned)entry.mode,
		 entry.edited ? "; the file was edited, this is the original" : "");
	text_add(&out, "time       %s, run %lld\n", arguments_date(&session->arena, entry.time), (long long)entry.run);
	text_add(&out, "reason     %s\n", text_visible(&session->arena, entry.reason));
	add_content(&session->arena, &out, own, &entry);
	return report_text(&out);
}

static int restore(struct session *session, const char *word)
{
	struct quarantine_entry entry = { 0 };
	struct error err = { 0 };

	if (arguments_refuse_inside("only the user puts files back", &err) < 0 || find(session, word, &entry, &err) < 0 ||
	    quarantine_restore(&session->arena, session->context.state_directory, &entry, &err) < 0)
		return report_error(&err);
	printf("restored: %s\n", text_visible(&session->arena, entry.path));
	return 0;
}

static int drop_one(struct session *session, const struct quarantine_entry *entry)
{
	struct error err = { 0 };
	if (quarantine_drop(&session->arena, session->context.state_directory, entry, &err) < 0)
		return report_error(&err);
	printf("removed: %s\n", text_visible(&session->arena, entry->path));
	return 0;
}

/* Lists the entries to remove: one, or all. */
static int choose(struct session *session, const char *word, struct quarantine_entries *entries, struct error *err)
{
	struct quarantine_entry entry = { 0 };
	if (!session->options.wants_all) {
		if (find(session, word, &entry, err) < 0)
			return -1;
		*entries = (struct quarantine_entries){ 0 };
		*(struct quarantine_entry *)arena_push(&session->arena, entries) = entry;
		return 0;
	}
	if (word)
		return error_set(err, "--all excludes an id");
	if (session_detect(session, err) < 0)
		return -1;
	return quarantine_list(&session->arena, session->context.state_directory, entries, err);
}

static int drop(struct session *session, const char *word)
{
	struct quarantine_entries entries = { 0 };
	struct error err = { 0 };
	int answer = 1, status = 0;

	if (arguments_refuse_inside("only the user removes files", &err) < 0 || choose(session, word, &entries, &err) < 0)
		return report_error(&err);
	if (!session->options.is_yes && entries.count > 0)
		answer = arguments_confirm(arena_printf(&session->arena, "Remove %zu file%s or director%s for ever?",
							entries.count, entries.count == 1 ? "" : "s",
							entries.count == 1 ? "y" : "ies"),
					   "without asking: berm quarantine drop --yes ID", &err);
	if (answer <= 0)
		return answer < 0 ? report_error(&err) : 1;
	for (size_t i = 0; i < entries.count; i++)
		if (drop_one(session, &entries.items[i]) != 0)
			status = 125;
	return status;
}

static const struct verb verbs[] = {
	{ "list", COMMAND_QUARANTINE_LIST, list },
	{ "show", COMMAND_QUARANTINE_SHOW, show },
	{ "restore", COMMAND_QUARANTINE_SHOW, restore },
	{ "drop", COMMAND_QUARANTINE_DROP, drop },
};

int cmd_quarantine(int argc, char **argv)
{
	static const struct verbs quarantine = { "quarantine", verbs, sizeof verbs / sizeof verbs[0], print_help };
	return verbs_run(&quarantine, argc, argv);
}
