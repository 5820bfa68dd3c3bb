/* SPDX-License-Identifier: Apache-2.0 */
/* `berm agent NAME --commands`: the agent's shell commands are behind a second wall in its sandbox,
 * without the files, variables and destinations that only the agent needs. This file decides what
 * is behind the wall, makes the home of the commands, and leads the agent to berm's shim, which
 * enters the wall. What would be behind it only in part is refused. */
#include "common/agents/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/context/inside.h"
#include "common/plan/wall.h"
#include "common/setup/setup.h"

/* In the private home, which is otherwise the agent's. */
static const char commands_home[] = ".commands-home";
enum { SETTINGS_MAX = 4 << 20 };

/* True for a rule that is in force because of the agent: of its piece, or of a variable of it. */
static bool is_agents(const struct agent *agent, const struct rule *rule)
{
	static const char built_in[] = "built-in ", variable[] = "variable ";
	const char *source = rule ? rule->origin.source : NULL;
	if (!source)
		return false;
	if (text_starts_with(source, built_in))
		return strcmp(source + strlen(built_in), agent->piece) == 0;
	return text_starts_with(source, variable);
}

int agent_commands_judge(const struct agent *agent, int count, char **arguments, struct error *err)
{
	const struct agent_commands *commands = agent->commands;
	if (commands->refusal) {
		error_set(err, "--commands is not possible with %s: %s", agent->title, commands->refusal);
		return error_hint(err, "without it the agent and its commands share one wall");
	}
	for (int i = 0; i < count; i++)
		for (size_t k = 0; commands->refused[k]; k++)
			if (text_starts_with(arguments[i], commands->refused[k])) {
				error_set(err, "--commands: %s could lead commands past the second wall", arguments[i]);
				return error_hint(err, "leave it out, or put the setting into the agent's own file");
			}
	return 0;
}

const char *const *agent_commands_arguments(struct arena *arena, const struct agent *agent, const struct install_paths *paths)
{
	struct {
		const char **items;
		size_t count;
	} words = { 0 };
	for (size_t i = 0; agent->arguments[i]; i++)
		*arena_push(arena, &words) = agent->arguments[i];
	for (size_t i = 0; agent->commands->arguments[i]; i++)
		*arena_push(arena, &words) = setup_expand(arena, agent->commands->arguments[i], paths, OS_LINUX);
	*arena_push(arena, &words) = NULL;
	return words.items;
}

void agent_commands_rules(struct arena *arena, const struct install_paths *paths, const char *executable, struct policy *policy)
{
	const char *const shown[] = { paths->shims, paths->shell, paths->program, executable };
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
		*arena_push(arena, &policy->files.system) = (struct rule){
			.key = "files.system", .text = shown[i], .origin = { .source = "berm itself" }, .layer = LAYER_BASE
		};
}

/* True if the path is one of the agent's, or below one. *is_around: it contains one. */
static bool is_private(struct arena *arena, const struct agent *agent, const char *home, const char *path, bool *is_around)
{
	*is_around = path_is_within(home, path);
	for (size_t i = 0; agent->directories[i]; i++) {
		const char *directory = path_join(arena, home, agent->directories[i]);
		*is_around |= path_is_within(directory, path) && strcmp(directory, path) != 0;
		if (path_is_within(path, directory))
			return true;
	}
	for (const struct agent_copy *copy = agent->copies; copy->path; copy++) {
		const char *file = path_join(arena, home, copy->path);
		*is_around |= path_is_within(file, path) && strcmp(file, path) != 0;
		if (strcmp(path, file) == 0)
			return true;
	}
	return false;
}

static int add_paths(struct arena *arena, const struct agent *agent, const struct plan *plan, struct wall *wall,
		     struct error *err)
{
	const char *home = plan->context.home;
	for (size_t i = 0; i < plan->grants.count; i++) {
		const struct plan_grant *grant = &plan->grants.items[i];
		bool is_around;
		if (is_private(arena, agent, home, grant->path, &is_around) ||
		    (grant->kind == GRANT_READ && is_agents(agent, grant->rule)))
			continue;
		if (is_around) {
			error_set(err, "--commands: the policy opens %s, which contains the agent's own files", grant->path);
			return error_hint(err, "open directories below it instead");
		}
		*arena_push(arena, &wall->paths) =
			(struct wall_path){ grant->kind == GRANT_WRITE ? WALL_WRITE : WALL_READ, grant->path };
	}
	for (size_t i = 0; i < plan->sockets.count; i++)
		*arena_push(arena, &wall->paths) = (struct wall_path){ WALL_SOCKET, plan->sockets.items[i].value };
	*arena_push(arena, &wall->paths) = (struct wall_path){ WALL_WRITE, path_join(arena, home, commands_home) };
	return 0;
}

/* True if a policy of the user or the project passes the variable too. */
static bool is_passed_anyway(const struct agent *agent, const struct plan *plan, const char *name)
{
	const struct rules *pass = &plan->policy->environment.pass;
	for (size_t i = 0; i < pass->count; i++)
		if (!is_agents(agent, &pass->items[i]) && strcmp(pass->items[i].text, name) == 0)
			return true;
	return false;
}

/* Also those that are not set now: the agent's own settings may set them for what it starts. */
static void add_variables(struct arena *arena, const struct agent *agent, const struct plan *plan, struct wall *wall)
{
	const struct rules *pass = &plan->policy->environment.pass;
	const char *home = path_join(arena, plan->context.home, commands_home);

	for (size_t i = 0; i < pass->count; i++)
		if (is_agents(agent, &pass->items[i]) && !is_passed_anyway(agent, plan, pass->items[i].text))
			*arena_push(arena, &wall->unset) = arena_copy(arena, pass->items[i].text);
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		const char *value = NULL;
		if (variable->rule)
			continue;
		if (strcmp(variable->name, "HOME") == 0 || text_starts_with(variable->name, "XDG_"))
			value = arena_printf(arena, "%s%s", home, variable->value + strlen(plan->context.home));
		else
			value = environment_open_proxy(arena, variable->value, plan_proxy_port(plan));
		if (value && *value)
			*arena_push(arena, &wall->set) = arena_printf(arena, "%s=%s", variable->name, value);
		else if (value)
			*arena_push(arena, &wall->unset) = arena_copy(arena, variable->name);
	}
}

static void choose_destinations(struct arena *arena, const struct agent *agent, struct plan *plan)
{
	plan->commands.are_walled = true;
	for (size_t i = 0; i < plan->network.allow.count; i++)
		if (!is_agents(agent, plan->network.allow.items[i].rule))
			*arena_push(arena, &plan->commands.allow) = plan->network.allow.items[i];
}

/* The user's file would be mounted over the copy that has berm's hook. */
static int uncover_copy(struct arena *arena, const struct agent *agent, struct plan *plan, struct error *err)
{
	const char *file;
	size_t kept = 0;
	if (!agent->commands->host)
		return 0;
	file = path_join(arena, plan->context.home, agent->commands->file);
	for (size_t i = 0; i < plan->links.count; i++)
		if (path_is_within(file, plan->links.items[i].path))
			return error_set(err, "--commands: %s is a symbolic link, and the copy of %s could not be in its place",
					 plan->links.items[i].path, file);
	for (size_t i = 0; i < plan->grants.count; i++)
		if (strcmp(plan->grants.items[i].path, file) != 0)
			plan->grants.items[kept++] = plan->grants.items[i];
		else if (plan->grants.items[i].kind != GRANT_READ)
			return error_set(err, "--commands: the policy makes %s writable", file);
	plan->grants.count = kept;
	return 0;
}

int agent_commands_plan(struct arena *arena, const struct agent *agent, struct plan *plan, struct error *err)
{
	struct wall wall = { 0 };
	if (path_is_within(plan->context.home, "/tmp"))
		return error_set(err, "--commands: the home %s is in /tmp, which the commands share with the agent",
				 plan->context.home);
	if (plan->network.mode == NETWORK_ALL)
		return error_set(err, "--commands: with `network: all` the agent's hosts cannot be kept from its commands");
	if (uncover_copy(arena, agent, plan, err) < 0 || add_paths(arena, agent, plan, &wall, err) < 0)
		return -1;
	add_variables(arena, agent, plan, &wall);
	choose_destinations(arena, agent, plan);
	*arena_push(arena, &plan->added) = (struct plan_document){ INSIDE_WALL, wall_text(arena, &wall) };
	*arena_push(arena, &plan->added) = (struct plan_document){ INSIDE_AGENT, "Not for commands.\n" };
	return 0;
}

/* What the policy opens below the home has the same name in the home of the commands. */
static int link_grant(const struct agent_box *box, int home, const char *path, struct error *err)
{
	const char *below = path + strlen(box->home) + 1, *name;
	autoclose int directory = agent_open_below(home, below, true, &name);
	char old[4096];
	ssize_t length;

	if (directory < 0)
		return error_errno(err, errno, "cannot make the directory of ~/%s for commands", below);
	length = readlinkat(directory, name, old, sizeof old - 1);
	if (length > 0) {
		old[length] = '\0';
		if (strcmp(old, path) == 0)
			return 0;
		if (unlinkat(directory, name, 0) < 0)
			return error_errno(err, errno, "cannot replace ~/%s for commands", below);
	}
	/* A file that a command made has precedence, as in the private home. */
	if (symlinkat(path, directory, name) < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot link ~/%s for commands", below);
	return 0;
}

static int make_home(const struct agent_box *box, const struct plan *plan, int private_home, struct error *err)
{
	autoclose int home = -1;
	if (mkdirat(private_home, commands_home, 0700) < 0 && errno != EEXIST)
		return error_errno(err, errno, "cannot make the home of the commands");
	home = openat(private_home, commands_home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (home < 0)
		return error_errno(err, errno, "cannot open the home of the commands");
	for (size_t i = 0; i < plan->grants.count; i++) {
		const char *path = plan->grants.items[i].path;
		bool is_around;
		if (!path_is_within(path, box->home) || strcmp(path, box->home) == 0 ||
		    is_private(box->arena, box->agent, box->home, path, &is_around))
			continue;
		if (link_grant(box, home, path, err) < 0)
			return -1;
	}
	return 0;
}

static int write_copy(const struct agent_box *box, int home, const char *path, const struct text *text, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };
	const char *name;
	autoclose int directory = agent_open_below(home, path, true, &name);
	if (directory < 0 || private_file_write(directory, name, text->data, text->length, &options) < 0)
		return error_errno(err, errno, "cannot write %s/%s", box->private_home, path);
	return 0;
}

/* Codex runs a hook only with a record of the user's trust, which names its text. */
static int add_trust(const struct agent_box *box, const struct install_paths *paths, int home, struct jsonc_text hooks,
		     struct error *err)
{
	const char *path = box->agent->commands->trust, *name;
	autoclose int directory = agent_open_below(home, path, true, &name);
	struct private_file config = { .bytes = "", .length = 0 };
	struct codex_trust trust;
	enum codex_trust_state state;
	struct text text = { 0 };
	int status = 0;

	if (directory < 0 || (private_file_read(box->arena, directory, name, 0, SETTINGS_MAX, &config) < 0 && errno != ENOENT))
		return error_errno(err, errno, "cannot read %s/%s", box->private_home, path);
	if (!codex_trust_find(box->arena, paths, path_join(box->arena, box->home, box->agent->commands->file), hooks, &trust))
		return error_set(err, "--commands: the copy of ~/%s has no hook of berm", box->agent->commands->file);
	state = codex_trust_read(box->arena, (struct jsonc_text){ config.bytes, config.length }, &trust);
	if (state == CODEX_TRUSTED)
		return 0;
	if (state != CODEX_UNTRUSTED) {
		error_set(err, "--commands: ~/%s turns berm's hook off, or trusts another one in its place", path);
		return error_hint(err, "remove the lines after %s", trust.section);
	}
	text_add_n(&text, config.bytes, config.length);
	text_add(&text, "\n%s\ntrusted_hash = \"%s\"\n", trust.section, trust.hash);
	status = write_copy(box, home, path, &text, err);
	text_free(&text);
	return status;
}

/* The agent's private copy gets the hook that `berm setup HOST` would write. */
static int add_hook(const struct agent_box *box, const struct context *context, const struct install_paths *paths, int home,
		    struct error *err)
{
	const struct agent_commands *commands = box->agent->commands;
	const char *file = path_join(box->arena, box->home, commands->file);
	struct setup_request request = { box->arena, setup_host_find(commands->host), paths, context->os, file };
	struct setup_overrides_request overrides = { .arena = box->arena,
						     .context = context,
						     .host = request.host,
						     .paths = paths,
						     .file = file,
						     .named = file,
						     .project = box->project };
	struct setup_overrides found = { 0 };
	struct jsonc_text old;
	struct text text = { 0 };
	int status;

	if (setup_file_peek(box->arena, file, &old, err) < 0 || setup_apply(&request, old, &text, err) < 0)
		return -1;
	overrides.text = (struct jsonc_text){ arena_copy_n(box->arena, text.data, text.length), text.length };
	setup_find_overrides(&overrides, &found);
	/* Trust in the user's own file does not matter: the copy gets a record of its own. */
	for (size_t i = 0; i < found.count; i++)
		if (!found.items[i].is_doubt && !(commands->trust && path_is_within(found.items[i].place, box->home) &&
						  !path_is_within(found.items[i].place, box->project))) {
			text_free(&text);
			return error_set(err, "--commands: %s: %s", found.items[i].place, found.items[i].why);
		}
	status = write_copy(box, home, commands->file, &text, err);
	text_free(&text);
	if (status == 0 && commands->trust)
		status = add_trust(box, paths, home, overrides.text, err);
	return status;
}

int agent_commands_fill(const struct agent_box *box, const struct plan *plan, const struct install_paths *paths,
			struct error *err)
{
	autoclose int home = open(box->private_home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (home < 0)
		return error_errno(err, errno, "cannot open %s", box->private_home);
	if (make_home(box, plan, home, err) < 0)
		return -1;
	return box->agent->commands->host && !box->is_shared ? add_hook(box, &plan->context, paths, home, err) : 0;
}

static void line(struct text *out, const char *words)
{
	text_add(out, "  ");
	text_add_wrapped(out, 2, words);
}

/* Ports of this machine that only a variable of the agent opens: a relay does not know who
 * connects. */
static void describe_ports(struct arena *arena, const struct agent *agent, const struct plan *plan, struct text *out)
{
	for (size_t i = 0; i < plan->network.local.count; i++) {
		const struct plan_port *port = &plan->network.local.items[i];
		if (is_agents(agent, port->rule))
			line(out,
			     arena_printf(arena,
					  "NOT held: port %u of this machine (%s) is the agent's API and open for commands too",
					  port->low, port->rule->origin.source));
	}
}

void agent_commands_describe(struct arena *arena, const struct agent *agent, const struct plan *plan, struct text *out)
{
	const char *files = "", *names = "", *hosts = "";
	const struct rules *pass = &plan->policy->environment.pass;

	for (size_t i = 0; agent->directories[i]; i++)
		files = arena_printf(arena, "%s~/%s, ", files, agent->directories[i]);
	for (const struct agent_copy *copy = agent->copies; copy->path; copy++)
		files = arena_printf(arena, "%s~/%s%s", files, copy->path, copy[1].path ? ", " : "");
	for (size_t i = 0; i < pass->count; i++)
		if (is_agents(agent, &pass->items[i]) && !is_passed_anyway(agent, plan, pass->items[i].text))
			names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", pass->items[i].text);
	for (size_t i = 0; i < plan->network.allow.count; i++) {
		const struct rule *rule = plan->network.allow.items[i].rule;
		if (is_agents(agent, rule))
			hosts = arena_printf(arena, "%s%s%s", hosts, *hosts ? ", " : "", rule->text);
	}
	text_add(out, "\nShell commands, behind a second wall (--commands)\n");
	line(out, agent->commands->how);
	line(out, arena_printf(arena, "not readable: the agent's home, among it %s", files));
	line(out, arena_printf(arena, "no variables: %s", names));
	line(out, arena_printf(arena, "not reachable, unless another rule allows them: %s", hosts));
	describe_ports(arena, agent, plan, out);
	line(out,
	     arena_printf(arena, "HOME is ~/%s; /tmp, the project and the loopback are those of the agent", commands_home));
	line(out, "the rest runs beside the agent, in front of this wall: its file tools, MCP servers, hooks, status line");
}
