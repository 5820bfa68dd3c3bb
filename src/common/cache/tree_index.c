/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes and encodes the index; a new one is made from the old one and the new listings. Opens no
 * file. */
#include "common/cache/tree_index.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/checksum.h"
#include "common/base/text.h"

enum { FORMAT = 1, NS_PER_S = 1000000000, SETTLED_NS = 100000000 };
static const int64_t coarse_settled_ns = INT64_C(2) * NS_PER_S + SETTLED_NS;

static const char magic[8] = { 'b', 'e', 'r', 'm', 'w', 'a', 'l', 'k' };

struct header {
	char magic[8];
	uint64_t checksum; /* of everything after it */
	struct tree_index_owner owner;
	uint32_t format, root_count, record_count, text_size;
};

_Static_assert(sizeof(struct header) % sizeof(uint64_t) == 0 && sizeof(struct tree_index_record) % sizeof(uint64_t) == 0,
	       "the records are aligned");
_Static_assert(sizeof(struct tree_index_record) == sizeof(struct tree_index_stamp) + 4 * sizeof(uint32_t),
	       "no padding is stored");

static const size_t summed_from = offsetof(struct header, owner);

static int time_of_day(struct timespec *now)
{
	return clock_gettime(CLOCK_REALTIME, now);
}

void tree_index_start(struct tree_index *index, const struct tree_index_owner *owner)
{
	*index = (struct tree_index){ .owner = *owner, .clock = time_of_day };
	pthread_mutex_init(&index->lock, NULL);
}

void tree_index_forget(struct tree_index *index)
{
	for (size_t i = 0; i < sizeof index->arenas / sizeof index->arenas[0]; i++)
		arena_free(&index->arenas[i]);
	free(index->replaced);
	index->replaced = NULL;
	index->roots = (struct walk_roots){ 0 };
	index->kept = index->listed = index->learnt = 0;
}

void tree_index_end(struct tree_index *index)
{
	tree_index_forget(index);
	free(index->bytes);
	index->bytes = NULL;
	index->root_count = index->record_count = 0;
	pthread_mutex_destroy(&index->lock);
}

/* Reading. */

/* Checks one component of a path at *at, and moves *at behind its end. */
static bool check_name(const char *text, size_t size, size_t *at)
{
	const char *name = text + *at;
	const char *end = *at < size ? memchr(name, '\0', size - *at) : NULL;
	if (!end || end == name || memchr(name, '/', (size_t)(end - name)) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	*at += (size_t)(end - name) + 1;
	return true;
}

/* A key is compared and never opened. */
static bool check_root(const char *text, size_t size, size_t *at)
{
	const char *key = text + *at;
	const char *end = *at < size ? memchr(key, '\0', size - *at) : NULL;
	if (!end || key[0] != '/')
		return false;
	*at += (size_t)(end - key) + 1;
	return true;
}

static bool check_entries(const char *text, size_t size, size_t *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (*at >= size || text[*at] <= FILE_ABSENT || text[*at] > FILE_UNKNOWN)
			return false;
		++*at;
		if (!check_name(text, size, at))
			return false;
	}
	return true;
}

static bool are_sorted(const struct tree_index *index, const struct tree_index_record *record)
{
	for (uint32_t i = 1; i < record->children; i++)
		if (strcmp(tree_index_name(index, record->first_child + i - 1),
			   tree_index_name(index, record->first_child + i)) >= 0)
			return false;
	return true;
}

/* True if every record is a root or the child of exactly one earlier record, and the texts are
 * adjacent. */
static bool are_valid(const struct tree_index *index, size_t text_size)
{
	uint64_t next = index->root_count;
	size_t at = 0;
	for (uint32_t i = 0; i < index->record_count; i++) {
		const struct tree_index_record *record = &index->records[i];
		const struct tree_index_stamp *stamp = &record->stamp;
		if (next <= i || record->first_child != next || record->text != at || record->zero != 0 ||
		    stamp->changed_ns >= NS_PER_S)
			return false;
		next += record->children;
		if (next > index->record_count)
			return false;
		if (!(i < index->root_count ? check_root : check_name)(index->text, text_size, &at) ||
		    !check_entries(index->text, text_size, &at, stamp->entries))
			return false;
	}
	if (next != index->record_count || at != text_size)
		return false;
	for (uint32_t i = 0; i < index->record_count; i++)
		if (!are_sorted(index, &index->records[i]))
			return false;
	return true;
}

/* Checks the bytes and sets the pointers into them. */
static bool read_all(struct tree_index *index, size_t size)
{
	const char *bytes = index->bytes;
	const struct header *header = index->bytes;
	uint64_t expected;

	if (size < sizeof *header || size > TREE_INDEX_MAX)
		return false;
	if (memcmp(header->magic, magic, sizeof magic) != 0 || header->format != FORMAT ||
	    memcmp(&header->owner, &index->owner, sizeof index->owner) != 0)
		return false;
	expected = sizeof *header + (uint64_t)header->root_count * sizeof *index->devices +
		   (uint64_t)header->record_count * sizeof *index->records + header->text_size;
	if (expected != size || header->checksum != checksum_of(bytes + summed_from, size - summed_from))
		return false;
	bytes += sizeof *header;
	index->devices = (const void *)bytes;
	bytes += header->root_count * sizeof *index->devices;
	index->records = (const void *)bytes;
	index->text = bytes + header->record_count * sizeof *index->records;
	index->root_count = header->root_count;
	index->record_count = header->record_count;
	return header->root_count <= header->record_count && are_valid(index, header->text_size);
}

bool tree_index_read(struct tree_index *index, void *bytes, size_t size)
{
	index->bytes = bytes;
	if (bytes && read_all(index, size))
		return true;
	free(bytes);
	index->bytes = NULL;
	index->root_count = index->record_count = 0;
	return false;
}

/* For the walk. */

/* Clocks tick in steps of up to 10 ms. A file system that stores times in steps of one or two
 * seconds has no nanoseconds. */
bool tree_index_is_settled(int64_t started_s, int64_t started_ns, int64_t changed_s, int64_t changed_ns)
{
	int64_t age_s = started_s - changed_s;
	if (age_s < 0 || age_s > coarse_settled_ns / NS_PER_S + 1)
		return age_s > 0;
	return age_s * NS_PER_S + started_ns - changed_ns >= (changed_ns ? SETTLED_NS : coarse_settled_ns);
}

/* Usually the roots come in the same order as last time. */
uint32_t tree_index_root(const struct tree_index *index, const char *key, uint64_t device)
{
	uint32_t expected = (uint32_t)index->roots.count;
	for (uint32_t i = 0; i < index->root_count; i++) {
		uint32_t at = (expected + i) % index->root_count;
		if (strcmp(tree_index_name(index, at), key) == 0)
			return index->devices[at] == device ? at : WALK_UNKNOWN;
	}
	return WALK_UNKNOWN;
}

uint32_t tree_index_child(const struct tree_index *index, uint32_t parent, const char *name)
{
	uint32_t low, high;
	if (parent == WALK_UNKNOWN)
		return WALK_UNKNOWN;
	low = index->records[parent].first_child;
	high = low + index->records[parent].children;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(tree_index_name(index, middle), name);
		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return WALK_UNKNOWN;
}

struct walk_root *tree_index_add_root(struct tree_index *index, const char *key, uint64_t device)
{
	struct arena *arena = &index->arenas[0];
	struct walk_root *root = arena_push(arena, &index->roots);
	*root = (struct walk_root){ .path = arena_copy(arena, key), .device = device, .found = { .known = WALK_UNKNOWN } };
	return root;
}

struct tree_index_listing *tree_index_list(struct arena *arena)
{
	return arena_alloc(arena, sizeof(struct tree_index_listing));
}

void tree_index_keep(struct arena *arena, struct tree_index_listing *listing, const char *name, enum file_type type)
{
	struct walk_entry *entry = arena_push(arena, &listing->entries);
	*entry = (struct walk_entry){ .name = arena_copy(arena, name), .type = type };
}

void tree_index_enter(struct arena *arena, struct tree_index_listing *listing, const char *name)
{
	struct walk_child *child = arena_push(arena, &listing->children);
	*child = (struct walk_child){ .name = arena_copy(arena, name), .known = WALK_UNKNOWN };
}

void tree_index_replace(struct tree_index *index, uint32_t record, struct tree_index_listing *listing)
{
	pthread_mutex_lock(&index->lock);
	if (!index->replaced)
		index->replaced = calloc(index->record_count, sizeof(struct tree_index_listing *));
	/* Out of memory: the old record stays. It is harmless, because it does not equal the
	 * directory any more. */
	if (index->replaced)
		index->replaced[record] = listing;
	pthread_mutex_unlock(&index->lock);
}

/* Writing: breadth first, so that the children of a directory are adjacent. */

struct writer {
	struct tree_index *index;
	struct arena arena;
	struct {
		struct walk_child *items; /* one for each record */
		size_t count;
	} queue;
	struct text records, text;
};

static int compare_children(const void *left, const void *right)
{
	return strcmp(((const struct walk_child *)left)->name, ((const struct walk_child *)right)->name);
}

static const struct tree_index_listing *listing_of(const struct tree_index *index, const struct walk_child *child)
{
	if (child->listing)
		return child->listing;
	return child->known != WALK_UNKNOWN && index->replaced ? index->replaced[child->known] : NULL;
}

static void add_text(struct writer *writer, const char *name)
{
	text_add_n(&writer->text, name, strlen(name) + 1);
}

static void write_listing(struct writer *writer, const struct tree_index_listing *listing, struct tree_index_record *record)
{
	record->stamp = listing->stamp;
	record->stamp.entries = (uint32_t)listing->entries.count;
	record->children = (uint32_t)listing->children.count;
	for (size_t i = 0; i < listing->entries.count; i++) {
		const char type = (char)listing->entries.items[i].type;
		text_add_n(&writer->text, &type, 1);
		add_text(writer, listing->entries.items[i].name);
	}
	if (listing->children.count > 0)
		qsort(listing->children.items, listing->children.count, sizeof *listing->children.items, compare_children);
	for (size_t i = 0; i < listing->children.count; i++)
		*arena_push(&writer->arena, &writer->queue) = listing->children.items[i];
}

static void write_known(struct writer *writer, uint32_t known, struct tree_index_record *record)
{
	const struct tree_index *index = writer->index;
	const struct tree_index_record *old = &index->records[known];
	const char *start = tree_index_name(index, known), *end;

	start += strlen(start) + 1;
	end = start;
	record->stamp = old->stamp;
	record->children = old->children;
	for (uint32_t i = 0; i < old->stamp.entries; i++)
		end += 1 + strlen(end + 1) + 1;
	text_add_n(&writer->text, start, (size_t)(end - start));
	for (uint32_t i = 0; i < old->children; i++)
		*arena_push(&writer->arena, &writer->queue) =
			(struct walk_child){ .name = tree_index_name(index, old->first_child + i),
					     .known = old->first_child + i };
}

static void write_record(struct writer *writer, size_t number)
{
	const struct walk_child child = writer->queue.items[number];
	const struct tree_index_listing *listing = listing_of(writer->index, &child);
	struct tree_index_record record = { .first_child = (uint32_t)writer->queue.count,
					    .text = (uint32_t)writer->text.length };

	add_text(writer, child.name);
	if (listing)
		write_listing(writer, listing, &record);
	else if (child.known != WALK_UNKNOWN)
		write_known(writer, child.known, &record);
	text_add_n(&writer->records, (const char *)&record, sizeof record);
}

void tree_index_seal(void *bytes, size_t size)
{
	struct header *header = bytes;
	header->checksum = checksum_of((const char *)bytes + summed_from, size - summed_from);
}

/* Joins header, devices, records and text. Returns bytes from malloc, or NULL. */
static void *assemble(struct writer *writer, size_t *size)
{
	const struct tree_index *index = writer->index;
	struct header header = { .owner = index->owner,
				 .format = FORMAT,
				 .root_count = (uint32_t)index->roots.count,
				 .record_count = (uint32_t)writer->queue.count,
				 .text_size = (uint32_t)writer->text.length };
	char *bytes, *at;

	*size = sizeof header + index->roots.count * sizeof(uint64_t) + writer->records.length + writer->text.length;
	bytes = *size <= TREE_INDEX_MAX ? malloc(*size) : NULL;
	if (!bytes)
		return NULL;
	at = bytes + sizeof header;
	for (size_t i = 0; i < index->roots.count; i++, at += sizeof(uint64_t))
		memcpy(at, &index->roots.items[i].device, sizeof(uint64_t));
	memcpy(at, writer->records.data, writer->records.length);
	memcpy(at + writer->records.length, writer->text.data, writer->text.length);
	memcpy(header.magic, magic, sizeof magic);
	memcpy(bytes, &header, sizeof header);
	tree_index_seal(bytes, *size);
	return bytes;
}

void *tree_index_write(struct tree_index *index, size_t *size)
{
	struct writer writer = { .index = index };
	void *bytes = NULL;

	for (size_t i = 0; i < index->roots.count; i++) {
		index->roots.items[i].found.name = index->roots.items[i].path;
		*arena_push(&writer.arena, &writer.queue) = index->roots.items[i].found;
	}
	for (size_t i = 0; i < writer.queue.count; i++) {
		write_record(&writer, i);
		if (writer.records.length + writer.text.length > TREE_INDEX_MAX)
			break;
	}
	if (writer.queue.count > 0)
		bytes = assemble(&writer, size);
	text_free(&writer.records);
	text_free(&writer.text);
	arena_free(&writer.arena);
	return bytes;
}

bool tree_index_is_worth_writing(const struct tree_index *index)
{
	uint64_t total = index->kept + index->listed;
	return index->learnt > 1 + total / 128 || (index->learnt > 0 && total < index->record_count / 2);
}
