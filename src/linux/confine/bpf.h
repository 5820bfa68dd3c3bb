/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a seccomp BPF program backwards, last instruction first: BPF only jumps forward, so every target exists before what jumps
 * to it. Targets may lie any distance away (a conditional jump holds 8 bits). Knows nothing about system calls. */
#ifndef BERM_LINUX_CONFINE_BPF_H
#define BERM_LINUX_CONFINE_BPF_H

#include <stdbool.h>
#include <stdint.h>

#include "linux/confine/filter.h"

/* An instruction by its distance from the program's end; grows as the program grows towards its start. */
typedef uint16_t bpf_place;

enum { BPF_WRITER_RETURN_MAX = 16 };

struct bpf_writer {
	struct sock_filter *code; /* backwards */
	unsigned capacity, count; /* at most BPF_MAXINSNS */
	bool is_full; /* something did not fit: the program must not be used */
	struct {
		uint32_t action;
		bpf_place newest; /* the copy that is nearest to the start */
	} returns[BPF_WRITER_RETURN_MAX];
	unsigned return_count;
};

/* From `first` up to the next range's first. */
struct bpf_range {
	uint32_t first;
	bpf_place target;
};

/* Ends the program with this SECCOMP_RET_ value; one return per value is shared. */
bpf_place bpf_return(struct bpf_writer *writer, uint32_t action);
/* comparison: BPF_JEQ, BPF_JGE, BPF_JGT or BPF_JSET of the accumulator with value. */
bpf_place bpf_jump(struct bpf_writer *writer, unsigned short comparison, uint32_t value, bpf_place yes, bpf_place no);
bpf_place bpf_load(struct bpf_writer *writer, uint32_t offset, bpf_place next);
/* (the word at offset & mask) == value */
bpf_place bpf_test(struct bpf_writer *writer, uint32_t offset, uint32_t mask, uint32_t value, bpf_place yes, bpf_place no);
/* A balanced tree over the accumulator; the first range begins at 0, count is not 0. */
bpf_place bpf_tree(struct bpf_writer *writer, const struct bpf_range *ranges, unsigned count);
/* The program in the order the kernel wants, `count` instructions. */
void bpf_finish(const struct bpf_writer *writer, struct sock_filter *program);

#endif
