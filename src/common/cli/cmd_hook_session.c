/* SPDX-License-Identifier: Apache-2.0 */
/* `berm hook-session`: called by a host at the start of a session. Saves the functions and aliases
 * of the user's shell for the commands of the session. A failure is reported and stops nothing:
 * commands then run without them. */
#include "common/cli/commands.h"

#include "common/cli/session.h"
#include "common/context/inside.h"
#include "common/shell/user_functions.h"

int cmd_hook_session(int argc, char **argv)
{
	struct context_request request = { .has_no_project = true, .is_narrowing = true };
	struct session session = { 0 };
	struct error err = { 0 };

	(void)argc;
	(void)argv;
	/* In the sandbox the home is private, and its own file counts. */
	if (!inside_sandbox() && (context_detect(&session.arena, &request, &session.context, &err) < 0 ||
				  user_functions_take(&session.arena, &session.context, &err) < 0))
		report_error(&err);
	session_close(&session);
	return 0;
}
