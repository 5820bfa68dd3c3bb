/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a record, as `berm log` reads them. Everything that is printed is safe for a
 * terminal, a page has no element of the record's own, and each export is what its format asks
 * for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/describe.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

static const char id[] = "01a1ef4e-84e3-7cae-9a14-f621a2f33a64";

static const char *no_date(struct arena *arena, int64_t seconds)
{
	(void)arena;
	(void)seconds;
	return "then";
}

static bool is_safe(const char *text)
{
	size_t length = strlen(text);
	while (length > 0) {
		uint32_t character;
		size_t size = text_decode(text, length, &character);
		if (size == 0 || (character != '\n' && text_is_deceptive(character)))
			return false;
		text += size;
		length -= size;
	}
	return true;
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;
	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		found++;
	return found;
}

static void judge_page(struct arena *arena, const struct record_run *run)
{
	static const char *const closed[] = { "table", "tr", "td", "th", "code", "p", "div", "b", "h2", "details" };
	struct text out = { 0 };

	record_html(arena, run, no_date, &out);
	PROPERTY(is_safe(out.data));
	PROPERTY(count(out.data, "<script") == 0 && count(out.data, "<img") == 0);
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
		char open[16], with_class[16], end[16];
		snprintf(open, sizeof open, "<%s>", closed[i]);
		snprintf(with_class, sizeof with_class, "<%s ", closed[i]);
		snprintf(end, sizeof end, "</%s>", closed[i]);
		PROPERTY(count(out.data, open) + count(out.data, with_class) == count(out.data, end));
	}
	text_free(&out);
}

static void judge_exports(struct arena *arena, const struct record_run *run)
{
	for (int i = 0; i < RECORD_FORMAT_COUNT; i++) {
		struct text out = { 0 };
		struct jsonc_value root;
		struct error err = { 0 };
		record_export_begin((enum record_format)i, &out);
		record_export(arena, (enum record_format)i, run, true, &out);
		record_export_end((enum record_format)i, &out);
		if (i == RECORD_OTLP) {
			struct jsonc_text document = { out.data, out.length };
			int status = jsonc_parse(arena, JSONC_STRICT, "otlp", document, &root, &err);
			PROPERTY(status == 0 || out.length > JSONC_SIZE_MAX);
		}
		text_free(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct text page = { 0 };
	struct record_run run;
	size_t bytes = 0;

	if (size > INPUT_MAX)
		return 0;
	record_parse(&arena, id, (const char *)data, size, &run);
	for (size_t i = 0; i < run.lines.count; i++) {
		bytes += run.lines.items[i].length + 1;
		PROPERTY(is_safe(record_summary(&arena, &run.lines.items[i])));
	}
	PROPERTY(bytes + run.cut == size);
	PROPERTY(run.damaged <= run.lines.count);
	record_describe(&arena, &run, "/home/ann", no_date, &page);
	PROPERTY(is_safe(page.data));
	judge_page(&arena, &run);
	judge_exports(&arena, &run);
	text_free(&page);
	arena_free(&arena);
	return 0;
}
