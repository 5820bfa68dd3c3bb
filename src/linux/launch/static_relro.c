/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the static program only: makes what the program's own start relocated read-only, as the loader does for a dynamic one. glibc
 * does it in static programs too; musl does not (seen with 1.2.3), and pointers to functions are among it. */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(BERM_STATIC) && !defined(__GLIBC__)

extern char __ehdr_start[] __attribute__((visibility("hidden"))); /* the linker's name for where the program lies */

__attribute__((constructor)) static void protect_relocated(void)
{
	const ElfW(Ehdr) *program = (const void *)__ehdr_start;
	const ElfW(Phdr) *segments = (const void *)(__ehdr_start + program->e_phoff);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < program->e_phnum; i++) {
		size_t begin, end;
		if (segments[i].p_type != PT_GNU_RELRO)
			continue;
		/* The linker lets it end with a page; of its first one, what is before is constant too. */
		begin = segments[i].p_vaddr / page * page;
		end = (segments[i].p_vaddr + segments[i].p_memsz) / page * page;
		if (end > begin && mprotect(__ehdr_start + begin, end - begin, PROT_READ) < 0)
			abort();
	}
}

#endif
