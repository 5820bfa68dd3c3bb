/* SPDX-License-Identifier: Apache-2.0 */
/* Caches the trial of this boot in the state directory. The cache affects only the output: a run
 * uses every mechanism itself and refuses if one fails. */
#ifndef BERM_LINUX_PROBE_TRIAL_CACHE_H
#define BERM_LINUX_PROBE_TRIAL_CACHE_H

#include "common/base/arena.h"
#include "linux/probe/trial.h"

/* Hashes everything that a trial depends on: boot, user, kernel, berm's version and file,
 * namespaces, sysctls, profile, container. Returns false inside a seccomp filter or no_new_privs,
 * which cannot be distinguished from another one: then the cache must not be used. */
bool trial_cache_key(const struct probe_host *host, bool has_host_network, char key[65]);
/* Read and write the file `probe` in this directory. A file that is damaged, outdated or owned by
 * another user is ignored. The directory is not created. */
bool trial_cache_load(struct arena *arena, const char *state_directory, const char *key, struct trial *trial);
void trial_cache_save(struct arena *arena, const char *state_directory, const char *key, const struct trial *trial);

#endif
