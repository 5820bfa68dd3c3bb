/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON parser and editor: refusals with positions, preserved bytes, and, with random documents,
 * edits that are reverted to the same bytes. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/jsonc.h"

static struct arena arena;
static struct error err;

static struct jsonc_text of(const char *text)
{
	return (struct jsonc_text){ text, strlen(text) };
}

static int parse(enum jsonc_dialect dialect, const char *text, struct jsonc_value *root)
{
	memset(&err, 0, sizeof err);
	return jsonc_parse(&arena, dialect, "f", of(text), root, &err);
}

TEST reads_values(void)
{
	struct jsonc_value root;
	const char *path[] = { "a", "b", NULL };
	ASSERT_EQ(0, parse(JSONC_STRICT, "{\"a\": {\"b\": [1, -2.5e+3, true, null, \"\\u00e9\\ud83d\\ude00\\n\"]}}", &root));
	const struct jsonc_value *list = jsonc_find(&root, path);
	ASSERT(list && list->type == JSONC_ARRAY && list->count == 5);
	ASSERT(jsonc_is_string(&list->children[4].value, "\xc3\xa9\xf0\x9f\x98\x80\n"));
	ASSERT_EQ(NULL, jsonc_member(&root, "b"));
	PASS();
}

TEST refuses_with_the_place(void)
{
	static const struct {
		const char *text, *place;
		bool in_both;
	} rows[] = {
		{ "", "f:1:1:", true },
		{ "{", "f:1:2:", true },
		{ "{\"a\": 1 \"b\": 2}", "f:1:9:", true },
		{ "{\n  \"a\": 1,\n  b: 2}", "f:3:3:", true },
		{ "{\"a\": 1, \"\\u0061\": 2}", "f:1:10:", true },
		{ "{\"a\": 01}", "f:1:7:", true },
		{ "{\"a\": +1}", "f:1:7:", true },
		{ "{\"a\": \"\t\"}", "f:1:8:", true },
		{ "{\"a\": \"\\x\"}", "f:1:8:", true },
		{ "{\"a\": \"\\ud800\"}", "f:1:8:", true },
		{ "{\"a\": \"\xff\"}", "f:1:8:", true },
		{ "{\"\xc3\xa9\": ?}", "f:1:7:", true },
		{ "{} {}", "f:1:4:", true },
		{ "{/* }", "f:1:2:", true },
		{ "[1,,2]", "f:1:4:", true },
		{ "[,]", "f:1:2:", true },
		{ "nul", "f:1:1:", true },
		{ "'a'", "f:1:1:", true },
		{ "{} // end", "f:1:4:", false },
		{ "[1,]", "f:1:4:", false },
		{ "\xef\xbb\xbf{}", "f:1:1:", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct jsonc_value root;
		ASSERT_EQ_FMTm(rows[i].text, -1, parse(JSONC_STRICT, rows[i].text, &root), "%d");
		if (strncmp(err.message, rows[i].place, strlen(rows[i].place)) != 0)
			FAILm(err.message);
		ASSERT_EQ_FMTm(rows[i].text, rows[i].in_both ? -1 : 0, parse(JSONC_COMMENTS, rows[i].text, &root), "%d");
	}
	PASS();
}

TEST is_bounded(void)
{
	char deep[2 * JSONC_DEPTH_MAX + 8];
	struct jsonc_value root;
	for (int extra = 0; extra < 2; extra++) {
		size_t depth = (size_t)(JSONC_DEPTH_MAX + extra);
		memset(deep, '[', depth);
		memset(deep + depth, ']', depth);
		deep[2 * depth] = '\0';
		ASSERT_EQ(-extra, parse(JSONC_STRICT, deep, &root));
	}
	char *large = calloc(1, JSONC_SIZE_MAX + 2);
	ASSERT(large);
	memset(large, ' ', JSONC_SIZE_MAX + 1);
	large[0] = '1';
	ASSERT_EQ(-1, parse(JSONC_STRICT, large, &root));
	large[JSONC_SIZE_MAX] = '\0';
	ASSERT_EQ(0, parse(JSONC_STRICT, large, &root));
	free(large);
	PASS();
}

static const struct jsonc_edit leaf = { { "z", NULL }, "{\"p\": [1, \"x\"]}", false };
static const struct jsonc_edit deep_leaf = { { "n", "m", "l", NULL }, "\"x\"", false };
static const struct jsonc_edit element = { { "h", "p", NULL }, "{\"m\": \"B\"}", true };

struct change {
	const struct jsonc_edit *edit;
	const char *before, *after;
};

/* Comments keep their lines; the style of the document is taken up. */
static const struct change changes[] = {
	{ &leaf, "{}", "{\n  \"z\": {\n    \"p\": [\n      1,\n      \"x\"\n    ]\n  }\n}" },
	{ &leaf, "{\"a\": 1}", "{\"a\": 1, \"z\": {\"p\": [1, \"x\"]}}" },
	{ &leaf, "{\"a\": 1 /* c */}", "{\"a\": 1, /* c */ \"z\": {\"p\": [1, \"x\"]}}" },
	{ &deep_leaf, "{\n\t\"a\": 1 // one\n}\n",
	  "{\n\t\"a\": 1, // one\n\t\"n\": {\n\t\t\"m\": {\n\t\t\t\"l\": \"x\"\n\t\t}\n\t}\n}\n" },
	{ &deep_leaf, "{\r\n    \"n\": {\"q\": 2}, // two\r\n}\r\n",
	  "{\r\n    \"n\": {\"q\": 2, \"m\": {\"l\": \"x\"}}, // two\r\n}\r\n" },
	{ &deep_leaf, "{\n  \"a\": 1, // one\n  /* last */\n}",
	  "{\n  \"a\": 1, // one\n  \"n\": {\n    \"m\": {\n      \"l\": \"x\"\n    }\n  },\n  /* last */\n}" },
	{ &element, "{\n  \"h\": {\n    \"p\": [\n      1\n    ]\n  }\n}",
	  "{\n  \"h\": {\n    \"p\": [\n      1,\n      {\n        \"m\": \"B\"\n      }\n    ]\n  }\n}" },
	{ &element, "{\"h\": {\"p\": [1, 2]}}", "{\"h\": {\"p\": [1, 2, {\"m\": \"B\"}]}}" },
	{ &deep_leaf, "{\"n\": {\"m\": {\"l\": 5 // five\n}}}", "{\"n\": {\"m\": {\"l\": \"x\" // five\n}}}" },
	{ &deep_leaf, "{\n  // nothing yet\n}\n",
	  "{\n  // nothing yet\n  \"n\": {\n    \"m\": {\n      \"l\": \"x\"\n    }\n  }\n}\n" },
};

TEST edits_keep_the_rest(void)
{
	for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		const struct change *change = &changes[i];
		struct text out = { 0 }, again = { 0 }, back = { 0 };
		memset(&err, 0, sizeof err);
		ASSERT_EQm(change->before, 0, jsonc_set(&arena, "f", of(change->before), change->edit, &out, &err));
		ASSERT_STR_EQ(change->after, out.data);
		ASSERT_EQ(0, jsonc_set(&arena, "f", of(out.data), change->edit, &again, &err));
		ASSERT_STR_EQ(change->after, again.data);
		ASSERT_EQ(0, jsonc_unset(&arena, "f", of(out.data), of(change->before), change->edit, &back, &err));
		ASSERT_STR_EQ(change->before, back.data);
		text_free(&out);
		text_free(&again);
		text_free(&back);
	}
	PASS();
}

TEST what_is_in_the_way_is_named(void)
{
	static const struct {
		const struct jsonc_edit *edit;
		const char *text, *place;
	} rows[] = {
		{ &deep_leaf, "[]", "f:1:1:" },
		{ &deep_leaf, "{\n\"n\": 5}", "f:2:6:" },
		{ &element, "{\"h\": {\"p\": \"x\"}}", "f:1:13:" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct text out = { 0 };
		memset(&err, 0, sizeof err);
		ASSERT_EQ(-1, jsonc_set(&arena, "f", of(rows[i].text), rows[i].edit, &out, &err));
		if (strncmp(err.message, rows[i].place, strlen(rows[i].place)) != 0)
			FAILm(err.message);
		text_free(&out);
	}
	PASS();
}

TEST a_changed_value_is_not_taken_back(void)
{
	struct text out = { 0 };
	memset(&err, 0, sizeof err);
	ASSERT_EQ(-1, jsonc_unset(&arena, "f", of("{\n \"n\": {\"m\": {\"l\": \"y\"}}}"), of("{}"), &deep_leaf, &out, &err));
	ASSERT(strncmp(err.message, "f:2:19:", 7) == 0);
	text_free(&out);
	/* Others' keys in a container that berm made stay, and so does the container. */
	ASSERT_EQ(0,
		  jsonc_unset(&arena, "f", of("{\"n\": {\"m\": {\"l\": \"x\"}, \"o\": 1}}"), of("{}"), &deep_leaf, &out, &err));
	ASSERT_STR_EQ("{\"n\": { \"o\": 1}}", out.data);
	text_free(&out);
	PASS();
}

/* Random documents. */
static unsigned long long random_state;

static unsigned pick(unsigned bound)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((random_state >> 33) % bound);
}

static void add_space(struct text *out, const char *newline)
{
	for (unsigned i = pick(4); i > 0; i--)
		switch (pick(8)) {
		case 0:
			text_add(out, "%s", newline);
			break;
		case 1:
			text_add(out, "/* , } \" %u%s*/", pick(9), pick(3) ? "" : newline);
			break;
		case 2:
			text_add(out, "// ] { , %u%s", pick(9), newline);
			break;
		case 3:
			text_add(out, "\t");
			break;
		default:
			text_add(out, " ");
		}
}

static void add_value(struct text *out, unsigned depth, const char *newline);

static void add_container(struct text *out, unsigned depth, const char *newline, bool is_object)
{
	/* The names of the edits above, so that they meet objects, lists and scalars. */
	static const char *const keys[] = { "n", "m", "l", "h", "p", "z", "a", "\\u006e\\n", "\xc3\xa9" };
	size_t first = pick(9), count = pick(5);
	text_add(out, is_object ? "{" : "[");
	add_space(out, newline);
	for (size_t i = 0; i < count; i++) {
		if (is_object) {
			text_add(out, "\"%s\"", keys[(first + i) % 9]);
			add_space(out, newline);
			text_add(out, ":");
			add_space(out, newline);
		}
		add_value(out, depth + 1, newline);
		add_space(out, newline);
		if (i + 1 < count || pick(3) == 0) {
			text_add(out, ",");
			add_space(out, newline);
		}
	}
	text_add(out, is_object ? "}" : "]");
}

static void add_value(struct text *out, unsigned depth, const char *newline)
{
	static const char *const scalars[] = { "1", "-0.5e9", "true", "false", "null", "\"x\"", "\"a // \\\" b\"", "\"/*\"" };
	unsigned kind = pick(10);
	if (kind < 5 && depth < 5)
		add_container(out, depth, newline, kind != 0);
	else
		text_add(out, "%s", scalars[pick(8)]);
}

/* Does the edit meet an object or list on its way that holds only spaces? Those spaces are the one
 * thing that does not come back. */
static bool meets_blank_container(const struct jsonc_value *root, const struct jsonc_edit *edit)
{
	const struct jsonc_value *at = root;
	for (size_t depth = 0; at; depth++) {
		if ((at->type == JSONC_OBJECT || at->type == JSONC_ARRAY) && at->count == 0 && at->end - at->start > 2)
			return true;
		at = edit->path[depth] ? jsonc_member(at, edit->path[depth]) : NULL;
	}
	return false;
}

TEST random_documents_come_back(void)
{
	static const struct jsonc_edit *const edits[] = { &leaf, &deep_leaf, &element };
	size_t taken = 0, exact = 0;
	for (unsigned i = 0; i < 6000; i++) {
		struct text document = { 0 }, out = { 0 }, back = { 0 };
		const struct jsonc_edit *edit = edits[i % 3];
		struct jsonc_value before, after, restored;
		struct arena own = { 0 };
		const char *newline = i % 2 ? "\n" : "\r\n";

		random_state = i;
		memset(&err, 0, sizeof err);
		add_space(&document, newline);
		add_container(&document, 0, newline, true);
		add_space(&document, newline);
		struct jsonc_text text = { document.data, document.length };
		if (jsonc_parse(&own, JSONC_COMMENTS, "f", text, &before, &err) < 0)
			FAILm(err.message);
		if (jsonc_set(&own, "f", text, edit, &out, &err) == 0) {
			struct jsonc_text changed = { out.data, out.length };
			ASSERT_EQ(0, jsonc_parse(&own, JSONC_COMMENTS, "f", changed, &after, &err));
			ASSERTm(document.data, jsonc_holds(&own, &after, edit));
			ASSERT_EQm(document.data, 0, jsonc_unset(&own, "f", changed, text, edit, &back, &err));
			ASSERT_EQ(0, jsonc_parse(&own, JSONC_COMMENTS, "f", (struct jsonc_text){ back.data, back.length },
						 &restored, &err));
			ASSERTm(document.data, jsonc_equal(&before, &restored));
			taken++;
			if (!meets_blank_container(&before, edit)) {
				ASSERT_STR_EQ(document.data, back.data);
				exact++;
			}
		}
		text_free(&document);
		text_free(&out);
		text_free(&back);
		arena_free(&own);
	}
	/* The generator does its work. */
	ASSERT(taken > 3000 && exact > 2000);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_values);
	RUN_TEST(refuses_with_the_place);
	RUN_TEST(is_bounded);
	RUN_TEST(edits_keep_the_rest);
	RUN_TEST(what_is_in_the_way_is_named);
	RUN_TEST(a_changed_value_is_not_taken_back);
	RUN_TEST(random_documents_come_back);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
