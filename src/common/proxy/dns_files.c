/* SPDX-License-Identifier: Apache-2.0 */
/* Parses resolv.conf and hosts. Skips malformed lines, as the C library does. */
#include "common/proxy/dns.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 255 };

/* Copies the next word of [*at, end) to `word`. False at the end of the line, at a comment, and for
 * an over-long word. */
static bool next_word(const char **at, const char *end, char word[WORD_MAX + 1])
{
	size_t length = 0;

	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
		++*at;
	while (*at + length < end && !strchr(" \t\r#;", (*at)[length]))
		length++;
	if (length == 0 || length > WORD_MAX)
		return false;
	memcpy(word, *at, length);
	word[length] = '\0';
	*at += length;
	return true;
}

static void add_server(struct dns_addresses *servers, char *word)
{
	struct address address;
	char *scope = word + strcspn(word, "%");
	unsigned number = 0;

	/* fe80::1%en0: without its interface a link-local server cannot be reached. */
	if (*scope) {
		*scope++ = '\0';
		number = if_nametoindex(scope);
		if (number == 0)
			number = (unsigned)strtoul(scope, NULL, 10);
	}
	if (servers->count >= DNS_SERVER_MAX || !address_parse(word, &address))
		return;
	address.scope = number;
	servers->items[servers->count++] = address;
}

void dns_read_servers(const char *text, size_t length, struct dns_addresses *servers)
{
	const char *end = text + length;

	servers->count = 0;
	while (text < end) {
		const char *line = text, *line_end = memchr(text, '\n', (size_t)(end - text));
		char word[WORD_MAX + 1];
		if (!line_end)
			line_end = end;
		if (next_word(&line, line_end, word) && strcmp(word, "nameserver") == 0 && next_word(&line, line_end, word))
			add_server(servers, word);
		text = line_end + 1;
	}
	if (servers->count == 0)
		servers->items[servers->count++] = (struct address){ .bytes = { 127, 0, 0, 1 } };
}

static bool has_name(const char *line, const char *end, const char *name)
{
	char word[WORD_MAX + 1];

	while (next_word(&line, end, word)) {
		size_t length = strlen(word);
		if (length > 1 && word[length - 1] == '.')
			word[length - 1] = '\0';
		if (strcasecmp(word, name) == 0)
			return true;
	}
	return false;
}

bool dns_read_hosts(const char *text, size_t length, const char *name, struct dns_addresses *addresses)
{
	const char *end = text + length;
	size_t before = addresses->count;

	while (text < end && addresses->count < DNS_ADDRESS_MAX) {
		const char *line = text, *line_end = memchr(text, '\n', (size_t)(end - text));
		struct address address;
		char word[WORD_MAX + 1];
		if (!line_end)
			line_end = end;
		if (next_word(&line, line_end, word) && address_parse(word, &address) && has_name(line, line_end, name))
			addresses->items[addresses->count++] = address;
		text = line_end + 1;
	}
	return addresses->count > before;
}
