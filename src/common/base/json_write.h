/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer of every report and schema: members in the order of the calls, strings always
 * valid. Input strings cannot leave their quotes. One member per line, or one line per document
 * with is_compact. `name` is NULL inside a list. */
#ifndef BERM_COMMON_BASE_JSON_WRITE_H
#define BERM_COMMON_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/text.h"

/* Starts as `{ .out = &text }`. */
struct json {
	struct text *out;
	bool is_compact; /* no blanks and no line breaks, except one after the document */
	unsigned depth;
	bool has_member; /* the next member needs a comma before it */
};

void json_object(struct json *json, const char *name);
void json_object_end(struct json *json);
void json_list(struct json *json, const char *name);
void json_list_end(struct json *json);
void json_string(struct json *json, const char *name, const char *value); /* null for NULL */
void json_number(struct json *json, const char *name, uint64_t value);
void json_boolean(struct json *json, const char *name, bool value);

#endif
