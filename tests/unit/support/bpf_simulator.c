/* SPDX-License-Identifier: Apache-2.0 */
/* A classic BPF machine as far as seccomp programs need it: one accumulator, aligned word loads,
 * AND, jumps, returns. */
#include "unit/support/bpf_simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_conditional(unsigned short code)
{
	return code == (BPF_JMP | BPF_JEQ | BPF_K) || code == (BPF_JMP | BPF_JGE | BPF_K) ||
	       code == (BPF_JMP | BPF_JGT | BPF_K) || code == (BPF_JMP | BPF_JSET | BPF_K);
}

const char *bpf_simulator_refusal(const struct sock_filter *program, size_t count)
{
	if (count == 0 || count > BPF_MAXINSNS)
		return "length";
	for (size_t i = 0; i < count; i++) {
		size_t left = count - i - 1;
		const struct sock_filter *instruction = &program[i];

		if (is_conditional(instruction->code)) {
			if (instruction->jt >= left || instruction->jf >= left)
				return "conditional jump out of the program";
		} else if (instruction->code == (BPF_JMP | BPF_JA)) {
			if (instruction->k >= left)
				return "jump out of the program";
		} else if (instruction->code == (BPF_LD | BPF_W | BPF_ABS)) {
			if (instruction->k % 4 != 0 || instruction->k >= sizeof(struct seccomp_data))
				return "load outside the data";
		} else if (instruction->code != (BPF_RET | BPF_K) && instruction->code != (BPF_ALU | BPF_AND | BPF_K)) {
			return "unknown instruction";
		}
	}
	return program[count - 1].code == (BPF_RET | BPF_K) ? NULL : "no return at the end";
}

static bool holds(const struct sock_filter *instruction, uint32_t accumulator)
{
	switch (BPF_OP(instruction->code)) {
	case BPF_JEQ:
		return accumulator == instruction->k;
	case BPF_JGE:
		return accumulator >= instruction->k;
	case BPF_JGT:
		return accumulator > instruction->k;
	default:
		return (accumulator & instruction->k) != 0;
	}
}

uint32_t bpf_simulator_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data, unsigned *steps)
{
	uint32_t accumulator = 0;
	unsigned done = 0;

	for (size_t at = 0; at < count; at++, done++) {
		const struct sock_filter *instruction = &program[at];

		if (is_conditional(instruction->code)) {
			at += holds(instruction, accumulator) ? instruction->jt : instruction->jf;
		} else if (instruction->code == (BPF_JMP | BPF_JA)) {
			at += instruction->k;
		} else if (instruction->code == (BPF_LD | BPF_W | BPF_ABS)) {
			memcpy(&accumulator, (const char *)data + instruction->k, sizeof accumulator);
		} else if (instruction->code == (BPF_ALU | BPF_AND | BPF_K)) {
			accumulator &= instruction->k;
		} else if (instruction->code == (BPF_RET | BPF_K)) {
			if (steps)
				*steps = done + 1;
			return instruction->k;
		} else {
			break;
		}
	}
	fprintf(stderr, "bpf_simulator: the program ran off its end or is not one\n");
	abort();
}
