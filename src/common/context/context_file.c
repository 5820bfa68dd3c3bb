/* SPDX-License-Identifier: Apache-2.0 */
/* A described machine: a context and a file system that exist only as text, for `--context=FILE`
 * and tests. Never reads the real machine. */
#include "common/context/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/yaml.h"
#include "common/base/text.h"

struct fake_file {
	const char *path;
	struct file_info info;
	const char *target; /* of a symlink */
	const char *text; /* of a regular file */
	bool is_implicit; /* a parent that is not listed */
};

struct fake {
	struct fake_file *items;
	size_t count;
};

struct reader {
	struct yaml document;
	struct context *context;
	struct fake *fake;
	bool is_case_insensitive, has_case;
};

/* `/` sorts before every other byte, so that the entries below a directory follow it directly. */
static int compare_paths(const char *left, const char *right)
{
	while (*left && *left == *right) {
		left++;
		right++;
	}
	if (*left == *right)
		return 0;
	if (*left == '\0' || *right == '\0')
		return *left == '\0' ? -1 : 1;
	if (*left == '/' || *right == '/')
		return *left == '/' ? -1 : 1;
	return (unsigned char)*left < (unsigned char)*right ? -1 : 1;
}

static int compare_files(const void *left, const void *right)
{
	const struct fake_file *a = left, *b = right;
	int order = compare_paths(a->path, b->path);
	return order ? order : (int)a->is_implicit - (int)b->is_implicit;
}

static const struct fake_file *fake_find(const struct filesystem *fs, const char *path)
{
	const struct fake *fake = fs->self;
	size_t low = 0, high = fake->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_paths(path, fake->items[middle].path);
		if (order == 0)
			return &fake->items[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int fake_inspect(const struct filesystem *fs, const char *path, struct file_info *info)
{
	const struct fake_file *file = fake_find(fs, path);
	*info = file ? file->info : (struct file_info){ .type = FILE_ABSENT };
	return 0;
}

static int fake_read_link(const struct filesystem *fs, struct arena *arena, const char *path, char **target)
{
	const struct fake_file *file = fake_find(fs, path);
	if (!file || file->info.type != FILE_SYMLINK) {
		errno = file ? EINVAL : ENOENT;
		return -1;
	}
	*target = arena_copy(arena, file->target);
	return 0;
}

static int fake_read_small(const struct filesystem *fs, struct arena *arena, const char *path, size_t limit, char **text,
			   size_t *length)
{
	const struct fake_file *file = fake_find(fs, path);
	if (!file || file->info.type != FILE_REGULAR) {
		errno = file ? EINVAL : ENOENT;
		return -1;
	}
	*length = strlen(file->text);
	if (*length > limit) {
		errno = EFBIG;
		return -1;
	}
	*text = arena_copy(arena, file->text);
	return 0;
}

/* Every described socket is bound. */
static int fake_list_sockets(const struct filesystem *fs, void (*visit)(void *self, const char *path), void *self,
			     struct error *err)
{
	const struct fake *fake = fs->self;
	(void)err;
	for (size_t i = 0; i < fake->count; i++)
		if (fake->items[i].info.type == FILE_SOCKET)
			visit(self, fake->items[i].path);
	return 0;
}

static int fake_walk(const struct filesystem *fs, const char *root,
		     enum walk_step (*visit)(void *self, const char *directory, const char *name, enum file_type type),
		     void *self, struct error *err)
{
	const struct fake *fake = fs->self;
	const struct fake_file *start = fake_find(fs, root);
	const char *skipped = NULL;
	(void)err;
	if (!start || start->info.type != FILE_DIRECTORY)
		return 0;
	for (const struct fake_file *file = start + 1; file < fake->items + fake->count; file++) {
		struct arena scratch = { 0 };
		enum walk_step step;
		if (!path_is_within(file->path, root))
			break;
		if (skipped && path_is_within(file->path, skipped))
			continue;
		step = visit(self, path_parent(&scratch, file->path), path_base_name(file->path), file->info.type);
		skipped = step == WALK_SKIP ? file->path : NULL;
		arena_free(&scratch);
	}
	return 0;
}

/* Files in the home and the project belong to the user, the rest to root. */
static struct fake_file *add_file(struct reader *reader, const char *path, enum file_type type)
{
	struct fake_file *file = arena_push(reader->document.arena, reader->fake);
	file->path = path;
	file->info.type = type;
	file->info.device = 1;
	file->info.links = 1;
	file->info.mode = type == FILE_DIRECTORY ? 0755 : 0644;
	file->info.uid = (uid_t)-1;
	file->text = "";
	return file;
}

static void complain(struct reader *reader, const struct yaml_node *node, const char *what)
{
	yaml_complain(&reader->document, node->line, node->column, NULL, "%s", what);
}

static const char *scalar(struct reader *reader, const struct yaml_node *node)
{
	if (node && node->kind == NODE_SCALAR)
		return node->text;
	if (node)
		complain(reader, node, "a single value is expected here");
	return NULL;
}

static const char *clean_path(struct reader *reader, const struct yaml_node *node)
{
	const char *text = scalar(reader, node);
	if (text && path_is_absolute_clean(text))
		return text;
	if (text)
		complain(reader, node, "an absolute path without `.`, `..` and trailing slash is expected here");
	return NULL;
}

/* Reads a file in the short form: "/dir/", "/file", "/link -> target". */
static void read_short_file(struct reader *reader, const struct yaml_node *node)
{
	struct arena *arena = reader->document.arena;
	const char *arrow = strstr(node->text, " -> ");
	size_t length = arrow ? (size_t)(arrow - node->text) : strlen(node->text);
	bool is_directory = length > 1 && node->text[length - 1] == '/';
	const char *path = arena_copy_n(arena, node->text, is_directory ? length - 1 : length);

	if (!path_is_absolute_clean(path) || (arrow && arrow[4] == '\0')) {
		complain(reader, node, "an absolute path, a path with a trailing slash or \"path -> target\" is expected here");
		return;
	}
	if (arrow)
		add_file(reader, path, FILE_SYMLINK)->target = arena_copy(arena, arrow + 4);
	else
		add_file(reader, path, is_directory || path[1] == '\0' ? FILE_DIRECTORY : FILE_REGULAR);
}

static const struct {
	const char *name;
	enum file_type type;
} type_names[] = {
	{ "file", FILE_REGULAR },  { "directory", FILE_DIRECTORY }, { "socket", FILE_SOCKET },
	{ "device", FILE_DEVICE }, { "fifo", FILE_FIFO },
};

static void read_type(struct reader *reader, const struct yaml_node *node, const char *name, struct fake_file *file)
{
	for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
		if (strcmp(name, type_names[i].name) != 0)
			continue;
		file->info.type = type_names[i].type;
		if (file->info.type == FILE_DIRECTORY)
			file->info.mode = 0755;
		return;
	}
	complain(reader, node, "one of file, directory, socket, device, fifo is expected here");
}

static void read_number(struct reader *reader, const struct yaml_node *node, const char *text, uint64_t *value)
{
	if (!text_parse_u64(text, UINT32_MAX, value))
		complain(reader, node, "a number is expected here");
}

static void read_mode(struct reader *reader, const struct yaml_node *node, const char *text, mode_t *mode)
{
	char *end;
	unsigned long value = strtoul(text, &end, 8);
	if (*text < '0' || *text > '7' || *end || value > 07777)
		complain(reader, node, "an octal mode is expected here");
	else
		*mode = (mode_t)value;
}

/* Replaces `\\n` by a line break, which the YAML subset does not allow in a value. */
static const char *with_line_breaks(struct arena *arena, const char *text)
{
	char *copy = arena_copy(arena, text), *out = copy;
	for (const char *at = text; *at; at++) {
		bool is_break = at[0] == '\\' && at[1] == 'n';
		*out++ = is_break ? '\n' : *at;
		at += is_break;
	}
	*out = '\0';
	return copy;
}

static void read_file_key(struct reader *reader, const struct yaml_node *key, struct fake_file *file)
{
	const char *text = scalar(reader, key->value);
	uint64_t number = 0;
	if (!text)
		return;
	if (strcmp(key->text, "path") == 0) {
		file->path = clean_path(reader, key->value);
	} else if (strcmp(key->text, "text") == 0) {
		file->text = with_line_breaks(reader->document.arena, text);
	} else if (strcmp(key->text, "type") == 0) {
		read_type(reader, key->value, text, file);
	} else if (strcmp(key->text, "mode") == 0) {
		read_mode(reader, key->value, text, &file->info.mode);
	} else if (strcmp(key->text, "uid") == 0) {
		read_number(reader, key->value, text, &number);
		file->info.uid = (uid_t)number;
	} else if (strcmp(key->text, "links") == 0) {
		read_number(reader, key->value, text, &file->info.links);
	} else if (strcmp(key->text, "inode") == 0) {
		read_number(reader, key->value, text, &file->info.inode);
	} else {
		complain(reader, key, "one of path, text, type, mode, uid, links, inode is expected here");
	}
}

static void read_long_file(struct reader *reader, const struct yaml_node *node)
{
	struct fake_file file = *add_file(reader, NULL, FILE_REGULAR);
	reader->fake->count--;
	for (const struct yaml_node *key = node->first; key; key = key->next)
		read_file_key(reader, key, &file);
	if (!file.path) {
		complain(reader, node, "a file needs a path");
		return;
	}
	*(struct fake_file *)arena_push(reader->document.arena, reader->fake) = file;
}

static void read_files(struct reader *reader, const struct yaml_node *list)
{
	if (list->kind != NODE_LIST) {
		complain(reader, list, "a list of files is expected here");
		return;
	}
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		if (node->kind == NODE_SCALAR)
			read_short_file(reader, node);
		else if (node->kind == NODE_MAP)
			read_long_file(reader, node);
		else
			complain(reader, node, "a path or a mapping is expected here");
	}
}

static void read_environment(struct reader *reader, const struct yaml_node *map)
{
	struct arena *arena = reader->document.arena;
	size_t count = 0;
	char **environment;
	if (map->kind != NODE_MAP) {
		complain(reader, map, "a mapping of variables is expected here");
		return;
	}
	environment = arena_alloc(arena, (map->count + 1) * sizeof *environment);
	for (const struct yaml_node *key = map->first; key; key = key->next) {
		const char *value = scalar(reader, key->value);
		if (value)
			environment[count++] = arena_printf(arena, "%s=%s", key->text, value);
	}
	reader->context->environment = environment;
}

static void read_os(struct reader *reader, const struct yaml_node *value)
{
	const char *text = scalar(reader, value);

	if (text && strcmp(text, "linux") != 0 && strcmp(text, "macos") != 0)
		complain(reader, value, "linux or macos is expected here");
	reader->context->os = text && strcmp(text, "macos") == 0 ? OS_MACOS : OS_LINUX;
}

static void read_tier(struct reader *reader, const struct yaml_node *value)
{
	const char *text = scalar(reader, value);

	if (text && strcmp(text, tier_names[TIER_FULL]) != 0 && strcmp(text, tier_names[TIER_LANDLOCK]) != 0)
		complain(reader, value, "full or landlock is expected here");
	reader->context->tier = text && strcmp(text, tier_names[TIER_LANDLOCK]) == 0 ? TIER_LANDLOCK : TIER_FULL;
}

static void read_user(struct reader *reader, const struct yaml_node *value)
{
	reader->context->user = scalar(reader, value);
}

static void read_uid(struct reader *reader, const struct yaml_node *value)
{
	const char *text = scalar(reader, value);
	uint64_t uid = 0;

	if (text)
		read_number(reader, value, text, &uid);
	reader->context->uid = (uid_t)uid;
	reader->context->gid = (gid_t)uid;
}

static void read_home(struct reader *reader, const struct yaml_node *value)
{
	reader->context->home = clean_path(reader, value);
}

static void read_project(struct reader *reader, const struct yaml_node *value)
{
	reader->context->project = clean_path(reader, value);
}

static void read_working_directory(struct reader *reader, const struct yaml_node *value)
{
	reader->context->working_directory = clean_path(reader, value);
}

static void read_case(struct reader *reader, const struct yaml_node *value)
{
	const char *text = scalar(reader, value);

	reader->has_case = true;
	reader->is_case_insensitive = text && strcmp(text, "true") == 0;
}

static const struct context_key {
	const char *name;
	void (*read)(struct reader *reader, const struct yaml_node *value);
} context_keys[] = {
	{ "os", read_os },
	{ "tier", read_tier },
	{ "user", read_user },
	{ "uid", read_uid },
	{ "home", read_home },
	{ "project", read_project },
	{ "cwd", read_working_directory },
	{ "case_insensitive", read_case },
	{ "environment", read_environment },
	{ "files", read_files },
};

static void read_key(struct reader *reader, const struct yaml_node *key)
{
	struct text names = { 0 };

	for (size_t i = 0; i < sizeof context_keys / sizeof context_keys[0]; i++) {
		if (strcmp(key->text, context_keys[i].name) == 0) {
			context_keys[i].read(reader, key->value);
			text_free(&names);
			return;
		}
		text_add(&names, "%s%s", i > 0 ? ", " : "", context_keys[i].name);
	}
	yaml_complain(&reader->document, key->line, key->column, NULL, "one of %s is expected here", names.data);
	text_free(&names);
}

static void add_parents(struct reader *reader, const char *path)
{
	struct arena *arena = reader->document.arena;
	while (strcmp(path, "/") != 0) {
		path = path_parent(arena, path);
		add_file(reader, path, FILE_DIRECTORY)->is_implicit = true;
	}
}

/* Sorts the files, removes implicit duplicates, and gives every file an owner and an inode. */
static int finish_files(struct reader *reader, struct error *err)
{
	struct fake *fake = reader->fake;
	const struct context *context = reader->context;
	size_t listed = fake->count, kept = 0;

	for (size_t i = 0; i < listed; i++)
		add_parents(reader, fake->items[i].path);
	qsort(fake->items, fake->count, sizeof *fake->items, compare_files);
	for (size_t i = 0; i < fake->count; i++) {
		struct fake_file file = fake->items[i];
		if (kept > 0 && strcmp(fake->items[kept - 1].path, file.path) == 0) {
			if (file.is_implicit && fake->items[kept - 1].info.type == FILE_DIRECTORY)
				continue;
			return error_set(err, "%s: %s is listed twice, or is not a directory", reader->document.source,
					 file.path);
		}
		if (file.info.inode == 0)
			file.info.inode = 1000000 + kept;
		if (file.info.uid == (uid_t)-1)
			file.info.uid = path_is_within(file.path, context->home) || path_is_within(file.path, context->project)
						? context->uid
						: 0;
		fake->items[kept++] = file;
	}
	fake->count = kept;
	return 0;
}

static int finish_context(struct reader *reader, struct error *err)
{
	struct arena *arena = reader->document.arena;
	struct context *context = reader->context;
	static char *const no_environment[] = { NULL };
	struct filesystem *fs = arena_alloc(arena, sizeof *fs);

	if (!context->user || !context->home || !context->project)
		return error_set(err, "%s: user, home and project are needed", reader->document.source);
	if (!context->working_directory)
		context->working_directory = context->project;
	if (!context->environment)
		context->environment = no_environment;
	context->config_directory = path_join(arena, context->home, ".config/berm");
	context->state_directory = path_join(arena, context->home, ".local/state/berm");
	add_file(reader, context->home, FILE_DIRECTORY)->is_implicit = true;
	add_file(reader, context->project, FILE_DIRECTORY)->is_implicit = true;
	*fs = (struct filesystem){
		.inspect = fake_inspect,
		.read_link = fake_read_link,
		.read_small = fake_read_small,
		.walk = fake_walk,
		.list_sockets = fake_list_sockets,
		.is_case_insensitive = reader->has_case ? reader->is_case_insensitive : context->os == OS_MACOS,
		.self = reader->fake,
	};
	context->fs = fs;
	if (finish_files(reader, err) < 0)
		return -1;
	context_find_enclosing(arena, context, NULL);
	return 0;
}

int context_parse(struct arena *arena, const char *source, const char *text, size_t length, struct context *context,
		  struct error *err)
{
	struct diagnostics diagnostics = { .arena = arena };
	struct reader reader = { .context = context };
	struct yaml_node *root;

	*context = (struct context){ .uid = 1000, .gid = 1000, .has_terminal = true };
	reader.document =
		(struct yaml){ .arena = arena, .source = source, .text = text, .length = length, .diagnostics = &diagnostics };
	reader.fake = arena_alloc(arena, sizeof *reader.fake);
	root = yaml_read(&reader.document);
	if (root && root->kind != NODE_MAP)
		complain(&reader, root, "a mapping is expected here");
	else if (root)
		for (const struct yaml_node *key = root->first; key; key = key->next)
			read_key(&reader, key);
	if (diagnostics.count > 0) {
		const struct diagnostic *first = &diagnostics.items[0];
		return error_set(err, "%s:%u:%u: %s", source, first->origin.line, first->origin.column, first->message);
	}
	return finish_context(&reader, err);
}
