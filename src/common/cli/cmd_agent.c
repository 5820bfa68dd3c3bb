/* SPDX-License-Identifier: Apache-2.0 */
/* `berm agent`: a whole agent in the sandbox, with private copies of its credentials. With `--`
 * any command, with a separate private home. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/agents/agents.h"
#include "common/backend.h"
#include "common/cli/session.h"
#include "common/state/state.h"

/* The name of the private state of `berm agent -- COMMAND`. */
static const char command_class[] = "command";

struct agent_run {
	const struct agent *agent; /* NULL: a command */
	struct agent_program program;
	struct policy rules;
	struct agent_box box;
	bool is_walled; /* --commands */
	struct install_paths paths;
};

static int print_help(void)
{
	struct text end = { 0 };
	int status;
	text_add(&end, "Agents: ");
	for (size_t i = 0; agent_name(i); i++)
		text_add(&end, "%s%s", i > 0 ? ", " : "", agent_name(i));
	text_add(&end, ".\nExit status: as of `berm run`.\n");
	status = report_help("berm agent [options] NAME [ARGUMENT...]\n"
			     "berm agent [options] -- COMMAND [ARGUMENT...]\n\n"
			     "Runs a whole agent in the sandbox: its file tools, servers, hooks and commands.\n"
			     "It reaches its own API only, and has private copies of its login and settings.\n"
			     "With --commands its shell commands see neither these nor its API key and hosts.\n"
			     "With -- runs any command, in a private home apart from that of `berm run`.\n",
			     COMMAND_AGENT, end.data);
	text_free(&end);
	return status;
}

static int unknown_agent(const char *name)
{
	struct error err = { 0 };
	const char *names[16], *nearest;
	size_t count = 0;
	struct text all = { 0 };

	for (; count < sizeof names / sizeof names[0] && agent_name(count); count++) {
		names[count] = agent_name(count);
		text_add(&all, "%s%s", count > 0 ? ", " : "", names[count]);
	}
	nearest = text_nearest(name, names, count);
	error_set(&err, "no agent `%s`", name);
	if (nearest)
		error_hint(&err, "did you mean `berm agent %s`?", nearest);
	error_hint(&err, "known: %s; any other program: berm agent -- %s", all.data, name);
	text_free(&all);
	return report_error(&err);
}

/* The copies and the read-only settings are mounts. Without them the user's own rules for the agent
 * would be missing inside, and nothing would say so. */
static int refuse_tier(const struct plan *plan, struct error *err)
{
	if (plan_has_mounts(plan))
		return 0;
	error_set(err, "`berm agent NAME` needs mounts, which %s",
		  plan->context.os == OS_MACOS ? "macOS does not have" : "this host refuses");
	return error_hint(err, "`berm doctor` says why; per command: berm setup");
}

static int refuse_home(const struct plan *plan, struct error *err)
{
	if (plan->home == HOME_PRIVATE)
		return 0;
	error_set(err, "`berm agent NAME` needs `home: private`: its credentials are copied there");
	return error_hint(err, "`berm plan -v` names the policy that sets `home`");
}

/* Called with the plan, before anything runs. Another attempt of the same run fills again. */
static int prepare(struct session *session, struct error *err)
{
	struct agent_run *run = session->self;
	struct plan *plan = &session->plan;
	const struct plan_documents none = { 0 };
	struct state state;

	if (!run->agent)
		return 0;
	run->box = (struct agent_box){ .arena = &session->arena,
				       .agent = run->agent,
				       .home = plan->context.home,
				       .private_home = plan->state.home,
				       .project = plan->context.project,
				       .working_directory = plan->context.working_directory ? plan->context.working_directory
											    : plan->context.project,
				       .lock = -1 };
	if (refuse_tier(plan, err) < 0 || refuse_home(plan, err) < 0 || agent_program_judge(&run->program, plan, err) < 0 ||
	    agent_box_judge(&run->box, plan, err) < 0 || agent_guards_judge(&session->arena, run->agent, plan, err) < 0)
		return -1;
	if (run->is_walled && agent_commands_plan(&session->arena, run->agent, plan, err) < 0)
		return -1;
	if (session->options.is_dry_run)
		return 0;
	/* state.lock and box.lock stay open until the process exits. */
	if (state_prepare(plan, &none, &state, err) < 0 || agent_box_fill(&run->box, state.lock, err) < 0 ||
	    (run->is_walled && agent_commands_fill(&run->box, plan, &run->paths, err) < 0))
		return -1;
	return agent_keeper_start(&run->box, err);
}

/* Every process of the run is dead. */
static void finish(struct session *session)
{
	struct agent_run *run = session->self;
	struct text told = { 0 };
	char *rest, *line;

	if (!run->agent)
		return;
	agent_box_write_back(&run->box, session->options.is_verbose, &told);
	rest = told.data;
	while (rest && (line = strsep(&rest, "\n")) && *line)
		fprintf(stderr, "berm: %s\n", line);
	text_free(&told);
}

static int find_agent(struct session *session, struct agent_run *run, struct error *err)
{
	struct context_request request = { .project = session->options.project };
	struct context context;
	if (context_detect(&session->arena, &request, &context, err) < 0 ||
	    agent_program_find(&session->arena, run->agent, &context, &run->program, err) < 0)
		return -1;
	if (run->is_walled) {
		install_paths_find(&session->arena, context.fs, context.executable, &run->paths);
		agent_commands_rules(&session->arena, &run->paths, context.executable, &run->rules);
	}
	return agent_rules(&session->arena, run->agent, &context, &run->program, &run->rules, err);
}

static int show_plan(struct session *session, struct agent_run *run, char *const *command)
{
	struct text out = { 0 };
	int status;
	session->options.is_dry_run = true;
	status = run_command(session, command);
	if (status != 0 || !run->agent)
		return status;
	text_add(&out, "\n");
	agent_describe(&session->arena, run->agent, &run->program, &session->plan.context, &out);
	if (run->is_walled)
		agent_commands_describe(&session->arena, run->agent, &session->plan, &out);
	return report_text(&out);
}

/* Options after the name are the agent's. --commands is no option of any agent. */
static void take_late_options(struct options *options, int argc, char **argv, int *rest)
{
	char *name = argv[*rest];
	while (*rest + 1 < argc && (strcmp(argv[*rest + 1], "--commands") == 0 ||
				    (options->wants_wall && strcmp(argv[*rest + 1], "--plan") == 0))) {
		bool is_plan = strcmp(argv[*rest + 1], "--plan") == 0;
		options->wants_plan |= is_plan;
		options->wants_wall |= !is_plan;
		argv[++*rest] = name;
	}
}

/* --commands has a separate private home: commands that were not behind the wall wrote the
 * other one. */
static int open_agent(struct session *session, struct agent_run *run, int count, char **arguments, char *const **command,
		      struct error *err)
{
	const char *const *own = run->agent->arguments;
	run->is_walled = session->options.wants_wall;
	if (arguments_refuse_inside("an agent is started outside of it", err) < 0)
		return -1;
	if (run->is_walled && (agent_commands_judge(run->agent, count, arguments, err) < 0 || backend_wall_judge(err) < 0))
		return -1;
	if (find_agent(session, run, err) < 0)
		return -1;
	session->agent = run->is_walled ? arena_printf(&session->arena, "%s-commands", run->agent->name) : run->agent->name;
	session->piece = run->agent->piece;
	session->piece_rules = &run->rules;
	if (run->is_walled)
		own = agent_commands_arguments(&session->arena, run->agent, &run->paths);
	*command = agent_program_command(&session->arena, own, &run->program, count, arguments);
	return 0;
}

int cmd_agent(int argc, char **argv)
{
	static struct session session; /* not freed: the process exits after this */
	static struct agent_run run;
	struct error err = { 0 };
	char *const *command;
	int rest;

	if (options_parse(&session.arena, COMMAND_AGENT, argc, argv, &session.options, &rest, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest >= argc) {
		error_set(&err, "no agent to run");
		error_hint(&err, "berm agent NAME [ARGUMENT...], for example `berm agent claude`");
		return report_error(&err);
	}
	command = argv + rest;
	session.agent = command_class;
	session.self = &run;
	session.opened = prepare;
	session.ended = finish;
	if (strcmp(argv[rest - 1], "--") != 0) {
		run.agent = agent_find(argv[rest]);
		if (!run.agent)
			return unknown_agent(argv[rest]);
		take_late_options(&session.options, argc, argv, &rest);
		if (open_agent(&session, &run, argc - rest - 1, argv + rest + 1, &command, &err) < 0)
			return report_error(&err);
	} else if (session.options.wants_wall) {
		error_set(&err, "--commands needs the name of an agent: of a command berm does not know what its commands are");
		return report_error(&err);
	}
	return session.options.is_dry_run || session.options.wants_plan ? show_plan(&session, &run, command)
									: run_command(&session, command);
}
