/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a record for people. */
#include "common/record/describe.h"

#include <string.h>

#include "common/fs/path.h"
#include "common/policy/guarantee.h"
#include "common/record/internal.h"

enum { LABEL = 11 /* columns of a label */, INDENT = 2 };

static const char *member(struct arena *arena, const struct record_line *line, const char *name, const char *fallback)
{
	const char *text = line && line->is_valid ? record_text(arena, &line->value, name) : NULL;
	return text ? text : fallback;
}

static bool is_event(const struct record_line *line, enum record_event event)
{
	return line->is_valid && strcmp(line->event, record_event_name(event)) == 0;
}

static bool is_decision(struct arena *arena, const struct record_line *line, const char *decision)
{
	return is_event(line, RECORD_NET) && strcmp(member(arena, line, "decision", ""), decision) == 0;
}

/* HOST:PORT as in network.allow. */
static const char *destination(struct arena *arena, const struct record_line *line)
{
	const char *host = member(arena, line, "host", NULL);
	uint64_t port = record_number(&line->value, "port", 0);
	if (!host)
		return "the network";
	return arena_printf(arena, strchr(host, ':') ? "[%s]:%llu" : "%s:%llu", host, (unsigned long long)port);
}

/* Paths of the project without it. */
static const char *inside(struct arena *arena, const struct record_run *run, const char *path)
{
	const char *project = member(arena, run->start, "project", "/");
	size_t length = strlen(project);
	return path_is_within(path, project) && path[length] == '/' ? path + length + 1 : path;
}

static struct record_finding *add(struct arena *arena, struct record_findings *findings, enum record_finding_kind kind,
				  const char *topic)
{
	struct record_finding *finding = arena_push(arena, findings);
	*finding = (struct record_finding){ .kind = kind, .topic = topic, .why = "" };
	return finding;
}

static const char *times(struct arena *arena, const struct record_line *line)
{
	uint64_t count = record_number(&line->value, "count", 1);
	return count > 1 ? arena_printf(arena, " (%llu times)", (unsigned long long)count) : "";
}

static void add_net(struct arena *arena, const struct record_line *line, struct record_findings *findings)
{
	struct record_finding *finding = add(arena, findings, FINDING_REFUSED, "network");
	const char *where = destination(arena, line);
	bool is_refused = is_decision(arena, line, "refused");

	finding->what = where;
	finding->why = arena_printf(arena, "%s%s%s",
				    is_refused ? "refused: " : "allowed, and not reached: ", member(arena, line, "reason", "?"),
				    times(arena, line));
	if (is_refused && !member(arena, line, "host", NULL))
		finding->fix = "to allow it: --allow-net=HOST:PORT, or network: {allow: [\"HOST:PORT\"]}";
	else if (is_refused && record_is(&line->value, "allowable"))
		finding->fix = arena_printf(arena, "to allow it: --allow-net=%s, or network: {allow: [\"%s\"]}", where, where);
	else if (is_refused)
		finding->fix = "no rule allows it";
}

static void add_denied(struct arena *arena, const struct record_run *run, const struct record_line *line,
		       struct record_findings *findings)
{
	struct record_finding *finding = add(arena, findings, FINDING_REFUSED, "creation");
	finding->what = inside(arena, run, member(arena, line, "path", "?"));
	finding->why = arena_printf(arena, "not created: %s", member(arena, line, "reason", "?"));
	finding->fix = record_is(&line->value, "liftable") ? arena_printf(arena, "to allow it: --allow-write=%s", finding->what)
							   : "no rule allows it: create it outside berm";
}

static void add_git(struct arena *arena, const struct record_line *line, struct record_findings *findings)
{
	struct record_finding *finding = add(arena, findings, FINDING_REFUSED, "git");
	bool is_config = strcmp(member(arena, line, "refused", ""), "config") == 0;
	finding->what = is_config ? ".git/config" : "the working tree";
	finding->why = is_config ? "locked, because git on the host obeys it" : "hidden or protected files were not replaced";
	finding->fix = is_config ? "run that git command outside berm" : "outside berm: git checkout -- FILE";
}

static void add_plant(struct arena *arena, const struct record_run *run, const struct record_line *line,
		      struct record_findings *findings)
{
	static const struct {
		const char *action, *words;
	} actions[] = {
		{ "kept", "new, and not made by the command" },
		{ "reported", "new, and obeyed by programs of the host" },
		{ "opened", "made readable again" },
		{ "left", "left over" },
		{ "quarantined", "moved to quarantine" },
		{ "edited", "lines became comments" },
		{ "undone", "the old text was put back" },
		{ "failed", "should have been moved, and was not" },
	};
	struct record_finding *finding = add(arena, findings, FINDING_PLANT, "planted");
	const char *action = member(arena, line, "action", ""), *reason = member(arena, line, "reason", NULL);
	const char *id = member(arena, line, "quarantine", NULL);

	finding->what = inside(arena, run, member(arena, line, "path", "?"));
	finding->why = action;
	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (strcmp(action, actions[i].action) == 0)
			finding->why = actions[i].words;
	if (reason)
		finding->why = arena_printf(arena, "%s: %s", finding->why, reason);
	if (id)
		finding->fix = arena_printf(arena, "to undo: berm quarantine restore %s", id);
}

static void add_repair(struct arena *arena, const struct record_run *run, const struct record_line *line,
		       struct record_findings *findings)
{
	struct record_finding *finding = add(arena, findings, FINDING_PLANT, "repair");
	finding->what = inside(arena, run, member(arena, line, "path", "?"));
	finding->why = arena_printf(arena, "%s, reachable for at most %llu us%s", member(arena, line, "kind", "?"),
				    (unsigned long long)record_number(&line->value, "exposed_us", 0), times(arena, line));
}

/* Files of the project that the command could not read. */
static void add_hidden(struct arena *arena, const struct record_run *run, struct record_findings *findings)
{
	const struct jsonc_value *hidden = run->start ? jsonc_member(&run->start->value, "hidden") : NULL;
	const struct jsonc_value *items = hidden && hidden->type == JSONC_OBJECT ? jsonc_member(hidden, "items") : NULL;
	uint64_t count = record_number(hidden, "count", 0);
	size_t shown = items && items->type == JSONC_ARRAY ? items->count : 0;

	for (size_t i = 0; i < shown; i++) {
		const struct jsonc_value *item = &items->children[i].value;
		const char *path = record_text(arena, item, "path"), *rule = record_text(arena, item, "rule");
		struct record_finding *finding = add(arena, findings, FINDING_HIDDEN, "hidden");
		finding->what = inside(arena, run, path ? path : "?");
		finding->why = rule ? rule : "?";
		finding->fix = record_is(item, "floor")
				       ? "no rule shows it"
				       : arena_printf(arena, "to show it, if it is no secret: files: {except: [\"%s\"]}",
						      finding->what);
	}
	if (count > shown) {
		struct record_finding *finding = add(arena, findings, FINDING_HIDDEN, "hidden");
		finding->what = arena_printf(arena, "%llu more", (unsigned long long)(count - shown));
		finding->fix = "`berm plan -v` lists them";
	}
}

void record_find_all(struct arena *arena, const struct record_run *run, struct record_findings *findings)
{
	*findings = (struct record_findings){ 0 };
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		if (is_decision(arena, line, "refused") || is_decision(arena, line, "failed"))
			add_net(arena, line, findings);
		else if (is_event(line, RECORD_FILE_DENIED))
			add_denied(arena, run, line, findings);
		else if (is_event(line, RECORD_GIT))
			add_git(arena, line, findings);
		else if (is_event(line, RECORD_PLANT))
			add_plant(arena, run, line, findings);
		else if (is_event(line, RECORD_REPAIR))
			add_repair(arena, run, line, findings);
		else if (is_event(line, RECORD_LIMIT))
			*add(arena, findings, FINDING_LIMIT, "limit") =
				(struct record_finding){ FINDING_LIMIT, "limit", member(arena, line, "limit", "?"),
							 member(arena, line, "message", ""), NULL };
	}
	add_hidden(arena, run, findings);
}

uint64_t record_denied(const struct record_run *run)
{
	uint64_t count = 0;
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		const struct jsonc_value *decision = line->is_valid ? jsonc_member(&line->value, "decision") : NULL;
		if (is_event(line, RECORD_NET))
			count += jsonc_is_string(decision, "refused");
		else
			count += is_event(line, RECORD_FILE_DENIED) || is_event(line, RECORD_GIT) ||
				 is_event(line, RECORD_PLANT) || is_event(line, RECORD_LIMIT);
	}
	return count;
}

bool record_has_host(struct arena *arena, const struct record_run *run, const char *host)
{
	size_t wanted = strlen(host);
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		const char *name = is_event(line, RECORD_NET) ? member(arena, line, "host", NULL) : NULL;
		size_t length = name ? strlen(name) : 0;
		if (name && length >= wanted && strcmp(name + length - wanted, host) == 0 &&
		    (length == wanted || name[length - wanted - 1] == '.'))
			return true;
	}
	return false;
}

const char *record_ending(struct arena *arena, const struct record_run *run)
{
	const struct jsonc_value *end = run->end ? &run->end->value : NULL;
	uint64_t signal = record_number(end, "signal", 0), status = record_number(end, "exit_code", 0);

	if (!end)
		return run->is_running ? "running" : "killed";
	if (jsonc_is_string(jsonc_member(end, "outcome"), "refused"))
		return "nothing ran";
	if (signal > 0)
		return arena_printf(arena, "signal %llu", (unsigned long long)signal);
	return arena_printf(arena, "exit %llu", (unsigned long long)status);
}

static const char *raw_summary(struct arena *arena, const struct record_line *line)
{
	struct record_line copy = *line;
	struct record_run run = { .lines = { &copy, 1 } };
	struct record_findings findings;

	if (is_event(line, RECORD_RUN_START)) {
		run.start = line;
		return arena_printf(arena, "started  %s", record_command(arena, &run));
	}
	if (is_event(line, RECORD_RUN_END)) {
		run.end = line;
		return arena_printf(arena, "ended    %s%s%s", record_ending(arena, &run),
				    member(arena, line, "reason", NULL) ? ": " : "", member(arena, line, "reason", ""));
	}
	if (is_decision(arena, line, "allowed"))
		return arena_printf(arena, "network  %s: allowed%s", destination(arena, line), times(arena, line));
	record_find_all(arena, &run, &findings);
	if (findings.count > 0)
		return arena_printf(arena, "%-8s %s: %s", findings.items[0].topic, findings.items[0].what,
				    findings.items[0].why);
	return line->is_valid ? line->event : "(damaged)";
}

const char *record_summary(struct arena *arena, const struct record_line *line)
{
	return text_visible(arena, raw_summary(arena, line));
}

static const char *shown_path(struct arena *arena, const char *home, const char *path)
{
	size_t length = home ? strlen(home) : 0;
	if (home && length > 1 && path_is_within(path, home))
		path = arena_printf(arena, "~%s", path + length);
	return path;
}

/* "  label      words", wrapped. */
static void add_row(struct text *out, struct arena *arena, const char *label, const char *words)
{
	text_add(out, "  %-*s ", LABEL - 1, label);
	text_add_wrapped(out, INDENT + LABEL, text_visible(arena, words));
}

static const char *took(struct arena *arena, const struct record_run *run)
{
	const struct jsonc_value *end = &run->end->value;
	struct text out = { 0 };
	const char *result;

	text_add_duration(&out, record_number(end, "duration_ms", 0));
	text_add(&out, ", ");
	text_add_duration(&out, (record_number(end, "user_us", 0) + record_number(end, "system_us", 0)) / 1000);
	text_add(&out, " of processor time");
	if (record_number(end, "max_rss_kb", 0) > 0)
		text_add(&out, ", largest process %llu MB", (unsigned long long)(record_number(end, "max_rss_kb", 0) / 1024));
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

static const char *policies(struct arena *arena, const struct record_run *run)
{
	const struct jsonc_value *list = jsonc_member(&run->start->value, "policies");
	const char *result = NULL;
	for (size_t i = 0; list && list->type == JSONC_ARRAY && i < list->count; i++) {
		const char *source = record_text(arena, &list->children[i].value, "source");
		const struct jsonc_value *trusted =
			list->children[i].value.type == JSONC_OBJECT ? jsonc_member(&list->children[i].value, "trusted") : NULL;
		result = arena_printf(arena, "%s%s%s%s", result ? result : "", result ? ", " : "", source ? source : "?",
				      trusted && trusted->type == JSONC_FALSE ? " (not trusted)" : "");
	}
	return result;
}

static void add_start(struct arena *arena, const struct record_run *run, const char *home, struct text *out)
{
	const char *cwd = member(arena, run->start, "cwd", "?"), *project = member(arena, run->start, "project", "?");
	const char *agent = member(arena, run->start, "agent", NULL);

	add_row(out, arena, "command", record_command(arena, run));
	if (agent)
		add_row(out, arena, "agent", agent);
	add_row(out, arena, "directory", shown_path(arena, home, cwd));
	if (strcmp(cwd, project) != 0)
		add_row(out, arena, "project", shown_path(arena, home, project));
	add_row(out, arena, "sandbox",
		arena_printf(arena, "tier %s, network %s, %s, berm %s", member(arena, run->start, "tier", "?"),
			     member(arena, run->start, "network", "?"), member(arena, run->start, "system", "?"),
			     member(arena, run->start, "version", "?")));
	if (policies(arena, run))
		add_row(out, arena, "policy", policies(arena, run));
}

static void add_end(struct arena *arena, const struct record_run *run, struct text *out)
{
	const char *reason = member(arena, run->end, "reason", NULL);
	const struct jsonc_value *end = run->end ? &run->end->value : NULL;
	uint64_t lost = record_number(end, "lost", 0), cut = record_number(end, "cut", 0);

	add_row(out, arena, "ended",
		!run->end && !run->is_running ? "no end: berm was killed, or the disk was full" : record_ending(arena, run));
	if (reason)
		add_row(out, arena, "", reason);
	if (run->end)
		add_row(out, arena, "took", took(arena, run));
	if (lost + cut > 0)
		add_row(out, arena, "not here",
			arena_printf(arena, "%llu events that could not be written, %llu beyond the size",
				     (unsigned long long)lost, (unsigned long long)cut));
	if (run->cut > 0 && !run->is_running)
		add_row(out, arena, "cut", arena_printf(arena, "the last line is incomplete (%zu bytes)", run->cut));
	if (run->damaged > 0)
		add_row(out, arena, "damaged", arena_printf(arena, "%zu lines; see `berm log verify`", run->damaged));
}

static void add_guarantees(struct arena *arena, const struct record_run *run, struct text *out)
{
	const struct jsonc_value *levels = run->start ? jsonc_member(&run->start->value, "guarantees") : NULL;
	if (!levels || levels->type != JSONC_OBJECT)
		return;
	text_add(out, "Guarantees\n");
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const char *level = record_text(arena, levels, guarantee_table[i].name);
		if (level)
			text_add(out, "  %-12s %s\n", guarantee_table[i].name, text_visible(arena, level));
	}
}

static void add_allowed(struct arena *arena, const struct record_run *run, struct text *out)
{
	bool has_title = false;
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		if (!is_decision(arena, line, "allowed"))
			continue;
		text_add(out, "%s", has_title ? "" : "Connected\n");
		has_title = true;
		add_row(out, arena, "network", arena_printf(arena, "%s%s", destination(arena, line), times(arena, line)));
	}
}

void record_describe_findings(struct arena *arena, const struct record_findings *findings, struct text *out)
{
	static const char *const titles[] = { [FINDING_REFUSED] = "Refused",
					      [FINDING_HIDDEN] = "Hidden in the project",
					      [FINDING_PLANT] = "Found after the command",
					      [FINDING_LIMIT] = "Limits" };
	static const enum record_finding_kind order[] = { FINDING_REFUSED, FINDING_LIMIT, FINDING_PLANT, FINDING_HIDDEN };

	for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
		bool has_title = false;
		for (size_t i = 0; i < findings->count; i++) {
			const struct record_finding *finding = &findings->items[i];
			if (finding->kind != order[k])
				continue;
			text_add(out, "%s%s", has_title ? "" : titles[order[k]], has_title ? "" : "\n");
			has_title = true;
			add_row(out, arena, finding->topic,
				arena_printf(arena, "%s%s%s", finding->what, finding->why[0] ? ": " : "", finding->why));
			if (finding->fix)
				add_row(out, arena, "", finding->fix);
		}
	}
}

void record_describe(struct arena *arena, const struct record_run *run, const char *home,
		     const char *(*date)(struct arena *arena, int64_t seconds), struct text *out)
{
	struct record_findings findings;

	text_add(out, "Run %s\n", run->id);
	if (run->start)
		add_start(arena, run, home, out);
	add_row(out, arena, "started", date(arena, (int64_t)(run->ms / 1000)));
	add_end(arena, run, out);
	add_guarantees(arena, run, out);
	record_find_all(arena, run, &findings);
	add_allowed(arena, run, out);
	record_describe_findings(arena, &findings, out);
	if (findings.count == 0)
		text_add(out, "Refused\n  nothing, as far as berm knows\n");
}
