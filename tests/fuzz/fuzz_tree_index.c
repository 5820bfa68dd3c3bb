/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a walk's memory, which damage may have made anything. What is taken for one is in
 * order (every record has one parent, every name is one component and is found again) and is
 * written as the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cache/tree_index.h"
#include "fuzz/property.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, HEADER = 8 + 8 };

static const struct tree_index_owner owner = { 1, 2, 3, 4, 5 };

static void judge_record(const struct tree_index *memory, uint32_t number, unsigned char *parents)
{
	const struct tree_index_record *record = &memory->records[number];
	const char *text = tree_index_name(memory, number);

	PROPERTY(number < memory->root_count ? text[0] == '/' : !strchr(text, '/') && text[0] != '\0');
	for (uint32_t i = 0; i < record->stamp.entries; i++) {
		text += strlen(text) + 1;
		PROPERTY(text[0] > FILE_ABSENT && text[0] <= FILE_UNKNOWN && text[1] != '\0' && !strchr(text + 1, '/'));
	}
	for (uint32_t i = 0; i < record->children; i++) {
		uint32_t child = record->first_child + i;
		PROPERTY(child > number && child < memory->record_count);
		PROPERTY(tree_index_child(memory, number, tree_index_name(memory, child)) == child);
		parents[child]++;
	}
}

static void judge(struct tree_index *memory, const uint8_t *bytes, size_t size)
{
	unsigned char *parents = calloc(memory->record_count + 1, 1);
	size_t again_size;
	void *again;

	for (uint32_t i = 0; parents && i < memory->record_count; i++)
		judge_record(memory, i, parents);
	for (uint32_t i = 0; parents && i < memory->record_count; i++)
		PROPERTY(parents[i] == (i >= memory->root_count));
	free(parents);
	for (uint32_t i = 0; i < memory->root_count; i++)
		tree_index_add_root(memory, tree_index_name(memory, i), memory->devices[i])->found.known = i;
	again = tree_index_write(memory, &again_size);
	/* Nothing at all is not written. */
	PROPERTY(memory->root_count == 0 ? !again : again && again_size == size && memcmp(again, bytes, size) == 0);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tree_index memory;
	uint8_t *bytes, *copy;

	if (size < HEADER + sizeof owner || size > INPUT_MAX)
		return 0;
	bytes = malloc(size);
	copy = malloc(size);
	PROPERTY(bytes && copy);
	memcpy(bytes, data, size);
	/* Past the first look: what is behind it is what matters. */
	memcpy(bytes, "bermwalk", 8);
	memcpy(bytes + HEADER, &owner, sizeof owner);
	tree_index_seal(bytes, size);
	memcpy(copy, bytes, size);
	tree_index_start(&memory, &owner);
	if (tree_index_read(&memory, bytes, size))
		judge(&memory, copy, size);
	tree_index_end(&memory);
	free(copy);
	return 0;
}
