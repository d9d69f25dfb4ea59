#!/usr/bin/env python3
"""quick.py: `make quick`: what a change needs before it is shown to anybody, in three minutes at most.

    tools/quick.py [--since COMMIT] [--seconds 180] [--list]

Looks at what differs from COMMIT: where the branch left main, or, on main itself, the commit before; what is not committed
counts. Runs the programs that test the touched layers, those of touched test files first, then those of the layers that
include them, nearest first (the table is LAYERS of tools/tidy.py), in the plain gcc build with short campaigns, and
tidy. What does not fit into the time is left out, and that is said: `make test` runs everything.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import time

import tidy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join("build", "test-gcc")
JOBS = 3
UNKNOWN_S = 3  # what a program takes that has not run here yet
# Folders of tests that are of no layer by that name: what they test.
TESTS_OF = {"machine": {"engine"}, "sim": {"base", "commit", "engine", "task"}, "crash": {"commit", "engine", "store"}}
# What is in all programs.
EVERYWHERE = re.compile(r"CMakeLists\.txt$|^cmake/|^test/lib/|^include/")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def base_find():
    head = git("rev-parse", "HEAD")[0]
    for name in ("main", "origin/main", "master", "origin/master"):
        try:
            base = git("merge-base", "HEAD", name)[0]
        except subprocess.CalledProcessError:
            continue
        if base != head:
            return base
    return "HEAD" if git("status", "--porcelain") else "HEAD~"


def distances(touched):
    """How many includes away from what was touched each layer is; those that do not see it are not there."""
    found = {layer: 0 for layer in touched}
    grown = True
    while grown:
        grown = False
        for layer, sees in tidy.LAYERS.items():
            near = min((found[other] + 1 for other in sees if other in found), default=None)
            if near is not None and found.get(layer, near + 1) > near:
                found[layer] = near
                grown = True
    return found


def programs_of(changed):
    """Names of programs, those first that are nearest to the change."""
    layers = {path.split("/")[1] for path in changed if path.startswith("src/") and path.count("/") > 1}
    if any(EVERYWHERE.search(path) for path in changed):
        layers.add("base")
    far = distances(layers)
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "test", "*", "test_*.c"))):
        folder, file = path.split(os.sep)[-2:]
        own = {os.path.join("test", folder, file), os.path.join("src", folder, file[len("test_"):])}
        of = min((far[layer] + (folder in TESTS_OF) for layer in TESTS_OF.get(folder, {folder}) if layer in far), default=None)
        if own & set(changed):
            of = -1
        if of is not None:
            found.append((of, f"test_{folder}_{file[len('test_'):-len('.c')]}"))
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--since", help="compare with this commit")
    options.add_argument("--seconds", type=float, default=180)
    options.add_argument("--list", action="store_true", help="print what would run, and run nothing")
    args = options.parse_args()
    began = time.monotonic()
    os.chdir(ROOT)
    since = args.since or base_find()
    changed = git("diff", "--name-only", since) + git("ls-files", "--others", "--exclude-standard")
    try:
        with open(os.path.join(BUILD, "times.json"), encoding="utf-8") as file:
            times = json.load(file)
    except (OSError, ValueError):
        times = {}
    wanted = sorted((of, times.get(name, UNKNOWN_S), name) for of, name in programs_of(changed))
    # Two thirds of the time are for tests; each may take what the whole of them may.
    chosen, spent, share = [], 0, args.seconds * 2 / 3
    for _, seconds, name in wanted:
        if seconds <= share and spent + seconds <= share * JOBS:
            chosen.append(name)
            spent += seconds
    print(f"{len(changed)} files differ from {since[:12]}: {len(chosen)} programs" +
          (f", {len(wanted) - len(chosen)} left out, which make test runs" if len(chosen) < len(wanted) else ""), flush=True)
    if args.list:
        print("\n".join(chosen))
        return 0
    failed = subprocess.run(["tools/tidy.py"], stdout=subprocess.PIPE, text=True, check=False)
    if failed.returncode:
        print("\n".join(line for line in failed.stdout.splitlines() if "listed only" not in line))
    if chosen:
        subprocess.run(["tools/configure.sh", BUILD, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++", "-DHF_FAULT=ON",
                        "-DHF_TESTS=ON"], check=True)
        built = subprocess.run(["ninja", "-C", BUILD, "holdfast", *chosen], stdout=subprocess.PIPE, text=True, check=False)
        if built.returncode:
            print(built.stdout[-6000:])
            return 1
        left = max(args.seconds - (time.monotonic() - began), args.seconds / 3)
        failed.returncode |= subprocess.run(["tools/run_programs.py", BUILD, "--names", ",".join(chosen), "--budget", str(left)],
                                            check=False).returncode
    print(f"{time.monotonic() - began:.0f} s: {'something is wrong' if failed.returncode else 'good'}")
    return failed.returncode


if __name__ == "__main__":
    sys.exit(main())
