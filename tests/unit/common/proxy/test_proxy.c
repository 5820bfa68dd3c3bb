/* SPDX-License-Identifier: Apache-2.0 */
/* The whole proxy on the loopback with short timeouts: timeouts, limits on memory and connections,
 * refusals. Its name server is a thread. */
#include <greatest.h>

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/proxy/proxy.h"
#include "common/proxy/http.h"
#include "common/proxy/socket.h"
#include "common/policy/policy.h"

static const struct address loopback = { .bytes = { 127, 0, 0, 1 } };

static struct {
	struct arena arena;
	struct destinations allow, deny;
	struct resolver resolver;
	struct refusals reports;
	struct proxy_settings settings;
	struct proxy_listener listener;
	uint16_t port;
	int control[2];
	pthread_t thread, name_server;
	int name_socket, name_stream;
	uint16_t name_port;
	char credentials[HTTP_CREDENTIALS_MAX + 1];
	int silent; /* the name server does not answer */
	unsigned asked;
} world;

static uint16_t port_of(int fd)
{
	struct sockaddr_in address = { 0 };
	socklen_t length = sizeof address;
	getsockname(fd, (struct sockaddr *)&address, &length);
	return ntohs(address.sin_port);
}

static void allow(const char *text, struct destinations *list)
{
	struct error err = { 0 };
	struct destination destination = { 0 };
	struct rule *rule = arena_alloc(&world.arena, sizeof *rule);
	if (destination_parse(&world.arena, text, &destination, &err) < 0)
		abort();
	rule->key = list == &world.deny ? "network.deny" : "network.allow";
	rule->text = text;
	rule->origin.source = "test";
	destination.rule = rule;
	*(struct destination *)arena_push(&world.arena, list) = destination;
}

/* Every name is 127.0.0.1. A wrong answer is sent first and must be ignored. */
static void *serve_names(void *unused)
{
	uint8_t message[512];
	struct sockaddr_in peer;
	for (;;) {
		socklen_t length = sizeof peer;
		ssize_t size = recvfrom(world.name_socket, message, sizeof message - 32, 0, (struct sockaddr *)&peer, &length);
		static const uint8_t record[] = { 0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1 };
		if (size < 12)
			return unused;
		world.asked++;
		if (world.silent)
			continue;
		message[2] = 0x81;
		message[3] = 0x80;
		if (message[size - 3] == 1) { /* A */
			message[7] = 1;
			memcpy(message + size, record, sizeof record);
			size += sizeof record;
		}
		message[0] ^= 1;
		message[size - 1] ^= 2;
		sendto(world.name_socket, message, (size_t)size, 0, (struct sockaddr *)&peer, length);
		message[0] ^= 1;
		message[size - 1] ^= 2;
		sendto(world.name_socket, message, (size_t)size, 0, (struct sockaddr *)&peer, length);
	}
}

static void *serve(void *unused)
{
	proxy_serve(&world.settings);
	return unused;
}

static void prepare(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	memset(&world, 0, sizeof world);
	world.name_socket = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(world.name_socket, (struct sockaddr *)&address, sizeof address) < 0)
		abort();
	world.name_port = port_of(world.name_socket);
	resolver_open(&world.resolver, "/nonexistent", "/nonexistent");
	world.resolver.port = world.name_port;
	world.resolver.retry_ms = 100;
	world.listener.fd = socket_listen(&loopback, 0, 128);
	world.port = port_of(world.listener.fd);
	world.settings = (struct proxy_settings){
		.policy = { .allow = &world.allow, .deny = &world.deny },
		.secret = "secret",
		.limits = { .head_ms = 400,
			    .resolve_ms = 300,
			    .connect_ms = 700,
			    .attempt_ms = 200,
			    .idle_ms = 600,
			    .last_ms = 300,
			    .connections = 8 },
		.resolver = &world.resolver,
		.reports = &world.reports,
		.listeners = &world.listener,
		.listener_count = 1,
	};
	if (pipe(world.control) < 0)
		abort();
	world.settings.control = world.control[0];
	http_write_credentials(PROXY_USER, "secret", world.credentials);
}

static void start(void)
{
	pthread_create(&world.name_server, NULL, serve_names, NULL);
	pthread_create(&world.thread, NULL, serve, NULL);
}

static void stop(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) },
				       .sin_port = htons(world.name_port) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	close(world.control[1]);
	pthread_join(world.thread, NULL);
	sendto(fd, "", 0, 0, (struct sockaddr *)&address, sizeof address); /* wakes it */
	pthread_join(world.name_server, NULL);
	close(fd);
	close(world.control[0]);
	close(world.listener.fd);
	close(world.name_socket);
	free(world.resolver.hosts.text);
	free(world.resolver.servers_file.text);
	free(world.resolver.cache);
	arena_free(&world.arena);
}

/* Connects a blocking socket with timeouts. */
static int dial(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) }, .sin_port = htons(port) };
	struct timeval limit = { .tv_sec = 30 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
		abort();
	return fd;
}

static void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text))
		abort();
}

/* Reads to the end. */
static const char *hear(int fd)
{
	static char out[8192];
	size_t done = 0;
	ssize_t count;
	while (done < sizeof out - 1 && (count = recv(fd, out + done, sizeof out - 1 - done, 0)) > 0)
		done += (size_t)count;
	out[done] = '\0';
	return out;
}

static const char *exchange(const char *text)
{
	autoclose int fd = dial(world.port);
	say(fd, text);
	return hear(fd);
}

/* Sends CONNECT with the right credentials. */
static const char *tunnel(const char *host, unsigned port)
{
	static char text[512];
	snprintf(text, sizeof text, "CONNECT %s:%u HTTP/1.1\r\nProxy-Authorization: Basic %s\r\n\r\n", host, port,
		 world.credentials);
	return text;
}

/* A server that sends hello to one client after its first bytes and closes. */
static void *greet_one(void *argument)
{
	int listener = (int)(intptr_t)argument;
	char bytes[4096];
	struct pollfd watched = { .fd = listener, .events = POLLIN };
	int fd;
	while (poll(&watched, 1, 30000) != 1)
		return NULL;
	fd = socket_accept(listener);
	watched.fd = fd;
	poll(&watched, 1, 30000);
	recv(fd, bytes, sizeof bytes, 0);
	send(fd, "HTTP/1.1 200 OK\r\n\r\nhello", 24, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

TEST resolves_judges_and_connects(void)
{
	pthread_t thread;
	int server = socket_listen(&loopback, 0, 8);
	uint16_t port = port_of(server);
	char address[64], request[256];
	const char *reply;

	prepare();
	snprintf(address, sizeof address, "127.0.0.1:%u", port);
	allow("*.test", &world.allow);
	allow(address, &world.allow);
	allow("bad.test", &world.deny);
	start();
	pthread_create(&thread, NULL, greet_one, (void *)(intptr_t)server);
	snprintf(request, sizeof request, "GET http://h.test:%u/ HTTP/1.0\r\nProxy-Authorization: Basic %s\r\n\r\n", port,
		 world.credentials);
	reply = exchange(request);
	ASSERT_STR_EQ("HTTP/1.1 200 OK\r\n\r\nhello", reply);
	pthread_join(thread, NULL);
	ASSERT_EQ(2, world.asked); /* A and AAAA */
	/* Resolved and refused: the address has a rule for one port only. */
	reply = exchange(tunnel("h.test", 1));
	ASSERTm(reply, strstr(reply, "HTTP/1.1 403") == reply && strstr(reply, "loopback"));
	ASSERT_EQ(2, world.asked); /* cached */
	/* Not allowed or denied: no query is sent. */
	reply = exchange(tunnel("h.example", 443));
	ASSERTm(reply, strstr(reply, "HTTP/1.1 403") == reply && strstr(reply, "no rule allows this name"));
	reply = exchange(tunnel("bad.test", 443));
	ASSERTm(reply, strstr(reply, "HTTP/1.1 403") == reply && strstr(reply, "network.deny: bad.test (test)"));
	ASSERT_EQ(2, world.asked);
	reply = exchange("CONNECT h.test:443 HTTP/1.1\r\n\r\n");
	ASSERTm(reply, strstr(reply, "HTTP/1.1 407") == reply);
	stop();
	ASSERT_EQ(3, world.reports.count);
	ASSERT_FALSE(world.reports.items[2].is_allowable);
	close(server);
	PASS();
}

/* For waits that take less than a second on a quiet machine and never end without the limit. */
enum { LATE_MS = 20000 };

TEST gives_up_on_the_slow(void)
{
	int64_t begin;
	int server = socket_listen(&loopback, 0, 8), full = socket_listen(&loopback, 0, 0), held[3], fd;
	const char *reply;

	prepare();
	allow("*.test", &world.allow);
	allow("127.0.0.1", &world.allow);
	world.silent = 1;
	start();
	/* An endless header, byte by byte. */
	begin = clock_ms();
	fd = dial(world.port);
	for (int i = 0; i < 400 && clock_ms() - begin < LATE_MS; i++) {
		if (send(fd, "GET http://a" + i % 12, 1, MSG_NOSIGNAL) < 0)
			break;
		usleep(50000);
	}
	reply = hear(fd);
	ASSERTm(reply, strstr(reply, "HTTP/1.1 408") == reply || reply[0] == '\0');
	ASSERT(clock_ms() - begin < LATE_MS);
	close(fd);
	/* No byte at all. */
	begin = clock_ms();
	fd = dial(world.port);
	ASSERT_STR_EQ("", hear(fd));
	ASSERT(clock_ms() - begin < LATE_MS);
	close(fd);
	/* A name server that is silent. */
	begin = clock_ms();
	reply = exchange(tunnel("h.test", 443));
	ASSERTm(reply, strstr(reply, "HTTP/1.1 50") == reply);
	ASSERT(clock_ms() - begin < LATE_MS);
	/* A server whose queue is full: connecting hangs. */
	for (int i = 0; i < 3; i++) {
		held[i] = socket_new(false, SOCK_STREAM);
		socket_connect(held[i], &loopback, port_of(full));
	}
	begin = clock_ms();
	reply = exchange(tunnel("127.0.0.1", port_of(full)));
	ASSERTm(reply, strstr(reply, "HTTP/1.1 504") == reply);
	ASSERT(clock_ms() - begin < LATE_MS);
	/* An idle tunnel. */
	begin = clock_ms();
	fd = dial(world.port);
	say(fd, tunnel("127.0.0.1", port_of(server)));
	ASSERT_STR_EQ("HTTP/1.1 200 Connection established\r\n\r\n", hear(fd));
	ASSERT(clock_ms() - begin >= 500 && clock_ms() - begin < LATE_MS);
	close(fd);
	stop();
	for (int i = 0; i < 3; i++)
		close(held[i]);
	close(server);
	close(full);
	PASS();
}

TEST turns_the_many_away(void)
{
	int held[8];
	int64_t begin;
	const char *reply;

	prepare();
	world.settings.limits.head_ms = 60000;
	start();
	for (int i = 0; i < 8; i++)
		held[i] = dial(world.port);
	begin = clock_ms();
	reply = exchange(tunnel("h.test", 443)); /* the earlier connections take all slots */
	ASSERTm(reply, strstr(reply, "HTTP/1.1 503") == reply);
	ASSERT(clock_ms() - begin < LATE_MS);
	close(held[0]);
	do
		reply = exchange(tunnel("h.test", 443));
	while (strstr(reply, "HTTP/1.1 403") != reply && clock_ms() - begin < LATE_MS);
	ASSERTm(reply, strstr(reply, "HTTP/1.1 403") == reply);
	for (int i = 1; i < 8; i++)
		close(held[i]);
	stop();
	PASS();
}

/* A server that does not read: the proxy accepts no more than its buffer and the kernel's. */
TEST holds_back_the_fast(void)
{
	static char block[65536];
	int server = socket_listen(&loopback, 0, 8), fd;
	size_t sent = 0;
	char reply[64];

	prepare();
	allow("127.0.0.1", &world.allow);
	world.settings.limits.idle_ms = 5000;
	start();
	fd = dial(world.port);
	say(fd, tunnel("127.0.0.1", port_of(server)));
	ASSERT(recv(fd, reply, sizeof reply, 0) > 0);
	for (int idle = 0; idle < 10 && sent < (256u << 20);) {
		ssize_t count = send(fd, block, sizeof block, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (count > 0)
			sent += (size_t)count;
		idle = count > 0 ? 0 : idle + 1;
		if (count <= 0)
			usleep(20000);
	}
	ASSERT(sent > 0 && sent < (64u << 20));
	close(fd);
	stop();
	close(server);
	PASS();
}

TEST relays_to_a_port(void)
{
	pthread_t thread;
	int server = socket_listen(&loopback, 0, 8), fd;

	prepare();
	world.listener.relay_port = port_of(server);
	start();
	pthread_create(&thread, NULL, greet_one, (void *)(intptr_t)server);
	fd = dial(world.port);
	say(fd, "anything");
	ASSERT_STR_EQ("HTTP/1.1 200 OK\r\n\r\nhello", hear(fd));
	close(fd);
	pthread_join(thread, NULL);
	close(server);
	/* No listener: fails immediately. */
	fd = dial(world.port);
	ASSERT_STR_EQ("", hear(fd));
	close(fd);
	stop();
	PASS();
}

TEST makes_secrets(void)
{
	char first[PROXY_SECRET_MAX + 1], second[PROXY_SECRET_MAX + 1];

	ASSERT_EQ(0, proxy_make_secret(first));
	ASSERT_EQ(0, proxy_make_secret(second));
	ASSERT_EQ(PROXY_SECRET_MAX, strspn(first, "0123456789abcdef"));
	ASSERT(strcmp(first, second) != 0);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	signal(SIGPIPE, SIG_IGN);
	RUN_TEST(resolves_judges_and_connects);
	RUN_TEST(gives_up_on_the_slow);
	RUN_TEST(turns_the_many_away);
	RUN_TEST(holds_back_the_fast);
	RUN_TEST(relays_to_a_port);
	RUN_TEST(makes_secrets);
	GREATEST_MAIN_END();
}
