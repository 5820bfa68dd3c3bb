/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on the network: `network: none`. Every address is one of the test's own namespace; servers
 * count what arrives. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netspace.h"

static const int ports[] = { 8080, 443, 53, 80, 0 };

/* The comparison, and the servers' own word that nothing arrived after the control. */
static void contain_network(struct trial *trial, const char *const *attack)
{
	const char *argv[ATTACK_ARGUMENTS + 2] = { "$ATTACK" };
	for (size_t i = 0; i < ATTACK_ARGUMENTS && attack[i]; i++)
		argv[i + 1] = attack[i];
	if (trial->server <= 0)
		trial->server = netspace_serve(ports);
	contain(trial, attack);
	int before = netspace_arrivals();
	expect(trial, before > 0, "control: nothing arrived at the servers");
	run_inside(trial, argv);
	int after = netspace_arrivals();
	expect(trial, after == before, "%d packets arrived from inside", after - before);
}
#define CONTAIN_NETWORK(trial, ...) contain_network(trial, (const char *const[]){ __VA_ARGS__, NULL })

static void direct_tcp(struct trial *trial)
{
	CONTAIN_NETWORK(trial, "tcp", "10.99.0.1", "8080", "2001:db8::53", "8080", "::ffff:10.99.0.1", "8080");
}

static void datagrams(struct trial *trial)
{
	CONTAIN_NETWORK(trial, "udp", "10.99.0.1", "443", "2001:db8::53", "443", "127.0.0.1", "443");
	CONTAIN_NETWORK(trial, "tcp", "10.99.0.1", "443");
}

static void names(struct trial *trial)
{
	CONTAIN_NETWORK(trial, "dns", "192.0.2.53", "53", "2001:db8::53", "53", "127.0.0.1", "53");
	CONTAIN_NETWORK(trial, "tcp", "192.0.2.53", "443");
}

static void metadata_services(struct trial *trial)
{
	CONTAIN_NETWORK(trial, "tcp", "169.254.169.254", "80", "fd00:ec2::254", "80", "2852039166", "80", "0251.0376.0251.0376",
			"80");
	CONTAIN_NETWORK(trial, "tcp", "0xa9.0xfe.0xa9.0xfe", "80", "0xa9fea9fe", "80", "::ffff:169.254.169.254", "80",
			"100.100.100.200", "80");
}

static void loopback_services(struct trial *trial)
{
	CONTAIN_NETWORK(trial, "tcp", "127.0.0.1", "8080", "::1", "8080", "0.0.0.0", "8080", "127.1", "8080");
	CONTAIN_NETWORK(trial, "tcp", "::", "8080", "::ffff:127.0.0.1", "8080");
}

static void other_transports(struct trial *trial)
{
	CONTAIN_NETWORK(trial, "tcp-variants", "10.99.0.1", "8080");
}

/* An empty list is not "no restriction". */
static void empty_allow_list(struct trial *trial)
{
	make_filef("version: 1\nnetwork:\n  allow: []\n", 0600, "%s/policy.yml", trial->world.base);
	trial_option(trial, "--policy=$BASE/policy.yml");
	trial->server = netspace_serve(ports);
	BARE(trial, "$ATTACK", "tcp", "10.99.0.1", "8080");
	expect(trial, strstr(trial->outcome.out, "REACHED tcp:10.99.0.1") != NULL, "control: no connection");
	int before = netspace_arrivals();
	INSIDE(trial, "$ATTACK", "tcp", "10.99.0.1", "8080", "127.0.0.1", "8080");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "an empty list opens the network");
	expect(trial, strstr(trial->outcome.out, "END") || trial->outcome.exit_code == 125, "neither refused nor run: %d",
	       trial->outcome.exit_code);
	expect(trial, netspace_arrivals() == before, "packets arrived");
}

const struct escape_case cases_network[] = {
	{ 71, "TCP over IPv4, IPv6 and mapped IPv6", NEED_NETWORK, NULL, { NULL }, NULL, direct_tcp, 0 },
	{ 72, "UDP with every sending call, TCP fast open", NEED_NETWORK, NULL, { NULL }, NULL, datagrams, 15 },
	{ 73, "DNS over UDP, TCP and port 443", NEED_NETWORK, NULL, { NULL }, NULL, names, 15 },
	{ 74, "ICMP, AF_PACKET, raw sockets", 0, NULL, { "raw" }, NULL, NULL, 0 },
	{ 76, "metadata services in all spellings", NEED_NETWORK, NULL, { NULL }, NULL, metadata_services, 0 },
	{ 77, "host services on loopback", NEED_NETWORK, NULL, { NULL }, NULL, loopback_services, 0 },
	{ 78, "an empty allow list", NEED_NETWORK, NULL, { NULL }, NULL, empty_allow_list, 0 },
	{ 116, "MPTCP, SCTP, SMC", NEED_NETWORK, NULL, { NULL }, NULL, other_transports, 0 },
	{ 0 },
};
