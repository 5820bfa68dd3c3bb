/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, starting and joining a session. The session is found by what its plan enforces
 * (plan_identity), so a changed policy, other grants or another binary never meet an old one. */
#include "common/cli/run_joined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/cache/plan_codec.h"
#include "common/state/sessions.h"

enum {
	START_MS = 10000, /* for a session to start: its first scan may be long */
	AWAIT_MS = 1500, /* for one that another process is starting */
	ROUND_MS = 5,
	NAME_HEX = 12, /* of the identity, in the name of a session that the policy starts */
};

/* Sent by the child that becomes the holder: a zero byte when clients can connect, or why they
 * never can. */
struct start_report {
	char has_failed;
	struct error error;
};

/* Options would be extra grants. Other words are berm's own: session_narrow_words(). */
static bool has_options(const struct session *session)
{
	char *const *words = session->cache.words;
	for (; words && *words; words++)
		if ((*words)[0] == '-')
			return true;
	return !words;
}

static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
}

bool run_joined_applies(const struct session *session, const struct run_request *request)
{
	if (session->joining.mode != JOIN_BY_POLICY)
		return true;
	return plan_setting(&session->plan, SETTING_SESSIONS) == SESSIONS_AUTO && session->tier == TIER_FULL &&
	       !session->agent && request->pass_fd_count == 0 && !has_options(session) && !has_terminal();
}

static bool keeps(const struct session *session)
{
	return plan_setting(&session->plan, SETTING_LEFTOVERS) == LEFTOVERS_KEEP;
}

/* Names the session and opens the directory of the records, which the caller closes. */
static int open_place(struct session *session, const struct run_request *request, struct run_session *place,
		      char stem[SESSION_STEM_MAX], struct error *err)
{
	const struct plan *plan = &session->plan;
	struct session_record *record = place->record;

	*place = (struct run_session){ .directory = -1, .lock = -1, .ready = -1, .record = record, .stem = stem };
	if (backend_session_judge(plan, keeps(session), err) < 0)
		return -1;
	if (!plan_identity(plan, request->prepared, request->prepared_size, record->identity))
		return error_set(err, "this command has settings that no session has");
	if (session->joining.name)
		snprintf(record->name, sizeof record->name, "%s", session->joining.name);
	else
		snprintf(record->name, sizeof record->name, "auto-%.*s", NAME_HEX, record->identity);
	record->keeps = keeps(session);
	record->idle_ms =
		(int64_t)(session->joining.idle_ms ? session->joining.idle_ms : plan_setting(plan, SETTING_SESSION_IDLE));
	session_stem(plan->state.project_key, record->name, stem);
	place->directory = sessions_open(plan->arena, plan->context.state_directory, true, err);
	return place->directory < 0 ? -1 : 0;
}

/* The process that holds the session keeps nothing of its caller but this program. */
static int detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 || chdir("/") < 0)
		return -1;
	if (null > 2)
		close(null);
	setsid(); /* fails only for the leader of a group, which a new process is not */
	umask(077);
	return 0;
}

/* Runs in the child: holds the session until it ends. */
_Noreturn static void hold(struct session *session, struct run_request *request, struct run_session *place,
			   void (*ended)(void *self, const struct run_result *result))
{
	char *const argv[] = { arena_copy(&session->arena, "/bin/sh"), NULL };
	struct start_report report = { .has_failed = 1 };
	struct run_request held = *request;
	struct run_result result = { 0 };
	enum run_outcome outcome = RUN_REFUSED;

	session->joining.is_holder = true;
	held.argv = argv;
	held.session = place;
	if (detach() < 0)
		error_errno(&report.error, errno, "cannot detach the session from its caller");
	else
		outcome = backend_run(&session->plan, &held, &result, &report.error);
	if (outcome == RUN_DONE)
		ended(request->self, &result);
	else if (write(place->ready, &report, sizeof report) < 0)
		outcome = RUN_REFUSED; /* the process that asked is gone */
	sessions_remove(place->directory, place->stem);
	_exit(outcome == RUN_DONE ? 0 : EXIT_REFUSED);
}

/* Waits until the child can be joined. */
static int await_start(int ready, struct error *err)
{
	struct pollfd watched = { .fd = ready, .events = POLLIN };
	struct start_report report = { 0 };
	ssize_t got;

	if (poll(&watched, 1, START_MS) <= 0)
		return error_set(err, "the session did not start in time");
	got = read(ready, &report, sizeof report);
	if (got == 1 && !report.has_failed)
		return 0;
	if (got == (ssize_t)sizeof report)
		*err = report.error;
	else
		error_set(err, "the session ended while it was being set up");
	return -1;
}

/* Starts the session in a child. err->number is EBUSY if another process holds it. */
static int start(struct session *session, struct run_request *request, struct run_session *place,
		 void (*ended)(void *self, const struct run_result *result), struct error *err)
{
	autoclose int lock = sessions_take(place->directory, place->stem, err);
	int ends[2];
	pid_t pid;
	int status;

	if (lock < 0)
		return -1;
	if (pipe(ends) < 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot make a pipe");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		place->lock = lock;
		place->ready = ends[1];
		hold(session, request, place, ended);
	}
	close(ends[1]);
	status = pid < 0 ? error_errno(err, errno, "cannot fork") : await_start(ends[0], err);
	close(ends[0]);
	if (status < 0 && pid > 0)
		child_end(pid);
	return status;
}

/* Reads the record of a session with this plan. */
static int find(struct session *session, struct run_session *place, struct error *err)
{
	struct session_record found;
	if (sessions_read(&session->arena, place->directory, place->stem, &found, err) < 0)
		return -1;
	if (strcmp(found.identity, place->record->identity) != 0) {
		error_set(err, "the policy, or something that it was made from, has changed since the session began");
		err->number = ESTALE;
		return error_hint(err, "berm session stop %s; berm session start %s", found.name, found.name);
	}
	*place->record = found;
	return 0;
}

/* Another process is starting the session. */
static int await_other(struct session *session, struct run_session *place, struct error *err)
{
	const struct timespec round = { .tv_nsec = ROUND_MS * 1000000L };
	int64_t end = clock_ms() + AWAIT_MS;
	char name[SESSION_STEM_MAX];
	session_socket_name(place->stem, name);
	while (clock_ms() < end && sessions_is_held(place->directory, place->stem)) {
		if (faccessat(place->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return find(session, place, err);
		nanosleep(&round, NULL);
	}
	return error_set(err, "the session did not start in time");
}

/* Joins the session of the policy; starts it if there is none. */
static enum run_outcome join_or_start(struct session *session, struct run_request *request, struct run_session *place,
				      void (*ended)(void *self, const struct run_result *result), struct run_result *result,
				      struct error *err)
{
	struct session_record wanted = *place->record;
	enum run_outcome outcome;

	if (find(session, place, err) == 0) {
		outcome = backend_join(&session->plan, request, place, result, err);
		if (outcome != RUN_ELSEWHERE || sessions_is_held(place->directory, place->stem))
			return outcome;
		*place->record = wanted;
	}
	*err = (struct error){ 0 };
	if (start(session, request, place, ended, err) < 0 && (err->number != EBUSY || await_other(session, place, err) < 0))
		return RUN_ELSEWHERE;
	if (find(session, place, err) < 0)
		return RUN_ELSEWHERE;
	return backend_join(&session->plan, request, place, result, err);
}

static enum run_outcome join_named(struct session *session, struct run_request *request, struct run_session *place,
				   struct run_result *result, struct error *err)
{
	if (find(session, place, err) == 0 && sessions_is_held(place->directory, place->stem))
		return backend_join(&session->plan, request, place, result, err);
	if (err->number == ESTALE && sessions_is_held(place->directory, place->stem))
		return RUN_ELSEWHERE;
	error_set(err, "no session `%s` runs in this project", place->record->name);
	error_hint(err, "berm session start%s%s", strcmp(session->joining.name, SESSION_NAME_DEFAULT) == 0 ? "" : " ",
		   strcmp(session->joining.name, SESSION_NAME_DEFAULT) == 0 ? "" : session->joining.name);
	return RUN_ELSEWHERE;
}

static enum run_outcome start_named(struct session *session, struct run_request *request, struct run_session *place,
				    void (*ended)(void *self, const struct run_result *result), struct error *err)
{
	if (start(session, request, place, ended, err) == 0)
		return RUN_DONE;
	if (err->number == EBUSY) {
		error_set(err, "a session `%s` runs in this project already", place->record->name);
		error_hint(err, "berm session stop %s", place->record->name);
	}
	return err->number == EAGAIN ? RUN_MOVED : RUN_ELSEWHERE;
}

enum run_outcome run_joined(struct session *session, struct run_request *request,
			    void (*ended)(void *self, const struct run_result *result), struct run_result *result,
			    struct error *err)
{
	struct session_record record = { 0 };
	struct run_session place = { .record = &record };
	char stem[SESSION_STEM_MAX];
	enum run_outcome outcome = RUN_ELSEWHERE;

	if (open_place(session, request, &place, stem, err) < 0)
		return RUN_ELSEWHERE;
	switch (session->joining.mode) {
	case JOIN_BY_POLICY:
		outcome = join_or_start(session, request, &place, ended, result, err);
		break;
	case JOIN_ONLY:
		outcome = join_named(session, request, &place, result, err);
		break;
	case JOIN_HOLD:
		outcome = start_named(session, request, &place, ended, err);
		break;
	}
	close(place.directory);
	return outcome;
}
