/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the kernel for the bound sockets of this network namespace by sock_diag(7), which can leave
 * out connections and takes a tenth of the time. A kernel or an outer sandbox without it leaves
 * /proc/net/unix: a heading, then one line for each socket,
 *
 *     0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x
 *
 * of which the path is as its owner bound it: relative to a directory that is not known here, in
 * the owner's mount namespace, and with any byte but NUL. A newline in it starts a line that does
 * not look like a socket; such a line continues the path. */
#include "linux/walk/bound_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/cleanup.h"

/* 64 MB hold about 700,000 sockets. */
enum { READ_BYTES = 32768, LIST_BYTES_MAX = 64 << 20 };
/* States of a socket in the kernel (include/net/tcp_states.h): neither connected nor connecting. */
enum { STATE_CLOSE = 7, STATE_LISTEN = 10 };
static const char list_path[] = "/proc/net/unix";

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

/* Skips exactly `count` hexadecimal digits and a space. */
static bool skip_number(const char **at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_hex(*(*at)++))
			return false;
	return *(*at)++ == ' ';
}

/* Skips the address of the socket, which the kernel may replace by a word in parentheses. */
static bool skip_address(const char **at)
{
	const char *colon = strchr(*at, ':');
	if (!colon || colon == *at || colon - *at > 16)
		return false;
	for (; *at < colon; ++*at)
		if (!is_hex(**at) && !strchr("()_ptrvalnu", **at))
			return false;
	++*at;
	return *(*at)++ == ' ';
}

/* Returns the rest of a socket's line after the inode: "" or a space and the path. NULL if the line
 * is not a socket's. */
static const char *after_inode(const char *line)
{
	static const size_t widths[] = { 8, 8, 8, 4, 2 }; /* references, protocol, flags, type, state */
	const char *at = line;
	size_t digits;
	if (!skip_address(&at))
		return NULL;
	for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
		if (!skip_number(&at, widths[i]))
			return NULL;
	at += strspn(at, " "); /* the inode is padded to five columns */
	digits = strspn(at, "0123456789");
	at += digits;
	return digits > 0 && (*at == '\0' || *at == ' ') ? at : NULL;
}

static void add_to_path(struct bound_sockets *sockets, const char *text)
{
	size_t length = strlen(text);
	if (sockets->path_length + length > BOUND_PATH_MAX) {
		sockets->path_length = BOUND_PATH_MAX + 1;
		return;
	}
	memcpy(sockets->path + sockets->path_length, text, length + 1);
	sockets->path_length += length;
}

/* Reports the path that is complete now. An abstract name begins with @. */
static void finish_path(struct bound_sockets *sockets)
{
	if (sockets->has_path && sockets->path_length > 0 && sockets->path_length <= BOUND_PATH_MAX && sockets->path[0] != '@')
		sockets->visitor.visit(sockets->visitor.self, sockets->path);
	sockets->has_path = false;
	sockets->path_length = 0;
}

static void finish_line(struct bound_sockets *sockets)
{
	const char *rest = NULL;
	if (sockets->length < sizeof sockets->line) {
		sockets->line[sockets->length] = '\0';
		rest = after_inode(sockets->line);
	}
	if (rest) {
		finish_path(sockets);
		sockets->has_path = rest[0] == ' ';
		if (sockets->has_path)
			add_to_path(sockets, rest + 1);
	} else if (sockets->has_path) {
		add_to_path(sockets, "\n");
		if (sockets->length < sizeof sockets->line)
			add_to_path(sockets, sockets->line);
		else
			sockets->path_length = BOUND_PATH_MAX + 1;
	}
	sockets->length = 0;
}

void bound_sockets_feed(struct bound_sockets *sockets, const char *text, size_t length)
{
	for (const char *end = text + length; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t part = (size_t)((newline ? newline : end) - text);
		if (sockets->length < sizeof sockets->line && part < sizeof sockets->line - sockets->length) {
			memcpy(sockets->line + sockets->length, text, part);
			sockets->length += part;
		} else {
			sockets->length = sizeof sockets->line;
		}
		if (newline)
			finish_line(sockets);
		text += part + (newline != NULL);
	}
}

void bound_sockets_end(struct bound_sockets *sockets)
{
	if (sockets->length > 0)
		finish_line(sockets);
	finish_path(sockets);
}

static int read_list(const struct socket_visitor *visitor, struct error *err)
{
	struct bound_sockets sockets = { .visitor = *visitor };
	uninitialised char buffer[READ_BYTES];
	size_t total = 0;
	autoclose int fd = open(list_path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return error_errno(err, errno, "cannot open %s", list_path);
	for (;;) {
		ssize_t got = read(fd, buffer, sizeof buffer);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "cannot read %s", list_path);
		if (got == 0)
			break;
		total += (size_t)got;
		if (total > LIST_BYTES_MAX)
			return error_set(err, "%s is longer than %d bytes", list_path, LIST_BYTES_MAX);
		bound_sockets_feed(&sockets, buffer, (size_t)got);
	}
	bound_sockets_end(&sockets);
	return 0;
}

/* Reports the name of one socket. The kernel includes the NUL that ends a path; an abstract name
 * begins with one. */
static void visit_name(const struct socket_visitor *visitor, const char *name, size_t length)
{
	char path[BOUND_PATH_MAX + 1];
	if (length == 0 || length > BOUND_PATH_MAX + 1 || name[0] == '\0')
		return;
	memcpy(path, name, length);
	path[length <= BOUND_PATH_MAX ? length : BOUND_PATH_MAX] = '\0';
	visitor->visit(visitor->self, path);
}

/* Finds the name among the attributes of one message. False if they are damaged. */
static bool visit_attributes(const struct socket_visitor *visitor, const char *bytes, size_t length)
{
	while (length >= sizeof(struct nlattr)) {
		struct nlattr attribute;
		size_t aligned;
		memcpy(&attribute, bytes, sizeof attribute);
		if (attribute.nla_len < sizeof attribute || attribute.nla_len > length)
			return false;
		if ((attribute.nla_type & NLA_TYPE_MASK) == UNIX_DIAG_NAME)
			visit_name(visitor, bytes + sizeof attribute, attribute.nla_len - sizeof attribute);
		aligned = NLA_ALIGN((size_t)attribute.nla_len);
		if (aligned >= length)
			break;
		bytes += aligned;
		length -= aligned;
	}
	return true;
}

int bound_sockets_answer(const struct socket_visitor *visitor, const void *answer, size_t length)
{
	const char *bytes = answer;
	while (length >= sizeof(struct nlmsghdr)) {
		const size_t prefix = NLMSG_ALIGN(sizeof(struct nlmsghdr) + sizeof(struct unix_diag_msg));
		struct nlmsghdr header;
		struct nlmsgerr refusal;
		size_t aligned;
		memcpy(&header, bytes, sizeof header);
		errno = EPROTO;
		if (header.nlmsg_len < sizeof header || header.nlmsg_len > length)
			return -1;
		if (header.nlmsg_type == NLMSG_DONE)
			return 0;
		if (header.nlmsg_type == NLMSG_ERROR) {
			if (header.nlmsg_len >= sizeof header + sizeof refusal) {
				memcpy(&refusal, bytes + sizeof header, sizeof refusal);
				errno = -refusal.error;
			}
			return -1;
		}
		if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len < prefix ||
		    !visit_attributes(visitor, bytes + prefix, header.nlmsg_len - prefix))
			return -1;
		aligned = NLMSG_ALIGN((size_t)header.nlmsg_len);
		if (aligned >= length)
			return 1;
		bytes += aligned;
		length -= aligned;
	}
	errno = EPROTO;
	return length == 0 ? 1 : -1;
}

/* Returns -1 with errno if the kernel or an outer sandbox refuses. A part of the paths may have
 * been reported by then. */
static int ask_kernel(const struct socket_visitor *visitor)
{
	const struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} question = {
		.header = { .nlmsg_len = sizeof question,
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = AF_UNIX,
			     .udiag_states = 1U << STATE_CLOSE | 1U << STATE_LISTEN,
			     .udiag_show = UDIAG_SHOW_NAME },
	};
	uninitialised char buffer[READ_BYTES];
	autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int result = 1;

	if (fd < 0 || send(fd, &question, sizeof question, 0) < 0)
		return -1;
	while (result > 0) {
		struct sockaddr_nl sender = { 0 };
		socklen_t size = sizeof sender;
		ssize_t got = recvfrom(fd, buffer, sizeof buffer, MSG_TRUNC, (struct sockaddr *)&sender, &size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if ((size_t)got > sizeof buffer || got == 0) {
			errno = EPROTO;
			return -1;
		}
		if (sender.nl_pid == 0) /* the kernel */
			result = bound_sockets_answer(visitor, buffer, (size_t)got);
	}
	return result;
}

int bound_sockets_list(const struct filesystem *fs, void (*visit)(void *self, const char *path), void *self, struct error *err)
{
	const struct socket_visitor visitor = { visit, self };
	(void)fs;
	return ask_kernel(&visitor) == 0 ? 0 : read_list(&visitor, err);
}
