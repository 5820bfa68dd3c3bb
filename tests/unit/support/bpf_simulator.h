/* SPDX-License-Identifier: Apache-2.0 */
/* Runs seccomp BPF programs without a kernel, with the kernel's own rules about what a program may
 * contain. */
#ifndef BERM_TESTS_BPF_SIMULATOR_H
#define BERM_TESTS_BPF_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/seccomp.h>

#include "linux/confine/filter.h"

/* Why the kernel would refuse the program, or NULL: unknown instructions, loads outside struct
 * seccomp_data, jumps out of the program, a last instruction that is not a return. */
const char *bpf_simulator_refusal(const struct sock_filter *program, size_t count);
/* The returned SECCOMP_RET_ value. The program must not be refusable; aborts if it is. steps may be
 * NULL. */
uint32_t bpf_simulator_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data, unsigned *steps);

#endif
