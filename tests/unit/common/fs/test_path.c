/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text, resolution on a fake file system, and walks of the real one. */
#include <greatest.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/context/context.h"
#include "common/fs/posix.h"
#include "unit/support/scratch.h"

static struct arena arena;

static const struct filesystem *machine(const char *files)
{
	static struct context context;
	struct error err = { 0 };
	const char *text = arena_printf(&arena, "user: ann\nhome: /home/ann\nproject: /home/ann/app\nfiles: [%s]\n", files);
	if (context_parse(&arena, "machine.yml", text, strlen(text), &context, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	return context.fs;
}

TEST clean_paths(void)
{
	static const struct {
		const char *path;
		bool is_clean;
	} rows[] = {
		{ "/", true },	   { "/a", true },    { "/a/b", true },	    { "/a/..b", true },
		{ "/a/.b", true }, { "/...", true },  { "", false },	    { "a", false },
		{ "//", false },   { "/a/", false },  { "/a//b", false },   { "/.", false },
		{ "/..", false },  { "/a/.", false }, { "/a/../b", false }, { "/a/./b", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQm(rows[i].path, rows[i].is_clean, path_is_absolute_clean(rows[i].path));
	PASS();
}

TEST within(void)
{
	ASSERT(path_is_within("/a/b", "/a"));
	ASSERT(path_is_within("/a", "/a"));
	ASSERT(path_is_within("/a", "/"));
	ASSERT(path_is_within("/", "/"));
	ASSERT_FALSE(path_is_within("/ab", "/a"));
	ASSERT_FALSE(path_is_within("/a", "/a/b"));
	ASSERT_FALSE(path_is_within("/", "/a"));
	PASS();
}

TEST absolute(void)
{
	static const struct {
		const char *base, *path, *expected;
	} rows[] = {
		{ "/p", ".", "/p" },	    { "/p", "./x//y/", "/p/x/y" },
		{ "/p", "/x/./y", "/x/y" }, { "/p", "../x", "/p/../x" },
		{ "/", "x", "/x" },	    { "/", ".", "/" },
		{ "/p", "/", "/" },	    { "/p", "//", "/" },
		{ "/p/", "x", "/p/x" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_STR_EQ(rows[i].expected, path_absolute(&arena, rows[i].base, rows[i].path));
	PASS();
}

TEST parents(void)
{
	ASSERT_STR_EQ("/a", path_parent(&arena, "/a/b"));
	ASSERT_STR_EQ("/", path_parent(&arena, "/a"));
	ASSERT_STR_EQ("/", path_parent(&arena, "/"));
	ASSERT_STR_EQ("b", path_base_name("/a/b"));
	ASSERT_STR_EQ("/b", path_join(&arena, "/", "b"));
	ASSERT_STR_EQ("/a/b", path_join(&arena, "/a", "b"));
	PASS();
}

/* The last byte is for the NUL, and one stays unused if the directory ends with a slash. Longer
 * paths are refused, never cut. */
TEST joins_into_what_there_is(void)
{
	char out[9];
	memset(out, '#', sizeof out);
	ASSERT(path_join_into(out, 7, "/ab", "cd"));
	ASSERT_STR_EQ("/ab/cd", out);
	ASSERT_EQ('#', out[7]);
	memset(out, '#', sizeof out);
	ASSERT_FALSE(path_join_into(out, 6, "/ab", "cd"));
	ASSERT_EQ('#', out[0]);
	ASSERT(path_join_into(out, 4, "/", "b"));
	ASSERT_STR_EQ("/b", out);
	ASSERT_FALSE(path_join_into(out, 3, "/", "b"));
	ASSERT(path_join_into(out, sizeof out, "", "b"));
	ASSERT_STR_EQ("/b", out);
	PASS();
}

TEST resolves(void)
{
	static const char files[] =
		"/usr/bin/sh, \"/bin -> usr/bin\", \"/a -> /b/c\", /b/c/d/, \"/b/up -> ..\", \"/b/abs -> /usr/./bin/\","
		"\"/chain -> /a/d/../\", \"/dangling -> /nowhere/x\", \"/root -> /\"";
	static const struct {
		const char *path, *expected;
		enum file_type type;
		size_t links;
	} rows[] = {
		{ "/", "/", FILE_DIRECTORY, 0 },
		{ "/usr/bin/sh", "/usr/bin/sh", FILE_REGULAR, 0 },
		{ "/bin/sh", "/usr/bin/sh", FILE_REGULAR, 1 },
		{ "/bin/../bin/sh", "/usr/bin/sh", FILE_REGULAR, 1 },
		{ "/a/d", "/b/c/d", FILE_DIRECTORY, 1 },
		{ "/a/..", "/b", FILE_DIRECTORY, 1 },
		{ "/b/up/usr", "/usr", FILE_DIRECTORY, 1 },
		{ "/b/abs/sh", "/usr/bin/sh", FILE_REGULAR, 1 },
		{ "/chain", "/b/c", FILE_DIRECTORY, 2 },
		{ "/root/usr", "/usr", FILE_DIRECTORY, 1 },
		{ "/root", "/", FILE_DIRECTORY, 1 },
		{ "/../..", "/", FILE_DIRECTORY, 0 },
		{ "/a/new/file", "/b/c/new/file", FILE_ABSENT, 1 },
		{ "/dangling", "/nowhere/x", FILE_ABSENT, 1 },
		{ "/dangling/y", "/nowhere/x/y", FILE_ABSENT, 1 },
		{ "//usr///bin/./sh", "/usr/bin/sh", FILE_REGULAR, 0 },
	};
	const struct filesystem *fs = machine(files);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct path_links links = { 0 };
		struct file_info info;
		struct error err = { 0 };
		const char *canonical;
		ASSERT_EQm(rows[i].path, 0, path_resolve(fs, &arena, rows[i].path, &canonical, &links, &info, &err));
		ASSERT_STR_EQ(rows[i].expected, canonical);
		ASSERT_EQm(rows[i].path, rows[i].type, info.type);
		ASSERT_EQm(rows[i].path, rows[i].links, links.count);
		ASSERT(path_is_absolute_clean(canonical));
	}
	PASS();
}

TEST refuses_to_resolve(void)
{
	const struct filesystem *fs = machine("/file, \"/l1 -> l2\", \"/l2 -> l1\", \"/self -> self/x\", \"/flink -> /file\"");
	static const char *const paths[] = { "relative", "/file/x", "/file/",		"/file/..",
					     "/l1",	 "/self",   "/missing/../file", "/flink/" };
	struct error err = { 0 };
	const char *canonical;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		ASSERT_EQm(paths[i], -1, path_resolve(fs, &arena, paths[i], &canonical, NULL, NULL, &err));
	PASS();
}

TEST refuses_what_is_too_long(void)
{
	const struct filesystem *fs = machine("");
	struct error err = { 0 };
	const char *canonical;
	static char path[5000];
	memset(path, 'a', sizeof path - 1);
	path[0] = '/';
	ASSERT_EQ(-1, path_resolve(fs, &arena, path, &canonical, NULL, NULL, &err));
	for (size_t i = 0; i < sizeof path - 1; i += 2)
		path[i] = '/';
	ASSERT_EQ(-1, path_resolve(fs, &arena, path, &canonical, NULL, NULL, &err));
	path[4090] = '\0';
	ASSERT_EQ(0, path_resolve(fs, &arena, path, &canonical, NULL, NULL, &err));
	PASS();
}

/* The entries that a walk visited, sorted afterwards. */
struct seen {
	pthread_mutex_t lock;
	char *paths[20000];
	size_t count;
	const char *skip;
};

static enum walk_step see(void *self, const char *directory, const char *name, enum file_type type)
{
	struct seen *seen = self;
	char path[4200];
	snprintf(path, sizeof path, "%s/%s%s", directory, name, type == FILE_DIRECTORY ? "/" : "");
	pthread_mutex_lock(&seen->lock);
	if (seen->count < 20000)
		seen->paths[seen->count++] = strdup(path);
	pthread_mutex_unlock(&seen->lock);
	return seen->skip && strcmp(name, seen->skip) == 0 ? WALK_SKIP : WALK_DESCEND;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void walk(struct seen *seen, const struct filesystem *fs,
		 int (*how)(const struct filesystem *fs, const char *root,
			    enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
			    void *self, struct error *err),
		 const char *root)
{
	struct error err = { 0 };
	pthread_mutex_init(&seen->lock, NULL);
	if (how(fs, root, see, seen, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	qsort(seen->paths, seen->count, sizeof seen->paths[0], compare);
}

static bool has(const struct seen *seen, const char *path)
{
	return bsearch(&path, seen->paths, seen->count, sizeof seen->paths[0], compare) != NULL;
}

static void drop(struct seen *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		free(seen->paths[i]);
	free(seen);
}

static void build_tree(void)
{
	char path[600];
	mkdir(scratch_path("tree"), 0755);
	for (int i = 0; i < 60; i++) {
		snprintf(path, sizeof path, "%s", scratch_path("tree/d%d", i));
		mkdir(path, 0755);
		for (int k = 0; k < 20; k++) {
			mkdir(scratch_path("tree/d%d/e%d", i, k), 0755);
			scratch_write(scratch_path("tree/d%d/e%d/f", i, k), "", 0, 0644);
		}
	}
	mkdir(scratch_path("outside"), 0755);
	scratch_write(scratch_path("outside/secret"), "", 0, 0644);
	if (symlink("../outside", scratch_path("tree/link")) < 0 || symlink("..", scratch_path("tree/up")) < 0)
		abort();
}

TEST both_walks_see_the_same_and_follow_no_link(void)
{
	struct seen *plain = calloc(1, sizeof *plain), *host = calloc(1, sizeof *host);
	const struct filesystem *fs = filesystem_host();
	build_tree();
	walk(plain, fs, filesystem_posix_walk, scratch_path("tree"));
	walk(host, fs, fs->walk, scratch_path("tree"));
	ASSERT_EQ(60 + 60 * 20 * 2 + 2, plain->count);
	ASSERT_EQ(plain->count, host->count);
	for (size_t i = 0; i < plain->count; i++)
		ASSERT_STR_EQ(plain->paths[i], host->paths[i]);
	ASSERT(has(host, scratch_path("tree/link")));
	ASSERT_FALSE(has(host, scratch_path("tree/link/secret")));
	drop(plain);
	drop(host);
	PASS();
}

TEST walks_skip_what_they_are_told(void)
{
	struct seen *host = calloc(1, sizeof *host);
	const struct filesystem *fs = filesystem_host();
	host->skip = "d7";
	walk(host, fs, fs->walk, scratch_path("tree"));
	ASSERT(has(host, scratch_path("tree/d7/")));
	ASSERT_FALSE(has(host, scratch_path("tree/d7/e1/")));
	ASSERT(has(host, scratch_path("tree/d8/e1/")));
	drop(host);
	PASS();
}

TEST a_walk_of_nothing_is_nothing(void)
{
	struct seen *host = calloc(1, sizeof *host);
	const struct filesystem *fs = filesystem_host();
	walk(host, fs, fs->walk, scratch_path("absent"));
	walk(host, fs, fs->walk, scratch_path("outside/secret"));
	walk(host, fs, fs->walk, scratch_path("tree/link"));
	ASSERT_EQ(0, host->count);
	drop(host);
	PASS();
}

TEST the_host_answers(void)
{
	const struct filesystem *fs = filesystem_host();
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct file_info info;
	char *text;
	size_t length;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", scratch_path("socket"));
	ASSERT_EQ(0, bind(fd, (struct sockaddr *)&address, sizeof address));
	close(fd);
	mkfifo(scratch_path("fifo"), 0600);
	scratch_write(scratch_path("small"), "hello", 5, 0640);
	ASSERT_EQ(0, fs->inspect(fs, scratch_path("socket"), &info));
	ASSERT_EQ(FILE_SOCKET, info.type);
	ASSERT_EQ(0, fs->inspect(fs, scratch_path("fifo"), &info));
	ASSERT_EQ(FILE_FIFO, info.type);
	ASSERT_EQ(0, fs->inspect(fs, scratch_path("small"), &info));
	ASSERT_EQ(FILE_REGULAR, info.type);
	ASSERT_EQ(0640, info.mode);
	ASSERT_EQ(getuid(), info.uid);
	ASSERT_EQ(0, fs->inspect(fs, scratch_path("absent"), &info));
	ASSERT_EQ(FILE_ABSENT, info.type);
	ASSERT_EQ(-1, fs->inspect(fs, scratch_path("small/x"), &info));

	ASSERT_EQ(0, fs->read_small(fs, &arena, scratch_path("small"), 5, &text, &length));
	ASSERT_STR_EQ("hello", text);
	ASSERT_EQ(-1, fs->read_small(fs, &arena, scratch_path("small"), 4, &text, &length));
	ASSERT_EQ(-1, fs->read_small(fs, &arena, scratch_path("fifo"), 4, &text, &length));
	ASSERT_EQ(-1, fs->read_small(fs, &arena, scratch_path("absent"), 4, &text, &length));
	ASSERT_EQ(0, symlink("small", scratch_path("to-small")));
	ASSERT_EQ(-1, fs->read_small(fs, &arena, scratch_path("to-small"), 5, &text, &length));
	ASSERT_EQ(0, fs->read_link(fs, &arena, scratch_path("to-small"), &text));
	ASSERT_STR_EQ("small", text);
	PASS();
}

/* Where commands can write, a directory may be replaced by a symlink at any time. */
TEST what_is_there_is_not_behind_a_link(void)
{
	const struct filesystem *fs = filesystem_host();
	if (!fs->is_there)
		SKIPm("this system cannot say");
	ASSERT_EQ(0, mkdir(scratch_path("repository"), 0755));
	ASSERT_EQ(0, mkdir(scratch_path("repository/.git"), 0755));
	ASSERT_EQ(0, symlink("repository", scratch_path("to-repository")));
	ASSERT_EQ(0, symlink("nowhere", scratch_path("repository/dangling")));
	ASSERT(fs->is_there(fs, scratch_path("repository/.git")));
	ASSERT(fs->is_there(fs, scratch_path("repository/dangling")));
	ASSERT_FALSE(fs->is_there(fs, scratch_path("repository/absent")));
	ASSERT_EQ(0, access(scratch_path("to-repository/.git"), F_OK)); /* control */
	ASSERT_FALSE(fs->is_there(fs, scratch_path("to-repository/.git")));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(clean_paths);
	RUN_TEST(within);
	RUN_TEST(absolute);
	RUN_TEST(parents);
	RUN_TEST(joins_into_what_there_is);
	RUN_TEST(resolves);
	RUN_TEST(refuses_to_resolve);
	RUN_TEST(refuses_what_is_too_long);
	RUN_TEST(both_walks_see_the_same_and_follow_no_link);
	RUN_TEST(walks_skip_what_they_are_told);
	RUN_TEST(a_walk_of_nothing_is_nothing);
	RUN_TEST(the_host_answers);
	RUN_TEST(what_is_there_is_not_behind_a_link);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
