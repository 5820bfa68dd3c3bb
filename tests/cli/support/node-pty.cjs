// SPDX-License-Identifier: Apache-2.0
// Scenarios on terminals of node-pty. Each is played bare and with `berm run --` before the command; both have to give what is written here.
"use strict";
const crypto = require("crypto");
const fs = require("fs");
const { execFileSync } = require("child_process");
const [, , modulePath, only] = process.argv;
const pty = require(modulePath);
const BERM = process.env.BERM;
const LIMIT = 60000; // only a failure takes that long
const AT_ONCE = 4;

class Terminal {
	constructor(isInside, argv, size = { cols: 80, rows: 24 }) {
		const words = isInside ? [BERM, "run", "--", ...argv] : argv;
		this.text = "";
		this.bytes = 0;
		this.hash = crypto.createHash("sha256");
		this.process = pty.spawn(words[0], words.slice(1), { name: "xterm-256color", ...size, cwd: process.cwd(), encoding: null,
			env: { ...process.env, PS1: "PROMPT> ", HISTFILE: "/dev/null", LC_ALL: "C.UTF-8" } });
		this.process.onData((data) => this.take(Buffer.from(data)));
		this.ended = new Promise((resolve) => this.process.onExit(resolve));
	}
	take(data) {
		// The terminal makes \r\n of every \n.
		const plain = Buffer.from(data.filter((byte) => byte !== 13));
		this.bytes += plain.length;
		this.hash.update(plain);
		this.text = (this.text + data.toString("utf8")).slice(-100000);
	}
	async sees(pattern) {
		const end = Date.now() + LIMIT;
		for (;;) {
			const match = this.text.match(pattern);
			if (match) {
				this.text = this.text.slice(match.index + match[0].length);
				return match;
			}
			if (Date.now() > end)
				throw new Error(`no ${pattern} in ${JSON.stringify(this.text.slice(-300))}`);
			await pause(20);
		}
	}
	// Types a line again and again until it shows this: a program that has just been started may drop what was typed before it was ready.
	async until(line, pattern) {
		for (const end = Date.now() + LIMIT; Date.now() < end && !pattern.test(this.text);) {
			this.process.write(line);
			for (const soon = Date.now() + 1000; Date.now() < soon && !pattern.test(this.text);)
				await pause(20);
		}
		return this.sees(pattern);
	}
	// A program that is just starting may miss the change of its window's size: it is told again, which takes another size in between.
	async resized(columns, rows, line, pattern) {
		for (const end = Date.now() + LIMIT; Date.now() < end && !pattern.test(this.text);) {
			this.process.resize(columns + 1, rows);
			await pause(50);
			this.process.resize(columns, rows);
			await pause(50);
			this.process.write(line);
			for (const soon = Date.now() + 2000; Date.now() < soon && !pattern.test(this.text);)
				await pause(20);
		}
		return this.sees(pattern);
	}
	async press(keys) {
		await pause(150);
		this.process.write(keys);
	}
	async end() {
		const timer = setTimeout(() => this.process.kill("SIGKILL"), LIMIT);
		const { exitCode, signal } = await this.ended;
		clearTimeout(timer);
		return signal ? 128 + signal : exitCode;
	}
}

function pause(milliseconds) {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// Where a command waits until the test lets it go on: `read x <PATH`, which starts no program.
class Gate {
	constructor() {
		this.path = `gate-${process.pid}-${Gate.count++}`;
		execFileSync("mkfifo", [this.path]);
		this.end = fs.openSync(this.path, "r+");
	}
	open() {
		fs.writeSync(this.end, "\n");
	}
}
Gate.count = 0;

function countWith(word) {
	return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
		try {
			const line = fs.readFileSync(`/proc/${name}/cmdline`, "latin1");
			return Number(name) !== process.pid && line.includes(word) && !/\) [ZX] /.test(fs.readFileSync(`/proc/${name}/stat`, "latin1"));
		} catch {
			return false;
		}
	}).length;
}

function digestOfNumbers(last) {
	const hash = crypto.createHash("sha256");
	for (let i = 1; i <= last; i++)
		hash.update(`${i}\n`);
	return hash.digest("hex");
}
const MANY = 1450000;
const BYTES = 10488896; // of those numbers
const scenarios = {};

scenarios.output = {
	wanted: [0, BYTES, true],
	async play(isInside) {
		// It waits to be told to end, as the others do: node-pty drops what it has not read when the program ends.
		const terminal = new Terminal(isInside, ["sh", "-c", `stty -echo; seq 1 ${MANY}; read x`]);
		for (let i = 0; i < 1200 && terminal.bytes < BYTES; i++)
			await pause(50);
		terminal.process.write("\r");
		const status = await terminal.end();
		return [status, terminal.bytes, terminal.hash.digest("hex") === digestOfNumbers(MANY)];
	},
};
scenarios.statuses = {
	wanted: [7, 137, 130],
	async play(isInside) {
		const exits = await new Terminal(isInside, ["sh", "-c", "exit 7"]).end();
		const killed = await new Terminal(isInside, ["sh", "-c", "kill -KILL $$"]).end();
		const terminal = new Terminal(isInside, ["sh", "-c", "echo ready; exec sleep 30"]);
		await terminal.sees(/ready/);
		await terminal.press("\x03");
		return [exits, killed, await terminal.end()];
	},
};
scenarios.size = {
	wanted: ["31 97", "33 101", 0],
	async play(isInside) {
		const terminal = new Terminal(isInside, ["bash", "-c", "trap 'stty size' WINCH; stty size; for i in $(seq 1000); do read -t 0.1 x && break; done"],
			{ cols: 97, rows: 31 });
		const before = (await terminal.sees(/\d+ \d+/))[0];
		terminal.process.resize(101, 33);
		const after = (await terminal.sees(/\d+ \d+/))[0];
		terminal.process.write("end\r");
		return [before, after, await terminal.end()];
	},
};
scenarios.input = {
	wanted: [true, 0],
	async play(isInside) {
		// Lines, with an answer for each: what is typed arrives in order, none lost.
		const terminal = new Terminal(isInside, ["sh", "-c", "stty -echo; echo ready; n=0; while read -r line; do n=$((n + 1)); test \"$line\" = \"line $n ü漢🙂\" || echo wrong; done; echo total $n; read x"]);
		await terminal.sees(/ready/);
		for (let i = 1; i <= 2000; i++) {
			terminal.process.write(`line ${i} ü漢🙂\r`);
			if (i % 50 === 0)
				await pause(2);
		}
		await terminal.press("\x04");
		const match = await terminal.sees(/total (\d+)/);
		terminal.process.write("\r");
		return [match[1] === "2000" && !terminal.text.includes("wrong"), await terminal.end()];
	},
};
scenarios.unicode = {
	wanted: ["ünïcödé 漢字 🙂", 0],
	async play(isInside) {
		const terminal = new Terminal(isInside, ["sh", "-c", "stty -echo; echo ready; read x; echo \"<$x>\"; read x"]);
		await terminal.sees(/ready/);
		terminal.process.write("ünïcödé 漢字 🙂\r");
		const word = (await terminal.sees(/<(.*)>/))[1];
		terminal.process.write("\r");
		return [word, await terminal.end()];
	},
};
scenarios.suspend = {
	wanted: [true, "finished", 4],
	async play(isInside) {
		// Suspended by a shell inside, which berm is no part of.
		const terminal = new Terminal(isInside, ["bash", "--norc", "--noprofile", "-i"]);
		await terminal.sees(/[>$#] /); // PS1 is not passed
		const gate = new Gate();
		terminal.process.write(`sh -c 'echo rea""dy; read x <${gate.path}; echo fini""shed'\r`);
		await terminal.sees(/ready/);
		await terminal.press("\x1a");
		await terminal.sees(/Stopped/);
		gate.open();
		await pause(600);
		const isQuiet = !terminal.text.includes("finished");
		terminal.process.write("fg\r");
		const word = (await terminal.sees(/finished/))[0];
		terminal.process.write("exit 4\r");
		return [isQuiet, word, await terminal.end()];
	},
};
scenarios.editor = {
	wanted: ["70x20", 0, "typed\n70x20\n"],
	async play(isInside) {
		const file = `edited-${isInside}`;
		fs.writeFileSync(file, "");
		const terminal = new Terminal(isInside, ["sh", "-c", `vim -u NONE -N ${file}; status=$?; read x; exit $status`]);
		await terminal.sees(/\x1b\[\?1049h/); // the alternate screen
		await terminal.press("ityped\x1b");
		await terminal.resized(70, 20, ":echo '<'.&columns.'x'.&lines.'>'\r", /<70x20>/);
		await terminal.press(":put =&columns.'x'.&lines\r");
		const size = (await terminal.sees(/70x20/))[0];
		await terminal.press(":wq\r");
		await terminal.sees(/\x1b\[\?1049l/); // the alternate screen is left
		await terminal.press("\r");
		const status = await terminal.end();
		return [size, status, fs.readFileSync(file, "utf8")];
	},
};
scenarios.closed = {
	wanted: 0,
	async play(isInside) {
		// The window is closed: node-pty sends SIGHUP, and the terminal goes.
		const word = `28${isInside ? 1 : 2}.${String(process.pid).padStart(7, "0")}`;
		const terminal = new Terminal(isInside, ["sh", "-c", `echo ready; sleep ${word}; sleep ${word}`]);
		await terminal.sees(/ready/);
		await pause(100);
		if (countWith(word) === 0)
			throw new Error("the command is not there");
		terminal.process.kill();
		await terminal.end();
		for (let i = 0; i < 1200 && countWith(word) > 0; i++)
			await pause(50);
		return countWith(word);
	},
};
for (const [name, ...words] of [["bash", "--norc", "--noprofile", "-i"], ["dash", "-i"], ["zsh", "-f", "-i"], ["fish", "--no-config", "-i"]])
	scenarios[`shell ${name}`] = {
		wanted: ["here", 9],
		async play(isInside) {
			const terminal = new Terminal(isInside, [name, ...words]);
			await terminal.until("echo liste\"\"ning\r", /listening/);
			terminal.process.write("sh -c 'echo rea\"\"dy; exec sleep 300'\r");
			await terminal.sees(/ready/);
			await terminal.press("\x03");
			await pause(200);
			terminal.process.write("echo he\"\"re\r");
			const word = (await terminal.sees(/here/))[0];
			terminal.process.write("exit 9\r");
			return [word, await terminal.end()];
		},
	};

async function playOne(name, isInside) {
	const wanted = JSON.stringify(scenarios[name].wanted);
	let seen;
	try {
		seen = JSON.stringify(await scenarios[name].play(isInside));
	} catch (problem) {
		seen = String(problem);
	}
	if (seen === wanted)
		return 0;
	console.log(`FAIL node-pty: ${name}, ${isInside ? "inside" : "bare"}: wanted ${wanted}, got ${seen}`);
	return 1;
}

async function main() {
	const queue = Object.keys(scenarios).filter((name) => !only || name.includes(only)).flatMap((name) => [[name, false], [name, true]]);
	const count = queue.length;
	const results = [];
	async function work() {
		for (let next = queue.shift(); next; next = queue.shift())
			results.push(await playOne(...next));
	}
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	const failures = results.filter(Boolean).length;
	console.log(`${count - failures} scenarios held, ${failures} did not`);
	process.exit(failures ? 1 : 0);
}
main();
