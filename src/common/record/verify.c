/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the chain: each line of a run has the hash of the line before, the first one that of a
 * line of the ledger, and the ledger has the last one of every finished run. Finds what was changed
 * or removed afterwards. The same user can write a whole new chain: that is not found. */
#include "common/record/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/record/internal.h"
#include "common/state/state.h"

enum { LEDGER_MAX = 256 << 20, PROBLEMS_MAX = 100, TRIES = 10 };

/* A line of the ledger about a run. */
struct entry {
	const char *run, *hash;
	uint64_t seq;
	bool is_seen; /* its file exists */
};
struct hash {
	char hex[SHA256_HEX + 1];
};

struct ledger {
	struct entries {
		struct entry *items; /* sorted by run */
		size_t count;
	} entries;
	struct hashes {
		struct hash *items; /* to which first lines of runs may refer; sorted */
		size_t count;
	} anchors;
	int64_t before_ms; /* runs that started earlier were removed; -1: none */
	off_t size; /* of the file when it was read */
};

struct verifier {
	struct arena *arena;
	struct ledger ledger;
	struct record_verification *result;
};

static void add_problem(struct verifier *verifier, const char *run, const char *text)
{
	if (verifier->result->count < PROBLEMS_MAX)
		*arena_push(verifier->arena, verifier->result) =
			(struct record_problem){ run ? arena_copy(verifier->arena, run) : NULL, text };
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *one = left, *other = right;
	return strcmp(one->run, other->run);
}

static int compare_hashes(const void *left, const void *right)
{
	const struct hash *one = left, *other = right;
	return strcmp(one->hex, other->hex);
}

static void add_anchor(struct verifier *verifier, const char *hex)
{
	struct hash *hash = arena_push(verifier->arena, &verifier->ledger.anchors);
	memcpy(hash->hex, hex, sizeof hash->hex);
}

/* One line of the ledger. `expected` is the hash that it must refer to, and becomes that for the
 * next line. */
static void take_line(struct verifier *verifier, const struct record_line *line, size_t number, bool is_first,
		      char expected[SHA256_HEX + 1])
{
	struct arena *arena = verifier->arena;
	const char *prev = line->is_valid ? record_text(arena, &line->value, "prev") : NULL;
	bool is_pruned = strcmp(line->event, "ledger.pruned") == 0;
	const char *run;

	if (!line->is_valid || !prev || (!is_pruned && strcmp(line->event, "ledger.run") != 0))
		add_problem(verifier, NULL, arena_printf(arena, "line %zu of the ledger is damaged", number));
	/* A line about removed runs is the first one, and starts the chain. */
	else if (strcmp(prev, expected) != 0 && !(is_pruned && is_first))
		add_problem(verifier, NULL,
			    arena_printf(arena,
					 "line %zu of the ledger does not follow the line before: one was changed, "
					 "removed or added",
					 number));
	ledger_hash(line->bytes, line->length, expected);
	add_anchor(verifier, expected);
	if (is_pruned) {
		const char *before = record_text(arena, &line->value, "before");
		verifier->ledger.before_ms = before ? record_time_ms(before) : -1;
		verifier->result->pruned += record_number(&line->value, "runs", 0);
		return;
	}
	run = line->is_valid ? record_text(arena, &line->value, "run") : NULL;
	if (!run || !record_is_id(run, strlen(run), NULL))
		return;
	*arena_push(arena, &verifier->ledger.entries) = (struct entry){ .run = run,
									.hash = record_text(arena, &line->value, "hash"),
									.seq = record_number(&line->value, "seq", UINT64_MAX) };
}

static void parse_ledger(struct verifier *verifier, const char *bytes, size_t length)
{
	struct ledger *ledger = &verifier->ledger;
	char expected[SHA256_HEX + 1];
	struct record_run lines;

	memcpy(expected, record_no_hash, sizeof expected);
	add_anchor(verifier, expected);
	/* Lines that a crash has cut are not counted: the next run removes them. */
	record_parse(verifier->arena, "", bytes, length, &lines);
	for (size_t i = 0; i < lines.lines.count; i++)
		take_line(verifier, &lines.lines.items[i], i + 1, i == 0, expected);
	qsort(ledger->anchors.items, ledger->anchors.count, sizeof *ledger->anchors.items, compare_hashes);
	if (ledger->entries.count > 0)
		qsort(ledger->entries.items, ledger->entries.count, sizeof *ledger->entries.items, compare_entries);
	for (size_t i = 1; i < ledger->entries.count; i++)
		if (strcmp(ledger->entries.items[i].run, ledger->entries.items[i - 1].run) == 0)
			add_problem(verifier, ledger->entries.items[i].run, "the ledger has it twice");
}

static int read_ledger(struct verifier *verifier, const char *state_directory, struct error *err)
{
	struct arena *arena = verifier->arena;
	autoclose int top = state_open(arena, state_directory, false, err);
	autoclose int log = top < 0 ? -1 : state_enter(top, RECORD_DIRECTORY, RECORD_DIRECTORY, false, err);
	autoclose int head = -1;
	struct private_file file = { 0 };

	if (log < 0 && err->number != ENOENT)
		return -1;
	*err = (struct error){ 0 };
	head = log < 0 ? -1 : record_open_file(log, RECORD_LEDGER, O_RDONLY);
	if (head < 0 && (log < 0 || errno == ENOENT)) {
		parse_ledger(verifier, "", 0);
		return 0;
	}
	if (head < 0 || private_file_read_fd(arena, head, LEDGER_MAX, &file) < 0)
		return error_errno(err, errno, "cannot read %s/" RECORD_DIRECTORY "/" RECORD_LEDGER, state_directory);
	verifier->ledger.size = (off_t)file.length;
	parse_ledger(verifier, file.bytes, file.length);
	return 0;
}

/* True if a run has ended since the ledger was read. */
static bool has_grown(const struct verifier *verifier, const char *state_directory)
{
	struct error ignored = { 0 };
	autoclose int top = state_open(verifier->arena, state_directory, false, &ignored);
	autoclose int log = top < 0 ? -1 : state_enter(top, RECORD_DIRECTORY, RECORD_DIRECTORY, false, &ignored);
	struct stat info;
	return log >= 0 && fstatat(log, RECORD_LEDGER, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       info.st_size != verifier->ledger.size;
}

static bool is_old(const struct ledger *ledger, const char *run)
{
	uint64_t ms = 0;
	return ledger->before_ms >= 0 && record_is_id(run, strlen(run), &ms) && ms < (uint64_t)ledger->before_ms;
}

/* The lines of one run. Reports the first problem only: what follows it is not to be trusted. */
static bool check_lines(struct verifier *verifier, const struct record_run *run, char last[SHA256_HEX + 1])
{
	struct arena *arena = verifier->arena;
	memcpy(last, record_no_hash, SHA256_HEX + 1);
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		const char *prev = line->is_valid ? record_text(arena, &line->value, "prev") : NULL;
		const char *id = line->is_valid ? record_text(arena, &line->value, "run") : NULL;
		const struct hash *anchors = verifier->ledger.anchors.items;
		struct hash key = { "" };

		if (!prev || strlen(prev) != SHA256_HEX || !id || record_number(&line->value, "v", 0) != RECORD_VERSION) {
			add_problem(verifier, run->id, arena_printf(arena, "line %zu is damaged", i + 1));
			return false;
		}
		if (strcmp(id, run->id) != 0 || record_number(&line->value, "seq", UINT64_MAX) != i) {
			add_problem(verifier, run->id, arena_printf(arena, "line %zu belongs elsewhere", i + 1));
			return false;
		}
		memcpy(key.hex, prev, sizeof key.hex);
		if (i > 0 ? strcmp(prev, last) != 0
			  : !is_old(&verifier->ledger, run->id) &&
				    !(anchors &&
				      bsearch(&key, anchors, verifier->ledger.anchors.count, sizeof key, compare_hashes))) {
			add_problem(
				verifier, run->id,
				i > 0 ? arena_printf(arena, "line %zu was changed, or lines are missing or in another order", i)
				      : "it refers to a line that the ledger does not have");
			return false;
		}
		record_hash(line->bytes, line->length, last);
	}
	return true;
}

static void check_run(struct verifier *verifier, const struct record_run *run)
{
	struct ledger *ledger = &verifier->ledger;
	const struct entry key = { .run = run->id };
	struct entry *entry = ledger->entries.count == 0 ? NULL
							 : bsearch(&key, ledger->entries.items, ledger->entries.count,
								   sizeof *ledger->entries.items, compare_entries);
	char last[SHA256_HEX + 1];

	verifier->result->runs++;
	verifier->result->lines += run->lines.count;
	if (entry)
		entry->is_seen = true;
	if (!check_lines(verifier, run, last))
		return;
	if (!entry) {
		verifier->result->running += run->is_running;
		verifier->result->unfinished += !run->is_running;
		return;
	}
	if (run->cut > 0 || run->lines.count == 0 || entry->seq != run->lines.count - 1 || !entry->hash ||
	    strcmp(entry->hash, last) != 0)
		add_problem(verifier, run->id, "its end is not the one that the ledger has: it was changed or cut");
}

static void check_absent(struct verifier *verifier)
{
	for (size_t i = 0; i < verifier->ledger.entries.count; i++) {
		const struct entry *entry = &verifier->ledger.entries.items[i];
		if (!entry->is_seen && !is_old(&verifier->ledger, entry->run))
			add_problem(verifier, entry->run, "its record was removed");
	}
}

static int verify_once(struct verifier *verifier, const char *state_directory, const struct record_name *only,
		       struct error *err)
{
	struct record_names names;

	/* First: a run that ends meanwhile is then unfinished, not missing. */
	if (read_ledger(verifier, state_directory, err) < 0 || record_runs(verifier->arena, state_directory, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct arena own = { 0 };
		struct record_run run;
		if (only && strcmp(only->id, names.items[i].id) != 0)
			continue;
		if (record_read(&own, state_directory, &names.items[i], &run, err) == 0)
			check_run(verifier, &run);
		else
			add_problem(verifier, names.items[i].id, arena_copy(verifier->arena, err->message));
		*err = (struct error){ 0 };
		arena_free(&own);
	}
	if (!only)
		check_absent(verifier);
	return 0;
}

/* Runs that start and end meanwhile look like damage: after a change of the ledger problems count
 * only if they are found again. */
int record_verify(struct arena *arena, const char *state_directory, const struct record_name *only,
		  struct record_verification *result, struct error *err)
{
	for (int tries = 0;; tries++) {
		struct verifier verifier = { .arena = arena, .result = result, .ledger = { .before_ms = -1 } };
		*result = (struct record_verification){ 0 };
		if (verify_once(&verifier, state_directory, only, err) < 0)
			return -1;
		if (result->count == 0 || tries == TRIES || !has_grown(&verifier, state_directory))
			return 0;
	}
}
