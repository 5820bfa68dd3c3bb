/* SPDX-License-Identifier: Apache-2.0 */
/* Records for other programs: the lines themselves, CSV, OpenTelemetry logs (OTLP as JSON) and OCSF
 * 1.8, one event per line. Class and activity numbers are those of the published schema. */
#include "common/record/describe.h"

#include <string.h>

#include "common/record/internal.h"

static const char *const format_names[RECORD_FORMAT_COUNT] = {
	[RECORD_NDJSON] = "ndjson",
	[RECORD_CSV] = "csv",
	[RECORD_OTLP] = "otlp-json",
	[RECORD_OCSF] = "ocsf",
};

bool record_format_parse(const char *name, enum record_format *format)
{
	for (int i = 0; i < RECORD_FORMAT_COUNT; i++)
		if (strcmp(name, format_names[i]) == 0) {
			*format = (enum record_format)i;
			return true;
		}
	return false;
}

static bool is_event(const struct record_line *line, enum record_event event)
{
	return strcmp(line->event, record_event_name(event)) == 0;
}

static uint64_t time_ms(struct arena *arena, const struct record_line *line)
{
	const char *text = record_text(arena, &line->value, "time");
	int64_t ms = text ? record_time_ms(text) : -1;
	return ms < 0 ? 0 : (uint64_t)ms;
}

/* A path or destination. */
static const char *subject(struct arena *arena, const struct record_line *line)
{
	const char *host = record_text(arena, &line->value, "host"), *path = record_text(arena, &line->value, "path");
	return host ? host : path ? path : "";
}

/* A cell that a spreadsheet would take for a formula gets an apostrophe. */
static void add_cell(struct text *out, const char *text, const char *end)
{
	text_add(out, "\"%s", text[0] && strchr("=+-@\t\r", text[0]) ? "'" : "");
	for (; *text; text++)
		text_add(out, "%s%c", *text == '"' ? "\"" : "", *text == '\n' || *text == '\r' ? ' ' : *text);
	text_add(out, "\"%s", end);
}

static void add_csv(struct arena *arena, const struct record_run *run, const struct record_line *line, struct text *out)
{
	const char *const names[] = { "time", "run", "event" }, *decision;
	const char *project = run->start ? record_text(arena, &run->start->value, "project") : NULL;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *text = record_text(arena, &line->value, names[i]);
		add_cell(out, text ? text : "", ",");
	}
	add_cell(out, text_visible(arena, project ? project : ""), ",");
	add_cell(out, text_visible(arena, subject(arena, line)), ",");
	decision = record_text(arena, &line->value, "decision");
	add_cell(out, decision ? text_visible(arena, decision) : "", ",");
	text_add(out, "%llu,", (unsigned long long)record_number(&line->value, "count", 1));
	add_cell(out, record_summary(arena, line), "\r\n");
}

static void add_attribute(struct json *json, const char *key, const char *value)
{
	if (!value)
		return;
	json_object(json, NULL);
	json_string(json, "key", key);
	json_object(json, "value");
	json_string(json, "stringValue", value);
	json_object_end(json);
	json_object_end(json);
}

static void add_number_attribute(struct json *json, const char *key, uint64_t value)
{
	char digits[24];
	struct text text = { 0 };
	text_add(&text, "%llu", (unsigned long long)value);
	memcpy(digits, text.data, text.length + 1);
	text_free(&text);
	json_object(json, NULL);
	json_string(json, "key", key);
	json_object(json, "value");
	json_string(json, "intValue", digits); /* 64 bits are strings in JSON of protobuf */
	json_object_end(json);
	json_object_end(json);
}

static void add_otlp_attributes(struct arena *arena, const struct record_run *run, const struct record_line *line,
				struct json *json)
{
	json_list(json, "attributes");
	add_attribute(json, "berm.run.id", run->id);
	add_attribute(json, "berm.decision", record_text(arena, &line->value, "decision"));
	add_attribute(json, "server.address", record_text(arena, &line->value, "host"));
	if (record_text(arena, &line->value, "host"))
		add_number_attribute(json, "server.port", record_number(&line->value, "port", 0));
	add_attribute(json, "file.path", record_text(arena, &line->value, "path"));
	if (is_event(line, RECORD_RUN_START)) {
		add_attribute(json, "process.command_line", record_command(arena, run));
		add_attribute(json, "process.working_directory", record_text(arena, &line->value, "cwd"));
		add_number_attribute(json, "process.pid", record_number(&line->value, "pid", 0));
	}
	if (is_event(line, RECORD_RUN_END))
		add_number_attribute(json, "process.exit.code", record_number(&line->value, "exit_code", 0));
	json_list_end(json);
}

static bool is_warning(const struct record_line *line)
{
	return !is_event(line, RECORD_RUN_START) && !is_event(line, RECORD_RUN_END) &&
	       !jsonc_is_string(jsonc_member(&line->value, "decision"), "allowed");
}

static void add_otlp(struct arena *arena, const struct record_run *run, const struct record_line *line, struct text *out)
{
	struct json json = { .out = out, .is_compact = true, .depth = 1 };
	const char *nanoseconds = arena_printf(arena, "%llu000000", (unsigned long long)time_ms(arena, line));
	char trace[33];
	size_t count = 0;

	for (const char *at = run->id; *at && count < sizeof trace - 1; at++)
		if (*at != '-')
			trace[count++] = *at;
	trace[count] = '\0';
	json_object(&json, NULL);
	json_string(&json, "timeUnixNano", nanoseconds);
	json_number(&json, "severityNumber", is_warning(line) ? 13 : 9);
	json_string(&json, "severityText", is_warning(line) ? "WARN" : "INFO");
	json_string(&json, "eventName", arena_printf(arena, "berm.%s", line->event));
	json_object(&json, "body");
	json_string(&json, "stringValue", record_summary(arena, line));
	json_object_end(&json);
	add_otlp_attributes(arena, run, line, &json);
	json_string(&json, "traceId", trace);
	json_object_end(&json);
}

/* How an event is classified. */
struct ocsf_class {
	enum record_event event;
	const char *decision; /* of net; or NULL */
	unsigned class, activity;
	unsigned action; /* 0: none, 1 allowed, 2 denied */
	unsigned severity; /* 1 informational, 2 low, 3 medium */
};

static const struct ocsf_class ocsf_classes[] = {
	{ RECORD_RUN_START, NULL, 1007, 1, 1, 1 }, /* Process Activity: Launch */
	{ RECORD_RUN_END, NULL, 1007, 2, 0, 1 }, /* Terminate */
	{ RECORD_NET, "allowed", 4001, 1, 1, 1 }, /* Network Activity: Open */
	{ RECORD_NET, "failed", 4001, 4, 1, 1 }, /* Fail */
	{ RECORD_NET, "refused", 4001, 5, 2, 2 }, /* Refuse */
	{ RECORD_FILE_DENIED, NULL, 1001, 1, 2, 2 }, /* File System Activity: Create */
	{ RECORD_GIT, NULL, 2004, 1, 2, 2 }, /* Detection Finding: Create */
	{ RECORD_PLANT, NULL, 2004, 1, 2, 3 },	     { RECORD_REPAIR, NULL, 2004, 1, 2, 2 },
	{ RECORD_LIMIT, NULL, 2004, 1, 2, 2 },	     { RECORD_LOG_FOLDED, NULL, 2004, 1, 0, 2 },
	{ RECORD_LOG_CUT, NULL, 2004, 1, 0, 2 },
};

static const struct ocsf_class *classify(const struct record_line *line)
{
	for (size_t i = 0; i < sizeof ocsf_classes / sizeof ocsf_classes[0]; i++) {
		const struct ocsf_class *class = &ocsf_classes[i];
		if (is_event(line, class->event) &&
		    (!class->decision || jsonc_is_string(jsonc_member(&line->value, "decision"), class->decision)))
			return class;
	}
	return NULL;
}

static void add_ocsf_host(struct arena *arena, const struct record_run *run, struct json *json)
{
	const struct jsonc_value *start = run->start ? &run->start->value : NULL;
	const char *uid = arena_printf(arena, "%llu", (unsigned long long)record_number(start, "uid", 0));

	json_object(json, "device");
	json_number(json, "type_id", 0);
	json_string(json, "name", "localhost");
	json_object_end(json);
	json_object(json, "actor");
	json_object(json, "user");
	json_string(json, "uid", uid);
	json_object_end(json);
	json_object_end(json);
}

static void add_ocsf_subject(struct arena *arena, const struct record_run *run, const struct record_line *line,
			     const struct ocsf_class *class, struct json *json)
{
	switch (class->class) {
	case 1007:
		json_object(json, "process");
		json_string(json, "cmd_line", record_command(arena, run));
		json_number(json, "pid", record_number(run->start ? &run->start->value : NULL, "pid", 0));
		json_object_end(json);
		if (class->activity == 2)
			json_number(json, "exit_code", record_number(&line->value, "exit_code", 0));
		break;
	case 1001:
		json_object(json, "file");
		json_string(json, "name", subject(arena, line));
		json_string(json, "path", subject(arena, line));
		json_number(json, "type_id", 0);
		json_object_end(json);
		break;
	case 4001:
		json_object(json, "dst_endpoint");
		json_string(json, "hostname", subject(arena, line));
		json_number(json, "port", record_number(&line->value, "port", 0));
		json_object_end(json);
		break;
	default:
		json_object(json, "finding_info");
		json_string(json, "uid",
			    arena_printf(arena, "%s-%llu", run->id, (unsigned long long)record_number(&line->value, "seq", 0)));
		json_string(json, "title", arena_printf(arena, "berm: %s", line->event));
		json_object_end(json);
		break;
	}
}

static void add_ocsf(struct arena *arena, const struct record_run *run, const struct record_line *line, struct text *out)
{
	const struct ocsf_class *class = classify(line);
	const char *version = run->start ? record_text(arena, &run->start->value, "version") : NULL;
	struct json json = { .out = out, .is_compact = true };

	if (!class)
		return;
	json_object(&json, NULL);
	json_number(&json, "activity_id", class->activity);
	json_number(&json, "category_uid", class->class / 1000);
	json_number(&json, "class_uid", class->class);
	json_number(&json, "type_uid", (uint64_t) class->class * 100 + class->activity);
	json_number(&json, "severity_id", class->severity);
	json_number(&json, "time", time_ms(arena, line));
	json_object(&json, "metadata");
	json_string(&json, "version", "1.8.0");
	json_string(&json, "correlation_uid", run->id);
	json_object(&json, "product");
	json_string(&json, "name", "berm");
	json_string(&json, "vendor_name", "berm");
	json_string(&json, "version", version ? version : "?");
	json_object_end(&json);
	json_list(&json, "profiles");
	json_string(&json, NULL, "host");
	if (class->action)
		json_string(&json, NULL, "security_control");
	json_list_end(&json);
	json_object_end(&json);
	json_string(&json, "message", record_summary(arena, line));
	if (class->action) {
		json_number(&json, "action_id", class->action);
		json_number(&json, "disposition_id", class->action); /* 1 Allowed, 2 Blocked */
	}
	add_ocsf_host(arena, run, &json);
	add_ocsf_subject(arena, run, line, class, &json);
	json_object_end(&json);
}

void record_export_begin(enum record_format format, struct text *out)
{
	if (format == RECORD_CSV)
		text_add(out, "time,run,event,project,subject,decision,count,detail\r\n");
	if (format == RECORD_OTLP)
		text_add(out, "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
			      "{\"stringValue\":\"berm\"}}]},\"scopeLogs\":[{\"scope\":{\"name\":\"berm\"},\"logRecords\":[");
}

void record_export(struct arena *arena, enum record_format format, const struct record_run *run, bool is_first,
		   struct text *out)
{
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		if (!line->is_valid)
			continue;
		switch (format) {
		case RECORD_NDJSON:
			text_add_n(out, line->bytes, line->length);
			text_add(out, "\n");
			break;
		case RECORD_CSV:
			add_csv(arena, run, line, out);
			break;
		case RECORD_OTLP:
			text_add(out, "%s", is_first ? "" : ",");
			add_otlp(arena, run, line, out);
			break;
		case RECORD_OCSF:
			add_ocsf(arena, run, line, out);
			break;
		case RECORD_FORMAT_COUNT:
			break;
		}
		is_first = false;
	}
}

void record_export_end(enum record_format format, struct text *out)
{
	if (format == RECORD_OTLP)
		text_add(out, "]}]}]}\n");
}
