/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about a file that is not covered. One table: the first row that applies decides.
 *
 * inotify does not name the process that made a file, so the rule asks what the command can have
 * done. It cannot rename, replace or remove a mount point, so a name that was covered and is not
 * any more was changed by the host. A new name counts as the command's own unless it cannot have
 * made it: masking a file that a test generates would break the test. */
#include "linux/repair/internal.h"

static bool was_hidden(const struct sighting *s)
{
	return s->was_hidden;
}

/* The host has removed a file of git's own directory and the name is there again. git replaces
 * these files by rename and never removes them first. */
static bool is_remade_in_git(const struct sighting *s)
{
	return s->was_locked && s->was_absent && s->is_git && !s->is_from_host && s->repairs_planting;
}

static bool was_locked(const struct sighting *s)
{
	return s->was_locked;
}

static bool is_new_secret_of_host(const struct sighting *s)
{
	return s->is_denied && s->is_from_host;
}

static bool is_denied(const struct sighting *s)
{
	return s->is_denied;
}

static bool is_new_setting_of_host(const struct sighting *s)
{
	return s->is_protected && (s->is_from_host || !s->repairs_planting);
}

static bool is_plant_again(const struct sighting *s)
{
	return s->is_protected && s->is_place && (s->is_git || s->is_back);
}

static bool is_plant(const struct sighting *s)
{
	return s->is_protected && s->is_place;
}

static const struct {
	bool (*applies)(const struct sighting *sighting);
	enum repair_action action;
} rows[] = {
	{ was_hidden, ACTION_HIDE },	{ is_remade_in_git, ACTION_END },
	{ was_locked, ACTION_LOCK },	{ is_new_secret_of_host, ACTION_HIDE },
	{ is_denied, ACTION_LEAVE },	{ is_new_setting_of_host, ACTION_LOCK },
	{ is_plant_again, ACTION_END }, { is_plant, ACTION_QUARANTINE },
};

enum repair_action verdict_of(const struct sighting *sighting)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].applies(sighting))
			return rows[i].action;
	return ACTION_NONE;
}
