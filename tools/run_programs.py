#!/usr/bin/env python3
"""run_programs.py: run the test programs of one build folder and count their cases.

    tools/run_programs.py BUILD [--only DIR,..] [--skip DIR,..] [--names NAME,..] [--budget SECONDS] [--wrap COMMAND]
                          [--totals FILE]

The list of programs comes from ctest. Each runs in a session of its own, so that a program that hangs ends with
all its children: Check puts every case into a process group of its own, which a signal to the program's misses.
A line is printed as each ends; the log of a program that failed is printed whole, what failed before the rest.
A program fails when a case failed, when its exit code is not 0, when it printed no summary, or when it took
longer than its TIMEOUT property allows. Nothing is skipped without a line that says so.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

SUMMARY = re.compile(rb"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)
FAILURE = re.compile(r":[FE]:")
running = set()
lock = threading.Lock()


def programs_of(build):
    """Every program of the build: name, folder under test/, command, timeout, and its COST where it is long."""
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                          capture_output=True).stdout
    found = []
    for test in json.loads(text)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        found.append({"name": test["name"], "dir": properties["LABELS"][0], "command": test.get("command"),
                      "timeout": float(properties.get("TIMEOUT", 600)), "cost": float(properties.get("COST", 0))})
    return found


def session_end(leader):
    """Kills every process of the session."""
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.getsid(int(entry)) == leader:
                os.kill(int(entry), signal.SIGKILL)
        except ProcessLookupError:
            pass


def program_run(program, wrap, log_path, scale):
    """Runs one program to its end; returns (passed, failed, seconds, remark)."""
    began = time.monotonic()
    remark = ""
    with open(log_path, "wb") as log:
        child = subprocess.Popen(wrap + program["command"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 start_new_session=True)
        with lock:
            running.add(child.pid)
        try:
            child.wait(program["timeout"] * scale)
        except subprocess.TimeoutExpired:
            remark = f"no end within {program['timeout'] * scale:.0f} s"
        session_end(child.pid)
        child.wait()
        with lock:
            running.discard(child.pid)
    with open(log_path, "rb") as log:
        found = SUMMARY.findall(log.read())
    checks = sum(int(row[0]) for row in found)
    failed = sum(int(row[1]) + int(row[2]) for row in found)
    if not remark and not found:
        remark = f"no summary, exit code {child.returncode}"
    if not remark and child.returncode != 0 and failed == 0:
        remark = f"exit code {child.returncode}"
    if not remark and checks == 0 and "HF_TEST_ONLY" not in os.environ:
        remark = "no cases"
    return checks - failed, failed + (1 if remark else 0), time.monotonic() - began, remark


def stop(number, _frame):
    with lock:
        for pid in running:
            session_end(pid)
    os._exit(128 + number)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build")
    options.add_argument("--only", default="", help="folders under test/, separated by commas")
    options.add_argument("--skip", default="", help="folders under test/ to leave out")
    options.add_argument("--names", default="", help="these programs alone, in this order")
    options.add_argument("--budget", type=float, default=float("inf"), help="begin none after so many seconds, and say so")
    options.add_argument("--why", default="asked for", help="printed with what is left out")
    options.add_argument("--wrap", default="", help="a command to run each program with")
    # One more than the cores of a small machine: many programs wait for leases and processes.
    options.add_argument("--jobs", type=int, default=3)
    options.add_argument("--scale", type=float, default=1, help="factor for timeouts, of programs and of cases")
    options.add_argument("--totals", help="append one line `passed failed` to this file")
    args = options.parse_args()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    only = set(filter(None, args.only.split(",")))
    skip = set(filter(None, args.skip.split(",")))
    names = list(filter(None, args.names.split(",")))
    until = time.monotonic() + args.budget
    chosen = []
    for program in programs_of(args.build):
        if (only and program["dir"] not in only) or (names and program["name"] not in names):
            continue
        if program["dir"] in skip:
            print(f"  --    {program['name']:<32} left out: {args.why}", flush=True)
        elif not program["command"]:
            sys.exit(f"run_programs: {program['name']} was not built")
        else:
            chosen.append(program)
    os.environ["CK_VERBOSITY"] = "normal"
    os.environ["CK_TIMEOUT_MULTIPLIER"] = str(args.scale)

    # The longest first, by what they took last time, so that the two cores end together.
    logs = os.path.join(args.build, "logs")
    os.makedirs(logs, exist_ok=True)
    times_path = os.path.join(args.build, "times.json")
    try:
        with open(times_path, encoding="utf-8") as file:
            times = json.load(file)
    except (OSError, ValueError):
        times = {}
    chosen.sort(key=lambda p: (-times.get(p["name"], 1e9 if p["dir"] == "crash" else 1e6 + p["cost"]), p["name"]))
    if names:
        chosen.sort(key=lambda p: names.index(p["name"]))

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = {}
        for program in chosen:
            log_path = os.path.join(logs, program["name"] + ".log")
            jobs[pool.submit(lambda *what: program_run(*what) if time.monotonic() < until else None, program,
                             shlex.split(args.wrap), log_path, args.scale)] = (program, log_path)
        for job in concurrent.futures.as_completed(jobs):
            program, log_path = jobs[job]
            if job.result() is None:
                print(f"  --    {program['name']:<32} left out: the time is up", flush=True)
                continue
            good, bad, seconds, remark = job.result()
            passed += good
            failed += bad
            times[program["name"]] = seconds
            print(f"  {'FAIL' if bad else 'ok':<4}  {program['name']:<32} {good:>4} passed"
                  f"{f', {bad} failed' if bad else ''}  {seconds:.1f} s  {remark}".rstrip(), flush=True)
            if bad:
                with open(log_path, encoding="utf-8", errors="replace") as log:
                    lines = ["      | " + line for line in log]
                # What failed first: who reads a report that was cut wants to know that.
                sys.stdout.write("".join(sorted(lines, key=lambda line: not FAILURE.search(line))))
                sys.stdout.write("\n")
                sys.stdout.flush()
    with open(times_path, "w", encoding="utf-8") as file:
        json.dump(times, file)
    if not chosen:
        print("  FAIL  no programs to run")
        failed += 1
    if args.totals:
        with open(args.totals, "a", encoding="utf-8") as file:
            file.write(f"{passed} {failed}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
