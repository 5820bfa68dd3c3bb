/* SPDX-License-Identifier: Apache-2.0 */
/* Names of copies: they become directory names and are printed, so that only plain characters are
 * allowed. */
#include "common/copies/copies.h"

#include <string.h>

bool copy_name_is_valid(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t length = strlen(name);
	return length >= 1 && length <= COPY_NAME_MAX && name[0] != '.' && name[0] != '-' && strspn(name, allowed) == length;
}
