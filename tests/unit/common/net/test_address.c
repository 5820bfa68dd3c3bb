/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: accepted spellings, their values, and special ranges. */
#include <greatest.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "common/net/address.h"
#include "common/net/destination.h"

TEST reads_strict_text(void)
{
	static const struct {
		const char *text, *canonical; /* NULL: refused */
	} rows[] = {
		{ "1.2.3.4", "1.2.3.4" },
		{ "0.0.0.0", "0.0.0.0" },
		{ "255.255.255.255", "255.255.255.255" },
		{ "10.0.0.1", "10.0.0.1" },
		{ "::", "::" },
		{ "::1", "::1" },
		{ "[::1]", "::1" },
		{ "[::]", "::" },
		{ "2001:db8::1", "2001:db8::1" },
		{ "2001:DB8::A", "2001:db8::a" },
		{ "[2001:db8::]", "2001:db8::" },
		{ "2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1" },
		{ "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8" },
		{ "1::8", "1::8" },
		{ "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0" },
		{ "::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8" },
		{ "::ffff:127.0.0.1", "::ffff:127.0.0.1" },
		{ "::ffff:7f00:1", "::ffff:127.0.0.1" },
		{ "0:0:0:0:0:ffff:127.0.0.1", "::ffff:127.0.0.1" },
		{ "64:ff9b::10.1.2.3", "64:ff9b::a01:203" },
		{ "::1.2.3.4", "::1.2.3.4" },
		{ "fe80::1", "fe80::1" },
		{ "", NULL },
		{ " ", NULL },
		{ "1", NULL },
		{ "1.2.3", NULL },
		{ "1.2.3.4.5", NULL },
		{ "1.2.3.4.", NULL },
		{ ".1.2.3.4", NULL },
		{ "1..3.4", NULL },
		{ "256.0.0.1", NULL },
		{ "1.2.3.256", NULL },
		{ "1.2.3.1000", NULL },
		{ "01.2.3.4", NULL },
		{ "1.2.3.04", NULL },
		{ "00.0.0.0", NULL },
		{ "0x1.2.3.4", NULL },
		{ "1.2.3.4 ", NULL },
		{ " 1.2.3.4", NULL },
		{ "1.2.3.4/32", NULL },
		{ "1.2.3.4:80", NULL },
		{ "1.2.3.a", NULL },
		{ "-1.2.3.4", NULL },
		{ "+1.2.3.4", NULL },
		{ "127.1", NULL },
		{ "0x7f000001", NULL },
		{ "2130706433", NULL },
		{ "[1.2.3.4]", NULL },
		{ "[", NULL },
		{ "[]", NULL },
		{ "[::1", NULL },
		{ "::1]", NULL },
		{ "[[::1]]", NULL },
		{ "[::1]:80", NULL },
		{ ":", NULL },
		{ ":::", NULL },
		{ "1:::2", NULL },
		{ "1::2::3", NULL },
		{ "::1::", NULL },
		{ ":1:2:3:4:5:6:7:8", NULL },
		{ "1:2:3:4:5:6:7", NULL },
		{ "1:2:3:4:5:6:7:8:9", NULL },
		{ "1:2:3:4:5:6:7:8:", NULL },
		{ "1:2:3:4:5:6:7:8::", NULL },
		{ "1:2:3:4::5:6:7:8", NULL }, /* :: for nothing */
		{ "12345::", NULL },
		{ "g::", NULL },
		{ "1:", NULL },
		{ "::1:", NULL },
		{ "::ffff:1.2.3", NULL },
		{ "::ffff:1.2.3.4.5", NULL },
		{ "::ffff:01.2.3.4", NULL },
		{ "::1.2.3.4:5", NULL },
		{ "1:2:3:4:5:6:7:1.2.3.4", NULL },
		{ "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304" },
		{ "fe80::1%eth0", NULL },
		{ "[fe80::1%eth0]", NULL },
		{ "fe80::1%25eth0", NULL },
		{ "fe80::1%", NULL },
		{ "::1/128", NULL },
		{ "0x::1", NULL },
		{ "localhost", NULL },
		{ "example.org", NULL },
		{ "dead.beef", NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct address address;
		char text[64];
		bool is_address = address_parse(rows[i].text, &address);
		ASSERT_EQm(rows[i].text, rows[i].canonical != NULL, is_address);
		if (!is_address)
			continue;
		address_format(&address, text);
		/* C libraries format the deprecated addresses with an embedded IPv4 address
		 * differently. */
		if (strcmp(text, "::102:304") == 0)
			memcpy(text, "::1.2.3.4", sizeof "::1.2.3.4");
		ASSERT_STR_EQm(rows[i].text, rows[i].canonical, text);
	}
	PASS();
}

TEST reads_whatever_the_library_would(void)
{
	static const struct {
		const char *text, *canonical;
	} rows[] = {
		{ "127.0.0.1", "127.0.0.1" },
		{ "127.1", "127.0.0.1" },
		{ "127.0.1", "127.0.0.1" },
		{ "127.257", "127.0.1.1" },
		{ "127.65536", "127.1.0.0" },
		{ "1.2.772", "1.2.3.4" },
		{ "0x7f000001", "127.0.0.1" },
		{ "0X7F000001", "127.0.0.1" },
		{ "0x7f.0.0.1", "127.0.0.1" },
		{ "0x7f.1", "127.0.0.1" },
		{ "2130706433", "127.0.0.1" },
		{ "017700000001", "127.0.0.1" },
		{ "0177.0.0.1", "127.0.0.1" },
		{ "0177.1", "127.0.0.1" },
		{ "0177.0.0.01", "127.0.0.1" },
		{ "00000177.1", "127.0.0.1" },
		{ "0x0000000000007f.1", "127.0.0.1" },
		{ "0", "0.0.0.0" },
		{ "00", "0.0.0.0" },
		{ "0x0", "0.0.0.0" },
		{ "0.0", "0.0.0.0" },
		{ "1", "0.0.0.1" },
		{ "4294967295", "255.255.255.255" },
		{ "0xffffffff", "255.255.255.255" },
		{ "037777777777", "255.255.255.255" },
		{ "169.254.43518", "169.254.169.254" },
		{ "0xa9fea9fe", "169.254.169.254" },
		{ "2852039166", "169.254.169.254" },
		{ "0251.0376.0251.0376", "169.254.169.254" },
		{ "10.0.0.010", "10.0.0.8" },
		{ "::1", "::1" },
		{ "[::ffff:127.0.0.1]", "::ffff:127.0.0.1" },
		{ "4294967296", NULL },
		{ "0x100000000", NULL },
		{ "99999999999999999999999999", NULL },
		{ "0xffffffffffffffffffff", NULL },
		{ "256.1", NULL },
		{ "1.256.1.1", NULL },
		{ "1.2.3.256", NULL },
		{ "1.2.65536", NULL },
		{ "1.16777216", NULL },
		{ "08", NULL },
		{ "0189.1", NULL },
		{ "0x", NULL },
		{ "0xg", NULL },
		{ "0x.1", NULL },
		{ "1.", NULL },
		{ "127.1.", NULL },
		{ ".1", NULL },
		{ "1..1", NULL },
		{ "1.2.3.4.5", NULL },
		{ "127.1 ", NULL },
		{ "127.1\n", NULL },
		{ "1e3", NULL },
		{ "-1", NULL },
		{ "1a", NULL },
		{ "a", NULL },
		{ "", NULL },
		{ "fe80::1%lo", NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct address address;
		struct in_addr theirs;
		char text[64];
		bool is_address = address_parse_any(rows[i].text, &address);
		ASSERT_EQm(rows[i].text, rows[i].canonical != NULL, is_address);
		/* Everything that inet_aton accepts is accepted with the same value, except text
		 * after a blank. */
		if (!strpbrk(rows[i].text, " \n") && inet_aton(rows[i].text, &theirs)) {
			ASSERTm(rows[i].text, is_address);
			ASSERTm(rows[i].text, memcmp(&theirs, address.bytes, 4) == 0);
		}
		if (!is_address)
			continue;
		address_format(&address, text);
		ASSERT_STR_EQm(rows[i].text, rows[i].canonical, text);
	}
	PASS();
}

TEST knows_what_is_not_public(void)
{
	static const struct {
		const char *text, *special; /* NULL: public */
	} rows[] = {
		{ "1.1.1.1", NULL },
		{ "8.8.8.8", NULL },
		{ "9.255.255.255", NULL },
		{ "10.0.0.0", "private" },
		{ "10.255.255.255", "private" },
		{ "11.0.0.0", NULL },
		{ "0.0.0.0", "unspecified" },
		{ "0.1.2.3", "unspecified" },
		{ "126.255.255.255", NULL },
		{ "127.0.0.1", "loopback" },
		{ "127.255.255.255", "loopback" },
		{ "128.0.0.0", NULL },
		{ "100.63.255.255", NULL },
		{ "100.64.0.0", "private" },
		{ "100.127.255.255", "private" },
		{ "100.128.0.0", NULL },
		{ "100.100.100.200", "metadata service" },
		{ "100.100.100.201", "private" },
		{ "168.63.129.16", "metadata service" },
		{ "168.63.129.17", NULL },
		{ "169.253.255.255", NULL },
		{ "169.254.0.0", "link-local" },
		{ "169.254.0.23", "metadata service" },
		{ "169.254.42.42", "metadata service" },
		{ "169.254.169.254", "metadata service" },
		{ "169.254.169.253", "metadata service" },
		{ "169.254.170.2", "metadata service" },
		{ "169.254.170.23", "metadata service" },
		{ "169.254.171.2", "link-local" },
		{ "169.255.0.0", NULL },
		{ "172.15.255.255", NULL },
		{ "172.16.0.0", "private" },
		{ "172.31.255.255", "private" },
		{ "172.32.0.0", NULL },
		{ "192.0.0.1", "reserved" },
		{ "192.0.0.192", "metadata service" },
		{ "192.0.1.0", NULL },
		{ "192.0.2.1", "documentation" },
		{ "192.88.99.1", "reserved" },
		{ "192.167.255.255", NULL },
		{ "192.168.0.1", "private" },
		{ "192.169.0.0", NULL },
		{ "198.17.255.255", NULL },
		{ "198.18.0.1", "benchmark" },
		{ "198.19.255.255", "benchmark" },
		{ "198.20.0.0", NULL },
		{ "198.51.100.7", "documentation" },
		{ "203.0.113.7", "documentation" },
		{ "223.255.255.255", NULL },
		{ "224.0.0.1", "multicast" },
		{ "239.255.255.255", "multicast" },
		{ "240.0.0.1", "reserved" },
		{ "255.255.255.254", "reserved" },
		{ "255.255.255.255", "broadcast" },
		{ "::", "unspecified" },
		{ "::1", "loopback" },
		{ "::2", "unspecified" }, /* compatible form of 0.0.0.2 */
		{ "::127.0.0.1", "loopback" },
		{ "::8.8.8.8", NULL },
		{ "::ffff:127.0.0.1", "loopback" },
		{ "::ffff:10.1.2.3", "private" },
		{ "::ffff:169.254.169.254", "metadata service" },
		{ "::ffff:8.8.8.8", NULL },
		{ "::ffff:0:127.0.0.1", "loopback" }, /* translated, RFC 2765 */
		{ "::ffff:0:8.8.8.8", NULL },
		{ "64:ff9b::127.0.0.1", "loopback" },
		{ "64:ff9b::192.168.1.1", "private" },
		{ "64:ff9b::a9fe:a9fe", "metadata service" },
		{ "64:ff9b::8.8.8.8", NULL },
		{ "64:ff9b:1::8.8.8.8", "private" },
		{ "64:ff9b:2::1", "reserved" },
		{ "2002:7f00:1::", "loopback" },
		{ "2002:7f00:1::1", "loopback" },
		{ "2002:a00:1:2:3:4:5:6", "private" },
		{ "2002:a9fe:a9fe::1", "metadata service" },
		{ "2002:808:808::1", NULL },
		{ "2001::1", "Teredo" },
		{ "2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo" },
		{ "2001:10::1", "reserved" },
		{ "2001:1ff::1", "reserved" },
		{ "2001:200::1", NULL },
		{ "2001:db8::1", "documentation" },
		{ "2001:db9::1", NULL },
		{ "2001:4860:4860::8888", NULL },
		{ "2606:4700::1111", NULL },
		{ "3fff::1", "documentation" },
		{ "3ffe::1", NULL },
		{ "3fff:1000::1", NULL },
		{ "4000::1", "reserved" },
		{ "5f00::1", "reserved" },
		{ "100::1", "reserved" },
		{ "1::1", "reserved" },
		{ "8000::1", "reserved" },
		{ "fbff::1", "reserved" },
		{ "fc00::1", "private" },
		{ "fd12:3456::1", "private" },
		{ "fd00:ec2::254", "metadata service" },
		{ "fd00:ec2::23", "metadata service" },
		{ "fd00:ec3::254", "private" },
		{ "fd20:ce::254", "metadata service" },
		{ "fd00:42::42", "metadata service" },
		{ "fe00::1", "reserved" },
		{ "fe80::1", "link-local" },
		{ "fe80::a9fe:a9fe", "metadata service" },
		{ "febf::1", "link-local" },
		{ "fec0::1", "private" },
		{ "ff02::1", "multicast" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct address address;
		const char *special;
		ASSERTm(rows[i].text, address_parse(rows[i].text, &address));
		special = address_special(&address);
		ASSERT_STR_EQm(rows[i].text, rows[i].special ? rows[i].special : "public", special ? special : "public");
	}
	PASS();
}

/* A network of range.bits bits around a special address is inside the range: its first and last
 * addresses are special too. */
TEST ranges_know_their_width(void)
{
	static const char *const texts[] = { "10.1.2.3",
					     "100.100.100.200",
					     "169.254.169.254",
					     "::ffff:10.1.2.3",
					     "64:ff9b::10.1.2.3",
					     "2002:a00:1::1",
					     "fd00:ec2::254",
					     "fe80::1",
					     "2001::1",
					     "4000::1",
					     "::1" };
	static const unsigned bits[] = { 8, 32, 24, 104, 104, 24, 32, 10, 32, 2, 128 };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct address address;
		struct address_range range;
		ASSERT(address_parse(texts[i], &address));
		ASSERT(address_range(&address, &range));
		ASSERT_EQ_FMTm(texts[i], bits[i], range.bits, "%u");
		for (unsigned bit = range.bits; bit < address_width(&address); bit++)
			address.bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		ASSERTm(texts[i], address_special(&address));
	}
	PASS();
}

TEST agrees_with_the_library_on_random_text(void)
{
	static const char alphabet[] = "0123456789abcdefx.::[]% ";
	unsigned state = 1;

	for (int round = 0; round < 200000; round++) {
		char text[24];
		struct in6_addr theirs;
		struct address ours;
		size_t length = (size_t)(state >> 16) % (sizeof text - 1);
		for (size_t i = 0; i < length; i++) {
			state = state * 1103515245u + 12345u;
			text[i] = alphabet[(state >> 16) % (sizeof alphabet - 1)];
		}
		text[length] = '\0';
		state = state * 1103515245u + 12345u;
		bool is_v6 = inet_pton(AF_INET6, text, &theirs) == 1;
		if (text[0] == '[')
			continue;
		if (!address_parse(text, &ours)) {
			/* glibc accepts `::` in place of no group; address_parse does not. */
			ASSERT_FALSEm(text, is_v6 && !strstr(text, "::"));
			continue;
		}
		if (ours.is_v6) {
			ASSERTm(text, is_v6);
			ASSERT_MEM_EQm(text, &theirs, ours.bytes, 16);
		}
	}
	PASS();
}

TEST lists_its_own_addresses(void)
{
	struct arena arena = { 0 };
	struct addresses own;
	struct error err = { 0 };
	bool has_loopback = false;

	ASSERT_EQm(err.message, 0, address_own(&arena, &own, &err));
	for (size_t i = 0; i < own.count; i++) {
		const char *special = address_special(&own.items[i]);
		has_loopback |= special && strcmp(special, "loopback") == 0;
	}
	arena_free(&arena);
	if (!has_loopback)
		SKIPm("no loopback interface here");
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(reads_strict_text);
	RUN_TEST(reads_whatever_the_library_would);
	RUN_TEST(knows_what_is_not_public);
	RUN_TEST(ranges_know_their_width);
	RUN_TEST(agrees_with_the_library_on_random_text);
	RUN_TEST(lists_its_own_addresses);
	GREATEST_MAIN_END();
}
