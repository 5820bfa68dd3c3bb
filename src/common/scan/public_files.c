/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose name is denied and whose content may be public (files.public). Each is read at every
 * launch: a stored verdict could outlive a change that leaves no trace, such as a write through
 * a memory mapping or a second one within a tick of the clock. A file that cannot be read stays
 * hidden. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/text.h"
#include "common/format/pem.h"
#include "common/scan/internal.h"

enum {
	FILE_BYTES_MAX = 1 << 20,
	/* In one scan; the rest stays hidden. A project must not be able to delay every launch. */
	FILES_MAX = 2048,
	TOTAL_BYTES_MAX = 64 << 20,
};

static const char *describe_public(struct arena *arena, const struct pem_contents *contents)
{
	struct text text = { 0 };
	const char *result;
	for (size_t i = 0; i < PEM_KIND_COUNT; i++)
		if (contents->counts[i] > 0)
			text_add(&text, "%s%zu %s", text.length > 0 ? ", " : "", contents->counts[i],
				 pem_kind_name((enum pem_kind)i, contents->counts[i]));
	result = arena_copy(arena, text.data);
	text_free(&text);
	return result;
}

static struct scan_content judge_bytes(const struct plan *plan, const char *bytes, size_t length)
{
	struct pem_contents contents;
	struct scan_content content = { .kind = CONTENT_HIDDEN, .bytes = length };
	enum pem_verdict verdict = pem_judge(bytes, length, &contents);
	switch (verdict) {
	case PEM_PUBLIC:
		content.kind = CONTENT_PUBLIC;
		content.reason = describe_public(plan->arena, &contents);
		return content;
	case PEM_EMPTY:
		content.kind = CONTENT_EMPTY;
		content.reason = "no certificate or public key";
		return content;
	case PEM_OTHER_KIND:
		content.reason = arena_printf(plan->arena, "a private key or another block at line %zu", contents.line);
		return content;
	case PEM_OTHER_TEXT:
		content.reason = arena_printf(plan->arena, "other text at line %zu", contents.line);
		return content;
	case PEM_BROKEN:
		break;
	}
	content.reason = arena_printf(plan->arena, "a damaged block at line %zu", contents.line);
	return content;
}

static struct scan_content not_read(int number)
{
	struct scan_content content = { .kind = CONTENT_HIDDEN, .reason = "it cannot be read" };
	if (number == ENOENT || number == ENOTDIR) {
		content.kind = CONTENT_ABSENT;
		content.reason = "it is gone";
	} else if (number == EMLINK) {
		content.reason = "it has further names (hard links)";
	} else if (number == EFBIG) {
		content.reason = "it is larger than 1 MB";
	} else if (number == EAGAIN) {
		content.reason = "it is being changed";
	} else if (number == ELOOP || number == EINVAL) {
		content.reason = "it is not a plain file";
	}
	return content;
}

struct scan_content scan_judge_content(const struct plan *plan, const char *path)
{
	const struct filesystem *fs = plan->context.fs;
	struct scan_content content;
	char *bytes = NULL;
	size_t length = 0;

	if (!fs->read_steady || fs->read_steady(fs, path, FILE_BYTES_MAX, &bytes, &length) < 0)
		return not_read(fs->read_steady ? errno : ENOSYS);
	content = judge_bytes(plan, bytes, length);
	/* Init is a copy of this process, and keys are none of its business. */
	memset(bytes, 0, length);
	__asm__ volatile("" ::"r"(bytes) : "memory"); /* macOS has no explicit_bzero */
	free(bytes);
	return content;
}

static int compare_matches(const void *left, const void *right)
{
	return strcmp(((const struct plan_match *)left)->path, ((const struct plan_match *)right)->path);
}

void scan_judge_files(struct scan *scan)
{
	const struct plan *plan = scan->plan;
	size_t judged = 0, bytes = 0;

	if (scan->conditional.count > 0)
		qsort(scan->conditional.items, scan->conditional.count, sizeof *scan->conditional.items, compare_matches);
	for (size_t i = 0; i < scan->conditional.count; i++) {
		const struct plan_match *match = &scan->conditional.items[i];
		struct scan_content content = { .kind = CONTENT_HIDDEN, .reason = "too many such files to read them all" };
		if (i > 0 && strcmp(match[-1].path, match->path) == 0)
			continue; /* found through a symlink, too */
		if (judged < FILES_MAX && bytes < TOTAL_BYTES_MAX)
			content = scan_judge_content(plan, match->path);
		judged++;
		bytes += content.bytes;
		*(struct plan_judged_file *)arena_push(plan->arena, &scan->results->judged) =
			(struct plan_judged_file){ match->path, match->rule, content.kind == CONTENT_PUBLIC, content.reason };
		if (content.kind != CONTENT_PUBLIC)
			scan_record(scan, &scan->masked, match->path, match->type, match->rule);
	}
}

void scan_finish_judged(struct scan *scan)
{
	struct plan_judged *judged = &scan->results->judged;
	for (size_t i = 0; i < judged->count; i++) {
		struct plan_judged_file *file = &judged->items[i];
		if (!file->is_public || !scan_find_above(&scan->results->masked, file->path))
			continue;
		file->is_public = false;
		file->reason = "another name or rule hides it";
	}
}
