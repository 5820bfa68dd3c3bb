/* SPDX-License-Identifier: Apache-2.0 */
/* From policy and machine to plan: grants, refusals and notes. */
#include <greatest.h>

#include <string.h>

#include "unit/support/plan_fixture.h"

static struct plan_fixture fixture;

#define LAYERS(...) ((const struct plan_layer[]){ __VA_ARGS__, { 0 } })
#define USER(text) LAYERS({ LAYER_USER, text })

static enum greatest_test_res expect_status(int status)
{
	const char *says = plan_fixture_says(&fixture);
	ASSERT_EQm(says, status, fixture.status);
	PASS();
}

TEST grants_by_kind_and_canonical(void)
{
	plan_fixture_make(&fixture, "files: [/usr/bin/sh, \"/bin -> usr/bin\", /data/x/, \"/home/ann/link -> /data\"]",
			  USER("files: {system: [/usr, /bin], read: [~/link/x], write: [.]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("system", plan_fixture_grant(&fixture, "/usr"));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/data/x"));
	ASSERT_STR_EQ("write", plan_fixture_grant(&fixture, "/home/ann/app"));
	/* /usr/bin through /bin is redundant; the links are kept */
	ASSERT_EQ(3, fixture.plan.grants.count);
	ASSERT_EQ(2, fixture.plan.links.count);
	ASSERT_STR_EQ("/bin", fixture.plan.links.items[0].path);
	ASSERT_STR_EQ("usr/bin", fixture.plan.links.items[0].target);
	ASSERT_STR_EQ("/home/ann/link", fixture.plan.links.items[1].path);
	ASSERT_STR_EQ("~/link/x", plan_grant_for(&fixture.plan, "/data/x/y")->rule->text);
	plan_fixture_free(&fixture);
	PASS();
}

TEST links_inside_grants_are_not_made(void)
{
	plan_fixture_make(&fixture, "files: [/usr/lib/x/, \"/usr/l -> lib/x\"]",
			  USER("files: {system: [/usr], read: [/usr/l]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(0, fixture.plan.links.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST write_beats_read_beats_system(void)
{
	plan_fixture_make(&fixture, "files: [/data/a/, /data/b/, /data/c/]",
			  USER("files: {system: [/data/a, /data/b], read: [/data/a, /data/c], write: [/data/a]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("write", plan_fixture_grant(&fixture, "/data/a"));
	ASSERT_STR_EQ("system", plan_fixture_grant(&fixture, "/data/b"));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/data/c"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST grants_are_sorted_and_inner_ones_of_another_kind_stay(void)
{
	plan_fixture_make(&fixture, "files: [/home/ann/app/vendor/x, /home/ann/app/src/]",
			  USER("files: {write: [., ./src], read: [vendor]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(2, fixture.plan.grants.count);
	ASSERT_STR_EQ("/home/ann/app", fixture.plan.grants.items[0].path);
	ASSERT_STR_EQ("/home/ann/app/vendor", fixture.plan.grants.items[1].path);
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/vendor/x"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/src/x"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST missing_paths_are_skipped_with_a_note(void)
{
	plan_fixture_make(
		&fixture, "",
		USER("files: {read: [/nowhere, $XDG_RUNTIME_DIR/x], write: [., gone]}\nsockets: [$SSH_AUTH_SOCK, /no.sock]"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(1, fixture.plan.grants.count);
	ASSERT(plan_fixture_noted(&fixture, NOTE_MISSING, "/nowhere"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_MISSING, "XDG_RUNTIME_DIR"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_MISSING, "/home/ann/app/gone"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_MISSING, "SSH_AUTH_SOCK"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_MISSING, "/no.sock"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST an_unset_variable_in_a_denial_is_an_error(void)
{
	plan_fixture_make(&fixture, "", USER("files: {deny: [$XDG_RUNTIME_DIR/x]}"));
	CHECK_CALL(expect_status(-1));
	ASSERT(plan_fixture_complained(&fixture, "XDG_RUNTIME_DIR"));
	ASSERT_EQ(2, fixture.diagnostics.items[0].origin.line);
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, "environment: {XDG_RUNTIME_DIR: /run/user/1000}",
			  USER("files: {deny: [$XDG_RUNTIME_DIR/x]}"));
	CHECK_CALL(expect_status(0));
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_environment_cannot_move_the_home(void)
{
	plan_fixture_make(&fixture,
			  "environment: {HOME: /tmp/x, XDG_CONFIG_HOME: /tmp/c}\nfiles: [/home/ann/d/, /tmp/c/gh/, /tmp/x/d/]",
			  USER("files: {read: [~/d, $HOME/d, $XDG_CONFIG_HOME/gh], deny: [$XDG_CONFIG_HOME/gh/hosts.yml]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/home/ann/d"));
	ASSERT_STR_EQ("none", plan_fixture_grant(&fixture, "/tmp/x/d"));
	/* the denial holds at the default path and at that of the variable */
	ASSERT(plan_denied_by(&fixture.plan, "/tmp/c/gh/hosts.yml", false));
	ASSERT(plan_denied_by(&fixture.plan, "/home/ann/.config/gh/hosts.yml", false));
	plan_fixture_free(&fixture);
	PASS();
}

TEST dangerous_grants_are_errors(void)
{
	static const char machine[] =
		"files: [/proc/1/, /dev/null, /sys/class/, /run/user/1000/bus/, /tmp/x/, /usr/bin/, /etc/hosts,"
		" /home/ann/.local/state/berm/x/, /home/ann/.config/berm/, /var/tmp/, /opt/, /boot/,"
		" {path: /srv/s, type: socket}, {path: /srv/f, type: fifo}, \"/srv/h -> /home/ann\"]";
	static const struct {
		const char *kind, *path;
		bool is_fine;
	} rows[] = {
		{ "read", "/", false },
		{ "read", "~", false },
		{ "read", "/home", false },
		{ "read", "/proc", false },
		{ "read", "/proc/1", false },
		{ "read", "/dev", false },
		{ "read", "/dev/null", false },
		{ "read", "/sys", false },
		{ "read", "/sys/class", true },
		{ "read", "/run", false },
		{ "read", "/run/user", false },
		{ "read", "/run/user/1000", false },
		{ "read", "/tmp", false },
		{ "read", "/tmp/x", true },
		{ "read", "/srv/h", false },
		{ "read", "/srv/s", false },
		{ "read", "/srv/f", false },
		{ "read", "~/.local/state/berm", false },
		{ "read", "~/.local/state/berm/x", false },
		{ "read", "~/.config", true },
		{ "system", "/", false },
		{ "write", "/", false },
		{ "write", "/usr/bin", false },
		{ "write", "/etc", false },
		{ "write", "/etc/hosts", false },
		{ "write", "/boot", false },
		{ "write", "/sys/class", false },
		{ "write", "/opt", false },
		{ "write", "/var/tmp", false },
		{ "write", "~/.local", false },
		{ "write", "~/.config", false },
		{ "write", "~/.config/berm", false },
		{ "write", "/tmp/x", true },
		{ "write", "../app", true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[200];
		snprintf(text, sizeof text, "files: {%s: [\"%s\"]}", rows[i].kind, rows[i].path);
		plan_fixture_make(&fixture, machine, USER(text));
		ASSERT_EQm(text, rows[i].is_fine ? 0 : -1, fixture.status);
		ASSERT_EQm(text, rows[i].is_fine ? 0 : 1, fixture.diagnostics.count);
		if (!rows[i].is_fine)
			ASSERT_EQm(text, 2, fixture.diagnostics.items[0].origin.line);
		plan_fixture_free(&fixture);
	}
	PASS();
}

TEST a_built_in_grant_that_is_unfit_here_is_left_out(void)
{
	plan_fixture_make(&fixture, "files: [\"/opt -> /home\", /home/ann/x]",
			  LAYERS({ LAYER_BASE, "files: {system: [/opt]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(0, fixture.plan.grants.count);
	ASSERT(plan_fixture_noted(&fixture, NOTE_OTHER, "left out"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST deny_wins_over_the_grant_of_a_denied_path(void)
{
	plan_fixture_make(&fixture, "files: [/home/ann/.ssh/config, /home/ann/.ssh/known_hosts]",
			  LAYERS({ LAYER_BASE, "files: {deny: [~/.ssh], write: [.]}" },
				 { LAYER_USER, "files: {read: [~/.ssh/known_hosts]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("none", plan_fixture_grant(&fixture, "/home/ann/.ssh/known_hosts"));
	ASSERT(plan_fixture_noted(&fixture, NOTE_DENIED, "stays hidden"));
	plan_fixture_free(&fixture);
	/* and except of the same layer opens it */
	plan_fixture_make(&fixture, "files: [/home/ann/.ssh/known_hosts]",
			  LAYERS({ LAYER_BASE, "files: {deny: [\"~/.ssh/*\"], write: [.]}" },
				 { LAYER_USER, "files: {read: [~/.ssh/known_hosts], except: [~/.ssh/known_hosts]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/home/ann/.ssh/known_hosts"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_denied_project_is_an_error(void)
{
	plan_fixture_make(&fixture, "", USER("files: {write: [.], deny: [app]}"));
	CHECK_CALL(expect_status(-1));
	ASSERT(plan_fixture_complained(&fixture, "denies the project"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_write_entry_lifts_protect_but_not_the_floor(void)
{
	static const char machine[] =
		"files: [/home/ann/app/.vscode/tasks.json, /home/ann/app/berm.yml, /home/ann/app/.github/w/x]";
	plan_fixture_make(&fixture, machine,
			  LAYERS({ LAYER_FLOOR, "files: {protect: [berm.yml]}" },
				 { LAYER_BASE, "files: {write: [.], protect: [.vscode, .github]}" },
				 { LAYER_USER, "files: {write: [., .vscode, berm.yml, .github/w]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode/tasks.json"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode"));
	/* only the matched path itself: a read-only mount has no holes */
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.github/w/x"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.github/other"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/berm.yml"));
	ASSERT(plan_protected_by(&fixture.plan, "/home/ann/app/sub/.vscode", true));
	ASSERT(plan_fixture_noted(&fixture, NOTE_LIFTED, ".vscode"));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/home/ann/app/berm.yml"));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/home/ann/app/.github/w"));
	ASSERT_EQ(1, fixture.plan.lifted.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_base_layer_lifts_nothing(void)
{
	plan_fixture_make(&fixture, "files: [/home/ann/app/.vscode/x]",
			  LAYERS({ LAYER_BASE, "files: {write: [., .vscode], protect: [.vscode]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.vscode/x"));
	ASSERT_EQ(0, fixture.plan.lifted.count);
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_system_tree_that_the_user_can_write_is_searched(void)
{
	static const char machine[] =
		"files: [{path: /opt/own, type: directory, uid: 1000}, {path: /opt/all, type: directory, mode: \"0777\"},"
		" {path: /opt/sticky, type: directory, mode: \"1777\"}, /opt/root/, /home/ann/.nvm/]";
	plan_fixture_make(&fixture, machine, USER("files: {system: [/opt/own, /opt/all, /opt/sticky, /opt/root, ~/.nvm]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/opt/own"));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/opt/all"));
	ASSERT_STR_EQ("system", plan_fixture_grant(&fixture, "/opt/sticky"));
	ASSERT_STR_EQ("system", plan_fixture_grant(&fixture, "/opt/root"));
	ASSERT_STR_EQ("system", plan_fixture_grant(&fixture, "/home/ann/.nvm"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST home_modes(void)
{
	plan_fixture_make(&fixture, "files: [/home/ann/x]", USER("files: {write: [.]}\nhome: host"));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/home/ann"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/x"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/x"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/x"));
	/* berm's own state is never part of it */
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/.local/state/berm/projects"));
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, "files: [/home/ann/x]", USER("files: {write: [.]}\nhome: empty"));
	CHECK_CALL(expect_status(0));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/x"));
	ASSERT_EQ(HOME_EMPTY, fixture.plan.home);
	plan_fixture_free(&fixture);
	PASS();
}

TEST network_rules(void)
{
	plan_fixture_make(&fixture, "",
			  USER("network: {allow: [\"example.org:443\"], deny: [bad.example.org], local: [5432, 8000-8010], "
			       "publish: [3000, \"127.0.0.2:8080:80\"]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(NETWORK_ALLOW, fixture.plan.network.mode);
	ASSERT_EQ(1, fixture.plan.network.allow.count);
	ASSERT_EQ(1, fixture.plan.network.deny.count);
	ASSERT_EQ(2, fixture.plan.network.local.count);
	ASSERT_EQ(8010, fixture.plan.network.local.items[1].high);
	ASSERT_EQ(2, fixture.plan.network.publish.count);
	ASSERT_EQ(3000, fixture.plan.network.publish.items[0].host_port);
	ASSERT_EQ(127, fixture.plan.network.publish.items[0].address.bytes[0]);
	ASSERT_EQ(8080, fixture.plan.network.publish.items[1].host_port);
	ASSERT_EQ(80, fixture.plan.network.publish.items[1].port);
	ASSERT_EQ(2, fixture.plan.network.publish.items[1].address.bytes[3]);
	ASSERT_FALSE(plan_fixture_noted(&fixture, NOTE_UNSUPPORTED, ""));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_later_none_takes_the_network_back(void)
{
	plan_fixture_make(&fixture, "",
			  LAYERS({ LAYER_USER, "network: {allow: [\"example.org:443\"], local: [80]}" },
				 { LAYER_PROJECT, "network: none" }));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(NETWORK_NONE, fixture.plan.network.mode);
	ASSERT_EQ(0, fixture.plan.network.allow.count);
	ASSERT_EQ(0, fixture.plan.network.local.count);
	ASSERT_STR_EQ("offline", fixture.plan.state.grant_class);
	plan_fixture_free(&fixture);
	PASS();
}

TEST network_all_brings_the_resolver_files(void)
{
	static const char machine[] =
		"files: [\"/etc/resolv.conf -> ../run/systemd/resolve/stub.conf\", /run/systemd/resolve/stub.conf, /etc/hosts]";
	plan_fixture_make(&fixture, machine, USER("files: {system: [/etc]}\nnetwork: all"));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ("read", plan_fixture_grant(&fixture, "/run/systemd/resolve/stub.conf"));
	ASSERT_STR_EQ("none", plan_fixture_grant(&fixture, "/etc/hosts"));
	plan_fixture_free(&fixture);
	/* the control: without a network it is not granted */
	plan_fixture_make(&fixture, machine, USER("files: {system: [/etc]}"));
	ASSERT_STR_EQ("none", plan_fixture_grant(&fixture, "/run/systemd/resolve/stub.conf"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST sockets_are_named_one_by_one(void)
{
	static const char machine[] =
		"environment: {SSH_AUTH_SOCK: /run/a.sock}\n"
		"files: [{path: /run/a.sock, type: socket}, /run/d/, {path: /home/ann/.ssh/agent, type: socket}]";
	plan_fixture_make(&fixture, machine,
			  USER("sockets: [$SSH_AUTH_SOCK, /run/a.sock, ~/.ssh/agent]\nfiles: {deny: [~/.ssh]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(1, fixture.plan.sockets.count);
	ASSERT_STR_EQ("/run/a.sock", fixture.plan.sockets.items[0].value);
	ASSERT(plan_fixture_noted(&fixture, NOTE_DENIED, "stays hidden"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/run/a.sock"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/run/b.sock"));
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, machine, USER("sockets: [/run/d]"));
	CHECK_CALL(expect_status(-1));
	plan_fixture_free(&fixture);
	PASS();
}

TEST devices_are_refused_by_name(void)
{
	static const char machine[] = "files: [{path: /dev/dri/renderD128, type: device}, {path: /dev/ttyUSB0, type: device},"
				      " {path: /dev/sda, type: device}, {path: /dev/mem, type: device}, \"/dev/root -> sda\","
				      " {path: /dev/kfd, type: device}, /dev/file, {path: /dev/input/event0, type: device}]";
	plan_fixture_make(&fixture, machine, USER("devices: [gpu, /dev/ttyUSB0, /dev/null, /dev/absent]"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(3, fixture.plan.devices.count);
	ASSERT(plan_fixture_noted(&fixture, NOTE_MISSING, "/dev/absent"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/dev/ttyUSB0"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/dev/sda"));
	plan_fixture_free(&fixture);
	static const char *const refused[] = { "/dev/sda",	    "/dev/mem",	 "/dev/root", "/dev/file",
					       "/dev/input/event0", "/dev/fuse", "/dev/kvm" };
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		char text[100];
		snprintf(text, sizeof text, "devices: [%s]", refused[i]);
		plan_fixture_make(&fixture, machine, USER(text));
		ASSERT_EQm(text, -1, fixture.status);
		plan_fixture_free(&fixture);
	}
	PASS();
}

TEST levels_are_raised_and_accepted(void)
{
	plan_fixture_make(&fixture, "", USER("require: {processes: enforced}\naccept_weaker: [limits]"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(LEVEL_ENFORCED, fixture.plan.required[GUARANTEE_PROCESSES]);
	ASSERT_EQ(guarantee_table[GUARANTEE_LIMITS].default_level, fixture.plan.required[GUARANTEE_LIMITS]);
	ASSERT(fixture.plan.accepted_weaker[GUARANTEE_LIMITS]);
	ASSERT_FALSE(fixture.plan.accepted_weaker[GUARANTEE_WRITES]);
	plan_fixture_free(&fixture);
	PASS();
}

TEST guard_sets_the_level_of_secrets_and_planting(void)
{
	struct policy policy = { .files.guard = { true, LEVEL_STRICT, { 0 } } };
	plan_fixture_make(&fixture, "", LAYERS({ LAYER_BASE, "files: {write: [.]}" }));
	ASSERT_EQ(guarantee_table[GUARANTEE_SECRETS].default_level, fixture.plan.required[GUARANTEE_SECRETS]);
	ASSERT_EQ(0, plan_resolve(&fixture.arena, &policy, &fixture.context, &fixture.plan, &fixture.diagnostics));
	ASSERT_EQ(LEVEL_STRICT, fixture.plan.guard);
	ASSERT_EQ(guarantee_table[GUARANTEE_SECRETS].default_level, fixture.plan.required[GUARANTEE_SECRETS]);
	ASSERT(fixture.plan.guards_creation);
	ASSERT_EQ(LEVEL_STRICT, fixture.plan.required[GUARANTEE_PLANTING]);
	ASSERT_EQ(LEVEL_ENFORCED, fixture.plan.required[GUARANTEE_WRITES]);
	plan_fixture_free(&fixture);
	PASS();
}

static const char *state_of(const char *context, const char *policy)
{
	static char copies[8][600];
	static unsigned next;
	char *copy = copies[next++ % 8];
	plan_fixture_make_for(&fixture, context, USER(policy));
	snprintf(copy, sizeof copies[0], "%s", fixture.status == 0 ? fixture.plan.state.directory : "wrong");
	plan_fixture_free(&fixture);
	return copy;
}

TEST state_is_separate_by_project_and_grant_class(void)
{
	static const char one[] =
		"user: ann\nhome: /home/ann\nproject: /home/ann/a/app\n"
		"files: [{path: /run/agent.sock, type: socket}, /data/x.key, {path: /dev/ttyUSB0, type: device}]\n";
	static const char two[] = "user: ann\nhome: /home/ann\nproject: /home/ann/b/app\n";
	static const char *const same[] = {
		"network: all", "network: {allow: [\"a.example.org:443\"], local: [80], publish: [3000]}",
		"files: {write: [.], read: [/x]}",
		"files: {write: [.], except: [.env, ./key.pem, ~/a/app/x.key]}", /* files of the project */
	};
	static const char *const other[] = {
		"sockets: [/run/agent.sock]",
		"environment: {pass: [TOKEN]}",
		"environment: {pass: [\"MY_*\"]}",
		"environment: {set: {TOKEN: x}}",
		"files: {read: [/data], deny: [\"*.key\"], except: [\"*.key\"]}",
		"files: {read: [/data], deny: [\"*.key\"], except: [/data/x.key]}",
		"devices: [/dev/ttyUSB0]",
	};
	const char *ordinary = state_of(one, "files: {write: [.]}");
	ASSERT_EQ(0, strncmp(ordinary, "/home/ann/.local/state/berm/projects/app-", 41));
	/* The name that earlier versions used. */
	ASSERT(strstr(ordinary, "/offline"));
	ASSERT(strcmp(ordinary, state_of(two, "files: {write: [.]}")) != 0);
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		ASSERT_STR_EQm(same[i], ordinary, state_of(one, same[i]));
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
		ASSERTm(other[i], strstr(state_of(one, other[i]), "/own-"));
		for (size_t k = 0; k < i; k++)
			ASSERTm(other[i], strcmp(state_of(one, other[i]), state_of(one, other[k])) != 0 || (i == 3 && k == 1));
	}
	/* the order in which grants are written does not matter */
	ASSERT_STR_EQ(state_of(one, "environment: {pass: [A, B]}"), state_of(one, "environment: {pass: [B, A]}"));
	ASSERT(strcmp(state_of(one, "environment: {pass: [A]}"), state_of(one, "environment: {pass: [B, A]}")) != 0);
	PASS();
}

/* The project's commands read such values in its policy. */
TEST values_of_the_project_do_not_separate_its_state(void)
{
	plan_fixture_make(&fixture, "", LAYERS({ LAYER_PROJECT, "environment: {set: {LOG: debug}}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ(PLAN_ORDINARY_CLASS, fixture.plan.state.grant_class);
	plan_fixture_free(&fixture);
	plan_fixture_make(
		&fixture, "",
		LAYERS({ LAYER_BASE, "environment: {pass: [LANG]}" }, { LAYER_USER, "environment: {set: {LANG: C}}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_STR_EQ(PLAN_ORDINARY_CLASS, fixture.plan.state.grant_class);
	plan_fixture_free(&fixture);
	PASS();
}

TEST ports_to_publish(void)
{
	plan_fixture_make(&fixture, "",
			  LAYERS({ LAYER_USER, "network: {allow: [\"example.org:443\"], local: [80], publish: [3000]}" },
				 { LAYER_PROJECT, "network: none" }));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(0, fixture.plan.network.publish.count);
	plan_fixture_free(&fixture);
	plan_fixture_make(&fixture, "", USER("network: {publish: [\"auto:3000\"]}"));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(0, fixture.plan.network.publish.items[0].host_port);
	ASSERT_EQ(3000, fixture.plan.network.publish.items[0].port);
	plan_fixture_free(&fixture);
	PASS();
}

TEST odd_project_names_make_plain_keys(void)
{
	plan_fixture_make_for(&fixture, "user: ann\nhome: /home/ann\nproject: \"/home/ann/..a b'\\\"/.ж\"\n",
			      USER("files: {write: [.]}"));
	CHECK_CALL(expect_status(0));
	for (const char *at = fixture.plan.state.project_key; *at; at++)
		ASSERT(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at));
	ASSERT(fixture.plan.state.project_key[0] != '.');
	plan_fixture_free(&fixture);
	PASS();
}

TEST policy_files_in_use_are_protected(void)
{
	struct policy_source sources[] = { { "/home/ann/app/team.yml", "team.yml", LAYER_PROJECT, true, NULL } };
	plan_fixture_make(&fixture, "files: [/home/ann/app/team.yml]", LAYERS({ LAYER_BASE, "files: {write: [.]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/team.yml"));
	fixture.policy.sources = sources;
	fixture.policy.source_count = 1;
	ASSERT_EQ(0, plan_resolve(&fixture.arena, &fixture.policy, &fixture.context, &fixture.plan, &fixture.diagnostics));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/team.yml"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/team.yml"));
	plan_fixture_free(&fixture);
	PASS();
}

TEST a_working_directory_outside_the_view_is_dropped(void)
{
	plan_fixture_make(&fixture, "cwd: /srv/elsewhere\nfiles: [/srv/elsewhere/]",
			  LAYERS({ LAYER_BASE, "files: {write: [.]}" }));
	CHECK_CALL(expect_status(0));
	ASSERT_EQ(NULL, fixture.plan.context.working_directory);
	plan_fixture_free(&fixture);
	PASS();
}

TEST the_default_policy_on_a_usual_machine(void)
{
	plan_fixture_default(&fixture,
			     "files: [/usr/bin/sh, \"/bin -> usr/bin\", /etc/shadow, /home/ann/.ssh/id_rsa, /home/ann/app/.env,"
			     " /home/ann/app/src/x.c, /home/ann/app/.git/config, /home/ann/.nvm/v/bin/node]",
			     NULL);
	CHECK_CALL(expect_status(0));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/.ssh/id_rsa"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/.env"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/etc/shadow"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/.bashrc"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_READ, "/srv/x"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/usr/bin/sh"));
	ASSERT_FALSE(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/.git/config"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_READ, "/home/ann/app/.git/config"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/src/x.c"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_WRITE, "/home/ann/app/new"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_EXECUTE, "/usr/bin/sh"));
	ASSERT(plan_fixture_allows(&fixture, ACCESS_EXECUTE, "/home/ann/.nvm/v/bin/node"));
	ASSERT_FALSE(plan_check_connect(&fixture.plan, "example.org", 443).is_allowed);
	plan_fixture_free(&fixture);
	PASS();
}

/* Exceptions of a user, and whether what the base denies makes each an error. */
TEST an_exception_below_a_hidden_directory_is_an_error(void)
{
	static const struct {
		const char *except;
		bool is_error;
	} rows[] = {
		{ "d/sub", true },	   { "d/sub/deep", true },  { "\"d/**\"", true },
		{ "\"d/*.txt\"", true },   { "d", false },	    { "e/sub", false },
		{ "e/sub/deep", true },	   { "\"e/sub/*\"", true }, { "x/s/y", true },
		{ "x/s", false },	   { "x/k/y", true },	    { "\"x/*/y\"", false },
		{ "\"**/d/sub\"", false }, { "sub", false },	    { "dd/sub", false },
	};
	static const char base[] = "files: {write: [.], deny: [d, \"e/*\", \"**/s\", k]}";
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char user[128];
		snprintf(user, sizeof user, "files: {except: [%s]}", rows[i].except);
		plan_fixture_make(&fixture, "",
				  (const struct plan_layer[]){ { LAYER_BASE, base }, { LAYER_USER, user }, { 0 } });
		ASSERT_EQm(rows[i].except, rows[i].is_error ? -1 : 0, fixture.status);
		ASSERT_EQm(rows[i].except, rows[i].is_error, plan_fixture_complained(&fixture, "has no effect"));
		plan_fixture_free(&fixture);
	}
	/* A denial that the exception does not reach is not its mistake. */
	plan_fixture_make(&fixture, "",
			  (const struct plan_layer[]){ { LAYER_FLOOR, "files: {deny: [f]}" },
						       { LAYER_BASE, "files: {write: [.]}" },
						       { LAYER_USER, "files: {except: [d/sub, f/sub]}" },
						       { LAYER_PROJECT, "files: {deny: [d]}" },
						       { 0 } });
	ASSERT_EQm(plan_fixture_says(&fixture), 0, fixture.status);
	plan_fixture_free(&fixture);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(grants_by_kind_and_canonical);
	RUN_TEST(links_inside_grants_are_not_made);
	RUN_TEST(write_beats_read_beats_system);
	RUN_TEST(grants_are_sorted_and_inner_ones_of_another_kind_stay);
	RUN_TEST(missing_paths_are_skipped_with_a_note);
	RUN_TEST(an_unset_variable_in_a_denial_is_an_error);
	RUN_TEST(the_environment_cannot_move_the_home);
	RUN_TEST(dangerous_grants_are_errors);
	RUN_TEST(a_built_in_grant_that_is_unfit_here_is_left_out);
	RUN_TEST(deny_wins_over_the_grant_of_a_denied_path);
	RUN_TEST(a_denied_project_is_an_error);
	RUN_TEST(a_write_entry_lifts_protect_but_not_the_floor);
	RUN_TEST(the_base_layer_lifts_nothing);
	RUN_TEST(a_system_tree_that_the_user_can_write_is_searched);
	RUN_TEST(home_modes);
	RUN_TEST(network_rules);
	RUN_TEST(a_later_none_takes_the_network_back);
	RUN_TEST(network_all_brings_the_resolver_files);
	RUN_TEST(sockets_are_named_one_by_one);
	RUN_TEST(devices_are_refused_by_name);
	RUN_TEST(levels_are_raised_and_accepted);
	RUN_TEST(guard_sets_the_level_of_secrets_and_planting);
	RUN_TEST(state_is_separate_by_project_and_grant_class);
	RUN_TEST(values_of_the_project_do_not_separate_its_state);
	RUN_TEST(ports_to_publish);
	RUN_TEST(odd_project_names_make_plain_keys);
	RUN_TEST(policy_files_in_use_are_protected);
	RUN_TEST(a_working_directory_outside_the_view_is_dropped);
	RUN_TEST(the_default_policy_on_a_usual_machine);
	RUN_TEST(an_exception_below_a_hidden_directory_is_an_error);
	GREATEST_MAIN_END();
}
