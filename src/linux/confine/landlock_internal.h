/* SPDX-License-Identifier: Apache-2.0 */
/* Rights and rules. Internal interface of landlock.c and landlock_around.c. Defines its own
 * constants: the uapi header of a build machine may be older than the kernel that berm runs on. */
#ifndef BERM_LINUX_CONFINE_LANDLOCK_INTERNAL_H
#define BERM_LINUX_CONFINE_LANDLOCK_INTERNAL_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/plan/plan.h"

#define BIT(number) (UINT64_C(1) << (number))

#define EXECUTE BIT(0)
#define WRITE_FILE BIT(1)
#define READ_FILE BIT(2)
#define READ_DIR BIT(3)
#define REMOVE_DIR BIT(4)
#define REMOVE_FILE BIT(5)
#define MAKE_CHAR BIT(6)
#define MAKE_DIR BIT(7)
#define MAKE_REG BIT(8)
#define MAKE_SOCK BIT(9)
#define MAKE_FIFO BIT(10)
#define MAKE_BLOCK BIT(11)
#define MAKE_SYM BIT(12)
#define REFER BIT(13) /* ABI 2 */
#define TRUNCATE BIT(14) /* ABI 3 */
#define IOCTL_DEV BIT(15) /* ABI 5 */
#define RESOLVE_UNIX BIT(16) /* ABI 9 */

#define BIND_TCP BIT(0) /* ABI 4 */
#define CONNECT_TCP BIT(1)
#define BIND_UDP BIT(2) /* ABI 10 */
#define CONNECT_SEND_UDP BIT(3)

#define SCOPE_ABSTRACT_SOCKET BIT(0) /* ABI 6 */
#define SCOPE_SIGNAL BIT(1)

#define READ_RIGHTS (EXECUTE | READ_FILE | READ_DIR)
/* Without device nodes (MAKE_CHAR, MAKE_BLOCK) and without RESOLVE_UNIX. Sockets that the command
 * creates itself are reachable in any case. A socket of the host in the project is reachable only
 * if the policy names it. */
#define WRITE_RIGHTS                                                                                                           \
	(READ_RIGHTS | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM |        \
	 REFER | TRUNCATE)
#define DEVICE_RIGHTS (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV)

struct landlock_ruleset {
	int fd;
	uint64_t handled;
};

/* Adds one rule for a path and all below it. An absent path is skipped. `resolve` as in
 * openat2(2). */
int landlock_grant(const struct landlock_ruleset *ruleset, const char *path, uint64_t resolve, uint64_t rights,
		   struct error *err);
/* landlock_around.c: the same for reading, but excludes what the plan masks below the path. */
int landlock_grant_around(const struct landlock_ruleset *ruleset, const struct plan *plan, const char *path, struct error *err);

#endif
