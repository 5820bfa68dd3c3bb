/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of *.pem and *.key. Input: a file. A second judge, which knows single lines only,
 * agrees about every line of a public text; a private key anywhere hides the whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/pem.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char private_block[] = "\n-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
static const char public_block[] = "\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/* Judges a copy of exactly this size, so that a read beyond it is found. */
static enum pem_verdict judge(const char *first, size_t first_size, const char *second, size_t second_size)
{
	size_t size = first_size + second_size;
	char *copy = malloc(size ? size : 1);
	struct pem_contents contents;
	enum pem_verdict verdict;
	size_t blocks = 0;
	PROPERTY(copy);
	if (first_size > 0)
		memcpy(copy, first, first_size);
	if (second_size > 0)
		memcpy(copy + first_size, second, second_size);
	verdict = pem_judge(copy, size, &contents);
	for (size_t i = 0; i < PEM_KIND_COUNT; i++)
		blocks += contents.counts[i];
	PROPERTY(verdict != PEM_PUBLIC || blocks > 0);
	PROPERTY(verdict != PEM_EMPTY || blocks == 0);
	free(copy);
	return verdict;
}

static bool is_plain_line(const char *line, size_t length)
{
	static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t";
	while (length > 0 && strchr(" \t\r", line[length - 1]))
		length--;
	if (length == 0 || line[0] == '#')
		return true;
	if (line[0] == '-')
		return !memmem(line, length, "PRIVATE", 7);
	for (size_t i = 0; i < length; i++)
		if (!line[i] || !strchr(base64, line[i]))
			return false;
	return true;
}

static void check_lines(const char *text, size_t size)
{
	while (size > 0) {
		const char *newline = memchr(text, '\n', size);
		size_t length = newline ? (size_t)(newline - text) : size;
		PROPERTY(!memchr(text, '\0', length));
		PROPERTY(is_plain_line(text, length));
		text += length;
		size -= length;
		if (newline) {
			text++;
			size--;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	enum pem_verdict verdict = judge(text, size, NULL, 0), after, before;

	after = judge(text, size, private_block, sizeof private_block - 1);
	before = judge(private_block, sizeof private_block - 1, text, size);
	PROPERTY(after != PEM_PUBLIC && after != PEM_EMPTY);
	PROPERTY(before == PEM_OTHER_KIND);
	if (verdict == PEM_PUBLIC || verdict == PEM_EMPTY) {
		check_lines(text, size);
		PROPERTY(judge(text, size, public_block, sizeof public_block - 1) == PEM_PUBLIC);
	} else {
		PROPERTY(judge(public_block, sizeof public_block - 1, text, size) == verdict);
		/* The first LF of the block completes a CR at the end. */
		PROPERTY(text[size - 1] == '\r' || judge(text, size, public_block, sizeof public_block - 1) != PEM_PUBLIC);
	}
	return 0;
}
