/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation with systemd's manager, in a process of its own that is killed when it takes too long: everything here may block. */
#include "linux/scope.h"

#ifndef BERM_HAS_SYSTEMD

bool scope_bus_is_built(void)
{
	return false;
}

int scope_bus_ask(const struct scope_request *request, struct error *err)
{
	(void)request;
	return error_set(err, "this berm was built without libsystemd's header");
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "common/cleanup.h"

#define FUNCTIONS(X)                                                                                                           \
	X(sd_bus_new)                                                                                                          \
	X(sd_bus_set_fd)                                                                                                       \
	X(sd_bus_set_bus_client)                                                                                               \
	X(sd_bus_start)                                                                                                        \
	X(sd_bus_match_signal)                                                                                                 \
	X(sd_bus_message_new_method_call)                                                                                      \
	X(sd_bus_message_append)                                                                                               \
	X(sd_bus_message_open_container)                                                                                       \
	X(sd_bus_message_close_container)                                                                                      \
	X(sd_bus_message_read)                                                                                                 \
	X(sd_bus_call)                                                                                                         \
	X(sd_bus_process)                                                                                                      \
	X(sd_bus_wait)

/* The same names with the types of the header. */
struct library {
#define DECLARE(name) __typeof__(&name) name;
	FUNCTIONS(DECLARE)
#undef DECLARE
};

struct job {
	const struct library *library;
	const char *path;
	bool is_over, is_done;
};

static const char manager[] = "org.freedesktop.systemd1";
static const char manager_path[] = "/org/freedesktop/systemd1";
static const char manager_interface[] = "org.freedesktop.systemd1.Manager";

bool scope_bus_is_built(void)
{
	return true;
}

/* By full path: LD_LIBRARY_PATH may lead into a project. */
static void *open_library(void)
{
	static const char *const directories[] = {
		"/usr/lib/" BERM_LIBRARY_ARCHITECTURE,
		"/lib/" BERM_LIBRARY_ARCHITECTURE,
		"/usr/lib64",
		"/lib64",
		"/usr/lib",
		"/lib",
	};
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
		char path[256];
		void *handle;
		snprintf(path, sizeof path, "%s/libsystemd.so.0", directories[i]);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (handle)
			return handle;
	}
	return NULL;
}

static int load(struct library *library, struct error *err)
{
	static const char *const names[] = {
#define NAME(name) #name,
		FUNCTIONS(NAME)
#undef NAME
	};
	void *handle = open_library();
	void *found[sizeof names / sizeof names[0]];
	_Static_assert(sizeof found == sizeof *library, "one pointer for each function");

	if (!handle) {
		error_set(err, "libsystemd.so.0, through which systemd is asked for a scope, is not there");
		return -1;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		found[i] = dlsym(handle, names[i]);
		if (!found[i]) {
			error_set(err, "libsystemd.so.0 has no %s", names[i]);
			return -1;
		}
	}
	memcpy(library, found, sizeof found);
	return 0;
}

/* "NSpid:\t812\n": with more numbers the process is in a pid namespace of its own. */
static bool is_in_own_pid_namespace(pid_t pid)
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

/* A manager outside of this container would take init's number for a process of its own. */
static int connect_bus(const struct scope_request *request, struct error *err)
{
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t length = sizeof peer;

	memcpy(address.sun_path, request->socket, sizeof address.sun_path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return error_errno(err, errno, "cannot ask systemd for a scope: %s", request->socket);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 || peer.uid != request->uid)
		return error_set(err, "%s belongs to another user: it is not asked for a scope", request->socket);
	if (peer.pid <= 0 || !is_in_own_pid_namespace(peer.pid))
		return error_set(err, "%s is outside of this container: it is not asked for a scope", request->socket);
	return steal_fd(&fd);
}

static int open_bus(const struct library *library, const struct scope_request *request, sd_bus **bus, struct error *err)
{
	int fd = connect_bus(request, err), result;
	if (fd < 0)
		return -1;
	if ((result = library->sd_bus_new(bus)) < 0 || (result = library->sd_bus_set_fd(*bus, fd, fd)) < 0 ||
	    (result = library->sd_bus_set_bus_client(*bus, 1)) < 0 || (result = library->sd_bus_start(*bus)) < 0)
		return error_errno(err, -result, "cannot speak with %s", request->socket);
	return 0;
}

/* Collected even if it fails, so that nothing is left of it to be reset. */
static int add_properties(const struct library *library, sd_bus_message *message, const struct scope_request *request)
{
	const struct cgroup_limits *limits = &request->limits;
	int result = library->sd_bus_message_append(message, "(sv)(sv)(sv)(sv)", "Description", "s", "berm: limits of one run",
						    "PIDs", "au", 2, (uint32_t)request->pid, (uint32_t)request->keeper,
						    "Delegate", "b", 1, "CollectMode", "s", "inactive-or-failed");
	if (result >= 0 && limits->memory > 0)
		result =
			library->sd_bus_message_append(message, "(sv)(sv)", "MemoryMax", "t",
						       limits->memory + CGROUP_KEEPER_BYTES, "MemorySwapMax", "t", UINT64_C(0));
	/* Init is one of them, the keeper another. */
	if (result >= 0 && limits->processes > 0)
		result = library->sd_bus_message_append(message, "(sv)", "TasksMax", "t", limits->processes + 2);
	return result;
}

static int fill(const struct library *library, sd_bus_message *message, const struct scope_request *request)
{
	int result = library->sd_bus_message_append(message, "ss", request->name, "fail");
	if (result >= 0)
		result = library->sd_bus_message_open_container(message, 'a', "(sv)");
	if (result >= 0)
		result = add_properties(library, message, request);
	if (result >= 0)
		result = library->sd_bus_message_close_container(message);
	return result < 0 ? result : library->sd_bus_message_append(message, "a(sa(sv))", 0);
}

static int job_removed(sd_bus_message *message, void *data, sd_bus_error *ignored)
{
	struct job *job = data;
	const char *path, *unit, *outcome;
	uint32_t id;
	(void)ignored;
	if (job->library->sd_bus_message_read(message, "uoss", &id, &path, &unit, &outcome) < 0 || !job->path ||
	    strcmp(path, job->path) != 0)
		return 0;
	job->is_over = true;
	job->is_done = strcmp(outcome, "done") == 0;
	return 0;
}

static int start_unit(const struct library *library, sd_bus *bus, const struct scope_request *request, struct job *job,
		      struct error *err)
{
	sd_bus_message *message = NULL, *reply = NULL;
	sd_bus_error said = SD_BUS_ERROR_NULL;
	int result = library->sd_bus_message_new_method_call(bus, &message, manager, manager_path, manager_interface,
							     "StartTransientUnit");
	if (result >= 0)
		result = fill(library, message, request);
	if (result >= 0)
		result = library->sd_bus_call(bus, message, 0, &said, &reply);
	if (result >= 0)
		result = library->sd_bus_message_read(reply, "o", &job->path);
	if (result >= 0)
		return 0;
	if (said.message)
		return error_set(err, "systemd makes no scope: %s", said.message);
	return error_errno(err, -result, "systemd makes no scope");
}

static int await(const struct library *library, sd_bus *bus, const struct job *job, struct error *err)
{
	while (!job->is_over) {
		int result = library->sd_bus_process(bus, NULL);
		if (result == 0)
			result = library->sd_bus_wait(bus, UINT64_MAX);
		if (result < 0 && result != -EINTR)
			return error_errno(err, -result, "systemd was lost while it made a scope");
	}
	return job->is_done ? 0 : error_set(err, "systemd could not start the scope");
}

/* What is opened here ends with the process. */
int scope_bus_ask(const struct scope_request *request, struct error *err)
{
	struct library library;
	struct job job = { .library = &library };
	sd_bus *bus = NULL;
	int result;

	if (load(&library, err) < 0 || open_bus(&library, request, &bus, err) < 0)
		return -1;
	/* Before the call: the job may be over before its answer is read. */
	result = library.sd_bus_match_signal(bus, NULL, manager, manager_path, manager_interface, "JobRemoved", job_removed,
					     &job);
	if (result < 0)
		return error_errno(err, -result, "cannot listen to systemd");
	if (start_unit(&library, bus, request, &job, err) < 0)
		return -1;
	return await(&library, bus, &job, err);
}

#endif
