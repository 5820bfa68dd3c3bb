/* SPDX-License-Identifier: Apache-2.0 */
/* What a session covers late, and which differences of a scan it cannot follow. */
#include <string.h>

#include "greatest.h"
#include "linux/session/internal.h"

#define LIST(name, ...)                                                                                                        \
	static struct plan_match name##_items[] = { __VA_ARGS__ };                                                             \
	static const struct plan_matches name = { name##_items, sizeof name##_items / sizeof name##_items[0] }

LIST(one_mask, { "/p/.env", FILE_REGULAR, NULL });
LIST(two_masks, { "/p/.env", FILE_REGULAR, NULL }, { "/p/src/.env", FILE_REGULAR, NULL });
LIST(one_lock, { "/p/.git/hooks", FILE_DIRECTORY, NULL });
LIST(mask_of_lock, { "/p/.env", FILE_REGULAR, NULL }, { "/p/.git/hooks", FILE_DIRECTORY, NULL });
LIST(git_pin, { "/p/.git", FILE_DIRECTORY, NULL });
LIST(new_pin, { "/p/.git", FILE_DIRECTORY, NULL }, { "/p/src", FILE_DIRECTORY, NULL });
LIST(far_pin, { "/p/.git", FILE_DIRECTORY, NULL }, { "/p/other", FILE_DIRECTORY, NULL });
LIST(link_pin, { "/p/.git", FILE_DIRECTORY, NULL }, { "/p/src", FILE_SYMLINK, NULL });
LIST(opening, { "/p/.git/hooks/x", FILE_REGULAR, NULL });

static struct scan_results began(void)
{
	return (struct scan_results){ .masked = one_mask, .locked = one_lock, .pinned = git_pin };
}

/* Compares, and returns how many covers are new; -1: refused. */
static int compare(struct covers *covers, struct arena *arena, const struct scan_results *now)
{
	struct new_covers added;
	struct error err = { 0 };
	if (covers_compare(covers, now, arena, &added, &err) < 0)
		return error_is_set(&err) ? -1 : -2;
	covers_add(covers, arena, &added);
	return (int)added.count;
}

TEST a_scan_is_followed_or_refused(void)
{
	static const struct {
		const char *what;
		struct scan_results now;
		int added;
	} rows[] = {
		{ "nothing changed", { .masked = one_mask, .locked = one_lock, .pinned = git_pin }, 0 },
		{ "names are gone", { .pinned = git_pin }, 0 },
		{ "a late mask with the pin above it", { .masked = two_masks, .locked = one_lock, .pinned = new_pin }, 1 },
		{ "a late mask without a pin", { .masked = two_masks, .locked = one_lock, .pinned = git_pin }, 1 },
		{ "a pin that belongs to no cover", { .masked = one_mask, .locked = one_lock, .pinned = far_pin }, -1 },
		{ "a symlink that must stay", { .masked = two_masks, .locked = one_lock, .pinned = link_pin }, -1 },
		{ "a locked path must be hidden", { .masked = mask_of_lock, .pinned = git_pin }, -1 },
		{ "a new writable part", { .masked = one_mask, .locked = one_lock, .pinned = git_pin, .opened = opening }, -1 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct arena arena = { 0 };
		struct scan_results first = began();
		struct plan plan = { .arena = &arena, .scan = &first };
		struct covers covers = { 0 };
		covers_begin(&covers, &plan);
		ASSERT_EQm(rows[i].what, rows[i].added, compare(&covers, &arena, &rows[i].now));
		if (rows[i].added >= 0)
			ASSERT_EQm(rows[i].what, 0, compare(&covers, &arena, &rows[i].now));
		arena_free(&arena);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_scan_is_followed_or_refused);
	GREATEST_MAIN_END();
}
