/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys and the files that hold. Bounded in files and bytes: a file beyond the bound is
 * reported in `unread`, never ignored in silence. */
#include "common/git/settings.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/base/text.h"
#include "common/format/git_config.h"

enum {
	CONFIG_BYTES = 1 << 20,
	DEPTH_MAX = 10, /* as in git, which ends there with an error */
	FILES_MAX = 64, /* of one repository */
	SETTINGS_MAX = 4096,
};

#define RUNS_UNASKED (GIT_NAMES | GIT_EXECUTES)

/* git 2.52's documentation of git-config, git-lfs's of lfs.*. A program that git runs
 * only if the user asks for it by name (an alias, a merge tool) is not in GIT_NAMES: it is part of
 * the project, as a Makefile is. */
static const struct git_key keys[] = {
	{ "include", NULL, "path", GIT_NAMES | GIT_REDIRECTS, GIT_FORM_PATH },
	{ "includeIf", "*", "path", GIT_NAMES | GIT_REDIRECTS, GIT_FORM_PATH },
	{ "core", NULL, "hooksPath", RUNS_UNASKED, GIT_FORM_PATH },
	{ "core", NULL, "attributesFile", GIT_NAMES, GIT_FORM_PATH },
	{ "core", NULL, "excludesFile", GIT_NAMES, GIT_FORM_PATH },
	{ "core", NULL, "worktree", GIT_REDIRECTS, GIT_FORM_TEXT },
	{ "core", NULL, "fsmonitor", RUNS_UNASKED, GIT_FORM_MONITOR },
	{ "core", NULL, "editor", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "core", NULL, "pager", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "core", NULL, "askPass", RUNS_UNASKED, GIT_FORM_PROGRAM },
	{ "core", NULL, "sshCommand", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "core", NULL, "gitProxy", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "core", NULL, "alternateRefsCommand", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "sequence", NULL, "editor", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "pager", NULL, "*", RUNS_UNASKED, GIT_FORM_MONITOR },
	{ "interactive", NULL, "diffFilter", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "diff", NULL, "external", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "diff", "*", "command", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "diff", "*", "textconv", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "merge", "*", "driver", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "filter", "*", "clean", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "filter", "*", "smudge", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "filter", "*", "process", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "credential", "?", "helper", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "gpg", "?", "program", RUNS_UNASKED, GIT_FORM_PROGRAM },
	{ "gpg", "?", "defaultKeyCommand", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "trailer", "*", "command", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "trailer", "*", "cmd", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "hook", "*", "command", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "gc", NULL, "recentObjectsHook", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "uploadpack", NULL, "packObjectsHook", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "remote", "*", "uploadpack", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "remote", "*", "receivepack", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "remote", "*", "vcs", GIT_EXECUTES, GIT_FORM_TEXT },
	{ "submodule", "*", "update", RUNS_UNASKED, GIT_FORM_BANG },
	{ "init", NULL, "templateDir", GIT_NAMES | GIT_EXECUTES, GIT_FORM_PATH },
	{ "lfs", NULL, "standaloneTransferAgent", GIT_EXECUTES, GIT_FORM_TEXT },
	{ "lfs", "*", "standaloneTransferAgent", GIT_EXECUTES, GIT_FORM_TEXT },
	{ "lfs", "*", "path", RUNS_UNASKED, GIT_FORM_PROGRAM }, /* lfs.customtransfer.X.path */
	{ "lfs", "*", "clean", RUNS_UNASKED, GIT_FORM_COMMAND }, /* lfs.extension.X.clean */
	{ "lfs", "*", "smudge", RUNS_UNASKED, GIT_FORM_COMMAND },
	{ "alias", "?", "*", GIT_EXECUTES, GIT_FORM_BANG },
	{ "mergetool", "*", "cmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "mergetool", "*", "path", GIT_EXECUTES, GIT_FORM_PROGRAM },
	{ "difftool", "*", "cmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "difftool", "*", "path", GIT_EXECUTES, GIT_FORM_PROGRAM },
	{ "guitool", "*", "cmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "browser", "*", "cmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "browser", "*", "path", GIT_EXECUTES, GIT_FORM_PROGRAM },
	{ "man", "*", "cmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "man", "*", "path", GIT_EXECUTES, GIT_FORM_PROGRAM },
	{ "tar", "*", "command", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "instaweb", NULL, "httpd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "web", NULL, "browser", GIT_EXECUTES, GIT_FORM_TEXT },
	{ "imap", NULL, "tunnel", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "sendemail", "?", "smtpServer", GIT_EXECUTES, GIT_FORM_PROGRAM },
	{ "sendemail", "?", "sendmailCmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "sendemail", "?", "toCmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "sendemail", "?", "ccCmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "sendemail", "?", "headerCmd", GIT_EXECUTES, GIT_FORM_COMMAND },
	{ "protocol", "?", "allow", GIT_REDIRECTS, GIT_FORM_TEXT },
	{ "url", "*", "insteadOf", GIT_REDIRECTS, GIT_FORM_TEXT },
	{ "url", "*", "pushInsteadOf", GIT_REDIRECTS, GIT_FORM_TEXT },
	{ "http", "?", "proxy", GIT_REDIRECTS, GIT_FORM_TEXT },
	{ "remote", "*", "proxy", GIT_REDIRECTS, GIT_FORM_TEXT },
	{ "http", "?", "sslVerify", GIT_REDIRECTS, GIT_FORM_TEXT },
};

static bool is_subsection(const char *wanted, const char *found)
{
	if (!wanted)
		return !found;
	return wanted[0] == '?' || found;
}

static const struct git_key *find_key(const struct git_config_reader *reader)
{
	int initial = tolower((unsigned char)reader->section[0]);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (keys[i].section[0] == initial && strcasecmp(keys[i].section, reader->section) == 0 &&
		    is_subsection(keys[i].subsection, reader->subsection) &&
		    (keys[i].name[0] == '*' || strcasecmp(keys[i].name, reader->name) == 0))
			return &keys[i];
	return NULL;
}

static bool is_false(const char *value)
{
	return strcasecmp(value, "false") == 0 || strcasecmp(value, "no") == 0 || strcasecmp(value, "off") == 0 ||
	       strcmp(value, "0") == 0;
}

static bool is_boolean(const char *value)
{
	return value[0] == '\0' || is_false(value) || strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0 ||
	       strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0;
}

bool git_settings_parse(struct arena *arena, const char *file, const char *text, size_t length, struct git_settings *settings)
{
	struct git_config_reader reader = { .arena = arena, .next = text };
	while (git_config_next(&reader)) {
		const struct git_key *key = find_key(&reader);
		if (strcasecmp(reader.section, "extensions") == 0 && strcasecmp(reader.name, "worktreeConfig") == 0)
			settings->has_worktree_config |= !reader.has_value || !is_false(reader.value);
		if (!key)
			continue;
		if (settings->count == SETTINGS_MAX) {
			settings->unread = file;
			break;
		}
		*(struct git_setting *)arena_push(arena, settings) = (struct git_setting){
			.file = file,
			.line = reader.line,
			.section = reader.section,
			.subsection = reader.subsection,
			.name = reader.name,
			.value = reader.value,
			.key = key,
		};
	}
	return strlen(text) == length;
}

/* A configuration may be a symlink. What it includes is relative to the link. */
static int read_text(const struct filesystem *fs, struct arena *arena, const char *file, char **text, size_t *length)
{
	bool is_clean = path_is_absolute_clean(file);
	int status = is_clean ? fs->read_small(fs, arena, file, CONFIG_BYTES, text, length) : -1;
	struct error ignored;
	if (status == 0 || (is_clean && (errno == ENOENT || errno == EFBIG)) ||
	    path_resolve(fs, arena, file, &file, NULL, NULL, &ignored) < 0)
		return status;
	return fs->read_small(fs, arena, file, CONFIG_BYTES, text, length);
}

static void read_file(const struct filesystem *fs, struct arena *arena, const char *home, const char *file, unsigned depth,
		      struct git_settings *settings)
{
	size_t first = settings->count, end, length;
	char *text;

	if (depth > DEPTH_MAX)
		return;
	if (settings->files == FILES_MAX) {
		settings->unread = file;
		return;
	}
	settings->files++;
	if (read_text(fs, arena, file, &text, &length) < 0) {
		if (errno == EFBIG)
			settings->unread = file;
		return;
	}
	if (!git_settings_parse(arena, file, text, length, settings))
		settings->unread = file;
	end = settings->count;
	for (size_t i = first; i < end; i++) {
		struct git_paths paths = { 0 };
		if (strncasecmp(settings->items[i].section, "include", strlen("include")) != 0)
			continue;
		git_setting_paths(arena, &settings->items[i], "/", home, &paths);
		if (paths.count > 0)
			read_file(fs, arena, home, paths.items[0], depth + 1, settings);
	}
}

void git_settings_read(const struct filesystem *fs, struct arena *arena, const char *home, const char *file,
		       struct git_settings *settings)
{
	read_file(fs, arena, home, file, 0, settings);
}

bool git_setting_executes(const struct git_setting *setting)
{
	if (!(setting->key->effects & GIT_EXECUTES))
		return false;
	if (setting->key->form == GIT_FORM_BANG)
		return setting->value[0] == '!';
	return setting->key->form == GIT_FORM_MONITOR ? !is_boolean(setting->value) : setting->value[0] != '\0';
}

const char *git_setting_name(struct arena *arena, const struct git_setting *setting)
{
	if (!setting->subsection)
		return arena_printf(arena, "%s.%s", setting->section, setting->name);
	return arena_printf(arena, "%s.%s.%s", setting->section, setting->subsection, setting->name);
}
