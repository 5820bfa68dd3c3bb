/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that try to get a byte out to an address of the test: TCP in its variants, UDP, raw and
 * exotic families. */
#include "attack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CONNECT_MS = 1500 };

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* IPv6 if there is a colon; IPv4 in all spellings that inet_aton knows (decimal, octal,
 * hexadecimal). */
static socklen_t parse_address(const char *host, const char *port, struct sockaddr_storage *storage)
{
	memset(storage, 0, sizeof *storage);
	if (strchr(host, ':')) {
		struct sockaddr_in6 *address = (struct sockaddr_in6 *)storage;
		address->sin6_family = AF_INET6;
		address->sin6_port = htons((uint16_t)atoi(port));
		if (inet_pton(AF_INET6, host, &address->sin6_addr) != 1)
			exit(64);
		return sizeof *address;
	}
	struct sockaddr_in *address = (struct sockaddr_in *)storage;
	address->sin_family = AF_INET;
	address->sin_port = htons((uint16_t)atoi(port));
	if (!inet_aton(host, &address->sin_addr))
		exit(64);
	return sizeof *address;
}

static long finish_connect(int fd)
{
	struct pollfd waiter = { fd, POLLOUT, 0 };
	int number = 0;
	socklen_t length = sizeof number;
	if (poll(&waiter, 1, CONNECT_MS) != 1)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &length))
		return -errno;
	return -number;
}

static long connect_stream(const char *host, const char *port, int protocol)
{
	struct sockaddr_storage address;
	socklen_t length = parse_address(host, port, &address);
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (fd < 0)
		return -errno;
	long result = result_of(connect(fd, (struct sockaddr *)&address, length));
	if (result == -EINPROGRESS)
		result = finish_connect(fd);
	close(fd);
	return result;
}

/* Data in the first packet: sendto connects by itself, past a filter that watches connect only. */
static long fast_open(const char *host, const char *port)
{
	struct sockaddr_storage address;
	socklen_t length = parse_address(host, port, &address);
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	long result = result_of(sendto(fd, "ATTACK", 6, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&address, length));
	if (result == -EINPROGRESS)
		result = finish_connect(fd);
	close(fd);
	return result;
}

static void run_tcp(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2) {
		report(labelled("tcp", pairs[0]), connect_stream(pairs[0], pairs[1], 0));
		report(labelled("fastopen", pairs[0]), fast_open(pairs[0], pairs[1]));
	}
}

static void run_tcp_variants(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2) {
		report(labelled("mptcp", pairs[0]), connect_stream(pairs[0], pairs[1], IPPROTO_MPTCP));
		report(labelled("sctp", pairs[0]), connect_stream(pairs[0], pairs[1], 132));
		report("smc", result_of(socket(43 /* AF_SMC */, SOCK_STREAM, 0)));
	}
}

/* An answer proves that the datagram arrived: sendto alone succeeds into the void. The test's
 * server echoes. */
static long await_echo(int fd)
{
	struct pollfd waiter = { fd, POLLIN, 0 };
	char byte;
	if (poll(&waiter, 1, 300) != 1)
		return -ETIMEDOUT;
	return recv(fd, &byte, 1, MSG_DONTWAIT) >= 0 ? 0 : -errno;
}

static long udp_socket(const struct sockaddr_storage *address)
{
	return result_of(socket(address->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static long udp_sendto(char **pair)
{
	struct sockaddr_storage address;
	socklen_t length = parse_address(pair[0], pair[1], &address);
	long fd = udp_socket(&address);
	if (fd < 0)
		return fd;
	if (sendto((int)fd, "ATTACK", 6, 0, (struct sockaddr *)&address, length) < 0)
		return -errno;
	return await_echo((int)fd);
}

static long udp_connect(char **pair)
{
	struct sockaddr_storage address;
	socklen_t length = parse_address(pair[0], pair[1], &address);
	long fd = udp_socket(&address);
	if (fd < 0)
		return fd;
	if (connect((int)fd, (struct sockaddr *)&address, length) || write((int)fd, "ATTACK", 6) < 0)
		return -errno;
	return await_echo((int)fd);
}

static long udp_sendmmsg(char **pair)
{
	struct sockaddr_storage address;
	socklen_t length = parse_address(pair[0], pair[1], &address);
	long fd = udp_socket(&address);
	if (fd < 0)
		return fd;
	struct iovec vector = { (char[]){ "ATTACK" }, 6 };
	struct mmsghdr message = { .msg_hdr = {
					   .msg_name = &address, .msg_namelen = length, .msg_iov = &vector, .msg_iovlen = 1 } };
	if (sendmmsg((int)fd, &message, 1, 0) != 1)
		return -errno;
	return await_echo((int)fd);
}

static long udp_sendmsg(char **pair)
{
	struct sockaddr_storage address;
	socklen_t length = parse_address(pair[0], pair[1], &address);
	long fd = udp_socket(&address);
	if (fd < 0)
		return fd;
	struct iovec vector = { (char[]){ "ATTACK" }, 6 };
	struct msghdr message = { .msg_name = &address, .msg_namelen = length, .msg_iov = &vector, .msg_iovlen = 1 };
	if (sendmsg((int)fd, &message, 0) < 0)
		return -errno;
	return await_echo((int)fd);
}

static void run_udp(char **pairs)
{
	for (; pairs[0] && pairs[1]; pairs += 2) {
		report(labelled("sendto", pairs[0]), udp_sendto(pairs));
		report(labelled("connect-write", pairs[0]), udp_connect(pairs));
		report(labelled("sendmsg", pairs[0]), udp_sendmsg(pairs));
		report(labelled("sendmmsg", pairs[0]), udp_sendmmsg(pairs));
	}
}

/* A question for a long random label: what a tunnel over DNS looks like. */
static size_t dns_question(unsigned char *packet)
{
	static const unsigned char header[12] = { 0x12, 0x34, 1, 0, 0, 1 };
	size_t length = sizeof header;
	memcpy(packet, header, sizeof header);
	for (int label = 0; label < 3; label++) {
		packet[length++] = 60;
		memset(packet + length, 'a' + label, 60);
		length += 60;
	}
	memcpy(packet + length, "\007example\003com\000\000\001\000\001", 17);
	return length + 17;
}

static void run_dns(char **pairs)
{
	unsigned char packet[512];
	size_t size = dns_question(packet);
	for (; pairs[0] && pairs[1]; pairs += 2) {
		struct sockaddr_storage address;
		socklen_t length = parse_address(pairs[0], pairs[1], &address);
		long fd = udp_socket(&address);
		long result = fd < 0 ? fd : result_of(sendto((int)fd, packet, size, 0, (struct sockaddr *)&address, length));
		report(labelled("dns-udp", pairs[0]), result < 0 ? result : await_echo((int)fd));
		report(labelled("dns-tcp", pairs[0]), connect_stream(pairs[0], pairs[1], 0));
	}
}

struct family {
	const char *name;
	int domain, type, protocol;
};

static long open_family(void *argument)
{
	const struct family *family = argument;
	gain_namespaces();
	return result_of(socket(family->domain, family->type, family->protocol));
}

/* As much power as can be had, then the socket: a plain user gets raw sockets in a network
 * namespace of his own. */
static void try_families(struct family *families, size_t count)
{
	for (size_t i = 0; i < count; i++)
		probe(families[i].name, open_family, &families[i], NULL);
}

static void run_raw(char **arguments)
{
	struct family families[] = {
		{ "raw-icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP },     { "raw-tcp", AF_INET, SOCK_RAW, IPPROTO_TCP },
		{ "raw-icmp6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6 }, { "packet-raw", AF_PACKET, SOCK_RAW, 0 },
		{ "packet-dgram", AF_PACKET, SOCK_DGRAM, 0 },
	};
	(void)arguments;
	try_families(families, sizeof families / sizeof *families);
}

static void run_families(char **arguments)
{
	struct family families[] = {
		{ "vsock", 40, SOCK_STREAM, 0 },
		{ "vsock-dgram", 40, SOCK_DGRAM, 0 },
		{ "alg", 38, SOCK_SEQPACKET, 0 },
		{ "bluetooth", 31, SOCK_RAW, 1 },
		{ "xdp", 44, SOCK_RAW, 0 },
		{ "can", 29, SOCK_RAW, 1 },
		{ "tipc", 30, SOCK_DGRAM, 0 },
		{ "key", 15, SOCK_RAW, 2 },
		{ "qipcrtr", 42, SOCK_DGRAM, 0 },
		{ "rds", 21, SOCK_SEQPACKET, 0 },
		{ "netlink-netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER },
		{ "netlink-audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT },
		{ "netlink-uevent", AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT },
		{ "netlink-xfrm", AF_NETLINK, SOCK_RAW, NETLINK_XFRM },
		{ "netlink-generic", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC },
	};
	(void)arguments;
	try_families(families, sizeof families / sizeof *families);
}

/* Junk in the high word of the family: the kernel ignores it. */
static long open_family_high(void *argument)
{
	const struct family *family = argument;
	gain_namespaces();
	return result_of(syscall(SYS_socket, (uint64_t)0xdeadbeef << 32 | (unsigned)family->domain,
				 (uint64_t)0xdeadbeef << 32 | (unsigned)family->type,
				 (uint64_t)0xdeadbeef << 32 | (unsigned)family->protocol));
}

static void run_families_high(char **arguments)
{
	struct family families[] = {
		{ "packet-high", AF_PACKET, SOCK_RAW, 0 },
		{ "vsock-high", 40, SOCK_STREAM, 0 },
		{ "raw-high", AF_INET, SOCK_RAW, IPPROTO_ICMP },
	};
	(void)arguments;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		probe(families[i].name, open_family_high, &families[i], NULL);
}

/* Adds an address to a device that does not exist: ENODEV is the proof that the right to change was
 * there. */
static long change_routes(void *unused)
{
	struct {
		struct nlmsghdr header;
		struct ifaddrmsg body;
		struct rtattr attribute;
		uint32_t address;
	} request = {
		.header = { sizeof request, RTM_NEWADDR, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, 0 },
		.body = { AF_INET, 32, 0, RT_SCOPE_HOST, 0x7ffffff0 },
		.attribute = { RTA_LENGTH(4), IFA_LOCAL },
		.address = 0x0100007f,
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[512];
	} answer;
	(void)unused;
	gain_namespaces();
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	if (send(fd, &request, sizeof request, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
		return -errno;
	return answer.header.nlmsg_type == NLMSG_ERROR ? answer.error.error : 0;
}

static void run_netlink_change(char **arguments)
{
	(void)arguments;
	probe("netlink-newaddr", change_routes, NULL, THROUGH(ENODEV));
}

const struct attack attacks_network[] = {
	{ "tcp", run_tcp, "HOST PORT ...: connect and fast open" },
	{ "tcp-variants", run_tcp_variants, "HOST PORT ...: MPTCP, SCTP, SMC" },
	{ "udp", run_udp, "HOST PORT ...: four ways to send" },
	{ "dns", run_dns, "HOST PORT ...: a long question over UDP and TCP" },
	{ "raw", run_raw, "raw and packet sockets" },
	{ "families", run_families, "address families beside the ordinary ones" },
	{ "families-high", run_families_high, "the same with junk in the high words" },
	{ "netlink-change", run_netlink_change, "changes the network's configuration" },
	{ NULL, NULL, NULL },
};
