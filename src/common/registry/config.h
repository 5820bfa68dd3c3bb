/* SPDX-License-Identifier: Apache-2.0 */
/* Parses package managers' configuration files into pairs of a dotted key and a value, as far as
 * finding an address needs. Bounded, never fails: skips what it cannot parse. */
#ifndef BERM_COMMON_REGISTRY_CONFIG_H
#define BERM_COMMON_REGISTRY_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum config_style {
	CONFIG_INI, /* [section] key = value, continued by an indented address: "section.key" */
	CONFIG_TOML, /* the same with tables and multi-line values: "table.key" */
	CONFIG_YAML, /* key: value and lists; indented keys start with a dot: ".key" */
	CONFIG_PROPERTIES, /* key=value with backslashes */
	CONFIG_WORDS, /* the first word of a statement is the key */
	CONFIG_XML, /* "root.element", "root.element@attribute" */
	CONFIG_JSON, /* "object.member"; elements of a list have an empty name */
	CONFIG_STYLE_COUNT
};

struct config_scan {
	enum config_style style;
	const char *text; /* NUL-terminated */
	/* The key and the value are valid only during the call. */
	void (*visit)(void *self, const char *key, const char *value, unsigned line);
	void *self;
};

void config_scan(const struct config_scan *scan);

/* True if the key matches. `*` matches any characters; all others match themselves. */
bool config_matches(const char *pattern, size_t length, const char *key);

/* markup.c */
void config_scan_xml(const struct config_scan *scan);
void config_scan_json(const struct config_scan *scan);

#endif
