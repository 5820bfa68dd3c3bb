/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator: verdicts about one machine, and the rules that decide. */
#include <greatest.h>

#include <string.h>

#include "unit/support/plan_fixture.h"
#include "common/scan/scan.h"

static struct plan_fixture fixture;

static const char machine[] =
	"environment: {LANG: C, SECRET: x}\n"
	"files: [/usr/bin/sh, /usr/share/k.pem, /usr/hidden/x, /data/ro/f, /data/ro/.env, /home/ann/.bashrc, /home/ann/.ssh/id,"
	" /home/ann/app/src/x.c, /home/ann/app/.env, /home/ann/app/.env.example, /home/ann/app/keys/k.pem, "
	"/home/ann/app/.vscode/t,"
	" /home/ann/app/node_modules/m/.env, /home/ann/app/dir.key/x, /home/ann/app/file.key, /proc/cpuinfo, /tmp/x,"
	" {path: /dev/null, type: device}, {path: /dev/sda, type: device}, {path: /run/s.sock, type: socket}]";

static const struct plan_layer layers[] = {
	{ LAYER_FLOOR, "files: {deny: [~/.ssh]}" },
	{ LAYER_BASE, "files:\n"
		      "  system: [/usr]\n"
		      "  read: [/data/ro]\n"
		      "  write: [.]\n"
		      "  deny: [.env, \".env.*\", \"*.pem\", \"*.key/\", /usr/hidden]\n"
		      "  except: [.env.example, ~/.ssh]\n"
		      "  protect: [.vscode]\n"
		      "  prune: [node_modules]\n"
		      "sockets: [/run/s.sock]\n"
		      "environment: {pass: [LANG, TERM], set: {CI: \"1\"}}\n" },
	{ 0 },
};

TEST answers_about_paths(void)
{
	static const struct {
		const char *path;
		const char *allowed; /* some of r, w, x */
		const char *rule; /* that decides about reading; NULL if none */
	} rows[] = {
		{ "/home/ann/app", "rwx", "." },
		{ "/home/ann/app/src/x.c", "rwx", "." },
		{ "/home/ann/app/new/file", "rwx", "." },
		{ "/home/ann/app/.env", "", ".env" },
		{ "/home/ann/app/.env.example", "rwx", "." },
		{ "/home/ann/app/keys/k.pem", "", "*.pem" },
		{ "/home/ann/app/dir.key/x", "", "*.key/" },
		{ "/home/ann/app/file.key", "rwx", "." },
		{ "/home/ann/app/.vscode/t", "rx", "." },
		{ "/home/ann/app/.vscode/new", "rx", "." },
		{ "/home/ann/app/node_modules/m/.env", "rwx", "." },
		{ "/home/ann/app2", "", "private" },
		{ "/usr/bin/sh", "rx", "/usr" },
		{ "/usr/share/k.pem", "rx", "/usr" },
		{ "/usr/hidden/x", "", "/usr/hidden" },
		{ "/data/ro/f", "rx", "/data/ro" },
		{ "/data/ro/.env", "", ".env" },
		{ "/data", "", NULL },
		{ "/home/ann/.bashrc", "", "private" },
		{ "/home/ann/.ssh/id", "", "~/.ssh" },
		{ "/tmp/x", "", "private" },
		{ "/var/tmp/x", "", "private" },
		{ "/dev/shm/x", "", "private" },
		{ "/dev/null", "rw", "basic devices" },
		{ "/dev/pts/3", "rw", "basic devices" },
		{ "/dev/sda", "", NULL },
		{ "/proc/cpuinfo", "r", "the command's own /proc" },
		{ "/run/s.sock", "rw", "/run/s.sock" },
		{ "/run/t.sock", "", NULL },
		{ "/", "", NULL },
		{ "/srv", "", NULL },
	};
	plan_fixture_make(&fixture, machine, layers);
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	for (int scanned = 0; scanned < 2; scanned++) {
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			struct verdict verdict = plan_check_path(&fixture.plan, ACCESS_READ, rows[i].path, false);
			ASSERT_EQm(rows[i].path, strchr(rows[i].allowed, 'r') != NULL,
				   plan_fixture_allows(&fixture, ACCESS_READ, rows[i].path));
			ASSERT_EQm(rows[i].path, strchr(rows[i].allowed, 'w') != NULL,
				   plan_fixture_allows(&fixture, ACCESS_WRITE, rows[i].path));
			ASSERT_EQm(rows[i].path, strchr(rows[i].allowed, 'x') != NULL,
				   plan_fixture_allows(&fixture, ACCESS_EXECUTE, rows[i].path));
			ASSERT_EQm(rows[i].path, rows[i].rule != NULL, verdict.rule != NULL);
			if (verdict.rule)
				ASSERT_STR_EQ(rows[i].rule, verdict.rule->text);
			ASSERTm(rows[i].path, verdict.reason);
		}
		/* the same answers after the scan */
		ASSERT_EQ(0, plan_scan(&fixture.plan, &fixture.error));
	}
	plan_fixture_free(&fixture);
	PASS();
}

TEST verdicts_have_the_position_of_the_rule(void)
{
	plan_fixture_make(&fixture, machine, layers);
	struct verdict verdict = plan_check_path(&fixture.plan, ACCESS_READ, "/home/ann/app/keys/k.pem", false);
	ASSERT_STR_EQ("p.yml", verdict.rule->origin.source);
	ASSERT_EQ(6, verdict.rule->origin.line);
	ASSERT_EQ(26, verdict.rule->origin.column);
	plan_fixture_free(&fixture);
	PASS();
}

TEST names_that_do_not_exist(void)
{
	/* A missing name has no mount. The guard refuses protected ones where a host looks; a
	 * denied one that the command creates is its own. */
	plan_fixture_make(&fixture, machine, layers);
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/sub/.vscode"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/sub/.env"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/sub/.env"));
	plan_fixture_free(&fixture);
	plan_fixture_default(&fixture, "", NULL);
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode"));
	fixture.plan.is_guarded = true;
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode/tasks.json"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/sub/.vscode"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.env"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST overlong_paths_are_refused(void)
{
	static char path[5000];
	memset(path, 'a', sizeof path - 1);
	memcpy(path, "/home/ann/app/", 14);
	plan_fixture_make(&fixture, machine, layers);
	ASSERT_FALSE(plan_check_path(&fixture.plan, ACCESS_READ, path, false).is_allowed);
	path[4000] = '\0';
	ASSERT(plan_check_path(&fixture.plan, ACCESS_READ, path, false).is_allowed);
	plan_fixture_free(&fixture);
	PASS();
}

static bool connects(const char *host, uint16_t port)
{
	return plan_check_connect(&fixture.plan, host, port).is_allowed;
}

TEST answers_about_connections(void)
{
	const char *policy = "network: {allow: [\"example.org:443\", \"*.example.com\", 10.1.2.3], deny: [bad.example.com, "
			     "\"127.0.0.1:9\"], local: [5432, 9]}";
	plan_fixture_make(&fixture, "", (const struct plan_layer[]){ { LAYER_USER, policy }, { 0 } });
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	ASSERT(connects("example.org", 443));
	ASSERT_FALSE(connects("example.org", 80));
	ASSERT(connects("a.example.com", 80));
	ASSERT_FALSE(connects("bad.example.com", 80));
	ASSERT(connects("10.1.2.3", 80));
	ASSERT_FALSE(connects("10.1.2.4", 80));
	ASSERT(connects("localhost", 5432));
	ASSERT(connects("127.0.0.1", 5432));
	ASSERT(connects("127.1", 5432));
	ASSERT_FALSE(connects("localhost", 5433));
	ASSERT_FALSE(connects("127.0.0.1", 9));
	ASSERT_STR_EQ("example.org:443", plan_check_connect(&fixture.plan, "example.org", 443).rule->text);
	plan_fixture_free(&fixture);

	plan_fixture_make(&fixture, "", (const struct plan_layer[]){ { LAYER_USER, "network: all" }, { 0 } });
	ASSERT(connects("example.org", 443));
	/* No filter is between the command and the host's network. */
	ASSERT(connects("169.254.169.254", 80));
	ASSERT(connects("metadata.google.internal", 80));
	ASSERT_FALSE(connects("example.org", 0));
	ASSERT_FALSE(connects("no name", 80));
	ASSERT(plan_check_connect(&fixture.plan, "example.org", 443).rule);
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, "",
			  (const struct plan_layer[]){ { LAYER_USER, "network: all" },
						       { LAYER_USER, "network: {deny: [bad.example.org]}" },
						       { 0 } });
	ASSERT(connects("example.org", 443));
	ASSERT_FALSE(connects("bad.example.org", 443));
	ASSERT_FALSE(connects("169.254.169.254", 80));
	plan_fixture_free(&fixture);

	plan_fixture_make(&fixture, "", (const struct plan_layer[]){ { LAYER_USER, "files: {write: [.]}" }, { 0 } });
	ASSERT_FALSE(connects("example.org", 443));
	ASSERT(plan_check_connect(&fixture.plan, "example.org", 443).rule);
	plan_fixture_free(&fixture);
	PASS();
}

TEST answers_about_variables(void)
{
	plan_fixture_make(&fixture, machine, layers);
	ASSERT(plan_check_variable(&fixture.plan, "LANG").is_allowed);
	ASSERT_STR_EQ("LANG", plan_check_variable(&fixture.plan, "LANG").rule->text);
	ASSERT(plan_check_variable(&fixture.plan, "TERM").is_allowed);
	ASSERT(plan_check_variable(&fixture.plan, "CI").is_allowed);
	ASSERT(plan_check_variable(&fixture.plan, "HOME").is_allowed);
	ASSERT_FALSE(plan_check_variable(&fixture.plan, "SECRET").is_allowed);
	ASSERT_FALSE(plan_check_variable(&fixture.plan, "LANGUAGE").is_allowed);
	ASSERT_FALSE(plan_check_variable(&fixture.plan, "").is_allowed);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(answers_about_paths);
	RUN_TEST(verdicts_have_the_position_of_the_rule);
	RUN_TEST(names_that_do_not_exist);
	RUN_TEST(overlong_paths_are_refused);
	RUN_TEST(answers_about_connections);
	RUN_TEST(answers_about_variables);
	GREATEST_MAIN_END();
}
