/* SPDX-License-Identifier: Apache-2.0 */
/* Settings from package managers' configuration files as pairs of a dotted key and a value, enough of each format to find an
 * address in it. Bounded, never fails: what is not understood is passed by. */
#ifndef BERM_COMMON_DETECT_CONFIG_H
#define BERM_COMMON_DETECT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum config_style {
	CONFIG_INI, /* [section] key = value; an indented address goes on with the key before: "section.key" */
	CONFIG_TOML, /* the same with tables and values over several lines: "table.key" */
	CONFIG_YAML, /* key: value and lists; keys that are indented start with a dot: ".key" */
	CONFIG_PROPERTIES, /* key=value with backslashes */
	CONFIG_WORDS, /* the first word of a statement is the key */
	CONFIG_XML, /* "root.element", "root.element@attribute" */
	CONFIG_JSON, /* "object.member"; elements of a list have an empty name */
	CONFIG_STYLE_COUNT
};

struct config_scan {
	enum config_style style;
	const char *text; /* NUL-terminated */
	/* The key and the value are valid during the call only. */
	void (*visit)(void *self, const char *key, const char *value, unsigned line);
	void *self;
};

void config_scan(const struct config_scan *scan);

/* `*` stands for any characters; everything else for itself. */
bool config_matches(const char *pattern, size_t length, const char *key);

/* detect_markup.c */
void config_scan_xml(const struct config_scan *scan);
void config_scan_json(const struct config_scan *scan);

#endif
