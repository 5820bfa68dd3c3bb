/* SPDX-License-Identifier: Apache-2.0 */
/* Asks systemd's manager over D-Bus. Runs in a child process that is killed after a timeout, so
 * everything here may block. It needs no library: authentication, three calls, and waiting for a
 * signal that the job has ended. */
#include "linux/limits/systemd_bus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/limits/dbus.h"

static const char bus_name[] = "org.freedesktop.DBus";
static const char bus_path[] = "/org/freedesktop/DBus";
static const char manager[] = "org.freedesktop.systemd1";
static const char manager_path[] = "/org/freedesktop/systemd1";
static const char manager_interface[] = "org.freedesktop.systemd1.Manager";

enum { LINE_MAX_BYTES = 512 };

struct bus {
	int fd;
	uint32_t serial; /* of the last call */
	const char *unit; /* its job is waited for */
	bool is_over, is_done; /* the job has ended; it succeeded */
	struct dbus_writer out;
	unsigned char in[DBUS_READ_MAX];
	struct dbus_message message; /* points into `in` */
};

/* True if the process is in this pid namespace: "NSpid:\t812\n" then has one pid only. */
static bool is_in_this_pid_namespace(pid_t pid)
{
	char path[64], line[256];
	FILE *file;
	bool is_same = false;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		char *end;
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		is_same = strtol(line + 6, &end, 10) == pid && *end == '\n';
		break;
	}
	if (file)
		fclose(file);
	return is_same;
}

/* A manager outside this container would take init's pid for another process, so it is refused. */
static int connect_bus(const struct systemd_scope_request *request, struct error *err)
{
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t length = sizeof peer;

	memcpy(address.sun_path, request->socket, sizeof address.sun_path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return error_errno(err, errno, "cannot ask systemd for a scope: %s", request->socket);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || peer.uid != request->uid)
		return error_set(err, "%s belongs to another user and is not asked for a scope", request->socket);
	if (peer.pid <= 0 || !is_in_this_pid_namespace(peer.pid))
		return error_set(err, "%s is outside this container and is not asked for a scope", request->socket);
	return steal_fd(&fd);
}

static int lost(struct error *err, int number)
{
	if (number)
		return error_errno(err, number, "lost the connection to systemd while it created a scope");
	return error_set(err, "lost the connection to systemd while it created a scope");
}

static int send_bytes(int fd, const void *bytes, size_t count, struct error *err)
{
	const char *next = bytes;
	while (count > 0) {
		ssize_t sent = send(fd, next, count, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return lost(err, errno);
		next += sent;
		count -= (size_t)sent;
	}
	return 0;
}

static int receive_bytes(int fd, void *bytes, size_t count, struct error *err)
{
	char *next = bytes;
	while (count > 0) {
		ssize_t got = recv(fd, next, count, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return lost(err, got < 0 ? errno : 0);
		next += got;
		count -= (size_t)got;
	}
	return 0;
}

/* Reads byte by byte, because binary messages follow the line. */
static int receive_line(int fd, char line[LINE_MAX_BYTES], struct error *err)
{
	for (size_t length = 0; length < LINE_MAX_BYTES; length++) {
		if (receive_bytes(fd, line + length, 1, err) < 0)
			return -1;
		if (line[length] == '\n') {
			line[length] = '\0';
			return 0;
		}
	}
	return error_set(err, "cannot ask systemd for a scope: its bus does not speak D-Bus");
}

/* EXTERNAL: the bus compares the socket's credentials with the uid that is sent, in hexadecimal
 * digits. */
static int authenticate(int fd, uid_t uid, struct error *err)
{
	char number[16], text[64], line[LINE_MAX_BYTES];
	size_t length = 0;

	snprintf(number, sizeof number, "%u", (unsigned)uid);
	for (const char *digit = number; *digit; digit++)
		length += (size_t)snprintf(text + length, sizeof text - length, "%02x", (unsigned)*digit);
	if (send_bytes(fd, "\0AUTH EXTERNAL ", 15, err) < 0 || send_bytes(fd, text, length, err) < 0 ||
	    send_bytes(fd, "\r\n", 2, err) < 0 || receive_line(fd, line, err) < 0)
		return -1;
	if (strncmp(line, "OK ", 3) != 0)
		return error_set(err, "the bus does not let this user ask systemd for a scope");
	return send_bytes(fd, "BEGIN\r\n", 7, err);
}

static void begin(struct bus *bus, const struct dbus_call *call)
{
	dbus_begin(&bus->out, call, ++bus->serial);
}

static int finish(struct bus *bus, struct error *err)
{
	if (!dbus_end(&bus->out))
		return error_set(err, "the request for a scope does not fit into a D-Bus message");
	return send_bytes(bus->fd, bus->out.bytes, bus->out.length, err);
}

/* JobRemoved(id, job, unit, result). The unit's name is unique to this run, so it identifies the
 * job even if that ends before the reply to the call arrives. Any other process on the bus could
 * send this signal too: nothing here is trusted (systemd_scope.h). */
static void note_job(struct bus *bus)
{
	struct dbus_reader body = bus->message.body;
	const char *unit, *outcome;

	if (bus->message.type != DBUS_SIGNAL || strcmp(bus->message.interface, manager_interface) != 0 ||
	    strcmp(bus->message.member, "JobRemoved") != 0 || strcmp(bus->message.signature, "uoss") != 0)
		return;
	(void)dbus_get_number(&body);
	(void)dbus_get_text(&body);
	unit = dbus_get_text(&body);
	outcome = dbus_get_text(&body);
	if (body.is_bad || strcmp(unit, bus->unit) != 0)
		return;
	bus->is_over = true;
	bus->is_done = strcmp(outcome, "done") == 0;
}

static int receive_message(struct bus *bus, struct error *err)
{
	size_t length;
	if (receive_bytes(bus->fd, bus->in, DBUS_HEAD_BYTES, err) < 0)
		return -1;
	length = dbus_measure(bus->in);
	if (length == 0)
		return error_set(err, "cannot ask systemd for a scope: its bus does not speak D-Bus");
	if (receive_bytes(bus->fd, bus->in + DBUS_HEAD_BYTES, length - DBUS_HEAD_BYTES, err) < 0)
		return -1;
	if (!dbus_parse(bus->in, length, &bus->message))
		return error_set(err, "cannot ask systemd for a scope: its bus does not speak D-Bus");
	note_job(bus);
	return 0;
}

/* Waits for the reply to the last call. */
static int await_reply(struct bus *bus, struct error *err)
{
	const struct dbus_message *message = &bus->message;
	struct dbus_reader body;
	const char *text;

	do {
		if (receive_message(bus, err) < 0)
			return -1;
	} while (message->reply_to != bus->serial || (message->type != DBUS_RETURN && message->type != DBUS_ERROR));
	if (message->type == DBUS_RETURN)
		return 0;
	body = message->body;
	text = message->signature[0] == 's' ? dbus_get_text(&body) : "";
	return text[0] ? error_set(err, "systemd refuses a scope: %s", text) : error_set(err, "systemd refuses a scope");
}

/* Registers with the bus itself, which allows no other call before. */
static int greet(struct bus *bus, struct error *err)
{
	begin(bus, &(struct dbus_call){ bus_name, bus_path, bus_name, "Hello", "" });
	return finish(bus, err) < 0 ? -1 : await_reply(bus, err);
}

static int listen_for_jobs(struct bus *bus, struct error *err)
{
	char rule[256];
	snprintf(rule, sizeof rule, "type='signal',sender='%s',path='%s',interface='%s',member='JobRemoved'", manager,
		 manager_path, manager_interface);
	begin(bus, &(struct dbus_call){ bus_name, bus_path, bus_name, "AddMatch", "s" });
	dbus_put_text(&bus->out, rule);
	return finish(bus, err) < 0 ? -1 : await_reply(bus, err);
}

/* Begins (sv), a name and a variant; the caller writes the variant's value. */
static void put_property(struct dbus_writer *out, const char *name, const char *type)
{
	dbus_align(out, 8);
	dbus_put_text(out, name);
	dbus_put_signature(out, type);
}

static void put_text_property(struct dbus_writer *out, const char *name, const char *value)
{
	put_property(out, name, "s");
	dbus_put_text(out, value);
}

static void put_long_property(struct dbus_writer *out, const char *name, uint64_t value)
{
	put_property(out, name, "t");
	dbus_put_long(out, value);
}

/* CollectMode makes systemd remove the unit even if it fails. */
static void put_properties(struct dbus_writer *out, const struct systemd_scope_request *request)
{
	const struct cgroup_limits *limits = &request->limits;
	size_t place;

	put_text_property(out, "Description", "berm: limits of one run");
	put_property(out, "PIDs", "au");
	place = dbus_open_array(out, 4);
	dbus_put_number(out, (uint32_t)request->pid);
	dbus_put_number(out, (uint32_t)request->keeper);
	dbus_close_array(out, place, 4);
	put_property(out, "Delegate", "b");
	dbus_put_number(out, 1);
	put_text_property(out, "CollectMode", "inactive-or-failed");
	if (limits->memory > 0) {
		put_long_property(out, "MemoryMax", limits->memory + CGROUP_KEEPER_BYTES);
		put_long_property(out, "MemorySwapMax", 0);
	}
	/* Init and the keeper count too. */
	if (limits->processes > 0)
		put_long_property(out, "TasksMax", limits->processes + 2);
}

/* StartTransientUnit(name, mode if the name exists, properties, auxiliary units: none). */
static int start_unit(struct bus *bus, const struct systemd_scope_request *request, struct error *err)
{
	size_t place;
	begin(bus, &(struct dbus_call){ manager, manager_path, manager_interface, "StartTransientUnit", "ssa(sv)a(sa(sv))" });
	dbus_put_text(&bus->out, request->name);
	dbus_put_text(&bus->out, "fail");
	place = dbus_open_array(&bus->out, 8);
	put_properties(&bus->out, request);
	dbus_close_array(&bus->out, place, 8);
	place = dbus_open_array(&bus->out, 8);
	dbus_close_array(&bus->out, place, 8);
	return finish(bus, err) < 0 ? -1 : await_reply(bus, err);
}

static int await_job(struct bus *bus, struct error *err)
{
	while (!bus->is_over)
		if (receive_message(bus, err) < 0)
			return -1;
	return bus->is_done ? 0 : error_set(err, "systemd could not start the scope");
}

/* Descriptors opened here are closed with the process. */
int systemd_bus_ask(const struct systemd_scope_request *request, struct error *err)
{
	struct bus bus = { .fd = connect_bus(request, err), .unit = request->name };

	if (bus.fd < 0 || authenticate(bus.fd, request->uid, err) < 0 || greet(&bus, err) < 0)
		return -1;
	/* Before the call, because the job may end before its reply is read. */
	if (listen_for_jobs(&bus, err) < 0 || start_unit(&bus, request, err) < 0)
		return -1;
	return await_job(&bus, err);
}
