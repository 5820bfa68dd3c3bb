/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for people: one page, 80 columns wide as far as the paths allow. Everything that came from outside is escaped. Prints
 * nothing itself; says nothing that the plan does not hold. */
#include "common/plan/names.h"

#include <string.h>

#include "common/base/text.h"

enum { WIDTH = 80, INDENT = 2, MATCHES_SHOWN = 20 };

struct page {
	struct text *out;
	const struct plan *plan;
	bool is_verbose;
	size_t column, indent;
	size_t reserve; /* columns after a word that must stay free, for a comma */
};

static size_t width_of(const char *text, size_t length)
{
	size_t width = 0;
	for (size_t i = 0; i < length; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

static void heading(struct page *page, const char *text)
{
	text_add(page->out, "\n%s\n", text);
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

/* One word; goes to a new line with the same indent if it does not fit. */
static void put_word(struct page *page, const char *word, size_t length)
{
	size_t width = width_of(word, length);
	bool is_first = page->column == page->indent;
	if (!is_first && page->column + 1 + width + page->reserve > WIDTH) {
		end_line(page);
		start_line(page, page->indent);
		is_first = true;
	}
	if (!is_first)
		text_add(page->out, " ");
	text_add_n(page->out, word, length);
	page->column += width + !is_first;
}

/* Trusted or escaped text, wrapped at blanks. */
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

/* ~ for the home, . for the project: as the user would write it. */
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

/* An item, and with -v on the right or the next line where it comes from. */
static void put_item(struct page *page, const char *item, const struct rule *rule)
{
	const char *place;
	start_line(page, INDENT);
	text_add(page->out, "%s", item);
	page->column += width_of(item, strlen(item));
	if (page->is_verbose) {
		place = shown_place(page, rule);
		size_t width = width_of(place, strlen(place));
		if (page->column + 2 + width > WIDTH) {
			end_line(page);
			start_line(page, INDENT + 2);
		}
		if (page->column + 2 + width <= WIDTH)
			text_add(page->out, "%*s", (int)(WIDTH - page->column - width), "");
		text_add(page->out, "%s", place);
	}
	end_line(page);
}

/* Comma-separated and wrapped; one per line with its place with -v. */
struct listing {
	struct page *page;
	size_t count;
};

static void list_item(struct listing *listing, const char *item, const struct rule *rule)
{
	struct page *page = listing->page;
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
	if (listing->count == 0) {
		start_line(listing->page, INDENT);
		put_words(listing->page, nothing);
		end_line(listing->page);
	} else if (!listing->page->is_verbose) {
		end_line(listing->page);
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
		const char *text = arena_printf(plan->arena, "%s%s%s", source->shown, is_untrusted ? " (not trusted)" : "",
						i + 1 < plan->policy->source_count ? "," : "");
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
	if (!state || state->level < plan->required[number])
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
		put_words(page, "What this other machine can hold was not tried out.");
	else if (plan_would_run(page->plan, states, &err))
		put_words(page, "All that the policy asks for holds here.");
	else
		put_words(page, shown(page, arena_printf(page->plan->arena, "`berm run` refuses: %s", err.message)));
	end_line(page);
}

static void print_grants(struct page *page, const char *title, enum grant_kind kind, const char *nothing)
{
	const struct plan *plan = page->plan;
	struct listing listing = { .page = page };
	heading(page, title);
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == kind)
			list_item(&listing, shown_path(page, plan->grants.items[i].path), plan->grants.items[i].rule);
	list_end(&listing, nothing);
}

/* Relative to the project where that is shorter to read. */
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
	list_end(&listing, "nothing of it is there now");
	if (!page->is_verbose)
		return;
	text_add(page->out, "  patterns:\n");
	for (size_t i = 0; i < patterns->count; i++)
		if (i == 0 || patterns->items[i - 1].rule != patterns->items[i].rule)
			put_item(page, shown(page, patterns->items[i].rule->text), patterns->items[i].rule);
}

/* As written; a pattern that was resolved to a second place is one rule still. */
static void print_patterns(struct page *page, const char *title, const struct plan_patterns *patterns, enum layer lowest)
{
	struct listing listing = { .page = page };
	for (size_t i = 0; i < patterns->count; i++) {
		const struct rule *rule = patterns->items[i].rule;
		if ((!page->is_verbose && rule->layer < lowest) || (i > 0 && patterns->items[i - 1].rule == rule))
			continue;
		if (listing.count == 0)
			heading(page, title);
		list_item(&listing, shown(page, rule->text), rule);
	}
	if (listing.count > 0)
		list_end(&listing, "");
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

static void print_destinations(struct page *page, const char *word, const struct destinations *destinations)
{
	for (size_t i = 0; i < destinations->count; i++)
		put_item(page, shown(page, arena_printf(page->plan->arena, "%s %s", word, destinations->items[i].rule->text)),
			 destinations->items[i].rule);
}

static void print_network(struct page *page)
{
	const struct plan *plan = page->plan;
	static const char *const sentences[] = {
		[NETWORK_NONE] = "none",
		[NETWORK_ALLOW] = "only these destinations",
		[NETWORK_ALL] = "every destination, a cloud's metadata services too",
	};
	bool is_judged = plan->network.mode == NETWORK_ALL && plan->network.deny.count > 0;
	heading(page, "Network");
	put_item(page, is_judged ? "every destination but metadata services and these" : sentences[plan->network.mode],
		 plan->network.rule);
	print_destinations(page, "allow", &plan->network.allow);
	print_destinations(page, "deny", &plan->network.deny);
	for (size_t i = 0; i < plan->network.local.count; i++)
		put_item(page, shown(page, arena_printf(plan->arena, "local %s", plan->network.local.items[i].rule->text)),
			 plan->network.local.items[i].rule);
	for (size_t i = 0; i < plan->network.publish.count; i++)
		put_item(page, shown(page, arena_printf(plan->arena, "publish %s", plan->network.publish.items[i].rule->text)),
			 plan->network.publish.items[i].rule);
}

static void print_reach(struct page *page)
{
	const struct plan *plan = page->plan;
	struct listing sockets = { .page = page }, devices = { .page = page }, variables = { .page = page };

	heading(page, "Sockets");
	for (size_t i = 0; i < plan->sockets.count; i++)
		list_item(&sockets, shown_path(page, plan->sockets.items[i].path), plan->sockets.items[i].rule);
	list_end(&sockets, "none");
	if (plan->devices.count > 0) {
		heading(page, "Devices besides the basic ones");
		for (size_t i = 0; i < plan->devices.count; i++)
			list_item(&devices, shown_path(page, plan->devices.items[i].path), plan->devices.items[i].rule);
		list_end(&devices, "");
	}
	heading(page, "Environment");
	for (size_t i = 0; i < plan->environment.count; i++)
		list_item(&variables, shown(page, plan->environment.items[i].name), plan->environment.items[i].rule);
	list_end(&variables, "empty");
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

/* "memory 4G        best effort  looked at ...": how firmly, and by what. */
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
	/* Built-in policies name many places that a machine may lack. */
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

static void print_notes(struct page *page)
{
	const struct plan *plan = page->plan;
	size_t printed = 0, missing = 0, ignored = 0;

	for (size_t i = 0; i < plan->notes.count; i++) {
		const struct plan_note *note = &plan->notes.items[i];
		if (is_quiet(page, note)) {
			missing++;
			continue;
		}
		if (printed++ == 0)
			heading(page, "Notes");
		ignored += note->kind == NOTE_IGNORED;
		print_note(page, note);
	}
	if (ignored > 0)
		text_add(page->out, "  To accept what the project's policy asks for: berm trust\n");
	if (missing > 0 && page->is_verbose)
		text_add(page->out, "  %zu paths of built-in policies are not on this machine\n", missing);
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
	print_grants(&page, "Readable", GRANT_READ, "nothing besides");
	print_grants(&page, "System, read-only", GRANT_SYSTEM, "nothing");
	print_matches(&page, "Hidden", &plan->masked, &plan->deny);
	print_patterns(&page, "Not hidden although a pattern matches", &plan->except, LAYER_USER);
	print_matches(&page, "Protected: readable, never changed", &plan->locked, &plan->protect);
	print_patterns(&page, "Not searched for hidden names", &plan->prune, LAYER_FLOOR);
	print_places(&page);
	print_network(&page);
	print_reach(&page);
	print_limits(&page, states);
	print_notes(&page);
}
