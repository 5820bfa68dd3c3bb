/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in rules, for verdicts that no policy file decides. They belong to the floor, so no layer
 * overrides them. */
#include "common/plan/query.h"

const struct rule rule_state = { "files.deny", "berm's own state", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_config = { "files.protect", "the user's policy for berm", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_policy_file = { "files.protect", "a policy file in use", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_git_worktree = { "files.write", "git worktree", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_git_pointer = { "files.protect", "git pointer", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_git_names = {
	"files.protect", "what git obeys in its directory", { "built-in", 0, 0 }, LAYER_FLOOR, NULL
};
const struct rule rule_marker = { "files.protect", "the marker of the project", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_root_only = { "files.deny", "root-only file", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_unsearchable = {
	"files.deny", "cannot be searched for hidden names", { "built-in", 0, 0 }, LAYER_FLOOR, NULL
};
const struct rule rule_host_socket = { "sockets", "a socket that is not named", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_host_fifo = { "files.protect", "a FIFO in a read-only tree", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_linked = {
	"files.deny", "a symlink to a directory with hidden names", { "built-in", 0, 0 }, LAYER_FLOOR, NULL
};
const struct rule rule_executable = { "files.protect", "berm itself", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_basic_devices = { "devices", "basic devices", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_own_proc = { "files.read", "the command's own /proc", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_platform = { "files.read", "what macOS programs start with", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_network_files = { "network", "network: all", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_own_variable = { "environment.set", "set by berm", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_private_home = { "home", "private", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_private_tmp = { "tmp", "private", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
const struct rule rule_no_network = { "network", "none", { "built-in", 0, 0 }, LAYER_FLOOR, NULL };
