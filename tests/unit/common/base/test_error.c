/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: message, errno, accumulated hints, and no overflow for texts of any length. */
#include <greatest.h>

#include <errno.h>
#include <string.h>

#include "common/base/error.h"

TEST is_unset_at_first(void)
{
	struct error err = { 0 };
	ASSERT_FALSE(error_is_set(&err));
	PASS();
}

TEST returns_minus_one_and_replaces_what_was_there(void)
{
	struct error err = { 0 };
	ASSERT_EQ(-1, error_errno(&err, ENOENT, "cannot open %s", "x"));
	ASSERT_STR_EQ("cannot open x: No such file or directory", err.message);
	ASSERT_EQ(ENOENT, err.number);
	ASSERT_EQ(-1, error_hint(&err, "make it"));
	ASSERT_EQ(-1, error_set(&err, "%d%%", 5));
	ASSERT_STR_EQ("5%", err.message);
	ASSERT_EQ(0, err.number);
	ASSERT_STR_EQ("", err.hint);
	ASSERT(error_is_set(&err));
	PASS();
}

TEST collects_hints_line_by_line(void)
{
	struct error err = { 0 };
	error_set(&err, "no");
	error_hint(&err, "first");
	error_hint(&err, "%s", "second");
	ASSERT_STR_EQ("first\nsecond", err.hint);
	ASSERT_STR_EQ("no", err.message);
	PASS();
}

TEST cuts_what_does_not_fit(void)
{
	struct error err = { 0 };
	static char huge[ERROR_MESSAGE_MAX * 3];
	memset(huge, 'x', sizeof huge - 1);
	for (size_t length = ERROR_HINT_MAX - 4; length < ERROR_MESSAGE_MAX + 4; length++) {
		error_errno(&err, ENOENT, "%.*s", (int)length, huge);
		ASSERT_EQ(strnlen(err.message, sizeof err.message), strlen(err.message));
		ASSERT(strlen(err.message) < sizeof err.message);
		error_hint(&err, "%.*s", (int)length, huge);
		error_hint(&err, "%.*s", (int)length, huge);
		ASSERT(memchr(err.hint, '\0', sizeof err.hint) != NULL);
	}
	error_set(&err, "%s", huge);
	ASSERT_EQ(ERROR_MESSAGE_MAX - 1, strlen(err.message));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(is_unset_at_first);
	RUN_TEST(returns_minus_one_and_replaces_what_was_there);
	RUN_TEST(collects_hints_line_by_line);
	RUN_TEST(cuts_what_does_not_fit);
	GREATEST_MAIN_END();
}
