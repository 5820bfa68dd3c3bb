/* SPDX-License-Identifier: Apache-2.0 */
/* Every built-in policy parses, loads, and contains what its documentation promises. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/policy/builtin.h"
#include "common/policy/guarantee.h"
#include "common/fs/pattern.h"
#include "common/policy/policy.h"
#include "common/policy/value.h"
#include "unit/support/policy_fixture.h"

/* Width of the summary in the listing, so that a line fits in 80 columns. */
enum { SUMMARY_MAX = 58 };

TEST all_expected_ones_are_there(void)
{
	static const struct {
		const char *name;
		enum builtin_kind kind;
	} rows[] = {
		{ "floor", BUILTIN_FLOOR },
		{ "default", BUILTIN_BASE },
		{ "strict", BUILTIN_BASE },
		{ "agent-claude-code", BUILTIN_AGENT },
		{ "agent-codex", BUILTIN_AGENT },
		{ "agent-gemini", BUILTIN_AGENT },
		{ "agent-opencode", BUILTIN_AGENT },
		{ "agent-pi", BUILTIN_AGENT },
		{ "agent-qwen", BUILTIN_AGENT },
		{ "git", BUILTIN_PIECE },
		{ "git-hook", BUILTIN_PIECE },
		{ "node", BUILTIN_PIECE },
		{ "npm-script", BUILTIN_PIECE },
		{ "python", BUILTIN_PIECE },
		{ "rust", BUILTIN_PIECE },
		{ "go", BUILTIN_PIECE },
		{ "java", BUILTIN_PIECE },
		{ "c", BUILTIN_PIECE },
		{ "ruby", BUILTIN_PIECE },
		{ "php", BUILTIN_PIECE },
		{ "dotnet", BUILTIN_PIECE },
		{ "registry-npm", BUILTIN_REGISTRY },
		{ "registry-crates", BUILTIN_REGISTRY },
		{ "registry-pypi", BUILTIN_REGISTRY },
		{ "registry-go", BUILTIN_REGISTRY },
		{ "registry-rubygems", BUILTIN_REGISTRY },
		{ "registry-maven", BUILTIN_REGISTRY },
		{ "registry-packagist", BUILTIN_REGISTRY },
		{ "registry-nuget", BUILTIN_REGISTRY },
	};
	struct builtin builtin;
	size_t count = 0;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ASSERTm(rows[i].name, builtin_find(rows[i].name, &builtin));
		ASSERT_EQm(rows[i].name, rows[i].kind, builtin.kind);
	}
	while (builtin_at(count, &builtin))
		count++;
	ASSERT_EQ(sizeof rows / sizeof rows[0], count);
	ASSERT_FALSE(builtin_find("berm.schema", &builtin));
	ASSERT_FALSE(builtin_find("", &builtin));
	ASSERT_FALSE(builtin_find("../default", &builtin));
	PASS();
}

TEST each_parses_and_has_a_summary(void)
{
	struct builtin builtin;

	for (size_t i = 0; builtin_at(i, &builtin); i++) {
		struct policy_fixture f;
		fixture_parse_n(&f, LAYER_BASE, builtin.text, builtin.length);
		ASSERT_EQm(fixture_complaints(&f), 0, f.status);
		ASSERTm(builtin.name, builtin.summary_length > 10 && builtin.summary_length <= SUMMARY_MAX);
		/* A piece adds software, destinations and variables. It neither hides nor exposes
		 * secrets. */
		if (builtin.kind == BUILTIN_PIECE || builtin.kind == BUILTIN_REGISTRY) {
			ASSERT_FALSEm(builtin.name, f.policy.extends.is_set);
			ASSERT_EQm(builtin.name, 0, f.policy.use.count);
			ASSERT_EQm(builtin.name, 0, f.policy.files.write.count);
			ASSERT_EQm(builtin.name, 0, f.policy.files.except.count);
			ASSERT_EQm(builtin.name, 0, f.policy.sockets.count);
			ASSERT_FALSEm(builtin.name, f.policy.home.is_set);
		}
		/* An agent's piece excepts the names of its private copies, and opens nothing for
		 * writing. */
		if (builtin.kind == BUILTIN_AGENT) {
			ASSERT_FALSEm(builtin.name, f.policy.extends.is_set);
			ASSERT_EQm(builtin.name, 0, f.policy.use.count);
			ASSERT_EQm(builtin.name, 0, f.policy.files.write.count);
			ASSERT_EQm(builtin.name, 0, f.policy.files.unprotect.count);
			ASSERT_EQm(builtin.name, 0, f.policy.sockets.count);
			ASSERT_FALSEm(builtin.name, f.policy.home.is_set);
		}
		/* No other host is built in: the plan takes registries from the user's
		 * configuration. */
		ASSERT_EQm(builtin.name, builtin.kind == BUILTIN_AGENT, f.policy.network.allow.count > 0);
		for (size_t j = 0; j < f.policy.network.allow.count; j++) {
			const char *text = f.policy.network.allow.items[j].text;
			ASSERTm(text, strstr(text, ":443") && !strchr(text, '*'));
		}
		fixture_free(&f);
	}
	PASS();
}

TEST each_piece_loads_over_each_base(void)
{
	static const char *const bases[] = { "default", "strict", "none" };
	struct builtin builtin;

	for (size_t i = 0; builtin_at(i, &builtin); i++) {
		if (builtin.kind != BUILTIN_PIECE && builtin.kind != BUILTIN_REGISTRY)
			continue;
		for (size_t j = 0; j < sizeof bases / sizeof bases[0]; j++) {
			char text[128];
			struct fixture_file files[] = { { "/u.yml", text }, { 0 } };
			struct policy_fixture f;

			snprintf(text, sizeof text, "version: 1\nextends: %s\nuse: [%s]\n", bases[j], builtin.name);
			fixture_load(&f, (struct policy_request){ .user_file = "/u.yml" }, files);
			ASSERT_EQm(fixture_complaints(&f), 0, f.status);
			ASSERT_EQ(0, f.policy.ignored.count);
			fixture_free(&f);
		}
	}
	PASS();
}

/* Applies the patterns of the policy to paths, without layers and grants. */
static bool any_matches(const struct rules *rules, const char *path)
{
	struct arena arena = { 0 };
	bool is_matched = false;

	for (size_t i = 0; i < rules->count && !is_matched; i++) {
		const char *text = rules->items[i].text;
		struct pattern pattern;
		struct error err;
		if (text[0] == '~')
			text = arena_printf(&arena, "/home/ann%s", text + 1);
		is_matched = pattern_compile(&arena, text, "/home/ann/app", &pattern, &err) == 0 &&
			     pattern_covers(&pattern, path, false, false) > 0;
	}
	arena_free(&arena);
	return is_matched;
}

TEST default_hides_and_protects_what_it_says(void)
{
	static const struct {
		const char *path;
		bool is_denied, is_protected;
	} rows[] = {
		{ "/home/ann/app/.env", true, false },
		{ "/home/ann/app/packages/api/.env.local", true, false },
		{ "/home/ann/app/.env.production", true, false },
		{ "/home/ann/app/.env.example", false, false },
		{ "/home/ann/app/.env.local.example", false, false },
		{ "/home/ann/app/.envrc", false, true },
		{ "/home/ann/app/environment.ts", false, false },
		{ "/home/ann/app/deploy/id_rsa", true, false },
		{ "/home/ann/app/deploy/id_rsa.pub", false, false },
		{ "/home/ann/app/config/master.key", true, false },
		{ "/home/ann/app/certs/server.pem", true, false },
		{ "/home/ann/app/certs/ca.pem", false, false },
		{ "/home/ann/app/certs/server.crt", false, false },
		{ "/home/ann/app/tests/fixtures/server.pem", false, false },
		{ "/home/ann/app/pkg/testdata/key.pem", false, false },
		{ "/home/ann/app/src/keyboard.c", false, false },
		{ "/home/ann/app/.npmrc", false, false },
		{ "/home/ann/app/package.json", false, false },
		{ "/home/ann/app/Makefile", false, false },
		{ "/home/ann/app/AGENTS.md", false, false },
		{ "/home/ann/app/infra/terraform.tfstate", true, false },
		{ "/home/ann/app/infra/terraform.tfstate.backup", true, false },
		{ "/home/ann/app/infra/terraform.tfvars", false, false },
		{ "/home/ann/app/service-account-prod.json", true, false },
		{ "/home/ann/app/locales/en/auth.json", false, false },
		{ "/home/ann/app/.git/hooks/pre-commit", false, true },
		{ "/home/ann/app/.git/config", false, true },
		{ "/home/ann/app/.git/commondir", false, true },
		{ "/home/ann/app/.git/info/attributes", false, true },
		{ "/home/ann/app/.git/info/exclude", false, false },
		{ "/home/ann/app/.git/index", false, false },
		{ "/home/ann/app/.git/HEAD", false, false },
		{ "/home/ann/app/.git/refs/heads/main", false, false },
		{ "/home/ann/app/vendor/lib/.git/config", false, true },
		{ "/home/ann/app/.git/modules/a/config", false, true },
		{ "/home/ann/app/.git/modules/a/b/hooks/x", false, true },
		{ "/home/ann/app/.git/worktrees/w/config.worktree", false, true },
		{ "/home/ann/app/.git/worktrees/w/gitdir", false, false },
		{ "/home/ann/app/.vscode/tasks.json", false, true },
		{ "/home/ann/app/.idea/workspace.xml", false, true },
		{ "/home/ann/app/.husky/pre-commit", false, true },
		{ "/home/ann/app/.claude/settings.local.json", false, true },
		{ "/home/ann/app/.claude/hooks/x.sh", false, true },
		{ "/home/ann/app/.claude/new", false, true },
		{ "/home/ann/app/.agents/skills/x/run.sh", false, true },
		{ "/home/ann/app/lefthook-local.yml", false, true },
		{ "/home/ann/app/.config/lefthook.yaml", false, true },
		{ "/home/ann/app/.lefthook-local.jsonc", false, true },
		{ "/home/ann/app/docs/lefthook.md", false, false },
		{ "/home/ann/app/mise.local.toml", false, true },
		{ "/home/ann/app/.mise.prod.local.toml", false, true },
		{ "/home/ann/app/.config/mise/config.toml", false, true },
		{ "/home/ann/app/.helix/languages.toml", false, true },
		{ "/home/ann/app/.dir-locals-2.el", false, true },
		{ "/home/ann/app/.qwen/settings.json", false, true },
		{ "/home/ann/app/.roomodes", false, true },
		{ "/home/ann/app/dotfiles/.zshrc", false, true },
		{ "/home/ann/app/config/fish/config.fish", false, true },
		{ "/home/ann/app/.ripgreprc", false, true },
		{ "/home/ann/app/.gitconfig", false, true },
		{ "/home/ann/app/.gitmodules", false, false },
		{ "/home/ann/app/.gitattributes", false, false },
		{ "/home/ann/app/.hg/hgrc-not-shared", false, true },
		{ "/home/ann/app/.hg/store/00changelog.i", false, false },
		{ "/home/ann/app/.jj/repo/store/git_target", false, true },
		{ "/home/ann/app/.jj/repo/op_store/operations/x", false, false },
		{ "/home/ann/app/.direnv/flake-profile-1.rc", false, true },
		{ "/home/ann/app/.direnv/python-3.12/bin/python", false, false },
		{ "/home/ann/app/.claude/worktrees/x/src/a.c", false, false },
		{ "/home/ann/app/.mcp.json", false, true },
		{ "/home/ann/app/.devcontainer/devcontainer.json", false, true },
		{ "/home/ann/app/.github/workflows/ci.yml", false, false },
		{ "/home/ann/app/berm.yml", false, true },
		{ "/home/ann/app/sub/berm.yml", false, true },
		{ "/home/ann/.ssh/id_ed25519", true, false },
		{ "/home/ann/.ssh/config", true, false },
		{ "/home/ann/.aws/credentials", true, false },
		{ "/home/ann/.config/gh/hosts.yml", true, false },
		{ "/home/ann/.config/gh/config.yml", false, false },
		{ "/home/ann/.config/berm/berm.yml", true, true },
		{ "/home/ann/.local/state/berm/x", true, false },
		{ "/home/ann/.mozilla/firefox/p/logins.json", true, false },
		{ "/etc/shadow", true, false },
		{ "/etc/passwd", false, false },
		{ "/etc/sudoers.d/ann", true, false },
		{ "/etc/ssh/ssh_host_ed25519_key", true, false },
		{ "/etc/ssh/ssh_host_ed25519_key.pub", false, false },
		{ "/etc/ssl/private/x", true, false },
		{ "/etc/rancher/k3s/k3s.yaml", true, false },
		{ "/opt/shop/.env", true, false },
		{ "/opt/shop/environment", false, false },
		{ "/home/ann/app/.zfs/snapshot/daily/.env", true, false },
		{ "/home/ann/app/sub/.snapshot/hourly.0/key", true, false },
		{ "/home/ann/app/tests/__snapshots__/a.snap", false, false },
		{ "/home/ann/.nvm/versions/node/v22.1.0/etc/npmrc", true, false },
		{ "/home/ann/.nvm/versions/node/v22.1.0/bin/node", false, false },
		{ "/home/ann/.asdf/installs/rust/1.80.0/credentials.toml", true, false },
		{ "/home/ann/.asdf/installs/rust/1.80.0/bin/cargo", false, false },
		{ "/home/ann/.pyenv/versions/3.12.1/pip.conf", true, false },
		{ "/home/ann/.opam/log/log-1-2.env", true, false },
		{ "/home/ann/.opam/default/bin/ocaml", false, false },
		{ "/etc/ssl/certs/ca-certificates.crt", false, false },
	};
	struct policy_fixture f;

	fixture_load(&f, (struct policy_request){ 0 }, NULL);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool is_denied =
			any_matches(&f.policy.files.deny, rows[i].path) && !any_matches(&f.policy.files.except, rows[i].path);
		ASSERT_EQm(rows[i].path, rows[i].is_denied, is_denied);
		ASSERT_EQm(rows[i].path, rows[i].is_protected,
			   any_matches(&f.policy.files.protect, rows[i].path) &&
				   !any_matches(&f.policy.files.unprotect, rows[i].path));
	}
	fixture_free(&f);
	PASS();
}

static bool is_granted(const struct rules *rules, const char *path)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i].text[0] == '~' && strncmp(path, rules->items[i].text, strlen(rules->items[i].text)) == 0)
			return true;
	return false;
}

/* Files with keys or tokens that programs keep beside themselves. */
TEST toolchains_are_granted_without_their_keys(void)
{
	static const struct {
		const char *path;
		bool is_granted;
	} rows[] = {
		{ "~/.dotnet/dotnet", true },
		{ "~/.dotnet/sdk/8.0.100/dotnet.dll", true },
		{ "~/.dotnet/shared/x", true },
		{ "~/.dotnet/tools/x", true },
		{ "~/.dotnet/corefx/cryptography/x509stores/my/x.pfx", false },
		{ "~/.dotnet/x509stores/my/x.pfx", false },
		{ "~/.cargo/credentials.toml", false },
		{ "~/.local/share/pypoetry/venv/bin/poetry", true },
		{ "~/.local/share/pypoetry/auth.toml", false },
		{ "~/.local/share/uv/credentials/x", false },
		{ "~/.rye/credentials", false },
		{ "~/.rye/shims/python", true },
		{ "~/.deno/x", false },
		{ "~/.stack/config.yaml", false },
	};
	struct fixture_file files[] = { { "/u.yml", "version: 1\nuse: [python, dotnet]\n" }, { 0 } };
	struct policy_fixture f;

	fixture_load(&f, (struct policy_request){ .user_file = "/u.yml" }, files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		ASSERT_EQm(rows[i].path, rows[i].is_granted, is_granted(&f.policy.files.system, rows[i].path));
	fixture_free(&f);
	PASS();
}

TEST default_passes_no_variable_that_could_hold_a_secret(void)
{
	static const char *const secrets[] = {
		"AWS_SECRET_ACCESS_KEY",
		"AWS_PROFILE",
		"GITHUB_TOKEN",
		"NPM_TOKEN",
		"SSH_AUTH_SOCK",
		"LD_PRELOAD",
		"LD_LIBRARY_PATH",
		"NODE_OPTIONS",
		"PYTHONSTARTUP",
		"BASH_ENV",
		"ENV",
		"GIT_SSH_COMMAND",
		"HOME",
		"PYTHONPATH",
		"DATABASE_URL",
		"OPENAI_API_KEY",
		"PS1",
		"PROMPT_COMMAND",
		"DBUS_SESSION_BUS_ADDRESS",
		"DISPLAY",
		"XDG_RUNTIME_DIR",
		"LC_TOKEN",
		"LC_",
	};
	struct policy_fixture f;

	fixture_load(&f, (struct policy_request){ 0 }, NULL);
	ASSERT_EQ(0, f.status);
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
		for (size_t j = 0; j < f.policy.environment.pass.count; j++)
			ASSERT_FALSEm(secrets[i], pattern_matches_name(f.policy.environment.pass.items[j].text, secrets[i]));
	}
	fixture_free(&f);
	PASS();
}

TEST accept_weaker_knows_every_guarantee(void)
{
	const struct key *key = policy_key_find("accept_weaker");

	for (int i = 0; i < GUARANTEE_COUNT; i++) {
		char path[64];
		const struct key *require;
		const struct key_choice *choice = policy_value_choice(key, guarantee_table[i].name);

		ASSERTm(guarantee_table[i].name, choice && choice->value == (uint64_t)i);
		snprintf(path, sizeof path, "require.%s", guarantee_table[i].name);
		require = policy_key_find(path);
		ASSERTm(path,
			require && require->offset == offsetof(struct policy, require) + (size_t)i * sizeof(struct setting));
		/* Nothing below the default can be required. */
		for (choice = require->choices; choice->name; choice++)
			ASSERTm(path, choice->value >= guarantee_table[i].default_level);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(all_expected_ones_are_there);
	RUN_TEST(each_parses_and_has_a_summary);
	RUN_TEST(each_piece_loads_over_each_base);
	RUN_TEST(default_hides_and_protects_what_it_says);
	RUN_TEST(toolchains_are_granted_without_their_keys);
	RUN_TEST(default_passes_no_variable_that_could_hold_a_secret);
	RUN_TEST(accept_weaker_knows_every_guarantee);
	GREATEST_MAIN_END();
}
