/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program with all its children under ptrace, counts the system calls of each process until
 * the command is executed, and can make one of them fail: the Nth call of the Pth process does not
 * happen and returns an error. */
#ifndef BERM_TESTS_ESCAPE_TRACER_H
#define BERM_TESTS_ESCAPE_TRACER_H

#include <stdbool.h>
#include <stddef.h>

enum { TRACE_CALLS_MAX = 16384, TRACE_THREAD = 1000 };

struct traced_call {
	int process; /* 0: the program itself; then in order of birth */
	int index; /* among the calls of that process, from 0 */
	long number;
};

struct trace {
	struct traced_call *calls; /* those before the command was executed; TRACE_CALLS_MAX of room, or NULL */
	size_t count;
	bool is_born; /* when the fault came, the program's first child had made one */
	long failed_number; /* the call that was made to fail; -1: it never came */
	bool has_executed; /* a child executed a program: the command's start */
};

struct fault {
	int process, index, error_number; /* process -1: none */
};

/* The exit code as a shell tells it; -1 if it took longer than the limit. */
int trace_run(char *const *argv, char *const *environment, const char *directory, int out, const struct fault *fault,
	      int milliseconds, struct trace *trace);

#endif
