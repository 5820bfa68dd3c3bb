/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a walk. The first calls in others while there is enough to do; without them (no more threads allowed, one processor) it does it all. */
#include "linux/walk/internal.h"

#include <signal.h>
#include <stdlib.h>

#include "linux/cpu_placement.h"
#include "linux/signals.h"

enum {
	HELPERS_MAX = WALK_THREADS_MAX - 1,
	HELPER_STACK_BYTES = 1 << 20,
	LIST_COST = 8, /* of listing a directory, where a look at one that is known costs 1 */
	HELPER_FROM = 128 * LIST_COST, /* waiting work that makes another thread worth its while: init needs a processor too */
	BATCH = 16, /* directories that a thread takes at once */
	PENDING_BYTES_MAX = 256 << 20,
};

struct crew {
	struct worker helpers[HELPERS_MAX];
	pthread_t threads[HELPERS_MAX];
	unsigned count, limit;
	bool has_limit; /* was it looked for? */
};

static size_t cost_of(const struct pending *directory)
{
	if (directory->children > 0)
		return directory->children;
	return directory->known == WALK_UNKNOWN ? LIST_COST : 1;
}

/* Called with the lock held. */
static void push_all(struct walk *walk, struct pending *found)
{
	while (found) {
		struct pending *next = found->next;
		found->next = walk->stack;
		walk->stack = found;
		walk->waiting++;
		walk->cost += cost_of(found);
		walk->pending_bytes += sizeof *found + found->length;
		found = next;
	}
	if (walk->pending_bytes > PENDING_BYTES_MAX && !walk->has_failed) {
		walk->has_failed = true;
		error_set(walk->err, "cannot look through %s: too many directories", walk->stack->path);
	}
	pthread_cond_broadcast(&walk->changed);
}

/* Called with the lock held. A few directories, half of those that wait at most; NULL when everything is read or the walk has failed. */
static struct pending *pop(struct walk *walk)
{
	struct pending *first, **last = &first;
	size_t count;
	while (!walk->stack && walk->busy > 0 && !walk->has_failed) {
		walk->hungry++;
		pthread_cond_wait(&walk->changed, &walk->lock);
		walk->hungry--;
	}
	if (!walk->stack || walk->has_failed)
		return NULL;
	first = walk->stack;
	count = (walk->waiting + 1) / 2;
	for (size_t i = 0; i < count && i < BATCH; i++) {
		struct pending *directory = *last;
		walk->waiting--;
		walk->cost -= cost_of(directory);
		walk->pending_bytes -= sizeof *directory + directory->length;
		last = &directory->next;
	}
	walk->stack = *last;
	*last = NULL;
	walk->busy++;
	return first;
}

void walk_offer(struct walk *walk, struct pending *found)
{
	pthread_mutex_lock(&walk->lock);
	push_all(walk, found);
	pthread_mutex_unlock(&walk->lock);
}

static void work(struct worker *worker)
{
	struct walk *walk = worker->walk;
	struct pending *batch;
	pthread_mutex_lock(&walk->lock);
	while ((batch = pop(walk))) {
		struct pending *found = NULL;
		pthread_mutex_unlock(&walk->lock);
		while (batch) {
			struct pending *next = batch->next, *inside = NULL, **last = &inside;
			walk_read_directory(worker, batch, &inside);
			while (*last)
				last = &(*last)->next;
			*last = found;
			found = inside;
			free(batch);
			batch = next;
		}
		pthread_mutex_lock(&walk->lock);
		walk->busy--;
		push_all(walk, found);
		if (worker->crew && walk->cost >= HELPER_FROM) {
			pthread_mutex_unlock(&walk->lock);
			walk_call_helper(worker);
			pthread_mutex_lock(&walk->lock);
		}
	}
	pthread_cond_broadcast(&walk->changed);
	pthread_mutex_unlock(&walk->lock);
}

static void *helper_main(void *argument)
{
	work(argument);
	return NULL;
}

/* musl gives a thread 128 KB by itself, and with the first one it unblocks a signal that it keeps for itself: the command is to have
 * the caller's mask. */
static bool start_helper(struct worker *worker, pthread_t *thread)
{
	pthread_attr_t attributes;
	sigset_t mask;
	bool is_started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	signals_mask(SIG_BLOCK, NULL, &mask);
	is_started = pthread_attr_setstacksize(&attributes, HELPER_STACK_BYTES) == 0 &&
		     pthread_create(thread, &attributes, helper_main, worker) == 0;
	signals_mask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attributes);
	return is_started;
}

void walk_call_helper(struct worker *worker)
{
	struct crew *crew = worker->crew;
	struct arena *arenas = worker->arena; /* the first of all */
	struct worker *helper;

	if (!crew)
		return;
	if (!crew->has_limit) {
		unsigned others = processors_count() - 1;
		crew->limit = others < HELPERS_MAX ? others : HELPERS_MAX;
		crew->has_limit = true;
	}
	if (crew->count == crew->limit)
		return;
	helper = &crew->helpers[crew->count];
	*helper = (struct worker){ .walk = worker->walk, .arena = arenas ? arenas + crew->count + 1 : NULL };
	if (start_helper(helper, &crew->threads[crew->count]))
		crew->count++;
	else
		crew->limit = crew->count;
}

static void add_up(struct walk *walk, const struct worker *worker)
{
	if (!walk->memory)
		return;
	walk->memory->kept += worker->kept;
	walk->memory->listed += worker->listed;
	walk->memory->learnt += worker->learnt;
	if (worker->kept > 0)
		walk->visitor->count(walk->visitor->self, worker->directories, worker->files);
}

void walk_work(struct walk *walk)
{
	struct crew crew;
	struct worker first = { .walk = walk, .arena = walk->memory ? walk->memory->arenas : NULL, .crew = &crew };

	crew.count = 0;
	crew.has_limit = false;
	walk->cost = cost_of(walk->stack);
	work(&first);
	for (unsigned i = 0; i < crew.count; i++)
		pthread_join(crew.threads[i], NULL);
	add_up(walk, &first);
	for (unsigned i = 0; i < crew.count; i++)
		add_up(walk, &crew.helpers[i]);
}
