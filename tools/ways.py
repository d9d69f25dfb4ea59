#!/usr/bin/env python3
"""Writes into docs/guide/remote.md what is otherwise behind a server, and between two nodes, from test/ways/ways.def.

--check only says whether the page is as it would be written, whether each row of the table has its case, and
whether each case of a behaviour (its name begins with a number of the contract, b001 or sm01) that opens a
program with the kit runs in every way or has a row that says why not. Cases that open their engines by
themselves, or run no program, are about one process or about the inside, and need no row; how many there are
of either kind is said by file. This is what test_ways runs.
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
ROW = re.compile(r'^HF_NOT_(SERVED|NODES|APART)\("([\w./]+)", (\w+), (\w+)\)$', re.M)
CASE = re.compile(r"^(HF_EVERY_WAY|HF_BOTH_ENGINES|START_TEST)\(((?:b|sm)\d\w+)\)\n\{(.*?)^\}", re.M | re.S)
OPENS = re.compile(r"\b(?:hf_kit_open|open_kit)\(")


def table():
    text = TABLE.read_text()
    reasons = dict(re.findall(r'^#define (\w+) "(.*)"$', text, re.M))
    return reasons, ROW.findall(text)


def sources_read():
    return {f"{path.parent.name}/{path.name}": path.read_text()
            for path in sorted((ROOT / "test").glob("*/test_*.c"))}


def one_way(text):
    """The cases of behaviours that do not run in every way: whether the kit opens their program, and the name."""
    return [(bool(OPENS.search(body)), name) for macro, name, body in CASE.findall(text) if macro != "HF_EVERY_WAY"]


def problems(reasons, rows, sources):
    lines = len(re.findall(r"^HF_NOT_", TABLE.read_text(), re.M))
    if lines != len(rows):
        yield f"{lines - len(rows)} rows of {TABLE.name} cannot be read"
    apart = {(file, case) for way, file, case, _ in rows if way == "APART"}
    for file, text in sources.items():
        for opens, case in one_way(text):
            if opens and (file, case) not in apart:
                yield f"{file}: {case} is not of HF_EVERY_WAY, and no row says why"
            apart.discard((file, case))
    for file, case in sorted(apart):
        yield f"{file} has no case {case} that runs in one way only"
    for way, file, case, reason in rows:
        if way != "APART" and f"HF_EVERY_WAY({case})" not in sources.get(file, ""):
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
    sources = sources_read()
    found = list(problems(reasons, rows, sources))
    made = page(reasons, rows)
    if check and made != PAGE.read_text():
        found.append("docs/guide/remote.md is stale: run tools/ways.py")
    for line in found:
        print(line)
    if not check and not found:
        PAGE.write_text(made)
    for file, text in sources.items() if check else ():
        cases = one_way(text)
        kit = sum(opens for opens, _ in cases)
        if cases:
            print(f"{file}: {kit} in one way with a row, {len(cases) - kit} of one process or the inside")
    if check:
        print(f"{0 if found else 100}%: Checks: 1, Failures: {len(found[:1])}, Errors: 0")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
