/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a session. Up to the request it does what the launcher does: scan, confirm, build
 * the command. Then it waits for the command as the launcher would, and forwards signals. It never
 * starts anything itself: until the holder has answered MESSAGE_STARTED nothing has run, and the
 * caller may launch cold. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/cache/plan_codec.h"
#include "linux/channel.h"
#include "linux/launch/ending.h"

struct joining {
	const struct plan *plan;
	const struct run_request *request;
	const struct run_session *session;
	struct run_result *result;
	struct error *err;
	int socket, signals;
	bool has_started; /* the command may have run */
	bool is_over;
	enum run_outcome outcome;
};

int backend_session_judge(const struct plan *plan, bool keeps, struct error *err)
{
	if (plan->context.tier != TIER_FULL)
		return error_set(err, "a session needs namespaces, which this host refuses");
	if (plan_is_copy(plan))
		return error_set(err, "a copy of the project (--copy, --undo) is never joined to a session");
	if (plan->home == HOME_EMPTY || plan->tmp == TMP_EMPTY)
		return error_set(err, "`home: empty` and `tmp: empty` promise each command a new one, and a session has one");
	if (!plan->is_guarded || !repair_is_wanted(plan))
		return error_set(err, "a session needs the guard: Linux 6.6, no `nesting`, and `files.guard` not lowered");
	if (keeps && guarantee_falls_short(plan->required[GUARANTEE_PROCESSES], LEVEL_PARTIAL) &&
	    !plan->accepted_weaker[GUARANTEE_PROCESSES])
		return error_set(err, "`require: {processes: enforced}` excludes sessions that keep background processes");
	return 0;
}

/* The variables of berm's own that name the proxy get the session's secret. */
static void fill_proxy(const struct plan *plan, const char *secret, struct command *command)
{
	if (!secret[0])
		return;
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!variable->rule)
			command->environment[i] = arena_printf(
				plan->arena, "%s=%s", variable->name,
				environment_fill_proxy(plan->arena, variable->value, plan_proxy_port(plan), secret));
	}
}

static bool encode(const struct joining *joining, const struct session_caller *caller, struct text *bytes)
{
	const struct plan *plan = joining->plan;
	const struct session_record *record = joining->session->record;
	struct session_request request = { .head = { .kind = SESSION_RUN, .caller = *caller } };
	struct command command;
	struct text results = { 0 };
	bool fits;

	command_prepare(plan, joining->request->argv, &command);
	fill_proxy(plan, record->proxy_secret, &command);
	scan_results_encode(plan->scan, &results);
	memcpy(request.head.token, record->token, SHA256_HEX);
	memcpy(request.head.identity, record->identity, SHA256_HEX);
	request.directory = plan->context.working_directory ? plan->context.working_directory : plan->context.project;
	/* The codec only reads them. */
	memcpy(&request.arguments, &command.argv, sizeof request.arguments);
	request.variables = command.environment;
	request.paths = command.paths;
	request.results = results.data;
	request.head.results = (uint32_t)results.length;
	fits = results.length < SESSION_REQUEST_MAX && session_request_encode(&request, bytes);
	text_free(&results);
	return fits;
}

static int send_request(struct joining *joining, const struct session_caller *caller)
{
	const int streams[SESSION_STREAMS] = { 0, 1, 2 };
	struct text bytes = { 0 };
	int status = -1;
	if (!encode(joining, caller, &bytes))
		error_set(joining->err, "the command is too long for a session");
	else if (session_send(joining->socket, &bytes, streams, SESSION_STREAMS) < 0)
		error_errno(joining->err, errno, "the session does not take the command");
	else
		status = 0;
	text_free(&bytes);
	return status;
}

static void take_status(struct joining *joining, int status)
{
	struct run_result *result = joining->result;
	if (WIFSIGNALED(status)) {
		result->signal = WTERMSIG(status);
		result->exit_code = EXIT_SIGNAL_BASE + WTERMSIG(status);
	} else {
		result->exit_code = WEXITSTATUS(status);
	}
	ending_note_file_size(joining->plan, result);
}

static void take_ended(struct joining *joining, const struct message *message)
{
	if (message->value == EXIT_TIME) {
		ending_time_over(joining->plan, joining->result);
		return;
	}
	joining->result->exit_code = EXIT_ENDED;
	joining->result->ended = message->error;
}

static void forward(const struct joining *joining, int number, bool is_for_group)
{
	struct message message = { .type = MESSAGE_SIGNAL, .value = number, .error = { .number = is_for_group } };
	(void)channel_send(joining->socket, &message);
}

/* Stops as the command has, so that the shell reports berm as it would report the command. */
static void stop_self(const struct joining *joining)
{
	kill(getpid(), SIGSTOP);
	forward(joining, SIGCONT, true);
}

static void handle_message(struct joining *joining, const struct message *message)
{
	switch ((int)message->type) {
	case MESSAGE_STARTED:
		joining->has_started = true;
		return;
	case MESSAGE_STOPPED:
		stop_self(joining);
		return;
	case MESSAGE_GIT_REFUSED:
		joining->result->git_refused |= (unsigned)message->value & (GIT_REFUSED_CONFIG | GIT_REFUSED_FILES);
		return;
	case MESSAGE_NAME_REFUSED:
		ending_note_refused(message, joining->result);
		return;
	case MESSAGE_NETWORK_TRIED:
		joining->result->has_tried_network = true;
		return;
	case MESSAGE_FAILED:
		/* Init reports it for a command that it could not confine or start: nothing ran. */
		*joining->err = message->error;
		joining->outcome = RUN_ELSEWHERE;
		break;
	case MESSAGE_NOT_EXECUTED:
		joining->result->exit_code =
			message->value == ENOENT || message->value == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
		joining->result->ended.number = message->value;
		break;
	case MESSAGE_EXITED:
		take_status(joining, message->value);
		break;
	case MESSAGE_ENDED:
		take_ended(joining, message);
		break;
	default:
		return;
	}
	joining->is_over = true;
}

/* The holder is gone. */
static void handle_end(struct joining *joining)
{
	joining->is_over = true;
	if (!joining->has_started) {
		error_set(joining->err, "the session has ended");
		joining->outcome = RUN_ELSEWHERE;
		return;
	}
	joining->result->exit_code = EXIT_ENDED;
	error_set(&joining->result->ended, "the session's holder was killed; everything in the session has ended");
}

static void read_signals(const struct joining *joining)
{
	struct signalfd_siginfo info;
	while (read(joining->signals, &info, sizeof info) == (ssize_t)sizeof info)
		forward(joining, (int)info.ssi_signo, signals_is_from_terminal((int)info.ssi_signo, info.ssi_code));
}

/* After the shutdown the holder cannot send MESSAGE_STARTED, and then hands nothing on. */
static void give_up(struct joining *joining)
{
	struct message message;
	shutdown(joining->socket, SHUT_RD);
	while (!joining->is_over && channel_receive(joining->socket, &message) > 0)
		handle_message(joining, &message);
	if (!joining->is_over)
		handle_end(joining);
}

/* Until the command has started the holder must answer in time; it has bounded its own waits. */
static void wait_for_end(struct joining *joining)
{
	int64_t answer_by = clock_ms() + SESSION_ANSWER_MS;
	while (!joining->is_over) {
		struct pollfd watched[] = {
			{ .fd = joining->socket, .events = POLLIN },
			{ .fd = joining->signals, .events = POLLIN },
		};
		int64_t left = answer_by - clock_ms();
		struct message message;
		if (poll(watched, 2, joining->has_started ? -1 : left > 0 ? (int)left : 0) < 0 && errno != EINTR)
			left = 0;
		if (!joining->has_started && left <= 0 && !watched[0].revents) {
			give_up(joining);
			return;
		}
		if (watched[0].revents) {
			if (channel_receive(joining->socket, &message) > 0)
				handle_message(joining, &message);
			else
				handle_end(joining);
		}
		if (watched[1].revents)
			read_signals(joining);
	}
}

/* As the launcher does it before its fork. -1: the outcome is set. */
static int scan_and_confirm(struct joining *joining)
{
	const struct run_request *request = joining->request;
	struct error *err = joining->err;
	if ((!request->scan || request->scan(request->self, request->results, err) == 0) &&
	    (!request->confirm || request->confirm(request->self, err) == 0))
		return 0;
	joining->outcome = err->number == EAGAIN ? RUN_MOVED : RUN_REFUSED;
	return -1;
}

static void run(struct joining *joining)
{
	struct session_caller caller;
	struct signal_state saved;

	joining->outcome = RUN_ELSEWHERE;
	session_caller_read(&caller);
	joining->socket = session_connect(joining->session->directory, joining->session->stem, joining->err);
	if (joining->socket < 0 || scan_and_confirm(joining) < 0)
		return;
	joining->signals = signals_take(&saved, joining->err);
	if (joining->signals < 0)
		return;
	if (send_request(joining, &caller) == 0) {
		joining->outcome = RUN_DONE;
		if (joining->request->meanwhile)
			joining->request->meanwhile(joining->request->self);
		wait_for_end(joining);
	}
	if (joining->outcome != RUN_DONE)
		signals_give_back(&saved);
}

enum run_outcome backend_join(const struct plan *plan, const struct run_request *request, const struct run_session *session,
			      struct run_result *result, struct error *err)
{
	struct joining joining = {
		.plan = plan, .request = request, .session = session, .result = result, .err = err, .socket = -1, .signals = -1
	};
	run(&joining);
	if (joining.socket >= 0)
		close(joining.socket);
	if (joining.signals >= 0)
		close(joining.signals);
	result->was_joined = result->was_guarded = joining.outcome == RUN_DONE;
	if (joining.outcome == RUN_DONE)
		launch_explain_not_executed(plan, request->argv[0], result);
	return joining.outcome;
}

/* Waits until the holder has closed its end, which it does when everything has ended. */
static int await_answer(int socket, bool is_stop, struct error *err)
{
	enum { STOP_MS = 10000 };
	struct pollfd watched = { .fd = socket, .events = POLLIN };
	struct message message;
	if (poll(&watched, 1, is_stop ? STOP_MS : SESSION_ANSWER_MS) <= 0 || channel_receive(socket, &message) <= 0)
		return error_set(err, "the session does not answer");
	return message.value;
}

int backend_session_ask(const struct run_session *session, bool is_stop, struct error *err)
{
	struct session_request request = { .head = { .kind = is_stop ? SESSION_STOP : SESSION_ASK } };
	autoclose int socket = session_connect(session->directory, session->stem, err);
	struct text bytes = { 0 };
	int status = -1;

	if (socket < 0)
		return -1;
	memcpy(request.head.token, session->record->token, SHA256_HEX);
	memcpy(request.head.identity, session->record->identity, SHA256_HEX);
	if (session_request_encode(&request, &bytes) && session_send(socket, &bytes, NULL, 0) == 0)
		status = await_answer(socket, is_stop, err);
	else
		error_set(err, "the session does not answer");
	text_free(&bytes);
	return status;
}
