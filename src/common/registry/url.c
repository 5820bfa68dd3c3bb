/* SPDX-License-Identifier: Apache-2.0 */
/* Finds URLs in configuration files: in quotes, in lists, with credentials. Ignores a part that
 * could belong to a password rather than a host. */
#include "common/registry/url.h"

#include <string.h>

#include "common/net/destination.h"
#include "common/base/text.h"

static const struct scheme {
	const char *name;
	uint16_t port;
} schemes[] = { { "https", 443 }, { "http", 80 }, { "ssh", 22 }, { "git", 9418 } };

/* cargo writes sparse+https, pip and npm write git+ssh. */
static const char *const scheme_prefixes[] = { "sparse+", "git+", "registry+" };

static bool is_scheme_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

/* Returns 0 for a scheme without network access. */
static uint16_t default_port(const char *start, size_t length)
{
	char name[32];

	if (length >= sizeof name)
		return 0;
	for (size_t i = 0; i < length; i++)
		name[i] = start[i] >= 'A' && start[i] <= 'Z' ? (char)(start[i] - 'A' + 'a') : start[i];
	name[length] = '\0';
	start = name;
	for (size_t i = 0; i < sizeof scheme_prefixes / sizeof scheme_prefixes[0]; i++)
		if (text_starts_with(start, scheme_prefixes[i]))
			start += strlen(scheme_prefixes[i]);
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (strcmp(start, schemes[i].name) == 0)
			return schemes[i].port;
	return 0;
}

/* The authority ends at a slash or at the end of the word. A comma or bar can end it (GOPROXY is a
 * list) or be part of a password. */
static const char word_end[] = " \t\r\n\"'`<>";
static const char path_start[] = "/?#";

static size_t authority_length(const char *text)
{
	return strcspn(text, " \t\r\n\"'`<>/?#,|\\");
}

static bool has_at_sign(const char *text, size_t length)
{
	return memchr(text, '@', length) != NULL;
}

/* True for `https://us,er:pass@host` and `https://to/ken@host`: the text before the comma or slash
 * is not a host. */
static bool is_ambiguous(const char *authority, size_t length)
{
	const char *rest = authority + length;
	size_t word = strcspn(rest, word_end);
	const char *next = strstr(rest, "://");

	if (next && next < rest + word)
		word = (size_t)(next - rest);
	if (*rest && !strchr(path_start, *rest) && !strchr(word_end, *rest))
		return has_at_sign(rest, strcspn(rest, path_start) < word ? strcspn(rest, path_start) : word);
	return !has_at_sign(authority, length) && !memchr(authority, '.', length) && !memchr(authority, ']', length) &&
	       has_at_sign(rest, word) && !memmem(rest, word, "/@", 2);
}

static bool split_port(char *host, uint16_t *port)
{
	char *colon = host[0] == '[' ? strchr(host, ']') : host;
	uint64_t value;

	colon = colon ? strrchr(colon, ':') : NULL;
	if (!colon)
		return host[0] != '[' || strchr(host, ']');
	*colon = '\0';
	if (colon[1] == '\0')
		return true;
	if (!text_parse_u64(colon + 1, UINT16_MAX, &value) || value == 0)
		return false;
	*port = (uint16_t)value;
	return true;
}

static bool read_host(struct arena *arena, const char *host, struct url *url)
{
	struct destination parsed;
	struct address address;
	struct error ignored;
	const char *canonical;
	char formatted[64];

	if (address_parse_any(host, &address)) {
		const char *special = address_special(&address);
		address_format(&address, formatted);
		url->is_loopback = special && strcmp(special, "loopback") == 0;
		url->destination = arena_printf(arena, address.is_v6 ? "[%s]:%u" : "%s:%u", formatted, url->port);
	} else {
		if (host_canonical(arena, host, strlen(host), &canonical, &ignored) < 0)
			return false;
		url->is_loopback = strcmp(canonical, "localhost") == 0 || text_ends_with(canonical, ".localhost");
		url->destination = arena_printf(arena, "%s:%u", canonical, url->port);
	}
	/* The parser that reads the policy later. */
	return destination_parse(arena, url->destination, &parsed, &ignored) == 0;
}

static void read_authority(struct arena *arena, const char *text, size_t length, struct url *url)
{
	char *authority = arena_copy_n(arena, text, length);
	char *at = strrchr(authority, '@');
	char *host = at ? at + 1 : authority;

	if (is_ambiguous(text, length) || !split_port(host, &url->port) || host[0] == '\0' || !read_host(arena, host, url))
		url->destination = NULL;
	/* The copy may contain a password. */
	memset(authority, 0, length);
}

bool url_next(struct arena *arena, const char **at, struct url *url)
{
	const char *found;

	while ((found = strstr(*at, "://"))) {
		const char *start = found, *authority = found + 3;
		size_t length = authority_length(authority);

		while (start > *at && is_scheme_character(start[-1]))
			start--;
		*at = authority + length;
		*url = (struct url){ .port = default_port(start, (size_t)(found - start)) };
		if (url->port == 0)
			continue;
		read_authority(arena, authority, length, url);
		return true;
	}
	return false;
}
