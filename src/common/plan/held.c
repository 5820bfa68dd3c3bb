/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each fact: a word, a blank, a value. A path with a line break is written as one that
 * no other equals. All but the levels is made and cached with the plan. */
#include "common/plan/held.h"

#include <stdio.h>
#include <string.h>

#include "common/base/checksum.h"
#include "common/base/text.h"
#include "common/plan/build.h"

static const char format[] = "berm 1";
enum { SUM = 16 }; /* digits of a pattern's checksum */

static void write_sum(const char *pattern, char sum[SUM + 1])
{
	snprintf(sum, SUM + 1, "%016llx", (unsigned long long)checksum_of(pattern, strlen(pattern)));
}

/* Patterns are written as checksums: there are hundreds. No command can choose them. */
static void add_patterns(struct text *out, const char *word, const struct plan_patterns *patterns)
{
	char sum[SUM + 1];
	text_add(out, "%s ", word);
	for (size_t i = 0; i < patterns->count; i++) {
		write_sum(patterns->items[i].pattern.text, sum);
		text_add_n(out, sum, SUM);
	}
	text_add(out, "\n");
}

void build_held(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct text out = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE)
			text_add(&out, "write %s\n",
				 strchr(plan->grants.items[i].path, '\n') ? "" : plan->grants.items[i].path);
	add_patterns(&out, "protect", &plan->protect);
	add_patterns(&out, "lifted", &plan->lifted);
	add_patterns(&out, "unprotect", &plan->unprotect);
	add_patterns(&out, "deny", &plan->deny);
	add_patterns(&out, "except", &plan->except);
	plan->held = arena_copy(plan->arena, out.data);
	text_free(&out);
}

static bool repairs(const struct plan *plan)
{
	return plan->guard >= LEVEL_REPAIR && plan->context.os == OS_LINUX && !plan_setting(plan, SETTING_NESTING);
}

const char *held_text(const struct plan *plan)
{
	return arena_printf(plan->arena, "%s\n%s%s%s", format, plan->is_guarded ? "planting strict\n" : "",
			    repairs(plan) ? "planting repair\nsecrets repair\n" : "", plan->held);
}

/* Returns the value of the next line with this word, or NULL, and moves on. */
static const char *next(const struct plan *plan, const char **text, const char *word)
{
	size_t length = strlen(word);
	while (**text) {
		const char *line = *text;
		size_t end = strcspn(line, "\n");
		*text = line + end + (line[end] == '\n');
		if (strncmp(line, word, length) == 0 && line[length] == ' ' && line[end] == '\n')
			return arena_printf(plan->arena, "%.*s", (int)(end - length - 1), line + length + 1);
	}
	return NULL;
}

static bool has_line(const struct plan *plan, const char *text, const char *word, const char *value)
{
	const char *found;
	while ((found = next(plan, &text, word)))
		if (*found && strcmp(found, value) == 0)
			return true;
	return false;
}

/* True if the pattern is that of a path that the command cannot write in any case. */
static bool is_elsewhere(const struct plan *plan, const struct pattern *pattern)
{
	return pattern->is_literal && !pattern->is_base_name && !plan_is_below_writable(plan, pattern->text);
}

static bool has_sum(const char *sums, const char *pattern)
{
	char sum[SUM + 1];
	write_sum(pattern, sum);
	for (; strlen(sums) >= SUM; sums += SUM)
		if (memcmp(sums, sum, SUM) == 0)
			return true;
	return false;
}

/* True if the sums include all of the patterns but those of paths elsewhere. */
static bool has_all(const struct plan *plan, const char *sums, const struct plan_patterns *patterns)
{
	for (size_t i = 0; sums && i < patterns->count; i++)
		if (!is_elsewhere(plan, &patterns->items[i].pattern) && !has_sum(sums, patterns->items[i].pattern.text))
			return false;
	return sums;
}

/* True if each of the sums is that of a pattern. */
static bool has_only(const char *sums, const struct plan_patterns *patterns)
{
	for (; sums && strlen(sums) >= SUM; sums += SUM) {
		bool is_found = false;
		for (size_t i = 0; i < patterns->count && !is_found; i++) {
			char sum[SUM + 1];
			write_sum(patterns->items[i].pattern.text, sum);
			is_found = memcmp(sums, sum, SUM) == 0;
		}
		if (!is_found)
			return false;
	}
	return sums;
}

static const char *first(const struct plan *plan, const char *text, const char *word)
{
	return next(plan, &text, word);
}

/* True if the plan lets the command write all that the outer one does. */
static bool covers_writes(const struct plan *plan, const char *text)
{
	const char *path;
	while ((path = next(plan, &text, "write"))) {
		const struct plan_grant *grant = *path ? plan_grant_for(plan, path) : NULL;
		if (!grant || grant->kind != GRANT_WRITE)
			return false;
	}
	return true;
}

/* True if the outer one hides all that the plan hides. */
static bool has_same_secrets(const struct plan *plan, const char *text)
{
	return has_all(plan, first(plan, text, "deny"), &plan->deny) && has_only(first(plan, text, "except"), &plan->except);
}

/* True if the outer one looks in every writable directory of the plan, for all of its names, and
 * has lifted none that the plan has not. */
static bool has_same_names(const struct plan *plan, const char *text)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && !has_line(plan, text, "write", plan->grants.items[i].path))
			return false;
	return has_all(plan, first(plan, text, "protect"), &plan->protect) &&
	       has_only(first(plan, text, "lifted"), &plan->lifted) &&
	       has_only(first(plan, text, "unprotect"), &plan->unprotect);
}

void held_compare(const struct plan *plan, const char *text, bool is_guard_alive, struct held *held)
{
	*held = (struct held){ .planting = LEVEL_LAUNCH, .secrets = LEVEL_LAUNCH };
	if (strncmp(text, format, sizeof format - 1) != 0 || text[sizeof format - 1] != '\n')
		return;
	held->are_writes_same = covers_writes(plan, text);
	if (has_line(plan, text, "secrets", "repair") && has_same_secrets(plan, text))
		held->secrets = LEVEL_REPAIR;
	if (!has_same_names(plan, text))
		return;
	if (is_guard_alive && has_line(plan, text, "planting", "strict"))
		held->planting = LEVEL_STRICT;
	else if (has_line(plan, text, "planting", "repair"))
		held->planting = LEVEL_REPAIR;
}
