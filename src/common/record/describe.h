/* SPDX-License-Identifier: Apache-2.0 */
/* A record in words: for a terminal, for other programs and as a page. Everything in it comes from
 * a command that may be hostile: text for terminals has no control characters, and a name in a page
 * stays text. */
#ifndef BERM_COMMON_RECORD_DESCRIBE_H
#define BERM_COMMON_RECORD_DESCRIBE_H

#include "common/record/reader.h"

enum record_finding_kind {
	FINDING_REFUSED, /* a destination or a creation */
	FINDING_HIDDEN,
	FINDING_PLANT, /* what the sweep or the repair did */
	FINDING_LIMIT,
};

/* Something in which the run differed from one without berm. */
struct record_finding {
	enum record_finding_kind kind;
	const char *topic; /* one word: "network" */
	const char *what; /* raw: a path or destination */
	const char *why;
	const char *fix; /* what would allow or undo it; or NULL */
};
struct record_findings {
	struct record_finding *items;
	size_t count;
};
void record_find_all(struct arena *arena, const struct record_run *run, struct record_findings *findings);
/* The number of refusals, plants and reached limits, without reading every event. */
uint64_t record_denied(const struct record_run *run);
/* True if a connection to the host or to a name below it is in the record. */
bool record_has_host(struct arena *arena, const struct record_run *run, const char *host);

/* One line about an event, escaped for a terminal, without its time. */
const char *record_summary(struct arena *arena, const struct record_line *line);
/* How the run ended: "exit status 1", "running". */
const char *record_ending(struct arena *arena, const struct record_run *run);
/* Adds a page about the run. `home` becomes ~ and may be NULL; `date` formats seconds since
 * 1970. */
void record_describe(struct arena *arena, const struct record_run *run, const char *home,
		     const char *(*date)(struct arena *arena, int64_t seconds), struct text *out);
/* Adds the findings alone, with what would allow each. */
void record_describe_findings(struct arena *arena, const struct record_findings *findings, struct text *out);

/* export.c */
enum record_format { RECORD_NDJSON, RECORD_CSV, RECORD_OTLP, RECORD_OCSF, RECORD_FORMAT_COUNT };
/* False if there is no such format. */
bool record_format_parse(const char *name, enum record_format *format);
/* The formats' frame and one run in it. is_first: no run came before. */
void record_export_begin(enum record_format format, struct text *out);
void record_export(struct arena *arena, enum record_format format, const struct record_run *run, bool is_first,
		   struct text *out);
void record_export_end(enum record_format format, struct text *out);

/* html.c: adds a self-contained page without scripts. */
void record_html(struct arena *arena, const struct record_run *run, const char *(*date)(struct arena *arena, int64_t seconds),
		 struct text *out);

#endif
