/* SPDX-License-Identifier: Apache-2.0 */
/* The codec of a session's requests: what is written is read, and nothing else is. */
#include <string.h>

#include "greatest.h"
#include "linux/session/request.h"

static char sh[] = "sh", c[] = "-c", script[] = "true", variable[] = "A=1", path[] = "/bin/sh", empty[] = "";

static void encode(struct text *out, char **variables, uint32_t kind)
{
	static char *arguments[] = { sh, c, script, empty, NULL }, *paths[] = { path, NULL }, *none[] = { NULL };
	struct session_request request = { .head = { .kind = kind, .results = kind == SESSION_RUN ? 3 : 0 },
					   .directory = "/work",
					   .arguments = kind == SESSION_RUN ? arguments : none,
					   .variables = variables,
					   .paths = kind == SESSION_RUN ? paths : none,
					   .results = "xyz" };
	memset(request.head.token, 'a', sizeof request.head.token);
	request.head.caller.umask = 027;
	session_request_encode(&request, out);
}

TEST a_request_is_read_as_written(void)
{
	char *variables[] = { variable, NULL };
	struct session_request request;
	struct arena arena = { 0 };
	struct text bytes = { 0 };
	encode(&bytes, variables, SESSION_RUN);
	ASSERT_EQ(bytes.length, session_request_length(bytes.data, bytes.length));
	ASSERT(session_request_decode(&arena, bytes.data, bytes.length, &request));
	ASSERT_STR_EQ("/work", request.directory);
	ASSERT_STR_EQ("sh", request.arguments[0]);
	ASSERT_STR_EQ("", request.arguments[3]);
	ASSERT_EQ(NULL, request.arguments[4]);
	ASSERT_STR_EQ("A=1", request.variables[0]);
	ASSERT_STR_EQ("/bin/sh", request.paths[0]);
	ASSERT_EQ(0, memcmp("xyz", request.results, 3));
	ASSERT_EQ(027, request.head.caller.umask);
	arena_free(&arena);
	text_free(&bytes);
	PASS();
}

/* Cut anywhere, or with one byte more, it is no request. */
TEST another_length_is_refused(void)
{
	char *variables[] = { variable, NULL };
	struct arena arena = { 0 };
	struct session_request request;
	struct text bytes = { 0 };
	encode(&bytes, variables, SESSION_RUN);
	for (size_t length = 0; length < bytes.length; length++)
		ASSERT_FALSE(session_request_decode(&arena, bytes.data, length, &request));
	text_add_n(&bytes, "x", 1);
	ASSERT_FALSE(session_request_decode(&arena, bytes.data, bytes.length, &request));
	arena_free(&arena);
	text_free(&bytes);
	PASS();
}

static bool decodes_with(size_t offset, uint32_t value)
{
	char *variables[] = { variable, NULL };
	struct arena arena = { 0 };
	struct session_request request;
	struct text bytes = { 0 };
	bool decodes;
	encode(&bytes, variables, SESSION_RUN);
	memcpy(bytes.data + offset, &value, sizeof value);
	decodes = session_request_decode(&arena, bytes.data, bytes.length, &request);
	arena_free(&arena);
	text_free(&bytes);
	return decodes;
}

TEST counts_must_fit(void)
{
	static const uint32_t wrong[] = { 0, 2, 5, 1000, UINT32_MAX };
	ASSERT(decodes_with(offsetof(struct session_head, arguments), 4));
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		ASSERT_FALSE(decodes_with(offsetof(struct session_head, arguments), wrong[i]));
		ASSERT_FALSE(decodes_with(offsetof(struct session_head, variables), wrong[i]));
		ASSERT_FALSE(decodes_with(offsetof(struct session_head, paths), wrong[i]));
		ASSERT_FALSE(decodes_with(offsetof(struct session_head, results), wrong[i]));
		ASSERT_FALSE(decodes_with(offsetof(struct session_head, kind), wrong[i]));
		ASSERT_FALSE(decodes_with(offsetof(struct session_head, length), wrong[i]));
	}
	PASS();
}

TEST variables_have_names(void)
{
	char nameless[] = "=x", plain[] = "x";
	char *wrong[][2] = { { nameless, NULL }, { plain, NULL } };
	struct session_request request;
	for (size_t i = 0; i < 2; i++) {
		struct arena arena = { 0 };
		struct text bytes = { 0 };
		encode(&bytes, wrong[i], SESSION_RUN);
		ASSERT_FALSE(session_request_decode(&arena, bytes.data, bytes.length, &request));
		arena_free(&arena);
		text_free(&bytes);
	}
	PASS();
}

TEST questions_have_no_command(void)
{
	char *none[] = { NULL };
	struct session_request request;
	struct arena arena = { 0 };
	struct text bytes = { 0 };
	encode(&bytes, none, SESSION_STOP);
	ASSERT(session_request_decode(&arena, bytes.data, bytes.length, &request));
	ASSERT_EQ(SESSION_STOP, request.head.kind);
	arena_free(&arena);
	text_free(&bytes);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_request_is_read_as_written);
	RUN_TEST(another_length_is_refused);
	RUN_TEST(counts_must_fit);
	RUN_TEST(variables_have_names);
	RUN_TEST(questions_have_no_command);
	GREATEST_MAIN_END();
}
