/* SPDX-License-Identifier: Apache-2.0 */
/* The writer. If a conditional jump cannot reach its target, a helper instruction is put between
 * them: a copy of a return, or a long jump. Execution never runs into a helper, because conditional
 * jumps name both of their targets. */
#include "linux/confine/bpf.h"

enum { JUMP_MAX = 255 };

static bpf_place append(struct bpf_writer *writer, struct sock_filter instruction)
{
	if (writer->count == writer->capacity) {
		writer->is_full = true;
		return 0;
	}
	writer->code[writer->count] = instruction;
	return (bpf_place)writer->count++;
}

static bpf_place append_return(struct bpf_writer *writer, uint32_t action)
{
	bpf_place result = append(writer, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
	unsigned i = 0;

	while (i < writer->return_count && writer->returns[i].action != action)
		i++;
	if (i == BPF_WRITER_RETURN_MAX) {
		writer->is_full = true;
		return result;
	}
	if (i == writer->return_count)
		writer->return_count++;
	writer->returns[i].action = action;
	writer->returns[i].newest = result;
	return result;
}

static bpf_place append_long_jump(struct bpf_writer *writer, bpf_place target)
{
	return append(writer, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, writer->count - target - 1));
}

static bool is_near(const struct bpf_writer *writer, bpf_place target)
{
	/* A helper for the other target may still come between this point and the jump. */
	return writer->count - target <= JUMP_MAX;
}

/* Returns an instruction with the effect of target that a conditional jump can reach. */
static bpf_place bring_near(struct bpf_writer *writer, bpf_place target)
{
	const struct sock_filter *instruction = &writer->code[target];
	bpf_place copy;

	if (is_near(writer, target))
		return target;
	if (instruction->code != (BPF_RET | BPF_K))
		return append_long_jump(writer, target);
	copy = bpf_return(writer, instruction->k);
	return is_near(writer, copy) ? copy : append_return(writer, instruction->k);
}

/* A statement continues with the instruction after it, which is the one appended last. */
static bpf_place append_statement(struct bpf_writer *writer, unsigned short code, uint32_t value, bpf_place next)
{
	if (next != (bpf_place)(writer->count - 1))
		append_long_jump(writer, next);
	return append(writer, (struct sock_filter)BPF_STMT(code, value));
}

bpf_place bpf_return(struct bpf_writer *writer, uint32_t action)
{
	for (unsigned i = 0; i < writer->return_count; i++)
		if (writer->returns[i].action == action)
			return writer->returns[i].newest;
	return append_return(writer, action);
}

bpf_place bpf_jump(struct bpf_writer *writer, unsigned short comparison, uint32_t value, bpf_place yes, bpf_place no)
{
	unsigned here;

	if (yes == no)
		return yes;
	yes = bring_near(writer, yes);
	no = bring_near(writer, no);
	here = writer->count;
	return append(writer, (struct sock_filter)BPF_JUMP(BPF_JMP | comparison | BPF_K, value, (uint8_t)(here - yes - 1),
							   (uint8_t)(here - no - 1)));
}

bpf_place bpf_load(struct bpf_writer *writer, uint32_t offset, bpf_place next)
{
	return append_statement(writer, BPF_LD | BPF_W | BPF_ABS, offset, next);
}

bpf_place bpf_test(struct bpf_writer *writer, uint32_t offset, uint32_t mask, uint32_t value, bpf_place yes, bpf_place no)
{
	bpf_place test;

	if (yes == no || mask == 0)
		return yes;
	if (value == 0 && mask != UINT32_MAX)
		return bpf_load(writer, offset, bpf_jump(writer, BPF_JSET, mask, no, yes));
	test = bpf_jump(writer, BPF_JEQ, value, yes, no);
	if (mask != UINT32_MAX)
		test = append_statement(writer, BPF_ALU | BPF_AND | BPF_K, mask, test);
	return bpf_load(writer, offset, test);
}

bpf_place bpf_tree(struct bpf_writer *writer, const struct bpf_range *ranges, unsigned count)
{
	unsigned middle = count / 2;
	bpf_place high, low;

	if (count == 1)
		return ranges[0].target;
	high = bpf_tree(writer, ranges + middle, count - middle);
	low = bpf_tree(writer, ranges, middle);
	return bpf_jump(writer, BPF_JGE, ranges[middle].first, high, low);
}

void bpf_finish(const struct bpf_writer *writer, struct sock_filter *program)
{
	for (unsigned i = 0; i < writer->count; i++)
		program[i] = writer->code[writer->count - 1 - i];
}
