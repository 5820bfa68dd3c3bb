/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether a text contains nothing but public PEM blocks. Pure: reads the given bytes, never
 * opens a file and never decodes a block. The label of a block decides, not its content: a private
 * key is only public for this judge if its owner has labelled it as a certificate. */
#ifndef BERM_COMMON_FORMAT_PEM_H
#define BERM_COMMON_FORMAT_PEM_H

#include <stddef.h>

enum pem_verdict {
	PEM_PUBLIC, /* at least one public block, and nothing else but blank lines and comments */
	PEM_EMPTY, /* no block at all: blank lines and comments */
	PEM_OTHER_KIND, /* a block with another label, such as a private key */
	PEM_OTHER_TEXT, /* text outside of a block, or a character that does not belong into one */
	PEM_BROKEN, /* a block without its end, without content or with something else in it */
};

enum pem_kind { PEM_CERTIFICATE, PEM_CRL, PEM_REQUEST, PEM_PUBLIC_KEY, PEM_PARAMETERS, PEM_KIND_COUNT };

struct pem_contents {
	size_t counts[PEM_KIND_COUNT];
	size_t line; /* at which the judgement ended, from 1 */
};

/* The text needs no NUL at its end, and may have some. */
enum pem_verdict pem_judge(const char *text, size_t length, struct pem_contents *contents);
/* Returns the name of a kind for a count of 1, or for others. */
const char *pem_kind_name(enum pem_kind kind, size_t count);

#endif
