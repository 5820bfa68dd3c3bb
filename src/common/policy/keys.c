/* SPDX-License-Identifier: Apache-2.0 */
/* The policy language as one table. A key that is not enforced yet is marked KEY_UNBUILT or
 * KEY_RESERVED and is an error in every file; no key is ever ignored. A new key is a field in
 * policy.h and a row here. */
#include "common/policy/keys.h"

#include <string.h>

#include "common/policy/policy.h"

#define FIELD(member) offsetof(struct policy, member)
#define LIMIT(limit) (offsetof(struct policy, limits) + (limit) * sizeof(struct setting))

static const struct key_choice guard_choices[] = {
	{ "launch", LEVEL_LAUNCH, "what exists at launch is hidden or read-only", false, false },
	{ "repair", LEVEL_REPAIR, "also restored when the host replaces it while the command runs", false, false },
	{ "strict", LEVEL_STRICT, "also: every creation is judged, so that no protected name appears", true, false },
	{ 0 },
};

/* Of require.secrets: opens are not checked. */
static const struct key_choice secret_choices[] = {
	{ "repair", LEVEL_REPAIR, "also restored when the host replaces it while the command runs", false, false },
	{ "strict", LEVEL_STRICT, "every open is checked", true, true },
	{ 0 },
};

static const struct key_choice home_choices[] = {
	{ "private", HOME_PRIVATE, "a private home, kept per project", false, false },
	{ "empty", HOME_EMPTY, "a private home, new in each run", true, false },
	{ "host", HOME_HOST, "the real home, read-only, without denied files", false, false },
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
	  "the machine's network, metadata services included; with network.deny, those and the denied destinations are refused",
	  false, false },
	{ 0 },
};

static const struct key_choice git_choices[] = {
	{ "locked", GIT_LOCKED, "configuration and hooks of repositories are read-only", false, false },
	{ "guarded", GIT_GUARDED, "the configuration is writable; its content is checked", false, true },
	{ 0 },
};

static const struct key_choice command_line_choices[] = {
	{ "widen", COMMAND_LINE_WIDEN, "options may grant more than the files do", false, false },
	{ "narrow", COMMAND_LINE_NARROW, "options may only restrict further", false, false },
	{ 0 },
};

static const struct key_choice copy_choices[] = {
	{ "never", COPY_NEVER, "the command changes the project itself", false, false },
	{ "always", COPY_ALWAYS, "the command changes a copy", true, false },
	{ 0 },
};

static const struct key_choice session_choices[] = {
	{ "never", SESSIONS_NEVER, "each command has a sandbox of its own", false, false },
	{ "auto", SESSIONS_AUTO, "commands without a terminal and without extra grants share one", false, false },
	{ 0 },
};

static const struct key_choice leftovers_choices[] = {
	{ "keep", LEFTOVERS_KEEP, "background processes live until the session ends", false, false },
	{ "end", LEFTOVERS_END, "they end with the command that started them; one command runs at a time", false, false },
	{ 0 },
};

static const struct key_choice device_choices[] = {
	{ "gpu", 0, "graphics and compute devices", false, false },
	{ 0 },
};

/* A level below the default is not offered: accept_weaker accepts less, and every run reports
 * it. */
static const struct key_choice enforced_choices[] = {
	{ "enforced", LEVEL_ENFORCED, "the guarantee holds without gaps", false, false },
	{ 0 },
};

static const struct key_choice partial_choices[] = {
	{ "partial", LEVEL_PARTIAL, "the guarantee has known gaps, which `berm plan` lists", false, false },
	{ "enforced", LEVEL_ENFORCED, "the guarantee holds without gaps", false, false },
	{ 0 },
};

static const struct key_choice launch_choices[] = {
	{ "launch", LEVEL_LAUNCH, "sockets that exist at launch are hidden; `berm plan` lists the gaps", false, false },
	{ "enforced", LEVEL_ENFORCED, "the guarantee holds without gaps", false, false },
	{ 0 },
};

static const struct key_choice guarantee_choices[] = {
#define GUARANTEE_CHOICE(constant, name, ...) { name, GUARANTEE_##constant, NULL, false, false },
	GUARANTEE_LIST(GUARANTEE_CHOICE)
#undef GUARANTEE_CHOICE
		{ 0 },
};

/* The levels that can be required of a guarantee: none below its default. */
#define REQUIRE_RAISED(default_level) ((default_level) == LEVEL_PARTIAL ? partial_choices : enforced_choices)
#define REQUIRE_SCALED(scale, default_level) ((scale) == SCALE_LAUNCH ? launch_choices : REQUIRE_RAISED(default_level))
#define REQUIRE_CHOICES(guarantee, scale, default_level)                                                                       \
	((guarantee) == GUARANTEE_SECRETS    ? secret_choices                                                                  \
	 : (guarantee) == GUARANTEE_PLANTING ? &guard_choices[1]                                                               \
					     : REQUIRE_SCALED(scale, default_level))

/* A mapping comes before its members. The schema and `berm policies --keys` use this order. */
const struct key policy_keys[] = {
	{ "version", KEY_VERSION, 0, 0, NULL, "The version of the language: 1. Required." },
	{ "extends", KEY_NAME, 0, FIELD(extends), NULL,
	  "The policy to start from: a built-in name (default, strict), a path, or none for the floor alone." },
	{ "use", KEY_NAMES, 0, FIELD(use), NULL, "Built-in pieces to add, for example node or registry-npm." },

	{ "files", KEY_MAP, 0, 0, NULL, "Which files may be read and written, and which are hidden or protected." },
	{ "files.system", KEY_PATHS, 0, FIELD(files.system), NULL,
	  "Read-only directories of software; not searched for secrets, and patterns that match anywhere do not apply there." },
	{ "files.read", KEY_PATHS, 0, FIELD(files.read), NULL, "Paths that may be read; a directory includes its contents." },
	{ "files.write", KEY_PATHS, 0, FIELD(files.write), NULL,
	  "Paths that may be read and written; a directory includes its contents." },
	{ "files.deny", KEY_PATTERNS, KEY_NARROWS, FIELD(files.deny), NULL, "Patterns of hidden files; win over every grant." },
	{ "files.except", KEY_PATTERNS, 0, FIELD(files.except), NULL, "Patterns of files to which files.deny does not apply." },
	{ "files.public", KEY_PATTERNS, 0, FIELD(files.public), NULL,
	  "Names to which files.deny does not apply while the file has nothing but public PEM blocks, such as certificates." },
	{ "files.protect", KEY_PATTERNS, KEY_NARROWS, FIELD(files.protect), NULL,
	  "Patterns of files that stay readable but are never changed or created." },
	{ "files.unprotect", KEY_PATTERNS, 0, FIELD(files.unprotect), NULL,
	  "Patterns of existing files and directories that stay writable inside a protected directory." },
	{ "files.prune", KEY_PATTERNS, 0, FIELD(files.prune), NULL,
	  "Directories that are not searched for the names that files.deny matches anywhere." },
	{ "files.guard", KEY_CHOICE, KEY_NARROWS, FIELD(files.guard), guard_choices,
	  "How files.deny and files.protect are enforced while the command runs. By default `repair`, and `strict` for "
	  "files.protect where the machine can." },

	{ "home", KEY_CHOICE, KEY_NARROWS, FIELD(home), home_choices, "The home directory that the command sees." },
	{ "tmp", KEY_CHOICE, KEY_NARROWS, FIELD(tmp), tmp_choices, "The directory for temporary files that the command sees." },

	{ "network", KEY_MAP, KEY_ALSO_SCALAR | KEY_NARROWS, FIELD(network.mode), network_choices,
	  "Which destinations may be reached: none, all, or a mapping." },
	{ "network.allow", KEY_DESTINATIONS, 0, FIELD(network.allow), NULL, "Destinations that may be reached." },
	{ "network.deny", KEY_DESTINATIONS, KEY_NARROWS, FIELD(network.deny), NULL,
	  "Destinations that are refused; win over network.allow." },
	{ "network.local", KEY_PORTS, 0, FIELD(network.local), NULL, "Ports of this machine's loopback that may be reached." },
	{ "network.publish", KEY_PUBLISH, 0, FIELD(network.publish), NULL,
	  "Ports of the command that this machine may reach: PORT, auto:PORT, HOSTPORT:PORT or ADDRESS:HOSTPORT:PORT." },

	{ "sockets", KEY_PATHS, 0, FIELD(sockets), NULL, "Unix sockets that may be reached." },
	{ "devices", KEY_DEVICES, 0, FIELD(devices), device_choices, "Devices that may be used: gpu, or paths below /dev." },

	{ "environment", KEY_MAP, 0, 0, NULL, "The environment variables of the command." },
	{ "environment.pass", KEY_VARIABLES, 0, FIELD(environment.pass), NULL,
	  "Variables that the command inherits; * matches any characters." },
	{ "environment.set", KEY_ASSIGNMENTS, 0, FIELD(environment.set), NULL, "Variables that are set: name: value." },

	{ "limits", KEY_MAP, 0, 0, NULL,
	  "Limits on the resources of the command; `berm plan` shows how each is enforced here." },
	{ "limits.memory", KEY_SIZE, KEY_NARROWS, LIMIT(LIMIT_MEMORY), NULL,
	  "Memory of all processes together, including shared memory and an empty tmp, for example 4G." },
	{ "limits.processes", KEY_COUNT, KEY_NARROWS, LIMIT(LIMIT_PROCESSES), NULL, "Processes and threads at once." },
	{ "limits.cpus", KEY_COUNT, KEY_NARROWS, LIMIT(LIMIT_CPUS), NULL, "Processors used at once." },
	{ "limits.time", KEY_DURATION, KEY_NARROWS, LIMIT(LIMIT_TIME), NULL, "Run time of the command, for example 30m." },
	{ "limits.disk", KEY_SIZE, KEY_NARROWS, LIMIT(LIMIT_DISK), NULL,
	  "Disk space that the command may add in writable directories, for example 2G." },
	{ "limits.open_files", KEY_COUNT, KEY_NARROWS, LIMIT(LIMIT_OPEN_FILES), NULL, "Open files of each process." },
	{ "limits.file_size", KEY_SIZE, KEY_NARROWS, LIMIT(LIMIT_FILE_SIZE), NULL,
	  "Size of each written file, including output redirected to a file, for example 100M." },

	{ "git", KEY_CHOICE, 0, FIELD(git), git_choices, "How the .git directory is protected." },
	{ "nesting", KEY_BOOLEAN, 0, FIELD(nesting), NULL,
	  "True if the command may create user namespaces, as browsers do; mounts stay refused." },

	{ "require", KEY_MAP, 0, 0, NULL, "Guarantees that must hold at a higher level than by default; else nothing runs." },
#define REQUIRE_KEY(constant, name, scale, default_level, promise)                                                             \
	{ "require." name,                                                                                                     \
	  KEY_CHOICE,                                                                                                          \
	  KEY_RAISES,                                                                                                          \
	  offsetof(struct policy, require) + GUARANTEE_##constant * sizeof(struct setting),                                    \
	  REQUIRE_CHOICES(GUARANTEE_##constant, scale, default_level),                                                         \
	  "Required level of " name "." },
	GUARANTEE_LIST(REQUIRE_KEY)
#undef REQUIRE_KEY
		{ "accept_weaker", KEY_NAMES, KEY_USER_ONLY, FIELD(accept_weaker), guarantee_choices,
		  "Guarantees that may be weaker than required on this machine; every run reports them." },
	{ "command_line", KEY_CHOICE, KEY_USER_ONLY, FIELD(command_line), command_line_choices,
	  "What options on the command line may do." },

	{ "sessions", KEY_MAP, KEY_USER_ONLY | KEY_ALSO_SCALAR, FIELD(sessions.use), session_choices,
	  "Sandboxes that commands of one project share; `sessions: auto` is `sessions: {use: auto}`." },
	{ "sessions.use", KEY_CHOICE, KEY_USER_ONLY, FIELD(sessions.use), session_choices,
	  "Whether berm run, berm -c and berm-sh use a session by themselves." },
	{ "sessions.leftovers", KEY_CHOICE, KEY_USER_ONLY, FIELD(sessions.leftovers), leftovers_choices,
	  "What happens to background processes of a session's commands." },
	{ "sessions.idle", KEY_DURATION, KEY_USER_ONLY, FIELD(sessions.idle), NULL,
	  "How long a session without commands and background processes lives, for example 5m." },

	{ "audit", KEY_MAP, 0, 0, NULL, "The record of runs, which `berm log` shows." },
	{ "audit.exec", KEY_BOOLEAN, KEY_UNBUILT, FIELD(audit.exec), NULL, "Record every program that is executed." },
	{ "audit.sync", KEY_BOOLEAN, 0, FIELD(audit.sync), NULL,
	  "True: the start and the end of a run are on the disk before berm goes on." },
	{ "audit.keep", KEY_DURATION, KEY_USER_ONLY, FIELD(audit.keep), NULL,
	  "How long the records of all projects are kept; 30d." },

	{ "macos", KEY_MAP, 0, 0, NULL, "Settings of macOS; ignored elsewhere." },
	{ "macos.trustd", KEY_BOOLEAN, 0, FIELD(macos.trustd), NULL,
	  "True if the command may use the certificate service, trustd." },

	{ "workspace", KEY_MAP, 0, 0, NULL, "Work on a copy of the project, and undo." },
	{ "workspace.copy", KEY_CHOICE, KEY_NARROWS, FIELD(workspace.copy), copy_choices,
	  "Whether the project is a copy that `berm apply` or `berm discard` ends, as with --copy." },
	{ "workspace.undo", KEY_BOOLEAN, 0, FIELD(workspace.undo), NULL,
	  "True: changes are made in a copy and applied at the end, so that `berm undo` can take them back." },
	{ "workspace.keep", KEY_COUNT, 0, FIELD(workspace.keep), NULL, "Applied changes that are kept for `berm undo`; 20." },
	{ "workspace.size", KEY_SIZE, 0, FIELD(workspace.size), NULL, "Disk space for what is kept for `berm undo`; 1G." },

	{ "commands", KEY_RESERVED, 0, 0, NULL, "Reserved: rules for single commands." },
	{ "credentials", KEY_RESERVED, 0, 0, NULL, "Reserved: credentials for single destinations." },
};

const size_t policy_key_count = sizeof policy_keys / sizeof policy_keys[0];

/* Only variables that hold paths and that a desktop session or a shell sets by itself. */
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

enum key_storage policy_key_storage(const struct key *key)
{
	switch (key->kind) {
	case KEY_PATHS:
	case KEY_PATTERNS:
	case KEY_NAMES:
	case KEY_VARIABLES:
	case KEY_DESTINATIONS:
	case KEY_PORTS:
	case KEY_PUBLISH:
	case KEY_DEVICES:
		return STORAGE_RULES;
	case KEY_ASSIGNMENTS:
		return STORAGE_ASSIGNMENTS;
	case KEY_CHOICE:
	case KEY_SIZE:
	case KEY_DURATION:
	case KEY_COUNT:
	case KEY_BOOLEAN:
	case KEY_NAME:
		return STORAGE_SETTING;
	case KEY_MAP:
		return key->flags & KEY_ALSO_SCALAR ? STORAGE_SETTING : STORAGE_NONE;
	case KEY_VERSION:
	case KEY_RESERVED:
		break;
	}
	return STORAGE_NONE;
}
