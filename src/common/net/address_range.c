/* SPDX-License-Identifier: Apache-2.0 */
/* One table of non-public addresses per family, and IPv4 addresses in IPv6. Fails closed:
 * everything outside the unicast space that IANA has allocated is special. */
#include "common/net/address.h"

#include <string.h>

#define RANGE(label, article)                                                                                                  \
	.range = { .name = label,                                                                                              \
		   .named_reason = "this is " article label " address, and no rule names it",                                  \
		   .resolved_reason = "it resolves to " article label " address, which no rule names" }
#define METADATA                                                                                                               \
	.range = { .name = "metadata service",                                                                                 \
		   .named_reason = "this is the address of a cloud's metadata service, and no rule names it",                  \
		   .resolved_reason = "it resolves to a cloud's metadata service, which no rule names",                        \
		   .is_metadata = true }

struct v4_row {
	uint8_t bytes[4];
	unsigned bits;
	struct address_range range;
};

/* The first match counts, so that narrow ranges come first. */
static const struct v4_row v4_rows[] = {
	/* Most clouds: 169.254.169.254; AWS time and DNS nearby. */
	{ { 169, 254, 169, 0 }, 24, METADATA },
	{ { 169, 254, 170, 0 }, 24, METADATA }, /* AWS: container and pod credentials */
	{ { 169, 254, 0, 23 }, 32, METADATA }, /* Tencent Cloud */
	{ { 169, 254, 42, 42 }, 32, METADATA }, /* Scaleway */
	{ { 100, 100, 100, 200 }, 32, METADATA }, /* Alibaba Cloud */
	/* Azure: in public space, reachable only from its machines. */
	{ { 168, 63, 129, 16 }, 32, METADATA },
	{ { 192, 0, 0, 192 }, 32, METADATA }, /* Oracle Cloud, first generation */
	{ { 0, 0, 0, 0 }, 8, RANGE("unspecified", "an ") }, /* Linux connects 0.0.0.0 to itself */
	{ { 10, 0, 0, 0 }, 8, RANGE("private", "a ") },
	{ { 100, 64, 0, 0 }, 10, RANGE("private", "a ") }, /* carrier-grade NAT, overlay networks */
	{ { 127, 0, 0, 0 }, 8, RANGE("loopback", "a ") },
	{ { 169, 254, 0, 0 }, 16, RANGE("link-local", "a ") },
	{ { 172, 16, 0, 0 }, 12, RANGE("private", "a ") },
	{ { 192, 168, 0, 0 }, 16, RANGE("private", "a ") },
	{ { 192, 0, 0, 0 }, 24, RANGE("reserved", "a ") },
	{ { 192, 0, 2, 0 }, 24, RANGE("documentation", "a ") },
	{ { 192, 88, 99, 0 }, 24, RANGE("reserved", "a ") }, /* 6to4 relays, withdrawn */
	{ { 198, 18, 0, 0 }, 15, RANGE("benchmark", "a ") },
	{ { 198, 51, 100, 0 }, 24, RANGE("documentation", "a ") },
	{ { 203, 0, 113, 0 }, 24, RANGE("documentation", "a ") },
	{ { 255, 255, 255, 255 }, 32, RANGE("broadcast", "a ") },
	{ { 224, 0, 0, 0 }, 4, RANGE("multicast", "a ") },
	{ { 240, 0, 0, 0 }, 4, RANGE("reserved", "a ") },
};

struct v6_row {
	uint8_t bytes[16];
	unsigned bits;
	struct address_range range;
};

static const struct v6_row v6_rows[] = {
	{ { 0xfd, 0x00, 0x0e, 0xc2 }, 32, METADATA }, /* AWS: fd00:ec2::254, ::23 for pods */
	{ { 0xfd, 0x20, 0x00, 0xce }, 32, METADATA }, /* Google Cloud: fd20:ce::254 */
	{ { 0xfd, 0x00, 0x00, 0x42 }, 32, METADATA }, /* Scaleway: fd00:42::42 */
	/* OpenStack: fe80::a9fe:a9fe. */
	{ { 0xfe, 0x80, [12] = 0xa9, 0xfe, 0xa9, 0xfe }, 128, METADATA },
	{ { [15] = 0 }, 128, RANGE("unspecified", "an ") },
	{ { [15] = 1 }, 128, RANGE("loopback", "a ") },
	/* NAT64 with a local prefix. */
	{ { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 }, 48, RANGE("private", "a ") },
	{ { 0x20, 0x01, 0x00, 0x00 }, 32, RANGE("Teredo", "a ") },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, RANGE("documentation", "a ") },
	{ { 0x20, 0x01 }, 23, RANGE("reserved", "a ") },
	{ { 0x3f, 0xff }, 20, RANGE("documentation", "a ") },
	{ { 0xfc }, 7, RANGE("private", "a ") },
	{ { 0xfe, 0x80 }, 10, RANGE("link-local", "a ") },
	/* site-local, withdrawn, still routed by some sites. */
	{ { 0xfe, 0xc0 }, 10, RANGE("private", "a ") },
	{ { 0xff }, 8, RANGE("multicast", "a ") },
	{ { 0x00 }, 3, RANGE("reserved", "a ") },
	{ { 0x40 }, 2, RANGE("reserved", "a ") },
	{ { 0x80 }, 1, RANGE("reserved", "a ") },
};

/* Prefixes of IPv6 addresses with an embedded IPv4 address. */
static const struct {
	uint8_t bytes[12];
	unsigned bits; /* of the prefix; the IPv4 address follows directly */
} embeddings[] = {
	{ { [10] = 0xff, 0xff }, 96 }, /* ::ffff:0:0/96, mapped */
	{ { [8] = 0xff, 0xff }, 96 }, /* ::ffff:0:0:0/96, translated */
	{ { 0x00, 0x64, 0xff, 0x9b }, 96 }, /* 64:ff9b::/96, NAT64 */
	{ { 0x20, 0x02 }, 16 }, /* 2002::/16, 6to4 */
	{ { 0 }, 96 }, /* ::/96, compatible; :: and ::1 have their own rows */
};

static bool bits_agree(const uint8_t *left, const uint8_t *right, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(left, right, bytes) != 0)
		return false;
	return rest == 0 || ((left[bytes] ^ right[bytes]) >> (8 - rest)) == 0;
}

unsigned address_width(const struct address *address)
{
	return address->is_v6 ? 128 : 32;
}

bool address_shares(const struct address *left, const struct address *right, unsigned bits)
{
	return left->is_v6 == right->is_v6 && bits_agree(left->bytes, right->bytes, bits);
}

bool address_is_network(const struct address *address, unsigned bits)
{
	for (unsigned i = bits; i < address_width(address); i++) {
		if (address->bytes[i / 8] & (0x80u >> i % 8))
			return false;
	}
	return true;
}

bool address_embedded(const struct address *address, struct address *v4, unsigned *offset)
{
	for (size_t i = 0; address->is_v6 && i < sizeof embeddings / sizeof *embeddings; i++) {
		if (!bits_agree(address->bytes, embeddings[i].bytes, embeddings[i].bits))
			continue;
		*v4 = (struct address){ 0 };
		*offset = embeddings[i].bits;
		memcpy(v4->bytes, address->bytes + *offset / 8, 4);
		return true;
	}
	return false;
}

struct address address_unmapped(const struct address *address)
{
	struct address v4 = { 0 };

	if (!address->is_v6 || !bits_agree(address->bytes, embeddings[0].bytes, embeddings[0].bits))
		return *address;
	memcpy(v4.bytes, address->bytes + 12, 4);
	return v4;
}

static bool v4_range(const struct address *address, struct address_range *range)
{
	for (size_t i = 0; i < sizeof v4_rows / sizeof *v4_rows; i++) {
		if (bits_agree(address->bytes, v4_rows[i].bytes, v4_rows[i].bits)) {
			*range = v4_rows[i].range;
			range->bits = v4_rows[i].bits;
			return true;
		}
	}
	return false;
}

static bool v6_range(const struct address *address, struct address_range *range, bool is_exact)
{
	for (size_t i = 0; i < sizeof v6_rows / sizeof *v6_rows; i++) {
		if (is_exact && v6_rows[i].bits != 128)
			continue;
		if (bits_agree(address->bytes, v6_rows[i].bytes, v6_rows[i].bits)) {
			*range = v6_rows[i].range;
			range->bits = v6_rows[i].bits;
			return true;
		}
	}
	return false;
}

bool address_range(const struct address *address, struct address_range *range)
{
	struct address v4;
	unsigned offset;

	if (!address->is_v6)
		return v4_range(address, range);
	/* :: and ::1 look like compatible addresses, so that single addresses are checked first. */
	if (v6_range(address, range, true))
		return true;
	if (!address_embedded(address, &v4, &offset))
		return v6_range(address, range, false);
	if (!v4_range(&v4, range))
		return false;
	range->bits += offset;
	return true;
}

const char *address_special(const struct address *address)
{
	struct address_range range;

	return address_range(address, &range) ? range.name : NULL;
}
