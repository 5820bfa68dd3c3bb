/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's side: starts and ends the watcher, collects its reports and moves plants to
 * quarantine. Moving needs the host's mount namespace, which the watcher has left. */
#include "linux/repair/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/state/quarantine.h"
#include "linux/repair/internal.h"
#include "linux/syscalls.h"

enum {
	START_MS = 20, /* most commands of an agent are shorter and pay nothing */
	EVENTS_MAX = 64, /* in the report of one run */
	REPORTS_AT_ONCE = 64, /* the supervisor has other work */
};

/* A nested mount namespace keeps its own mounts: nothing can be mounted in it again. */
bool repair_is_wanted(const struct plan *plan)
{
	return plan_has_mounts(plan) && plan->context.os == OS_LINUX && plan->guard >= LEVEL_REPAIR &&
	       !plan_setting(plan, SETTING_NESTING);
}

void repair_begin(struct repair *repair)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	*repair = (struct repair){ .view = -1, .socket = -1 };
	repair->begin = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Opens init's mount namespace. The request exists since Linux 6.11, and makes no entry of /proc
 * for the process, which would have to be removed when it exits. */
static int open_namespace(pid_t init, int pidfd)
{
	char path[64];
	int view = pidfd < 0 ? -1 : ioctl(pidfd, PIDFD_GET_MOUNT_NAMESPACE, 0);
	if (view >= 0)
		return view;
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)init);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void repair_prepare(struct repair *repair, const struct plan *plan, pid_t init, int pidfd)
{
	repair->plan = plan;
	if (!repair_is_wanted(plan))
		return;
	repair->view = open_namespace(init, pidfd);
	repair->number = repair->view < 0 ? errno : 0;
	repair->next = clock_ms() + START_MS;
}

/* Ends the run, unless the user has accepted less: then only this run's repair ends. */
static bool give_up(struct repair *repair, const char *reason)
{
	repair->next = 0;
	if (repair->socket >= 0)
		close(repair->socket);
	repair->socket = -1;
	if (repair->plan->accepted_weaker[GUARANTEE_SECRETS]) {
		error_set(&repair->note, "hidden files that the host replaced were not hidden again: %s", reason);
		return false;
	}
	error_set(&repair->ended, "hidden and protected files could not be kept so, and the run was ended: %s", reason);
	error_hint(&repair->ended, "to hide and protect only what exists at launch: `files: {guard: launch}` in "
				   "~/.config/berm/berm.yml");
	return true;
}

static bool start(struct repair *repair)
{
	int ends[2];
	struct watcher_request request = {
		.plan = repair->plan,
		.view = repair->view,
		.lower = -1,
		.begin = repair->begin,
		.parent = getpid(),
		/* A command that changes a copy plants nothing in the project. */
		.repairs_planting = !plan_is_copy(repair->plan) && !repair->is_session,
	};

	repair->next = 0;
	if (repair->view < 0)
		return give_up(repair, strerror(repair->number));
	if (plan_is_copy(repair->plan)) {
		request.lower = open(repair->plan->context.project, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (request.lower < 0)
			return give_up(repair, strerror(errno));
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return give_up(repair, strerror(errno));
	repair->pid = fork();
	if (repair->pid == 0) {
		close(ends[0]);
		request.socket = ends[1];
		watcher_main(&request);
	}
	close(ends[1]);
	if (request.lower >= 0)
		close(request.lower);
	close(repair->view);
	repair->view = -1;
	repair->socket = ends[0];
	if (repair->pid < 0) {
		repair->pid = 0;
		return give_up(repair, strerror(errno));
	}
	return false;
}

bool repair_turn(struct repair *repair, bool is_running, int64_t now)
{
	if (!repair->next || now < repair->next)
		return false;
	if (!is_running) {
		repair->next = now + START_MS;
		return false;
	}
	return start(repair);
}

/* Adds an event to the report; one that is there is counted. */
static struct repair_event *note(struct repair *repair, enum repair_kind kind, const char *path, int64_t exposed_us)
{
	struct arena *arena = repair->plan->arena;
	struct repair_report *report = repair->report;
	struct repair_event *event;
	if (!report)
		report = repair->report = arena_alloc(arena, sizeof *report);
	for (size_t i = 0; i < report->count; i++) {
		event = &report->items[i];
		if (event->kind != kind || strcmp(event->path, path) != 0)
			continue;
		event->count++;
		if (exposed_us > event->exposed_us)
			event->exposed_us = exposed_us;
		return event;
	}
	if (report->count == EVENTS_MAX) {
		report->omitted += kind != REPAIR_OWN;
		return NULL;
	}
	event = arena_push(arena, report);
	*event = (struct repair_event){ kind, arena_copy(arena, path), exposed_us, 1, NULL };
	return event;
}

static bool is_reported(int directory, const char *name, const struct report *report)
{
	struct stat info;
	return fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 && info.st_ino == report->inode &&
	       major(info.st_dev) == report->device >> 32 && minor(info.st_dev) == (report->device & 0xffffffff);
}

/* True if a move to quarantine is a rename. A copy would miss what a process writes into the file
 * meanwhile: on another file system the sweep moves it, when every process is dead. */
static bool is_rename(const struct plan *plan, int directory)
{
	struct stat place, state;
	return fstat(directory, &place) == 0 && stat(plan->context.state_directory, &state) == 0 &&
	       place.st_dev == state.st_dev;
}

/* Moves what the watcher has seen, and nothing that has taken its place since: that is another
 * event. */
static void move_plant(struct repair *repair, const struct report *report)
{
	const struct plan *plan = repair->plan;
	const char *path = report->text;
	autoclose int directory = quarantine_open_parent(path);
	char id[QUARANTINE_ID + 1] = "";
	struct error err = { 0 };
	struct repair_event *event;
	int status = -1;

	if (directory < 0 || !is_rename(plan, directory) || !is_reported(directory, path_base_name(path), report))
		return;
	status =
		quarantine_move(plan->arena, plan->context.state_directory, plan->state.project_key, directory,
				path_base_name(path), path, "it appeared while a command ran, and the host obeys it", id, &err);
	if (status < 0 && err.number == ENOENT)
		return;
	event = note(repair, status < 0 ? REPAIR_STUCK : REPAIR_MOVED, path, report->exposed_us);
	if (event)
		event->detail = arena_copy(plan->arena, status < 0 ? err.message : id);
	send(repair->socket, path, strlen(path), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool end_for_plant(struct repair *repair, const struct report *report)
{
	move_plant(repair, report);
	error_set(&repair->ended, "%s %s: programs on the host obey it, so the run was ended", report->text,
		  report->is_back ? "came back after it was moved to quarantine" : "appeared in a git directory");
	error_hint(&repair->ended, "`berm quarantine list` shows what was moved; if it is wanted: --allow-write=PATH");
	return true;
}

/* True if the run must end. */
static bool handle(struct repair *repair, const struct report *report)
{
	switch (report->type) {
	case REPORT_EVENT:
		note(repair, report->kind, report->text, report->exposed_us);
		return false;
	case REPORT_PLANT:
		move_plant(repair, report);
		return false;
	case REPORT_GIT_PLANT:
		return end_for_plant(repair, report);
	case REPORT_SYNCED:
		repair->synced = (uint64_t)report->value;
		return false;
	case REPORT_LIMIT:
		if (!repair->report)
			repair->report = arena_alloc(repair->plan->arena, sizeof *repair->report);
		repair->report->is_limited = true;
		repair->report->watched = report->value;
		return false;
	case REPORT_FAILED:
		return give_up(repair, report->text);
	}
	return give_up(repair, "the watcher sent a report of an unknown type");
}

bool repair_receive(struct repair *repair)
{
	static struct report report;
	for (int i = 0; i < REPORTS_AT_ONCE && repair->socket >= 0; i++) {
		ssize_t got = recv(repair->socket, &report, sizeof report, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (got <= (ssize_t)report_size(0))
			return give_up(repair, "the watcher has ended");
		((char *)&report)[got - 1] = '\0';
		if (handle(repair, &report))
			return true;
	}
	return false;
}

/* A watcher that is busy reads its socket later; one that does not is found by the caller's
 * deadline. */
static bool ask(const struct repair *repair, const char *text, size_t length)
{
	return repair->socket >= 0 && send(repair->socket, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

bool repair_cover(const struct repair *repair, const char *path, bool is_mask)
{
	char text[PATH_MAX + 1];
	int length = snprintf(text, sizeof text, "%c%s", is_mask ? WATCHER_HIDE : WATCHER_LOCK, path);
	return length > 0 && (size_t)length < sizeof text && ask(repair, text, (size_t)length);
}

bool repair_sync(const struct repair *repair, uint64_t number)
{
	char text[32];
	int length = snprintf(text, sizeof text, "%c%llu", WATCHER_SYNC, (unsigned long long)number);
	return ask(repair, text, (size_t)length);
}

uint64_t repair_synced(const struct repair *repair)
{
	return repair->synced;
}

void repair_finish(struct repair *repair, struct run_result *result)
{
	if (repair->socket >= 0)
		(void)repair_receive(repair); /* what the watcher has reported before the end */
	if (repair->pid > 0)
		kill(repair->pid, SIGKILL);
	if (repair->socket >= 0)
		close(repair->socket);
	if (repair->view >= 0)
		close(repair->view);
	repair->view = repair->socket = -1;
	repair->next = 0;
	result->repaired = repair->report;
	if (error_is_set(&repair->note) && !error_is_set(&result->note))
		result->note = repair->note;
}
