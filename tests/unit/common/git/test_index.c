/* SPDX-License-Identifier: Apache-2.0 */
/* Submodules in an index, by versions and lengths of hashes. Indexes that git wrote itself are in
 * the escape suite. */
#include <greatest.h>

#include <stdint.h>
#include <string.h>

#include "common/git/index.h"

static struct arena arena;

struct file {
	unsigned char bytes[4096];
	size_t length;
};

static void add(struct file *file, const void *bytes, size_t length)
{
	memcpy(file->bytes + file->length, bytes, length);
	file->length += length;
}

static void add_number(struct file *file, uint32_t number)
{
	const unsigned char bytes[] = { (unsigned char)(number >> 24), (unsigned char)(number >> 16),
					(unsigned char)(number >> 8), (unsigned char)number };
	add(file, bytes, sizeof bytes);
}

static void begin(struct file *file, uint32_t version, uint32_t count)
{
	*file = (struct file){ 0 };
	add(file, "DIRC", 4);
	add_number(file, version);
	add_number(file, count);
}

/* In version 4 `name` is what follows the kept part of the last one, after `dropped` bytes. */
static void add_entry(struct file *file, uint32_t version, size_t hash, uint32_t mode, unsigned dropped, const char *name)
{
	static const unsigned char zeros[64];
	const unsigned char strip = (unsigned char)dropped;
	size_t start = file->length;
	add(file, zeros, 24);
	add_number(file, mode);
	add(file, zeros, 12 + hash + 2);
	if (version == 4)
		add(file, &strip, 1);
	add(file, name, strlen(name) + 1);
	while (version < 4 && (file->length - start) % 8 != 0)
		add(file, zeros, 1);
}

static const char *parse(const struct file *file, char shared[2][GIT_INDEX_SHARED])
{
	struct git_paths paths = { 0 };
	const char *list = "";
	git_index_parse(&arena, (const char *)file->bytes, file->length, &paths, shared);
	for (size_t i = 0; i < paths.count; i++)
		list = arena_printf(&arena, "%s%s ", list, paths.items[i]);
	return list;
}

TEST every_version(void)
{
	static const size_t hashes[] = { 20, 32 };
	char shared[2][GIT_INDEX_SHARED];
	for (uint32_t version = 2; version <= 4; version++)
		for (size_t i = 0; i < 2; i++) {
			struct file file;
			begin(&file, version, 3);
			add_entry(&file, version, hashes[i], 0100644, 0, "a/file");
			add_entry(&file, version, hashes[i], 0160000, 4, version == 4 ? "sub" : "a/sub");
			add_entry(&file, version, hashes[i], 0160000, 0, version == 4 ? "/x" : "a/sub/x");
			ASSERT_STR_EQ("a/sub a/sub/x ", parse(&file, shared));
			ASSERT_STR_EQ("", shared[0]);
		}
	PASS();
}

TEST a_shared_index_is_named(void)
{
	char shared[2][GIT_INDEX_SHARED];
	struct file file;
	begin(&file, 2, 0);
	add(&file, "TREE\0\0\0\1x", 9);
	add(&file, "link\0\0\0\50", 8);
	add(&file, "\1\2\3\4\5\6\7\10\1\2\3\4\5\6\7\10\1\2\3\4", 20);
	add(&file, (const char[20]){ 0 }, 20);
	ASSERT_STR_EQ("", parse(&file, shared));
	ASSERT_STR_EQ("0102030405060708010203040506070801020304", shared[0]);
	PASS();
}

/* Cut anywhere, it is read up to the cut and never beyond. */
TEST a_cut_index(void)
{
	char shared[2][GIT_INDEX_SHARED];
	for (uint32_t version = 2; version <= 4; version++) {
		struct file file;
		size_t length;
		begin(&file, version, 2);
		add_entry(&file, version, 20, 0160000, 0, "s");
		add_entry(&file, version, 20, 0160000, 200, "t"); /* more than there is */
		for (length = file.length; length > 0; length--) {
			file.length = length - 1;
			(void)parse(&file, shared);
		}
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_version);
	RUN_TEST(a_shared_index_is_named);
	RUN_TEST(a_cut_index);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
