/* SPDX-License-Identifier: Apache-2.0 */
/* As on Darwin: the pids of a user. */
#include <stdint.h>

int proc_listpids(uint32_t type, uint32_t info, void *buffer, int size);
