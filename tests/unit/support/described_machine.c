/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/support/described_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*read_described)(const struct filesystem *fs, struct arena *into, const char *path, size_t limit, char **text,
			     size_t *length);

static int read_lines(const struct filesystem *fs, struct arena *into, const char *path, size_t limit, char **text,
		      size_t *length)
{
	if (read_described(fs, into, path, limit, text, length) < 0)
		return -1;
	for (char *mark = strchr(*text, '%'); mark; mark = strchr(mark, '%'))
		*mark = '\n';
	return 0;
}

struct context described_machine(struct arena *arena, const char *environment, const char *files)
{
	struct context context = { 0 };
	struct error err = { 0 };
	struct filesystem *fs = arena_alloc(arena, sizeof *fs);
	const char *text = arena_printf(arena,
					"os: linux\nuser: ann\nuid: 1000\nhome: /home/ann\nproject: /p/app\ncwd: /p/app\n"
					"environment: {%s}\nfiles:\n  - /p/app/\n%s",
					environment, files);
	if (context_parse(arena, "machine", text, strlen(text), &context, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	*fs = *context.fs;
	read_described = fs->read_small;
	fs->read_small = read_lines;
	context.fs = fs;
	return context;
}
