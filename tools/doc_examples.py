#!/usr/bin/env python3
"""doc_examples.py: run the examples of the documents.

    tools/doc_examples.py [--bin DIR] [--totals FILE] [FILE.md ...]

An example is a fenced sh block after a line `<!-- run -->`. The blocks of one document run one after another in one
empty folder, as a reader would type them, each by `bash -eu`, with DIR first on PATH. `<!-- run exit=1 -->` expects
another exit code. A fenced text block after a line `<!-- output -->` must equal what the example before it printed
on standard output. Each example counts as one case.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^<!-- (run|output)(?: exit=(\d+))? -->\n```(\w+)\n(.*?)^```$", re.M | re.S)


def documents(root):
    out = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True,
                         text=True).stdout
    return sorted(path for path in out.split("\n") if path and os.path.exists(os.path.join(root, path)))


def document_run(path, text, environment):
    """Yields (line, problem or None) of each example."""
    last = ""
    with tempfile.TemporaryDirectory() as folder:
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            kind, code, language, body = match.groups()
            if kind == "output":
                yield line, None if body == last else f"printed:\n{last}\ninstead of:\n{body}"
                continue
            if language != "sh":
                yield line, f"a {language} block cannot be run"
                continue
            done = subprocess.run(["bash", "-eu", "-c", body], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=120)
            last = done.stdout
            wanted = int(code or 0)
            yield line, None if done.returncode == wanted else (
                f"exit code {done.returncode} instead of {wanted}\n{body}{done.stdout}{done.stderr}")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--bin", default="build")
    options.add_argument("--totals")
    options.add_argument("files", nargs="*")
    args = options.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = dict(os.environ, PATH=os.path.abspath(args.bin) + os.pathsep + os.environ["PATH"])
    passed = failed = 0
    for path in args.files or documents(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        good = bad = 0
        for line, problem in document_run(path, text, environment):
            if problem:
                bad += 1
                print(f"  FAIL  {path}:{line}: {problem}")
            else:
                good += 1
        if good or bad:
            print(f"  {'FAIL' if bad else 'ok':<4}  {'examples in ' + path:<32} {good:>4} passed", flush=True)
        passed += good
        failed += bad
    if passed + failed == 0:
        print("  FAIL  no document has an example")
        failed = 1
    if args.totals:
        with open(args.totals, "a", encoding="utf-8") as file:
            file.write(f"{passed} {failed}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
