/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/run_record.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "version.h"

extern char **environ;

enum { HIDDEN_SHOWN = 20 };

static const char *const limit_words[LIMIT_COUNT] = {
	[LIMIT_MEMORY] = "memory", [LIMIT_PROCESSES] = "processes",   [LIMIT_CPUS] = "cpus",	       [LIMIT_TIME] = "time",
	[LIMIT_DISK] = "disk",	   [LIMIT_OPEN_FILES] = "open_files", [LIMIT_FILE_SIZE] = "file_size",
};

static const char *const repair_words[] = {
	[REPAIR_HIDDEN] = "hidden",	    [REPAIR_LOCKED] = "locked",		[REPAIR_NEW_HIDDEN] = "new-hidden",
	[REPAIR_NEW_LOCKED] = "new-locked", [REPAIR_NOT_PUBLIC] = "not-public", [REPAIR_OWN] = "own",
	[REPAIR_MOVED] = "quarantined",	    [REPAIR_STUCK] = "stuck",
};

static const char *const sweep_words[] = {
	[SWEEP_FINE] = "kept",	   [SWEEP_STAYS] = "kept",  [SWEEP_REPORT] = "reported",
	[SWEEP_OPENED] = "opened", [SWEEP_LEFT] = "left",   [SWEEP_QUARANTINE] = "quarantined",
	[SWEEP_EDIT] = "edited",   [SWEEP_UNDO] = "undone",
};

static const char *const network_words[] = {
	[NETWORK_NONE] = "none",
	[NETWORK_ALLOW] = "allow",
	[NETWORK_ALL] = "all",
};

const struct plan_match *run_record_hidden(const struct plan *plan, size_t *at)
{
	const struct plan_matches *masked = &plan->scan->masked;
	for (; *at < masked->count; ++*at) {
		const struct plan_match *match = &masked->items[*at];
		if (match->rule && match->rule->layer != LAYER_FLOOR && path_is_within(match->path, plan->context.project) &&
		    strcmp(match->path, plan->context.project) != 0)
			return match;
	}
	return NULL;
}

static const char *rule_words(struct arena *arena, const struct rule *rule)
{
	const struct origin *origin = &rule->origin;
	return origin->line ? arena_printf(arena, "%s: %s (%s:%u:%u)", rule->key, rule->text, origin->source, origin->line,
					   origin->column)
			    : arena_printf(arena, "%s: %s (%s)", rule->key, rule->text, origin->source);
}

static void add_hidden(const struct plan *plan, struct json *json)
{
	const struct plan_match *match;
	size_t at = 0, count = 0;

	json_object(json, "hidden");
	json_list(json, "items");
	for (; (match = run_record_hidden(plan, &at)); at++) {
		if (count++ >= HIDDEN_SHOWN)
			continue;
		json_object(json, NULL);
		record_bytes(json, "path", match->path);
		record_bytes(json, "rule", rule_words(plan->arena, match->rule));
		json_object_end(json);
	}
	json_list_end(json);
	json_number(json, "count", count);
	json_object_end(json);
}

/* See plan->policies. */
static void add_policies(const struct plan *plan, struct json *json)
{
	const char *line = plan->policies ? plan->policies : "";
	json_list(json, "policies");
	while (line[0] && line[1]) {
		size_t length = strcspn(line, "\n"), hash = strcspn(line + 2, " \n");
		if (length <= 2 + hash)
			break;
		json_object(json, NULL);
		json_string(json, "source", arena_copy_n(plan->arena, line + 3 + hash, length - hash - 3));
		json_boolean(json, "trusted", line[0] == '+');
		if (line[2] != '-')
			json_string(json, "sha256", arena_copy_n(plan->arena, line + 2, hash));
		json_object_end(json);
		line += length + (line[length] == '\n');
	}
	json_list_end(json);
}

static void add_guarantees(const struct plan *plan, const struct guarantee_state *states, struct json *json)
{
	json_object(json, "guarantees");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		json_string(json, guarantee_table[i].name, level_name((enum guarantee)i, states[i].level));
	json_object_end(json);
	json_list(json, "weaker");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		if (guarantee_falls_short(plan->required[i], states[i].level))
			json_string(json, NULL, guarantee_table[i].name);
	json_list_end(json);
}

static void add_start(struct run_record *own, const struct session *session, char *const *command,
		      const struct guarantee_state *states)
{
	const struct plan *plan = &session->plan;
	const struct context *context = &plan->context;
	struct json *json = record_event(&own->record, RECORD_RUN_START);
	struct utsname system = { 0 };

	(void)uname(&system);
	record_argv(plan->arena, json, command, environ);
	record_bytes(json, "cwd", context->working_directory ? context->working_directory : context->project);
	record_bytes(json, "project", context->project);
	json_number(json, "uid", context->uid);
	json_number(json, "pid", (uint64_t)getpid());
	if (session->agent)
		json_string(json, "agent", session->agent);
	json_string(json, "version", BERM_VERSION);
	json_string(json, "system", arena_printf(plan->arena, "%s %s", system.sysname, system.release));
	json_string(json, "tier", context->tier == TIER_LANDLOCK ? "landlock" : "full");
	json_string(json, "network", network_words[plan->network.mode]);
	add_policies(plan, json);
	add_guarantees(plan, states, json);
	add_hidden(plan, json);
	record_write(&own->record);
}

static int refuse(struct run_record *own, struct error *err)
{
	*err = own->problem;
	error_hint(err, "the policy has `require: {audit: enforced}`: nothing runs that cannot be recorded");
	return -1;
}

int run_record_begin(struct run_record *own, const struct session *session, char *const *command,
		     const struct guarantee_state states[GUARANTEE_COUNT], const struct sweep_report *left, struct error *err)
{
	const struct plan *plan = &session->plan;
	const struct record_options options = { .state_directory = plan->context.state_directory,
						.is_synced = plan_setting(plan, SETTING_AUDIT_SYNC),
						.keep_ms = plan_setting(plan, SETTING_AUDIT_KEEP) };

	own->is_required = plan->required[GUARANTEE_AUDIT] >= LEVEL_ENFORCED && !plan->accepted_weaker[GUARANTEE_AUDIT];
	own->problem = (struct error){ 0 };
	if (record_begin(&own->record, plan->arena, &options, &own->problem) < 0)
		return own->is_required ? refuse(own, err) : 0;
	add_start(own, session, command, states);
	if (left)
		run_record_sweep(own, left, true);
	own->problem = own->record.failure;
	if (own->is_required && error_is_set(&own->problem))
		return refuse(own, err);
	/* In this tier init is forked afterwards, and would inherit the files. */
	if (plan->context.tier == TIER_LANDLOCK)
		record_park(&own->record);
	return 0;
}

void run_record_meanwhile(struct run_record *own)
{
	record_resume(&own->record);
}

void run_record_sweep(struct run_record *own, const struct sweep_report *report, bool is_leftover)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct sweep_item *item = &report->items[i];
		bool has_failed = error_is_set(&item->failure);
		struct json *json = record_event(&own->record, RECORD_PLANT);
		record_bytes(json, "path", item->path);
		json_string(json, "action", has_failed ? "failed" : sweep_words[item->verdict]);
		record_bytes(json, "reason", has_failed ? item->failure.message : item->reason ? item->reason : "");
		if (item->id[0])
			json_string(json, "quarantine", item->id);
		json_boolean(json, "leftover", is_leftover);
		record_write(&own->record);
	}
}

static void add_net(struct run_record *own, const struct refusal *item, const char *decision)
{
	struct json *json = record_event(&own->record, RECORD_NET);
	json_string(json, "decision", decision);
	record_bytes(json, "host", item->host);
	json_number(json, "port", item->port);
	json_number(json, "count", item->count);
	if (item->reason[0])
		record_bytes(json, "reason", item->reason);
	if (strcmp(decision, "refused") == 0)
		json_boolean(json, "allowable", item->is_allowable);
	record_write(&own->record);
}

/* A connection of which only the number is known, or not even that. */
static void add_net_others(struct run_record *own, const char *decision, uint64_t count, const char *reason)
{
	struct json *json = record_event(&own->record, RECORD_NET);
	json_string(json, "decision", decision);
	json_number(json, "count", count);
	json_string(json, "reason", reason);
	record_write(&own->record);
}

static void add_network(struct run_record *own, const struct run_result *result)
{
	const struct refusals *refused = result->refused;

	for (uint32_t i = 0; refused && i < refused->allowed_count; i++)
		add_net(own, &refused->allowed[i], "allowed");
	if (refused && refused->allowed_others > 0)
		add_net_others(own, "allowed", refused->allowed_others, "further destinations");
	for (uint32_t i = 0; refused && i < refused->count; i++)
		add_net(own, &refused->items[i], "refused");
	if (refused && refused->others > 0)
		add_net_others(own, "refused", refused->others, "further destinations");
	if (refused && refused->failure.count > 0)
		add_net(own, &refused->failure, "failed");
	if (result->has_tried_network && !(refused && refusals_total(refused) > 0))
		add_net_others(own, "refused", 1, "the command seems to have used the network in a way that is closed");
}

static void add_names(struct run_record *own, const struct run_refused_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *obeyed_by = names->items[i].obeyed_by;
		struct json *json = record_event(&own->record, RECORD_FILE_DENIED);
		record_bytes(json, "path", names->items[i].path);
		json_string(json, "operation", "create");
		record_bytes(json, "reason",
			     obeyed_by[0] ? arena_printf(own->record.arena, "obeyed by %s", obeyed_by)
					  : "protected by the policy");
		json_boolean(json, "liftable", names->items[i].is_liftable);
		record_write(&own->record);
	}
}

static void add_git(struct run_record *own, unsigned refused)
{
	static const struct {
		unsigned bit;
		const char *word;
	} words[] = { { GIT_REFUSED_CONFIG, "config" }, { GIT_REFUSED_FILES, "files" } };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (!(refused & words[i].bit))
			continue;
		json_string(record_event(&own->record, RECORD_GIT), "refused", words[i].word);
		record_write(&own->record);
	}
}

static void add_repairs(struct run_record *own, const struct repair_report *report)
{
	for (size_t i = 0; report && i < report->count; i++) {
		const struct repair_event *event = &report->items[i];
		struct json *json = record_event(&own->record, RECORD_REPAIR);
		record_bytes(json, "path", event->path);
		json_string(json, "kind", repair_words[event->kind]);
		json_number(json, "exposed_us", event->exposed_us < 0 ? 0 : (uint64_t)event->exposed_us);
		json_number(json, "count", event->count);
		if (event->detail && event->detail[0])
			record_bytes(json, "detail", event->detail);
		record_write(&own->record);
	}
}

static void add_limit(struct run_record *own, const struct run_result *result)
{
	const struct error *words = error_is_set(&result->ended) ? &result->ended : &result->note;
	struct json *json;
	if (!result->has_limit)
		return;
	json = record_event(&own->record, RECORD_LIMIT);
	json_string(json, "limit", limit_words[result->limit]);
	json_string(json, "message", words->message);
	record_write(&own->record);
}

static uint64_t microseconds(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void add_usage(struct json *json)
{
	struct rusage usage;
	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return;
	json_number(json, "user_us", microseconds(usage.ru_utime));
	json_number(json, "system_us", microseconds(usage.ru_stime));
#ifdef __APPLE__
	json_number(json, "max_rss_kb", (uint64_t)usage.ru_maxrss / 1024);
#else
	json_number(json, "max_rss_kb", (uint64_t)usage.ru_maxrss);
#endif
}

static void add_end(struct run_record *own, const char *outcome, int exit_code, int signal, const struct error *reason)
{
	struct json *json = record_event(&own->record, RECORD_RUN_END);
	json_string(json, "outcome", outcome);
	json_number(json, "exit_code", (uint64_t)exit_code);
	if (signal > 0)
		json_number(json, "signal", (uint64_t)signal);
	if (error_is_set(reason))
		record_bytes(json, "reason", reason->message);
	add_usage(json);
	record_add_counts(&own->record, json);
	record_write(&own->record);
}

static bool finish(struct run_record *own)
{
	bool is_whole = record_end(&own->record);
	if (!is_whole && !error_is_set(&own->problem))
		own->problem = own->record.failure;
	return is_whole;
}

void run_record_refused(struct run_record *own, const struct error *err)
{
	if (!own->record.has_begun)
		return;
	record_resume(&own->record);
	add_end(own, "refused", EXIT_REFUSED, 0, err);
	(void)finish(own);
}

bool run_record_end(struct run_record *own, const struct run_result *result, int exit_code)
{
	if (!own->record.has_begun)
		return !own->is_required;
	record_resume(&own->record);
	add_network(own, result);
	add_names(own, &result->refused_names);
	add_git(own, result->git_refused);
	add_repairs(own, result->repaired);
	add_limit(own, result);
	add_end(own, "done", exit_code, result->signal, &result->ended);
	return finish(own) || !own->is_required;
}
