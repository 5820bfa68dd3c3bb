/* SPDX-License-Identifier: Apache-2.0 */
/* The plan as a page of text, as wide as `out` allows, if the paths fit. Every text from
 * outside is escaped. Shows what the plan holds and derives no verdict. */
#include "common/plan/names.h"

#include <string.h>

#include "common/base/text.h"

enum { INDENT = 2, MATCHES_SHOWN = 20, BUILT_IN_SHOWN = 12 };

struct page {
	struct text *out;
	const struct plan *plan;
	bool is_verbose;
	size_t column, indent;
	size_t reserve; /* columns after a word that must stay free, for a comma */
};

static void heading(struct page *page, const char *text)
{
	text_add(page->out, "\n");
	text_add_wrapped(page->out, 0, text);
}

static void start_line(struct page *page, size_t indent)
{
	text_add(page->out, "%*s", (int)indent, "");
	page->column = indent;
	page->indent = indent;
}

static void end_line(struct page *page)
{
	text_add(page->out, "\n");
	page->column = 0;
}

/* Adds one word, on a new line with the same indent if it does not fit. */
static void put_word(struct page *page, const char *word, size_t length)
{
	size_t width = text_columns(word, length);
	bool is_first = page->column == page->indent;
	if (!is_first && page->column + 1 + width + page->reserve > text_width(page->out)) {
		end_line(page);
		start_line(page, page->indent);
		is_first = true;
	}
	if (!is_first)
		text_add(page->out, " ");
	text_add_n(page->out, word, length);
	page->column += width + !is_first;
}

/* Adds text that is trusted or escaped, wrapped at blanks. */
static void put_words(struct page *page, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		if (length > 0)
			put_word(page, text, length);
		text += length + (text[length] == ' ');
	}
}

static const char *shown(const struct page *page, const char *text)
{
	return text_visible(page->plan->arena, text);
}

/* Returns the path as the user would write it, with ~ for the home. */
static const char *shown_path(const struct page *page, const char *path)
{
	const struct context *context = &page->plan->context;
	if (strcmp(path, context->home) != 0 && path_is_within(path, context->home))
		return shown(page, arena_printf(page->plan->arena, "~%s", path + strlen(context->home)));
	return shown(page, path);
}

static const char *shown_place(const struct page *page, const struct rule *rule)
{
	struct arena *arena = page->plan->arena;
	if (!rule || !rule->origin.source)
		return "berm";
	if (rule->origin.line == 0)
		return shown(page, rule->origin.source);
	return shown(page, arena_printf(arena, "%s:%u:%u", rule->origin.source, rule->origin.line, rule->origin.column));
}

/* Returns a pattern as written, or below the enclosing project that it starts from. */
static const char *shown_pattern(const struct page *page, const struct rule *rule)
{
	const struct plan *plan = page->plan;
	if (!rule->base || strcmp(rule->base, plan->context.project) == 0)
		return shown(page, rule->text);
	return shown_path(page, path_join(plan->arena, rule->base, rule->text));
}

/* Adds an item. With -v its origin follows, on the right or on the next line. */
static void put_item(struct page *page, const char *item, const struct rule *rule)
{
	const char *place;
	start_line(page, INDENT);
	text_add(page->out, "%s", item);
	page->column += text_columns(item, strlen(item));
	if (page->is_verbose) {
		place = shown_place(page, rule);
		size_t width = text_columns(place, strlen(place)), columns = text_width(page->out);
		if (page->column + 2 + width > columns) {
			end_line(page);
			start_line(page, INDENT + 2);
		}
		if (page->column + 2 + width <= columns)
			text_add(page->out, "%*s", (int)(columns - page->column - width), "");
		text_add(page->out, "%s", place);
	}
	end_line(page);
}

/* A list of items: separated by commas and wrapped, or with -v one per line with its origin. */
struct listing {
	struct page *page;
	bool is_folded; /* built-in items after the first ones are counted only, without -v */
	size_t count, folded;
};

static bool is_built_in(const struct rule *rule)
{
	return !rule || rule->layer <= LAYER_BASE;
}

static void list_item(struct listing *listing, const char *item, const struct rule *rule)
{
	struct page *page = listing->page;
	if (listing->is_folded && !page->is_verbose && listing->count >= BUILT_IN_SHOWN && is_built_in(rule)) {
		listing->folded++;
		return;
	}
	if (page->is_verbose) {
		put_item(page, item, rule);
	} else {
		if (listing->count == 0)
			start_line(page, INDENT);
		else
			text_add(page->out, ",");
		page->column += listing->count > 0;
		page->reserve = 1;
		put_word(page, item, strlen(item));
		page->reserve = 0;
	}
	listing->count++;
}

static void list_end(struct listing *listing, const char *nothing)
{
	struct arena *arena = listing->page->plan->arena;
	if (listing->folded > 0) {
		listing->is_folded = false;
		list_item(listing, arena_printf(arena, "and %zu more (-v shows all)", listing->folded), NULL);
	}
	if (listing->count == 0) {
		start_line(listing->page, INDENT);
		put_words(listing->page, nothing);
		end_line(listing->page);
	} else if (!listing->page->is_verbose) {
		end_line(listing->page);
	}
}

/* The enclosing projects, the outermost last. */
static void print_enclosing(struct page *page)
{
	const struct plan *plan = page->plan;
	for (size_t i = 0; i < plan->context.enclosing.count; i++) {
		const struct enclosing_project *project = &plan->context.enclosing.items[i];
		const char *text = project->skipped ? arena_printf(plan->arena, "skipped: %s", project->skipped)
						    : "its rules hold here too, and only restrict";
		start_line(page, INDENT);
		put_words(page, arena_printf(plan->arena, "in %s (%s)", shown_path(page, project->path), text));
		end_line(page);
	}
}

static void print_head(struct page *page)
{
	const struct plan *plan = page->plan;
	const struct context *context = &plan->context;

	text_add(page->out, "Project\n");
	start_line(page, INDENT);
	put_words(page, shown(page, context->project));
	end_line(page);
	print_enclosing(page);
	start_line(page, INDENT);
	put_words(page, shown(page, arena_printf(plan->arena, "as %s (uid %lu) on %s%s", context->user,
						 (unsigned long)context->uid, context->os == OS_MACOS ? "macOS" : "Linux",
						 context->tier == TIER_LANDLOCK ? ", tier landlock: no namespaces" : "")));
	end_line(page);
	heading(page, "Policy");
	start_line(page, INDENT);
	for (size_t i = 0; i < plan->policy->source_count; i++) {
		const struct policy_source *source = &plan->policy->sources[i];
		bool is_untrusted = source->layer == LAYER_PROJECT && !source->is_trusted;
		const char *kind = is_untrusted			      ? " (not trusted)"
				   : source->layer == LAYER_ENCLOSING ? " (only restricts)"
								      : "";
		const char *text =
			arena_printf(plan->arena, "%s%s%s", source->shown, kind, i + 1 < plan->policy->source_count ? "," : "");
		text = shown(page, text);
		put_word(page, text, strlen(text));
	}
	end_line(page);
}

static void print_guarantee(struct page *page, int number, const struct guarantee_state *state)
{
	const struct plan *plan = page->plan;
	enum guarantee guarantee = (enum guarantee)number;
	const char *required = level_name(guarantee, plan->required[number]);
	const char *level = state ? level_name(guarantee, state->level) : "unknown";

	text_add(page->out, "  %-12s %-9s ", guarantee_table[number].name, level);
	page->indent = page->column = 25;
	if (!state || guarantee_falls_short(plan->required[number], state->level))
		put_words(page, arena_printf(plan->arena, "(asked for: %s%s) ", required,
					     plan->accepted_weaker[number] ? ", weaker accepted" : ""));
	if (state && state->mechanism)
		put_words(page, shown(page, state->mechanism));
	if (state && state->reason) {
		if (page->column > page->indent)
			text_add(page->out, ";");
		page->column++;
		put_words(page, shown(page, state->reason));
	}
	end_line(page);
	if (state && state->fix && page->is_verbose) {
		start_line(page, 25);
		put_words(page, shown(page, arena_printf(plan->arena, "fix: %s", state->fix)));
		end_line(page);
	}
}

static void print_guarantees(struct page *page, const struct guarantee_state *states)
{
	struct error err = { 0 };
	heading(page, "Guarantees");
	for (int i = 0; i < GUARANTEE_COUNT; i++)
		print_guarantee(page, i, states ? &states[i] : NULL);
	start_line(page, INDENT);
	if (!states)
		put_words(page, "The guarantees of that other machine cannot be tested here.");
	else if (plan_would_run(page->plan, states, &err))
		put_words(page, "This machine holds every guarantee that the policy requires.");
	else
		put_words(page, shown(page, arena_printf(page->plan->arena, "`berm run` refuses: %s", err.message)));
	end_line(page);
}

static void print_grants(struct page *page, const char *title, enum grant_kind kind, const char *nothing)
{
	const struct plan *plan = page->plan;
	struct listing listing = { .page = page, .is_folded = true };
	heading(page, title);
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == kind)
			list_item(&listing, shown_path(page, plan->grants.items[i].path), plan->grants.items[i].rule);
	list_end(&listing, nothing);
}

/* Returns the path relative to the project if it is in there. */
static const char *shown_match(const struct page *page, const char *path)
{
	const char *project = page->plan->context.project;
	if (path_is_within(path, project) && strcmp(path, project) != 0)
		return shown(page, arena_printf(page->plan->arena, ".%s", path + strlen(project)));
	return shown_path(page, path);
}

static void print_matches(struct page *page, const char *title, const struct plan_matches *matches,
			  const struct plan_patterns *patterns)
{
	struct arena *arena = page->plan->arena;
	struct listing listing = { .page = page };
	heading(page, arena_printf(arena, "%s (%zu patterns; %zu match%s now)", title, patterns->count, matches->count,
				   matches->count == 1 ? "es" : ""));
	for (size_t i = 0; i < matches->count; i++) {
		if (!page->is_verbose && i == MATCHES_SHOWN && matches->count > MATCHES_SHOWN + 1) {
			list_item(&listing, arena_printf(arena, "and %zu more (-v shows all)", matches->count - i), NULL);
			break;
		}
		const struct plan_match *match = &matches->items[i];
		const char *path = shown_match(page, match->path);
		list_item(&listing, match->type == FILE_DIRECTORY ? arena_printf(arena, "%s/", path) : path, match->rule);
	}
	list_end(&listing, "no match exists now");
	if (!page->is_verbose)
		return;
	text_add(page->out, "  patterns:\n");
	for (size_t i = 0; i < patterns->count; i++)
		if (i == 0 || patterns->items[i - 1].rule != patterns->items[i].rule)
			put_item(page, shown_pattern(page, patterns->items[i].rule), patterns->items[i].rule);
}

/* Shows patterns as written. Two spellings of one rule are shown once. */
static void print_patterns(struct page *page, const char *title, const struct plan_patterns *patterns, enum layer lowest)
{
	struct listing listing = { .page = page, .is_folded = true };
	for (size_t i = 0; i < patterns->count; i++) {
		const struct rule *rule = patterns->items[i].rule;
		if ((!page->is_verbose && rule->layer < lowest) || (i > 0 && patterns->items[i - 1].rule == rule))
			continue;
		if (listing.count == 0)
			heading(page, title);
		list_item(&listing, shown_pattern(page, rule), rule);
	}
	if (listing.count > 0)
		list_end(&listing, "");
}

/* Files of files.public, with what was found in each. */
static void print_judged(struct page *page)
{
	const struct plan_judged *judged = &page->plan->scan->judged;
	struct arena *arena = page->plan->arena;
	size_t readable = 0, shown = 0;
	for (size_t i = 0; i < judged->count; i++)
		readable += judged->items[i].is_public;
	if (judged->count == 0)
		return;
	heading(page, arena_printf(arena, "Judged by content (%zu readable, %zu hidden)", readable, judged->count - readable));
	for (size_t i = 0; i < judged->count; i++) {
		const struct plan_judged_file *file = &judged->items[i];
		if (!page->is_verbose && shown++ == MATCHES_SHOWN && judged->count > MATCHES_SHOWN + 1) {
			put_item(page, arena_printf(arena, "and %zu more (-v shows all)", judged->count - i), NULL);
			break;
		}
		put_item(page,
			 arena_printf(arena, "%s: %s: %s", shown_match(page, file->path),
				      file->is_public ? "readable" : "hidden", file->reason),
			 file->rule);
	}
}

static void print_places(struct page *page)
{
	const struct plan *plan = page->plan;
	bool is_kept = plan->home == HOME_PRIVATE || plan->tmp == TMP_PRIVATE;
	heading(page, "Home and /tmp of the command");
	put_item(page, arena_printf(plan->arena, "home %s", home_mode_names[plan->home]), &plan->home_setting.rule);
	put_item(page, arena_printf(plan->arena, "tmp %s", tmp_mode_names[plan->tmp]), &plan->tmp_setting.rule);
	start_line(page, INDENT);
	if (is_kept)
		put_words(page, arena_printf(plan->arena, "kept in %s", shown_path(page, plan->state.directory)));
	else
		put_words(page, "nothing is kept between runs");
	end_line(page);
}

static void print_network_rule(struct page *page, const char *word, const struct rule *rule)
{
	put_item(page, shown(page, arena_printf(page->plan->arena, "%s %s", word, rule->text)), rule);
}

static void print_network(struct page *page)
{
	const struct plan *plan = page->plan;
	static const char *const sentences[] = {
		[NETWORK_NONE] = "none",
		[NETWORK_ALLOW] = "only these destinations",
		[NETWORK_ALL] = "every destination, including a cloud's metadata services",
	};
	bool is_filtered = plan->network.mode == NETWORK_ALL && !plan_has_open_network(plan);
	heading(page, "Network");
	put_item(page, is_filtered ? "every destination except metadata services and these" : sentences[plan->network.mode],
		 plan->network.rule);
#define PRINT_NETWORK_LIST(field, ...)                                                                                         \
	for (size_t i = 0; i < plan->network.field.count; i++)                                                                 \
		print_network_rule(page, #field, plan->network.field.items[i].rule);
	NETWORK_LISTS(PRINT_NETWORK_LIST)
#undef PRINT_NETWORK_LIST
}

static void print_list(struct page *page, const struct plan_list_info *info)
{
	const struct plan_items *list = plan_list(page->plan, info);
	struct listing listing = { .page = page };
	if (list->count == 0 && !info->nothing)
		return;
	heading(page, info->title);
	for (size_t i = 0; i < list->count; i++)
		list_item(&listing, shown_path(page, list->items[i].value), list->items[i].rule);
	list_end(&listing, info->nothing);
}

static void print_environment(struct page *page)
{
	const struct plan_variables *variables = &page->plan->environment;
	struct listing listing = { .page = page };
	heading(page, "Environment");
	for (size_t i = 0; i < variables->count; i++)
		list_item(&listing, shown(page, variables->items[i].name), variables->items[i].rule);
	list_end(&listing, "empty");
}

static void add_limit(struct text *text, enum limit limit, uint64_t value)
{
	if (limit == LIMIT_MEMORY || limit == LIMIT_DISK || limit == LIMIT_FILE_SIZE)
		text_add_size(text, value);
	else if (limit == LIMIT_TIME)
		text_add_duration(text, value);
	else
		text_add(text, "%llu", (unsigned long long)value);
}

/* Adds a limit, how firmly it holds, and the mechanism: "memory 4G        best effort  ...". */
static void print_hold(struct page *page, const char *item, const struct limit_state *hold, const struct rule *rule)
{
	const char *firmness = !hold->mechanism ? "not held" : hold->is_hard ? "hard" : "best effort";
	text_add(page->out, "  %-16s  %-11s  ", item, firmness);
	page->indent = page->column = 33;
	if (hold->mechanism)
		put_words(page, shown(page, hold->mechanism));
	if (hold->mechanism && hold->reason) {
		text_add(page->out, ";");
		page->column++;
	}
	if (hold->reason)
		put_words(page, shown(page, hold->reason));
	if (page->is_verbose)
		put_words(page, arena_printf(page->plan->arena, "(%s)", shown_place(page, rule)));
	end_line(page);
}

static void print_limits(struct page *page, const struct guarantee_state *states)
{
	const struct limit_state *holds = states ? states[GUARANTEE_LIMITS].limits : NULL;
	const struct plan *plan = page->plan;
	struct listing listing = { .page = page };
	size_t count = 0;
	heading(page, "Limits");
	for (int i = 0; i < LIMIT_COUNT; i++) {
		struct text item = { 0 };
		if (!plan->limits[i].is_set)
			continue;
		count++;
		text_add(&item, "%s ", limit_names[i]);
		add_limit(&item, (enum limit)i, plan->limits[i].value);
		if (holds)
			print_hold(page, item.data, &holds[i], &plan->limits[i].rule);
		else
			list_item(&listing, arena_copy(plan->arena, item.data), &plan->limits[i].rule);
		text_free(&item);
	}
	if (count == 0 || !holds)
		list_end(&listing, "none");
}

static bool is_quiet(const struct page *page, const struct plan_note *note)
{
	/* Built-in policies name many paths that a machine may lack. */
	return !page->is_verbose && note->kind == NOTE_MISSING && note->rule && note->rule->layer <= LAYER_BASE;
}

static void print_note(struct page *page, const struct plan_note *note)
{
	const struct plan *plan = page->plan;
	start_line(page, INDENT);
	put_word(page, "-", 1);
	page->indent += 2;
	if (note->rule)
		put_words(page, shown(page, arena_printf(plan->arena, "%s: %s", shown_place(page, note->rule), note->text)));
	else
		put_words(page, shown(page, note->text));
	end_line(page);
}

/* Settings that a policy sets. */
static void print_settings(struct page *page)
{
	const struct plan *plan = page->plan;
	size_t printed = 0;
	for (size_t i = 0; i < SETTING_COUNT; i++) {
		const struct setting *setting = &plan->settings[i];
		if (!setting->is_set)
			continue;
		if (printed++ == 0)
			heading(page, "Settings");
		put_item(page, arena_printf(plan->arena, "%s: %s", plan_setting_table[i].key, setting->rule.text),
			 &setting->rule);
	}
}

static void print_notes(struct page *page)
{
	const struct plan *plan = page->plan;
	size_t printed = 0, missing = 0, ignored = 0, count = plan->notes.count + plan->scan->notes.count;

	for (size_t i = 0; i < count; i++) {
		const struct plan_note *note =
			i < plan->notes.count ? &plan->notes.items[i] : &plan->scan->notes.items[i - plan->notes.count];
		if (is_quiet(page, note)) {
			missing++;
			continue;
		}
		if (printed++ == 0)
			heading(page, "Notes");
		ignored += note->kind == NOTE_IGNORED && note->rule && note->rule->layer == LAYER_PROJECT;
		print_note(page, note);
	}
	if (ignored > 0)
		text_add(page->out, "  To accept the rules of the project's policy: berm trust\n");
	if (missing > 0 && page->is_verbose)
		text_add(page->out, "  %zu paths of built-in policies do not exist on this machine\n", missing);
}

bool plan_would_run(const struct plan *plan, const struct guarantee_state *states, struct error *err)
{
	return guarantee_judge(plan->required, plan->accepted_weaker, states, err) == 0;
}

void plan_print(const struct plan *plan, const struct guarantee_state states[GUARANTEE_COUNT], bool is_verbose,
		struct text *out)
{
	struct page page = { .out = out, .plan = plan, .is_verbose = is_verbose };

	print_head(&page);
	print_guarantees(&page, states);
	print_grants(&page, "Writable", GRANT_WRITE, "nothing");
	print_grants(&page, "Readable", GRANT_READ, "nothing else");
	print_grants(&page, "System, read-only", GRANT_SYSTEM, "nothing");
	print_matches(&page, "Hidden", &plan->scan->masked, &plan->deny);
	print_patterns(&page, "Not hidden although a pattern matches", &plan->except, LAYER_USER);
	print_judged(&page);
	print_matches(&page, "Protected: readable, never changed", &plan->scan->locked, &plan->protect);
	if (plan->scan->opened.count > 0)
		print_matches(&page, "Writable in a protected directory", &plan->scan->opened, &plan->unprotect);
	print_patterns(&page, "Not searched for hidden names", &plan->prune, LAYER_FLOOR);
	print_places(&page);
	print_network(&page);
	for (size_t i = 0; i < plan_list_count; i++)
		print_list(&page, &plan_list_table[i]);
	print_environment(&page);
	print_limits(&page, states);
	print_settings(&page);
	print_notes(&page);
}
