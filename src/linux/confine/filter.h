/* SPDX-License-Identifier: Apache-2.0 */
/* The system-call filter: one table of classes becomes one BPF program.
 *
 * It is an allow-list. Unknown numbers fail with ENOSYS, so that programs fall back; known
 * dangerous calls fail with EPERM. Foreign architectures and x32 are killed. One filter carries all
 * notifications, because the kernel allows a single listener per process tree. */
#ifndef BERM_LINUX_CONFINE_FILTER_H
#define BERM_LINUX_CONFINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/filter.h>

#include "common/base/arena.h"
#include "common/base/error.h"

enum filter_architecture { FILTER_X86_64, FILTER_AARCH64 };

enum filter_verdict {
	FILTER_ALLOW,
	FILTER_EPERM,
	FILTER_ENOSYS,
	FILTER_CHECK, /* the arguments decide: see the table */
	FILTER_NOTIFY,
	FILTER_KILL,
};

struct filter_options {
	enum filter_architecture architecture;
	bool has_nesting; /* namespaces may be created inside */
	bool has_fixed_cpus; /* the command cannot change its CPU affinity */
	bool has_network_notify; /* connect, bind, listen notify the supervisor; fast open is refused */
	bool has_exec_notify;
	/* There are no namespaces in the landlock tier. The filter then has to deny access to the
	 * host's processes, shared memory and sockets (filter_landlock_tier.c). */
	bool is_landlock_tier;
	bool has_internet, has_unix; /* landlock tier: which sockets may be created */
	/* Calls that make a name notify init's deputy (linux/guard). */
	bool has_create_notify;
	/* The filter of an init that serves these calls: it may take rulesets of the callers. */
	bool is_guarding;
	/* Landlock tier: calls that change modes, owners, times and attributes notify init. */
	bool has_metadata_notify;
};

struct filter_program {
	struct sock_filter *instructions;
	unsigned short count;
};

/* The option on which a row depends. */
enum filter_option {
	FILTER_ALWAYS,
	FILTER_WITH_NESTING,
	FILTER_WITH_FIXED_CPUS,
	FILTER_WITH_NETWORK_NOTIFY,
	FILTER_WITH_EXEC_NOTIFY,
	FILTER_WITH_ANY_NOTIFY,
	FILTER_WITH_METADATA_NOTIFY,
	FILTER_WITH_CREATE_NOTIFY,
	FILTER_WITH_GUARDING,
};

/* (argument & mask) == value, or != with is_unequal. The mask has the bits that the kernel reads:
 * it ignores those above an int, so they must not decide here either. mask 0: no condition. */
struct filter_condition {
	uint8_t argument;
	bool is_unequal;
	uint64_t mask, value;
};

/* If all conditions hold, the result is `action`, a SECCOMP_RET_ value. A check is a list of rules:
 * the first that matches decides, and the last has no conditions. */
enum { FILTER_CONDITION_MAX = 3 };
struct filter_rule {
	uint32_t action;
	struct filter_condition conditions[FILTER_CONDITION_MAX];
};

/* One row of the table, for `berm plan -v`, the man page and tests. */
struct filter_row {
	const char *name; /* system call */
	/* The number if libseccomp may not know the name; -1: ask libseccomp; -2: there is no such
	 * call. */
	int raw_x86_64, raw_aarch64;
	enum filter_verdict verdict;
	const char *class_name; /* "files", "memory", "dangerous: kernel modules", ... */
	const struct filter_rule *check; /* for FILTER_CHECK, else NULL */
	enum filter_option option; /* with this option the verdict is with_option instead */
	enum filter_verdict with_option;
};
extern const struct filter_row filter_table[];
extern const size_t filter_table_count;

/* filter_landlock_tier.c: rows that replace those of the same name in the landlock tier. */
extern const struct filter_row filter_landlock_tier_table[];
extern const size_t filter_landlock_tier_table_count;
/* Returns the check of a row of either table under these options. That of `socket` depends on
 * two. */
const struct filter_rule *filter_row_check(const struct filter_row *row, const struct filter_options *options);

/* Returns the row's verdict under these options. */
enum filter_verdict filter_row_verdict(const struct filter_row *row, const struct filter_options *options);
/* Returns the row's number; -1 if the architecture does not have the call; -2 if libseccomp does
 * not know the name, which is a mistake in the table. */
int filter_row_number(const struct filter_row *row, enum filter_architecture architecture);

/* Generates the program in the arena. */
int filter_build(struct arena *arena, const struct filter_options *options, struct filter_program *program, struct error *err);
/* Loads the program into the calling thread; no_new_privs must be set. Returns the listener's fd
 * with has_listener, which the caller closes, else 0; -1 on failure. */
int filter_load(const struct filter_program *program, bool has_listener, struct error *err);
/* The same with a listener; only a fatal signal interrupts a caller whose notification was received
 * (5.19). -1 with err->number EBUSY: an outer sandbox has the listener. */
int filter_load_killable(const struct filter_program *program, struct error *err);
enum filter_architecture filter_native(void);

/* A process detects the filter of the landlock tier, in which there is no view to put a file into,
 * by an ioctl that no device knows, on fd -1. Under the filter it fails with an errno that the
 * kernel does not use. Neither variables nor arguments can fake that. */
enum { FILTER_MARK_REQUEST = 0x6265726d, FILTER_MARK_ERRNO = 73 /* EDOTDOT */ };
/* True if the caller runs under that filter. */
bool filter_is_marked(void);

#endif
