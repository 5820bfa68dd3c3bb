/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of `berm NOUN list`: its arguments, and its entries as a table or as JSON. */
#ifndef BERM_COMMON_CLI_LISTING_H
#define BERM_COMMON_CLI_LISTING_H

#include <stddef.h>

#include "common/base/json_write.h"
#include "common/cli/session.h"
#include "common/cli/table.h"

/* Refuses arguments other than --json and -v, and finds the user's directories. Returns 0, or the
 * exit status after a reported error. */
int listing_begin(struct session *session, const char *noun, const char *word);
/* Returns a table without titles and rows. `empty` is its sentence if there are none. */
struct table listing_table(struct session *session, const char *empty);
/* Prints a list of `count` entries of `size` bytes, each by `add`. Returns the exit status. */
int listing_print_json(const void *entries, size_t count, size_t size, void (*add)(struct json *json, const void *entry));

#endif
