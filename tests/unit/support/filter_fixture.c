/* SPDX-License-Identifier: Apache-2.0 */
/* See filter_fixture.h. */
#include "unit/support/filter_fixture.h"

#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const enum filter_architecture filter_fixture_architectures[ARCHITECTURES] = { FILTER_X86_64, FILTER_AARCH64 };
const uint32_t filter_fixture_audit[ARCHITECTURES] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64 };
const uint32_t filter_fixture_seccomp[ARCHITECTURES] = { SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64 };
const char *const filter_fixture_names[ARCHITECTURES] = { "x86_64", "aarch64" };

struct filter_options filter_fixture_options(unsigned architecture, unsigned set)
{
	return (struct filter_options){ .architecture = filter_fixture_architectures[architecture],
					.has_nesting = set & 1,
					.has_network_notify = set & 2,
					.has_exec_notify = set & 4,
					.has_fixed_cpus = set & 4 };
}

struct filter_program filter_fixture_programs[ARCHITECTURES][OPTION_SETS];
static uint32_t random_state = 1;

uint64_t filter_fixture_random(void)
{
	uint64_t result = 0;
	for (int i = 0; i < 4; i++) {
		random_state = random_state * 1664525 + 1013904223;
		result = result << 16 | random_state >> 16;
	}
	return result;
}

uint32_t filter_fixture_run(unsigned architecture, unsigned set, uint32_t number, const uint64_t arguments[6])
{
	const struct filter_program *program = &filter_fixture_programs[architecture][set];
	struct seccomp_data data = { .nr = (int)number, .arch = filter_fixture_audit[architecture] };

	memcpy(data.args, arguments, sizeof data.args);
	return bpf_simulator_run(program->instructions, program->count, &data, NULL);
}

const struct filter_row *filter_fixture_row(const char *name)
{
	for (size_t i = 0; i < filter_table_count; i++)
		if (strcmp(filter_table[i].name, name) == 0)
			return &filter_table[i];
	return NULL;
}

uint32_t filter_fixture_action(enum filter_verdict verdict)
{
	switch (verdict) {
	case FILTER_ALLOW:
		return ALLOW;
	case FILTER_EPERM:
		return FAIL_WITH(EPERM);
	case FILTER_ENOSYS:
		return FAIL_WITH(ENOSYS);
	case FILTER_NOTIFY:
		return NOTIFY;
	case FILTER_KILL:
		return KILL;
	case FILTER_CHECK:
		break;
	}
	return 0; /* depends on the arguments */
}

static double microseconds_since(const struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) * 1e6 + (double)(now.tv_nsec - start->tv_nsec) / 1e3;
}

void filter_fixture_build(struct arena *arena)
{
	for (unsigned a = 0; a < ARCHITECTURES; a++)
		for (unsigned set = 0; set < OPTION_SETS; set++) {
			struct filter_options options = filter_fixture_options(a, set);
			struct filter_program *program = &filter_fixture_programs[a][set];
			struct error err = { 0 };
			struct timespec start;
			double taken;

			clock_gettime(CLOCK_MONOTONIC, &start);
			if (filter_build(arena, &options, program, &err) < 0) {
				fprintf(stderr, "%s\n", err.message);
				exit(1);
			}
			taken = microseconds_since(&start);
			if (set == 0 || set == OPTION_SETS - 1)
				printf("%s, options %u: %u instructions, built in %.0f us\n", filter_fixture_names[a], set,
				       program->count, taken);
		}
}
