/* SPDX-License-Identifier: Apache-2.0 */
/* The three kinds of edits of a settings file: keys of a JSON document, berm in front of each
 * server of a JSON list, and a block of lines between two marks. Opens no file. */
#include "common/setup/setup.h"

#include <string.h>

static const char begin_mark[] = "berm setup: begin", end_mark[] = "berm setup: end";
static const struct jsonc_text empty_document = { "{}\n", 3 };

/* An absent file, or one with only spaces, is an empty object. */
static struct jsonc_text document_of(struct jsonc_text text)
{
	for (size_t i = 0; i < text.length; i++)
		if (!memchr(" \t\r\n", text.data[i], 4))
			return text;
	return empty_document;
}

static struct jsonc_edit edit_at(const struct setup_request *request, size_t index)
{
	return setup_edit_expand(request->arena, &request->host->edits[index], request->paths, request->os);
}

static bool holds_edit(const struct setup_request *request, const struct jsonc_value *root, size_t index)
{
	const struct jsonc_edit edit = edit_at(request, index);
	if (request->host->edits[index].is_default && jsonc_find(root, edit.path))
		return true;
	return jsonc_holds(request->arena, root, &edit);
}

/* Applies one edit to the text at *at, or undoes it if there is an original. The new text is
 * in the arena. */
static int make_edit(const struct setup_request *request, struct jsonc_text *at, const struct jsonc_edit *edit,
		     const struct jsonc_text *original, struct error *err)
{
	struct text made = { 0 };
	int result = original ? jsonc_unset(request->arena, request->source, *at, *original, edit, &made, err)
			      : jsonc_set(request->arena, request->source, *at, edit, &made, err);
	if (result == 0)
		*at = (struct jsonc_text){ arena_copy_n(request->arena, made.data, made.length), made.length };
	text_free(&made);
	return result;
}

/* Events whose hooks can stop what the host is about to do. */
static const char *const blocking_events[] = { "PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop" };

static void list_entry(const struct setup_request *request, const char *event, const struct jsonc_value *entry,
		       struct text *out)
{
	const struct jsonc_value *hooks = jsonc_member(entry, "hooks");
	for (size_t i = 0; hooks && hooks->type == JSONC_ARRAY && i < hooks->count; i++) {
		const struct jsonc_value *command = jsonc_member(&hooks->children[i].value, "command");
		if (command && command->type == JSONC_STRING && !text_starts_with(command->string, request->paths->program))
			text_add(out, "%s %s (%s)\n", event, text_visible(request->arena, command->string),
				 text_visible(request->arena, request->source));
	}
}

int setup_list_hooks(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err)
{
	const struct jsonc_value *hooks, *list;
	struct jsonc_value root;

	if (jsonc_parse(request->arena, JSONC_COMMENTS, request->source, document_of(text), &root, err) < 0)
		return -1;
	hooks = jsonc_member(&root, "hooks");
	for (size_t i = 0; hooks && i < sizeof blocking_events / sizeof blocking_events[0]; i++) {
		list = jsonc_member(hooks, blocking_events[i]);
		for (size_t k = 0; list && list->type == JSONC_ARRAY && k < list->count; k++)
			list_entry(request, blocking_events[i], &list->children[k].value, out);
	}
	return 0;
}

static int judge_json(const struct setup_request *request, struct jsonc_text text, enum setup_state *state, struct error *err)
{
	size_t wanted = 0, found = 0;
	struct jsonc_value root;

	if (jsonc_parse(request->arena, JSONC_COMMENTS, request->source, document_of(text), &root, err) < 0)
		return -1;
	for (size_t i = 0; request->host->edits[i].value; i++) {
		if (request->host->edits[i].is_default)
			continue;
		wanted++;
		found += holds_edit(request, &root, i);
	}
	*state = found == 0 ? SETUP_ABSENT : found < wanted ? SETUP_PARTLY : SETUP_IN_FORCE;
	return 0;
}

static int apply_json(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err)
{
	struct jsonc_text at = document_of(text);
	struct jsonc_value root;

	for (size_t i = 0; request->host->edits[i].value; i++) {
		const struct jsonc_edit edit = edit_at(request, i);
		if (jsonc_parse(request->arena, JSONC_COMMENTS, request->source, at, &root, err) < 0)
			return error_hint(err, "nothing was written");
		if (!holds_edit(request, &root, i) && make_edit(request, &at, &edit, NULL, err) < 0)
			return -1;
	}
	text_add_n(out, at.data, at.length);
	return 0;
}

static int undo_json(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original, struct text *out,
		     struct error *err)
{
	const struct jsonc_text before = document_of(original);
	struct jsonc_text at = document_of(text);
	size_t count = 0;

	while (request->host->edits[count].value)
		count++;
	while (count-- > 0) {
		const struct jsonc_edit edit = edit_at(request, count);
		if (!request->host->edits[count].is_default && make_edit(request, &at, &edit, &before, err) < 0)
			return -1;
	}
	text_add_n(out, at.data, at.length);
	return 0;
}

/* Files that list programs for a host to start, such as MCP servers and agents:
 * `{"mcpServers": {"NAME": {"command": …, "args": […]}}}`. berm becomes the command of each,
 * and the old command goes to the front of its arguments. Servers with an address instead of a
 * command stay unchanged. */
struct setup_servers {
	size_t wrapped; /* servers whose command is berm */
	struct setup_server_edits {
		struct jsonc_edit *items; /* two for each other server */
		size_t count;
	} edits;
};

static bool is_variable_name(const char *name)
{
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	return length > 0 && name[length] == '\0' && (name[0] < '0' || name[0] > '9');
}

/* Returns the new "args": `run`, the variables that the file sets for this server, the old command
 * and its arguments. */
static const char *wrapped_arguments(struct arena *arena, const struct jsonc_value *server)
{
	const struct jsonc_value *command = jsonc_member(server, "command"), *arguments = jsonc_member(server, "args");
	const struct jsonc_value *variables = jsonc_member(server, "env");
	struct text out = { 0 };
	const char *result;

	text_add(&out, "[\"run\", ");
	for (size_t i = 0; variables && variables->type == JSONC_OBJECT && i < variables->count; i++)
		if (is_variable_name(variables->children[i].key))
			text_add(&out, "\"--env=%s\", ", variables->children[i].key);
	text_add(&out, "\"--\", ");
	text_add_n(&out, command->raw, command->end - command->start);
	for (size_t i = 0; arguments && i < arguments->count; i++) {
		const struct jsonc_value *value = &arguments->children[i].value;
		text_add(&out, ", ");
		text_add_n(&out, value->raw, value->end - value->start);
	}
	text_add(&out, "]");
	result = arena_copy_n(arena, out.data, out.length);
	text_free(&out);
	return result;
}

/* True if the server is started by a command, and its name has no NUL. */
static bool is_started(const struct jsonc_child *server)
{
	const struct jsonc_value *command = jsonc_member(&server->value, "command");
	const struct jsonc_value *arguments = jsonc_member(&server->value, "args");
	return command && command->type == JSONC_STRING && strlen(server->key) == server->key_length &&
	       (!arguments || arguments->type == JSONC_ARRAY);
}

static void add_edits(struct arena *arena, const char *list, const struct jsonc_child *server, const char *program,
		      struct setup_servers *servers)
{
	struct jsonc_edit *command = arena_push(arena, &servers->edits);
	struct jsonc_edit *arguments;

	*command = (struct jsonc_edit){ .path = { list, server->key, "command" },
					.value = arena_printf(arena, "\"%s\"", program) };
	arguments = arena_push(arena, &servers->edits);
	*arguments =
		(struct jsonc_edit){ .path = { list, server->key, "args" }, .value = wrapped_arguments(arena, &server->value) };
}

static void collect_servers(struct arena *arena, const char *const *lists, const struct jsonc_value *root, const char *program,
			    struct setup_servers *servers)
{
	*servers = (struct setup_servers){ 0 };
	for (size_t i = 0; lists[i]; i++) {
		const struct jsonc_value *list = jsonc_member(root, lists[i]);
		for (size_t k = 0; list && list->type == JSONC_OBJECT && k < list->count; k++) {
			const struct jsonc_child *server = &list->children[k];
			if (!is_started(server))
				continue;
			if (jsonc_is_string(jsonc_member(&server->value, "command"), program))
				servers->wrapped++;
			else
				add_edits(arena, lists[i], server, program, servers);
		}
	}
}

static int find_servers(const struct setup_request *request, struct jsonc_text text, struct jsonc_value *root,
			struct setup_servers *servers, struct error *err)
{
	if (jsonc_parse(request->arena, JSONC_COMMENTS, request->source, document_of(text), root, err) < 0)
		return -1;
	collect_servers(request->arena, request->host->servers, root, request->paths->program, servers);
	return 0;
}

static int judge_servers(const struct setup_request *request, struct jsonc_text text, enum setup_state *state,
			 struct error *err)
{
	struct setup_servers servers;
	struct jsonc_value root;
	if (find_servers(request, text, &root, &servers, err) < 0)
		return -1;
	*state = servers.wrapped == 0 ? SETUP_ABSENT : servers.edits.count > 0 ? SETUP_PARTLY : SETUP_IN_FORCE;
	return 0;
}

static int apply_servers(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err)
{
	struct jsonc_text at = text;
	struct setup_servers servers;
	struct jsonc_value root;

	if (find_servers(request, text, &root, &servers, err) < 0)
		return -1;
	if (servers.wrapped == 0 && servers.edits.count == 0) {
		error_set(err, "%s lists no server that is started by a command", request->source);
		return error_hint(err, "`berm setup %s` shows an example entry", request->host->name);
	}
	for (size_t i = 0; i < servers.edits.count; i++)
		if (make_edit(request, &at, &servers.edits.items[i], NULL, err) < 0)
			return -1;
	text_add_n(out, at.data, at.length);
	return 0;
}

/* Servers that were removed since the --write stay removed. */
static int undo_servers(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original,
			struct text *out, struct error *err)
{
	struct jsonc_text at = text;
	struct setup_servers servers;
	struct jsonc_value root;

	if (find_servers(request, original, &root, &servers, err) < 0)
		return -1;
	while (servers.edits.count-- > 0) {
		const struct jsonc_edit *edit = &servers.edits.items[servers.edits.count];
		const char *const server[] = { edit->path[0], edit->path[1], NULL };
		if (jsonc_parse(request->arena, JSONC_COMMENTS, request->source, at, &root, err) < 0)
			return -1;
		if (jsonc_find(&root, server) && make_edit(request, &at, edit, &original, err) < 0)
			return -1;
	}
	text_add_n(out, at.data, at.length);
	return 0;
}

/* Returns the block with its marks. */
static const char *block(const struct setup_request *request)
{
	const struct setup_host *host = request->host;
	struct text out = { 0 };
	const char *result;

	text_add(&out, "%s %s (berm setup %s --undo)\n", host->comment, begin_mark, host->name);
	for (size_t i = 0; host->lines[i]; i++)
		text_add(&out, "%s\n", setup_expand(request->arena, host->lines[i], request->paths, request->os));
	text_add(&out, "%s %s\n", host->comment, end_mark);
	result = arena_copy_n(request->arena, out.data, out.length);
	text_free(&out);
	return result;
}

struct span {
	size_t start, end, line; /* end is past the newline of the last line */
	bool is_found;
};

/* Finds the first line from `offset` on that is a comment with this mark. */
static struct span find_mark(const struct setup_request *request, struct jsonc_text text, size_t offset, size_t line,
			     const char *mark)
{
	const char *start = arena_printf(request->arena, "%s %s", request->host->comment, mark);
	size_t length = strlen(start);

	while (offset < text.length) {
		const char *newline = memchr(text.data + offset, '\n', text.length - offset);
		size_t end = newline ? (size_t)(newline - text.data) + 1 : text.length;
		if (end - offset >= length && memcmp(text.data + offset, start, length) == 0)
			return (struct span){ offset, end, line, true };
		offset = end;
		line++;
	}
	return (struct span){ 0 };
}

static int find_block(const struct setup_request *request, struct jsonc_text text, struct span *found, struct error *err)
{
	struct span begin = find_mark(request, text, 0, 1, begin_mark), end;

	*found = (struct span){ 0 };
	if (!begin.is_found)
		return 0;
	end = find_mark(request, text, begin.end, begin.line + 1, end_mark);
	if (!end.is_found) {
		error_set(err, "%s:%zu:1: berm's block begins here and has no end", request->source, begin.line);
		return error_hint(err, "nothing was written");
	}
	if (find_mark(request, text, end.end, end.line + 1, begin_mark).is_found)
		return error_set(err, "%s:%zu:1: berm's block exists twice", request->source, begin.line);
	*found = (struct span){ begin.start, end.end, begin.line, true };
	return 0;
}

static bool is_ours(const struct setup_request *request, struct jsonc_text text, const struct span *span)
{
	const char *wanted = block(request);
	size_t length = strlen(wanted), present = span->end - span->start;
	/* The last line of a file may have no newline. */
	return (present == length || present + 1 == length) && memcmp(text.data + span->start, wanted, present) == 0;
}

static int judge_lines(const struct setup_request *request, struct jsonc_text text, enum setup_state *state, struct error *err)
{
	struct span span;
	if (find_block(request, text, &span, err) < 0)
		return -1;
	*state = !span.is_found ? SETUP_ABSENT : is_ours(request, text, &span) ? SETUP_IN_FORCE : SETUP_PARTLY;
	return 0;
}

static int apply_lines(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err)
{
	struct span span;
	if (find_block(request, text, &span, err) < 0)
		return -1;
	if (span.is_found && is_ours(request, text, &span)) {
		text_add_n(out, text.data, text.length);
	} else if (span.is_found) {
		text_add_n(out, text.data, span.start);
		text_add(out, "%s", block(request));
		text_add_n(out, text.data + span.end, text.length - span.end);
	} else {
		text_add_n(out, text.data, text.length);
		if (text.length > 0 && text.data[text.length - 1] != '\n')
			text_add(out, "\n");
		text_add(out, "%s", block(request));
	}
	return 0;
}

static int undo_lines(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original, struct text *out,
		      struct error *err)
{
	struct span span;
	(void)original;
	if (find_block(request, text, &span, err) < 0)
		return -1;
	if (span.is_found && !is_ours(request, text, &span)) {
		error_set(err, "%s:%zu:1: this block differs from what berm wrote", request->source, span.line);
		return error_hint(err, "nothing was written; remove the block by hand");
	}
	text_add_n(out, text.data, span.start);
	if (span.is_found)
		text_add_n(out, text.data + span.end, text.length - span.end);
	else
		text_add_n(out, text.data, text.length);
	return 0;
}

static const struct {
	int (*judge)(const struct setup_request *request, struct jsonc_text text, enum setup_state *state, struct error *err);
	int (*apply)(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err);
	int (*undo)(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original, struct text *out,
		    struct error *err);
} formats[] = {
	[SETUP_JSON] = { judge_json, apply_json, undo_json },
	[SETUP_LINES] = { judge_lines, apply_lines, undo_lines },
	[SETUP_SERVERS] = { judge_servers, apply_servers, undo_servers },
};

int setup_judge(const struct setup_request *request, struct jsonc_text text, enum setup_state *state, struct error *err)
{
	return formats[request->host->format].judge(request, text, state, err);
}

int setup_apply(const struct setup_request *request, struct jsonc_text text, struct text *out, struct error *err)
{
	enum setup_state state;
	/* If there is nothing to do, the bytes stay the same, even in a file with only spaces. */
	if (setup_judge(request, text, &state, err) < 0)
		return error_hint(err, "nothing was written");
	if (state == SETUP_IN_FORCE) {
		text_add_n(out, text.data, text.length);
		return 0;
	}
	return formats[request->host->format].apply(request, text, out, err);
}

int setup_undo(const struct setup_request *request, struct jsonc_text text, struct jsonc_text original, struct text *out,
	       struct error *err)
{
	return formats[request->host->format].undo(request, text, original, out, err);
}

int setup_settings(const struct setup_request *request, struct text *out, struct error *err)
{
	const struct setup_host *host = request->host;
	if (host->format == SETUP_JSON)
		return apply_json(request, empty_document, out, err);
	for (size_t i = 0; host->lines[i]; i++)
		text_add(out, "%s\n", setup_expand(request->arena, host->lines[i], request->paths, request->os));
	return 0;
}
