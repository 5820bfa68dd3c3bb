/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/listing.h"

#include "common/base/text.h"

int listing_begin(struct session *session, const char *noun, const char *word)
{
	struct error err = { 0 };
	if (word || session->options.wants_all || session->options.is_yes) {
		error_set(&err, "`berm %s list` takes only --json and -v", noun);
		return report_error(&err);
	}
	return session_detect(session, &err) < 0 ? report_error(&err) : 0;
}

struct table listing_table(struct session *session, const char *empty)
{
	return (struct table){ .arena = &session->arena,
			       .marked = 2,
			       .home = session->context.home,
			       .is_verbose = session->options.is_verbose,
			       .empty = empty };
}

int listing_print_json(const void *entries, size_t count, size_t size, void (*add)(struct json *json, const void *entry))
{
	const char *at = entries;
	struct text out = { 0 };
	struct json json = { .out = &out };

	json_list(&json, NULL);
	for (size_t i = 0; i < count; i++)
		add(&json, at + i * size);
	json_list_end(&json);
	return report_text(&out);
}
