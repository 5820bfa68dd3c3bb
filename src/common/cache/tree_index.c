/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a walk's memory, and how a new one is put together from the old one and from what was listed. Opens nothing. */
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
	uint64_t checksum; /* of all that follows */
	struct walk_owner owner;
	uint32_t format, root_count, record_count, text_size;
};

_Static_assert(sizeof(struct header) % sizeof(uint64_t) == 0 && sizeof(struct walk_record) % sizeof(uint64_t) == 0,
	       "what follows is aligned");
_Static_assert(sizeof(struct walk_record) == sizeof(struct walk_stamp) + 4 * sizeof(uint32_t), "no padding is stored");

static const size_t summed_from = offsetof(struct header, owner);

void walk_memory_start(struct walk_memory *memory, const struct walk_owner *owner)
{
	*memory = (struct walk_memory){ .owner = *owner };
	pthread_mutex_init(&memory->lock, NULL);
}

void walk_memory_forget(struct walk_memory *memory)
{
	for (size_t i = 0; i < sizeof memory->arenas / sizeof memory->arenas[0]; i++)
		arena_free(&memory->arenas[i]);
	free(memory->replaced);
	memory->replaced = NULL;
	memory->roots = (struct walk_roots){ 0 };
	memory->kept = memory->listed = memory->learnt = 0;
}

void walk_memory_end(struct walk_memory *memory)
{
	walk_memory_forget(memory);
	free(memory->bytes);
	memory->bytes = NULL;
	memory->root_count = memory->record_count = 0;
	pthread_mutex_destroy(&memory->lock);
}

/* Reading. */

/* One component of a path at *at, which is moved behind its end. */
static bool take_name(const char *text, size_t size, size_t *at)
{
	const char *name = text + *at;
	const char *end = *at < size ? memchr(name, '\0', size - *at) : NULL;
	if (!end || end == name || memchr(name, '/', (size_t)(end - name)) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	*at += (size_t)(end - name) + 1;
	return true;
}

static bool take_root(const char *text, size_t size, size_t *at)
{
	const char *path = text + *at;
	const char *end = *at < size ? memchr(path, '\0', size - *at) : NULL;
	if (!end || !path_is_absolute_clean(path))
		return false;
	*at += (size_t)(end - path) + 1;
	return true;
}

static bool take_entries(const char *text, size_t size, size_t *at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (*at >= size || text[*at] <= FILE_ABSENT || text[*at] > FILE_UNKNOWN)
			return false;
		++*at;
		if (!take_name(text, size, at))
			return false;
	}
	return true;
}

static bool are_sorted(const struct walk_memory *memory, const struct walk_record *record)
{
	for (uint32_t i = 1; i < record->children; i++)
		if (strcmp(walk_memory_name(memory, record->first_child + i - 1),
			   walk_memory_name(memory, record->first_child + i)) >= 0)
			return false;
	return true;
}

/* Every record is the child of exactly one that comes before it, or a root; texts follow each other without a gap. */
static bool are_valid(const struct walk_memory *memory, size_t text_size)
{
	uint64_t next = memory->root_count;
	size_t at = 0;
	for (uint32_t i = 0; i < memory->record_count; i++) {
		const struct walk_record *record = &memory->records[i];
		const struct walk_stamp *stamp = &record->stamp;
		if (next <= i || record->first_child != next || record->text != at || record->zero != 0 ||
		    stamp->changed_ns >= NS_PER_S)
			return false;
		next += record->children;
		if (next > memory->record_count)
			return false;
		if (!(i < memory->root_count ? take_root : take_name)(memory->text, text_size, &at) ||
		    !take_entries(memory->text, text_size, &at, stamp->entries))
			return false;
	}
	if (next != memory->record_count || at != text_size)
		return false;
	for (uint32_t i = 0; i < memory->record_count; i++)
		if (!are_sorted(memory, &memory->records[i]))
			return false;
	return true;
}

static bool read_all(struct walk_memory *memory, size_t size)
{
	const char *bytes = memory->bytes;
	const struct header *header = memory->bytes;
	uint64_t expected;

	if (size < sizeof *header || size > WALK_MEMORY_MAX)
		return false;
	if (memcmp(header->magic, magic, sizeof magic) != 0 || header->format != FORMAT ||
	    memcmp(&header->owner, &memory->owner, sizeof memory->owner) != 0)
		return false;
	expected = sizeof *header + (uint64_t)header->root_count * sizeof *memory->devices +
		   (uint64_t)header->record_count * sizeof *memory->records + header->text_size;
	if (expected != size || header->checksum != checksum_of(bytes + summed_from, size - summed_from))
		return false;
	bytes += sizeof *header;
	memory->devices = (const void *)bytes;
	bytes += header->root_count * sizeof *memory->devices;
	memory->records = (const void *)bytes;
	memory->text = bytes + header->record_count * sizeof *memory->records;
	memory->root_count = header->root_count;
	memory->record_count = header->record_count;
	return header->root_count <= header->record_count && are_valid(memory, header->text_size);
}

bool walk_memory_read(struct walk_memory *memory, void *bytes, size_t size)
{
	memory->bytes = bytes;
	if (bytes && read_all(memory, size))
		return true;
	free(bytes);
	memory->bytes = NULL;
	memory->root_count = memory->record_count = 0;
	return false;
}

/* For the walk. */

/* Clocks tick in steps of up to 10 ms; a file system that keeps whole seconds, or pairs of them, shows no nanoseconds. */
bool walk_memory_is_settled(int64_t started_s, int64_t started_ns, int64_t changed_s, int64_t changed_ns)
{
	int64_t age_s = started_s - changed_s;
	if (age_s < 0 || age_s > coarse_settled_ns / NS_PER_S + 1)
		return age_s > 0;
	return age_s * NS_PER_S + started_ns - changed_ns >= (changed_ns ? SETTLED_NS : coarse_settled_ns);
}

uint32_t walk_memory_root(const struct walk_memory *memory, const char *path, uint64_t device)
{
	for (uint32_t i = 0; i < memory->root_count; i++)
		if (strcmp(walk_memory_name(memory, i), path) == 0)
			return memory->devices[i] == device ? i : WALK_UNKNOWN;
	return WALK_UNKNOWN;
}

uint32_t walk_memory_child(const struct walk_memory *memory, uint32_t parent, const char *name)
{
	uint32_t low, high;
	if (parent == WALK_UNKNOWN)
		return WALK_UNKNOWN;
	low = memory->records[parent].first_child;
	high = low + memory->records[parent].children;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(walk_memory_name(memory, middle), name);
		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return WALK_UNKNOWN;
}

struct walk_root *walk_memory_add_root(struct walk_memory *memory, const char *path, uint64_t device)
{
	struct arena *arena = &memory->arenas[0];
	struct walk_root *root = arena_push(arena, &memory->roots);
	*root = (struct walk_root){ .path = arena_copy(arena, path), .device = device, .found = { .known = WALK_UNKNOWN } };
	return root;
}

struct walk_listing *walk_memory_list(struct arena *arena)
{
	return arena_alloc(arena, sizeof(struct walk_listing));
}

void walk_memory_remark(struct arena *arena, struct walk_listing *listing, const char *name, enum file_type type)
{
	struct walk_entry *entry = arena_push(arena, &listing->entries);
	*entry = (struct walk_entry){ .name = arena_copy(arena, name), .type = type };
}

void walk_memory_enter(struct arena *arena, struct walk_listing *listing, const char *name)
{
	struct walk_child *child = arena_push(arena, &listing->children);
	*child = (struct walk_child){ .name = arena_copy(arena, name), .known = WALK_UNKNOWN };
}

void walk_memory_replace(struct walk_memory *memory, uint32_t record, struct walk_listing *listing)
{
	pthread_mutex_lock(&memory->lock);
	if (!memory->replaced)
		memory->replaced = calloc(memory->record_count, sizeof(struct walk_listing *));
	/* Without memory the old record stays: it is not the same as that directory any more, so that it does no harm. */
	if (memory->replaced)
		memory->replaced[record] = listing;
	pthread_mutex_unlock(&memory->lock);
}

/* Writing: breadth first, so that children follow each other. */

struct writer {
	struct walk_memory *memory;
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

static const struct walk_listing *listing_of(const struct walk_memory *memory, const struct walk_child *child)
{
	if (child->listing)
		return child->listing;
	return child->known != WALK_UNKNOWN && memory->replaced ? memory->replaced[child->known] : NULL;
}

static void add_text(struct writer *writer, const char *name)
{
	text_add_n(&writer->text, name, strlen(name) + 1);
}

static void write_listing(struct writer *writer, const struct walk_listing *listing, struct walk_record *record)
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

static void write_known(struct writer *writer, uint32_t known, struct walk_record *record)
{
	const struct walk_memory *memory = writer->memory;
	const struct walk_record *old = &memory->records[known];
	const char *start = walk_memory_name(memory, known), *end;

	start += strlen(start) + 1;
	end = start;
	record->stamp = old->stamp;
	record->children = old->children;
	for (uint32_t i = 0; i < old->stamp.entries; i++)
		end += 1 + strlen(end + 1) + 1;
	text_add_n(&writer->text, start, (size_t)(end - start));
	for (uint32_t i = 0; i < old->children; i++)
		*arena_push(&writer->arena, &writer->queue) =
			(struct walk_child){ .name = walk_memory_name(memory, old->first_child + i),
					     .known = old->first_child + i };
}

static void write_record(struct writer *writer, size_t number)
{
	const struct walk_child child = writer->queue.items[number];
	const struct walk_listing *listing = listing_of(writer->memory, &child);
	struct walk_record record = { .first_child = (uint32_t)writer->queue.count, .text = (uint32_t)writer->text.length };

	add_text(writer, child.name);
	if (listing)
		write_listing(writer, listing, &record);
	else if (child.known != WALK_UNKNOWN)
		write_known(writer, child.known, &record);
	text_add_n(&writer->records, (const char *)&record, sizeof record);
}

void walk_memory_seal(void *bytes, size_t size)
{
	struct header *header = bytes;
	header->checksum = checksum_of((const char *)bytes + summed_from, size - summed_from);
}

static void *put_together(struct writer *writer, size_t *size)
{
	const struct walk_memory *memory = writer->memory;
	struct header header = { .owner = memory->owner,
				 .format = FORMAT,
				 .root_count = (uint32_t)memory->roots.count,
				 .record_count = (uint32_t)writer->queue.count,
				 .text_size = (uint32_t)writer->text.length };
	char *bytes, *at;

	*size = sizeof header + memory->roots.count * sizeof(uint64_t) + writer->records.length + writer->text.length;
	bytes = *size <= WALK_MEMORY_MAX ? malloc(*size) : NULL;
	if (!bytes)
		return NULL;
	at = bytes + sizeof header;
	for (size_t i = 0; i < memory->roots.count; i++, at += sizeof(uint64_t))
		memcpy(at, &memory->roots.items[i].device, sizeof(uint64_t));
	memcpy(at, writer->records.data, writer->records.length);
	memcpy(at + writer->records.length, writer->text.data, writer->text.length);
	memcpy(header.magic, magic, sizeof magic);
	memcpy(bytes, &header, sizeof header);
	walk_memory_seal(bytes, *size);
	return bytes;
}

void *walk_memory_write(struct walk_memory *memory, size_t *size)
{
	struct writer writer = { .memory = memory };
	void *bytes = NULL;

	for (size_t i = 0; i < memory->roots.count; i++) {
		memory->roots.items[i].found.name = memory->roots.items[i].path;
		*arena_push(&writer.arena, &writer.queue) = memory->roots.items[i].found;
	}
	for (size_t i = 0; i < writer.queue.count; i++) {
		write_record(&writer, i);
		if (writer.records.length + writer.text.length > WALK_MEMORY_MAX)
			break;
	}
	if (writer.queue.count > 0)
		bytes = put_together(&writer, size);
	text_free(&writer.records);
	text_free(&writer.text);
	arena_free(&writer.arena);
	return bytes;
}

bool walk_memory_is_worth_writing(const struct walk_memory *memory)
{
	uint64_t total = memory->kept + memory->listed;
	return memory->learnt > 1 + total / 128 || (memory->learnt > 0 && total < memory->record_count / 2);
}
