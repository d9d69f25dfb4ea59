#!/usr/bin/env python3
"""Writes into docs/guide/remote.md what is otherwise behind a server, and between two nodes, from test/ways/ways.def.

--check only says whether the page is as it would be written, and whether each row of the table has its
case. Both are what test_ways runs.
"""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "test/ways/ways.def"
PAGE = ROOT / "docs/guide/remote.md"
BEGIN = "<!-- %s: made by tools/ways.py from test/ways/ways.def -->"
END = "<!-- end -->"
WAYS = {"SERVED": "behind a server", "NODES": "two nodes"}
ROW = re.compile(r'^HF_NOT_(SERVED|NODES)\("([\w./]+)", (\w+), (\w+)\)$', re.M)


def table():
    text = TABLE.read_text()
    reasons = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.M))
    return reasons, ROW.findall(text)


def problems(reasons, rows):
    sources = {f"{path.parent.name}/{path.name}": path.read_text()
               for path in (ROOT / "test").glob("*/test_*.c")}
    lines = len(re.findall(r"^HF_NOT_", TABLE.read_text(), re.M))
    if lines != len(rows):
        yield f"{lines - len(rows)} rows of {TABLE.name} cannot be read"
    for _, file, case, reason in rows:
        if f"HF_EVERY_WAY({case})" not in sources.get(file, ""):
            yield f"{file} has no case HF_EVERY_WAY({case})"
        if reason not in reasons:
            yield f"{case}: there is no reason {reason}"
    for reason in reasons:
        if not any(row[3] == reason for row in rows):
            yield f"no case has the reason {reason}"


def page(reasons, rows):
    text = PAGE.read_text()
    for way, title in WAYS.items():
        head = BEGIN % title
        begin = text.index(head)
        end = text.index(END, begin)
        made = [head, ""]
        made += [f"- {sentence}" for name, sentence in reasons.items()
                 if any(row[0] == way and row[3] == name for row in rows)]
        text = text[:begin] + "\n".join(made) + "\n\n" + text[end:]
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    reasons, rows = table()
    found = list(problems(reasons, rows))
    made = page(reasons, rows)
    if check and made != PAGE.read_text():
        found.append("docs/guide/remote.md is stale: run tools/ways.py")
    for line in found:
        print(line)
    if not check and not found:
        PAGE.write_text(made)
    if check:
        print(f"{0 if found else 100}%: Checks: 1, Failures: {len(found[:1])}, Errors: 0")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
