# SPDX-License-Identifier: Apache-2.0
"""Checks every line of the record, and its chain, without berm.

usage: record.py lines SCHEMA LOG     every line of every run and of the ledger fits the schema
       record.py chain LOG            the hashes, by another implementation; prints the number of runs
       record.py page FILE TEXT...    an HTML page: well-formed, no script, fetches nothing; each TEXT is text in it
       record.py without LOG WORD...  no file of the log has the word
"""

import base64
import glob
import hashlib
import html.parser
import json
import os
import re
import sys

TYPES = {"string": str, "object": dict, "array": list, "boolean": bool}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def problems(value, schema, place):
    """The part of JSON Schema that this schema uses; an unknown keyword is an error."""
    for keyword, wanted in schema.items():
        if keyword in ("$schema", "title", "description"):
            continue
        if keyword == "type":
            if not is_type(value, wanted):
                yield f"{place}: not of type {wanted}: {value!r}"
                return
        elif keyword == "const":
            if value != wanted:
                yield f"{place}: {value!r} is not {wanted!r}"
        elif keyword == "enum":
            if value not in wanted:
                yield f"{place}: {value!r} is none of {wanted}"
        elif keyword == "pattern":
            if not re.search(wanted, value):
                yield f"{place}: {value!r} does not match {wanted}"
        elif keyword == "minimum":
            if value < wanted:
                yield f"{place}: {value} is too small"
        elif keyword == "required":
            for name in wanted:
                if name not in value:
                    yield f"{place}: no {name}"
        elif keyword == "properties":
            for name, inner in wanted.items():
                if name in value:
                    yield from problems(value[name], inner, f"{place}.{name}")
        elif keyword == "items":
            for i, item in enumerate(value):
                yield from problems(item, wanted, f"{place}[{i}]")
        elif keyword == "oneOf":
            fits = [list(problems(value, one, place)) for one in wanted]
            if sum(not found for found in fits) != 1:
                event = value.get("event") if isinstance(value, dict) else None
                own = [f for f, one in zip(fits, wanted) if one.get("title") == event and event]
                yield from (own[0] if own and own[0] else [f"{place}: fits {sum(not f for f in fits)} of oneOf: {value!r}"])
        else:
            yield f"the checker does not know {keyword}"


def files(log):
    return sorted(glob.glob(os.path.join(log, "*", "*.ndjson")))


def lines_of(path):
    with open(path, "rb") as file:
        return file.read().split(b"\n")


def check_lines(schema_path, log):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    bad, count, events = [], 0, {}
    for path in files(log) + [os.path.join(log, "HEAD")]:
        for number, line in enumerate(lines_of(path)[:-1], 1):
            count += 1
            value = json.loads(line)
            events[value["event"]] = events.get(value["event"], 0) + 1
            known = {one["title"]: one["properties"] for one in schema["oneOf"]}.get(value["event"], {})
            bad += [f"{path}:{number}: the schema has no {name}" for name in value if name not in known]
            bad += [f"{path}:{number}: {text}" for text in problems(value, schema, "line")]
    # Control: the checker finds a line that does not fit.
    broken = dict(value, seq=-1)
    if not list(problems(broken, schema, "line")) or not list(problems(dict(value, event="x"), schema, "line")):
        bad.append("the checker finds nothing")
    for text in bad[:20]:
        print(text)
    print(count, "lines:", " ".join(f"{name}={number}" for name, number in sorted(events.items())))
    return not bad and count > 0


def digest(line):
    return hashlib.sha256(line).hexdigest()


def check_chain(log):
    ledger = lines_of(os.path.join(log, "HEAD"))[:-1]
    previous, anchors, ends = "0" * 64, {"0" * 64}, {}
    for line in ledger:
        value = json.loads(line)
        if value["event"] == "ledger.pruned":
            previous = value["prev"]
        else:
            if value["prev"] != previous:
                print("the ledger is broken at", value["run"])
                return False
            previous = digest(line)
            ends[value["run"]] = (value["seq"], value["hash"])
        anchors.add(previous)
    runs = 0
    for path in files(log):
        run = os.path.basename(path).removesuffix(".ndjson")
        lines = lines_of(path)[:-1]
        last = None
        for number, line in enumerate(lines):
            value = json.loads(line)
            if value["run"] != run or value["seq"] != number or (value["prev"] != last if last else value["prev"] not in anchors):
                print(path, "is broken at", number)
                return False
            last = digest(line)
        if run in ends and ends[run] != (len(lines) - 1, last):
            print(path, "does not end as the ledger has it")
            return False
        runs += 1
    print(runs)
    return set(ends) <= {os.path.basename(p).removesuffix(".ndjson") for p in files(log)}


class Page(html.parser.HTMLParser):
    VOID = {"meta", "br", "hr"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.bad, self.text, self.policy = [], [], [], None

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "img", "iframe", "object", "embed", "link", "form", "svg", "base", "a"):
            self.bad.append(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "href", "style", "srcset", "action"):
                self.bad.append(f"{tag} {name}={value}")
        attributes = dict(attributes)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.bad.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if "style" not in self.stack:
            self.text.append(data)


def check_page(path, texts):
    page = Page()
    with open(path, encoding="utf-8") as file:
        source = file.read()
    page.feed(source)
    page.close()
    bad = list(page.bad)
    if page.stack:
        bad.append(f"not closed: {page.stack}")
    if page.policy != "default-src 'none'; style-src 'unsafe-inline'":
        bad.append(f"policy: {page.policy}")
    if "url(" in source.split("</style>")[0] or "@import" in source:
        bad.append("the style fetches something")
    text = "".join(page.text)
    bad += [f"no {wanted!r} in the text" for wanted in texts if wanted not in text]
    for one in bad:
        print(one)
    return not bad


def check_without(log, words):
    found = 0
    for path in files(log) + [os.path.join(log, "HEAD")]:
        with open(path, "rb") as file:
            content = file.read()
        for word in words:
            for form in (word.encode(), base64.b64encode(word.encode())):
                if form in content:
                    print(path, "has", word)
                    found += 1
    return found == 0 and len(files(log)) > 0


def main():
    checks = {"lines": lambda a: check_lines(a[0], a[1]), "chain": lambda a: check_chain(a[0]),
              "page": lambda a: check_page(a[0], a[1:]), "without": lambda a: check_without(a[0], a[1:])}
    return 0 if checks[sys.argv[1]](sys.argv[2:]) else 1


if __name__ == "__main__":
    sys.exit(main())
