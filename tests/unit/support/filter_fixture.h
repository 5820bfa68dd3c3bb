/* SPDX-License-Identifier: Apache-2.0 */
/* Every filter that a plan can ask for, for both architectures, ready to be run in the
 * simulator. */
#ifndef BERM_TESTS_FILTER_FIXTURE_H
#define BERM_TESTS_FILTER_FIXTURE_H

#include <stdint.h>

#include "unit/support/bpf_simulator.h"
#include "linux/confine/filter.h"

#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define KILL SECCOMP_RET_KILL_PROCESS
#define FAIL_WITH(number) (SECCOMP_RET_ERRNO | (number))
#define HIGH UINT64_C(0xdeadbeef00000000) /* junk above an int */

enum { ARCHITECTURES = 2, OPTION_SETS = 8 };

extern const enum filter_architecture filter_fixture_architectures[ARCHITECTURES];
extern const uint32_t filter_fixture_audit[ARCHITECTURES]; /* AUDIT_ARCH_ */
extern const uint32_t filter_fixture_seccomp[ARCHITECTURES]; /* SCMP_ARCH_ */
extern const char *const filter_fixture_names[ARCHITECTURES];

extern struct filter_program filter_fixture_programs[ARCHITECTURES][OPTION_SETS];

/* The set's bits: 1 nesting, 2 network notified, 4 exec notified and processors fixed. */
struct filter_options filter_fixture_options(unsigned architecture, unsigned set);
/* Builds all programs; prints size and time; exits if one cannot be built. */
void filter_fixture_build(struct arena *arena);
uint32_t filter_fixture_run(unsigned architecture, unsigned set, uint32_t number, const uint64_t arguments[6]);
const struct filter_row *filter_fixture_row(const char *name);
/* What a verdict is as a SECCOMP_RET_ value; 0 for FILTER_CHECK. */
uint32_t filter_fixture_action(enum filter_verdict verdict);
/* The same sequence in every run. */
uint64_t filter_fixture_random(void);

#endif
