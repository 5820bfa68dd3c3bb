/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a walk. The first thread starts helpers while there is enough work. Without
 * helpers (one CPU, or no more threads allowed) it does all of the work. */
#include "linux/walk/internal.h"

#include <signal.h>
#include <stdlib.h>

#include "common/base/progress.h"
#include "linux/cpu_placement.h"
#include "linux/signals.h"

enum {
	HELPERS_MAX = WALK_THREADS_MAX - 1,
	HELPER_STACK_BYTES = 1 << 20,
	LIST_COST = 8, /* of listing a directory; visiting an indexed one costs 1 */
	HELPER_FROM = 128 * LIST_COST, /* queued work that is worth another thread: init needs a CPU too */
	BATCH = 16, /* directories that a thread takes at once */
	PENDING_BYTES_MAX = 256 << 20,
};

struct helpers {
	struct worker workers[HELPERS_MAX];
	pthread_t threads[HELPERS_MAX];
	unsigned count, limit;
	bool has_limit; /* `limit` is set */
};

static size_t cost_of(const struct pending *directory)
{
	if (directory->children > 0)
		return directory->children;
	return directory->record == WALK_UNKNOWN ? LIST_COST : 1;
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
		error_set(walk->err, "cannot search %s: too many directories", walk->stack->path);
	}
	pthread_cond_broadcast(&walk->changed);
}

/* Takes a batch of directories, at most half of those queued. Called with the lock held. Waits
 * while other threads may add some; returns NULL when everything is read or the walk has failed. */
static struct pending *pop(struct walk *walk)
{
	struct pending *first, **last = &first;
	size_t count;
	while (!walk->stack && walk->busy > 0 && !walk->has_failed) {
		walk->idle++;
		pthread_cond_wait(&walk->changed, &walk->lock);
		walk->idle--;
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

void walk_share(struct walk *walk, struct pending *found)
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
		/* In the thread that started the walk only. */
		if (worker->helpers)
			progress_tick();
		pthread_mutex_lock(&walk->lock);
		walk->busy--;
		push_all(walk, found);
		if (worker->helpers && walk->cost >= HELPER_FROM) {
			pthread_mutex_unlock(&walk->lock);
			walk_start_helper(worker);
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

/* Sets the stack size, because musl's default is 128 KB. Restores the signal mask, because musl
 * unblocks an internal signal with the first thread and the command must inherit the caller's
 * mask. */
static bool create_thread(struct worker *worker, pthread_t *thread)
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

void walk_start_helper(struct worker *worker)
{
	struct helpers *helpers = worker->helpers;
	struct arena *arenas = worker->arena; /* the first of the index's array */
	struct worker *helper;

	if (!helpers)
		return;
	if (!helpers->has_limit) {
		unsigned others = cpu_placement_count() - 1;
		helpers->limit = others < HELPERS_MAX ? others : HELPERS_MAX;
		helpers->has_limit = true;
	}
	if (helpers->count == helpers->limit)
		return;
	helper = &helpers->workers[helpers->count];
	*helper = (struct worker){ .walk = worker->walk, .arena = arenas ? arenas + helpers->count + 1 : NULL };
	if (create_thread(helper, &helpers->threads[helpers->count]))
		helpers->count++;
	else
		helpers->limit = helpers->count;
}

static void add_up(struct walk *walk, const struct worker *worker)
{
	if (!walk->index)
		return;
	walk->index->kept += worker->kept;
	walk->index->listed += worker->listed;
	walk->index->learnt += worker->learnt;
	if (worker->kept > 0)
		walk->visitor->count(walk->visitor->self, worker->directories, worker->files);
}

void walk_work(struct walk *walk)
{
	struct helpers helpers;
	struct worker first = { .walk = walk, .arena = walk->index ? walk->index->arenas : NULL, .helpers = &helpers };

	helpers.count = 0;
	helpers.has_limit = false;
	walk->cost = cost_of(walk->stack);
	work(&first);
	for (unsigned i = 0; i < helpers.count; i++)
		pthread_join(helpers.threads[i], NULL);
	add_up(walk, &first);
	for (unsigned i = 0; i < helpers.count; i++)
		add_up(walk, &helpers.workers[i]);
}
