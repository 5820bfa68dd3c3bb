/* SPDX-License-Identifier: Apache-2.0 */
/* DNS messages and the resolver's files. */
#include <greatest.h>

#include <stdio.h>
#include <net/if.h>
#include <string.h>

#include "common/proxy/dns.h"

static uint8_t query[DNS_QUERY_MAX];
static size_t query_length;
static uint8_t answer[DNS_ANSWER_MAX];
static size_t answer_length;

static void ask(const char *name, enum dns_type type)
{
	query_length = dns_write_query(name, type, 0x1234, query);
	memcpy(answer, query, query_length);
	answer_length = query_length;
	answer[2] = 0x81;
	answer[3] = 0x80;
}

/* Adds a record with owner and data as bytes of the message. */
static void add(const char *owner, size_t owner_length, unsigned type, const char *data, size_t length)
{
	const uint8_t fixed[] = { 0, (uint8_t)type, 0, 1, 0, 0, 0, 60, (uint8_t)(length >> 8), (uint8_t)length };
	memcpy(answer + answer_length, owner, owner_length);
	memcpy(answer + answer_length + owner_length, fixed, sizeof fixed);
	memcpy(answer + answer_length + owner_length + sizeof fixed, data, length);
	answer_length += owner_length + sizeof fixed + length;
	answer[7]++;
}
#define ADD(owner, type, data) add(owner, sizeof(owner) - 1, type, data, sizeof(data) - 1)

static enum dns_result read_it(struct dns_addresses *addresses)
{
	*addresses = (struct dns_addresses){ 0 };
	return dns_read_answer(query, query_length, answer, answer_length, addresses);
}

TEST a_link_local_server_keeps_its_interface(void)
{
	static const char text[] = "nameserver fe80::1%lo\nnameserver fe80::2%7\nnameserver fe80::3\nnameserver 192.0.2.1\n";
	struct dns_addresses servers;

	dns_read_servers(text, sizeof text - 1, &servers);
	ASSERT(servers.count >= 3);
	ASSERT_EQ(if_nametoindex("lo"), servers.items[0].scope);
	ASSERT(servers.items[0].scope > 0);
	ASSERT_EQ(7u, servers.items[1].scope);
	ASSERT_EQ(0u, servers.items[2].scope);
	PASS();
}

TEST writes_queries(void)
{
	char name[260];

	ASSERT_EQ(12 + 8 + 4, dns_write_query("h.test", DNS_A, 0x1234, query));
	ASSERT_MEM_EQ("\x12\x34\1\0\0\1\0\0\0\0\0\0\1h\4test\0\0\1\0\1", query, 24);
	ASSERT_EQ(0, dns_write_query("", DNS_A, 1, query));
	ASSERT_EQ(0, dns_write_query("a..b", DNS_A, 1, query));
	ASSERT_EQ(0, dns_write_query("a.", DNS_A, 1, query));
	memset(name, 'a', 64);
	name[64] = '\0';
	ASSERT_EQ(0, dns_write_query(name, DNS_A, 1, query));
	for (int i = 0; i < 254; i++)
		name[i] = i % 2 ? '.' : 'a';
	name[253] = '\0';
	ASSERT_EQ(12 + 255 + 4, dns_write_query(name, DNS_A, 1, query));
	PASS();
}

TEST reads_addresses(void)
{
	struct dns_addresses addresses;
	char text[64];

	ask("H.test", DNS_A);
	ADD("\xc0\x0c", 1, "\13\26\41\54");
	ADD("\1h\4TEST\0", 1, "\13\26\41\55");
	ADD("\1x\4test\0", 1, "\1\1\1\1"); /* of another name */
	ADD("\xc0\x0c", 28, "0123456789abcdef"); /* of another type */
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	ASSERT_EQ(2, addresses.count);
	address_format(&addresses.items[1], text);
	ASSERT_STR_EQ("11.22.33.45", text);
	ask("h.test", DNS_AAAA);
	ADD("\xc0\x0c", 28, "\x2a\0\0\1\0\0\0\0\0\0\0\0\0\0\0\x44");
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	address_format(&addresses.items[0], text);
	ASSERT_STR_EQ("2a00:1::44", text);
	ask("h.test", DNS_A);
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	ASSERT_EQ(0, addresses.count);
	PASS();
}

TEST follows_aliases(void)
{
	struct dns_addresses addresses;

	ask("h.test", DNS_A);
	ADD("\1b\0", 1, "\2\2\2\2");
	ADD("\1a\0", 5, "\1b\0");
	ADD("\xc0\x0c", 5, "\1a\0");
	ADD("\1z\0", 1, "\3\3\3\3");
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	ASSERT_EQ(1, addresses.count);
	ASSERT_EQ(2, addresses.items[0].bytes[0]);
	/* A loop of aliases terminates. */
	ask("h.test", DNS_A);
	ADD("\xc0\x0c", 5, "\1a\0");
	ADD("\1a\0", 5, "\1h\4test\0");
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	ASSERT_EQ(0, addresses.count);
	PASS();
}

TEST keeps_to_its_bounds(void)
{
	struct dns_addresses addresses;

	ask("h.test", DNS_A);
	for (int i = 0; i < 40; i++)
		ADD("\xc0\x0c", 1, "\2\2\2\2");
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	ASSERT_EQ(DNS_ADDRESS_MAX, addresses.count);
	/* No truncated message yields a part of this answer. */
	for (answer_length--; answer_length > query_length; answer_length--) {
		ASSERT_EQ(DNS_FAILED, read_it(&addresses));
		ASSERT_EQ(0, addresses.count);
	}
	PASS();
}

TEST refuses_what_is_broken(void)
{
	struct dns_addresses addresses;

	ask("h.test", DNS_A);
	ADD("\xc0\xff", 1, "\2\2\2\2"); /* a pointer forwards */
	ASSERT_EQ(DNS_FAILED, read_it(&addresses));
	ask("h.test", DNS_A);
	ADD("\xc0\x18", 1, "\2\2\2\2"); /* to itself */
	ASSERT_EQ(DNS_FAILED, read_it(&addresses));
	ask("h.test", DNS_A);
	ADD("\x80x\0", 1, "\2\2\2\2"); /* an unknown kind of label */
	ASSERT_EQ(DNS_FAILED, read_it(&addresses));
	ask("h.test", DNS_A);
	ADD("\xc0\x0c", 1, "\2\2\2"); /* three bytes of address */
	ASSERT_EQ(DNS_FAILED, read_it(&addresses));
	ask("h.test", DNS_A);
	ADD("\xc0\x0c", 1, "\2\2\2\2");
	answer[7] = 9; /* more records announced than there are */
	ASSERT_EQ(DNS_FAILED, read_it(&addresses));
	ASSERT_EQ(0, addresses.count);
	PASS();
}

TEST believes_only_its_own_answer(void)
{
	struct dns_addresses addresses;

	ask("h.test", DNS_A);
	ADD("\xc0\x0c", 1, "\2\2\2\2");
	answer[0] ^= 1;
	ASSERT_EQ(DNS_FOREIGN, read_it(&addresses));
	answer[0] ^= 1;
	answer[2] = 1; /* a question */
	ASSERT_EQ(DNS_FOREIGN, read_it(&addresses));
	answer[2] = 0x81;
	answer[13] = 'x'; /* another name */
	ASSERT_EQ(DNS_FOREIGN, read_it(&addresses));
	answer[13] = 'H';
	ASSERT_EQ(DNS_FOUND, read_it(&addresses));
	answer[3] = 0x83;
	ASSERT_EQ(DNS_NO_NAME, read_it(&addresses));
	answer[3] = 0x82;
	ASSERT_EQ(DNS_FAILED, read_it(&addresses));
	answer[3] = 0x80;
	answer[2] = 0x83;
	ASSERT_EQ(DNS_TRUNCATED, read_it(&addresses));
	answer_length = 3;
	ASSERT_EQ(DNS_FOREIGN, read_it(&addresses));
	PASS();
}

TEST reads_servers(void)
{
	static const char text[] =
		"# nameserver 9.9.9.9\n; nameserver 9.9.9.8\nsearch a.test\nnameserver 1.2.3.4 # x\n"
		"nameserver\t2001:db8::53\nnameserver not-one\noptions ndots:2\nnameserver fe80::1%eth0\nnameserver 4.4.4.4";
	struct dns_addresses servers;

	dns_read_servers(text, sizeof text - 1, &servers);
	ASSERT_EQ(DNS_SERVER_MAX, servers.count);
	ASSERT_EQ(1, servers.items[0].bytes[0]);
	ASSERT(servers.items[1].is_v6);
	ASSERT_EQ(0xfe, servers.items[2].bytes[0]);
	dns_read_servers("", 0, &servers);
	ASSERT_EQ(1, servers.count);
	ASSERT_EQ(127, servers.items[0].bytes[0]);
	PASS();
}

TEST reads_hosts(void)
{
	static const char text[] =
		"127.0.0.1 localhost\n# 1.1.1.1 h.test\n11.22.33.44\th.test H2.test # h3.test\n::1 localhost\n"
		"bad h.test\n11.22.33.45 x h.test.\n11.22.33.46 h.testing";
	struct dns_addresses addresses = { 0 };

	ASSERT(dns_read_hosts(text, sizeof text - 1, "h.test", &addresses));
	ASSERT_EQ(2, addresses.count);
	ASSERT_EQ(45, addresses.items[1].bytes[3]);
	addresses.count = 0;
	ASSERT(dns_read_hosts(text, sizeof text - 1, "h2.test", &addresses));
	addresses.count = 0;
	ASSERT_FALSE(dns_read_hosts(text, sizeof text - 1, "h3.test", &addresses));
	ASSERT(dns_read_hosts(text, sizeof text - 1, "localhost", &addresses));
	ASSERT_EQ(2, addresses.count);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_link_local_server_keeps_its_interface);
	RUN_TEST(writes_queries);
	RUN_TEST(reads_addresses);
	RUN_TEST(follows_aliases);
	RUN_TEST(keeps_to_its_bounds);
	RUN_TEST(refuses_what_is_broken);
	RUN_TEST(believes_only_its_own_answer);
	RUN_TEST(reads_servers);
	RUN_TEST(reads_hosts);
	GREATEST_MAIN_END();
}
