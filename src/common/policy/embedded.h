/* SPDX-License-Identifier: Apache-2.0 */
/* The files of policies/ at build time. cmake/embed.cmake generates the table, sorted by name. The
 * text has exactly the file's bytes, followed by a NUL that `length` does not count. */
#ifndef BERM_COMMON_POLICY_EMBEDDED_H
#define BERM_COMMON_POLICY_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
	const char *name; /* file name without directory: "default.yml" */
	const char *text;
	size_t length;
};

extern const struct embedded_file embedded_policies[];
extern const size_t embedded_policies_count;

#endif
