/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled into src/macos/launch on Linux before everything else: the calls of Darwin that Linux
 * does not have, from darwin.c, and other names for what the Linux backend defines. */
#ifndef BERM_TESTS_MACOS_DARWIN_H
#define BERM_TESTS_MACOS_DARWIN_H

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define backend_prepare mac_backend_prepare
#define backend_run mac_backend_run
#define backend_can_guard mac_backend_can_guard
#define backend_tier mac_backend_tier
#define backend_probe mac_backend_probe
#define backend_expect mac_backend_expect
#define backend_examine mac_backend_examine
#define backend_explain mac_backend_explain
#define backend_install_profile mac_backend_install_profile
#define inside_is_marked mac_inside_is_marked

#define _CS_DARWIN_USER_TEMP_DIR 65537
#define _CS_DARWIN_USER_CACHE_DIR 65538

/* sandbox_init_with_parameters() fails. Not a variable: the proxy erases its environment. */
extern bool darwin_refuses_init;

int darwin_execve(const char *path, char *const *arguments, char *const *environment);
int darwin_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment);
int darwin_sigaction(int number, const struct sigaction *action, struct sigaction *saved);
size_t darwin_confstr(int name, char *out, size_t size);
size_t darwin_strlcpy(char *to, const char *from, size_t size);
int darwin_memset_s(void *to, size_t size, int byte, size_t count);

#ifndef BERM_TESTS_MACOS_DARWIN_SELF
#define execve darwin_execve
#define posix_spawn darwin_posix_spawn
#define sigaction(number, action, saved) darwin_sigaction(number, action, saved)
#define confstr darwin_confstr
#define strlcpy darwin_strlcpy
#define memset_s darwin_memset_s
#endif

#endif
