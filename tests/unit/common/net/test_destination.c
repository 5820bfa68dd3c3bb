/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations: the syntax of a policy, and decisions about connections. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/net/destination.h"
#include "unit/support/destination_rows.h"
#include "common/policy/policy.h"

static struct arena arena;

/* Formats a destination, so that a row can compare all members at once. */
static void describe(const struct destination *destination, char *out, size_t size)
{
	char address[64] = "";

	if (destination->kind == DESTINATION_NETWORK)
		address_format(&destination->network, address);
	switch (destination->kind) {
	case DESTINATION_NAME:
		snprintf(out, size, "name %s %u-%u", destination->host, destination->port_low, destination->port_high);
		break;
	case DESTINATION_WILDCARD:
		snprintf(out, size, "below %s %u-%u", destination->host, destination->port_low, destination->port_high);
		break;
	case DESTINATION_NETWORK:
		snprintf(out, size, "network %s/%u %u-%u", address, destination->prefix, destination->port_low,
			 destination->port_high);
		break;
	case DESTINATION_ANY:
		snprintf(out, size, "any %u-%u", destination->port_low, destination->port_high);
		break;
	}
}

TEST parses_what_the_table_says(void)
{
	for (size_t i = 0; i < sizeof parse_rows / sizeof *parse_rows; i++) {
		const struct parse_row *row = &parse_rows[i];
		struct destination destination = { 0 };
		struct error err = { 0 };
		char text[512];
		int status = destination_parse(&arena, row->text, &destination, &err);
		if ((status == 0) != (row->meaning != NULL))
			fprintf(stderr, "%s: %s\n", row->text, status == 0 ? "accepted" : err.message);
		ASSERT_EQm(row->text, row->meaning ? 0 : -1, status);
		if (status < 0) {
			if (!strstr(err.message, row->complaint) && !strstr(err.hint, row->complaint))
				fprintf(stderr, "%s: %s (%s)\n", row->text, err.message, err.hint);
			ASSERTm(row->text, strstr(err.message, row->complaint) || strstr(err.hint, row->complaint));
			continue;
		}
		describe(&destination, text, sizeof text);
		ASSERT_STR_EQm(row->text, row->meaning, text);
	}
	PASS();
}

/* Blank-separated destinations. */
static enum greatest_test_res parse_list(const char *list, struct destinations *destinations)
{
	char copy[512], *rest = copy, *word;

	*destinations = (struct destinations){ 0 };
	snprintf(copy, sizeof copy, "%s", list);
	while ((word = strsep(&rest, " "))) {
		struct destination destination = { 0 };
		struct rule *rule = arena_alloc(&arena, sizeof *rule);
		struct error err = { 0 };
		if (!*word)
			continue;
		rule->text = arena_copy(&arena, word);
		if (destination_parse(&arena, word, &destination, &err) < 0) {
			fprintf(stderr, "%s: %s\n", word, err.message);
			FAILm("a rule of the table does not parse");
		}
		destination.rule = rule;
		*(struct destination *)arena_push(&arena, destinations) = destination;
	}
	PASS();
}

static enum greatest_test_res parse_addresses(const char *list, struct address *addresses, size_t *count)
{
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof copy, "%s", list);
	for (*count = 0; (word = strsep(&rest, " "));) {
		if (!*word)
			continue;
		ASSERTm(word, address_parse(word, &addresses[*count]));
		++*count;
	}
	PASS();
}

TEST judges_as_the_table_says(void)
{
	for (size_t i = 0; i < sizeof judge_rows / sizeof *judge_rows; i++) {
		const struct judge_row *row = &judge_rows[i];
		struct destinations allow, deny;
		struct address resolved[8];
		size_t count;
		const struct rule *rule = NULL;
		const char *reason = NULL;

		CHECK_CALL(parse_list(row->allow, &allow));
		CHECK_CALL(parse_list(row->deny, &deny));
		CHECK_CALL(parse_addresses(row->resolved, resolved, &count));
		bool is_allowed = destination_allowed(&allow, &deny, row->mode == ALL, row->host, row->port, resolved, count,
						      &rule, &reason);
		if (is_allowed != (row->verdict == YES) || strcmp(row->rule, rule ? rule->text : "") != 0)
			fprintf(stderr, "row %zu: allow [%s] deny [%s] %s:%u -> [%s]: %s (%s)\n", i, row->allow, row->deny,
				row->host, row->port, row->resolved, reason, rule ? rule->text : "no rule");
		ASSERT_EQm(row->host, row->verdict == YES, is_allowed);
		ASSERT_STR_EQm(row->host, row->rule, rule ? rule->text : "");
		ASSERT(reason && *reason);
		/* An empty policy allows nothing. */
		struct destinations none = { 0 };
		ASSERT_FALSE(destination_allowed(&none, &deny, false, row->host, row->port, resolved, count, NULL, NULL));
		/* Deny rules take precedence. */
		CHECK_CALL(parse_list("*", &deny));
		ASSERT_FALSE(destination_allowed(&allow, &deny, true, row->host, row->port, resolved, count, NULL, NULL));
	}
	PASS();
}

TEST refuses_this_machines_own_addresses(void)
{
	struct destinations allow, deny = { 0 };
	struct address own[2], resolved;
	struct destination_policy policy = { .allow = &allow, .deny = &deny, .own = own, .own_count = 2 };
	const char *reason;

	ASSERT(address_parse("8.8.4.4", &own[0]) && address_parse("2606:4700::7", &own[1]));
	CHECK_CALL(parse_list("*:443 example.org 0.0.0.0/0 [::]/0", &allow));
	ASSERT(destination_judge(&policy, "8.8.4.5", 443, NULL, 0, NULL, NULL));
	ASSERT_FALSE(destination_judge(&policy, "8.8.4.4", 443, NULL, 0, NULL, &reason));
	ASSERT(strstr(reason, "this machine"));
	ASSERT_FALSE(destination_judge(&policy, "::ffff:8.8.4.4", 443, NULL, 0, NULL, NULL));
	ASSERT_FALSE(destination_judge(&policy, "134743044", 443, NULL, 0, NULL, NULL));
	ASSERT_FALSE(destination_judge(&policy, "2606:4700::7", 443, NULL, 0, NULL, NULL));
	resolved = own[0];
	ASSERT_FALSE(destination_judge(&policy, "example.org", 443, &resolved, 1, NULL, NULL));
	ASSERT(destination_judge(&policy, "example.org", 443, NULL, 0, NULL, NULL));
	CHECK_CALL(parse_list("example.org 8.8.4.4:443", &allow));
	ASSERT(destination_judge(&policy, "8.8.4.4", 443, NULL, 0, NULL, NULL));
	ASSERT(destination_judge(&policy, "example.org", 443, &resolved, 1, NULL, NULL));
	ASSERT_FALSE(destination_judge(&policy, "8.8.4.4", 80, NULL, 0, NULL, NULL));
	policy.is_all = true;
	ASSERT(destination_judge(&policy, "2606:4700::7", 80, NULL, 0, NULL, NULL));
	PASS();
}

TEST hints_help(void)
{
	static const struct {
		const char *text, *hint;
	} rows[] = {
		{ "10.1.2.3/8", "10.0.0.0/8" },
		{ "10.1.2.3/31:80", "10.1.2.2/31" },
		{ "[2001:db8::1]/32", "[2001:db8::]/32" },
		{ "127.1", "127.0.0.1" },
		{ "0x7f000001:80", "127.0.0.1" },
		{ "::1", "[::1]" },
		{ "https://example.org", "example.org:443" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct destination destination;
		struct error err = { 0 };
		ASSERT_EQm(rows[i].text, -1, destination_parse(&arena, rows[i].text, &destination, &err));
		ASSERTm(rows[i].text, strstr(err.hint, rows[i].hint));
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(parses_what_the_table_says);
	RUN_TEST(judges_as_the_table_says);
	RUN_TEST(refuses_this_machines_own_addresses);
	RUN_TEST(hints_help);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
