/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names that the host obeys, and how far a rule about one reaches. */
#include "common/plan/planting.h"

#include <string.h>

/* Every entry of files.protect in the default policy and in the floor; unit-plan-planting compares
 * them, and docs/planting.md has the reason for each. */
const struct planting_name planting_table[] = {
	{ "berm.yml", "berm" },
	{ "**/.git/hooks", "git" },
	{ "**/.git/config", "git" },
	{ "**/.git/config.worktree", "git" },
	{ "**/.git/worktrees/*/config.worktree", "git" },
	{ "**/.git/commondir", "git" },
	{ "**/.git/info/attributes", "git" },
	{ "**/.git/modules/**/hooks", "git" },
	{ "**/.git/modules/**/config", "git" },
	{ "**/.git/modules/**/config.worktree", "git" },
	{ "**/.git/modules/**/info/attributes", "git" },
	{ ".gitconfig", "git" },
	{ "**/.config/git", "git" },
	{ "**/.hg/hgrc", "Mercurial" },
	{ "**/.hg/hgrc-not-shared", "Mercurial" },
	{ "**/.hg/requires", "Mercurial" },
	{ "**/.hg/sharedpath", "Mercurial" },
	{ "**/.jj/repo/config.toml", "Jujutsu" },
	{ "**/.jj/workspace-config.toml", "Jujutsu" },
	{ "**/.jj/repo/config-id", "Jujutsu" },
	{ "**/.jj/workspace-config-id", "Jujutsu" },
	{ "**/.jj/repo/store/git_target", "Jujutsu, git" },
	{ "**/.sl/config", "Sapling" },
	{ ".husky", "husky" },
	{ ".huskyrc*", "husky" },
	{ ".githooks", "git with core.hooksPath, overcommit" },
	{ ".git-hooks", "git with core.hooksPath, overcommit" },
	{ ".overcommit.yml", "overcommit" },
	{ ".pre-commit-config.yaml", "pre-commit, prek" },
	{ ".pre-commit-config.yml", "pre-commit, prek" },
	{ "prek.toml", "pre-commit, prek" },
	{ "lefthook.y*ml", "lefthook" },
	{ "lefthook.toml", "lefthook" },
	{ "lefthook.json*", "lefthook" },
	{ ".lefthook.y*ml", "lefthook" },
	{ ".lefthook.toml", "lefthook" },
	{ ".lefthook.json*", "lefthook" },
	{ "lefthook-local.y*ml", "lefthook" },
	{ "lefthook-local.toml", "lefthook" },
	{ "lefthook-local.json*", "lefthook" },
	{ ".lefthook-local.y*ml", "lefthook" },
	{ ".lefthook-local.toml", "lefthook" },
	{ ".lefthook-local.json*", "lefthook" },
	{ ".lefthook", "lefthook" },
	{ ".lefthook-local", "lefthook" },
	{ "captainhook.json", "CaptainHook, GrumPHP, hk" },
	{ "grumphp.yml", "CaptainHook, GrumPHP, hk" },
	{ "hk.pkl", "CaptainHook, GrumPHP, hk" },
	{ ".vscode", "VS Code and its forks" },
	{ "*.code-workspace", "VS Code and its forks" },
	{ ".vs", "Visual Studio" },
	{ ".idea", "JetBrains IDEs" },
	{ "**/.run/*.run.xml", "JetBrains IDEs" },
	{ ".fleet", "Fleet" },
	{ ".zed", "Zed" },
	{ ".helix", "Helix" },
	{ ".theia", "Theia" },
	{ "*.sublime-project", "Sublime Text" },
	{ ".kateproject", "Kate" },
	{ ".exrc", "Vim" },
	{ ".vimrc", "Vim" },
	{ "_vimrc", "Vim" },
	{ ".gvimrc", "Vim" },
	{ ".lvimrc", "Vim with localvimrc" },
	{ ".nvimrc", "Neovim" },
	{ ".nvim.lua", "Neovim" },
	{ ".lazy.lua", "Neovim" },
	{ ".dir-locals.el", "Emacs" },
	{ ".dir-locals-2.el", "Emacs" },
	{ ".mcp.json", "Claude Code and others" },
	{ ".claude", "Claude Code" },
	{ "**/.claude/settings*.json", "Claude Code" },
	{ "**/.claude/hooks", "Claude Code" },
	{ "**/.claude/commands", "Claude Code" },
	{ "**/.claude/agents", "Claude Code" },
	{ "**/.claude/skills", "Claude Code" },
	{ ".agents", "Codex, Amp and others" },
	{ ".amazonq", "Amazon Q" },
	{ ".augment", "Augment" },
	{ ".cline", "Cline" },
	{ "**/.clinerules/hooks", "Cline" },
	{ ".codex", "Codex" },
	{ "**/.codex/config.toml", "Codex" },
	{ "**/.codex/hooks.json", "Codex" },
	{ ".continue", "Continue" },
	{ ".cursor", "Cursor" },
	{ ".factory", "Factory" },
	{ ".gemini", "Gemini CLI" },
	{ "**/.gemini/settings.json", "Gemini CLI" },
	{ "**/.github/hooks", "Copilot" },
	{ ".junie", "Junie" },
	{ ".kilocode", "Kilo Code" },
	{ ".kilocodemodes", "Kilo Code" },
	{ ".kiro", "Kiro" },
	{ ".opencode", "opencode" },
	{ "opencode.json", "opencode" },
	{ "opencode.jsonc", "opencode" },
	{ ".pi", "pi" },
	{ ".qwen", "Qwen Code" },
	{ ".roo", "Roo Code" },
	{ ".roomodes", "Roo Code" },
	{ ".trae", "Trae" },
	{ ".windsurf", "Windsurf" },
	{ ".aider.conf.yml", "Aider" },
	{ "crush.json", "Crush" },
	{ ".crush.json", "Crush" },
	{ ".envrc", "direnv" },
	{ "**/.direnv/*.rc", "direnv with nix-direnv" },
	{ ".autoenv", "autoenv, zsh-autoenv, shadowenv" },
	{ ".autoenv.zsh", "autoenv, zsh-autoenv, shadowenv" },
	{ ".shadowenv.d", "autoenv, zsh-autoenv, shadowenv" },
	{ "mise.toml", "mise" },
	{ "mise.*.toml", "mise" },
	{ ".mise.toml", "mise" },
	{ ".mise.*.toml", "mise" },
	{ ".mise", "mise" },
	{ "**/mise/config.toml", "mise" },
	{ "**/mise/config.*.toml", "mise" },
	{ "**/mise/conf.d", "mise" },
	{ ".profile", "bash, sh" },
	{ ".bashrc", "bash, sh" },
	{ ".bash_profile", "bash, sh" },
	{ ".bash_login", "bash, sh" },
	{ ".bash_logout", "bash, sh" },
	{ ".bash_aliases", "bash, sh" },
	{ ".zshenv", "zsh" },
	{ ".zprofile", "zsh" },
	{ ".zshrc", "zsh" },
	{ ".zlogin", "zsh" },
	{ ".zlogout", "zsh" },
	{ ".kshrc", "ksh, csh, tcsh" },
	{ ".cshrc", "ksh, csh, tcsh" },
	{ ".tcshrc", "ksh, csh, tcsh" },
	{ ".login", "ksh, csh, tcsh" },
	{ "**/fish/config.fish", "fish" },
	{ "**/fish/conf.d", "fish" },
	{ ".inputrc", "readline" },
	{ ".tmux.conf", "tmux, screen" },
	{ ".screenrc", "tmux, screen" },
	{ ".xinitrc", "X sessions" },
	{ ".xprofile", "X sessions" },
	{ ".xsession", "X sessions" },
	{ ".xsessionrc", "X sessions" },
	{ ".ripgreprc", "ripgrep" },
	{ ".gdbinit", "gdb, lldb" },
	{ ".lldbinit", "gdb, lldb" },
	{ ".irbrc", "irb, pry, R" },
	{ ".pryrc", "irb, pry, R" },
	{ ".Rprofile", "irb, pry, R" },
	{ ".devcontainer", "Development containers" },
	{ ".devcontainer.json", "Development containers" },
};
const size_t planting_table_count = sizeof planting_table / sizeof planting_table[0];

const char *planting_obeyed_by(const struct rule *rule)
{
	if (rule == &rule_git_pointer || rule == &rule_git_names)
		return "git";
	for (size_t i = 0; rule->layer <= LAYER_BASE && i < planting_table_count; i++)
		if (strcmp(planting_table[i].pattern, rule->text) == 0)
			return planting_table[i].obeyed_by;
	return NULL;
}

bool planting_is_everywhere(const struct plan_pattern *item)
{
	return item->rule->layer > LAYER_BASE || !item->pattern.is_anywhere;
}

bool planting_is_of_modules(const struct plan_pattern *item)
{
	return item->rule->layer <= LAYER_BASE && strstr(item->rule->text, ".git/modules/");
}

/* The pattern without its leading `**`, so that it begins at the root. The text of a pattern that
 * matches anywhere is a base name or begins with "/" followed by two stars. */
static struct pattern anchored(const struct pattern *pattern)
{
	struct pattern result = *pattern;
	result.is_anywhere = false;
	result.is_literal = false;
	result.is_base_name = false;
	if (!pattern->is_base_name) {
		result.text += sizeof "/**" - 1;
		result.literal_prefix = 0;
	}
	return result;
}

/* Skips the slash only for the root directory, of which the path has no other. */
static const char *rest_of(const char *path, size_t root_length)
{
	return root_length == 1 ? path : path + root_length;
}

bool planting_matches_from(const struct pattern *pattern, const char *path, size_t root_length, bool is_directory,
			   bool case_fold)
{
	struct pattern from_root = anchored(pattern);
	return pattern_matches(&from_root, rest_of(path, root_length), is_directory, case_fold);
}

bool planting_leads_below(const struct pattern *pattern, const char *path, size_t root_length, bool case_fold)
{
	struct pattern from_root;
	if (pattern->is_base_name)
		return false;
	from_root = anchored(pattern);
	return pattern_may_match_below(&from_root, rest_of(path, root_length), case_fold);
}

/* True if a host looks from the directory. */
static bool is_root(const struct plan *plan, const char *directory)
{
	for (size_t i = 0; i < plan->grants.count; i++)
		if (plan->grants.items[i].kind == GRANT_WRITE && path_is_within(plan->grants.items[i].path, directory))
			return true;
	for (size_t i = 0; i < plan->scan->places.count; i++)
		if (plan->scan->places.items[i].kind != PLACE_GIT && strcmp(plan->scan->places.items[i].path, directory) == 0)
			return true;
	return false;
}

static bool is_found(const struct plan *plan, const struct pattern *pattern, const char *path, bool is_directory)
{
	for (size_t at = strlen(path); at-- > 1;)
		if (path[at] == '/' && planting_matches_from(pattern, path, at, is_directory, plan_folds_case(plan)) &&
		    is_root(plan, arena_copy_n(plan->arena, path, at)))
			return true;
	return false;
}

/* Without the parts that only the guard can see: git directories by place, and the shapes of
 * places. */
const struct rule *planting_refused_by(const struct plan *plan, const char *path, bool is_directory)
{
	size_t length = strlen(path);
	for (size_t at = 1; plan_is_writable(plan, path) && at <= length; at++) {
		const char *prefix = path[at] == '/' || at == length ? arena_copy_n(plan->arena, path, at) : NULL;
		for (size_t i = 0; prefix && i < plan->protect.count; i++) {
			const struct plan_pattern *item = &plan->protect.items[i];
			if (!planting_is_of_modules(item) && plan_protect_covers(plan, item, path, at, is_directory) &&
			    (planting_is_everywhere(item) ||
			     is_found(plan, &item->pattern, prefix, at < length || is_directory)))
				return item->rule;
		}
	}
	return NULL;
}
