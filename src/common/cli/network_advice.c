/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cli/network_advice.h"

#include "common/cli/program_hints.h"

/* Programs that open a connection to port 22 and read no proxy variable. */
static const char *const ssh_names[PROGRAM_NAMES_MAX] = { "ssh", "scp", "sftp", "rsync", "mosh" };
static const char *const git_names[PROGRAM_NAMES_MAX] = { "git" };
/* Programs that fetch from the registries that `berm init` finds. */
static const char *const package_names[PROGRAM_NAMES_MAX] = { "npm",  "npx",	"pnpm",	  "yarn", "bun",    "pip",
							      "pip3", "pipenv", "poetry", "uv",	  "pdm",    "cargo",
							      "go",   "gem",	"bundle", "mvn",  "dotnet", "composer" };

/* ssh needs a program that asks the proxy for it. The port after the proxy's asks for no
 * password. */
static void hint_ssh(const struct plan *plan, struct error *err)
{
	error_hint(err,
		   "ssh ignores proxies; with netcat-openbsd and --allow-net=HOST:22:\n"
		   "ssh -o ProxyCommand='nc -X connect -x 127.0.0.1:%u %%h %%p' HOST   (git: GIT_SSH_COMMAND)",
		   (unsigned)plan_proxy_port(plan) + 1);
}

/* The programs that the command starts, as far as they matter here. */
struct started {
	bool is_ssh, is_git, is_package_manager;
};

static void advise_closed(const struct plan *plan, struct started started, struct error *err)
{
	const char *place = started.is_ssh		 ? "HOST:22"
			    : started.is_git		 ? "HOST:443 (HOST:22 for ssh)"
			    : started.is_package_manager ? "the package registry"
							 : "HOST:443";
	const char *port = started.is_ssh ? "22" : "443";
	error_set(err,
		  "the command seems to have tried to use the network, which is closed by policy; do not retry, ask the user "
		  "to allow %s",
		  place);
	if (started.is_package_manager)
		error_hint(err, "for the registries of this project: berm init && berm trust");
	error_hint(err,
		   "for one destination: berm run --allow-net=HOST:%s -- COMMAND\n"
		   "or network: {allow: [\"HOST:%s\"]} in ~/.config/berm/berm.yml",
		   port, port);
	if (started.is_ssh)
		hint_ssh(plan, err);
}

static void advise_proxy(const struct plan *plan, bool is_ssh, struct error *err)
{
	error_set(err, "the command seems to have used the network without the sandbox's proxy, which is the only way out: a "
		       "program that ignores HTTPS_PROXY and ALL_PROXY finds no address for a name");
	if (is_ssh)
		hint_ssh(plan, err);
	else
		error_hint(err, "node before 24, Java and plain sockets need a setting of their own (docs/network.md);\n"
				"a service on this machine: network: {local: [PORT]} in ~/.config/berm/berm.yml");
}

void network_advice(const struct plan *plan, char *const *command, struct error *err)
{
	const struct started started = { .is_ssh = program_is_started(command, ssh_names),
					 .is_git = program_is_started(command, git_names),
					 .is_package_manager = program_is_started(command, package_names) };
	if (plan->network.mode == NETWORK_ALLOW)
		advise_proxy(plan, started.is_ssh || started.is_git, err);
	else
		advise_closed(plan, started, err);
}
