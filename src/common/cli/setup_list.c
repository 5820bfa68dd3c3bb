/* SPDX-License-Identifier: Apache-2.0 */
/* `berm setup`: the list of hosts, and the state of a host in words, as a mark and as JSON. Changes
 * nothing. */
#include "common/cli/setup_command.h"

#include <stdio.h>

#include "common/base/json_write.h"
#include "common/base/text.h"
#include "common/cli/table.h"

const char *setup_state_name(const struct setup *setup)
{
	static const char *const names[] = {
		[SETUP_ABSENT] = "not set up",
		[SETUP_PARTLY] = "partly set up",
		[SETUP_IN_FORCE] = "configured, not proven",
	};
	if (setup->overrides.count > 0 && setup_judge_host(setup) == SETUP_IN_FORCE)
		return "not in force";
	if (setup->is_proven)
		return "in force";
	if (!setup->has_file && setup_judge_host(setup) == SETUP_ABSENT)
		return "cannot be seen from here";
	return names[setup_judge_host(setup)];
}

static void json_found(struct json *json, const char *name, struct arena *arena, const struct setup_overrides *found)
{
	json_list(json, name);
	for (size_t i = 0; i < found->count; i++)
		json_string(json, NULL, arena_printf(arena, "%s: %s", found->items[i].place, found->items[i].why));
	json_list_end(json);
}

static void json_host(struct json *json, const char *name, const struct setup *setup)
{
	const struct setup_host *host = setup->host;
	struct text settings = { 0 };
	struct error ignored = { 0 };

	json_object(json, name);
	json_string(json, "host", host->name);
	json_string(json, "title", host->title);
	json_string(json, "label", setup_label_name(host->label));
	json_string(json, "state", setup_state_name(setup));
	json_boolean(json, "configured", setup_judge_host(setup) == SETUP_IN_FORCE);
	json_boolean(json, "in_force", setup->is_proven);
	json_found(json, "overridden_by", setup->request.arena, &setup->overrides);
	json_found(json, "outside", setup->request.arena, &setup->outside);
	json_string(json, "file", setup->has_file ? setup->file.path : NULL);
	json_string(json, "leads_to", setup->file.is_link ? setup->file.real : NULL);
	if (setup_settings(&setup->request, &settings, &ignored) == 0)
		json_string(json, "settings", settings.data);
	text_free(&settings);
	json_list(json, "uncovered");
	for (size_t i = 0; host->uncovered && host->uncovered[i]; i++)
		json_string(json, NULL, host->uncovered[i]);
	json_list_end(json);
	json_list(json, "notes");
	for (size_t i = 0; host->notes[i]; i++)
		json_string(json, NULL, setup_expand(setup->request.arena, host->notes[i], &setup->paths, setup->request.os));
	json_list_end(json);
	json_object_end(json);
}

int setup_print_json(const struct setup *setup)
{
	struct text out = { 0 };
	struct json json = { .out = &out };
	json_host(&json, NULL, setup);
	return report_text(&out);
}

enum report_mark setup_mark(const struct setup *setup)
{
	if (setup->overrides.count > 0 && setup_judge_host(setup) == SETUP_IN_FORCE)
		return MARK_BAD;
	if (setup->is_proven)
		return MARK_GOOD;
	return setup_judge_host(setup) == SETUP_ABSENT ? MARK_NONE : MARK_WEAKER;
}

static void add_row(struct setup *setup, struct table *table)
{
	struct error err = { 0 };
	bool is_readable = setup_open_host(setup, setup->host, &err) == 0;
	const char *cells[TABLE_COLUMNS_MAX] = { setup->host->name, is_readable ? setup_state_name(setup) : "unreadable",
						 setup_label_name(setup->host->label) };

	table_add(table, is_readable ? setup_mark(setup) : MARK_BAD, cells);
	if (!is_readable)
		table_add_note(table, MARK_NONE, err.message);
}

static int list_rows(struct setup *setup)
{
	struct table table = { .arena = &setup->session.arena, .titles = { "host", "state", "label" }, .marked = 1 };

	for (size_t i = 0; i < setup_host_count; i++) {
		setup->host = &setup_host_table[i];
		add_row(setup, &table);
	}
	table_print(&table);
	puts("\n`berm setup HOST` shows the change that it would make.");
	return 0;
}

static int list_json(struct setup *setup)
{
	struct text out = { 0 };
	struct json json = { .out = &out };

	json_object(&json, NULL);
	json_list(&json, "hosts");
	for (size_t i = 0; i < setup_host_count; i++) {
		struct error ignored = { 0 };
		setup->host = &setup_host_table[i];
		(void)setup_open_host(setup, setup->host, &ignored);
		json_host(&json, NULL, setup);
	}
	json_list_end(&json);
	json_object_end(&json);
	return report_text(&out);
}

int setup_list(struct setup *setup)
{
	return setup->session.options.wants_json ? list_json(setup) : list_rows(setup);
}
