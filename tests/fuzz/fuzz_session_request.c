/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a session. The input is tried as the bytes themselves, and as edits of a valid
 * request: records of an offset in two bytes, the lower one first, and a value. A request that
 * decodes is encoded as the same bytes again, and its strings are inside. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/property.h"
#include "linux/session/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_strings(char *const *strings, uint32_t count, const char *bytes, size_t size)
{
	uint32_t i = 0;
	for (; strings[i]; i++) {
		PROPERTY(strings[i] >= bytes && strings[i] < bytes + size);
		PROPERTY(strings[i] + strlen(strings[i]) < bytes + size);
	}
	PROPERTY(i == count);
}

static void try_bytes(char *bytes, size_t size)
{
	struct arena arena = { 0 };
	struct session_request request;
	struct text again = { 0 };

	PROPERTY(session_request_length(bytes, size) == 0 || session_request_length(bytes, size) >= size);
	if (session_request_decode(&arena, bytes, size, &request)) {
		check_strings(request.arguments, request.head.arguments, bytes, size);
		check_strings(request.variables, request.head.variables, bytes, size);
		check_strings(request.paths, request.head.paths, bytes, size);
		PROPERTY(request.directory[0] == '/');
		PROPERTY(request.results + request.head.results == bytes + size);
		PROPERTY(session_request_encode(&request, &again));
		PROPERTY(again.length == size && memcmp(again.data, bytes, size) == 0);
	}
	text_free(&again);
	arena_free(&arena);
}

static void encode_valid(struct text *out)
{
	char name[] = "sh", option[] = "-c", script[] = "true", variable[] = "A=1", path[] = "/bin/sh";
	char *arguments[] = { name, option, script, NULL }, *variables[] = { variable, NULL }, *paths[] = { path, NULL };
	struct session_request request = { .head = { .kind = SESSION_RUN, .results = 4 },
					   .directory = "/home/ann/app",
					   .arguments = arguments,
					   .variables = variables,
					   .paths = paths,
					   .results = "abcd" };
	PROPERTY(session_request_encode(&request, out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text valid = { 0 };
	char *copy = malloc(size + 1);
	PROPERTY(copy);
	if (size > 0)
		memcpy(copy, data, size);
	try_bytes(copy, size);
	free(copy);
	encode_valid(&valid);
	/* Exactly as long as the request, so that a read past its end is found. */
	copy = malloc(valid.length);
	PROPERTY(copy);
	memcpy(copy, valid.data, valid.length);
	for (size_t i = 0; i + 2 < size; i += 3) {
		size_t at = (size_t)(data[i] | data[i + 1] << 8);
		if (at < valid.length)
			copy[at] = (char)data[i + 2];
	}
	try_bytes(copy, valid.length);
	free(copy);
	text_free(&valid);
	return 0;
}
