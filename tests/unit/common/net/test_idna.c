/* SPDX-License-Identifier: Apache-2.0 */
/* Host names: the canonical form, refusals, Punycode, and the Unicode tables. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/net/destination.h"
#include "common/format/punycode.h"
#include "common/format/unicode.h"

static struct arena arena;

TEST gives_the_canonical_form(void)
{
	static const struct {
		const char *host, *canonical; /* NULL: refused */
	} rows[] = {
		/* ASCII */
		{ "example.org", "example.org" },
		{ "EXAMPLE.Org", "example.org" },
		{ "example.org.", "example.org" },
		{ "localhost", "localhost" },
		{ "LOCALHOST.", "localhost" },
		{ "a", "a" },
		{ "a.b.c.d.e.f", "a.b.c.d.e.f" },
		{ "a-b.example.org", "a-b.example.org" },
		{ "a--b.example.org", "a--b.example.org" },
		{ "_dmarc.example.org", "_dmarc.example.org" },
		{ "a_b.example.org", "a_b.example.org" },
		{ "3com.example", "3com.example" },
		{ "1.2.3.example", "1.2.3.example" },
		{ "0x7f.example", "0x7f.example" },
		{ "example.org2", "example.org2" },
		{ "example.0xyz", "example.0xyz" },
		{ "", NULL },
		{ ".", NULL },
		{ "..", NULL },
		{ "example.org..", NULL },
		{ ".example.org", NULL },
		{ "a..b", NULL },
		{ "-a.example", NULL },
		{ "a-.example", NULL },
		{ "-", NULL },
		{ "a.-", NULL },
		{ "ab--c.example", NULL },
		{ "xx--c.example", NULL },
		{ "ab--.example", NULL },
		{ " example.org", NULL },
		{ "example.org ", NULL },
		{ "exa mple.org", NULL },
		{ "example.org\t", NULL },
		{ "example.org\n", NULL },
		{ "example\x7f.org", NULL },
		{ "exam\x01ple.org", NULL },
		{ "example.org:443", NULL },
		{ "http://example.org", NULL },
		{ "example.org/path", NULL },
		{ "user@example.org", NULL },
		{ "example.org#x", NULL },
		{ "example.org?x", NULL },
		{ "example.org\\x", NULL },
		{ "example%2eorg", NULL },
		{ "fe80::1%eth0", NULL },
		{ "[::1]", NULL },
		{ "::1", NULL },
		{ "*.example.org", NULL },
		{ "a.*.org", NULL },
		{ "a,b", NULL },
		{ "a;b", NULL },
		{ "a+b", NULL },
		{ "a~b", NULL },
		{ "\"a\"", NULL },
		{ "a'b", NULL },
		{ "(a)", NULL },
		{ "$a", NULL },
		{ "&a", NULL },
		{ "<a>", NULL },

		/* numbers are addresses */
		{ "127.1", NULL },
		{ "127.0.0.1", NULL },
		{ "127.0.0.1.", NULL },
		{ "0x7f000001", NULL },
		{ "0X7F000001", NULL },
		{ "2130706433", NULL },
		{ "0177.1", NULL },
		{ "256.256.256.256", NULL },
		{ "1.2.3.4.5", NULL },
		{ "example.1", NULL },
		{ "example.0x1f", NULL },
		{ "example.0x", NULL },
		{ "foo.09", NULL },
		{ "99999999999999999999", NULL },

		/* beyond ASCII */
		{ "b\u00fccher.example", "xn--bcher-kva.example" },
		{ "B\u00dcCHER.example", "xn--bcher-kva.example" },
		{ "bu\u0308cher.example", "xn--bcher-kva.example" }, /* decomposed */
		{ "BU\u0308CHER.example", "xn--bcher-kva.example" },
		{ "xn--bcher-kva.example", "xn--bcher-kva.example" },
		{ "XN--BCHER-KVA.Example", "xn--bcher-kva.example" },
		{ "m\u00fcnchen.example", "xn--mnchen-3ya.example" },
		{ "fa\u00df.example", "xn--fa-hia.example" }, /* sharp s stays, as in IDNA 2008 */
		{ "fa\u1e9e.example", "xn--fa-hia.example" },
		/* Final sigma stays. */
		{ "\u03b2\u03cc\u03bb\u03bf\u03c2.example", "xn--nxasmm1c.example" },
		{ "\u0392\u038c\u039b\u039f\u03c2.example", "xn--nxasmm1c.example" },
		{ "\u03c0\u03b1\u03c1\u03ac\u03b4\u03b5\u03b9\u03b3\u03bc\u03b1.\u03b4\u03bf\u03ba\u03b9\u03bc\u03ae",
		  "xn--hxajbheg2az3al.xn--jxalpdlp" },
		{ "\u043f\u0440\u0438\u043c\u0435\u0440.\u0438\u0441\u043f\u044b\u0442\u0430\u043d\u0438\u0435",
		  "xn--e1afmkfd.xn--80akhbyknj4f" },
		{ "\u041f\u0420\u0418\u041c\u0415\u0420.example", "xn--e1afmkfd.example" },
		{ "\u4f8b\u3048.\u30c6\u30b9\u30c8", "xn--r8jz45g.xn--zckzah" },
		{ "\u5b9e\u4f8b.example", "xn--fsq270a.example" },
		{ "\uc608.example", "xn--2j5b.example" },
		{ "\u05d3\u05d5\u05d2\u05de\u05d4.example", "xn--6dbbec0c.example" },
		{ "\u0645\u062b\u0627\u0644.example", "xn--mgbh0fb.example" },
		{ "\u0909\u0926\u093e\u0939\u0930\u0923.example", "xn--p1b6ci4b4b3a.example" },
		/* Han and Latin do not look alike. */
		{ "\u6771\u4eactokyo.example", "xn--tokyo-w91hq39l.example" },
		{ "na\u00efve.caf\u00e9.example", "xn--nave-6pa.xn--caf-dma.example" },
		{ "\u0142\u00f3d\u017a.example", "xn--d-uga0v4h.example" },

		/* A-labels that differ from the encoding of their characters */
		{ "xn--", NULL },
		{ "xn--.example", NULL },
		{ "xn---.example", NULL },
		{ "xn--a.example", NULL },
		{ "xn--abc-.example", NULL }, /* ASCII only */
		{ "xn--example.example", NULL },
		{ "xn--bcher-kva-.example", NULL },
		{ "xn--Bcher-KVA.example", "xn--bcher-kva.example" },
		{ "xn--99999999.example", NULL },
		{ "xn--zzzzzzzzzzzz.example", NULL },
		{ "xn--a_b-xyz.example", NULL },
		{ "xn--b\u00fccher.example", NULL },
		{ "xn--ls8h.example", NULL }, /* emoji */
		{ "xn--e28h.example", NULL },
		{ "xn--mi7c.example", NULL }, /* full-width a */
		{ "xn--dca.example", NULL }, /* an upper-case letter */
		{ "xn--bcher-2pa.example", NULL },
		{ "xn--e-xbb.example", NULL }, /* decomposed */
		{ "a.xn--1.example", NULL },

		/* characters that map to ASCII or to nothing */
		{ "\uff45xample.org", NULL }, /* full-width e */
		{ "example\uff0eorg", NULL }, /* full-width dot */
		{ "example\u3002org", NULL },
		{ "example\uff61org", NULL },
		{ "example.org\uff0fpath", NULL },
		{ "user\uff20example.org", NULL },
		{ "example.org\uff1a443", NULL },
		{ "example\u2024org", NULL }, /* one dot leader */
		{ "a\u2044b.org", NULL }, /* fraction slash */
		{ "a\u2215b.org", NULL },
		{ "\u2100.org", NULL }, /* a/c */
		{ "\u212aelvin.org", NULL }, /* Kelvin sign */
		{ "\u017fsh.org", NULL }, /* long s */
		{ "\u2160.org", NULL }, /* Roman numeral one */
		{ "\u24d0.org", NULL }, /* circled a */
		{ "\U0001d41a.org", NULL }, /* mathematical a */
		{ "\u00aa.org", NULL }, /* feminine ordinal */
		{ "\u00b2.org", NULL }, /* superscript two */
		{ "\u00bd.org", NULL },
		{ "\ufb01.org", NULL }, /* fi ligature */
		{ "127\uff0e0\uff0e0\uff0e1", NULL },
		{ "\u2460\u2461\u2466.0.0.1", NULL },
		{ "exa\u00admple.org", NULL }, /* soft hyphen */
		{ "exa\u200bmple.org", NULL },
		{ "exa\u200cmple.org", NULL },
		{ "exa\u200dmple.org", NULL },
		{ "exa\u2060mple.org", NULL },
		{ "exa\ufeffmple.org", NULL },
		{ "exa\ufe0fmple.org", NULL },
		{ "exa\u034fmple.org", NULL },
		{ "exa\u180emple.org", NULL },
		{ "exa\U000e0061mple.org", NULL },
		{ "\u202eexample.org", NULL },
		{ "exa\u200fmple.org", NULL },
		{ "exa\u2066mple.org", NULL },
		{ "exa\u00a0mple.org", NULL },
		{ "exa\u2003mple.org", NULL },
		{ "exa\u3000mple.org", NULL },
		{ "exa\u2028mple.org", NULL },
		{ "exa\xc2\x85mple.org", NULL },
		{ "\ufffd.org", NULL },
		{ "\ue000.org", NULL },
		{ "\ufdd0.org", NULL },
		{ "\U0001f600.org", NULL },
		{ "\u2665.org", NULL },
		{ "\u1680.org", NULL },
		{ "\u0378.org", NULL }, /* unassigned */
		{ "a\u00b7b.org", NULL }, /* depends on its context */
		{ "\u30fb.org", NULL },
		{ "\u0660.org", NULL },
		{ "\u0130.org", NULL },

		/* look-alike letters and right-to-left scripts */
		{ "p\u0430ypal.example", NULL }, /* Cyrillic a */
		{ "\u0430pple.example", NULL },
		{ "g\u03bf\u03bfgle.example", NULL }, /* Greek omicron */
		{ "\u03b1\u0430.example", NULL }, /* Greek and Cyrillic */
		{ "a\u0561.example", NULL }, /* Armenian */
		{ "xn--pypal-4ve.example", NULL }, /* the first of these as an A-label */
		/* One script: nothing can tell. */
		{ "\u0430\u0440\u0440\u04cf\u0435.example", "xn--80ak6aa92e.example" },
		{ "paypal.\u0440\u0444", "paypal.xn--p1ai" }, /* one script per label */
		{ "a\u05d0.example", NULL },
		{ "\u05d0a.example", NULL },
		{ "1\u05d0.example", NULL },
		{ "\u05d01.example", "xn--1-zhc.example" },
		{ "\u0301a.example", NULL }, /* begins with a mark */
		{ "a.\u0301.example", NULL },
		{ "_\u00e9.example", NULL },
		{ "-\u00e9.example", NULL },
		{ "\u00e9-.example", NULL },
		{ "\u00e9a--b.example", NULL },

		/* not UTF-8 */
		{ "b\xfc"
		  "cher.example",
		  NULL },
		{ "\xc3.example", NULL },
		{ "\xc0\xae.example", NULL }, /* overlong dot */
		{ "example\xc0\xaeorg", NULL },
		{ "\xed\xa0\x80.example", NULL },
		{ "\xf4\x90\x80\x80.example", NULL },
		{ "\xff.example", NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct error err = { 0 };
		const char *canonical = NULL;
		int status = host_canonical(&arena, rows[i].host, strlen(rows[i].host), &canonical, &err);
		if ((status == 0) != (rows[i].canonical != NULL))
			fprintf(stderr, "%s: %s\n", rows[i].host, status == 0 ? canonical : err.message);
		ASSERT_EQm(rows[i].host, rows[i].canonical ? 0 : -1, status);
		if (status < 0) {
			ASSERT(error_is_set(&err));
			continue;
		}
		ASSERT_STR_EQm(rows[i].host, rows[i].canonical, canonical);
	}
	PASS();
}

static int canonical_length(const char *host, size_t length)
{
	struct error err = { 0 };
	const char *canonical;

	return host_canonical(&arena, host, length, &canonical, &err) < 0 ? -1 : (int)strlen(canonical);
}

TEST bounds_lengths_and_refuses_nul(void)
{
	char name[400];

	memset(name, 'a', sizeof name);
	ASSERT_EQ(63, canonical_length(name, 63));
	ASSERT_EQ(-1, canonical_length(name, 64));
	for (size_t i = 49; i < sizeof name; i += 50)
		name[i] = '.';
	ASSERT_EQ(253, canonical_length(name, 253));
	ASSERT_EQ(-1, canonical_length(name, 254));
	name[253] = '.';
	ASSERT_EQ(253, canonical_length(name, 254));
	ASSERT_EQ(-1, canonical_length("a\0b", 3));
	ASSERT_EQ(-1, canonical_length("a\0", 2));
	ASSERT_EQ(-1, canonical_length("example.org\0.evil.example", 25));
	ASSERT_EQ(-1, canonical_length("x", 0));
	PASS();
}

/* The limit applies to the A-label, not to the text as written. */
TEST bounds_labels_after_encoding(void)
{
	char name[256] = "";

	for (int i = 0; i < 59; i++)
		strcat(name, "\u00e9");
	ASSERT_EQ(-1, canonical_length(name, strlen(name)));
	name[2 * 40] = '\0';
	ASSERT(canonical_length(name, strlen(name)) > 0);
	PASS();
}

TEST punycode_goes_there_and_back(void)
{
	static const struct {
		uint32_t characters[24];
		size_t count;
		const char *text;
	} rows[] = {
		{ { 0xfc }, 1, "tda" },
		{ { 'b', 0xfc, 'c', 'h', 'e', 'r' }, 6, "bcher-kva" },
		{ { 'a', 'b', 'c' }, 3, "abc-" },
		{ { 0x10ffff }, 1, "dn32g" },
		{ { '3', 0x5e74, 'B', 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f }, 8, "3B-ww4c5e180e575a65lsy2b" },
		{ { 0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d, 0x8bf4, 0x4e2d, 0x6587 }, 9, "ihqwcrb4cv8a8dqg056pqjye" },
		{ { 0x305d, 0x306e, 0x30b9, 0x30d4, 0x30fc, 0x30c9, 0x3067 }, 7, "d9juau41awczczp" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t characters[PUNYCODE_MAX];
		char text[64];
		size_t length, count;
		ASSERT(punycode_encode(rows[i].characters, rows[i].count, text, sizeof text, &length));
		ASSERT_EQm(rows[i].text, strlen(rows[i].text), length);
		ASSERT_MEM_EQm(rows[i].text, rows[i].text, text, length);
		ASSERT(punycode_decode(text, length, characters, &count));
		ASSERT_EQ(rows[i].count, count);
		ASSERT_MEM_EQ(rows[i].characters, characters, count * sizeof *characters);
		ASSERT_FALSEm("one byte less is too little",
			      punycode_encode(rows[i].characters, rows[i].count, text, length - 1, &count));
	}
	PASS();
}

TEST punycode_refuses_nonsense(void)
{
	static const char *const texts[] = { "99999999999", "zz",    "en32g",	 "\xc3\xa9-a",
					     "a b",	    "-\x80", "bcher-kv", "zzzzzzzzzzzzzzzzzzzz" };
	uint32_t characters[PUNYCODE_MAX];
	size_t count;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		ASSERT_FALSEm(texts[i], punycode_decode(texts[i], strlen(texts[i]), characters, &count));
	PASS();
}

TEST decodes_utf8_strictly(void)
{
	static const struct {
		const char *bytes;
		size_t size, length;
		uint32_t character;
	} rows[] = {
		{ "a", 1, 1, 'a' },
		{ "\0", 1, 1, 0 },
		{ "\x7f", 1, 1, 0x7f },
		{ "\xc2\x80", 2, 2, 0x80 },
		{ "\xdf\xbf", 2, 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 3, 0xe000 },
		{ "\xf0\x90\x80\x80", 4, 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "\x80", 1, 1, UNICODE_INVALID + 0x80 },
		{ "\xc0\x80", 2, 1, UNICODE_INVALID + 0xc0 },
		{ "\xc1\xbf", 2, 1, UNICODE_INVALID + 0xc1 },
		{ "\xc2", 1, 1, UNICODE_INVALID + 0xc2 },
		{ "\xc2"
		  "a",
		  2, 1, UNICODE_INVALID + 0xc2 },
		{ "\xe0\x80\x80", 3, 1, UNICODE_INVALID + 0xe0 },
		{ "\xe0\xa0", 2, 1, UNICODE_INVALID + 0xe0 },
		{ "\xed\xa0\x80", 3, 1, UNICODE_INVALID + 0xed },
		{ "\xf0\x80\x80\x80", 4, 1, UNICODE_INVALID + 0xf0 },
		{ "\xf4\x90\x80\x80", 4, 1, UNICODE_INVALID + 0xf4 },
		{ "\xf5\x80\x80\x80", 4, 1, UNICODE_INVALID + 0xf5 },
		{ "\xff", 1, 1, UNICODE_INVALID + 0xff },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t character;
		char again[4];
		ASSERT_EQ(rows[i].length, unicode_decode(rows[i].bytes, rows[i].bytes + rows[i].size, &character));
		ASSERT_EQ(rows[i].character, character);
		ASSERT_EQ(rows[i].length, unicode_encode(character, again));
		ASSERT_MEM_EQ(rows[i].bytes, again, rows[i].length);
	}
	PASS();
}

/* The tables must be sorted for the look-ups, and folding must be idempotent. */
TEST tables_hold_what_they_promise(void)
{
	for (size_t i = 1; i < unicode_fold_count; i++)
		ASSERT(unicode_folds[i - 1].last < unicode_folds[i].first);
	for (size_t i = 1; i < unicode_idna_valid_count; i++)
		ASSERT(unicode_idna_valid[i - 1].last < unicode_idna_valid[i].first);
	for (size_t i = 1; i < unicode_idna_mark_count; i++)
		ASSERT(unicode_idna_marks[i - 1].last < unicode_idna_marks[i].first);
	for (size_t i = 1; i < unicode_pair_count; i++) {
		const struct unicode_pair *left = &unicode_pairs[i - 1], *right = &unicode_pairs[i];
		ASSERT(left->base < right->base || (left->base == right->base && left->mark < right->mark));
		ASSERT_EQ(right->composed, unicode_compose(right->base, right->mark));
	}
	for (uint32_t c = 0; c <= UNICODE_MAX; c++) {
		uint32_t folded = unicode_fold(c);
		ASSERT_EQ(folded, unicode_fold(folded));
		if (folded != c)
			ASSERT(unicode_range_folds(c, c, folded) && unicode_range_folds(folded, folded, c));
		if (unicode_is_idna_mark(c))
			ASSERT(unicode_is_idna_valid(c));
	}
	ASSERT_EQ('s', unicode_fold(0x17f));
	ASSERT_EQ(0xe9, unicode_fold(0xc9));
	ASSERT_EQ(0xd7, unicode_fold(0xd7));
	ASSERT_EQ(0, unicode_compose('e', 'x'));
	ASSERT_EQ(0, unicode_compose('x', 0x301));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(gives_the_canonical_form);
	RUN_TEST(bounds_lengths_and_refuses_nul);
	RUN_TEST(bounds_labels_after_encoding);
	RUN_TEST(punycode_goes_there_and_back);
	RUN_TEST(punycode_refuses_nonsense);
	RUN_TEST(decodes_utf8_strictly);
	RUN_TEST(tables_hold_what_they_promise);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
