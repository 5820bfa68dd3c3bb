/* SPDX-License-Identifier: Apache-2.0 */
/* Never allocates and never prints: errors must be reportable when memory is exhausted. */
#include "common/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void append(char *buffer, size_t size, const char *format, va_list arguments)
{
	size_t used = strnlen(buffer, size);
	if (used + 1 < size)
		vsnprintf(buffer + used, size - used, format, arguments);
}

int error_set(struct error *err, const char *format, ...)
{
	va_list arguments;
	memset(err, 0, sizeof *err);
	va_start(arguments, format);
	append(err->message, sizeof err->message, format, arguments);
	va_end(arguments);
	return -1;
}

int error_errno(struct error *err, int number, const char *format, ...)
{
	va_list arguments;
	size_t used;
	memset(err, 0, sizeof *err);
	err->number = number;
	va_start(arguments, format);
	append(err->message, sizeof err->message, format, arguments);
	va_end(arguments);
	used = strlen(err->message);
	snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(number));
	return -1;
}

int error_hint(struct error *err, const char *format, ...)
{
	va_list arguments;
	size_t used = strlen(err->hint);
	if (used > 0 && used + 1 < sizeof err->hint) {
		err->hint[used] = '\n';
		err->hint[used + 1] = '\0';
	}
	va_start(arguments, format);
	append(err->hint, sizeof err->hint, format, arguments);
	va_end(arguments);
	return -1;
}

bool error_is_set(const struct error *err)
{
	return err->message[0] != '\0';
}
