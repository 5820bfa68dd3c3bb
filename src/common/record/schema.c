/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the record as a JSON Schema, from one table of fields. Fields may be added in later
 * versions: readers keep what they do not know. */
#include "common/record/internal.h"

#include <string.h>

#include "common/policy/guarantee.h"

enum field_type {
	FIELD_TEXT,
	FIELD_BYTES, /* text, or an object with b64 if it is no UTF-8 */
	FIELD_BYTES_LIST,
	FIELD_TEXT_LIST,
	FIELD_NUMBER,
	FIELD_BOOLEAN,
	FIELD_COUNTS, /* an object of numbers */
	FIELD_LEVELS, /* an object of guarantees */
	FIELD_POLICIES,
	FIELD_HIDDEN,
	FIELD_HASH,
	FIELD_ID,
	FIELD_MOMENT,
};

struct field {
	const char *event; /* NULL: of every line of a run */
	const char *name;
	enum field_type type;
	bool is_required;
	const char *choices; /* separated by |; or NULL */
	const char *help;
};

static const struct field fields[] = {
	{ NULL, "run", FIELD_ID, true, NULL, "The run: a UUID of version 7, which is also the name of the file." },
	{ NULL, "seq", FIELD_NUMBER, true, NULL, "The number of the line, from 0, without gaps." },
	{ NULL, "time", FIELD_MOMENT, true, NULL, "UTC, by the clock that can be set." },
	{ NULL, "mono", FIELD_NUMBER, true, NULL, "Nanoseconds of a clock that never goes back." },
	{ NULL, "prev", FIELD_HASH, true, NULL,
	  "SHA-256 of the line before, without its end; of the first line: of the ledger's last line then." },

	{ "run.start", "argv", FIELD_BYTES_LIST, true, NULL, "The command, redacted." },
	{ "run.start", "argv_cut", FIELD_COUNTS, false, NULL,
	  "If argv is cut: words, bytes and SHA-256 of the whole, redacted." },
	{ "run.start", "cwd", FIELD_BYTES, true, NULL, "The working directory." },
	{ "run.start", "project", FIELD_BYTES, true, NULL, "The project." },
	{ "run.start", "uid", FIELD_NUMBER, true, NULL, "The user." },
	{ "run.start", "pid", FIELD_NUMBER, true, NULL, "The launcher, in the host's namespace." },
	{ "run.start", "agent", FIELD_TEXT, false, NULL, "The agent of `berm agent`." },
	{ "run.start", "version", FIELD_TEXT, true, NULL, "The version of berm." },
	{ "run.start", "system", FIELD_TEXT, true, NULL, "The kernel." },
	{ "run.start", "tier", FIELD_TEXT, true, "full|landlock", "The tier." },
	{ "run.start", "network", FIELD_TEXT, true, "none|allow|all", "The mode of the network." },
	{ "run.start", "policies", FIELD_POLICIES, false, NULL, "The policies that the plan was made from." },
	{ "run.start", "guarantees", FIELD_LEVELS, true, NULL, "The level of each guarantee in this run." },
	{ "run.start", "weaker", FIELD_TEXT_LIST, true, NULL, "Guarantees that are weaker than required, as accepted." },
	{ "run.start", "hidden", FIELD_HIDDEN, true, NULL, "Files of the project that are hidden, the first of them by name." },

	{ "net", "decision", FIELD_TEXT, true, "allowed|refused|failed", "failed: allowed by the policy, and not reached." },
	{ "net", "host", FIELD_BYTES, false, NULL, "The name or address as asked for; absent if it is not known." },
	{ "net", "port", FIELD_NUMBER, false, NULL, "The port." },
	{ "net", "count", FIELD_NUMBER, true, NULL, "How often." },
	{ "net", "reason", FIELD_BYTES, false, NULL, "Why." },
	{ "net", "allowable", FIELD_BOOLEAN, false, NULL, "True if a rule could allow it." },

	{ "file.denied", "path", FIELD_BYTES, true, NULL, "The path." },
	{ "file.denied", "operation", FIELD_TEXT, true, "create", "What was refused." },
	{ "file.denied", "reason", FIELD_BYTES, true, NULL, "Why." },
	{ "file.denied", "liftable", FIELD_BOOLEAN, true, NULL, "True if an entry of files.write would allow it." },

	{ "git", "refused", FIELD_TEXT, true, "config|files", "What git reported that it could not change." },

	{ "plant", "path", FIELD_BYTES, true, NULL, "A new file that programs of the host would obey." },
	{ "plant", "action", FIELD_TEXT, true, "kept|reported|opened|left|quarantined|edited|undone|failed", "What berm did." },
	{ "plant", "reason", FIELD_BYTES, false, NULL, "Why." },
	{ "plant", "quarantine", FIELD_TEXT, false, NULL, "The id for `berm quarantine`." },
	{ "plant", "leftover", FIELD_BOOLEAN, false, NULL, "True if an earlier run that was killed left it." },

	{ "repair", "path", FIELD_BYTES, true, NULL, "A hidden or protected file that was replaced or appeared." },
	{ "repair", "kind", FIELD_TEXT, true, "hidden|locked|new-hidden|new-locked|not-public|own|quarantined|stuck",
	  "What happened." },
	{ "repair", "exposed_us", FIELD_NUMBER, true, NULL, "The longest time it was reachable, in microseconds." },
	{ "repair", "count", FIELD_NUMBER, true, NULL, "How often." },
	{ "repair", "detail", FIELD_BYTES, false, NULL, "The id for `berm quarantine`, or the reason." },

	{ "limit", "limit", FIELD_TEXT, true, "memory|processes|cpus|time|disk|open_files|file_size", "The limit." },
	{ "limit", "message", FIELD_TEXT, true, NULL, "One sentence." },

	{ "run.end", "outcome", FIELD_TEXT, true, "done|refused", "refused: nothing ran." },
	{ "run.end", "exit_code", FIELD_NUMBER, true, NULL, "The exit status of berm." },
	{ "run.end", "signal", FIELD_NUMBER, false, NULL, "The signal that ended the command." },
	{ "run.end", "reason", FIELD_BYTES, false, NULL, "Why berm ended or refused the run." },
	{ "run.end", "user_us", FIELD_NUMBER, false, NULL, "Processor time of the sandbox in microseconds." },
	{ "run.end", "system_us", FIELD_NUMBER, false, NULL, "The same in the kernel." },
	{ "run.end", "max_rss_kb", FIELD_NUMBER, false, NULL, "Memory of its largest process." },
	{ "run.end", "counts", FIELD_COUNTS, true, NULL, "Events of each kind, written or not." },
	{ "run.end", "duration_ms", FIELD_NUMBER, true, NULL, "Time since the start of the record." },
	{ "run.end", "cut", FIELD_NUMBER, true, NULL, "Events that were not written because the file was too large." },
	{ "run.end", "lost", FIELD_NUMBER, true, NULL, "Events that could not be written." },

	{ "log.folded", "of", FIELD_TEXT, true, NULL, "An event that came too often in a second." },
	{ "log.folded", "count", FIELD_NUMBER, true, NULL, "How many were not written." },
	{ "log.cut", "size", FIELD_NUMBER, true, NULL, "The size of the file, to which only the last line is added." },

	{ "ledger.run", "time", FIELD_MOMENT, true, NULL, "The end of the run." },
	{ "ledger.run", "run", FIELD_ID, true, NULL, "A run that has ended." },
	{ "ledger.run", "seq", FIELD_NUMBER, true, NULL, "The number of its last line." },
	{ "ledger.run", "hash", FIELD_HASH, true, NULL, "SHA-256 of its last line." },
	{ "ledger.run", "prev", FIELD_HASH, true, NULL, "SHA-256 of the line before in the ledger." },
	{ "ledger.pruned", "time", FIELD_MOMENT, true, NULL, "When old runs were removed." },
	{ "ledger.pruned", "before", FIELD_MOMENT, true, NULL, "Runs that started before are gone." },
	{ "ledger.pruned", "runs", FIELD_NUMBER, true, NULL, "How many lines of the ledger are gone." },
	{ "ledger.pruned", "prev", FIELD_HASH, true, NULL, "SHA-256 of the last of them, to which the next line refers." },
};

enum { FIELDS = sizeof fields / sizeof fields[0] };

static const char hash_pattern[] = "^[0-9a-f]{64}$";
static const char id_pattern[] = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
static const char moment_pattern[] = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$";

static void add_bytes(struct json *json)
{
	json_list(json, "oneOf");
	json_object(json, NULL);
	json_string(json, "type", "string");
	json_object_end(json);
	json_object(json, NULL);
	json_string(json, "type", "object");
	json_list(json, "required");
	json_string(json, NULL, "b64");
	json_list_end(json);
	json_object_end(json);
	json_list_end(json);
}

static void add_list_of(struct json *json, void (*add)(struct json *json))
{
	json_string(json, "type", "array");
	json_object(json, "items");
	add(json);
	json_object_end(json);
}

static void add_string(struct json *json)
{
	json_string(json, "type", "string");
}

static void add_object(struct json *json)
{
	json_string(json, "type", "object");
}

static void add_levels(struct json *json)
{
	json_string(json, "type", "object");
	json_list(json, "required");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		json_string(json, NULL, guarantee_table[i].name);
	json_list_end(json);
}

static void add_hidden(struct json *json)
{
	json_string(json, "type", "object");
	json_list(json, "required");
	json_string(json, NULL, "count");
	json_string(json, NULL, "items");
	json_list_end(json);
	json_object(json, "properties");
	json_object(json, "count");
	json_string(json, "type", "integer");
	json_object_end(json);
	json_object(json, "items");
	add_list_of(json, add_object);
	json_object_end(json);
	json_object_end(json);
}

static void add_text(struct json *json, const char *pattern)
{
	json_string(json, "type", "string");
	json_string(json, "pattern", pattern);
}

static void add_choices(struct json *json, const char *choices)
{
	json_list(json, "enum");
	while (*choices) {
		char name[32] = "";
		size_t length = strcspn(choices, "|");
		memcpy(name, choices, length < sizeof name ? length : 0);
		json_string(json, NULL, name);
		choices += length + (choices[length] == '|');
	}
	json_list_end(json);
}

static void add_type(struct json *json, const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
		add_string(json);
		break;
	case FIELD_BYTES:
		add_bytes(json);
		break;
	case FIELD_BYTES_LIST:
		add_list_of(json, add_bytes);
		break;
	case FIELD_TEXT_LIST:
		add_list_of(json, add_string);
		break;
	case FIELD_NUMBER:
		json_string(json, "type", "integer");
		json_number(json, "minimum", 0);
		break;
	case FIELD_BOOLEAN:
		json_string(json, "type", "boolean");
		break;
	case FIELD_COUNTS:
		add_object(json);
		break;
	case FIELD_LEVELS:
		add_levels(json);
		break;
	case FIELD_POLICIES:
		add_list_of(json, add_object);
		break;
	case FIELD_HIDDEN:
		add_hidden(json);
		break;
	case FIELD_HASH:
		add_text(json, hash_pattern);
		break;
	case FIELD_ID:
		add_text(json, id_pattern);
		break;
	case FIELD_MOMENT:
		add_text(json, moment_pattern);
		break;
	}
}

static void add_field(struct json *json, const struct field *field)
{
	json_object(json, field->name);
	json_string(json, "description", field->help);
	add_type(json, field);
	if (field->choices)
		add_choices(json, field->choices);
	json_object_end(json);
}

static bool belongs(const struct field *field, const char *event)
{
	return field->event ? strcmp(field->event, event) == 0 : !text_starts_with(event, "ledger.");
}

static void add_event(struct json *json, const char *event)
{
	json_object(json, NULL);
	json_string(json, "title", event);
	json_string(json, "type", "object");
	json_list(json, "required");
	json_string(json, NULL, "v");
	json_string(json, NULL, "event");
	for (size_t i = 0; i < FIELDS; i++)
		if (belongs(&fields[i], event) && fields[i].is_required)
			json_string(json, NULL, fields[i].name);
	json_list_end(json);
	json_object(json, "properties");
	json_object(json, "v");
	json_number(json, "const", RECORD_VERSION);
	json_object_end(json);
	json_object(json, "event");
	json_string(json, "const", event);
	json_object_end(json);
	for (size_t i = 0; i < FIELDS; i++)
		if (belongs(&fields[i], event))
			add_field(json, &fields[i]);
	json_object_end(json);
	json_object_end(json);
}

void record_schema(struct text *out)
{
	struct json json = { .out = out };

	json_object(&json, NULL);
	json_string(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_string(&json, "title", "a line of the record of runs, or of its ledger");
	json_list(&json, "oneOf");
	for (int i = 0; i < RECORD_EVENT_COUNT; i++)
		add_event(&json, record_event_name((enum record_event)i));
	add_event(&json, "ledger.run");
	add_event(&json, "ledger.pruned");
	json_list_end(&json);
	json_object_end(&json);
}
