/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations. Input: one byte of flags, two of port, then lines: the host first; further ones
 * begin with `+` (allow), `-` (deny) or `=` (an address that the host resolved to). */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/net/address.h"
#include "common/net/destination.h"
#include "fuzz/property.h"
#include "common/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1500, RESOLVED_MAX = 4 };

struct input {
	struct arena arena;
	bool is_all;
	uint16_t port;
	char text[INPUT_MAX + 1];
	const char *host;
	struct destinations allow, deny;
	struct address resolved[RESOLVED_MAX];
	size_t resolved_count;
};

static const struct destinations nothing;

static void check_parsed(struct arena *arena, const struct destination *destination)
{
	struct error err = { 0 };
	const char *again;

	PROPERTY(destination->port_low <= destination->port_high);
	PROPERTY(destination->port_low > 0 || destination->port_high == UINT16_MAX);
	if (destination->kind == DESTINATION_NETWORK) {
		PROPERTY(destination->prefix <= address_width(&destination->network));
		PROPERTY(address_is_network(&destination->network, destination->prefix));
	} else if (destination->kind != DESTINATION_ANY) {
		PROPERTY(host_canonical(arena, destination->host, strlen(destination->host), &again, &err) == 0);
		PROPERTY(strcmp(again, destination->host) == 0);
	}
}

static void add_rule(struct input *input, const char *text, struct destinations *list)
{
	struct destination destination = { 0 };
	struct error err = { 0 };
	struct rule *rule;

	if (destination_parse(&input->arena, text, &destination, &err) < 0) {
		PROPERTY(error_is_set(&err));
		return;
	}
	check_parsed(&input->arena, &destination);
	rule = arena_alloc(&input->arena, sizeof *rule);
	rule->text = text;
	destination.rule = rule;
	*(struct destination *)arena_push(&input->arena, list) = destination;
}

static void read_line(struct input *input, const char *line)
{
	if (*line == '+')
		add_rule(input, line + 1, &input->allow);
	else if (*line == '-')
		add_rule(input, line + 1, &input->deny);
	else if (*line == '=' && input->resolved_count < RESOLVED_MAX &&
		 address_parse_any(line + 1, &input->resolved[input->resolved_count]))
		input->resolved_count++;
}

static bool read_input(const uint8_t *data, size_t size, struct input *input)
{
	char *rest, *line;

	if (size < 4 || size > INPUT_MAX || memchr(data + 3, '\0', size - 3))
		return false;
	input->is_all = data[0] & 1;
	input->port = (uint16_t)(data[1] << 8 | data[2]);
	memcpy(input->text, data + 3, size - 3);
	rest = input->text;
	input->host = strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")))
		read_line(input, line);
	return true;
}

static bool judge(const struct input *input, const struct destinations *allow, const struct destinations *deny,
		  const char *host, size_t resolved_count)
{
	const struct rule *rule = NULL;
	const char *reason = NULL;
	bool is_allowed = destination_allowed(allow, deny, input->is_all, host, input->port, input->resolved, resolved_count,
					      &rule, &reason);

	PROPERTY(reason && *reason);
	PROPERTY(!is_allowed || input->is_all || rule);
	return is_allowed;
}

/* Canonical names are made of what DNS carries, stay as they are, and are no addresses. */
static void check_host(struct input *input)
{
	const char *canonical, *again;
	struct error err = { 0 };
	struct address address;

	if (host_canonical(&input->arena, input->host, strlen(input->host), &canonical, &err) < 0) {
		PROPERTY(error_is_set(&err));
		return;
	}
	PROPERTY(strspn(canonical, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(canonical));
	PROPERTY(strlen(canonical) > 0 && strlen(canonical) <= 253);
	PROPERTY(canonical[0] != '.' && canonical[strlen(canonical) - 1] != '.' && !strstr(canonical, ".."));
	for (const char *label = canonical; *label; label += strcspn(label, ".") + (label[strcspn(label, ".")] == '.'))
		PROPERTY(strcspn(label, ".") <= 63);
	PROPERTY(!address_parse_any(canonical, &address));
	PROPERTY(host_canonical(&input->arena, canonical, strlen(canonical), &again, &err) == 0);
	PROPERTY(strcmp(canonical, again) == 0);
	again = arena_printf(&input->arena, "%s.", canonical);
	PROPERTY(host_canonical(&input->arena, again, strlen(again), &again, &err) == 0);
	PROPERTY(strcmp(canonical, again) == 0);
	/* The judgement is about the canonical name. */
	PROPERTY(judge(input, &input->allow, &input->deny, input->host, input->resolved_count) ==
		 judge(input, &input->allow, &input->deny, canonical, input->resolved_count));
}

static void check_address_text(const char *text)
{
	struct address strict, any, again;
	struct in_addr theirs;
	char out[64];

	if (address_parse(text, &strict)) {
		PROPERTY(address_parse_any(text, &any));
		PROPERTY(memcmp(&strict, &any, sizeof any) == 0);
	}
	if (address_parse_any(text, &any)) {
		address_format(&any, out);
		PROPERTY(address_parse(out, &again));
		PROPERTY(memcmp(&any, &again, sizeof any) == 0);
	}
	/* inet_aton stops at a blank; a host with a blank is refused. */
	if (!strpbrk(text, " \t\n\v\f\r") && inet_aton(text, &theirs))
		PROPERTY(address_parse_any(text, &any) && !any.is_v6 && memcmp(&theirs, any.bytes, sizeof theirs) == 0);
}

/* One address in other spellings gets the same answer. */
static void check_spellings(struct input *input)
{
	struct address address;
	char text[64];
	const char *spelling[3];
	bool is_allowed;

	if (!address_parse_any(input->host, &address))
		return;
	is_allowed = judge(input, &input->allow, &input->deny, input->host, 0);
	address_format(&address, text);
	PROPERTY(judge(input, &input->allow, &input->deny, text, 0) == is_allowed);
	if (address.is_v6)
		return;
	uint32_t value = (uint32_t)address.bytes[0] << 24 | (uint32_t)address.bytes[1] << 16 | (uint32_t)address.bytes[2] << 8 |
			 address.bytes[3];
	spelling[0] = arena_printf(&input->arena, "%u", value);
	spelling[1] = arena_printf(&input->arena, "0X%x", value);
	spelling[2] = arena_printf(&input->arena, "[::ffff:%s]", text);
	for (size_t i = 0; i < 3; i++)
		PROPERTY(judge(input, &input->allow, &input->deny, spelling[i], 0) == is_allowed);
}

/* Does an allow rule name this address: a network that holds it, and whose first and last address
 * are not public either? */
static bool is_named(const struct input *input, const struct address *address)
{
	for (size_t i = 0; i < input->allow.count; i++) {
		const struct destination *item = &input->allow.items[i];
		struct address last = item->network;
		if (item->kind != DESTINATION_NETWORK || input->port < item->port_low || input->port > item->port_high ||
		    !address_shares(&item->network, address, item->prefix))
			continue;
		for (unsigned bit = item->prefix; bit < address_width(&last); bit++)
			last.bytes[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
		if (address_special(&item->network) && address_special(&last))
			return true;
	}
	return false;
}

static void check_special(const struct input *input, const struct address *address)
{
	struct address plain = address_unmapped(address);
	const char *special = address_special(&plain);

	PROPERTY(address_special(address) == special);
	if (special && (!input->is_all || strcmp(special, "metadata service") == 0))
		PROPERTY(is_named(input, &plain));
}

static void check_allowed(const struct input *input)
{
	struct address address;

	for (size_t i = 0; i < input->resolved_count; i++)
		check_special(input, &input->resolved[i]);
	if (address_parse_any(input->host, &address))
		check_special(input, &address);
	/* What was allowed with addresses and deny rules is allowed without them. */
	PROPERTY(judge(input, &input->allow, &input->deny, input->host, 0));
	PROPERTY(judge(input, &input->allow, &nothing, input->host, input->resolved_count));
}

/* A rule that is only an address or name of the host itself: denied, it is never allowed. */
static void check_denied(struct input *input)
{
	struct address address;
	struct error err = { 0 };
	const char *text = input->host;
	struct destination destination;
	char out[64];

	if (address_parse_any(input->host, &address)) {
		address_format(&address, out);
		text = arena_printf(&input->arena, address.is_v6 ? "[%s]" : "%s", out);
	}
	if (destination_parse(&input->arena, text, &destination, &err) < 0 || destination.port_low > 0)
		return;
	struct destinations deny = { .items = &destination, .count = 1 };
	PROPERTY(!judge(input, &input->allow, &deny, input->host, 0) || destination.kind == DESTINATION_WILDCARD);
}

static void check_judgement(struct input *input)
{
	struct destination everything = { .kind = DESTINATION_ANY, .port_high = UINT16_MAX };
	struct destinations deny_all = { .items = &everything, .count = 1 }, fewer = input->allow;
	bool is_allowed = judge(input, &input->allow, &input->deny, input->host, input->resolved_count);

	PROPERTY(!destination_allowed(&nothing, &input->deny, false, input->host, input->port, input->resolved,
				      input->resolved_count, NULL, NULL));
	PROPERTY(!judge(input, &input->allow, &deny_all, input->host, input->resolved_count));
	if (is_allowed)
		check_allowed(input);
	/* One allow rule less allows nothing more. */
	if (fewer.count > 0) {
		fewer.count--;
		PROPERTY(is_allowed || !judge(input, &fewer, &input->deny, input->host, input->resolved_count));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { 0 };

	if (read_input(data, size, &input)) {
		check_address_text(input.host);
		check_host(&input);
		check_spellings(&input);
		check_denied(&input);
		check_judgement(&input);
	}
	arena_free(&input.arena);
	return 0;
}
