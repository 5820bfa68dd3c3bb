/* SPDX-License-Identifier: Apache-2.0 */
/* The policy language as one table: the parser, the schema, the merge rules, `berm policies --keys` and the man page's check all
 * read it. A key that nothing enforces yet is marked so and is an error wherever it is written; none is ever ignored. */
#include "common/policy/policy.h"

#include <string.h>

#define FIELD(member) offsetof(struct policy, member)
#define LIMIT(limit) (offsetof(struct policy, limits) + (limit) * sizeof(struct setting))
#define REQUIRE(guarantee) (offsetof(struct policy, require) + (guarantee) * sizeof(struct setting))

static const struct key_choice guard_choices[] = {
	{ "launch", LEVEL_LAUNCH, "what exists at launch is hidden or read-only", false, false },
	{ "repair", LEVEL_REPAIR, "and put back when the host replaces it while the command runs", false, true },
	{ "strict", LEVEL_STRICT, "every open and creation is judged: no gap", true, true },
	{ 0 },
};

static const struct key_choice home_choices[] = {
	{ "private", HOME_PRIVATE, "a home of its own, kept per project", false, false },
	{ "empty", HOME_EMPTY, "a home of its own, new in each run", true, false },
	{ "host", HOME_HOST, "the real one, read-only, without what is denied", false, false },
	{ 0 },
};

static const struct key_choice tmp_choices[] = {
	{ "private", TMP_PRIVATE, "kept per project", false, false },
	{ "empty", TMP_EMPTY, "new in each run", true, false },
	{ 0 },
};

static const struct key_choice network_choices[] = {
	{ "none", NETWORK_NONE, "no destination at all", true, false },
	{ "all", NETWORK_ALL,
	  "the machine's network as it is, metadata services too; with network.deny neither these nor those", false, false },
	{ 0 },
};

static const struct key_choice git_choices[] = {
	{ "locked", GIT_LOCKED, "configuration and hooks of repositories are read-only", false, false },
	{ "guarded", GIT_GUARDED, "the configuration is writable and judged by content", false, true },
	{ 0 },
};

static const struct key_choice command_line_choices[] = {
	{ "widen", COMMAND_LINE_WIDEN, "options may grant more than the files do", false, false },
	{ "narrow", COMMAND_LINE_NARROW, "options may only take away", false, false },
	{ 0 },
};

static const struct key_choice device_choices[] = {
	{ "gpu", 0, "graphics and compute devices", false, false },
	{ 0 },
};

/* A level below the default is no requirement: accepting less is accept_weaker's business, where it is seen. */
static const struct key_choice enforced_choices[] = {
	{ "enforced", LEVEL_ENFORCED, "the promise holds in full", false, false },
	{ 0 },
};

static const struct key_choice partial_choices[] = {
	{ "partial", LEVEL_PARTIAL, "gaps are known and shown", false, false },
	{ "enforced", LEVEL_ENFORCED, "the promise holds in full", false, false },
	{ 0 },
};

static const struct key_choice guarantee_choices[] = {
	{ "writes", GUARANTEE_WRITES, NULL, false, false },
	{ "secrets", GUARANTEE_SECRETS, NULL, false, false },
	{ "planting", GUARANTEE_PLANTING, NULL, false, false },
	{ "network", GUARANTEE_NETWORK, NULL, false, false },
	{ "processes", GUARANTEE_PROCESSES, NULL, false, false },
	{ "ipc", GUARANTEE_IPC, NULL, false, false },
	{ "environment", GUARANTEE_ENVIRONMENT, NULL, false, false },
	{ "limits", GUARANTEE_LIMITS, NULL, false, false },
	{ "kernel", GUARANTEE_KERNEL, NULL, false, false },
	{ "integrity", GUARANTEE_INTEGRITY, NULL, false, false },
	{ 0 },
};

/* A mapping comes before what it holds; the order is the one in which the schema and the listing show the keys. */
const struct key policy_keys[] = {
	{ "version", KEY_VERSION, 0, 0, NULL, "The version of the language: 1. Required." },
	{ "extends", KEY_NAME, 0, FIELD(extends), NULL,
	  "The policy to start from: a built-in name (default, strict), a path, or none for nothing but the floor." },
	{ "use", KEY_NAMES, 0, FIELD(use), NULL, "Built-in pieces to add, for example node or registry-npm." },

	{ "files", KEY_MAP, 0, 0, NULL, "What may be read, written, and what is hidden or kept from being changed." },
	{ "files.system", KEY_PATHS, 0, FIELD(files.system), NULL,
	  "Read-only trees of software; not searched for secrets, and patterns that match anywhere do not apply in them." },
	{ "files.read", KEY_PATHS, 0, FIELD(files.read), NULL, "Paths that may be read; a directory with all it holds." },
	{ "files.write", KEY_PATHS, 0, FIELD(files.write), NULL, "Paths that may be read and written." },
	{ "files.deny", KEY_PATTERNS, KEY_NARROWS, FIELD(files.deny), NULL,
	  "Patterns of what is hidden; wins over every grant." },
	{ "files.except", KEY_PATTERNS, 0, FIELD(files.except), NULL, "Patterns that files.deny does not apply to." },
	{ "files.protect", KEY_PATTERNS, KEY_NARROWS, FIELD(files.protect), NULL,
	  "Patterns of what stays readable but is never changed or created." },
	{ "files.prune", KEY_PATTERNS, 0, FIELD(files.prune), NULL,
	  "Directories that are not searched for names that files.deny matches anywhere." },
	{ "files.guard", KEY_CHOICE, KEY_NARROWS, FIELD(files.guard), guard_choices,
	  "How firmly files.deny and files.protect hold while the command runs." },

	{ "home", KEY_CHOICE, KEY_NARROWS, FIELD(home), home_choices, "The home directory that the command sees." },
	{ "tmp", KEY_CHOICE, KEY_NARROWS, FIELD(tmp), tmp_choices, "The directory for temporary files that the command sees." },

	{ "network", KEY_MAP, KEY_ALSO_SCALAR | KEY_NARROWS, FIELD(network.mode), network_choices,
	  "Which destinations may be reached: none, all, or a mapping." },
	{ "network.allow", KEY_DESTINATIONS, 0, FIELD(network.allow), NULL, "Destinations that may be reached." },
	{ "network.deny", KEY_DESTINATIONS, KEY_NARROWS, FIELD(network.deny), NULL,
	  "Destinations that are refused; wins over network.allow." },
	{ "network.local", KEY_PORTS, 0, FIELD(network.local), NULL, "Ports of this machine's loopback that may be reached." },
	{ "network.publish", KEY_PUBLISH, 0, FIELD(network.publish), NULL,
	  "Ports of the command that this machine may reach: PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT." },

	{ "sockets", KEY_PATHS, 0, FIELD(sockets), NULL, "Unix sockets that may be reached." },
	{ "devices", KEY_DEVICES, 0, FIELD(devices), device_choices, "Devices that may be used: gpu, or paths below /dev." },

	{ "environment", KEY_MAP, 0, 0, NULL, "The environment variables of the command." },
	{ "environment.pass", KEY_VARIABLES, 0, FIELD(environment.pass), NULL,
	  "Variables that are passed on; * stands for any characters." },
	{ "environment.set", KEY_ASSIGNMENTS, 0, FIELD(environment.set), NULL, "Variables that are set, name: value." },

	{ "limits", KEY_MAP, 0, 0, NULL, "Bounds on what the command uses; `berm plan` says how firmly each holds here." },
	{ "limits.memory", KEY_SIZE, KEY_NARROWS, LIMIT(LIMIT_MEMORY), NULL,
	  "Memory of all processes together, shared memory and empty tmp included, for example 4G." },
	{ "limits.processes", KEY_COUNT, KEY_NARROWS, LIMIT(LIMIT_PROCESSES), NULL, "Processes and threads at once." },
	{ "limits.cpus", KEY_COUNT, KEY_NARROWS, LIMIT(LIMIT_CPUS), NULL, "Processors used at once." },
	{ "limits.time", KEY_DURATION, KEY_NARROWS, LIMIT(LIMIT_TIME), NULL, "Time the command may take, for example 30m." },
	{ "limits.disk", KEY_SIZE, KEY_NARROWS, LIMIT(LIMIT_DISK), NULL,
	  "Space that the command may add to what it can write, for example 2G." },
	{ "limits.open_files", KEY_COUNT, KEY_NARROWS, LIMIT(LIMIT_OPEN_FILES), NULL, "Open files of each process." },
	{ "limits.file_size", KEY_SIZE, KEY_NARROWS, LIMIT(LIMIT_FILE_SIZE), NULL,
	  "Size of each file that is written, output that goes to a file included, for example 100M." },

	{ "git", KEY_CHOICE, 0, FIELD(git), git_choices, "How git's own directory is treated." },
	{ "nesting", KEY_BOOLEAN, 0, FIELD(nesting), NULL,
	  "Whether the command may build sandboxes of its own (user namespaces)." },

	{ "require", KEY_MAP, 0, 0, NULL, "Guarantees that must hold more firmly than by default; else nothing runs." },
	{ "require.writes", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_WRITES), enforced_choices, "Level asked of writes." },
	{ "require.secrets", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_SECRETS), guard_choices, "Level asked of secrets." },
	{ "require.planting", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_PLANTING), guard_choices, "Level asked of planting." },
	{ "require.network", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_NETWORK), enforced_choices, "Level asked of network." },
	{ "require.processes", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_PROCESSES), partial_choices,
	  "Level asked of processes." },
	{ "require.ipc", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_IPC), enforced_choices, "Level asked of ipc." },
	{ "require.environment", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_ENVIRONMENT), enforced_choices,
	  "Level asked of environment." },
	{ "require.limits", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_LIMITS), partial_choices, "Level asked of limits." },
	{ "require.kernel", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_KERNEL), partial_choices, "Level asked of kernel." },
	{ "require.integrity", KEY_CHOICE, KEY_RAISES, REQUIRE(GUARANTEE_INTEGRITY), enforced_choices,
	  "Level asked of integrity." },
	{ "accept_weaker", KEY_NAMES, KEY_USER_ONLY, FIELD(accept_weaker), guarantee_choices,
	  "Guarantees that may be weaker than asked for on this machine; told in every run." },
	{ "command_line", KEY_CHOICE, KEY_USER_ONLY, FIELD(command_line), command_line_choices,
	  "What options on the command line may do." },

	{ "audit", KEY_MAP, KEY_UNBUILT, 0, NULL, "What is recorded about runs." },
	{ "audit.exec", KEY_BOOLEAN, KEY_UNBUILT, FIELD(audit.exec), NULL, "Record every program that is started." },
	{ "audit.keep", KEY_DURATION, KEY_UNBUILT, FIELD(audit.keep), NULL, "How long records are kept, for example 30d." },

	{ "macos", KEY_MAP, 0, 0, NULL, "What only macOS knows; without effect elsewhere." },
	{ "macos.trustd", KEY_BOOLEAN, 0, FIELD(macos.trustd), NULL, "Whether the certificate service may be asked." },

	{ "commands", KEY_RESERVED, 0, 0, NULL, "Reserved: rules for single commands." },
	{ "credentials", KEY_RESERVED, 0, 0, NULL, "Reserved: credentials lent for single destinations." },
	{ "workspace", KEY_RESERVED, 0, 0, NULL, "Reserved: work on a copy of the project." },
};

const size_t policy_key_count = sizeof policy_keys / sizeof policy_keys[0];

/* Paths only, and only those that a desktop session or a shell sets by itself. */
const char *const policy_path_variables[] = {
	"HOME",
	"SSH_AUTH_SOCK",
	"TMPDIR",
	"XDG_CACHE_HOME",
	"XDG_CONFIG_HOME",
	"XDG_DATA_HOME",
	"XDG_RUNTIME_DIR",
	"XDG_STATE_HOME",
	NULL,
};

const struct key *policy_key_find(const char *path)
{
	for (size_t i = 0; i < policy_key_count; i++) {
		if (strcmp(policy_keys[i].path, path) == 0)
			return &policy_keys[i];
	}
	return NULL;
}
