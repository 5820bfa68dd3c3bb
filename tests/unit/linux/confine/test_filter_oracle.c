/* SPDX-License-Identifier: Apache-2.0 */
/* libseccomp's generator as the oracle: it builds programs from the same table, which have to agree
 * with ours on every number and on thousands of arguments near those in the rules. */
#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "greatest.h"
#include "unit/support/filter_fixture.h"

static struct arena arena;

struct oracle {
	struct sock_filter code[BPF_MAXINSNS];
	size_t count;
};

static bool export_oracle(scmp_filter_ctx context, struct oracle *oracle)
{
	int fd = memfd_create("oracle", MFD_CLOEXEC);
	ssize_t size;

	if (fd < 0 || seccomp_export_bpf(context, fd) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		return false;
	size = read(fd, oracle->code, sizeof oracle->code);
	close(fd);
	seccomp_release(context);
	oracle->count = size > 0 ? (size_t)size / sizeof *oracle->code : 0;
	return bpf_simulator_refusal(oracle->code, oracle->count) == NULL;
}

static scmp_filter_ctx start_oracle(unsigned architecture, uint32_t action)
{
	scmp_filter_ctx context = seccomp_init(action);

	if (seccomp_arch_native() != filter_fixture_seccomp[architecture]) {
		seccomp_arch_remove(context, SCMP_ARCH_NATIVE);
		seccomp_arch_add(context, filter_fixture_seccomp[architecture]);
	}
	seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	return context;
}

enum { CHECKED = 0xbe }; /* in the oracle for numbers: the arguments decide */

/* libseccomp takes the native architecture's numbers and translates them. So names that it does not
 * know can be tested for the native architecture only. is_covered marks the numbers for which the
 * oracle is valid. */
static bool make_number_oracle(unsigned architecture, const struct filter_options *options, struct oracle *oracle,
			       bool is_covered[1024])
{
	scmp_filter_ctx context = start_oracle(architecture, SCMP_ACT_ERRNO(ENOSYS));
	bool is_native = options->architecture == filter_native();

	memset(is_covered, true, 1024 * sizeof *is_covered);
	for (size_t i = 0; i < filter_table_count; i++) {
		const struct filter_row *row = &filter_table[i];
		int number = filter_row_number(row, options->architecture);
		int own = is_native ? number : seccomp_syscall_resolve_name(row->name);
		enum filter_verdict verdict = filter_row_verdict(row, options);
		uint32_t action = verdict == FILTER_CHECK ? SCMP_ACT_TRACE(CHECKED) : filter_fixture_action(verdict);

		if (number < 0 || verdict == FILTER_ENOSYS)
			continue;
		if (own == __NR_SCMP_ERROR)
			is_covered[number] = false;
		else if (seccomp_rule_add_exact(context, action, own, 0) != 0)
			return false;
	}
	return export_oracle(context, oracle);
}

/* Compiles one condition with libseccomp, for call number 0: allowed if (argument & mask) ==
 * value. */
static bool make_condition_oracle(const struct filter_condition *condition, struct oracle *oracle)
{
	scmp_filter_ctx context = start_oracle(0, SCMP_ACT_ERRNO(1));
	struct scmp_arg_cmp comparison = SCMP_CMP64(condition->argument, SCMP_CMP_MASKED_EQ, condition->mask, condition->value);

	if (seccomp_rule_add_exact_array(context, SCMP_ACT_ALLOW, 0, 1, &comparison) != 0)
		return false;
	return export_oracle(context, oracle);
}

enum { ORACLE_MAX = 64 };
static struct oracle condition_oracles[ORACLE_MAX];

static unsigned make_check_oracles(const struct filter_rule *rules)
{
	unsigned count = 0;

	for (const struct filter_rule *rule = rules; rule->conditions[0].mask != 0; rule++)
		for (unsigned i = 0; i < FILTER_CONDITION_MAX && rule->conditions[i].mask != 0; i++)
			if (count == ORACLE_MAX || !make_condition_oracle(&rule->conditions[i], &condition_oracles[count++]))
				return 0;
	return count;
}

static uint32_t ask_check_oracles(const struct filter_rule *rules, const uint64_t arguments[6])
{
	struct seccomp_data data = { .nr = 0, .arch = AUDIT_ARCH_X86_64 };
	const struct filter_rule *rule = rules;
	unsigned next = 0;

	memcpy(data.args, arguments, sizeof data.args);
	for (; rule->conditions[0].mask != 0; rule++) {
		bool is_match = true;

		for (unsigned i = 0; i < FILTER_CONDITION_MAX && rule->conditions[i].mask != 0; i++) {
			const struct oracle *oracle = &condition_oracles[next++];
			bool is_equal = bpf_simulator_run(oracle->code, oracle->count, &data, NULL) == ALLOW;
			is_match = is_match && is_equal != rule->conditions[i].is_unequal;
		}
		if (is_match)
			return rule->action;
	}
	return rule->action;
}

/* Values near those in the rules, with and without noise in every part. */
static uint64_t interesting_value(const struct filter_rule *rules, unsigned argument)
{
	uint64_t value = filter_fixture_random() % 3 == 0 ? filter_fixture_random() : filter_fixture_random() % 300;
	unsigned skip = (unsigned)(filter_fixture_random() % 16);

	for (unsigned round = 0; round < 16; round++)
		for (const struct filter_rule *rule = rules; rule->conditions[0].mask != 0; rule++)
			for (unsigned i = 0; i < FILTER_CONDITION_MAX && rule->conditions[i].mask != 0; i++) {
				const struct filter_condition *condition = &rule->conditions[i];

				if (condition->argument != argument || skip-- > 0)
					continue;
				switch (filter_fixture_random() % 5) {
				case 0:
					return condition->value;
				case 1:
					return condition->value | HIGH;
				case 2:
					return condition->value | (filter_fixture_random() & ~condition->mask);
				case 3:
					return condition->value ^ (UINT64_C(1) << (filter_fixture_random() % 64));
				default:
					return condition->mask & filter_fixture_random();
				}
			}
	return value;
}

/* Besides the low numbers: x32, the end of the range, and -1. */
static uint32_t nth_number(uint32_t i)
{
	if (i < 1024)
		return i;
	return i < 1100 ? 0x40000000 + i - 1024 : 0xffffff00 + i - 1100;
}

TEST libseccomp_agrees_about_every_number(void)
{
	static struct oracle oracle;
	bool is_covered[1024];
	unsigned compared = 0;

	for (unsigned a = 0; a < ARCHITECTURES; a++)
		for (unsigned set = 0; set < OPTION_SETS; set++) {
			struct filter_options options = filter_fixture_options(a, set);

			ASSERT(make_number_oracle(a, &options, &oracle, is_covered));
			for (uint32_t i = 0; i < 1100 + 256; i++) {
				struct seccomp_data data = { .nr = (int)nth_number(i), .arch = filter_fixture_audit[a] };
				uint32_t expected = bpf_simulator_run(oracle.code, oracle.count, &data, NULL);

				if (expected == SCMP_ACT_TRACE(CHECKED) || (i < 1024 && !is_covered[i]))
					continue;
				ASSERT_EQ(expected, filter_fixture_run(a, set, nth_number(i), (const uint64_t[6]){ 0 }));
				compared++;
			}
		}
	ASSERT(compared > ARCHITECTURES * OPTION_SETS * 1200);
	PASS();
}

TEST libseccomp_agrees_about_every_argument(void)
{
	enum { ROUNDS = 4000 };
	unsigned seen[2] = { 0, 0 };

	for (size_t i = 0; i < filter_table_count; i++) {
		const struct filter_row *row = &filter_table[i];

		if (!row->check)
			continue;
		ASSERT(make_check_oracles(row->check) > 0);
		for (unsigned round = 0; round < ROUNDS; round++) {
			unsigned a = round % ARCHITECTURES, set = (unsigned)(filter_fixture_random() % OPTION_SETS);
			struct filter_options options = filter_fixture_options(a, set);
			int number = filter_row_number(row, filter_fixture_architectures[a]);
			uint64_t arguments[6];
			uint32_t expected;

			if (number < 0 || filter_row_verdict(row, &options) != FILTER_CHECK)
				continue;
			for (unsigned k = 0; k < 6; k++)
				arguments[k] = interesting_value(row->check, k);
			expected = ask_check_oracles(row->check, arguments);
			seen[expected == ALLOW]++;
			ASSERT_EQ(expected, filter_fixture_run(a, set, (uint32_t)number, arguments));
		}
	}
	/* Both results occurred often enough to be conclusive. */
	ASSERT(seen[0] > 1000 && seen[1] > 1000);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	filter_fixture_build(&arena);
	RUN_TEST(libseccomp_agrees_about_every_number);
	RUN_TEST(libseccomp_agrees_about_every_argument);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
