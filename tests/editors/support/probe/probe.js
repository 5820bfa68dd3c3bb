// SPDX-License-Identifier: Apache-2.0
//
// An extension that uses VS Code's own interface instead of a keyboard. It performs the steps of the
// file in BERM_PROBE, one after the other, and writes what each gave into FILE.results. Each step has
// a name; what it starts writes look/NAME in the project.
const vscode = require("vscode")
const fs = require("fs")
const path = require("path")
const { execFile } = require("child_process")

const folder = () => vscode.workspace.workspaceFolders[0]
const seconds = Number(process.env.BERM_PROBE_SECONDS || 60)

// Waits until `test` is true; false after some seconds.
async function until(test, patience = seconds) {
	for (let i = 0; i < patience * 20; i++) {
		if (await test()) return true
		await new Promise((resolve) => setTimeout(resolve, 50))
	}
	return false
}

const looked = (name) => until(() => fs.existsSync(path.join(folder().uri.fsPath, "look", name)))

function within(promise, what) {
	let timer
	const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what}: no answer`)), seconds * 1000)))
	return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// A program that the debugger holds at a line of it: the debugger is attached if it stops there.
async function debug(step) {
	const file = vscode.Uri.file(path.join(folder().uri.fsPath, step.program))
	const point = new vscode.SourceBreakpoint(new vscode.Location(file, new vscode.Position(step.line - 1, 0)))
	let stopped = null
	let frame = null
	const tracker = vscode.debug.registerDebugAdapterTrackerFactory("*", {
		createDebugAdapterTracker: (session) => ({
			onDidSendMessage: (message) => {
				if (message.type === "event" && message.event === "stopped") stopped = { session, thread: message.body.threadId }
				if (stopped && !frame && message.command === "stackTrace" && message.body) frame = message.body.stackFrames[0]
			},
		}),
	})
	vscode.debug.addBreakpoints([point])
	try {
		if (step.config) {
			const config = { type: "node", request: "launch", name: step.name, program: file.fsPath, ...step.config }
			await within(vscode.debug.startDebugging(folder(), config), step.name)
		} else {
			await vscode.commands.executeCommand("extension.js-debug.createDebuggerTerminal", step.command)
		}
		await until(() => stopped || fs.existsSync(path.join(folder().uri.fsPath, "look", step.name)))
		const attached = stopped !== null
		if (attached && step.hold) {
			// The window takes the picture of a program that is held, then lets go.
			await until(() => frame && frame.source)
			fs.writeFileSync(`${process.env.BERM_PROBE}.hold`, "")
			await until(() => !fs.existsSync(`${process.env.BERM_PROBE}.hold`))
		}
		if (attached) await stopped.session.customRequest("continue", { threadId: stopped.thread })
		await looked(step.name)
		if (step.hold && frame) return `attached at ${frame.source.name}:${frame.line}`
		return attached ? "attached" : "not attached"
	} finally {
		vscode.debug.removeBreakpoints([point])
		tracker.dispose()
		await vscode.debug.stopDebugging()
	}
}

const kinds = {
	async terminal(step) {
		const terminal = vscode.window.createTerminal(step.options || {})
		terminal.show()
		if (step.integrated) await until(() => terminal.shellIntegration, 15)
		if (step.integrated && terminal.shellIntegration) {
			const end = new Promise((resolve) => vscode.window.onDidEndTerminalShellExecution((event) => resolve(event.exitCode)))
			terminal.shellIntegration.executeCommand(step.command)
			return `integrated, status ${await within(end, step.name)}`
		}
		terminal.sendText(step.command)
		await looked(step.name)
		return step.integrated ? "not integrated" : "typed"
	},
	// The default terminal, as a click on + opens it.
	async click(step) {
		const opened = new Promise((resolve) => vscode.window.onDidOpenTerminal(resolve))
		await vscode.commands.executeCommand("workbench.action.terminal.new")
		const terminal = await within(opened, step.name)
		terminal.sendText(step.command)
		await looked(step.name)
		// For the picture: what came of it.
		if (step.then) terminal.sendText(step.then)
		return terminal.name
	},
	async task(step) {
		const all = await within(vscode.tasks.fetchTasks(step.type ? { type: step.type } : undefined), step.name)
		const task = all.find((one) => one.name === step.task)
		if (!task) return `no task among ${all.map((one) => one.name)}`
		await vscode.tasks.executeTask(task)
		return (await looked(step.name)) ? "ran" : "nothing came"
	},
	async program(step) {
		const cwd = folder().uri.fsPath
		return within(new Promise((resolve) => execFile(step.command[0], step.command.slice(1), { cwd }, (error) => resolve(String(error)))), step.name)
	},
	async commit(step) {
		const git = vscode.extensions.getExtension("vscode.git")
		const api = (await git.activate()).getAPI(1)
		if (!(await until(() => api.repositories.length > 0))) return "no repository"
		await api.repositories[0].commit(step.name, { all: true, empty: true })
		return "committed"
	},
	debug,
	// What a workspace's own settings say, if anything within some seconds.
	async setting(step) {
		const read = () => vscode.workspace.getConfiguration().inspect(step.key).workspaceValue
		await until(() => read() !== undefined, step.seconds)
		return JSON.stringify(read()) || "not set"
	},
}

exports.activate = async (context) => {
	const file = process.env.BERM_PROBE
	if (!file) return
	const { variables, steps } = JSON.parse(fs.readFileSync(file))
	fs.writeFileSync(`${file}.started`, "")
	for (const [name, value] of Object.entries(variables || {})) context.environmentVariableCollection.replace(name, value)
	const results = {}
	for (const step of steps) {
		try {
			results[step.name] = await kinds[step.kind](step)
		} catch (error) {
			results[step.name] = `error: ${error.message}`
		}
		fs.writeFileSync(`${file}.results`, JSON.stringify(results, null, 1))
	}
	fs.writeFileSync(`${file}.done`, "")
}
