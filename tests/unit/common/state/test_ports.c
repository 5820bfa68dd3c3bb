/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that a run of a project claims. */
#include <greatest.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/state/ports.h"
#include "unit/support/scratch.h"

static struct arena arena;

static struct plan plan_of(const char *top, const char *key)
{
	struct plan plan = { .arena = &arena, .scan = &plan_not_scanned };
	plan.context.state_directory = top;
	plan.context.project = "/p/one";
	plan.state.project_key = key;
	plan.state.directory = "shown";
	return plan;
}

TEST one_run_of_a_project_has_a_port(void)
{
	const char *top = arena_copy(&arena, scratch_path("ports"));
	struct plan plan = plan_of(top, "one-0123"), other = plan_of(top, "two-0123");
	int first = state_claim_port(&plan, "127.0.0.1-3000"), second, third;
	ASSERT(first >= 0);
	ASSERT_EQ(STATE_PORT_TAKEN, state_claim_port(&plan, "127.0.0.1-3000"));
	second = state_claim_port(&plan, "127.0.0.1-3001");
	ASSERT(second >= 0);
	third = state_claim_port(&other, "127.0.0.1-3000"); /* of another project */
	ASSERT(third >= 0);
	close(first);
	first = state_claim_port(&plan, "127.0.0.1-3000");
	ASSERT(first >= 0);
	close(first);
	close(second);
	close(third);
	PASS();
}

TEST an_unusable_state_claims_nothing(void)
{
	const char *top = arena_copy(&arena, scratch_path("open"));
	struct plan plan = plan_of(top, "one-0123");
	ASSERT_EQ(0, mkdir(top, 0777));
	ASSERT_EQ(0, chmod(top, 0777));
	ASSERT_EQ(STATE_PORT_UNKNOWN, state_claim_port(&plan, "127.0.0.1-3000"));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(one_run_of_a_project_has_a_port);
	RUN_TEST(an_unusable_state_claims_nothing);
	GREATEST_MAIN_END();
}
