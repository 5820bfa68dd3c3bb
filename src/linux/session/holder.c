/* SPDX-License-Identifier: Apache-2.0 */
/* The holder: accepts, checks and hands on. One epoll set that the supervisor's loop polls; nothing
 * here waits, except for a send to init, which is bounded. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/cache/plan_codec.h"
#include "common/state/sessions.h"
#include "linux/session/internal.h"

enum {
	BACKLOG = 128,
	EVENTS = 32,
	GRACE_MS = 2000, /* between SIGTERM and SIGKILL at the time limit */
	CHECK_MS = 60000, /* between two looks at the socket's name */
	ASK_MS = 1000, /* between two questions whether background processes still run */
	BACKGROUND_MS = 7200000, /* without a client, but with background processes */
	LISTENER = SESSION_COMMANDS_MAX, /* the epoll data of the socket; else the index of a client */
};

struct holder {
	const struct plan *plan;
	const struct run_session *session;
	struct repair *repair;
	struct session_caller own;
	struct covers covers;
	int channel, epoll, listener;
	dev_t device; /* of the socket's name */
	ino_t inode;
	char name[SESSION_STEM_MAX];
	struct client clients[SESSION_COMMANDS_MAX];
	size_t active; /* clients that are not free */
	unsigned last_id;
	uint64_t synced; /* the last number that was sent to the watcher */
	int64_t idle_since, check_at;
	int64_t ask_at; /* when init is asked whether processes are left; not before idle_ms */
	bool is_asked; /* and has not answered */
	bool must_end;
};

static int watch(struct holder *holder, int fd, uint32_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = data };
	return epoll_ctl(holder->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* The socket appears under its name when it listens already. */
static int listen_at(struct holder *holder, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int directory = holder->session->directory;
	char temporary[64];
	struct stat info;
	mode_t mask = umask(077);
	int status;

	snprintf(temporary, sizeof temporary, ".new-%ld.sock", (long)getpid());
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, temporary);
	unlinkat(directory, temporary, 0);
	holder->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	status = holder->listener < 0 || bind(holder->listener, (const struct sockaddr *)&address, sizeof address) < 0 ||
				 listen(holder->listener, BACKLOG) < 0 ||
				 renameat(directory, temporary, directory, holder->name) < 0 ||
				 fstatat(directory, holder->name, &info, AT_SYMLINK_NOFOLLOW) < 0
			 ? -1
			 : 0;
	umask(mask);
	if (status < 0) {
		error_errno(err, errno, "cannot make the socket of the session");
		unlinkat(directory, temporary, 0);
		return -1;
	}
	holder->device = info.st_dev;
	holder->inode = info.st_ino;
	return 0;
}

static int write_record(const struct holder_request *request, struct error *err)
{
	struct session_record *record = request->session->record;
	unsigned char random[SHA256_HEX / 2];

	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return error_errno(err, errno, "cannot make a token for the session");
	text_hex(random, sizeof random, record->token);
	snprintf(record->proxy_secret, sizeof record->proxy_secret, "%s", request->proxy_secret ? request->proxy_secret : "");
	record->pid = getpid();
	record->started = time(NULL);
	record->project = request->plan->context.project;
	return sessions_write(request->plan->arena, request->session->directory, request->session->stem, record, err);
}

struct holder *holder_open(const struct holder_request *request, struct error *err)
{
	/* Init may be stopped by a command at the worst moment: then the session ends. */
	const struct timeval wait = { .tv_sec = SESSION_ANSWER_MS / 1000 };
	struct holder *holder = arena_alloc(request->plan->arena, sizeof *holder);
	char byte = 0;

	holder->plan = request->plan;
	holder->session = request->session;
	holder->repair = request->repair;
	holder->channel = request->channel;
	holder->idle_since = clock_ms();
	holder->check_at = holder->idle_since + CHECK_MS;
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++)
		holder->clients[i].socket = -1;
	session_socket_name(request->session->stem, holder->name);
	session_caller_read(&holder->own);
	covers_begin(&holder->covers, request->plan);
	holder->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (holder->epoll < 0 || setsockopt(holder->channel, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0) {
		error_errno(err, errno, "cannot watch the clients of the session");
		return NULL;
	}
	if (write_record(request, err) < 0 || listen_at(holder, err) < 0)
		return NULL;
	if (watch(holder, holder->listener, LISTENER) < 0) {
		error_errno(err, errno, "cannot watch the clients of the session");
		return NULL;
	}
	/* The starter waits for it. */
	if (request->session->ready >= 0 && write(request->session->ready, &byte, 1) != 1) {
		error_set(err, "the process that started the session is gone");
		return NULL;
	}
	return holder;
}

int holder_events(const struct holder *holder)
{
	return holder->epoll;
}

static void drop(struct holder *holder, struct client *client)
{
	client_free(client);
	holder->active--;
	if (holder->active == 0)
		holder->idle_since = clock_ms();
}

static void refuse(struct holder *holder, struct client *client, const struct error *err)
{
	struct message message = { .type = MESSAGE_FAILED, .error = *err };
	(void)client_send(client, &message);
	drop(holder, client);
}

static bool is_same_user(int socket)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

static void accept_client(struct holder *holder)
{
	struct sockaddr_un peer;
	socklen_t length = sizeof peer;
	int fd = accept4(holder->listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
	size_t i = 0;
	if (fd < 0)
		return;
	while (i < SESSION_COMMANDS_MAX && holder->clients[i].state != CLIENT_FREE)
		i++;
	if (i == SESSION_COMMANDS_MAX || !is_same_user(fd) || watch(holder, fd, (uint32_t)i) < 0) {
		close(fd); /* the client runs its command cold */
		return;
	}
	holder->clients[i] = (struct client){ .state = CLIENT_READING, .socket = fd };
	holder->clients[i].deadline = clock_ms() + SESSION_ANSWER_MS;
	holder->active++;
}

/* Compares in a time that does not depend on the content. */
static bool is_equal(const char *left, const char *right, size_t length)
{
	unsigned difference = 0;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned)(left[i] ^ right[i]);
	return difference == 0;
}

static bool is_command(const struct client *client)
{
	return client->state == CLIENT_WAITING || client->state == CLIENT_RUNNING || client->state == CLIENT_GONE;
}

static size_t count_commands(const struct holder *holder)
{
	size_t count = 0;
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++)
		count += is_command(&holder->clients[i]);
	return count;
}

/* Everything that decides whether this sandbox is the one that the command would have cold. */
static int judge(struct holder *holder, struct client *client, struct error *err)
{
	const struct session_record *record = holder->session->record;
	struct session_request request;
	struct scan_results now;

	if (!session_request_decode(&client->arena, client->bytes, client->length, &request) ||
	    !scan_results_decode(&client->arena, request.results, request.head.results, &now))
		return error_set(err, "the request is damaged");
	if (!is_equal(request.head.identity, record->identity, SHA256_HEX))
		return error_set(err, "the policy, or something that it was made from, differs from the session's");
	/* With `leftovers: end` everything ends with a command: another one would end, too. */
	if (!record->keeps && count_commands(holder) > 0)
		return error_set(err, "the session runs another command");
	if (vet_streams(client->streams, client->stream_count, err) < 0 ||
	    vet_caller(&holder->own, &request.head.caller, err) < 0)
		return -1;
	return covers_compare(&holder->covers, &now, &client->arena, &client->added, err);
}

/* Hands the command to init, which answers by its id. The client learns it first: if it does not,
 * nothing has run. */
static bool hand_on(struct holder *holder, struct client *client)
{
	const struct setting *time = &holder->plan->limits[LIMIT_TIME];
	struct message message = { .type = MESSAGE_STARTED };
	bool has_failed;

	covers_add(&holder->covers, holder->plan->arena, &client->added);
	client->id = ++holder->last_id;
	if (client->id == 0 || client->id >= MESSAGE_ID_ALL)
		return true;
	/* A client that has given up receives nothing any more, and may run the command cold. */
	if (!client_send(client, &message)) {
		drop(holder, client);
		return false;
	}
	message = (struct message){ .type = MESSAGE_JOIN, .id = client->id, .value = (int)client->length };
	/* Init knows the session; the token is for the holder only. */
	memset(client->bytes + offsetof(struct session_head, token), 0, SHA256_HEX);
	has_failed = channel_send_with(holder->channel, &message, client->streams, client->stream_count) < 0 ||
		     channel_send_bytes(holder->channel, client->bytes, client->length) < 0;
	client_forget_request(client);
	client->state = CLIENT_RUNNING;
	client->deadline = time->is_set ? clock_ms() + (int64_t)time->value : 0;
	return has_failed;
}

/* Asks the watcher to cover new names and to check every cover. */
static bool await_covers(struct holder *holder, struct client *client)
{
	for (size_t i = 0; i < client->added.count; i++)
		if (!repair_cover(holder->repair, client->added.items[i].path, client->added.items[i].is_mask))
			return false;
	client->sync = ++holder->synced;
	client->state = CLIENT_WAITING;
	client->deadline = clock_ms() + SESSION_ANSWER_MS;
	return repair_sync(holder->repair, client->sync);
}

/* `stop` and `list`. */
static void answer(struct holder *holder, struct client *client, const struct session_head *head)
{
	struct message message = { .type = MESSAGE_LEFT, .value = (int)count_commands(holder) };
	(void)client_send(client, &message);
	holder->must_end |= head->kind == SESSION_STOP;
	drop(holder, client);
}

static void take_request(struct holder *holder, struct client *client)
{
	struct error err = { 0 };
	struct session_head head;

	memcpy(&head, client->bytes, sizeof head);
	if (!is_equal(head.token, holder->session->record->token, SHA256_HEX)) {
		drop(holder, client);
		return;
	}
	if (head.kind != SESSION_RUN) {
		answer(holder, client, &head);
		return;
	}
	if (holder->must_end)
		error_set(&err, "the session is ending");
	else if (judge(holder, client, &err) == 0 && !await_covers(holder, client))
		error_set(&err, "the session's watcher does not answer");
	if (error_is_set(&err))
		refuse(holder, client, &err);
}

static void send_init(struct holder *holder, enum message_type type, const struct client *client, int value, int number)
{
	struct message message = { .type = type, .id = client->id, .value = value, .error = { .number = number } };
	holder->must_end |= channel_has_failed(channel_send(holder->channel, &message));
}

/* The client has sent a signal, or is gone. */
static void take_signal(struct holder *holder, struct client *client)
{
	struct message message;
	ssize_t got = recv(client->socket, &message, sizeof message, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got == (ssize_t)sizeof message && message.type == MESSAGE_SIGNAL) {
		send_init(holder, MESSAGE_SIGNAL, client, message.value, message.error.number);
		return;
	}
	close(client->socket);
	client->socket = -1;
	client->state = CLIENT_GONE;
	client->deadline = clock_ms() + SESSION_ANSWER_MS;
	send_init(holder, MESSAGE_KILL, client, 0, 0);
}

static void take_event(struct holder *holder, struct client *client)
{
	char byte;
	switch (client->state) {
	case CLIENT_READING:
		switch (client_receive(client)) {
		case 1:
			take_request(holder, client);
			break;
		case -1:
			drop(holder, client);
			break;
		default:
			break;
		}
		break;
	case CLIENT_WAITING:
		/* Signals wait in the socket; a hangup means that nothing is to run. */
		if (recv(client->socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
			drop(holder, client);
		break;
	case CLIENT_RUNNING:
		take_signal(holder, client);
		break;
	case CLIENT_FREE:
	case CLIENT_GONE:
		break;
	}
}

/* The time limit of one command: SIGTERM, and after GRACE_MS the end. */
static void end_command(struct holder *holder, struct client *client, int64_t now)
{
	if (client->is_asked_to_end || client->state == CLIENT_GONE) {
		/* Init has not ended it in time: something is wrong with init. */
		holder->must_end |= client->state == CLIENT_GONE || client->is_time_over;
		send_init(holder, MESSAGE_KILL, client, 0, 0);
		client->is_time_over = true;
		client->deadline = now + GRACE_MS;
		return;
	}
	client->is_asked_to_end = true;
	client->deadline = now + GRACE_MS;
	send_init(holder, MESSAGE_SIGNAL, client, SIGTERM, 1);
	send_init(holder, MESSAGE_SIGNAL, client, SIGCONT, 1);
}

static void handle_deadline(struct holder *holder, struct client *client, int64_t now)
{
	struct error err = { 0 };
	switch (client->state) {
	case CLIENT_FREE:
		break;
	case CLIENT_READING:
		drop(holder, client);
		break;
	case CLIENT_WAITING:
		error_set(&err, "the session's watcher does not answer");
		refuse(holder, client, &err);
		break;
	case CLIENT_RUNNING:
	case CLIENT_GONE:
		end_command(holder, client, now);
		break;
	}
}

static void handle_clients(struct holder *holder, int64_t now)
{
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++) {
		struct client *client = &holder->clients[i];
		if (client->state == CLIENT_WAITING && repair_synced(holder->repair) >= client->sync)
			holder->must_end |= hand_on(holder, client);
		if (client->state != CLIENT_FREE && client->deadline && now >= client->deadline)
			handle_deadline(holder, client, now);
	}
}

/* After a logout or `rm`, no client can come any more. */
static bool is_still_there(const struct holder *holder)
{
	struct stat info;
	return fstatat(holder->session->directory, holder->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       info.st_dev == holder->device && info.st_ino == holder->inode;
}

static int64_t idle_end(const struct holder *holder)
{
	int64_t end = holder->idle_since + holder->session->record->idle_ms;
	return end > holder->ask_at ? end : holder->ask_at;
}

static void handle_idle(struct holder *holder, int64_t now)
{
	struct message message = { .type = MESSAGE_LEFT, .id = MESSAGE_ID_ALL };
	if (now >= holder->check_at) {
		holder->check_at = now + CHECK_MS;
		holder->must_end |= !is_still_there(holder);
	}
	if (holder->active > 0 || holder->is_asked || now < idle_end(holder))
		return;
	holder->is_asked = true;
	holder->must_end |= channel_has_failed(channel_send(holder->channel, &message));
}

int64_t holder_next(const struct holder *holder)
{
	int64_t next = holder->check_at, idle = idle_end(holder);
	if (holder->must_end)
		return 1;
	if (holder->active == 0 && !holder->is_asked && idle < next)
		next = idle;
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++) {
		const struct client *client = &holder->clients[i];
		if (client->state != CLIENT_FREE && client->deadline && client->deadline < next)
			next = client->deadline;
	}
	return next;
}

bool holder_turn(struct holder *holder, int64_t now)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(holder->epoll, events, EVENTS, 0);
	for (int i = 0; i < count; i++) {
		if (events[i].data.u32 == LISTENER)
			accept_client(holder);
		else
			take_event(holder, &holder->clients[events[i].data.u32]);
	}
	handle_clients(holder, now);
	handle_idle(holder, now);
	return holder->must_end;
}

static struct client *client_of(struct holder *holder, unsigned id)
{
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++)
		if ((holder->clients[i].state == CLIENT_RUNNING || holder->clients[i].state == CLIENT_GONE) &&
		    holder->clients[i].id == id)
			return &holder->clients[i];
	return NULL;
}

/* Init has answered how many processes are left. */
static void take_left(struct holder *holder, int count)
{
	int64_t now = clock_ms();
	holder->is_asked = false;
	if (holder->active > 0 || now < holder->idle_since + holder->session->record->idle_ms)
		return;
	if (count == 0 || now >= holder->idle_since + BACKGROUND_MS)
		holder->must_end = true;
	holder->ask_at = now + ASK_MS;
}

static void tell_all(struct holder *holder, const struct message *message)
{
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++)
		if (holder->clients[i].state == CLIENT_RUNNING)
			(void)client_send(&holder->clients[i], message);
}

bool holder_take(struct holder *holder, const struct message *message)
{
	struct client *client = client_of(holder, message->id);
	struct message last = *message;

	if (message->id == MESSAGE_ID_ALL && message->type == MESSAGE_LEFT)
		take_left(holder, message->value);
	else if (message->id == MESSAGE_ID_ALL)
		tell_all(holder, message);
	if (!client)
		return holder->must_end;
	if (client->is_asked_to_end && message->type == MESSAGE_EXITED)
		last = (struct message){ .type = MESSAGE_ENDED, .value = EXIT_TIME };
	(void)client_send(client, &last);
	if (message->type == MESSAGE_EXITED || message->type == MESSAGE_NOT_EXECUTED || message->type == MESSAGE_FAILED)
		drop(holder, client);
	return holder->must_end;
}

void holder_close(struct holder *holder, const struct run_result *result)
{
	struct message message = { .type = MESSAGE_ENDED, .value = EXIT_ENDED, .error = result->ended };
	if (!error_is_set(&message.error))
		error_set(&message.error, "the session was ended, and the command with it");
	unlinkat(holder->session->directory, holder->name, 0);
	close(holder->listener);
	for (size_t i = 0; i < SESSION_COMMANDS_MAX; i++) {
		struct client *client = &holder->clients[i];
		if (client->state == CLIENT_RUNNING)
			(void)client_send(client, &message);
		if (client->state != CLIENT_FREE)
			client_free(client);
	}
	close(holder->epoll);
}
