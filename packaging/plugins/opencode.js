// SPDX-License-Identifier: Apache-2.0
//
// The plugin of opencode that `berm setup opencode` names in opencode.json. Before each use of a tool
// it asks `berm hook-rewrite`, which judges files by the policy, and which blocks a command if
// another settings file names another shell than berm's. Fails closed: without an answer of berm the
// tool does not run.
import { spawnSync } from "node:child_process"
import { realpathSync } from "node:fs"
import { fileURLToPath } from "node:url"

// Tools that neither run commands nor name files are left alone. `berm hook-rewrite` refuses those of
// this list that it does not know.
const judged = new Set(["bash", "read", "write", "edit", "multiedit", "glob", "grep", "list", "lsp", "patch", "apply_patch"])

function ask(call, shell) {
	// A shim is a link to the program.
	const berm = realpathSync(fileURLToPath(new URL("../shims/bash", import.meta.url)))
	const env = { ...process.env, OPENCODE_SHELL: shell ?? "" }
	return spawnSync(berm, ["hook-rewrite", "--host=opencode"], { input: JSON.stringify(call), encoding: "utf8", env })
}

export const Berm = async ({ directory }) => {
	let shell
	return {
		// The configuration as opencode uses it, the project's included.
		config: async (config) => {
			shell = config.shell
		},
		"tool.execute.before": async ({ tool }, output) => {
			if (!judged.has(tool)) return
			const answer = ask({ hook_event_name: "tool.execute.before", tool_name: tool, tool_input: output.args, cwd: directory }, shell)
			if (answer.status !== 0)
				throw new Error(answer.stderr || `berm did not answer (${answer.error ?? answer.signal}): the tool did not run`)
			if (answer.stdout.trim())
				Object.assign(output.args, JSON.parse(answer.stdout).hookSpecificOutput.updatedInput)
		},
	}
}
