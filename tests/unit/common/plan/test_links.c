/* SPDX-License-Identifier: Apache-2.0 */
/* A symlink that an earlier run could have planted has no effect on this one. The project is
 * /home/ann/app. */
#include <greatest.h>

#include "unit/support/plan_fixture.h"

static const struct {
	const char *name, *files, *policy;
	const char *target; /* must not be granted, or (is_fine) must be */
	bool is_fine;
} rows[] = {
	{ "read", "[/data/, \"/home/ann/app/data -> /data\"]", "files: {read: [data]}", "/data", false },
	{ "write", "[/data/, \"/home/ann/app/data -> /data\"]", "files: {write: [data]}", "/data", false },
	{ "system", "[/data/, \"/home/ann/app/data -> /data\"]", "files: {system: [data]}", "/data", false },
	{ "below a link", "[/data/x/, \"/home/ann/app/data -> /data\"]", "files: {read: [data/x]}", "/data/x", false },
	{ "by its whole name", "[/data/, \"/home/ann/app/data -> /data\"]", "files: {read: [/home/ann/app/data]}", "/data",
	  false },
	{ "over two links", "[/data/, \"/home/ann/app/b -> /home/ann/c\", \"/home/ann/c -> /data\"]", "files: {read: [b]}",
	  "/data", false },
	{ "a link outside that leads in", "[/data/, \"/home/ann/l -> app/d\", \"/home/ann/app/d -> /data\"]",
	  "files: {read: [~/l]}", "/data", false },
	{ "in another writable place", "[/data/, /w/, \"/w/data -> /data\"]", "files: {write: [/w], read: [/w/data]}", "/data",
	  false },
	{ "whatever the order", "[/data/, /w/, \"/w/data -> /data\"]", "files: {read: [/w/data], write: [/w]}", "/data",
	  false },
	/* Controls: the same paths without links, and links that no command can change. */
	{ "no link", "[/home/ann/app/data/, /data/]", "files: {read: [/data]}", "/data", true },
	{ "a link outside", "[/data/, \"/home/ann/data -> /data\"]", "files: {read: [~/data]}", "/data", true },
	{ "a link in a readable place", "[/data/, /r/, \"/r/data -> /data\"]", "files: {read: [/r, /r/data]}", "/data", true },
	{ "a link beside a writable place", "[/data/, /w/, \"/wdata -> /data\"]", "files: {write: [/w], read: [/wdata]}",
	  "/data", true },
};

TEST a_planted_link_grants_nothing(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct plan_fixture fixture;
		char machine[512];
		snprintf(machine, sizeof machine, "files: %s\n", rows[i].files);
		plan_fixture_make(
			&fixture, machine,
			(struct plan_layer[]){ { LAYER_BASE, "files: {write: [.]}" }, { LAYER_USER, rows[i].policy }, { 0 } });
		bool is_granted = plan_fixture_allows(&fixture, ACCESS_READ, rows[i].target);
		bool is_refused = fixture.status == -1 && plan_fixture_complained(&fixture, "is a symlink");
		if (is_granted != rows[i].is_fine || is_refused == rows[i].is_fine) {
			fprintf(stderr, "%s: %s\n", rows[i].name, plan_fixture_says(&fixture));
			FAILm(rows[i].name);
		}
		plan_fixture_free(&fixture);
	}
	PASS();
}

/* Inside the project it could lift a protection. */
TEST a_planted_link_lifts_no_protection(void)
{
	static const struct plan_layer layers[] = { { LAYER_BASE, "files: {write: [.], protect: [.git/hooks]}" },
						    { LAYER_USER, "files: {write: [build]}" },
						    { 0 } };
	struct plan_fixture fixture;
	plan_fixture_make(&fixture, "files: [/home/ann/app/.git/hooks/, \"/home/ann/app/build -> .git/hooks\"]\n", layers);
	ASSERT_EQ(-1, fixture.status);
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.git/hooks/pre-commit"));
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, "files: [/home/ann/app/.git/hooks/, /home/ann/app/build/]\n", layers);
	ASSERT_EQ(0, fixture.status);
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/build/x"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_planted_link_to_a_socket_is_refused(void)
{
	static const struct plan_layer layers[] = { { LAYER_BASE, "files: {write: [.]}" },
						    { LAYER_USER, "sockets: [db.sock]" },
						    { 0 } };
	struct plan_fixture fixture;
	plan_fixture_make(&fixture,
			  "files: [{path: /run/engine.sock, type: socket}, \"/home/ann/app/db.sock -> /run/engine.sock\"]\n",
			  layers);
	ASSERT_EQ(-1, fixture.status);
	ASSERT_EQ(0, fixture.plan.sockets.count);
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, "files: [{path: /home/ann/app/db.sock, type: socket}]\n", layers);
	ASSERT_EQ(0, fixture.status);
	ASSERT_EQ(1, fixture.plan.sockets.count);
	plan_fixture_free(&fixture);
	PASS();
}

/* A built-in rule that is unfit on this machine is left out without an error. */
TEST a_built_in_rule_is_left_out(void)
{
	struct plan_fixture fixture;
	plan_fixture_make(&fixture, "files: [/data/, \"/home/ann/app/data -> /data\"]\n",
			  (struct plan_layer[]){ { LAYER_BASE, "files: {write: [.], read: [data]}" }, { 0 } });
	ASSERT_EQ(0, fixture.status);
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/data"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_OTHER, "link"));
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_planted_link_grants_nothing);
	RUN_TEST(a_planted_link_lifts_no_protection);
	RUN_TEST(a_planted_link_to_a_socket_is_refused);
	RUN_TEST(a_built_in_rule_is_left_out);
	GREATEST_MAIN_END();
}
