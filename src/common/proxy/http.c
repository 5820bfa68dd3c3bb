/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses everything that two parsers could read differently: bare line feeds, folded lines, blanks
 * before a colon, two lengths, two hosts, a Host that differs from the request line. */
#include "common/proxy/http.h"

#include <string.h>
#include <strings.h>

struct slice {
	const char *data;
	size_t length;
};

struct head {
	struct http_request *request;
	struct slice method, target, path;
	bool is_1_0;
	bool has_host, has_length, has_coding, has_login;
	struct slice connection[4]; /* values of Connection fields: names of hop-by-hop fields */
	unsigned connection_count;
};

static enum http_state bad(struct http_request *request, int status, const char *reason)
{
	request->status = status;
	request->reason = reason;
	return HTTP_BAD;
}

static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_word(struct slice slice, const char *word)
{
	return slice.length == strlen(word) && strncasecmp(slice.data, word, slice.length) == 0;
}

static struct slice trim(struct slice slice)
{
	while (slice.length > 0 && (slice.data[0] == ' ' || slice.data[0] == '\t')) {
		slice.data++;
		slice.length--;
	}
	while (slice.length > 0 && (slice.data[slice.length - 1] == ' ' || slice.data[slice.length - 1] == '\t'))
		slice.length--;
	return slice;
}

/* Reads 1 to `digits` decimal digits and nothing else. */
static bool read_number(struct slice slice, unsigned digits, uint64_t *value)
{
	*value = 0;
	if (slice.length == 0 || slice.length > digits)
		return false;
	for (size_t i = 0; i < slice.length; i++) {
		if (slice.data[i] < '0' || slice.data[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(slice.data[i] - '0');
	}
	return true;
}

/* Parses host, host:port, [v6] or [v6]:port. The port is 0 if absent. Refuses user names. */
static bool read_authority(struct slice slice, char host[HTTP_HOST_MAX + 1], uint16_t *port)
{
	const char *end = slice.data + slice.length, *colon;
	struct slice name = slice;
	uint64_t value;

	*port = 0;
	for (size_t i = 0; i < slice.length; i++)
		if (strchr("@/?#\\", slice.data[i]))
			return false;
	if (slice.length > 0 && slice.data[0] == '[') {
		const char *bracket = memchr(slice.data, ']', slice.length);
		if (!bracket)
			return false;
		name = (struct slice){ slice.data + 1, (size_t)(bracket - slice.data) - 1 };
		colon = bracket + 1;
	} else {
		colon = memchr(slice.data, ':', slice.length);
		if (!colon)
			colon = end;
		name.length = (size_t)(colon - slice.data);
	}
	if (name.length == 0 || name.length > HTTP_HOST_MAX)
		return false;
	memcpy(host, name.data, name.length);
	host[name.length] = '\0';
	if (colon == end)
		return true;
	if (*colon != ':' || !read_number((struct slice){ colon + 1, (size_t)(end - colon) - 1 }, 5, &value) || value == 0 ||
	    value > UINT16_MAX)
		return false;
	*port = (uint16_t)value;
	return true;
}

/* Parses host and path in one function, because the end of one is the start of the other. */
static enum http_state read_target(struct head *head)
{
	static const char scheme[] = "http://";
	struct http_request *request = head->request;
	struct slice target = head->target;
	size_t skip = sizeof scheme - 1, authority = 0;

	request->is_connect = head->method.length == 7 && memcmp(head->method.data, "CONNECT", 7) == 0;
	if (request->is_connect) {
		if (!read_authority(target, request->host, &request->port) || request->port == 0)
			return bad(request, 400, "CONNECT needs HOST:PORT");
		return HTTP_READ;
	}
	if (target.length < skip || strncasecmp(target.data, scheme, skip) != 0)
		return bad(request, 400,
			   target.length > 8 && strncasecmp(target.data, "https://", 8) == 0
				   ? "https needs CONNECT"
				   : "a proxy needs the whole address: http://HOST/...");
	target.data += skip;
	target.length -= skip;
	while (authority < target.length && target.data[authority] != '/' && target.data[authority] != '?')
		authority++;
	if (memchr(target.data, '#', target.length) ||
	    !read_authority((struct slice){ target.data, authority }, request->host, &request->port))
		return bad(request, 400, "malformed address in the request line");
	if (request->port == 0)
		request->port = 80;
	head->path = (struct slice){ target.data + authority, target.length - authority };
	return HTTP_READ;
}

static enum http_state read_request_line(struct head *head, struct slice line)
{
	struct http_request *request = head->request;
	const char *first = memchr(line.data, ' ', line.length), *second;
	struct slice version;

	if (!first)
		return bad(request, 400, "malformed request line");
	head->method = (struct slice){ line.data, (size_t)(first - line.data) };
	second = memchr(first + 1, ' ', line.length - head->method.length - 1);
	if (!second || second == first + 1 || head->method.length == 0 || head->method.length > 24)
		return bad(request, 400, "malformed request line");
	for (size_t i = 0; i < head->method.length; i++)
		if (!is_token(head->method.data[i]))
			return bad(request, 400, "malformed request line");
	head->target = (struct slice){ first + 1, (size_t)(second - first) - 1 };
	for (size_t i = 0; i < head->target.length; i++)
		if ((unsigned char)head->target.data[i] <= ' ' || head->target.data[i] == 0x7f)
			return bad(request, 400, "malformed request line");
	version = (struct slice){ second + 1, line.length - (size_t)(second + 1 - line.data) };
	head->is_1_0 = version.length == 8 && memcmp(version.data, "HTTP/1.0", 8) == 0;
	if (!head->is_1_0 && (version.length != 8 || memcmp(version.data, "HTTP/1.1", 8) != 0))
		return bad(request, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
	return read_target(head);
}

/* False for a field with a blank, a control character or a colon in the wrong place. */
static bool split_field(struct slice line, struct slice *name, struct slice *value)
{
	const char *colon = memchr(line.data, ':', line.length);

	if (!colon || colon == line.data)
		return false;
	*name = (struct slice){ line.data, (size_t)(colon - line.data) };
	*value = trim((struct slice){ colon + 1, line.length - name->length - 1 });
	for (size_t i = 0; i < name->length; i++)
		if (!is_token(name->data[i]))
			return false;
	for (size_t i = 0; i < value->length; i++) {
		unsigned char c = (unsigned char)value->data[i];
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static enum http_state take_host(struct head *head, struct slice value)
{
	struct http_request *request = head->request;
	char host[HTTP_HOST_MAX + 1];
	uint16_t port;

	if (head->has_host)
		return bad(request, 400, "two Host fields");
	head->has_host = true;
	if (!read_authority(value, host, &port))
		return bad(request, 400, "malformed Host field");
	if (port == 0)
		port = request->is_connect ? request->port : 80;
	if (strcasecmp(host, request->host) != 0 || port != request->port)
		return bad(request, 400, "the Host field names another host than the request line");
	return HTTP_READ;
}

static enum http_state take_length(struct head *head, struct slice value)
{
	struct http_request *request = head->request;

	if (head->has_length || head->has_coding)
		return bad(request, 400, "more than one length of the body");
	head->has_length = true;
	if (!read_number(value, 18, &request->body.left))
		return bad(request, 400, "malformed Content-Length");
	request->body.kind = HTTP_BODY_LENGTH;
	request->body.is_done = request->body.left == 0;
	return HTTP_READ;
}

static enum http_state take_coding(struct head *head, struct slice value)
{
	struct http_request *request = head->request;

	if (head->has_length || head->has_coding)
		return bad(request, 400, "more than one length of the body");
	head->has_coding = true;
	if (!is_word(value, "chunked") || head->is_1_0)
		return bad(request, 501, "the only supported transfer coding is `chunked`");
	request->body = (struct http_body){ .kind = HTTP_BODY_CHUNKED };
	return HTTP_READ;
}

static enum http_state take_login(struct head *head, struct slice value)
{
	struct http_request *request = head->request;
	static const char basic[] = "Basic ";

	if (head->has_login)
		return bad(request, 400, "two Proxy-Authorization fields");
	head->has_login = true;
	if (value.length < sizeof basic - 1 || strncasecmp(value.data, basic, sizeof basic - 1) != 0)
		return HTTP_READ;
	value = trim((struct slice){ value.data + sizeof basic - 1, value.length - (sizeof basic - 1) });
	if (value.length <= HTTP_CREDENTIALS_MAX) {
		memcpy(request->credentials, value.data, value.length);
		request->credentials[value.length] = '\0';
	}
	return HTTP_READ;
}

static enum http_state take_connection(struct head *head, struct slice value)
{
	if (head->connection_count == sizeof head->connection / sizeof head->connection[0])
		return bad(head->request, 400, "too many Connection fields");
	head->connection[head->connection_count++] = value;
	return HTTP_READ;
}

/* Fields that the proxy interprets. Those without is_passed_on are not forwarded. */
static const struct {
	const char *name;
	enum http_state (*take)(struct head *head, struct slice value);
	bool is_passed_on;
} known_fields[] = {
	{ "Host", take_host, false }, /* rewritten */
	{ "Content-Length", take_length, true },
	{ "Transfer-Encoding", take_coding, true },
	{ "Proxy-Authorization", take_login, false },
	{ "Connection", take_connection, false },
	{ "Proxy-Connection", NULL, false },
	{ "Keep-Alive", NULL, false },
	{ "Upgrade", NULL, false },
	{ "HTTP2-Settings", NULL, false },
	{ "TE", NULL, false },
	{ "Trailer", NULL, false },
	{ "Proxy-Authenticate", NULL, false },
};
enum { KNOWN_COUNT = sizeof known_fields / sizeof known_fields[0] };

static enum http_state take_field(struct head *head, struct slice line)
{
	struct slice name, value;

	if (!split_field(line, &name, &value))
		return bad(head->request, 400, "malformed header field");
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if (known_fields[i].take && is_word(name, known_fields[i].name))
			return known_fields[i].take(head, value);
	return HTTP_READ;
}

/* True if `name` is in a list such as "close, X-Mine". */
static bool is_listed(struct slice list, struct slice name)
{
	while (list.length > 0) {
		const char *comma = memchr(list.data, ',', list.length);
		size_t length = comma ? (size_t)(comma - list.data) : list.length;
		struct slice item = trim((struct slice){ list.data, length });
		if (item.length == name.length && strncasecmp(item.data, name.data, name.length) == 0)
			return true;
		list.data += length + (comma != NULL);
		list.length -= length + (comma != NULL);
	}
	return false;
}

static bool is_passed_on(const struct head *head, struct slice name)
{
	for (size_t i = 0; i < KNOWN_COUNT; i++)
		if (is_word(name, known_fields[i].name))
			/* Connection must not hide the length of the body. */
			return known_fields[i].is_passed_on;
	for (unsigned i = 0; i < head->connection_count; i++)
		if (is_listed(head->connection[i], name))
			return false;
	return true;
}

/* Iterates over the lines between the request line and the empty line. */
struct lines {
	const char *at, *end;
};

static bool next_line(struct lines *lines, struct slice *line)
{
	const char *newline;

	if (lines->at >= lines->end)
		return false;
	newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
	if (!newline)
		return false;
	*line = (struct slice){ lines->at, (size_t)(newline - lines->at) - 1 };
	lines->at = newline + 1;
	return true;
}

static void write_forward(const struct head *head, struct lines lines)
{
	struct text *out = &head->request->forward;
	bool has_brackets = strchr(head->request->host, ':') != NULL;
	struct slice line, name, value;

	text_add_n(out, head->method.data, head->method.length);
	text_add(out, " ");
	if (head->path.length == 0 || head->path.data[0] != '/')
		text_add(out, head->path.length == 0 && is_word(head->method, "OPTIONS") ? "*" : "/");
	text_add_n(out, head->path.data, head->path.length);
	text_add(out, " HTTP/1.%d\r\nHost: %s%s%s", head->is_1_0 ? 0 : 1, has_brackets ? "[" : "", head->request->host,
		 has_brackets ? "]" : "");
	if (head->request->port != 80)
		text_add(out, ":%u", head->request->port);
	text_add(out, "\r\nConnection: close\r\n");
	while (next_line(&lines, &line)) {
		if (!split_field(line, &name, &value) || !is_passed_on(head, name))
			continue;
		text_add_n(out, name.data, name.length);
		text_add(out, ": ");
		text_add_n(out, value.data, value.length);
		text_add(out, "\r\n");
	}
	text_add(out, "\r\n");
}

/* Finds the empty line and sets the length of the header. HTTP_INCOMPLETE without one. */
static enum http_state find_end(const char *data, size_t length, struct http_request *request)
{
	size_t limit = length < HTTP_HEAD_MAX ? length : HTTP_HEAD_MAX;

	for (size_t i = 0; i < limit; i++) {
		if (data[i] == '\0' || (data[i] == '\n' && (i == 0 || data[i - 1] != '\r')) ||
		    (data[i] == '\r' && i + 1 < length && data[i + 1] != '\n'))
			return bad(request, 400, "malformed line end");
		if (i >= 3 && data[i] == '\n' && data[i - 2] == '\n') {
			request->length = i + 1;
			return HTTP_READ;
		}
	}
	return length < HTTP_HEAD_MAX ? HTTP_INCOMPLETE : bad(request, 431, "the request header is too long");
}

static enum http_state finish(struct head *head, struct lines fields)
{
	struct http_request *request = head->request;

	if (request->is_connect) {
		if (head->has_coding || request->body.left > 0)
			return bad(request, 400, "CONNECT has no body");
		return HTTP_READ;
	}
	if (!head->has_host && !head->is_1_0)
		return bad(request, 400, "missing Host field");
	if (request->body.kind == HTTP_BODY_NONE)
		request->body.is_done = true;
	write_forward(head, fields);
	return HTTP_READ;
}

enum http_state http_read_request(const char *data, size_t length, struct http_request *request)
{
	struct head head = { .request = request };
	struct lines lines, fields;
	enum http_state state;
	struct slice line;
	unsigned count = 0;

	*request = (struct http_request){ 0 };
	state = find_end(data, length, request);
	if (state != HTTP_READ)
		return state;
	lines = (struct lines){ data, data + request->length - 2 };
	if (!next_line(&lines, &line))
		return bad(request, 400, "malformed request line");
	state = read_request_line(&head, line);
	fields = lines;
	while (state == HTTP_READ && next_line(&lines, &line))
		state = ++count > HTTP_FIELD_MAX ? bad(request, 431, "too many header fields") : take_field(&head, line);
	return state == HTTP_READ ? finish(&head, fields) : state;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Parses one byte outside of chunk data. Refuses extensions and trailers: clients do not need them,
 * and parsers disagree. */
static bool take_chunk_byte(struct http_body *body, char c)
{
	switch (body->state) {
	case CHUNK_SIZE:
		if (c == '\r' && body->digits > 0) {
			body->state = CHUNK_SIZE_LF;
			return true;
		}
		if (hex_value(c) < 0 || ++body->digits > 12)
			return false;
		body->left = body->left << 4 | (unsigned)hex_value(c);
		return true;
	case CHUNK_SIZE_LF:
		body->state = body->left > 0 ? CHUNK_DATA : CHUNK_END_CR;
		return c == '\n';
	case CHUNK_DATA_CR:
		body->state = CHUNK_DATA_LF;
		return c == '\r';
	case CHUNK_DATA_LF:
		body->state = CHUNK_SIZE;
		body->digits = 0;
		return c == '\n';
	case CHUNK_END_CR:
		body->state = CHUNK_END_LF;
		return c == '\r';
	case CHUNK_END_LF:
		body->is_done = true;
		return c == '\n';
	case CHUNK_DATA:
		break;
	}
	return false;
}

static size_t take_data(struct http_body *body, size_t length)
{
	size_t taken = length < body->left ? length : (size_t)body->left;

	body->left -= taken;
	if (body->left == 0 && body->kind == HTTP_BODY_LENGTH)
		body->is_done = true;
	else if (body->left == 0)
		body->state = CHUNK_DATA_CR;
	return taken;
}

ssize_t http_body_take(struct http_body *body, const char *data, size_t length)
{
	size_t at = 0;

	while (at < length && !body->is_done) {
		if (body->kind == HTTP_BODY_LENGTH || body->state == CHUNK_DATA)
			at += take_data(body, length - at);
		else if (!take_chunk_byte(body, data[at++]))
			return -1;
	}
	return (ssize_t)at;
}

void http_write_credentials(const char *name, const char *password, char out[HTTP_CREDENTIALS_MAX + 1])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct text plain = { 0 };
	size_t at = 0;

	text_add(&plain, "%s:%s", name, password);
	for (size_t i = 0; i < plain.length && at + 4 <= HTTP_CREDENTIALS_MAX; i += 3) {
		size_t left = plain.length - i;
		unsigned value = (unsigned)(unsigned char)plain.data[i] << 16;
		if (left > 1)
			value |= (unsigned)(unsigned char)plain.data[i + 1] << 8;
		if (left > 2)
			value |= (unsigned char)plain.data[i + 2];
		out[at++] = digits[value >> 18];
		out[at++] = digits[value >> 12 & 63];
		out[at++] = left > 1 ? digits[value >> 6 & 63] : '=';
		out[at++] = left > 2 ? digits[value & 63] : '=';
	}
	out[at] = '\0';
	text_free(&plain);
}
