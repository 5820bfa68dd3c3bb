/* SPDX-License-Identifier: Apache-2.0 */
/* See netspace.h. Works for root and, with a user namespace, for anyone. */
#include "netspace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "world.h"

static const char *const ipv4[] = { "169.254.169.254", "10.99.0.1", "192.0.2.53", "100.100.100.200" };
static const char *const ipv6[] = { "fd00:ec2::254", "2001:db8::53" };
static atomic_int *arrivals;
static int question[2], reply[2]; /* pipes: request and reply for "all counted" */

static void add_ipv4(int fd, int alias, const char *address)
{
	struct ifreq request = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
	snprintf(request.ifr_name, sizeof request.ifr_name, "lo:%d", alias);
	in->sin_family = AF_INET;
	inet_pton(AF_INET, address, &in->sin_addr);
	if (ioctl(fd, SIOCSIFADDR, &request))
		die("address %s", address);
}

static void add_ipv6(int fd, const char *address)
{
	struct in6_ifreq request = { .ifr6_prefixlen = 128, .ifr6_ifindex = 1 };
	inet_pton(AF_INET6, address, &request.ifr6_addr);
	if (ioctl(fd, SIOCSIFADDR, &request))
		die("address %s", address);
}

void netspace_enter(void)
{
	if (geteuid() != 0 && !enter_user_namespace())
		die("unshare user");
	if (unshare(CLONE_NEWNET))
		die("unshare net");
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	if (fd < 0 || fd6 < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		die("loopback up");
	for (size_t i = 0; i < sizeof ipv4 / sizeof *ipv4; i++)
		add_ipv4(fd, (int)i + 1, ipv4[i]);
	for (size_t i = 0; i < sizeof ipv6 / sizeof *ipv6; i++)
		add_ipv6(fd6, ipv6[i]);
	close(fd);
	close(fd6);
	arrivals = mmap(NULL, sizeof *arrivals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (arrivals == MAP_FAILED)
		die("mmap");
}

/* One dual-stack socket answers for every address. */
static int bound(int type, int port)
{
	int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0), no = 0, yes = 1, queue = 5;
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_any };
	if (fd < 0 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) || bind(fd, (struct sockaddr *)&address, sizeof address))
		die("bind port %d", port);
	if (type == SOCK_STREAM) {
		setsockopt(fd, IPPROTO_TCP, 23 /* TCP_FASTOPEN */, &queue, sizeof queue);
		if (listen(fd, 16))
			die("listen");
	}
	return fd;
}

static void answer(int fd, bool is_stream)
{
	char block[2048];
	struct sockaddr_storage peer;
	socklen_t length = sizeof peer;
	atomic_fetch_add(arrivals, 1);
	if (is_stream) {
		int connection = accept(fd, NULL, NULL);
		if (connection >= 0)
			close(connection);
		return;
	}
	ssize_t size = recvfrom(fd, block, sizeof block, 0, (struct sockaddr *)&peer, &length);
	if (size >= 0)
		sendto(fd, block, (size_t)size, 0, (struct sockaddr *)&peer, length);
}

/* The last descriptor is the question, which is answered when nothing else waits. */
static void serve(struct pollfd *sockets, nfds_t count)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		bool is_quiet = true;
		char byte;
		if (poll(sockets, count + 1, -1) < 0)
			continue;
		for (nfds_t i = 0; i < count; i++)
			if (sockets[i].revents) {
				answer(sockets[i].fd, i % 2 == 0);
				is_quiet = false;
			}
		if (is_quiet && (read(question[0], &byte, 1) != 1 || write(reply[1], &byte, 1) != 1))
			_exit(0);
	}
}

pid_t netspace_serve(const int *ports)
{
	struct pollfd sockets[17];
	nfds_t count = 0;
	if (pipe2(question, O_CLOEXEC) || pipe2(reply, O_CLOEXEC))
		die("pipe");
	for (; *ports && count + 2 <= 16; ports++) {
		sockets[count++] = (struct pollfd){ bound(SOCK_STREAM, *ports), POLLIN, 0 };
		sockets[count++] = (struct pollfd){ bound(SOCK_DGRAM, *ports), POLLIN, 0 };
	}
	sockets[count] = (struct pollfd){ question[0], POLLIN, 0 };
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		serve(sockets, count);
	for (nfds_t i = 0; i < count; i++)
		close(sockets[i].fd);
	return pid;
}

int netspace_arrivals(void)
{
	char byte = 0;
	if (write(question[1], &byte, 1) != 1 || read(reply[0], &byte, 1) != 1)
		die("the server is gone");
	return atomic_load(arrivals);
}
