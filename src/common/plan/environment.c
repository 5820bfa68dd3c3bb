/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command, from environment.pass, berm's own variables and environment.set;
 * later ones win. Variables that make programs load code are never passed by a wildcard, and PATH
 * has only directories that are visible inside. */
#include "common/plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "common/policy/value.h"
#include "common/context/programs.h"
#include "common/base/text.h"

/* Each of these can make a program run or load code. Only a rule with the full name passes them. */
static const char *const loading_variables[] = {
	"LD_*",
	"DYLD_*",
	"BASH_ENV",
	"BASH_FUNC_*",
	"ENV",
	"ZDOTDIR",
	"SHELLOPTS",
	"BASHOPTS",
	"PROMPT_COMMAND",
	"PS4",
	"IFS",
	"NODE_OPTIONS",
	"NODE_PATH",
	"PYTHONSTARTUP",
	"PYTHONHOME",
	"PYTHONPATH",
	"PYTHONINSPECT",
	"PERL5OPT",
	"PERL5LIB",
	"PERLLIB",
	"PERL5DB",
	"RUBYOPT",
	"RUBYLIB",
	"GIT_*",
	"JAVA_TOOL_OPTIONS",
	"_JAVA_OPTIONS",
	"JDK_JAVA_OPTIONS",
	"CLASSPATH",
	"GLIBC_TUNABLES",
	"GCONV_PATH",
	"LOCPATH",
	"HOSTALIASES",
	"RES_OPTIONS",
	"MALLOC_*",
	"MAKEFLAGS",
	"MAKEFILES",
	"EDITOR",
	"VISUAL",
	"PAGER",
	"BROWSER",
	"LESSOPEN",
	"LESSCLOSE",
	"MANPAGER",
	"PHPRC",
	"PHP_INI_SCAN_DIR",
	"DOTNET_STARTUP_HOOKS",
	"CORECLR_*",
	"LUA_INIT*",
	"SSH_ASKPASS",
	"SUDO_ASKPASS",
	"RUSTC_WRAPPER",
	"CARGO_*_RUNNER",
	"GOFLAGS",
	"BERM*",
};

/* Secrets, and addresses at which secrets are found. The rule `*` does not pass these; a rule with
 * more of the name does. */
static const char *const secret_variables[] = {
	"AWS_*",	"AZURE_*",	"GOOGLE_*",	   "GCP_*",    "*TOKEN*",    "*SECRET*",
	"*PASSWORD*",	"*PASSWD*",	"*PASSPHRASE*",	   "*_KEY",    "*_KEY_*",    "*API_KEY*",
	"*APIKEY*",	"*CREDENTIAL*", "*_PAT",	   "*_AUTH",   "*COOKIE*",   "*_DSN",
	"*_URL",	"*_URI",	"SSH_*",	   "GPG_*",    "DBUS_*",     "DISPLAY",
	"WAYLAND_*",	"XAUTHORITY",	"XDG_RUNTIME_DIR", "DOCKER_*", "KUBE*",	     "VAULT_*",
	"NPM_CONFIG_*", "npm_config_*", "TMUX*",	   "STY",      "KRB5CCNAME", "VSCODE_*",
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char base_path[] = "/usr/local/bin:/usr/bin:/bin";

static bool is_listed(const char *const *patterns, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (pattern_matches_name(patterns[i], name))
			return true;
	return false;
}

static bool passes(const char *pattern, const char *name)
{
	if (strcmp(pattern, name) == 0)
		return true;
	if (!pattern_matches_name(pattern, name) || is_listed(loading_variables, COUNT(loading_variables), name))
		return false;
	return strspn(pattern, "*") < strlen(pattern) || !is_listed(secret_variables, COUNT(secret_variables), name);
}

const struct rule *environment_passed_by(const struct policy *policy, const char *name)
{
	const struct rules *rules = &policy->environment.pass;
	for (size_t i = 0; i < rules->count; i++)
		if (passes(rules->items[i].text, name))
			return &rules->items[i];
	return NULL;
}

static struct plan_variable *find(struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->environment.count; i++)
		if (strcmp(plan->environment.items[i].name, name) == 0)
			return &plan->environment.items[i];
	return NULL;
}

static void put(struct plan *plan, const char *name, const char *value, const struct rule *rule)
{
	struct plan_variable *variable = find(plan, name);
	if (!variable)
		variable = arena_push(plan->arena, &plan->environment);
	*variable = (struct plan_variable){ .name = name, .value = value, .rule = rule };
}

void environment_put(struct plan *plan, const char *name, const char *value)
{
	put(plan, name, value, NULL);
}

bool environment_has(struct plan *plan, const char *name)
{
	return find(plan, name) != NULL;
}

static void pass_callers(struct plan *plan)
{
	for (char *const *entry = plan->context.environment; *entry; entry++) {
		size_t length = strcspn(*entry, "=");
		const struct rule *rule;
		const char *name;
		if ((*entry)[length] != '=')
			continue;
		name = arena_copy_n(plan->arena, *entry, length);
		if (!policy_value_is_variable(name, strlen(name), false) || find(plan, name))
			continue;
		rule = environment_passed_by(plan->policy, name);
		if (rule)
			put(plan, name, *entry + length + 1, rule);
	}
}

/* Writable directories count too: the caller uses a virtual environment or node_modules/.bin of the
 * project, and a program planted there runs in the same sandbox. berm itself does not search PATH.
 * */
static bool is_visible_directory(const struct plan *plan, const char *path)
{
	struct file_info info;
	struct error ignored;
	const char *canonical;

	if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, &info, &ignored) < 0 ||
	    info.type != FILE_DIRECTORY)
		return false;
	return plan_grant_for(plan, canonical) && !plan_denied_by(plan, canonical, true);
}

static bool has_entry(const struct text *list, const char *entry)
{
	size_t length = strlen(entry);
	for (const char *at = list->data; at && *at; at += strcspn(at, ":") + (at[strcspn(at, ":")] == ':'))
		if (strncmp(at, entry, length) == 0 && (at[length] == ':' || at[length] == '\0'))
			return true;
	return false;
}

static void add_entry(struct text *list, const char *entry)
{
	if (!has_entry(list, entry))
		text_add(list, "%s%s", list->length > 0 ? ":" : "", entry);
}

static const char *safe_path(struct plan *plan)
{
	const char *at = context_variable(&plan->context, "PATH");
	struct text list = { 0 };
	const char *result;

	while (at && *at) {
		size_t length = strcspn(at, ":");
		const char *entry = arena_copy_n(plan->arena, at, length);
		at += length + (at[length] == ':');
		if (entry[0] != '/')
			continue;
		entry = path_absolute(plan->arena, "/", entry);
		if (path_is_absolute_clean(entry) && is_visible_directory(plan, entry))
			add_entry(&list, entry);
	}
	for (at = base_path; *at;) {
		size_t length = strcspn(at, ":");
		add_entry(&list, arena_copy_n(plan->arena, at, length));
		at += length + (at[length] == ':');
	}
	result = arena_copy(plan->arena, list.data);
	text_free(&list);
	return result;
}

/* Returns the shell that one of berm's shims replaces. Inside the sandbox $SHELL is the shell
 * itself. */
static const char *behind_shim(struct plan *plan, const char *shim)
{
	const char *name = program_shell_name(path_base_name(shim));
	for (size_t i = 0; name && program_places[i].directory; i++) {
		const char *path = path_join(plan->arena, program_places[i].directory, name), *canonical;
		struct file_info info;
		struct error ignored;
		if (path_resolve(plan->context.fs, plan->arena, path, &canonical, NULL, &info, &ignored) == 0 &&
		    info.type == FILE_REGULAR && strcmp(canonical, plan->context.executable) != 0 &&
		    plan_check_path(plan, ACCESS_EXECUTE, canonical, false).is_allowed)
			return path;
	}
	return "/bin/sh";
}

/* Returns the caller's shell if it is passed and can be executed inside, else /bin/sh. */
static const char *safe_shell(struct plan *plan)
{
	const struct plan_variable *passed = find(plan, "SHELL");
	struct file_info info;
	struct error ignored;
	const char *canonical;

	if (!passed || passed->value[0] != '/' ||
	    path_resolve(plan->context.fs, plan->arena, path_absolute(plan->arena, "/", passed->value), &canonical, NULL, &info,
			 &ignored) < 0)
		return "/bin/sh";
	if (plan->context.executable && strcmp(canonical, plan->context.executable) == 0)
		return behind_shim(plan, passed->value);
	if (info.type != FILE_REGULAR || !plan_check_path(plan, ACCESS_EXECUTE, canonical, false).is_allowed)
		return "/bin/sh";
	return passed->value;
}

/* Mounts show the private home and /tmp at the usual paths. Without mounts the variables have their
 * host paths. */
static void put_own(struct plan *plan)
{
	const struct context *context = &plan->context;
	bool has_mounts = plan_has_mounts(plan);
	const char *home = !has_mounts && plan->home != HOME_HOST ? plan->state.home : context->home;

	put(plan, "HOME", home, NULL);
	put(plan, "TMPDIR", has_mounts ? "/tmp" : plan->state.tmp, NULL);
	put(plan, "XDG_CONFIG_HOME", path_join(plan->arena, home, ".config"), NULL);
	put(plan, "XDG_CACHE_HOME", path_join(plan->arena, home, ".cache"), NULL);
	put(plan, "XDG_DATA_HOME", path_join(plan->arena, home, ".local/share"), NULL);
	put(plan, "XDG_STATE_HOME", path_join(plan->arena, home, ".local/state"), NULL);
	put(plan, "USER", context->user, NULL);
	put(plan, "LOGNAME", context->user, NULL);
	put(plan, "SHELL", safe_shell(plan), NULL);
	put(plan, "PATH", safe_path(plan), NULL);
	put(plan, "PWD", context->working_directory ? context->working_directory : context->project, NULL);
	put(plan, "BERM", "1", NULL);
	if (context->os == OS_LINUX)
		put(plan, "BERM_SUMMARY", path_join(plan->arena, plan->state.documents, DOCUMENT_SUMMARY), NULL);
}

/* Without a network, resolving a name fails with EAI_AGAIN, and installers retry: npm for minutes,
 * silently. These variables turn retries off. Values of the policy win. */
static void put_no_retries(struct plan *plan)
{
	static const struct {
		const char *name, *value;
	} variables[] = {
		{ "npm_config_fetch_retries", "0" },
		{ "PIP_RETRIES", "0" },
		{ "CARGO_NET_RETRY", "0" },
		/* A check for a newer npm or pip would look as if the command had tried to use the
		 * network. */
		{ "npm_config_update_notifier", "false" },
		{ "PIP_DISABLE_PIP_VERSION_CHECK", "1" },
	};
	if (plan->network.mode != NETWORK_NONE)
		return;
	for (size_t i = 0; i < COUNT(variables); i++)
		put(plan, variables[i].name, variables[i].value, NULL);
}

/* The registry of the user's configuration, which the command cannot read. Values of the policy
 * win. */
static void put_registries(const struct builder *builder)
{
	const struct plan_variables *settings = &builder->registries.settings;

	for (size_t i = 0; i < settings->count && builder->plan->network.mode != NETWORK_NONE; i++)
		put(builder->plan, settings->items[i].name, settings->items[i].value, settings->items[i].rule);
}

static int compare_variables(const void *left, const void *right)
{
	return strcmp(((const struct plan_variable *)left)->name, ((const struct plan_variable *)right)->name);
}

static void sort(struct plan *plan)
{
	if (plan->environment.count > 0)
		qsort(plan->environment.items, plan->environment.count, sizeof *plan->environment.items, compare_variables);
}

void plan_add_variable(struct plan *plan, const char *name, const char *value)
{
	put(plan, name, value, NULL);
	sort(plan);
}

void environment_restore(struct plan *plan, const struct plan_variables *own)
{
	pass_callers(plan);
	for (size_t i = 0; i < own->count; i++)
		if (!environment_is_callers(&own->items[i]) &&
		    (plan->network.mode != NETWORK_ALLOW || !environment_is_for_java(&own->items[i])))
			put(plan, own->items[i].name, own->items[i].value, own->items[i].rule);
	/* These depend on the caller's variables of this launch. */
	environment_add_java(plan);
	environment_add_callers(plan);
	sort(plan);
}

void build_environment(struct builder *builder)
{
	struct plan *plan = builder->plan;
	const struct assignments *set = &plan->policy->environment.set;

	pass_callers(plan);
	put_own(plan);
	environment_add_proxy(plan);
	environment_add_macos(plan);
	put_no_retries(plan);
	put_registries(builder);
	for (size_t i = 0; i < set->count; i++)
		put(plan, set->items[i].rule.text, set->items[i].value, &set->items[i].rule);
	environment_add_git(plan);
	environment_add_callers(plan);
	sort(plan);
}

struct verdict plan_check_variable(const struct plan *plan, const char *name)
{
	const struct rule *rule;
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (strcmp(variable->name, name) != 0)
			continue;
		if (!variable->rule)
			return verdict_allow(&rule_own_variable, "berm sets it for the command");
		return verdict_allow(variable->rule, strcmp(variable->rule->key, "environment.set") == 0 ? "set by a rule"
													 : "passed by a rule");
	}
	rule = environment_passed_by(plan->policy, name);
	if (rule)
		return verdict_allow(rule, "a rule passes it; it is not set here");
	return verdict_deny(NULL, "no rule passes it");
}
