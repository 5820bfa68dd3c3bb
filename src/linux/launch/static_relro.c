/* SPDX-License-Identifier: Apache-2.0 */
/* For the static program only: makes relocated data read-only after start-up, as the dynamic loader
 * does. This includes function pointers. glibc does it in static programs too; musl 1.2.3 does
 * not. */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(BERM_STATIC) && !defined(__GLIBC__)

/* Defined by the linker: the address of the program. */
extern char __ehdr_start[] __attribute__((visibility("hidden")));

__attribute__((constructor)) static void protect_relocated(void)
{
	const ElfW(Ehdr) *program = (const void *)__ehdr_start;
	const ElfW(Phdr) *segments = (const void *)(__ehdr_start + program->e_phoff);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < program->e_phnum; i++) {
		size_t begin, end;
		if (segments[i].p_type != PT_GNU_RELRO)
			continue;
		/* The linker ends the segment at a page boundary. The data before it on its first
		 * page is constant too. */
		begin = segments[i].p_vaddr / page * page;
		end = (segments[i].p_vaddr + segments[i].p_memsz) / page * page;
		if (end > begin && mprotect(__ehdr_start + begin, end - begin, PROT_READ) < 0)
			abort();
	}
}

#endif
