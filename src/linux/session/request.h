/* SPDX-License-Identifier: Apache-2.0 */
/* A request to run one command in a session, as flat bytes: a fixed head, then strings, then the
 * client's scan results. The client writes it, the holder checks it and hands the same bytes to
 * init. Decoding checks every count and length and never reads past the end. */
#ifndef BERM_LINUX_SESSION_REQUEST_H
#define BERM_LINUX_SESSION_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/arena.h"
#include "common/base/sha256.h"
#include "common/base/text.h"

enum {
	SESSION_REQUEST_MAX = 1 << 22, /* bytes of a whole request */
	SESSION_PACKET_MAX = 32768, /* of each packet that it is sent in */
	SESSION_LIMITS = 16, /* RLIM_NLIMITS */
	SESSION_STREAMS = 3, /* fds that travel with the first packet: 0, 1 and 2 */
};

/* Properties of the client, which the command inherits without a session. */
struct session_caller {
	uint32_t umask;
	int32_t nice;
	int32_t oom_score_adj;
	int32_t scheduler;
	uint64_t ignored, blocked; /* signals, bit N-1 for signal N */
	uint64_t soft[SESSION_LIMITS], hard[SESSION_LIMITS];
	uint64_t processors; /* a hash of the CPUs that it may use */
};

/* The first bytes of a request. */
struct session_head {
	char magic[8];
	uint32_t kind; /* enum session_kind */
	uint32_t length; /* of the whole request */
	char token[SHA256_HEX]; /* of the session's record */
	char identity[SHA256_HEX]; /* of the client's plan */
	struct session_caller caller;
	uint32_t arguments, variables, paths; /* how many strings of each kind follow */
	uint32_t results; /* bytes of scan results at the end */
};

enum session_kind { SESSION_RUN = 1, SESSION_STOP, SESSION_ASK };

struct session_request {
	struct session_head head;
	const char *directory; /* absolute: the command's working directory */
	/* Each ends with NULL. */
	char **arguments, **variables;
	char **paths; /* at which the command may be, in the order of PATH */
	const char *results; /* head.results bytes of scan_results_encode() */
};

extern const char session_magic[8];

/* Appends the request to the text. Sets magic, counts and lengths of request->head. False if it is
 * larger than SESSION_REQUEST_MAX. */
bool session_request_encode(struct session_request *request, struct text *out);
/* Returns the length that the first packet announces; 0 if it is not the beginning of a request. */
size_t session_request_length(const void *packet, size_t length);
/* Decodes a whole request. The strings point into the bytes, which must outlive it; the lists are
 * in the arena. False if the bytes are not a result of session_request_encode. */
bool session_request_decode(struct arena *arena, char *bytes, size_t length, struct session_request *request);

#endif
