/* SPDX-License-Identifier: Apache-2.0 */
/* Punycode (RFC 3492): encodes one label as ASCII, without the prefix "xn--". Never reads or writes
 * past the given lengths. */
#ifndef BERM_COMMON_FORMAT_PUNYCODE_H
#define BERM_COMMON_FORMAT_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More characters than a label of 63 bytes can encode. */
enum { PUNYCODE_MAX = 64 };

/* False if the result needs more than `room` bytes. Adds no NUL. */
bool punycode_encode(const uint32_t *characters, size_t count, char *out, size_t room, size_t *length);
/* False for invalid Punycode and for more than PUNYCODE_MAX characters. */
bool punycode_decode(const char *text, size_t length, uint32_t characters[PUNYCODE_MAX], size_t *count);

#endif
