/* SPDX-License-Identifier: Apache-2.0 */
/* Codex skips a hook until its user trusts it, which /hooks records in config.toml. The same record
 * is a marked block here, so that --undo finds it. Writes only after a yes. */
#include "common/cli/setup_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/cli/commands.h"
#include "common/format/diff.h"

static const char record_name[] = "codex-trust";

/* The block of config.toml, as one more host with a separate file. */
struct trust_block {
	struct codex_trust trust;
	const char *lines[3];
	struct setup_host host;
	struct setup_request request;
	struct setup_file file;
};

/* Returns 1, 0 if this host or file needs no trust, or -1 with err. */
static int open_block(const struct setup *setup, struct trust_block *block, struct error *err)
{
	struct arena *arena = setup->request.arena;
	const char *path = path_join(arena, path_parent(arena, setup->file.path), "config.toml");
	struct jsonc_text hooks;

	*block = (struct trust_block){ 0 };
	if (strcmp(setup->host->name, "codex") != 0 || setup->session.options.file)
		return 0;
	if (setup_file_peek(arena, setup->file.real, &hooks, err) < 0)
		return -1;
	if (!codex_trust_find(arena, &setup->paths, setup->file.path, hooks, &block->trust))
		return 0;
	if (setup_file_read(arena, &setup->session.context, path, &block->file, err) < 0)
		return -1;
	block->lines[0] = block->trust.section;
	block->lines[1] = arena_printf(arena, "trusted_hash = \"%s\"", block->trust.hash);
	block->host = *setup->host;
	block->host.format = SETUP_LINES;
	block->host.comment = "#";
	block->host.lines = block->lines;
	block->request = setup->request;
	block->request.host = &block->host;
	block->request.source = path;
	return 1;
}

static int write_block(const struct setup *setup, int records, const struct trust_block *block, struct error *err)
{
	struct setup_record record = {
		.existed = block->file.exists, .made = block->file.missing, .paths = setup->paths, .original = block->file.text
	};
	struct arena *arena = setup->request.arena;
	struct text made = { 0 }, difference = { 0 };
	int status = setup_apply(&block->request, block->file.text, &made, err);
	struct jsonc_text after = { made.data, made.length };

	if (status == 0) {
		setup_hash(after, record.after);
		status = setup_record_write(arena, records, record_name, block->file.real, &record, err);
	}
	if (status == 0)
		status = setup_file_write(arena, &block->file, after, err);
	if (status == 0) {
		const char *name = text_visible(arena, block->file.real);
		diff_lines(arena, block->file.exists ? name : "/dev/null", name, block->file.text, after, &difference);
		report_text(&difference);
		printf("Codex trusts the hook now; `berm setup codex --check --prove` runs a command through it\n");
	}
	text_free(&made);
	return status;
}

/* Returns 1 for yes, 0 for no, -1 with err. */
static int ask(const struct setup *setup, struct error *err)
{
	if (setup->session.options.is_yes)
		return 1;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		printf("\nCodex does not trust the hook yet and runs commands WITHOUT it. After you read it:\n"
		       "berm setup codex --write --yes, or /hooks in codex\n");
		return 0;
	}
	return arguments_confirm("Record in Codex's config.toml that you trust this hook?", "berm setup codex --write --yes",
				 err);
}

int setup_trust_offer(const struct setup *setup, int records, struct error *err)
{
	struct trust_block block;
	enum setup_state ours;
	int found = open_block(setup, &block, err), answer;

	if (found <= 0)
		return found;
	switch (codex_trust_read(setup->request.arena, block.file.text, &block.trust)) {
	case CODEX_TRUSTED:
		return 0;
	case CODEX_UNTRUSTED:
		break;
	case CODEX_TRUSTS_OTHER:
	case CODEX_HOOK_OFF:
		/* A second table of the same name would make the file invalid. */
		if (setup_judge(&block.request, block.file.text, &ours, err) < 0)
			return -1;
		if (ours != SETUP_ABSENT)
			break;
		printf("\n%s has another record of this hook: start codex, enter /hooks, review and trust it\n",
		       text_visible(setup->request.arena, block.file.real));
		return 0;
	}
	answer = ask(setup, err);
	return answer > 0 ? write_block(setup, records, &block, err) : answer;
}

/* Returns -1 with err. */
static int withdraw(const struct setup *setup, int records, const struct trust_block *block, struct error *err)
{
	struct arena *arena = setup->request.arena;
	char current[SHA256_HEX + 1];
	struct setup_record record;
	struct text made = { 0 };
	int status = setup_record_read(arena, records, record_name, block->file.real, &record, err);

	if (status <= 0)
		return status;
	setup_hash(block->file.text, current);
	if (strcmp(current, record.after) == 0)
		status = record.existed ? setup_file_write(arena, &block->file, record.original, err)
					: setup_file_remove(arena, &block->file, record.made, err);
	else {
		status = setup_undo(&block->request, block->file.text, record.original, &made, err);
		if (status == 0)
			status = setup_file_write(arena, &block->file, (struct jsonc_text){ made.data, made.length }, err);
		text_free(&made);
	}
	if (status == 0)
		printf("%s: removed Codex's trust in the hook\n", text_visible(arena, block->file.real));
	return status < 0 ? -1 : setup_record_remove(arena, records, record_name, block->file.real, err);
}

void setup_trust_withdraw(const struct setup *setup, int records)
{
	struct trust_block block;
	struct error err = { 0 };
	int found = open_block(setup, &block, &err);

	if (found > 0)
		found = withdraw(setup, records, &block, &err);
	if (found < 0)
		report_error(&err);
}
