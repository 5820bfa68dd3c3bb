/* SPDX-License-Identifier: Apache-2.0 */
/* Which command lines get a hint, and which do not. */
#include <greatest.h>

#include <stdint.h>
#include <string.h>

#include "common/cli/program_hints.h"

static const char *hint(const char *first, const char *second, const char *third, bool has_nesting)
{
	char *argv[] = { (char *)(uintptr_t)first, (char *)(uintptr_t)second, (char *)(uintptr_t)third, NULL };
	return program_hint(argv, has_nesting);
}

TEST names_programs(void)
{
	static const struct {
		const char *words[3];
		const char *part; /* of the hint; NULL: none */
	} rows[] = {
		{ { "sudo", "true", NULL }, "root" },
		{ { "/usr/bin/sudo", NULL, NULL }, "root" },
		{ { "perf", "stat", NULL }, "perf_event_open" },
		{ { "perfect", NULL, NULL }, NULL },
		{ { "ls", "sudo", NULL }, NULL },
		{ { "/bin/sh", "-c", "sudo apt install x" }, "root" },
		{ { "bash", "-c", "cd x && A=1 B=2 sudo make install" }, "root" },
		{ { "bash", "-c", "true;\tsudo -v" }, "root" },
		{ { "bash", "-c", "(docker ps)" }, "engine" },
		{ { "bash", "-c", "echo sudo docker" }, NULL },
		{ { "timeout", "5", "chromium" }, "--no-sandbox" },
		{ { "env", "A=1", "/usr/bin/chromium" }, "nesting" },
		{ { "timeout", "5", "ls" }, NULL },
		{ { "nice", "ls", "sudo" }, NULL },
		{ { "sh", "-c", "xvfb-run -a google-chrome --headless" }, "--no-sandbox" },
		{ { "sh", "-c", "echo 5 sudo" }, NULL },
		{ { "bash", "-c", "" }, NULL },
		{ { "bash", "-c", NULL }, NULL },
		{ { "bash", "script", "sudo" }, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *found = hint(rows[i].words[0], rows[i].words[1], rows[i].words[2], false);
		ASSERT_EQ_FMT(rows[i].part != NULL, found != NULL, "%d");
		ASSERT(!found || strstr(found, rows[i].part));
	}
	PASS();
}

TEST nesting_needs_no_hint(void)
{
	ASSERT(hint("chromium", "--headless", NULL, false));
	ASSERT(!hint("chromium", "--headless", NULL, true));
	ASSERT(strstr(hint("bwrap", "true", NULL, true), "mounts"));
	ASSERT(hint("sudo", "true", NULL, true));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(names_programs);
	RUN_TEST(nesting_needs_no_hint);
	GREATEST_MAIN_END();
}
