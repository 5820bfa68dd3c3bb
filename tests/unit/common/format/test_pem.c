/* SPDX-License-Identifier: Apache-2.0 */
/* Only texts without anything but public blocks are public. */
#include <greatest.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/pem.h"

#define BLOCK(label) "-----BEGIN " label "-----\nMIIBszCCAVmgAwIBAgIU\nAQID+/8=\n-----END " label "-----\n"
#define CERTIFICATE BLOCK("CERTIFICATE")

/* Judges a copy that ends exactly with the text, so that a sanitizer sees a read beyond it. */
static enum pem_verdict judge_n(const char *text, size_t length, struct pem_contents *contents)
{
	char *copy = malloc(length ? length : 1);
	enum pem_verdict verdict;
	if (!copy)
		abort();
	memcpy(copy, text, length);
	verdict = pem_judge(copy, length, contents);
	free(copy);
	return verdict;
}

static enum pem_verdict judge(const char *text)
{
	struct pem_contents ignored;
	return judge_n(text, strlen(text), &ignored);
}

TEST public_texts(void)
{
	static const char *const texts[] = {
		CERTIFICATE,
		CERTIFICATE CERTIFICATE BLOCK("X509 CRL"),
		BLOCK("CERTIFICATE REQUEST") BLOCK("NEW CERTIFICATE REQUEST"),
		BLOCK("PUBLIC KEY") BLOCK("RSA PUBLIC KEY") BLOCK("DH PARAMETERS") BLOCK("EC PARAMETERS"),
		BLOCK("TRUSTED CERTIFICATE"),
		"# the root of the test authority: Wurzel \xc3\xa4\n\n   \n" CERTIFICATE "\n# end",
		"-----BEGIN CERTIFICATE-----\r\nMIIB\r\n-----END CERTIFICATE-----\r\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"-----BEGIN CERTIFICATE-----  \nMIIB\t\n\n-----END CERTIFICATE----- \n",
		/* Base64 of something else is only text that its owner calls a certificate. */
		"-----BEGIN CERTIFICATE-----\naGVsbG8gd29ybGQ=\n-----END CERTIFICATE-----\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ASSERT_EQm(texts[i], PEM_PUBLIC, judge(texts[i]));
	PASS();
}

TEST private_blocks(void)
{
	static const char *const labels[] = {
		"PRIVATE KEY",
		"RSA PRIVATE KEY",
		"EC PRIVATE KEY",
		"DSA PRIVATE KEY",
		"ENCRYPTED PRIVATE KEY",
		"OPENSSH PRIVATE KEY",
		"ANY PRIVATE KEY",
		"PGP PRIVATE KEY BLOCK",
		"PKCS7",
		"PKCS12",
		"CMS",
		"certificate",
		"CERTIFICATE ",
		" CERTIFICATE",
		"CERTIFICATE REQUESTS",
		"X",
		"SSL SESSION PARAMETERS",
		"PUBLIC KEY PRIVATE KEY",
	};
	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
		char text[512];
		snprintf(text, sizeof text, "-----BEGIN %s-----\nMIIB\n-----END %s-----\n", labels[i], labels[i]);
		ASSERT_EQm(labels[i], PEM_OTHER_KIND, judge(text));
		snprintf(text, sizeof text, "%s\n# and\n-----BEGIN %s-----\nMIIB\n-----END %s-----\n", CERTIFICATE, labels[i],
			 labels[i]);
		ASSERT_EQm(labels[i], PEM_OTHER_KIND, judge(text));
	}
	PASS();
}

TEST other_texts(void)
{
	static const char *const texts[] = {
		"secret",
		CERTIFICATE "secret\n",
		"Bag Attributes\n" CERTIFICATE,
		"Certificate:\n    Data:\n" CERTIFICATE,
		"\xef\xbb\xbf" CERTIFICATE,
		"----BEGIN CERTIFICATE----\nMIIB\n----END CERTIFICATE----\n",
		"-----BEGIN CERTIFICATE----\nMIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN  CERTIFICATE ----\nMIIB\n",
		"----- BEGIN CERTIFICATE -----\nMIIB\n",
		"-----begin certificate-----\nMIIB\n-----end certificate-----\n",
		" -----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----MIIB-----END CERTIFICATE-----\nMIIB\n",
		"-----BEGIN -----\nMIIB\n-----END -----\n",
		"-----END CERTIFICATE-----\n",
		"MIIB\n",
		"ssh-rsa AAAAB3NzaC1yc2E ada@example.org\n",
		"PuTTY-User-Key-File-2: ssh-rsa\n",
		/* Some readers end a line at a lone CR, also in a comment. */
		"# x\r-----BEGIN PRIVATE KEY-----\rMIIB\r-----END PRIVATE KEY-----\r\n" CERTIFICATE,
		"# x\ry\n" CERTIFICATE,
		"#\v\n" CERTIFICATE,
		"#\033[2J\n" CERTIFICATE,
		"# x\x7f\n" CERTIFICATE,
		CERTIFICATE "\r",
		/* A key that was commented out. */
		"# -----BEGIN RSA PRIVATE KEY-----\n# MIIB\n# -----END RSA PRIVATE KEY-----\n" CERTIFICATE,
		"#-----Begin Private Key-----\n" CERTIFICATE,
		"// comment\n" CERTIFICATE,
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ASSERTm(texts[i], judge(texts[i]) != PEM_PUBLIC);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ASSERTm(texts[i], judge(texts[i]) != PEM_EMPTY);
	PASS();
}

TEST broken_blocks(void)
{
	static const char *const texts[] = {
		"-----BEGIN CERTIFICATE-----",
		"-----BEGIN CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n",
		"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END PRIVATE KEY-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END X509 CRL-----\n",
		"-----BEGIN CERTIFICATE-----\n" BLOCK("PRIVATE KEY") "-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n" CERTIFICATE "-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIB\n-----END "
		"CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMI=B\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB=\nMIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB===\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n# comment\nMIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\n MIIB\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMII-\n-----END CERTIFICATE-----\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\rMIIB\n-----END CERTIFICATE-----\n",
		CERTIFICATE "-----BEGIN CERTIFICATE-----\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ASSERT_EQm(texts[i], PEM_BROKEN, judge(texts[i]));
	PASS();
}

TEST nul_hides(void)
{
	static const char texts[][sizeof CERTIFICATE + 8] = { "#\0\n" CERTIFICATE, "\0" CERTIFICATE, CERTIFICATE "\0x" };
	struct pem_contents ignored;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		ASSERT_EQ(PEM_OTHER_TEXT, judge_n(texts[i], sizeof CERTIFICATE + 3, &ignored));
	/* PKCS#12 and DER are binary. */
	ASSERT_EQ(PEM_OTHER_TEXT, judge_n("\x30\x82\x03\x00\x02\x01", 6, &ignored));
	PASS();
}

TEST empty_texts(void)
{
	ASSERT_EQ(PEM_EMPTY, judge(""));
	ASSERT_EQ(PEM_EMPTY, judge("\n \n"));
	ASSERT_EQ(PEM_EMPTY, judge("# to be filled"));
	PASS();
}

TEST contents_are_counted(void)
{
	const char *text = CERTIFICATE CERTIFICATE BLOCK("PUBLIC KEY");
	struct pem_contents contents;
	ASSERT_EQ(PEM_PUBLIC, judge_n(text, strlen(text), &contents));
	ASSERT_EQ(2, contents.counts[PEM_CERTIFICATE]);
	ASSERT_EQ(1, contents.counts[PEM_PUBLIC_KEY]);
	ASSERT_EQ(0, contents.counts[PEM_CRL]);
	text = CERTIFICATE "\nsecret\n";
	ASSERT_EQ(PEM_OTHER_TEXT, judge_n(text, strlen(text), &contents));
	ASSERT_EQ(6, contents.line);
	ASSERT_STR_EQ("certificate", pem_kind_name(PEM_CERTIFICATE, 1));
	ASSERT_STR_EQ("public keys", pem_kind_name(PEM_PUBLIC_KEY, 2));
	PASS();
}

/* Cut anywhere, and with any byte replaced by one that belongs into no PEM, it is not public. */
TEST every_mutilation_hides(void)
{
	const char *text = CERTIFICATE;
	size_t length = strlen(text);
	struct pem_contents ignored;
	for (size_t cut = 1; cut < length - 1; cut++) /* the last newline may be missing */
		ASSERT(judge_n(text, cut, &ignored) != PEM_PUBLIC);
	for (size_t i = 0; i < length - 1; i++) {
		char copy[sizeof CERTIFICATE];
		memcpy(copy, text, sizeof copy);
		copy[i] = '!';
		ASSERT(judge_n(copy, length, &ignored) != PEM_PUBLIC);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(public_texts);
	RUN_TEST(private_blocks);
	RUN_TEST(other_texts);
	RUN_TEST(broken_blocks);
	RUN_TEST(nul_hides);
	RUN_TEST(empty_texts);
	RUN_TEST(contents_are_counted);
	RUN_TEST(every_mutilation_hides);
	GREATEST_MAIN_END();
}
