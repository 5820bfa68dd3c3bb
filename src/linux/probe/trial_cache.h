/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of this boot, kept in the state directory. Never trusted for more than what is shown: a run tries everything itself and
 * refuses what fails. */
#ifndef BERM_LINUX_PROBE_TRIAL_CACHE_H
#define BERM_LINUX_PROBE_TRIAL_CACHE_H

#include "common/base/arena.h"
#include "linux/probe/trial.h"

/* What a trial depends on, as one hash: boot, user, kernel, berm's version and file, namespaces, switches, profile, container. False if
 * it cannot be told apart (a seccomp filter or no_new_privs around berm): nothing is stored or used then. */
bool probe_cache_key(const struct probe_host *host, bool has_host_network, char key[65]);
/* From and to the file `probe` in this directory. Damaged, foreign and outdated ones are ignored. The directory is not made. */
bool probe_cache_load(struct arena *arena, const char *state_directory, const char *key, struct probe_trial *trial);
void probe_cache_save(struct arena *arena, const char *state_directory, const char *key, const struct probe_trial *trial);

#endif
