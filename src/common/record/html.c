/* SPDX-License-Identifier: Apache-2.0 */
/* One run as a page. It has no script and fetches nothing, and its policy forbids both to the
 * browser. Names are text: every one goes through add_text. */
#include "common/record/describe.h"

#include <string.h>

#include "common/policy/guarantee.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n"
	"<style>\n"
	":root { --text: #1a1f24; --soft: #5b6670; --line: #dde2e6; --page: #fff; --box: #f5f7f8;"
	" --good: #1a7f37; --weak: #8a5a00; --bad: #b42318; }\n"
	"@media (prefers-color-scheme: dark) { :root { --text: #e4e8eb; --soft: #9aa5ae; --line: #343b41;"
	" --page: #14181b; --box: #1d2226; --good: #56d364; --weak: #e3b341; --bad: #ff7b72; } }\n"
	"* { box-sizing: border-box; }\n"
	"body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 60rem; color: var(--text); background: var(--page);"
	" font: 16px/1.5 system-ui, sans-serif; }\n"
	"h1 { font-size: 1.4rem; margin: 0 0 .25rem; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }\n"
	"h2 { font-size: 1.05rem; margin: 2.25rem 0 .5rem; }\n"
	"p { margin: .25rem 0; } .soft { color: var(--soft); } .good { color: var(--good); } .weak { color: var(--weak); }"
	" .bad { color: var(--bad); }\n"
	".boxes { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem; margin: 1.25rem 0; "
	"}\n"
	".boxes div { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .8rem; }\n"
	".boxes b { display: block; font-size: 1.25rem; overflow-wrap: anywhere; }\n"
	"table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .4rem "
	".75rem .4rem 0;"
	" border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }\n"
	"th { color: var(--soft); font-weight: 500; } td:first-child, th:first-child { white-space: nowrap; width: 7.5rem; } "
	"td b { white-space: nowrap; }\n"
	"code { font: .9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; unicode-bidi: isolate; }\n"
	"summary { cursor: pointer; margin-top: 2.25rem; font-weight: 600; } summary:focus-visible { outline: 2px solid "
	"var(--soft);"
	" outline-offset: 3px; }\n"
	"@media print { body { max-width: none; } }\n"
	"</style>\n";

/* Escapes for HTML what text_visible leaves. */
static void add_text(struct text *out, struct arena *arena, const char *text)
{
	for (text = text_visible(arena, text); *text; text++) {
		switch (*text) {
		case '<':
			text_add(out, "&lt;");
			break;
		case '>':
			text_add(out, "&gt;");
			break;
		case '&':
			text_add(out, "&amp;");
			break;
		case '"':
			text_add(out, "&quot;");
			break;
		case '\'':
			text_add(out, "&#39;");
			break;
		default:
			text_add_n(out, text, 1);
		}
	}
}

static void add_element(struct text *out, struct arena *arena, const char *tag, const char *class, const char *text)
{
	text_add(out, "<%s%s%s%s>", tag, class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
	add_text(out, arena, text);
	text_add(out, "</%s>", tag);
}

static const char *text_of(struct arena *arena, const struct record_line *line, const char *name)
{
	const char *text = line ? record_text(arena, &line->value, name) : NULL;
	return text ? text : "?";
}

static void add_box(struct text *out, struct arena *arena, const char *title, const char *class, const char *value)
{
	text_add(out, "<div><span class=\"soft\">%s</span>", title);
	add_element(out, arena, "b", class, value);
	text_add(out, "</div>\n");
}

static const char *duration(struct arena *arena, uint64_t ms)
{
	struct text out = { 0 };
	const char *result;
	text_add_duration(&out, ms);
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

static void add_boxes(struct text *out, struct arena *arena, const struct record_run *run,
		      const struct record_findings *findings)
{
	const struct jsonc_value *end = run->end ? &run->end->value : NULL;
	const struct jsonc_value *hidden = run->start ? jsonc_member(&run->start->value, "hidden") : NULL;
	size_t counts[FINDING_LIMIT + 1] = { 0 };
	bool is_fine = end && record_number(end, "exit_code", 1) == 0;

	for (size_t i = 0; i < findings->count; i++)
		counts[findings->items[i].kind]++;
	text_add(out, "<div class=\"boxes\">\n");
	add_box(out, arena, "ended", is_fine ? "good" : "bad", record_ending(arena, run));
	if (end)
		add_box(out, arena, "took", NULL, duration(arena, record_number(end, "duration_ms", 0)));
	add_box(out, arena, "refused", counts[FINDING_REFUSED] ? "bad" : NULL,
		arena_printf(arena, "%zu", counts[FINDING_REFUSED]));
	add_box(out, arena, "planted", counts[FINDING_PLANT] ? "bad" : NULL, arena_printf(arena, "%zu", counts[FINDING_PLANT]));
	add_box(out, arena, "hidden files", NULL,
		arena_printf(arena, "%llu", (unsigned long long)record_number(hidden, "count", 0)));
	text_add(out, "</div>\n");
}

static void add_row(struct text *out, struct arena *arena, const char *title, const char *text)
{
	text_add(out, "<tr><th scope=\"row\">%s</th><td><code>", title);
	add_text(out, arena, text);
	text_add(out, "</code></td></tr>\n");
}

static void add_facts(struct text *out, struct arena *arena, const struct record_run *run)
{
	text_add(out, "<h2>The run</h2>\n<table>\n");
	add_row(out, arena, "Directory", text_of(arena, run->start, "cwd"));
	add_row(out, arena, "Project", text_of(arena, run->start, "project"));
	if (run->start && record_text(arena, &run->start->value, "agent"))
		add_row(out, arena, "Agent", text_of(arena, run->start, "agent"));
	add_row(out, arena, "Sandbox",
		arena_printf(arena, "tier %s, network %s", text_of(arena, run->start, "tier"),
			     text_of(arena, run->start, "network")));
	add_row(out, arena, "System", text_of(arena, run->start, "system"));
	add_row(out, arena, "berm", text_of(arena, run->start, "version"));
	if (run->end && record_text(arena, &run->end->value, "reason"))
		add_row(out, arena, "Ended because", text_of(arena, run->end, "reason"));
	if (run->end && record_number(&run->end->value, "lost", 0) > 0)
		add_row(out, arena, "Not recorded",
			arena_printf(arena, "%llu events", (unsigned long long)record_number(&run->end->value, "lost", 0)));
	text_add(out, "</table>\n");
}

static const char *class_of(const char *level)
{
	static const char *const good[] = { "enforced", "strict", "repair" };
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (strcmp(level, good[i]) == 0)
			return "good";
	return strcmp(level, "missing") == 0 ? "bad" : "weak";
}

static void add_guarantees(struct text *out, struct arena *arena, const struct record_run *run)
{
	const struct jsonc_value *levels = run->start ? jsonc_member(&run->start->value, "guarantees") : NULL;
	text_add(out, "<h2>Guarantees in force</h2>\n<table>\n");
	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		const char *level = levels ? record_text(arena, levels, guarantee_table[i].name) : NULL;
		if (!level)
			continue;
		text_add(out, "<tr><th scope=\"row\">%s</th><td>", guarantee_table[i].name);
		add_element(out, arena, "b", class_of(level), level);
		text_add(out, "</td><td class=\"soft\">");
		add_text(out, arena, guarantee_table[i].promise);
		text_add(out, "</td></tr>\n");
	}
	text_add(out, "</table>\n");
}

static void add_findings(struct text *out, struct arena *arena, const struct record_findings *findings,
			 enum record_finding_kind kind, const char *title, const char *nothing)
{
	bool has_any = false;
	for (size_t i = 0; i < findings->count; i++)
		has_any = has_any || findings->items[i].kind == kind;
	if (!has_any && !nothing)
		return;
	text_add(out, "<h2>%s</h2>\n", title);
	if (!has_any) {
		text_add(out, "<p class=\"soft\">%s</p>\n", nothing);
		return;
	}
	text_add(out, "<table>\n");
	for (size_t i = 0; i < findings->count; i++) {
		const struct record_finding *finding = &findings->items[i];
		if (finding->kind != kind)
			continue;
		text_add(out, "<tr><th scope=\"row\">%s</th><td>", finding->topic);
		add_element(out, arena, "code", NULL, finding->what);
		text_add(out, "<p>");
		add_text(out, arena, finding->why);
		text_add(out, "</p>");
		if (finding->fix)
			add_element(out, arena, "p", "soft", finding->fix);
		text_add(out, "</td></tr>\n");
	}
	text_add(out, "</table>\n");
}

static void add_connections(struct text *out, struct arena *arena, const struct record_run *run)
{
	bool has_any = false;
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		if (!line->is_valid || strcmp(line->event, "net") != 0)
			continue;
		text_add(out, "%s", has_any ? "" : "<h2>Network</h2>\n<table>\n");
		has_any = true;
		text_add(out, "<tr><th scope=\"row\">");
		add_text(out, arena, text_of(arena, line, "decision"));
		text_add(out, "</th><td>");
		add_element(out, arena, "code", NULL,
			    record_text(arena, &line->value, "host")
				    ? arena_printf(arena, "%s port %llu", text_of(arena, line, "host"),
						   (unsigned long long)record_number(&line->value, "port", 0))
				    : "not known");
		text_add(out, "</td><td class=\"soft\">%llu times</td></tr>\n",
			 (unsigned long long)record_number(&line->value, "count", 1));
	}
	text_add(out, "%s", has_any ? "</table>\n" : "");
}

static void add_events(struct text *out, struct arena *arena, const struct record_run *run)
{
	text_add(out, "<details><summary>All %zu lines of the record</summary>\n<table>\n", run->lines.count);
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		text_add(out, "<tr><td><code>");
		add_text(out, arena, line->is_valid ? text_of(arena, line, "time") : "?");
		text_add(out, "</code></td><td>");
		add_text(out, arena, record_summary(arena, line));
		text_add(out, "</td></tr>\n");
	}
	text_add(out, "</table></details>\n");
}

void record_html(struct arena *arena, const struct record_run *run, const char *(*date)(struct arena *arena, int64_t seconds),
		 struct text *out)
{
	struct record_findings findings;

	record_find_all(arena, run, &findings);
	text_add(out, "%s<title>berm: ", head);
	add_text(out, arena, record_command(arena, run));
	text_add(out, "</title>\n</head>\n<body>\n<main>\n<h1>");
	add_text(out, arena, record_command(arena, run));
	text_add(out, "</h1>\n<p class=\"soft\">");
	add_text(out, arena, date(arena, (int64_t)(run->ms / 1000)));
	text_add(out, " \xc2\xb7 run ");
	add_text(out, arena, run->id);
	text_add(out, "</p>\n");
	add_boxes(out, arena, run, &findings);
	add_findings(out, arena, &findings, FINDING_REFUSED, "Refused", "Nothing, as far as berm knows.");
	add_findings(out, arena, &findings, FINDING_LIMIT, "Limits that were reached", NULL);
	add_findings(out, arena, &findings, FINDING_PLANT, "Found after the command", NULL);
	add_findings(out, arena, &findings, FINDING_HIDDEN, "Hidden in the project", NULL);
	add_connections(out, arena, run);
	add_guarantees(out, arena, run);
	add_facts(out, arena, run);
	add_events(out, arena, run);
	text_add(out, "<p class=\"soft\">A record shows what berm saw. `berm log verify` checks that nothing was changed "
		      "afterwards; the user who owns it can write a new one.</p>\n</main>\n</body>\n</html>\n");
}
