/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the table of embedded files. The name alone determines the kind, so that a new piece is
 * only a new file. */
#include "common/policy/builtin.h"

#include <stdio.h>
#include <string.h>

#include "common/policy/embedded.h"
#include "common/base/text.h"

static const char suffix[] = ".yml";

static enum builtin_kind kind_of(const char *name)
{
	if (strcmp(name, "floor") == 0)
		return BUILTIN_FLOOR;
	if (strcmp(name, "default") == 0 || strcmp(name, "strict") == 0)
		return BUILTIN_BASE;
	if (text_starts_with(name, "agent-"))
		return BUILTIN_AGENT;
	return text_starts_with(name, "registry-") ? BUILTIN_REGISTRY : BUILTIN_PIECE;
}

/* Finds the summary in the comment at the head of the file: licence, empty line, summary. */
static void find_summary(struct builtin *builtin)
{
	const char *at = builtin->text;

	builtin->summary = "";
	builtin->summary_length = 0;
	for (; at && *at == '#'; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		size_t length = strcspn(at, "\n");
		if (length <= 2 || text_starts_with(at, "# SPDX-"))
			continue;
		builtin->summary = at + 2;
		builtin->summary_length = (int)length - 2;
		return;
	}
}

static bool describe(const struct embedded_file *file, struct builtin *builtin)
{
	size_t length = strlen(file->name);

	if (!text_ends_with(file->name, suffix) || length - strlen(suffix) >= sizeof builtin->name)
		return false;
	*builtin = (struct builtin){ .text = file->text, .length = file->length };
	memcpy(builtin->name, file->name, length - strlen(suffix));
	builtin->kind = kind_of(builtin->name);
	find_summary(builtin);
	return true;
}

bool builtin_at(size_t index, struct builtin *builtin)
{
	for (size_t i = 0; i < embedded_policies_count; i++) {
		if (describe(&embedded_policies[i], builtin) && index-- == 0)
			return true;
	}
	return false;
}

bool builtin_find(const char *name, struct builtin *builtin)
{
	for (size_t i = 0; i < embedded_policies_count; i++) {
		if (describe(&embedded_policies[i], builtin) && strcmp(builtin->name, name) == 0)
			return true;
	}
	return false;
}
