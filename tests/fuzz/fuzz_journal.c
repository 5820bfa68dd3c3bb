/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a journal of `berm apply`. The checksum is put right, so that what is behind it is
 * reached. What is taken for a journal has only paths inside the project and is written as the same
 * bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/checksum.h"
#include "common/copies/journal.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16 };

static void judge(const char *bytes, size_t size)
{
	struct arena arena = { 0 };
	struct text again = { 0 };
	struct journal journal;
	struct journal_states states;

	if (journal_decode(&arena, bytes, size, &journal)) {
		PROPERTY(copy_name_is_valid(journal.copy));
		for (size_t i = 0; i < journal.count; i++) {
			const char *path = journal.items[i].path;
			PROPERTY(path[0] != '/' && path[0] != '\0' && !strstr(path, "//") && strcmp(path, "..") != 0);
			PROPERTY(strncmp(path, "../", 3) != 0 && !strstr(path, "/../"));
			PROPERTY(journal.items[i].kind < JOURNAL_KINDS);
		}
		journal_encode(&journal, &again);
		PROPERTY(again.length == size && memcmp(again.data, bytes, size) == 0);
	} else if (journal_decode_states(&arena, bytes, size, &states)) {
		journal_encode_states(&states, &again);
		PROPERTY(again.length == size && memcmp(again.data, bytes, size) == 0);
	}
	text_free(&again);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sum;
	char *bytes;

	if (size > INPUT_MAX)
		return 0;
	bytes = malloc(size + sizeof sum);
	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	judge(bytes, size);
	sum = checksum_of(bytes, size);
	memcpy(bytes + size, &sum, sizeof sum);
	judge(bytes, size + sizeof sum);
	free(bytes);
	return 0;
}
