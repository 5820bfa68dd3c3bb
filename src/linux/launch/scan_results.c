/* SPDX-License-Identifier: Apache-2.0 */
/* Lists with their length before them; strings with their NUL. Both ends are the same program, so numbers are as they are in memory. */
#include "linux/launch/scan_results.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/base/text.h"
#include "linux/channel.h"

struct reader {
	const char *at;
	size_t left;
	bool has_failed;
};

static void put_count(struct text *out, size_t count)
{
	uint32_t number = (uint32_t)count;
	text_add_n(out, (const char *)&number, sizeof number);
}

static void put_string(struct text *out, const char *string)
{
	text_add_n(out, string, strlen(string) + 1);
}

static void put_matches(struct text *out, const struct plan_matches *matches)
{
	put_count(out, matches->count);
	for (size_t i = 0; i < matches->count; i++) {
		char type = (char)matches->items[i].type;
		text_add_n(out, &type, 1);
		put_string(out, matches->items[i].path);
	}
}

void findings_encode(const struct plan *plan, struct text *out)
{
	put_matches(out, &plan->masked);
	put_matches(out, &plan->locked);
	put_matches(out, &plan->pinned);
}

static const char *take(struct reader *reader, size_t size)
{
	const char *at = reader->at;
	if (reader->has_failed || size > reader->left) {
		reader->has_failed = true;
		return NULL;
	}
	reader->at += size;
	reader->left -= size;
	return at;
}

/* No more than there are bytes for, at `least` each. */
static size_t take_count(struct reader *reader, size_t least)
{
	const char *at = take(reader, sizeof(uint32_t));
	uint32_t count = 0;
	if (at)
		memcpy(&count, at, sizeof count);
	if (count > reader->left / least) {
		reader->has_failed = true;
		return 0;
	}
	return count;
}

static const char *take_string(struct reader *reader)
{
	const char *end = reader->has_failed ? NULL : memchr(reader->at, '\0', reader->left);
	if (!end) {
		reader->has_failed = true;
		return "";
	}
	return take(reader, (size_t)(end - reader->at) + 1);
}

static struct plan_matches take_matches(struct reader *reader, struct arena *arena)
{
	struct plan_matches matches = { .count = take_count(reader, 2) };
	matches.items = arena_alloc(arena, matches.count * sizeof *matches.items);
	for (size_t i = 0; i < matches.count; i++) {
		const char *type = take(reader, 1);
		const char *path = take_string(reader);
		if (!type || (unsigned char)*type > FILE_UNKNOWN || path[0] != '/')
			reader->has_failed = true;
		else
			matches.items[i] = (struct plan_match){ .path = path, .type = (enum file_type) * type };
	}
	return matches;
}

bool findings_decode(const char *bytes, size_t length, struct plan *plan)
{
	struct reader reader = { .at = bytes, .left = length };
	struct plan_matches masked = take_matches(&reader, plan->arena);
	struct plan_matches locked = take_matches(&reader, plan->arena);
	struct plan_matches pinned = take_matches(&reader, plan->arena);
	if (reader.has_failed || reader.left > 0)
		return false;
	plan->masked = masked;
	plan->locked = locked;
	plan->pinned = pinned;
	return true;
}

int findings_send(int channel, const struct plan *plan)
{
	struct message message = { .type = MESSAGE_FINDINGS };
	struct text bytes = { 0 };
	int result = -1;
	findings_encode(plan, &bytes);
	message.value = (int)bytes.length; /* three lists of at most 65536 paths each */
	if (channel_send(channel, &message) == 0)
		result = channel_send_bytes(channel, bytes.data, bytes.length);
	text_free(&bytes);
	return result;
}

int findings_receive(int channel, struct plan *plan, struct error *err)
{
	struct message message;
	char *bytes;
	if (channel_receive(channel, &message) <= 0 || message.type != MESSAGE_FINDINGS || message.value <= 0)
		return error_set(err, "the launcher is gone");
	bytes = arena_alloc(plan->arena, (size_t)message.value);
	if (channel_receive_bytes(channel, bytes, (size_t)message.value) < 0)
		return error_set(err, "the launcher is gone");
	if (!findings_decode(bytes, (size_t)message.value, plan))
		return error_set(err, "what the launcher found in the project arrived damaged");
	return 0;
}
