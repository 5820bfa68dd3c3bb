# SPDX-License-Identifier: Apache-2.0
"""Draws a terminal session: terminal_svg.py [--check] COMMANDS HOME DIRECTORY

Runs each line of the file COMMANDS by bash in HOME/app, on a terminal, and writes DIRECTORY/terminal-light.svg and
terminal-dark.svg. Understands the colours of SGR sequences and nothing else: a program that moves the
cursor is an error. Text appears line by line; a viewer without animation shows all of it.
"""

import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios

COLUMNS, ROWS = 80, 40
CELL, LINE, FONT, MARGIN, BAR = 8.43, 20, 14, 18, 34
THEMES = {
    "light": {
        "back": "#ffffff", "bar": "#eaeef2", "edge": "#d0d7de", "text": "#1f2328", "dim": "#59636e",
        "31": "#cf222e", "32": "#1a7f37", "33": "#9a6700", "36": "#0969da",
    },
    "dark": {
        "back": "#0d1117", "bar": "#161b22", "edge": "#30363d", "text": "#e6edf3", "dim": "#9198a1",
        "31": "#ff7b72", "32": "#3fb950", "33": "#d29922", "36": "#58a6ff",
    },
}  # fmt: skip
SGR = re.compile(r"\x1b\[([0-9;]*)m")


def run(command, directory):
    """Returns what the command wrote to its terminal."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.chdir(directory)
        os.execv("/bin/bash", ["bash", "-c", command])
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # EIO: the last process closed it
            break
        if not part:
            break
        output += part
    os.close(terminal)
    os.waitpid(child, 0)
    return output.decode().replace("\r\n", "\n").rstrip("\n")


def spans(line):
    """Yields (text, bold, colour) of one line with SGR sequences."""
    bold, colour, at = False, None, 0
    for match in SGR.finditer(line):
        if match.start() > at:
            yield line[at : match.start()], bold, colour
        for code in (match.group(1) or "0").split(";"):
            if code in ("", "0"):
                bold, colour = False, None
            elif code == "1":
                bold = True
            elif code != "2":
                colour = code
        at = match.end()
    if at < len(line):
        yield line[at:], bold, colour


def wrap(line):
    """Yields the line as a terminal breaks it, colours kept."""
    row, column = "", 0
    for text, bold, colour in spans(line):
        codes = ";".join(filter(None, ["1" if bold else "", colour])) or "0"
        while text:
            part, text = text[: COLUMNS - column], text[COLUMNS - column :]
            row += f"\x1b[0m\x1b[{codes}m{part}"
            column += len(part)
            if column == COLUMNS and text:
                yield row
                row, column = "", 0
    yield row


def draw_line(line, theme, y, delay):
    text = []
    column = 0
    for part, bold, colour in spans(line):
        fill = theme.get(colour, theme["text"])
        weight = ' font-weight="bold"' if bold else ""
        text.append(f'<tspan x="{MARGIN + column * CELL:.1f}" fill="{fill}"{weight}>{html.escape(part)}</tspan>')
        column += len(part)
    return f'<text y="{y}" class="l" style="animation-delay:{delay:.1f}s" xml:space="preserve">{"".join(text)}</text>'


def draw(session, theme):
    """Returns the picture of [(command, [line...])...]."""
    rows, y, delay = [], BAR + MARGIN + 8, 0.3
    for command, lines in session:
        rows.append(draw_line(f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m", theme, y, delay))
        y += LINE
        delay += 0.7
        for line in lines:
            rows.append(draw_line(line, theme, y, delay))
            y += LINE
            delay += 0.1
        y += LINE // 2
        delay += 0.9
    width, height = round(2 * MARGIN + COLUMNS * CELL), y
    circles = "".join(f'<circle cx="{20 + 18 * i}" cy="{BAR / 2}" r="5.5" fill="{theme["edge"]}"/>' for i in range(3))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'role="img" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" '
            f'font-size="{FONT}">',
            "<title>berm in a terminal: the project works, keys, .env, hooks and the network are out of reach</title>",
            "<style>@media (prefers-reduced-motion:no-preference){.l{animation:a .2s backwards}}"
            "@keyframes a{from{opacity:0}}</style>",
            f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="{theme["back"]}" '
            f'stroke="{theme["edge"]}"/>',
            f'<path d="M.5 {BAR}V8.5a8 8 0 0 1 8-8H{width - 8.5}a8 8 0 0 1 8 8V{BAR}z" fill="{theme["bar"]}" '
            f'stroke="{theme["edge"]}"/>{circles}',
            f'<text x="{width / 2}" y="{BAR / 2 + 5}" text-anchor="middle" fill="{theme["dim"]}" '
            f'font-size="12">~/app</text>',
            *rows,
            "</svg>\n",
        ]
    )


def record(commands, home):
    session = []
    for command in commands:
        if len(command) > COLUMNS - 2:
            sys.exit(f"wider than {COLUMNS} columns: {command}")
        output = run(command, os.path.join(home, "app")).replace(home, "/home/ann")
        lines = output.split("\n") if output else []
        lines = [row for line in lines for row in wrap(line)]
        for line in lines:
            if re.search(r"[\x00-\x1f]", SGR.sub("", line)):
                sys.exit(f"more than text and colours: {line!r}")
        session.append((command, lines))
    return session


def stable(picture):
    """Returns the commands and what berm printed, without positions in built-in policies, which change with every line
    that is added there. Other programs' messages differ between systems."""
    rows = [html.unescape(re.sub(r"<[^>]*>", "", row)) for row in picture.split("\n") if row.startswith("<text y=")]
    rows = [row for row in rows if re.match(r"\$ |berm: |[✓△✗] |  ", row)]
    return [re.sub(r"default:\d+:\d+", "default:N:N", row) for row in rows]


def main():
    arguments = sys.argv[1:]
    is_check = arguments[0] == "--check"
    commands, home, directory = arguments[is_check:]
    with open(commands, encoding="utf-8") as file:
        session = record(file.read().splitlines(), home)
    status = 0
    for name, theme in THEMES.items():
        path = os.path.join(directory, f"terminal-{name}.svg")
        picture = draw(session, theme)
        if is_check:
            with open(path, encoding="utf-8") as file:
                if stable(file.read()) != stable(picture):
                    print(f"{path} is out of date: run script/render-terminal")
                    status = 1
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(picture)
    return status


if __name__ == "__main__":
    sys.exit(main())
