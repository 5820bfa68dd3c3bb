/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the table into one BPF program and loads it. The program is a balanced tree over the ranges of the system call's number;
 * leaves are shared returns or the entry of an argument check. It is written backwards, last instruction first: BPF only jumps
 * forward, so every target exists before what jumps to it. libseccomp only tells numbers here; its own generator takes
 * milliseconds for an allow-list of this size (it is the oracle of the tests). Never decides by what a pointer points to. */
#include "linux/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3)
#endif

enum {
	NUMBER_MAX = 512, /* above the newest number (471 in 2026) */
	RANGE_MAX = NUMBER_MAX + 3,
	INSTRUCTION_MAX = 1024, /* the kernel takes 4096; about 200 are used, and fresh pages cost time */
	JUMP_MAX = 255, /* conditional jumps hold 8 bits */
	RETURN_MAX = 16,
	CHECK_MAX = 32,
	X32_BIT = 0x40000000,
};

/* An instruction by its distance from the program's end; grows as the program grows towards its start. */
typedef uint16_t place;

struct generator {
	struct sock_filter code[INSTRUCTION_MAX]; /* backwards */
	unsigned count;
	bool is_full;
	struct {
		uint32_t action;
		place newest; /* the copy that is nearest to the start */
	} returns[RETURN_MAX];
	unsigned return_count;
	struct {
		const struct filter_rule *rules;
		place entry;
	} checks[CHECK_MAX];
	unsigned check_count;
};

struct range {
	uint32_t first;
	place target;
};

static place append(struct generator *generator, struct sock_filter instruction)
{
	if (generator->count == INSTRUCTION_MAX) {
		generator->is_full = true;
		return 0;
	}
	generator->code[generator->count] = instruction;
	return (place)generator->count++;
}

static place append_return(struct generator *generator, uint32_t action)
{
	place result = append(generator, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));

	for (unsigned i = 0; i < generator->return_count; i++) {
		if (generator->returns[i].action == action) {
			generator->returns[i].newest = result;
			return result;
		}
	}
	if (generator->return_count == RETURN_MAX) {
		generator->is_full = true;
		return result;
	}
	generator->returns[generator->return_count].action = action;
	generator->returns[generator->return_count++].newest = result;
	return result;
}

/* The one return for this action; made on first use. */
static place shared_return(struct generator *generator, uint32_t action)
{
	for (unsigned i = 0; i < generator->return_count; i++)
		if (generator->returns[i].action == action)
			return generator->returns[i].newest;
	return append_return(generator, action);
}

static bool is_near(const struct generator *generator, place target)
{
	/* The jump itself comes after at most two helpers of its own (see append_jump). */
	return generator->count + 1 - target <= JUMP_MAX;
}

/* A place that does the same as target and can be reached by a conditional jump: a copy of a return, or a long jump. */
static place bring_near(struct generator *generator, place target)
{
	const struct sock_filter *instruction = &generator->code[target];

	if (is_near(generator, target))
		return target;
	if (instruction->code == (BPF_RET | BPF_K)) {
		place copy = shared_return(generator, instruction->k);
		return is_near(generator, copy) ? copy : append_return(generator, instruction->k);
	}
	return append(generator, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, generator->count - target - 1));
}

static place append_jump(struct generator *generator, unsigned short comparison, uint32_t value, place yes, place no)
{
	unsigned here;

	if (yes == no)
		return yes;
	yes = bring_near(generator, yes);
	no = bring_near(generator, no);
	here = generator->count;
	return append(generator, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, value, (uint8_t)(here - yes - 1),
							      (uint8_t)(here - no - 1)));
}

/* A statement runs into what follows it, which is what was appended just before. */
static place append_statement(struct generator *generator, unsigned short code, uint32_t value, place next)
{
	if (next != (place)(generator->count - 1))
		append(generator, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, generator->count - next - 1));
	return append(generator, (struct sock_filter)BPF_STMT(code, value));
}

/* (word & mask) == value */
static place append_word_test(struct generator *generator, uint32_t offset, uint32_t mask, uint32_t value, place yes, place no)
{
	place test;

	if (yes == no || mask == 0)
		return yes;
	if (mask == UINT32_MAX) {
		test = append_jump(generator, BPF_JEQ, value, yes, no);
	} else if (value == 0) {
		test = append_jump(generator, BPF_JSET, mask, no, yes);
	} else {
		test = append_jump(generator, BPF_JEQ, value, yes, no);
		test = append_statement(generator, BPF_ALU | BPF_AND | BPF_K, mask, test);
	}
	return append_statement(generator, BPF_LD | BPF_W | BPF_ABS, offset, test);
}

static place append_condition(struct generator *generator, const struct filter_condition *condition, place yes, place no)
{
	/* Both architectures are little-endian: the low word comes first. */
	uint32_t low = (uint32_t)(offsetof(struct seccomp_data, args) + condition->argument * sizeof(uint64_t));

	if (condition->is_unequal) {
		place swapped = yes;
		yes = no;
		no = swapped;
	}
	yes = append_word_test(generator, low, (uint32_t)condition->mask, (uint32_t)condition->value, yes, no);
	return append_word_test(generator, low + (uint32_t)sizeof(uint32_t), (uint32_t)(condition->mask >> 32),
				(uint32_t)(condition->value >> 32), yes, no);
}

static bool has_conditions(const struct filter_rule *rule)
{
	return rule->conditions[0].mask != 0;
}

static place append_rules(struct generator *generator, const struct filter_rule *rules)
{
	const struct filter_rule *rule = rules;
	place next;

	while (has_conditions(rule))
		rule++;
	next = shared_return(generator, rule->action);
	while (rule-- > rules) {
		place yes = shared_return(generator, rule->action);
		for (unsigned i = FILTER_CONDITION_MAX; i-- > 0;)
			if (rule->conditions[i].mask != 0)
				yes = append_condition(generator, &rule->conditions[i], yes, next);
		next = yes;
	}
	return next;
}

static place check_entry(struct generator *generator, const struct filter_rule *rules)
{
	unsigned i;

	for (i = 0; i < generator->check_count; i++)
		if (generator->checks[i].rules == rules)
			return generator->checks[i].entry;
	if (i == CHECK_MAX) {
		generator->is_full = true;
		return 0;
	}
	generator->checks[i].rules = rules;
	generator->checks[i].entry = append_rules(generator, rules);
	generator->check_count++;
	return generator->checks[i].entry;
}

static place verdict_entry(struct generator *generator, const struct filter_row *row, enum filter_verdict verdict)
{
	switch (verdict) {
	case FILTER_ALLOW:
		return shared_return(generator, SECCOMP_RET_ALLOW);
	case FILTER_EPERM:
		return shared_return(generator, SECCOMP_RET_ERRNO | EPERM);
	case FILTER_ENOSYS:
		return shared_return(generator, SECCOMP_RET_ERRNO | ENOSYS);
	case FILTER_NOTIFY:
		return shared_return(generator, SECCOMP_RET_USER_NOTIF);
	case FILTER_CHECK:
		return check_entry(generator, row->check);
	case FILTER_KILL:
		break;
	}
	return shared_return(generator, SECCOMP_RET_KILL_PROCESS);
}

static place append_tree(struct generator *generator, const struct range *ranges, unsigned count)
{
	unsigned middle = count / 2;
	place high, low;

	if (count == 1)
		return ranges[0].target;
	high = append_tree(generator, ranges + middle, count - middle);
	low = append_tree(generator, ranges, middle);
	return append_jump(generator, BPF_JGE, ranges[middle].first, high, low);
}

static void add_range(struct range *ranges, unsigned *count, uint32_t first, place target)
{
	if (*count > 0 && ranges[*count - 1].target == target)
		return;
	ranges[(*count)++] = (struct range){ first, target };
}

/* What each number leads to, by number; ENOSYS where the table has no row. */
static int fill_targets(struct generator *generator, const struct filter_options *options, place *targets, struct error *err)
{
	place unknown = shared_return(generator, SECCOMP_RET_ERRNO | ENOSYS);

	for (unsigned i = 0; i < NUMBER_MAX; i++)
		targets[i] = unknown;
	for (size_t i = 0; i < filter_table_count; i++) {
		const struct filter_row *row = &filter_table[i];
		int number = filter_row_number(row, options->architecture);

		if (number == -1)
			continue;
		if (number < 0 || number >= NUMBER_MAX)
			return error_set(err, "the system-call table names `%s`, which has no number here", row->name);
		targets[number] = verdict_entry(generator, row, filter_row_verdict(row, options));
	}
	return 0;
}

static unsigned fill_ranges(struct generator *generator, enum filter_architecture architecture, const place *targets,
			    struct range *ranges)
{
	place unknown = shared_return(generator, SECCOMP_RET_ERRNO | ENOSYS);
	unsigned count = 0;

	for (uint32_t number = 0; number < NUMBER_MAX; number++)
		add_range(ranges, &count, number, targets[number]);
	add_range(ranges, &count, NUMBER_MAX, unknown);
	if (architecture == FILTER_X86_64) {
		add_range(ranges, &count, X32_BIT, shared_return(generator, SECCOMP_RET_KILL_PROCESS));
		/* -1 is how a tracer says "skip this call": no reason to kill a debugger's child. */
		add_range(ranges, &count, UINT32_MAX, unknown);
	}
	return count;
}

static void append_entry(struct generator *generator, enum filter_architecture architecture, place tree)
{
	uint32_t native = architecture == FILTER_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
	place number = append_statement(generator, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), tree);
	place test = append_jump(generator, BPF_JEQ, native, number, shared_return(generator, SECCOMP_RET_KILL_PROCESS));

	append_statement(generator, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), test);
}

static bool has_option(const struct filter_options *options, enum filter_option option)
{
	switch (option) {
	case FILTER_ALWAYS:
		break;
	case FILTER_WITH_NESTING:
		return options->has_nesting;
	case FILTER_WITH_NETWORK_NOTIFY:
		return options->has_network_notify;
	case FILTER_WITH_EXEC_NOTIFY:
		return options->has_exec_notify;
	case FILTER_WITH_ANY_NOTIFY:
		return options->has_network_notify || options->has_exec_notify;
	case FILTER_WITH_RAW_FAMILIES:
		return options->has_raw_families;
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
	/* Below -1 libseccomp means: a name that only other architectures have. */
	known = seccomp_syscall_resolve_name_arch(is_x86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64, row->name);
	if (known >= 0)
		return known;
	return known == __NR_SCMP_ERROR ? -2 : -1;
}

int filter_build(struct arena *arena, const struct filter_options *options, struct filter_program *program, struct error *err)
{
	struct generator *generator = arena_alloc(arena, sizeof *generator);
	struct range *ranges = arena_alloc(arena, RANGE_MAX * sizeof *ranges);
	place targets[NUMBER_MAX];
	unsigned count;

	if (fill_targets(generator, options, targets, err) < 0)
		return -1;
	count = fill_ranges(generator, options->architecture, targets, ranges);
	append_entry(generator, options->architecture, append_tree(generator, ranges, count));
	if (generator->is_full)
		return error_set(err, "the system-call filter does not fit into a BPF program");

	program->count = (unsigned short)generator->count;
	program->instructions = arena_alloc(arena, generator->count * sizeof *program->instructions);
	for (unsigned i = 0; i < generator->count; i++)
		program->instructions[i] = generator->code[generator->count - 1 - i];
	return 0;
}

static int explain_refusal(int number, struct error *err)
{
	error_errno(err, number, "cannot load the system-call filter: seccomp");
	if (number == EBUSY)
		error_hint(err,
			   "a supervisor outside (a container runtime, WSL) already listens, and the kernel allows only one");
	else if (number == EACCES)
		error_hint(err, "no_new_privs is not set");
	else if (number == ENOSYS || number == EINVAL)
		error_hint(
			err,
			"this kernel has no seccomp filters (CONFIG_SECCOMP_FILTER), or none with notification (before 5.0)");
	return -1;
}

/* Descriptors 0 to 2 belong to the command, even if it was started without them. */
static int above_standard(int fd, struct error *err)
{
	int moved;

	if (fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved < 0)
		error_errno(err, errno, "cannot move the listener's descriptor");
	close(fd);
	return moved;
}

int filter_load(const struct filter_program *program, bool has_listener, struct error *err)
{
	struct sock_fprog description = { .len = program->count, .filter = program->instructions };
	unsigned long flags = has_listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &description);

	if (result < 0)
		return explain_refusal(errno, err);
	return has_listener ? above_standard((int)result, err) : 0;
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
