/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the table into one BPF program and loads it. The program is a balanced tree over ranges
 * of system call numbers; its leaves are shared returns or entries of argument checks. libseccomp
 * only supplies numbers here: its own generator, the oracle of the tests, takes milliseconds for an
 * allow-list of this size. Never decides by memory that a pointer refers to. */
#include "linux/confine/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/confine/bpf.h"
#include "linux/stage.h"

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

enum {
	NUMBER_MAX = 512, /* above the newest number, 471 in 2026 */
	RANGE_MAX = NUMBER_MAX + 3,
	INSTRUCTION_MAX = 1024, /* of the kernel's 4096; about 200 are used, and fresh pages cost time */
	CHECK_MAX = 32,
	X32_BIT = 0x40000000,
};

struct generator {
	struct bpf_writer writer;
	struct {
		const struct filter_rule *rules;
		bpf_place entry;
	} checks[CHECK_MAX];
	unsigned check_count;
};

static bpf_place append_condition(struct bpf_writer *writer, const struct filter_condition *condition, bpf_place yes,
				  bpf_place no)
{
	/* Both architectures are little-endian: the low word comes first. */
	uint32_t low = (uint32_t)(offsetof(struct seccomp_data, args) + condition->argument * sizeof(uint64_t));

	if (condition->is_unequal) {
		bpf_place swapped = yes;
		yes = no;
		no = swapped;
	}
	yes = bpf_test(writer, low, (uint32_t)condition->mask, (uint32_t)condition->value, yes, no);
	return bpf_test(writer, low + (uint32_t)sizeof(uint32_t), (uint32_t)(condition->mask >> 32),
			(uint32_t)(condition->value >> 32), yes, no);
}

static bool has_conditions(const struct filter_rule *rule)
{
	return rule->conditions[0].mask != 0;
}

static bpf_place append_rules(struct bpf_writer *writer, const struct filter_rule *rules)
{
	const struct filter_rule *rule = rules;
	bpf_place next;

	while (has_conditions(rule))
		rule++;
	next = bpf_return(writer, rule->action);
	while (rule-- > rules) {
		bpf_place yes = bpf_return(writer, rule->action);
		for (unsigned i = FILTER_CONDITION_MAX; i-- > 0;)
			if (rule->conditions[i].mask != 0)
				yes = append_condition(writer, &rule->conditions[i], yes, next);
		next = yes;
	}
	return next;
}

static bpf_place check_entry(struct generator *generator, const struct filter_rule *rules)
{
	unsigned i;

	for (i = 0; i < generator->check_count; i++)
		if (generator->checks[i].rules == rules)
			return generator->checks[i].entry;
	if (i == CHECK_MAX) {
		generator->writer.is_full = true;
		return 0;
	}
	generator->checks[i].rules = rules;
	generator->checks[i].entry = append_rules(&generator->writer, rules);
	generator->check_count++;
	return generator->checks[i].entry;
}

static bpf_place row_entry(struct generator *generator, const struct filter_row *row, const struct filter_options *options)
{
	switch (filter_row_verdict(row, options)) {
	case FILTER_ALLOW:
		return bpf_return(&generator->writer, SECCOMP_RET_ALLOW);
	case FILTER_EPERM:
		return bpf_return(&generator->writer, SECCOMP_RET_ERRNO | EPERM);
	case FILTER_ENOSYS:
		return bpf_return(&generator->writer, SECCOMP_RET_ERRNO | ENOSYS);
	case FILTER_NOTIFY:
		return bpf_return(&generator->writer, SECCOMP_RET_USER_NOTIF);
	case FILTER_CHECK:
		return check_entry(generator, filter_row_check(row, options));
	case FILTER_KILL:
		break;
	}
	return bpf_return(&generator->writer, SECCOMP_RET_KILL_PROCESS);
}

static void add_range(struct bpf_range *ranges, unsigned *count, uint32_t first, bpf_place target)
{
	if (*count > 0 && ranges[*count - 1].target == target)
		return;
	ranges[(*count)++] = (struct bpf_range){ first, target };
}

static int fill_rows(struct generator *generator, const struct filter_options *options, const struct filter_row *rows,
		     size_t count, bpf_place *targets, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct filter_row *row = &rows[i];
		int number = filter_row_number(row, options->architecture);

		if (number == -1)
			continue;
		if (number < 0 || number >= NUMBER_MAX)
			return error_set(err, "the system-call table names `%s`, which has no number here", row->name);
		targets[number] = row_entry(generator, row, options);
	}
	return 0;
}

/* Fills the target of each number: ENOSYS if the table has no row. */
static int fill_targets(struct generator *generator, const struct filter_options *options, bpf_place *targets,
			struct error *err)
{
	bpf_place unknown = bpf_return(&generator->writer, SECCOMP_RET_ERRNO | ENOSYS);

	for (unsigned i = 0; i < NUMBER_MAX; i++)
		targets[i] = unknown;
	if (fill_rows(generator, options, filter_table, filter_table_count, targets, err) < 0)
		return -1;
	if (!options->is_landlock_tier)
		return 0;
	return fill_rows(generator, options, filter_landlock_tier_table, filter_landlock_tier_table_count, targets, err);
}

static unsigned fill_ranges(struct generator *generator, enum filter_architecture architecture, const bpf_place *targets,
			    struct bpf_range *ranges)
{
	bpf_place unknown = bpf_return(&generator->writer, SECCOMP_RET_ERRNO | ENOSYS);
	unsigned count = 0;

	for (uint32_t number = 0; number < NUMBER_MAX; number++)
		add_range(ranges, &count, number, targets[number]);
	add_range(ranges, &count, NUMBER_MAX, unknown);
	if (architecture == FILTER_X86_64) {
		add_range(ranges, &count, X32_BIT, bpf_return(&generator->writer, SECCOMP_RET_KILL_PROCESS));
		/* A tracer sets -1 to skip a call: a debugger's child must not be killed for
		 * that. */
		add_range(ranges, &count, UINT32_MAX, unknown);
	}
	return count;
}

static void append_entry(struct bpf_writer *writer, enum filter_architecture architecture, bpf_place tree)
{
	uint32_t native = architecture == FILTER_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
	bpf_place number = bpf_load(writer, offsetof(struct seccomp_data, nr), tree);

	bpf_test(writer, offsetof(struct seccomp_data, arch), UINT32_MAX, native, number,
		 bpf_return(writer, SECCOMP_RET_KILL_PROCESS));
}

static bool has_option(const struct filter_options *options, enum filter_option option)
{
	switch (option) {
	case FILTER_ALWAYS:
		break;
	case FILTER_WITH_NESTING:
		return options->has_nesting;
	case FILTER_WITH_FIXED_CPUS:
		return options->has_fixed_cpus;
	case FILTER_WITH_NETWORK_NOTIFY:
		return options->has_network_notify;
	case FILTER_WITH_EXEC_NOTIFY:
		return options->has_exec_notify;
	case FILTER_WITH_ANY_NOTIFY:
		return options->has_network_notify || options->has_exec_notify || options->has_metadata_notify ||
		       options->has_create_notify;
	case FILTER_WITH_METADATA_NOTIFY:
		return options->has_metadata_notify;
	case FILTER_WITH_CREATE_NOTIFY:
		return options->has_create_notify;
	case FILTER_WITH_GUARDING:
		return options->is_guarding;
	}
	return false;
}

enum filter_verdict filter_row_verdict(const struct filter_row *row, const struct filter_options *options)
{
	return has_option(options, row->option) ? row->with_option : row->verdict;
}

int filter_row_number(const struct filter_row *row, enum filter_architecture architecture)
{
	bool is_x86_64 = architecture == FILTER_X86_64;
	int raw = is_x86_64 ? row->raw_x86_64 : row->raw_aarch64;
	int known;

	if (raw >= 0)
		return raw;
	if (raw != -1)
		return -1;
	/* libseccomp returns a value below -1 for a name that only other architectures have. */
	known = seccomp_syscall_resolve_name_arch(is_x86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64, row->name);
	if (known >= 0)
		return known;
	return known == __NR_SCMP_ERROR ? -2 : -1;
}

int filter_build(struct arena *arena, const struct filter_options *options, struct filter_program *program, struct error *err)
{
	struct generator generator = { .check_count = 0 };
	struct bpf_range ranges[RANGE_MAX];
	bpf_place targets[NUMBER_MAX];
	unsigned count;

	generator.writer.capacity = INSTRUCTION_MAX;
	generator.writer.code = arena_alloc(arena, INSTRUCTION_MAX * sizeof *generator.writer.code);
	if (fill_targets(&generator, options, targets, err) < 0)
		return -1;
	count = fill_ranges(&generator, options->architecture, targets, ranges);
	append_entry(&generator.writer, options->architecture, bpf_tree(&generator.writer, ranges, count));
	if (generator.writer.is_full)
		return error_set(err, "the system-call filter does not fit into a BPF program");

	program->count = (unsigned short)generator.writer.count;
	program->instructions = arena_alloc(arena, program->count * sizeof *program->instructions);
	bpf_finish(&generator.writer, program->instructions);
	return 0;
}

/* Moves the fd above 0 to 2, which belong to the command even if it was started without them. */
static int above_standard(int fd, struct error *err)
{
	int moved;

	if (fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved < 0)
		error_errno(err, errno, "cannot duplicate the listener's descriptor");
	close(fd);
	return moved;
}

static int load(const struct filter_program *program, unsigned long flags, struct error *err)
{
	struct sock_fprog description = { .len = program->count, .filter = program->instructions };
	bool has_listener = flags & SECCOMP_FILTER_FLAG_NEW_LISTENER;
	long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description);

	if (result < 0) {
		error_errno(err, errno, "cannot load the system-call filter: seccomp");
		err->stage = has_listener ? STAGE_LISTENER : STAGE_FILTER;
		return -1;
	}
	return has_listener ? above_standard((int)result, err) : 0;
}

int filter_load(const struct filter_program *program, bool has_listener, struct error *err)
{
	return load(program, has_listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, err);
}

int filter_load_killable(const struct filter_program *program, struct error *err)
{
	return load(program, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, err);
}

enum filter_architecture filter_native(void)
{
#if defined(__x86_64__)
	return FILTER_X86_64;
#elif defined(__aarch64__)
	return FILTER_AARCH64;
#else
#error "no system-call table for this architecture"
#endif
}
