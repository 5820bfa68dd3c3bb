/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON: one member per line, members in the order they are written, strings always valid. `name` is NULL inside a list. */
#ifndef BERM_COMMON_BASE_JSON_WRITE_H
#define BERM_COMMON_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/policy/policy.h"
#include "common/base/text.h"

struct json {
	struct text *out;
	unsigned depth;
	bool has_member; /* a comma is due before the next one */
};

void json_object(struct json *json, const char *name);
void json_object_end(struct json *json);
void json_list(struct json *json, const char *name);
void json_list_end(struct json *json);
void json_string(struct json *json, const char *name, const char *value); /* null for NULL */
void json_number(struct json *json, const char *name, uint64_t value);
void json_boolean(struct json *json, const char *name, bool value);
/* key, text, layer, source, line, column; null for NULL */
void json_rule(struct json *json, const char *name, const struct rule *rule);

#endif
