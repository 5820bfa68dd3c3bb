/* SPDX-License-Identifier: Apache-2.0 */
/* What is visible inside: the paths of files.system, files.read and files.write, canonical, each once. Refuses a grant that would
 * undo the wall (the whole disk, the home, /proc, sockets by the directory) and never grants what no rule names. */
#include "common/plan/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Directories that are not granted whole, and why. What lies below them may be, unless is_below says no. */
struct ungrantable {
	const char *path;
	bool is_below;
	const char *why, *hint;
};

static const char own_proc[] = "the command has a /proc of its own";
static const char full_of_sockets[] = "it is full of sockets of other programs";
static const char name_sockets[] = "name the sockets under `sockets`, or the directory in it that is needed";
static const char own_tmp[] = "it is shared with every other program";
static const char name_in_tmp[] = "the command has a directory for temporary files of its own; name what it needs of this one";

static const struct ungrantable ungrantable[] = {
	{ "/", false, "that is everything", "name the directories that are needed" },
	{ "/proc", true, own_proc, NULL },
	{ "/dev", true, "devices are not files to be read", "name them under `devices`" },
	{ "/sys", false, "it is the kernel's", "name the directory in it that is needed" },
	{ "/run", false, full_of_sockets, name_sockets },
	{ "/run/user", false, full_of_sockets, name_sockets },
	{ "/var/run", false, full_of_sockets, name_sockets },
	{ "/private/var/run", false, full_of_sockets, name_sockets },
	{ "/tmp", false, own_tmp, name_in_tmp },
	{ "/var/tmp", false, own_tmp, name_in_tmp },
	{ "/private/tmp", false, own_tmp, name_in_tmp },
	{ "/private/var/tmp", false, own_tmp, name_in_tmp },
};

struct refusal {
	const char *why, *hint;
};

static bool is_runtime_directory(const struct plan *plan, const char *path)
{
	char own[64];
	snprintf(own, sizeof own, "/run/user/%lu", (unsigned long)plan->context.uid);
	return strcmp(path, own) == 0;
}

static struct refusal refuse_place(const struct plan *plan, const char *path)
{
	const struct context *context = &plan->context;
	for (size_t i = 0; i < sizeof ungrantable / sizeof ungrantable[0]; i++) {
		const struct ungrantable *row = &ungrantable[i];
		if (strcmp(path, row->path) == 0 || (row->is_below && path_is_within(path, row->path)))
			return (struct refusal){ row->why, row->hint };
	}
	if (is_runtime_directory(plan, path))
		return (struct refusal){ full_of_sockets, name_sockets };
	if (path_is_within(context->home, path))
		return (struct refusal){ strcmp(path, context->home) == 0 ? "it is your home" : "your home lies in it",
					 "name what is needed in it; `home: host` shows all of it, read-only" };
	if (path_is_within(path, context->state_directory))
		return (struct refusal){ "berm keeps its own state there", NULL };
	return (struct refusal){ 0 };
}

static struct refusal refuse_writing(const struct plan *plan, const char *path)
{
	const struct context *context = &plan->context;
	if (context_system_directory(path) || path_is_within(path, "/sys"))
		return (struct refusal){ "it belongs to the system", "it can be readable: list it under files.read" };
	if (path_is_within(context->state_directory, path))
		return (struct refusal){ "berm's own state lies in it", NULL };
	if (path_is_within(path, context->config_directory) || path_is_within(context->config_directory, path))
		return (struct refusal){ "your own policy for berm lies there", NULL };
	return (struct refusal){ 0 };
}

static struct refusal refuse_type(enum file_type type)
{
	switch (type) {
	case FILE_SOCKET:
		return (struct refusal){ "it is a socket", "list it under `sockets`" };
	case FILE_DEVICE:
		return (struct refusal){ "it is a device", "list it under `devices`" };
	case FILE_FIFO:
		return (struct refusal){ "it is a named pipe: another program is at its other end", NULL };
	case FILE_ABSENT:
	case FILE_REGULAR:
	case FILE_DIRECTORY:
	case FILE_SYMLINK:
	case FILE_UNKNOWN:
		break;
	}
	return (struct refusal){ 0 };
}

/* A built-in policy names places that may be anything on this machine: what is unfit there is left out, and said. */
static bool is_refused(struct builder *builder, const char *path, enum file_type type, enum grant_kind kind,
		       const struct rule *rule)
{
	struct refusal refusal = refuse_place(builder->plan, path);
	if (!refusal.why && kind == GRANT_WRITE)
		refusal = refuse_writing(builder->plan, path);
	if (!refusal.why)
		refusal = refuse_type(type);
	if (!refusal.why)
		return false;
	if (rule->layer <= LAYER_BASE)
		build_note(builder, NOTE_OTHER, rule, "%s is left out: %s", path, refusal.why);
	else
		build_error(builder, rule, refusal.hint, "`%s` cannot be granted: %s is refused because %s", rule->text, path,
			    refusal.why);
	return true;
}

void build_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
		 const struct rule *rule)
{
	struct plan_grant *grant = arena_push(builder->plan->arena, &builder->plan->grants);
	*grant = (struct plan_grant){ .path = canonical, .kind = kind, .type = type, .rule = rule };
}

bool build_judged_grant(struct builder *builder, const char *canonical, enum file_type type, enum grant_kind kind,
			const struct rule *rule)
{
	if (is_refused(builder, canonical, type, kind, rule))
		return false;
	build_grant(builder, canonical, type, kind, rule);
	return true;
}

/* What the user can write may hold what the user wrote: it is searched for denied names like the rest, and not taken for a tree
 * of software. Toolchains in the home are the known exception; macOS has no search that this would lengthen or shorten. */
static bool is_users_own(const struct plan *plan, const char *path, const struct file_info *info)
{
	const struct context *context = &plan->context;
	if (context->os != OS_LINUX || context->uid == 0 || path_is_within(path, context->home))
		return false;
	return (info->uid == context->uid && (info->mode & 0200)) || ((info->mode & 0002) && !(info->mode & 01000));
}

static void add_resolved(struct builder *builder, const char *canonical, const struct file_info *info, enum grant_kind kind,
			 const struct rule *rule)
{
	if (info->type == FILE_ABSENT || info->type == FILE_UNKNOWN) {
		build_note(builder, NOTE_MISSING, rule,
			   info->type == FILE_ABSENT ? "%s is not there" : "%s cannot be looked at", canonical);
		return;
	}
	if (kind == GRANT_SYSTEM && is_users_own(builder->plan, canonical, info)) {
		build_note(builder, NOTE_OTHER, rule,
			   "%s is writable for %s, so it is searched for denied names like other files", canonical,
			   builder->plan->context.user);
		kind = GRANT_READ;
	}
	build_judged_grant(builder, canonical, info->type, kind, rule);
}

static void add_rule(struct builder *builder, const struct rule *rule, enum grant_kind kind)
{
	struct path_links links;
	struct file_info info;
	const char *canonical = build_resolve(builder, rule, &links, &info);

	if (!canonical)
		return;
	add_resolved(builder, canonical, &info, kind, rule);
	build_followed(builder, rule, &links, canonical);
	for (size_t i = 0; i < links.count; i++)
		*(struct path_link *)arena_push(builder->plan->arena, &builder->links) = links.items[i];
}

static void add_rules(struct builder *builder, const struct rules *rules, enum grant_kind kind)
{
	for (size_t i = 0; i < rules->count; i++)
		add_rule(builder, &rules->items[i], kind);
}

void build_grants(struct builder *builder)
{
	struct plan *plan = builder->plan;
	add_rules(builder, &plan->policy->files.system, GRANT_SYSTEM);
	add_rules(builder, &plan->policy->files.read, GRANT_READ);
	add_rules(builder, &plan->policy->files.write, GRANT_WRITE);
	if (plan->home == HOME_HOST)
		build_grant(builder, plan->context.home, FILE_DIRECTORY, GRANT_READ, &plan->home_setting.rule);
}

/* By path; of several grants of one path the one that allows most first, and of these the one of the latest layer. */
static int compare_grants(const void *left, const void *right)
{
	const struct plan_grant *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	if (order)
		return order;
	if (a->kind != b->kind)
		return a->kind > b->kind ? -1 : 1;
	return (a->rule->layer < b->rule->layer) - (a->rule->layer > b->rule->layer);
}

static void sort_grants(struct plan_grants *grants)
{
	size_t kept = 0;
	if (grants->count == 0)
		return;
	qsort(grants->items, grants->count, sizeof *grants->items, compare_grants);
	for (size_t i = 0; i < grants->count; i++)
		if (kept == 0 || strcmp(grants->items[kept - 1].path, grants->items[i].path) != 0)
			grants->items[kept++] = grants->items[i];
	grants->count = kept;
}

/* An exact entry of the user under files.write for what files.protect names is the user's word that it may change. */
static void lift(struct builder *builder, const struct plan_grant *grant)
{
	struct plan *plan = builder->plan;
	bool is_directory = grant->type == FILE_DIRECTORY;
	const struct rule *protected_by;
	if (grant->kind != GRANT_WRITE || grant->rule->layer < LAYER_USER)
		return;
	protected_by = plan_protected_by(plan, grant->path, is_directory);
	if (!protected_by || protected_by->layer == LAYER_FLOOR)
		return;
	build_literal(builder, &plan->lifted, grant->path, grant->rule);
	if (plan_protected_by(plan, grant->path, is_directory)) {
		/* The floor, or a directory above, protects it as well. */
		plan->lifted.count--;
		return;
	}
	build_note(builder, NOTE_LIFTED, grant->rule, "%s may be changed although `%s` protects it", grant->path,
		   protected_by->text);
}

static bool is_project(const struct plan *plan, const struct plan_grant *grant)
{
	return strcmp(grant->path, plan->context.project) == 0;
}

/* Deny wins over a grant of the same or a deeper path: the grant goes. False if it does. */
static bool survives_deny(struct builder *builder, const struct plan_grant *grant)
{
	const struct rule *denied_by = plan_denied_by(builder->plan, grant->path, grant->type == FILE_DIRECTORY);
	if (!denied_by)
		return true;
	if (is_project(builder->plan, grant))
		build_error(builder, denied_by, "use another --project, or list the directory under files.except",
			    "`%s` denies the project itself: %s", denied_by->text, grant->path);
	else
		build_note(builder, NOTE_OTHER, grant->rule, "%s stays hidden: `%s` denies it", grant->path, denied_by->text);
	/* Spelled out: without its own grant it may lie in a tree that is not searched, and must not become part of that. */
	build_literal(builder, &builder->plan->deny, grant->path, denied_by);
	return false;
}

static void apply_protect(struct builder *builder, struct plan_grant *grant)
{
	const struct rule *protected_by;
	if (grant->kind != GRANT_WRITE)
		return;
	protected_by = plan_protected_by(builder->plan, grant->path, grant->type == FILE_DIRECTORY);
	if (!protected_by)
		return;
	grant->kind = GRANT_READ;
	build_note(builder, NOTE_OTHER, grant->rule, "%s is read-only: `%s` protects it", grant->path, protected_by->text);
}

static int compare_links(const void *left, const void *right)
{
	return strcmp(((const struct path_link *)left)->path, ((const struct path_link *)right)->path);
}

/* A link inside a grant is visible with it; only those outside have to be made. */
static void keep_outer_links(struct builder *builder)
{
	struct plan *plan = builder->plan;
	if (builder->links.count == 0)
		return;
	qsort(builder->links.items, builder->links.count, sizeof *builder->links.items, compare_links);
	for (size_t i = 0; i < builder->links.count; i++) {
		const struct path_link *link = &builder->links.items[i];
		if (i > 0 && strcmp(link->path, builder->links.items[i - 1].path) == 0)
			continue;
		if (!plan_grant_for(plan, link->path))
			*(struct path_link *)arena_push(plan->arena, &plan->links) = *link;
	}
}

static void keep(struct plan *plan, struct plan_grants *kept, const struct plan_grant *grant)
{
	*(struct plan_grant *)arena_push(plan->arena, kept) = *grant;
}

/* Deny and protect are judged against all grants, so that dropping one does not change the verdict on the next. */
static void drop_denied(struct builder *builder)
{
	struct plan *plan = builder->plan;
	struct plan_grants kept = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++)
		if (survives_deny(builder, &plan->grants.items[i]))
			keep(plan, &kept, &plan->grants.items[i]);
	for (size_t i = 0; i < kept.count; i++)
		apply_protect(builder, &kept.items[i]);
	plan->grants = kept;
}

/* A grant inside another of its kind says nothing new, and a mount of its own would make renames across it fail (EXDEV). */
static void drop_redundant(struct plan *plan)
{
	struct plan_grants kept = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i], *outer = NULL;
		for (size_t k = 0; k < kept.count; k++)
			if (path_is_within(grant->path, kept.items[k].path))
				outer = &kept.items[k];
		if (!outer || outer->kind != grant->kind)
			keep(plan, &kept, grant);
	}
	plan->grants = kept;
}

void build_grants_finish(struct builder *builder)
{
	struct plan *plan = builder->plan;
	build_refuse_links(builder);
	sort_grants(&plan->grants);
	for (size_t i = 0; i < plan->grants.count; i++)
		lift(builder, &plan->grants.items[i]);
	drop_denied(builder);
	drop_redundant(plan);
	keep_outer_links(builder);
}
