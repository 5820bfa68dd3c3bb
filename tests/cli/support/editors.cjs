// SPDX-License-Identifier: Apache-2.0
// editors.cjs NODE-PTY SETTINGS: a task, a language server and terminals as VS Code starts them from these settings. Every scenario is played with the
// system's bash first (the control) and then with the path from the settings; both have to give what is written here.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const os = require("os");
const { spawn } = require("child_process");
const [, , modulePath, settingsPath] = process.argv;
const pty = require(modulePath);
const settings = JSON.parse(fs.readFileSync(settingsPath, "utf8"));
const system = os.platform() === "darwin" ? "osx" : "linux";
const automation = settings[`terminal.integrated.automationProfile.${system}`];
const profile = settings[`terminal.integrated.profiles.${system}`][settings[`terminal.integrated.defaultProfile.${system}`]];
const chat = settings[`chat.tools.terminal.terminalProfile.${system}`];
const LIMIT = 60000; // only a failure takes that long
const BARE = "/bin/bash";

function pause(milliseconds) {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

class Terminal {
	constructor(path, args, size = { cols: 80, rows: 24 }) {
		this.text = "";
		this.hash = crypto.createHash("sha256");
		this.bytes = 0;
		this.hashed = Infinity; // only so many bytes from the beginning
		this.process = pty.spawn(path, args, { name: "xterm-256color", ...size, cwd: process.cwd(), encoding: null,
			env: { ...process.env, TERM_PROGRAM: "vscode", HISTFILE: "/dev/null", LC_ALL: "C.UTF-8", BERM: "" } });
		this.process.onData((data) => {
			this.hash.update(data.subarray(0, Math.max(0, this.hashed - this.bytes)));
			this.bytes += data.length;
			this.text = (this.text + Buffer.from(data).toString("utf8")).slice(-20000);
		});
		this.ended = new Promise((resolve) => this.process.onExit(resolve));
	}
	async sees(pattern) {
		for (const end = Date.now() + LIMIT; Date.now() < end; await pause(20)) {
			const match = this.text.match(pattern);
			if (match) {
				this.text = this.text.slice(match.index + match[0].length);
				return match;
			}
		}
		throw new Error(`no ${pattern} in ${JSON.stringify(this.text.slice(-300))}`);
	}
	async end() {
		const timer = setTimeout(() => this.process.kill("SIGKILL"), LIMIT);
		const { exitCode, signal } = await this.ended;
		clearTimeout(timer);
		return signal ? 128 + signal : exitCode;
	}
}

// As a person sees a terminal: the profile's shell, interactive, without a user's own start-up files.
async function open(path, size) {
	const terminal = new Terminal(path, [...(profile.args || []), "--norc", "--noprofile"], size);
	await terminal.sees(/[$#] $/);
	terminal.process.write("PS1='PROM''PT> '\r");
	await terminal.sees(/PROMPT> /);
	return terminal;
}

const scenarios = {};

// node-pty may report the end before it has read everything: every command waits until its last word was seen.

// A task: the automation profile's path, its arguments, -c and the command line, on a terminal.
scenarios.task = async (path) => {
	const terminal = new Terminal(path, [...(automation.args || []), "-c", "printf '<%s|%s>' \"${BERM:-0}\" 'it'\"'\"'s \"ü\" $HOME !'; cd sub && pwd; read -r line; exit 3"]);
	const seen = await terminal.sees(/<(\d)\|it's "ü" \$HOME !>/);
	const place = (await terminal.sees(/\/sub/))[0];
	terminal.process.write("\r");
	return [seen[1], place === "/sub", await terminal.end()];
};
scenarios.task.wanted = (inside) => [inside, true, 3];

// The agent's terminal, as aider starts one too: an interactive shell with a command.
scenarios.agent = async (path) => {
	const terminal = new Terminal(path === BARE ? BARE : chat.path, ["--norc", "-i", "-c", "echo \"<${BERM:-0}>\"; tty >/dev/null && echo terminal; read -r line"]);
	const seen = await terminal.sees(/<(\d)>/);
	await terminal.sees(/terminal/);
	terminal.process.write("\r");
	return [seen[1], await terminal.end()];
};
scenarios.agent.wanted = (inside) => [inside, 0];

// A language server over stdio, started through the automation profile: framed messages, no byte more or less.
const SERVER = `
let input = Buffer.alloc(0);
function send(message) {
	const body = Buffer.from(JSON.stringify(message));
	process.stdout.write("Content-Length: " + body.length + "\\r\\n\\r\\n");
	process.stdout.write(body);
}
process.stdin.on("data", (data) => {
	input = Buffer.concat([input, data]);
	for (;;) {
		const end = input.indexOf("\\r\\n\\r\\n");
		const length = end < 0 ? NaN : Number(/Content-Length: (\\d+)/.exec(input.subarray(0, end).toString())[1]);
		if (!(input.length >= end + 4 + length))
			return;
		const request = JSON.parse(input.subarray(end + 4, end + 4 + length));
		input = input.subarray(end + 4 + length);
		if (request.method === "initialize")
			send({ jsonrpc: "2.0", id: request.id, result: { capabilities: { hoverProvider: true }, serverInfo: { name: process.env.BERM || "0" } } });
		else if (request.method === "echo")
			send({ jsonrpc: "2.0", id: request.id, result: request.params });
		else if (request.method === "exit")
			process.exit(0);
	}
});
`;
fs.writeFileSync("server.cjs", SERVER);
scenarios.server = async (path) => {
	const server = spawn(path, [...(automation.args || []), "-c", "node server.cjs"], { stdio: ["pipe", "pipe", "inherit"],
		env: { ...process.env, BERM: "" } });
	const answers = [];
	let output = Buffer.alloc(0);
	server.stdout.on("data", (data) => {
		output = Buffer.concat([output, data]);
		for (;;) {
			const end = output.indexOf("\r\n\r\n");
			const length = end < 0 ? NaN : Number(/^Content-Length: (\d+)$/.exec(output.subarray(0, end).toString())[1]);
			if (!(output.length >= end + 4 + length))
				return;
			answers.push(JSON.parse(output.subarray(end + 4, end + 4 + length)));
			output = output.subarray(end + 4 + length);
		}
	});
	const send = (message) => {
		const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
		server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
		server.stdin.write(body);
	};
	const large = "ü漢🙂\0".repeat(60000);
	send({ id: 1, method: "initialize", params: { processId: process.pid, rootUri: null, capabilities: {} } });
	send({ id: 2, method: "echo", params: large });
	for (const end = Date.now() + LIMIT; answers.length < 2 && Date.now() < end;)
		await pause(20);
	send({ method: "exit" });
	const code = await new Promise((resolve) => server.on("exit", resolve));
	return [answers[0].result.capabilities.hoverProvider, answers[0].result.serverInfo.name, answers[1].result === large, code];
};
scenarios.server.wanted = (inside) => [true, inside, true, 0];

scenarios.resize = async (path) => {
	const terminal = await open(path, { cols: 97, rows: 31 });
	terminal.process.write("stty size\r");
	const before = (await terminal.sees(/(\d+ \d+)\r\n/))[1];
	terminal.process.resize(101, 33);
	terminal.process.write("stty size\r");
	const after = (await terminal.sees(/(\d+ \d+)\r\n/))[1];
	terminal.process.write("exit 4\r");
	return [before, after, await terminal.end()];
};
scenarios.resize.wanted = () => ["31 97", "33 101", 4];

// Several lines, pasted: bash asks for the marks, and nothing runs before Enter.
scenarios.paste = async (path) => {
	const terminal = await open(path);
	terminal.process.write("bind 'set enable-bracketed-paste on'\r");
	await terminal.sees(/\x1b\[\?2004h/);
	terminal.process.write("\x1b[200~echo pas\"\"ted-one\necho pas\"\"ted-two ü漢🙂\x1b[201~");
	await pause(400);
	const early = /pasted-one/.test(terminal.text);
	terminal.process.write("\r");
	await terminal.sees(/pasted-one/);
	await terminal.sees(/pasted-two ü漢🙂/);
	terminal.process.write("exit\r");
	return [early, await terminal.end()];
};
scenarios.paste.wanted = () => [false, 0];

scenarios.screen = async (path) => {
	const terminal = await open(path);
	terminal.process.write("printf '\\033[?1049h\\033[2J\\033[3;4Hfull ü漢🙂\\033[?1049l'; echo ba\"\"ck\r");
	await terminal.sees(/\x1b\[\?1049h\x1b\[2J\x1b\[3;4Hfull ü漢🙂\x1b\[\?1049l/);
	await terminal.sees(/back/);
	terminal.process.write("sh -c 'echo rea\"\"dy; exec sleep 300'\r");
	await terminal.sees(/ready/);
	terminal.process.write("\x03");
	await terminal.sees(/PROMPT> /);
	terminal.process.write("exit 5\r");
	return await terminal.end();
};
scenarios.screen.wanted = () => 5;

const MANY = 1350000; // 11 MB of numbers; the terminal makes \r\n of every \n
function numbers() {
	const hash = crypto.createHash("sha256");
	let bytes = 0;
	for (let i = 0; i < MANY; i += 1000) {
		const text = Array.from({ length: 1000 }, (_, k) => `${i + k + 1}\r\n`).join("");
		bytes += text.length;
		hash.update(text);
	}
	return { bytes, digest: hash.digest("hex") };
}
scenarios.output = async (path) => {
	const expected = numbers();
	const terminal = new Terminal(path, ["-c", `seq 1 ${MANY}; echo complete; read -r line`]);
	terminal.hashed = expected.bytes;
	await terminal.sees(/complete/);
	terminal.process.write("\r");
	return [await terminal.end(), terminal.bytes > 10e6, terminal.hash.digest("hex") === expected.digest];
};
scenarios.output.wanted = () => [0, true, true];

async function main() {
	let failures = 0, count = 0;
	for (const [name, play] of Object.entries(scenarios))
		await Promise.all([[BARE, "0"], [name === "task" || name === "server" ? automation.path : profile.path, "1"]].map(async ([path, inside]) => {
			const wanted = JSON.stringify(play.wanted(inside));
			let seen;
			try {
				seen = JSON.stringify(await play(path));
			} catch (problem) {
				seen = String(problem);
			}
			count++;
			if (seen === wanted)
				return;
			failures++;
			console.log(`FAIL editors: ${name}, ${path}: wanted ${wanted}, got ${seen}`);
		}));
	console.log(`${count - failures} scenarios held, ${failures} did not`);
	process.exit(failures ? 1 : 0);
}
main();
