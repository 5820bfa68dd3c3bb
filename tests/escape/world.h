/* SPDX-License-Identifier: Apache-2.0 */
/* The scratch world of a case: a project with a repository and a secret, places outside of it, and
 * the few files that have to lie in the real home because berm takes that from the password
 * database. All of it is removed afterwards; nothing that existed is touched. */
#ifndef BERM_TESTS_ESCAPE_WORLD_H
#define BERM_TESTS_ESCAPE_WORLD_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

enum { WORLD_CREATED_MAX = 64 };

/* Outside the scratch directory: removed one by one, in reverse. */
struct world_created {
	char paths[WORLD_CREATED_MAX][256];
	int count;
};

struct world {
	char base[128];
	char project[160]; /* .env, .git, src/main.c */
	char attack[176]; /* the attacker's copy in the project */
	char outside[160]; /* not named by any policy */
	char secret[176]; /* outside/secret */
	char readonly[160]; /* for --allow-read */
	char state[160], config[160], runtime[160];
	char home[128]; /* from the password database */
	char home_secret[256]; /* below ~/.ssh */
	char token[48]; /* what every secret holds */
	struct world_created *created;
};

/* `parent`: where the scratch directory is made; NULL: /var/tmp (berm hides /tmp anyway, so it
 * would prove less). */
void world_make(struct world *world, const char *parent, struct world_created *created);
/* The project as it was at the start. */
void world_renew_project(struct world *world);
void world_home_secret(struct world *world);
void world_remove(const struct world *world);
void world_remove_created(struct world_created *created);

/* Helpers that end the case on failure: a world that cannot be made proves nothing. */
void make_directory(const char *path, mode_t mode);
void make_file(const char *path, const char *text, mode_t mode);
void make_filef(const char *text, mode_t mode, const char *format, ...) __attribute__((format(printf, 3, 4)));
void make_link(const char *target, const char *path);
void make_repository(const char *directory);
void copy_file(const char *from, const char *to, mode_t mode);
char *path_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Directories and a file outside the scratch directory, remembered for removal; false if something
 * is there already. */
bool make_elsewhere(struct world *world, const char *path, bool is_directory, const char *text);
/* Registers a path that an attack may make if the sandbox has a hole: it is removed afterwards,
 * with the directories that are absent now. */
void forget_later(struct world *world, const char *path);
/* Text of a file, static buffer; "" if it cannot be read. */
const char *file_text(const char *path);
bool file_contains(const char *path, const char *needle);
void remove_tree(const char *path);
/* Every name below, with type, mode, size and content hash of small files: two listings differ if
 * anything changed. */
char *tree_listing(const char *path);
/* Called first: makes a mount namespace that only the tests change. Mounts still propagate within
 * it. Only root can. */
void own_mounts(void);
/* A user namespace with the same user inside as outside. False if the host refuses it. */
bool enter_user_namespace(void);
/* From here on the home of the process's user is a new directory in the world's, because
 * /etc/passwd is another file in a mount namespace of the process's own. False if the host refuses
 * that. */
bool own_home(struct world *world);
/* Lists the mounts. Only root has a private mount namespace; for other users it lists the mounts in
 * this world, because other processes may mount elsewhere. */
char *mounts_now(const struct world *world);
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
