/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict about a path: one table in which the first row that applies decides. `check` prints
 * it, and the plan uses it for the shell, PATH and the working directory. Reads the plan, and the
 * file system only to see whether a denied or protected name exists. */
#include "common/plan/build.h"
#include "common/plan/planting.h"

#include <string.h>

/* One question, and the rules that several rows need. */
struct question {
	const struct plan *plan;
	enum access access;
	const char *path;
	bool is_directory;
	const struct plan_grant *grant; /* the innermost; NULL: none contains the path */
	const struct rule *masked_by; /* hidden by the scan */
	const struct rule *denied_by; /* by a pattern; NULL for a file whose content is public */
	const struct plan_judged_file *judged; /* by its content; NULL: it was not */
	const struct rule *locked_by; /* protected; NULL unless access is ACCESS_WRITE */
	const struct rule *socket, *device; /* that name this path */
};

static const struct rule *matched_by(const struct plan *plan, const struct plan_matches *matches, const char *path)
{
	for (size_t i = 0; i < matches->count; i++)
		if (plan_is_within(plan, path, matches->items[i].path))
			return matches->items[i].rule;
	return NULL;
}

/* The innermost of the scan's locked and opened directories around the path decides. */
static const struct rule *locked_by_scan(const struct plan *plan, const char *path)
{
	const struct scan_results *scan = plan->scan;
	const struct plan_match *lock = NULL;
	for (size_t i = 0; i < scan->locked.count; i++) {
		const struct plan_match *match = &scan->locked.items[i];
		if (plan_is_within(plan, path, match->path) && (!lock || strlen(match->path) > strlen(lock->path)))
			lock = match;
	}
	for (size_t i = 0; lock && i < scan->opened.count; i++)
		if (plan_is_within(plan, path, scan->opened.items[i].path) &&
		    strlen(scan->opened.items[i].path) > strlen(lock->path))
			return NULL;
	return lock ? lock->rule : NULL;
}

/* Returns path or the nearest directory above it that exists, and its type. */
static const char *nearest_existing(const struct plan *plan, const char *path, enum file_type *type)
{
	const struct filesystem *fs = plan->context.fs;
	struct file_info info = { .type = FILE_DIRECTORY }; /* "/" is not inspected */
	while (strcmp(path, "/") != 0 && (fs->inspect(fs, path, &info) < 0 || info.type == FILE_ABSENT))
		path = path_parent(plan->arena, path);
	*type = strcmp(path, "/") == 0 ? FILE_DIRECTORY : info.type;
	return path;
}

/* A path that files.unprotect opens must exist: in a locked directory it cannot be created. The
 * list of locked files also holds the targets of protected symlinks, which no pattern matches. */
static const struct rule *locking_rule(const struct plan *plan, const char *path, bool is_directory)
{
	const struct rule *rule = plan_protected_by(plan, path, is_directory);
	enum file_type type;
	if (!rule && plan->unprotect.count > 0) {
		const char *existing = nearest_existing(plan, path, &type);
		rule = plan_protected_by(plan, existing, type == FILE_DIRECTORY);
	}
	return rule ? rule : locked_by_scan(plan, path);
}

static const struct rule *find_socket(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (plan_is_same_path(plan, plan->sockets.items[i].value, path))
			return plan->sockets.items[i].rule;
	return NULL;
}

static const struct rule *find_device(const struct plan *plan, const char *path)
{
	if (device_is_basic(plan->context.os, path))
		return &rule_basic_devices;
	for (size_t i = 0; i < plan->devices.count; i++)
		if (plan_is_within(plan, path, plan->devices.items[i].value))
			return plan->devices.items[i].rule;
	return NULL;
}

/* True if the rule holds for the path now. Below the level `strict` a mount hides or protects only
 * a name that exists; a name that does not exist has no mount. Seatbelt decides by name, so macOS
 * has no such gap. */
static bool holds_now(const struct plan *plan, const char *path,
		      const struct rule *(*find)(const struct plan *plan, const char *path, bool is_directory))
{
	enum file_type type;
	const char *existing;
	if (plan->context.os == OS_MACOS)
		return true;
	existing = nearest_existing(plan, path, &type);
	return find(plan, existing, existing != path || type == FILE_DIRECTORY) != NULL;
}

/* Landlock grants whole hierarchies, so in a writable one it neither hides nor protects. Such a
 * plan runs only if the user accepts the weaker guarantee. */
static bool is_given_up(const struct question *question, enum guarantee guarantee)
{
	const struct plan *plan = question->plan;
	return plan->context.tier == TIER_LANDLOCK && plan->accepted_weaker[guarantee] &&
	       plan_is_writable(plan, question->path);
}

/* The rules that a row can name. */

static const struct rule *by_no_rule(const struct question *question)
{
	(void)question;
	return NULL;
}

static const struct rule *by_state(const struct question *question)
{
	(void)question;
	return &rule_state;
}

static const struct rule *by_platform(const struct question *question)
{
	(void)question;
	return &rule_platform;
}

static const struct rule *by_own_proc(const struct question *question)
{
	(void)question;
	return &rule_own_proc;
}

static const struct rule *by_home(const struct question *question)
{
	const struct setting *home = &question->plan->home_setting;
	return home->is_set ? &home->rule : &rule_private_home;
}

static const struct rule *by_tmp(const struct question *question)
{
	const struct setting *tmp = &question->plan->tmp_setting;
	return tmp->is_set ? &tmp->rule : &rule_private_tmp;
}

static const struct rule *by_deny(const struct question *question)
{
	return question->masked_by ? question->masked_by : question->denied_by;
}

static const struct rule *by_protect(const struct question *question)
{
	return question->locked_by;
}

static const struct rule *by_socket(const struct question *question)
{
	return question->socket;
}

static const struct rule *by_device(const struct question *question)
{
	return question->device;
}

static const struct rule *by_grant(const struct question *question)
{
	return question->grant->rule;
}

/* The conditions of the rows. */

static bool is_macos_own(const struct question *question)
{
	return plan_is_own_place(question->plan, question->path);
}

/* Without mounts the private directories are used at their host paths, below the state directory,
 * which is denied otherwise. */
static bool is_own_home(const struct question *question)
{
	const struct plan *plan = question->plan;
	return !plan_has_mounts(plan) && plan->context.os == OS_LINUX && plan->home == HOME_PRIVATE &&
	       path_is_within(question->path, plan->state.home);
}

static bool is_own_tmp(const struct question *question)
{
	const struct plan *plan = question->plan;
	return !plan_has_mounts(plan) && plan->context.os == OS_LINUX && plan->tmp == TMP_PRIVATE &&
	       path_is_within(question->path, plan->state.tmp);
}

/* Landlock's right to read a hierarchy includes the right to execute; a Seatbelt profile denies it.
 * */
static bool is_document(const struct question *question)
{
	const struct plan *plan = question->plan;
	return !plan_has_mounts(plan) && plan_is_within(plan, question->path, plan->state.documents) &&
	       (question->access == ACCESS_READ || (question->access == ACCESS_EXECUTE && plan->context.os == OS_LINUX));
}

static bool is_denied(const struct question *question)
{
	return question->masked_by || question->denied_by;
}

static bool is_denied_by_content(const struct question *question)
{
	return is_denied(question) && question->judged;
}

static bool is_public(const struct question *question)
{
	return question->judged && question->judged->is_public;
}

static bool is_denied_but_given_up(const struct question *question)
{
	return is_denied(question) && is_given_up(question, GUARANTEE_SECRETS);
}

static bool is_new_denied_name(const struct question *question)
{
	const struct plan *plan = question->plan;
	return question->denied_by && !question->masked_by && question->access == ACCESS_WRITE &&
	       !holds_now(plan, question->path, plan_denied_by) && plan_is_writable(plan, question->path) &&
	       !locking_rule(plan, question->path, false);
}

static bool is_socket(const struct question *question)
{
	return question->socket != NULL;
}

static bool is_executed_socket(const struct question *question)
{
	return question->socket && question->access == ACCESS_EXECUTE;
}

static bool is_platform(const struct question *question)
{
	return !question->grant && question->access == ACCESS_READ && plan_is_platform(question->plan, question->path);
}

static bool is_host_tmp(const struct question *question)
{
	static const char *const directories[] = { "/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp" };
	for (size_t i = 0; !question->grant && i < sizeof directories / sizeof directories[0]; i++)
		if (path_is_within(question->path, directories[i]))
			return true;
	return false;
}

static bool is_in_dev(const struct question *question)
{
	return !question->grant && plan_is_within(question->plan, question->path, "/dev");
}

static bool is_unnamed_device(const struct question *question)
{
	return is_in_dev(question) && !question->device;
}

static bool is_executed_device(const struct question *question)
{
	return is_in_dev(question) && question->access == ACCESS_EXECUTE;
}

static bool is_in_proc(const struct question *question)
{
	return !question->grant && question->plan->context.os == OS_LINUX && path_is_within(question->path, "/proc");
}

static bool is_read_proc(const struct question *question)
{
	return is_in_proc(question) && question->access == ACCESS_READ;
}

static bool is_read_host_proc(const struct question *question)
{
	return is_read_proc(question) && question->plan->context.tier == TIER_LANDLOCK;
}

static bool is_host_home(const struct question *question)
{
	return !question->grant && path_is_within(question->path, question->plan->context.home);
}

static bool is_ungranted(const struct question *question)
{
	return !question->grant;
}

static bool is_protected(const struct question *question)
{
	return question->locked_by != NULL;
}

static bool is_protected_but_given_up(const struct question *question)
{
	return is_protected(question) && is_given_up(question, GUARANTEE_PLANTING);
}

static bool is_new_protected_name(const struct question *question)
{
	return is_protected(question) && question->grant->kind == GRANT_WRITE &&
	       !holds_now(question->plan, question->path, locking_rule);
}

/* The guard refuses to create it. */
static bool is_refused_name(const struct question *question)
{
	return question->plan->is_guarded && is_new_protected_name(question) &&
	       planting_refused_by(question->plan, question->path, question->is_directory);
}

/* A place of the host: the exact list needs a scan, so the verdict names the condition. */
static bool is_swept_name(const struct question *question)
{
	return question->plan->context.os == OS_LINUX && question->plan->sweeps_names && is_new_protected_name(question);
}

static bool is_guarded_elsewhere(const struct question *question)
{
	return question->plan->is_guarded && is_new_protected_name(question);
}

static bool is_written_read_only(const struct question *question)
{
	return question->access == ACCESS_WRITE && question->grant->kind != GRANT_WRITE;
}

/* A pattern of files.deny matches, in a directory where nothing looks for it. */
static bool is_pruned(const struct question *question)
{
	const struct plan *plan = question->plan;
	for (size_t i = 0; i < plan->deny.count; i++)
		if (pattern_covers(&plan->deny.items[i].pattern, question->path, true, plan_folds_case(plan)))
			return plan_pruned_by(plan, question->path) != NULL;
	return false;
}

static bool is_system(const struct question *question)
{
	return question->grant->kind == GRANT_SYSTEM;
}

static bool is_readable(const struct question *question)
{
	return question->grant->kind == GRANT_READ;
}

static bool is_writable(const struct question *question)
{
	return question->grant->kind == GRANT_WRITE;
}

enum { NO, YES };

/* The first row that applies decides. Rows after is_ungranted can rely on a grant. */
static const struct row {
	bool (*applies)(const struct question *question);
	const struct rule *(*rule)(const struct question *question);
	bool is_allowed;
	const char *reason; /* NULL: the content of the file */
} rows[] = {
	{ is_macos_own, by_home, YES, "the command's own home or /tmp" },
	{ is_own_home, by_home, YES, "the command's own home" },
	{ is_own_tmp, by_tmp, YES, "the command's own temporary files" },
	{ is_document, by_state, YES, "files that berm made for the command" },

	{ is_denied_but_given_up, by_deny, YES, "denied, but not hidden in this tier: `secrets` is accepted weaker" },
	{ is_new_denied_name, by_deny, YES,
	  "a denied name that does not exist: the command can create it, and later runs hide it" },
	{ is_denied_by_content, by_deny, NO, NULL },
	{ is_denied, by_deny, NO, "denied" },

	{ is_executed_socket, by_socket, NO, "a socket cannot be executed" },
	{ is_socket, by_socket, YES, "a socket that a rule names" },

	{ is_platform, by_platform, YES, "every program on macOS needs it to start" },
	{ is_host_tmp, by_tmp, NO, "the command has its own directory for temporary files; the host's is out of reach" },
	{ is_unnamed_device, by_no_rule, NO, "no rule names this device" },
	{ is_executed_device, by_device, NO, "a device cannot be executed" },
	{ is_in_dev, by_device, YES, "a device that the command has" },
	{ is_read_host_proc, by_own_proc, YES, "the command sees the host's /proc in this tier" },
	{ is_read_proc, by_own_proc, YES, "the command sees its own /proc, with its own processes" },
	{ is_in_proc, by_own_proc, NO, "the command's own /proc is read-only" },
	{ is_host_home, by_home, NO, "the command has its own home; this one is out of reach" },
	{ is_ungranted, by_no_rule, NO, "no rule grants it" },

	{ is_protected_but_given_up, by_protect, YES, "protected, but not held in this tier: `planting` is accepted weaker" },
	{ is_refused_name, by_protect, NO, "protected: it does not exist, and is not created" },
	{ is_guarded_elsewhere, by_protect, YES,
	  "protected, but it does not exist, and no program of the host looks for it in this directory" },
	{ is_swept_name, by_protect, YES,
	  "protected, but it does not exist: it can be created, and is moved to quarantine where programs of the host look" },
	{ is_new_protected_name, by_protect, YES,
	  "protected, but it does not exist: at the level `launch` it can still be created" },
	{ is_protected, by_protect, NO, "protected: readable, never changed or created" },

	{ is_written_read_only, by_grant, NO, "readable only" },
	{ is_public, by_grant, YES, NULL },
	{ is_pruned, by_grant, YES, "granted; a deny pattern matches, but files.prune leaves this directory unsearched" },
	{ is_system, by_grant, YES, "a system directory, read-only" },
	{ is_readable, by_grant, YES, "readable by a rule" },
	{ is_writable, by_grant, YES, "writable by a rule" },
};

static struct verdict verdict_of(const struct row *row, const struct question *question)
{
	const struct plan_judged_file *judged = question->judged;
	const char *reason = row->reason;
	if (!reason)
		reason = arena_printf(question->plan->arena,
				      judged->is_public ? "a denied name, but its content is public: %s"
							: "denied; judged by its content: %s",
				      judged->reason);
	return (struct verdict){ row->is_allowed, row->rule(question), reason };
}

struct verdict plan_check_path(const struct plan *plan, enum access access, const char *path, bool is_directory)
{
	struct question question = { .plan = plan, .access = access, .path = path, .is_directory = is_directory };

	if (strlen(path) >= PLAN_PATH_BYTES)
		return verdict_deny(NULL, "the path is too long");
	question.grant = plan_grant_for(plan, path);
	question.masked_by = matched_by(plan, &plan->scan->masked, path);
	question.judged = plan_judged_file(plan, path);
	question.denied_by = is_public(&question) ? NULL : plan_denied_by(plan, path, is_directory);
	question.locked_by = access == ACCESS_WRITE ? locking_rule(plan, path, is_directory) : NULL;
	question.socket = find_socket(plan, path);
	question.device = find_device(plan, path);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].applies(&question))
			return verdict_of(&rows[i], &question);
	return verdict_deny(NULL, "no rule grants it");
}

/* Returns the rule that denies one of the links, or NULL. A link with a denied name hides its
 * target, whatever the target's name. */
static const struct rule *denied_link(const struct plan *plan, const struct path_links *links)
{
	const struct rule *rule = NULL;
	for (size_t i = 0; i < links->count && !rule; i++)
		rule = plan_denied_by(plan, links->items[i].path, false);
	return rule;
}

int plan_check_spelling(const struct plan *plan, enum access access, const char *absolute, bool needs_directory,
			const char **canonical, struct verdict *verdict, struct error *err)
{
	struct path_links links = { 0 };
	struct file_info info;
	const struct rule *rule;

	if (path_resolve(plan->context.fs, plan->arena, absolute, canonical, &links, &info, err) < 0)
		return -1;
	rule = denied_link(plan, &links);
	if (rule)
		*verdict = verdict_deny(rule, "denied: the path leads through a symlink of a denied name");
	else
		*verdict = plan_check_path(plan, access, *canonical,
					   info.type == FILE_DIRECTORY || (info.type == FILE_ABSENT && needs_directory));
	return 0;
}
