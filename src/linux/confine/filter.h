/* SPDX-License-Identifier: Apache-2.0 */
/* The system-call filter: one table of classes becomes one BPF program. An allow-list: numbers the table does not know fail with
 * ENOSYS (programs fall back), known dangerous ones with EPERM, foreign architectures and x32 are killed. One filter carries
 * everything that is notified, because the kernel allows a single listener per process tree. */
#ifndef BERM_LINUX_CONFINE_FILTER_H
#define BERM_LINUX_CONFINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* The kernel's header of this name: ours stands before it in the search path. */
#include_next <linux/filter.h>

#include "common/base/arena.h"
#include "common/base/error.h"

enum filter_architecture { FILTER_X86_64, FILTER_AARCH64 };

enum filter_verdict {
	FILTER_ALLOW,
	FILTER_EPERM,
	FILTER_ENOSYS,
	FILTER_CHECK, /* decided by its arguments: see the table */
	FILTER_NOTIFY,
	FILTER_KILL,
};

struct filter_options {
	enum filter_architecture architecture;
	bool has_nesting; /* namespaces may be made inside */
	bool has_fixed_cpus; /* the processors that the command may use are chosen: it cannot choose others */
	bool has_network_notify; /* connect, bind, listen go to the supervisor; fast open is refused */
	bool has_exec_notify;
	bool has_raw_families; /* only for tests of the table: never set by a plan */
	/* Tier landlock: no namespace stands behind the filter, which then has to keep other processes, shared memory and sockets of the
	 * host away (filter_alone.c). */
	bool is_alone;
	bool has_internet, has_unix; /* alone: which sockets may be made at all */
	bool has_metadata_notify; /* alone: what changes modes, owners, times and attributes goes to init */
};

struct filter_program {
	struct sock_filter *instructions;
	unsigned short count;
};

/* What a row or a rule of a check depends on: one of the options above. */
enum filter_option {
	FILTER_ALWAYS,
	FILTER_WITH_NESTING,
	FILTER_WITH_FIXED_CPUS,
	FILTER_WITH_NETWORK_NOTIFY,
	FILTER_WITH_EXEC_NOTIFY,
	FILTER_WITH_ANY_NOTIFY,
	FILTER_WITH_RAW_FAMILIES,
	FILTER_WITH_METADATA_NOTIFY,
};

/* (argument & mask) == value, or != with is_unequal. The mask says which bits the kernel looks at: bits above an int are junk to
 * it, so they must not decide here either. mask 0: no condition. */
struct filter_condition {
	uint8_t argument;
	bool is_unequal;
	uint64_t mask, value;
};

/* All conditions hold: action, a SECCOMP_RET_ value. A check is a list of rules; the first that matches decides, and the last one
 * has no conditions. */
enum { FILTER_CONDITION_MAX = 3 };
struct filter_rule {
	uint32_t action;
	struct filter_condition conditions[FILTER_CONDITION_MAX];
};

/* One row of the table, for `berm plan -v`, the man page and tests. */
struct filter_row {
	const char *name; /* system call */
	int raw_x86_64,
		raw_aarch64; /* number where libseccomp may not know the name; -1: ask libseccomp; -2: does not exist there */
	enum filter_verdict verdict;
	const char *class_name; /* "files", "memory", "dangerous: kernel modules", ... */
	const struct filter_rule *check; /* for FILTER_CHECK, else NULL */
	enum filter_option option; /* with this option the verdict is with_option instead */
	enum filter_verdict with_option;
};
extern const struct filter_row filter_table[];
extern const size_t filter_table_count;

/* filter_alone.c: rows that take the place of those of the same name when the filter stands alone. */
extern const struct filter_row filter_alone_table[];
extern const size_t filter_alone_table_count;
/* The check of a row of either table under these options: sockets depend on two of them. */
const struct filter_rule *filter_row_check(const struct filter_row *row, const struct filter_options *options);

/* The row's verdict under these options. */
enum filter_verdict filter_row_verdict(const struct filter_row *row, const struct filter_options *options);
/* The row's number; -1 if the architecture does not have it, -2 if libseccomp does not know the name (a mistake in the table). */
int filter_row_number(const struct filter_row *row, enum filter_architecture architecture);

int filter_build(struct arena *arena, const struct filter_options *options, struct filter_program *program, struct error *err);
/* Loads into the calling thread (no_new_privs must be set). Returns the listener's fd if the program notifies, 0 if not, -1. */
int filter_load(const struct filter_program *program, bool has_listener, struct error *err);
enum filter_architecture filter_native(void);

/* How a process knows that it is behind the filter of the tier landlock, where berm puts no file into the view: a request that no device
 * has, on no descriptor, fails with a number that the kernel has no use for. Variables and arguments cannot make that so. */
enum { FILTER_MARK_REQUEST = 0x6265726d, FILTER_MARK_ERRNO = 73 /* EDOTDOT */ };
bool filter_is_marked(void);

#endif
