/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a seccomp BPF program backwards, last instruction first. BPF only jumps forward, so every
 * target exists before the jump to it. Targets may be at any distance, although a conditional jump
 * holds 8 bits. Knows nothing about system calls. */
#ifndef BERM_LINUX_CONFINE_BPF_H
#define BERM_LINUX_CONFINE_BPF_H

#include <stdbool.h>
#include <stdint.h>

#include "linux/confine/filter.h"

/* An instruction's distance from the program's end. */
typedef uint16_t bpf_place;

enum { BPF_WRITER_RETURN_MAX = 16 };

struct bpf_writer {
	struct sock_filter *code; /* backwards */
	unsigned capacity, count; /* at most BPF_MAXINSNS */
	bool is_full; /* an instruction did not fit: the program must not be used */
	struct {
		uint32_t action;
		bpf_place newest; /* the copy that is nearest to the start */
	} returns[BPF_WRITER_RETURN_MAX];
	unsigned return_count;
};

/* The values from `first` up to the next range's `first`. */
struct bpf_range {
	uint32_t first;
	bpf_place target;
};

/* Returns an instruction that ends the program with this SECCOMP_RET_ value. Equal ones are
 * shared. */
bpf_place bpf_return(struct bpf_writer *writer, uint32_t action);
/* Compares the accumulator with value: BPF_JEQ, BPF_JGE, BPF_JGT or BPF_JSET. */
bpf_place bpf_jump(struct bpf_writer *writer, unsigned short comparison, uint32_t value, bpf_place yes, bpf_place no);
bpf_place bpf_load(struct bpf_writer *writer, uint32_t offset, bpf_place next);
/* Tests (the word at offset & mask) == value. */
bpf_place bpf_test(struct bpf_writer *writer, uint32_t offset, uint32_t mask, uint32_t value, bpf_place yes, bpf_place no);
/* Writes a balanced tree over the accumulator. The first range begins at 0; count is not 0. */
bpf_place bpf_tree(struct bpf_writer *writer, const struct bpf_range *ranges, unsigned count);
/* Copies the program in the kernel's order: `count` instructions. */
void bpf_finish(const struct bpf_writer *writer, struct sock_filter *program);

#endif
