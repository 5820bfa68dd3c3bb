/* SPDX-License-Identifier: Apache-2.0 */
/* The attempts that only one system knows. Where it is another one they are untried. */
#ifndef BERM_COMMON_DOCTOR_ATTEMPTS_KERNEL_H
#define BERM_COMMON_DOCTOR_ATTEMPTS_KERNEL_H

#include "common/doctor/doctor.h"

int attempt_abstract(const struct doctor_world *world);
int attempt_namespace(const struct doctor_world *world);
int attempt_keyring(const struct doctor_world *world);
int attempt_userfaultfd(const struct doctor_world *world);
int attempt_io_uring(const struct doctor_world *world);
int attempt_perf(const struct doctor_world *world);
int attempt_bpf(const struct doctor_world *world);
int attempt_privileges(const struct doctor_world *world);
int attempt_capabilities(const struct doctor_world *world);

/* The name of the abstract socket, without its leading NUL. */
#define ATTEMPT_ABSTRACT_PREFIX "berm-doctor-"

#endif
