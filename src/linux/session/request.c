/* SPDX-License-Identifier: Apache-2.0 */
/* The codec of requests. Pure. */
#include "linux/session/request.h"

#include <string.h>

enum { STRINGS_MAX = 1 << 18 };

const char session_magic[8] = { 'b', 'e', 'r', 'm', 'j', 'o', 'i', '1' };

static uint32_t add_strings(struct text *out, char *const *strings)
{
	uint32_t count = 0;
	for (; strings && strings[count]; count++)
		text_add_n(out, strings[count], strlen(strings[count]) + 1);
	return count;
}

bool session_request_encode(struct session_request *request, struct text *out)
{
	struct session_head *head = &request->head;
	size_t start = out->length;

	memcpy(head->magic, session_magic, sizeof head->magic);
	text_add_n(out, (const char *)head, sizeof *head);
	if (!request->directory)
		request->directory = "/";
	text_add_n(out, request->directory, strlen(request->directory) + 1);
	head->arguments = add_strings(out, request->arguments);
	head->variables = add_strings(out, request->variables);
	head->paths = add_strings(out, request->paths);
	if (head->results > 0)
		text_add_n(out, request->results, head->results);
	if (out->length - start > SESSION_REQUEST_MAX)
		return false;
	head->length = (uint32_t)(out->length - start);
	memcpy(out->data + start, head, sizeof *head);
	return true;
}

size_t session_request_length(const void *packet, size_t length)
{
	struct session_head head;
	if (length < sizeof head)
		return 0;
	memcpy(&head, packet, sizeof head);
	if (memcmp(head.magic, session_magic, sizeof head.magic) != 0 || head.length < length ||
	    head.length > SESSION_REQUEST_MAX)
		return 0;
	return head.length;
}

struct reader {
	struct arena *arena;
	char *at;
	size_t left;
};

/* Takes one string; NULL if it has no end. */
static char *take_string(struct reader *reader)
{
	char *string = reader->at;
	size_t length = strnlen(string, reader->left);
	if (length == reader->left)
		return NULL;
	reader->at += length + 1;
	reader->left -= length + 1;
	return string;
}

static char **take_strings(struct reader *reader, uint32_t count)
{
	char **strings;
	/* A string has at least its end. */
	if (count > STRINGS_MAX || count > reader->left)
		return NULL;
	strings = arena_alloc(reader->arena, (count + 1) * sizeof *strings);
	for (uint32_t i = 0; i < count; i++) {
		strings[i] = take_string(reader);
		if (!strings[i])
			return NULL;
	}
	return strings;
}

static bool are_variables(char *const *strings)
{
	for (; *strings; strings++) {
		const char *end = strchr(*strings, '=');
		if (!end || end == *strings)
			return false;
	}
	return true;
}

bool session_request_decode(struct arena *arena, char *bytes, size_t length, struct session_request *request)
{
	struct session_head *head = &request->head;
	struct reader reader = { .arena = arena };

	*request = (struct session_request){ 0 };
	if (length == 0 || session_request_length(bytes, length) != length)
		return false;
	memcpy(head, bytes, sizeof *head);
	reader.at = bytes + sizeof *head;
	reader.left = length - sizeof *head;
	request->directory = take_string(&reader);
	if (!request->directory || request->directory[0] != '/')
		return false;
	request->arguments = take_strings(&reader, head->arguments);
	request->variables = request->arguments ? take_strings(&reader, head->variables) : NULL;
	request->paths = request->variables ? take_strings(&reader, head->paths) : NULL;
	if (!request->paths || !are_variables(request->variables) || reader.left != head->results)
		return false;
	request->results = reader.at;
	if (head->kind == SESSION_RUN)
		return head->arguments > 0 && head->paths > 0 && head->results > 0;
	return (head->kind == SESSION_STOP || head->kind == SESSION_ASK) && head->arguments == 0;
}
