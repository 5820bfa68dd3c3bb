/* SPDX-License-Identifier: Apache-2.0 */
/* The one evaluator: `check` answers from it, the plan applies it to its own grants, and the scan and the backend enforce what it
 * says. Looks at the plan, and at whether a protected name exists; changes
 * nothing. Paths are canonical. */
#include "common/scan/scan.h"

#include <string.h>

enum { PATH_BYTES = 4096 };

const struct rule rule_state = { "files.deny", "berm's own state", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_config = { "files.protect", "the user's policy for berm", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_policy_file = { "files.protect", "a policy file in use", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_git_worktree = { "files.write", "git worktree", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_git_pointer = { "files.protect", "git pointer", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_root_only = { "files.deny", "root-only file", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_unsearchable = {
	"files.deny", "cannot be searched for hidden names", { "built-in", 0, 0 }, LAYER_FLOOR
};
const struct rule rule_host_socket = { "sockets", "a socket that is not named", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_executable = { "files.protect", "berm itself", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_basic_devices = { "devices", "basic devices", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_own_proc = { "files.read", "the command's own /proc", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_platform = { "files.read", "what macOS programs start with", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_network_files = { "network", "network: all", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_own_variable = { "environment.set", "set by berm", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_private_home = { "home", "private", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_private_tmp = { "tmp", "private", { "built-in", 0, 0 }, LAYER_FLOOR };
const struct rule rule_no_network = { "network", "none", { "built-in", 0, 0 }, LAYER_FLOOR };

bool plan_folds_case(const struct plan *plan)
{
	return plan->context.os == OS_MACOS || plan->context.fs->is_case_insensitive;
}

bool plan_is_within(const struct plan *plan, const char *path, const char *directory)
{
	struct pattern literal = { .text = directory, .is_literal = true };
	if (plan->context.os != OS_MACOS || path_is_within(path, directory))
		return path_is_within(path, directory);
	literal.literal_prefix = strlen(directory);
	return pattern_covers(&literal, path, true, true) > 0;
}

static bool is_same_path(const struct plan *plan, const char *left, const char *right)
{
	return strcmp(left, right) == 0 ||
	       (plan->context.os == OS_MACOS && plan_is_within(plan, left, right) && plan_is_within(plan, right, left));
}

/* Where case does not count, the order of the list does not say which of two is the longer. */
static const struct plan_grant *folded_grant_for(const struct plan *plan, const char *path)
{
	const struct plan_grant *longest = NULL;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		if (plan_is_within(plan, path, grant->path) && (!longest || strlen(grant->path) >= strlen(longest->path)))
			longest = grant;
	}
	return longest;
}

const struct plan_grant *plan_grant_for(const struct plan *plan, const char *path)
{
	const struct plan_grant *longest = NULL;
	if (plan->context.os == OS_MACOS)
		return folded_grant_for(plan, path);
	/* Sorted, so a longer one that contains path comes after the shorter. */
	for (size_t i = 0; i < plan->grants.count; i++)
		if (path_is_within(path, plan->grants.items[i].path))
			longest = &plan->grants.items[i];
	return longest;
}

static const struct rule *covered_by(const struct plan *plan, const struct plan_patterns *patterns, const char *path)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (pattern_covers(&patterns->items[i].pattern, path, true, plan_folds_case(plan)))
			return patterns->items[i].rule;
	return NULL;
}

/* The end of the component after `at`. */
static size_t next_end(const char *path, size_t at)
{
	if (path[at] == '/')
		at++;
	return at + strcspn(path + at, "/");
}

/* Only directories strictly between the grant's root and the path count: the scan starts at the root and never looks above. On
 * macOS nothing is searched, the kernel judges every name. */
const struct rule *plan_pruned_by(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	char prefix[PATH_BYTES];
	size_t at;

	if (!grant || plan->prune.count == 0 || plan->context.os == OS_MACOS || strlen(path) >= sizeof prefix)
		return NULL;
	at = strcmp(grant->path, "/") == 0 ? 0 : strlen(grant->path);
	for (at = next_end(path, at); path[at]; at = next_end(path, at)) {
		memcpy(prefix, path, at);
		prefix[at] = '\0';
		for (size_t i = 0; i < plan->prune.count; i++)
			if (pattern_matches(&plan->prune.items[i].pattern, prefix, true, plan_folds_case(plan)))
				return plan->prune.items[i].rule;
	}
	return NULL;
}

/* Patterns that match anywhere hold where files are searched: not in trees of software, not in what files.prune names. */
static bool is_exempt(const struct plan *plan, const struct pattern *pattern, const char *prefix)
{
	const struct plan_grant *grant;
	if (!pattern->is_anywhere)
		return false;
	grant = plan_grant_for(plan, prefix);
	return (grant && grant->kind == GRANT_SYSTEM) || plan_pruned_by(plan, prefix);
}

/* An entry of files.except reaches the denials of its own layer and of those before it, except the floor's: these only the floor
 * itself can qualify. It opts out of what was matched, not of something below it: a hidden directory is hidden whole. */
static bool is_excepted(const struct plan *plan, const struct rule *denied_by, const char *prefix, bool is_directory)
{
	if (denied_by == &rule_state)
		return false;
	for (size_t i = 0; i < plan->except.count; i++) {
		const struct plan_pattern *item = &plan->except.items[i];
		bool reaches = denied_by->layer == LAYER_FLOOR ? item->rule->layer == LAYER_FLOOR
							       : item->rule->layer >= denied_by->layer;
		if (reaches && pattern_covers(&item->pattern, prefix, is_directory, plan_folds_case(plan)))
			return true;
	}
	return false;
}

/* A pattern that matched `prefix`, which is `path` or an ancestor of it. */
struct hit {
	const struct plan_pattern *item;
	const char *path, *prefix;
	bool is_directory; /* the prefix */
};

static bool deny_applies(const struct plan *plan, const struct hit *hit)
{
	return !is_exempt(plan, &hit->item->pattern, hit->prefix) &&
	       !is_excepted(plan, hit->item->rule, hit->prefix, hit->is_directory);
}

/* Lifted is exactly what was matched. A place inside a protected directory is not: a read-only mount has no holes. */
static bool protect_applies(const struct plan *plan, const struct hit *hit)
{
	if (is_exempt(plan, &hit->item->pattern, hit->prefix))
		return false;
	for (size_t i = 0; hit->item->rule->layer != LAYER_FLOOR && i < plan->lifted.count; i++)
		if (is_same_path(plan, plan->lifted.items[i].pattern.text, hit->prefix))
			return false;
	return true;
}

bool plan_deny_applies(const struct plan *plan, const struct plan_pattern *item, const char *path, bool is_directory)
{
	struct hit hit = { item, path, path, is_directory };
	return deny_applies(plan, &hit);
}

bool plan_protect_applies(const struct plan *plan, const struct plan_pattern *item, const char *path)
{
	struct hit hit = { item, path, path, false };
	return protect_applies(plan, &hit);
}

/* The first rule of the list that matches path or an ancestor of it and applies there. */
static const struct rule *find_rule(const struct plan *plan, const struct plan_patterns *patterns, const char *path,
				    bool is_directory, bool (*applies)(const struct plan *plan, const struct hit *hit))
{
	char prefix[PATH_BYTES];
	size_t length = strlen(path);

	for (size_t i = 0; i < patterns->count; i++) {
		const struct pattern *pattern = &patterns->items[i].pattern;
		size_t at = pattern_covers(pattern, path, is_directory, plan_folds_case(plan));
		for (; at > 0 && at <= length; at = at < length ? next_end(path, at) : length + 1) {
			struct hit hit = { &patterns->items[i], path, prefix, is_directory || at < length };
			memcpy(prefix, path, at);
			prefix[at] = '\0';
			if (pattern_matches(pattern, prefix, hit.is_directory, plan_folds_case(plan)) && applies(plan, &hit))
				return patterns->items[i].rule;
		}
	}
	return NULL;
}

const struct rule *plan_denied_by(const struct plan *plan, const char *path, bool is_directory)
{
	if (strlen(path) >= PATH_BYTES)
		return &rule_state;
	return find_rule(plan, &plan->deny, path, is_directory, deny_applies);
}

const struct rule *plan_protected_by(const struct plan *plan, const char *path, bool is_directory)
{
	if (strlen(path) >= PATH_BYTES)
		return &rule_config;
	return find_rule(plan, &plan->protect, path, is_directory, protect_applies);
}

static const struct rule *matched_by(const struct plan *plan, const struct plan_matches *matches, const char *path)
{
	for (size_t i = 0; i < matches->count; i++)
		if (plan_is_within(plan, path, matches->items[i].path))
			return matches->items[i].rule;
	return NULL;
}

/* The list of what is locked now also holds what a protected symlink leads to. */
static const struct rule *locking_rule(const struct plan *plan, const char *path, bool is_directory)
{
	const struct rule *rule = plan_protected_by(plan, path, is_directory);
	return rule ? rule : matched_by(plan, &plan->locked, path);
}

static struct verdict yes(const struct rule *rule, const char *reason)
{
	return (struct verdict){ .is_allowed = true, .rule = rule, .reason = reason };
}

static struct verdict no(const struct rule *rule, const char *reason)
{
	return (struct verdict){ .rule = rule, .reason = reason };
}

static struct verdict check_grant(const struct plan *plan, const struct plan_grant *grant, enum access access, const char *path)
{
	static const char *const reasons[] = {
		[GRANT_SYSTEM] = "a system directory, read-only",
		[GRANT_READ] = "readable by a rule",
		[GRANT_WRITE] = "writable by a rule",
	};
	if (access == ACCESS_WRITE && grant->kind != GRANT_WRITE)
		return no(grant->rule, "readable only");
	if (covered_by(plan, &plan->deny, path) && plan_pruned_by(plan, path))
		return yes(grant->rule, "granted; a deny pattern matches, but files.prune leaves this directory unsearched");
	return yes(grant->rule, reasons[grant->kind]);
}

static const struct rule *setting_rule(const struct setting *setting, const struct rule *otherwise)
{
	return setting->is_set ? &setting->rule : otherwise;
}

static bool is_temporary(const struct plan *plan, const char *path)
{
	static const char *const directories[] = { "/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp" };
	(void)plan;
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		if (path_is_within(path, directories[i]))
			return true;
	return false;
}

static struct verdict check_device(const struct plan *plan, enum access access, const char *path)
{
	const struct rule *rule = device_is_basic(plan->context.os, path) ? &rule_basic_devices : NULL;
	for (size_t i = 0; i < plan->devices.count && !rule; i++)
		if (plan_is_within(plan, path, plan->devices.items[i].path))
			rule = plan->devices.items[i].rule;
	if (!rule)
		return no(NULL, "no rule names this device");
	return access == ACCESS_EXECUTE ? no(rule, "a device cannot be executed") : yes(rule, "a device that the command has");
}

/* Without mounts the private directories are used where they lie, below the state that is denied otherwise. */
static bool check_own_place(const struct plan *plan, enum access access, const char *path, struct verdict *verdict)
{
	if (plan_has_mounts(plan))
		return false;
	if (plan->context.os == OS_LINUX && plan->home == HOME_PRIVATE && path_is_within(path, plan->state.home))
		*verdict = yes(setting_rule(&plan->home_setting, &rule_private_home), "the command's own home");
	else if (plan->context.os == OS_LINUX && plan->tmp == TMP_PRIVATE && path_is_within(path, plan->state.tmp))
		*verdict = yes(setting_rule(&plan->tmp_setting, &rule_private_tmp), "the command's own temporary files");
	else if (plan_is_within(plan, path, plan->state.documents) &&
		 (access == ACCESS_READ || (access == ACCESS_EXECUTE && plan->context.os == OS_LINUX)))
		*verdict = yes(&rule_state, "texts that berm made for the command");
	else
		return false;
	return true;
}

/* Landlock grants whole hierarchies: what is denied or protected in a writable one is neither, if the user accepts that. (Who does not
 * accept it is refused the run.) */
static bool is_given_up(const struct plan *plan, enum guarantee guarantee, const char *path)
{
	const struct plan_grant *grant;
	if (plan->context.tier != TIER_LANDLOCK || !plan->accepted_weaker[guarantee])
		return false;
	grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE;
}

/* What no grant contains: places that the command has of its own, and the rest. */
static struct verdict check_elsewhere(const struct plan *plan, enum access access, const char *path)
{
	if (access == ACCESS_READ && plan_is_platform(plan, path))
		return yes(&rule_platform, "what every program on macOS needs to start");
	if (is_temporary(plan, path))
		return no(setting_rule(&plan->tmp_setting, &rule_private_tmp),
			  "the command has a directory for temporary files of its own; the host's is out of reach");
	if (plan_is_within(plan, path, "/dev"))
		return check_device(plan, access, path);
	if (plan->context.os == OS_LINUX && path_is_within(path, "/proc")) {
		if (access == ACCESS_READ && plan->context.tier == TIER_LANDLOCK)
			return yes(&rule_own_proc, "the command sees the host's /proc in this tier");
		if (access == ACCESS_READ)
			return yes(&rule_own_proc, "the command sees a /proc of its own, with its own processes");
		return no(&rule_own_proc, "the command's own /proc is for reading");
	}
	if (path_is_within(path, plan->context.home))
		return no(setting_rule(&plan->home_setting, &rule_private_home),
			  "the command has a home of its own; this one is out of reach");
	return no(NULL, "no rule grants it");
}

static const struct rule *socket_rule(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->sockets.count; i++)
		if (is_same_path(plan, plan->sockets.items[i].path, path))
			return plan->sockets.items[i].rule;
	return NULL;
}

static bool may_create(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE && !locking_rule(plan, path, false);
}

/* At the level `launch` mounts hold what exists; a name that is not there has nothing to mount on. Both verdicts below say what is
 * enforced, not what is wished for. Seatbelt judges names, so macOS has no such gap. */
static bool holds_now(const struct plan *plan, const char *path,
		      const struct rule *(*judge)(const struct plan *plan, const char *path, bool is_directory))
{
	const struct filesystem *fs = plan->context.fs;
	const char *at = path;
	struct file_info info = { .type = FILE_DIRECTORY }; /* "/" is not inspected */
	if (plan->context.os == OS_MACOS || plan->guard > LEVEL_LAUNCH)
		return true;
	while (strcmp(at, "/") != 0 && (fs->inspect(fs, at, &info) < 0 || info.type == FILE_ABSENT))
		at = path_parent(plan->arena, at);
	return judge(plan, at, at != path || info.type == FILE_DIRECTORY) != NULL;
}

struct verdict plan_check_path(const struct plan *plan, enum access access, const char *path, bool is_directory)
{
	const struct plan_grant *grant;
	const struct rule *rule;
	struct verdict own;

	if (strlen(path) >= PATH_BYTES)
		return no(NULL, "the path is too long");
	if (plan_is_own_place(plan, path))
		return yes(setting_rule(&plan->home_setting, &rule_private_home), "the command's own home or /tmp");
	if (check_own_place(plan, access, path, &own))
		return own;
	if (((rule = matched_by(plan, &plan->masked, path)) || (rule = plan_denied_by(plan, path, is_directory))) &&
	    is_given_up(plan, GUARANTEE_SECRETS, path))
		return yes(rule, "denied, but not hidden in this tier: `secrets` is accepted weaker");
	if ((rule = matched_by(plan, &plan->masked, path)))
		return no(rule, "denied");
	rule = plan_denied_by(plan, path, is_directory);
	if (rule && (access != ACCESS_WRITE || holds_now(plan, path, plan_denied_by)))
		return no(rule, "denied");
	if (rule && may_create(plan, path))
		return yes(
			rule,
			"a denied name that is not there: the command can create one of its own, hidden from the next run on");
	if (rule)
		return no(rule, "denied");
	if ((rule = socket_rule(plan, path)))
		return access == ACCESS_EXECUTE ? no(rule, "a socket cannot be executed") : yes(rule, "a socket that is named");
	grant = plan_grant_for(plan, path);
	if (!grant)
		return check_elsewhere(plan, access, path);
	if (access == ACCESS_WRITE && (rule = locking_rule(plan, path, is_directory))) {
		if (is_given_up(plan, GUARANTEE_PLANTING, path))
			return yes(rule, "protected, but not held in this tier: `planting` is accepted weaker");
		if (grant->kind != GRANT_WRITE || holds_now(plan, path, locking_rule))
			return no(rule, "protected: readable, never changed or created");
		return yes(rule, "protected, but not there: at the level `launch` it can still be created");
	}
	return check_grant(plan, grant, access, path);
}

/* A link with a denied name hides what it leads to, and what it leads to may have an innocent name. */
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
		*verdict = no(rule, "denied: the path leads through a symlink of a denied name");
	else
		*verdict = plan_check_path(plan, access, *canonical,
					   info.type == FILE_DIRECTORY || (info.type == FILE_ABSENT && needs_directory));
	return 0;
}

static bool is_loopback(const char *host)
{
	struct address address;
	const char *special;
	if (strcmp(host, "localhost") == 0 || strcmp(host, "localhost.") == 0)
		return true;
	if (!address_parse_any(host, &address))
		return false;
	special = address_special(&address);
	return special && strcmp(special, "loopback") == 0;
}

static const struct rule *local_rule(const struct plan *plan, const char *host, uint16_t port)
{
	if (!is_loopback(host))
		return NULL;
	for (size_t i = 0; i < plan->network.local.count; i++)
		if (port >= plan->network.local.items[i].low && port <= plan->network.local.items[i].high)
			return plan->network.local.items[i].rule;
	return NULL;
}

/* Nothing stands between the command and the machine's network then, so nothing is kept from it: metadata services neither. */
static bool is_shared_with(const struct plan *plan, const char *host, uint16_t port)
{
	struct address address;
	struct error ignored;
	const char *name;
	if (plan->network.mode != NETWORK_ALL || plan->network.deny.count > 0 || port == 0)
		return false;
	return address_parse_any(host, &address) || host_canonical(plan->arena, host, strlen(host), &name, &ignored) == 0;
}

struct verdict plan_check_connect(const struct plan *plan, const char *host, uint16_t port)
{
	static const struct destinations nothing;
	struct verdict verdict = { 0 };
	const struct rule *local = local_rule(plan, host, port);

	if (plan->network.mode == NETWORK_NONE && !local)
		return no(plan->network.rule, "there is no network");
	/* Deny wins over a local port too: judged as if everything else were allowed. */
	if (local &&
	    !destination_allowed(&nothing, &plan->network.deny, true, host, port, NULL, 0, &verdict.rule, &verdict.reason) &&
	    verdict.rule)
		return verdict;
	if (local)
		return yes(local, "a local port that is named");
	if (is_shared_with(plan, host, port))
		return yes(plan->network.rule, "the policy allows all of the network");
	verdict.is_allowed = destination_allowed(&plan->network.allow, &plan->network.deny, plan->network.mode == NETWORK_ALL,
						 host, port, NULL, 0, &verdict.rule, &verdict.reason);
	if (verdict.is_allowed && !verdict.rule)
		verdict.rule = plan->network.rule;
	return verdict;
}

struct verdict plan_check_variable(const struct plan *plan, const char *name)
{
	const struct rule *rule;
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (strcmp(variable->name, name) != 0)
			continue;
		if (!variable->rule)
			return yes(&rule_own_variable, "berm sets it for the command");
		return yes(variable->rule,
			   strcmp(variable->rule->key, "environment.set") == 0 ? "set by a rule" : "passed by a rule");
	}
	rule = environment_passed_by(plan->policy, name);
	if (rule)
		return yes(rule, "a rule passes it; it is not set here");
	return no(NULL, "no rule passes it");
}
