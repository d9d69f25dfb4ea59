#!/usr/bin/env python3
"""demo.py: `make demo`: orders that are completed once each, while their worker is killed again and again.

    tools/demo.py [--build build] [--orders 50] [--seed N] [--limit 120] [--keep] [--test]

Starts `holdfast dev` with examples/shop.c as its worker, starts the orders, and kills the worker with SIGKILL at random
until all of them are done. Prints a tally while it goes on, and shows what happened to an order that was interrupted. On a
terminal it then leaves the console open at that order, until Enter. At last it has the store verified. Exit code 0: every
order was completed, charged once, and nothing is wrong with the store.
"""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request


class Failed(Exception):
    """Something that the demo promises is not so."""


class Demo:
    """A folder with a server, its worker and their ledger."""

    def __init__(self, build, folder, rng, orders):
        self.holdfast = os.path.join(build, "holdfast")
        self.shop = os.path.join(build, "examples", "shop")
        self.folder = folder
        self.rng = rng
        self.orders = orders
        self.kills = 0
        self.written = 0
        self.shown = None
        self.dev = None

    def start(self):
        log = open(os.path.join(self.folder, "dev.log"), "w", encoding="utf-8")
        self.dev = subprocess.Popen([self.holdfast, "dev", "--listen", "127.0.0.1:0", self.shop, "worker"],
                                    cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.dev.stdout:
            print(line, end="")
            if line.startswith("console"):  # the last of them: a browser can look on
                break
        if not os.path.exists(os.path.join(self.folder, ".holdfast")):
            raise Failed("the server did not start: see dev.log")
        until(lambda: os.path.exists(os.path.join(self.folder, ".holdfast", "server.json")), 20)

    def stop(self):
        if self.dev and self.dev.poll() is None:
            self.dev.send_signal(signal.SIGTERM)
        return self.dev.wait(timeout=60) if self.dev else 0

    def run(self, *words, check=True):
        """A verb, as a person would type it in that folder."""
        done = subprocess.run([self.holdfast, *words], cwd=self.folder, capture_output=True, text=True, timeout=60)
        if check and done.returncode:
            raise Failed(f"holdfast {' '.join(words)}: exit code {done.returncode}: {done.stderr}")
        return done.stdout

    def worker(self):
        """The process that works now, or None."""
        with open(f"/proc/{self.dev.pid}/task/{self.dev.pid}/children", encoding="ascii") as file:
            pids = file.read().split()
        return int(pids[0]) if pids else None

    def ledger(self):
        """How much work is written down."""
        try:
            return os.path.getsize(os.path.join(self.folder, "ledger.txt"))
        except FileNotFoundError:
            return 0

    def await_work(self):
        """Waits until the worker has written something since it was killed, and longer where that took long: an activity
        whose process is lost five times is quarantined, which a worker that dies whenever it begins would come to."""
        began = time.monotonic()
        until(lambda: self.ledger() != self.written or self.done() == self.orders, 60)
        time.sleep(self.rng.uniform(0.1, 0.4) * max(1, (time.monotonic() - began) / 0.15))

    def kill(self):
        self.written = self.ledger()
        pid = self.worker()
        if pid:
            os.kill(pid, signal.SIGKILL)
            self.kills += 1

    def charges(self):
        """Which order was charged how often."""
        count = {}
        try:
            with open(os.path.join(self.folder, "ledger.txt"), encoding="utf-8") as file:
                for line in file:
                    words = line.split()
                    if words[0] == "charge" and line.endswith("\n"):
                        count[words[2]] = count.get(words[2], 0) + 1
        except FileNotFoundError:
            pass
        return count

    def tally(self, done):
        count = self.charges()
        twice = sum(times - 1 for times in count.values())
        text = f"{self.orders} orders, {done} done, {self.kills} kills, {sum(count.values())} charges, {twice} duplicates"
        if text == self.shown:
            return
        self.shown = text
        if sys.stdout.isatty():
            print(f"\r{text}  ", end="", flush=True)
        else:
            print(text, flush=True)

    def done(self):
        return len(self.run("ls", "status=completed", "--limit", "1000", "-o", "name").split())

    def interrupted(self):
        """Orders that a kill hit in the middle of something, and how often each began an activity again; the worst first."""
        found = []
        for name in sorted(self.run("ls", "--limit", "1000", "-o", "name").split()):
            events = [json.loads(line) for line in self.run("history", name, "-o", "jsonl").splitlines()]
            again = sum(event["type"] == "ActivityStarted" for event in events) - \
                sum(event["type"] == "ActivityScheduled" for event in events)
            if again > 0:
                found.append((name, again))
        return sorted(found, key=lambda one: -one[1])

    def link(self, page):
        """A link that logs a browser in, once, and begins at a page."""
        with open(os.path.join(self.folder, ".holdfast", "server.json"), encoding="utf-8") as file:
            server = json.load(file)
        request = urllib.request.Request(server["url"] + "/console/api/login-links", data=b"{}",
                                         headers={"Authorization": "Bearer " + server["token"],
                                                  "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)["url"] + "#/" + page


def until(holds, seconds):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise Failed(f"nothing happened for {seconds} seconds")
        time.sleep(0.02)


def orders_run(demo, limit):
    orders = demo.orders
    end = time.monotonic() + limit
    done = 0
    for number in range(1, orders + 1):
        demo.run("start", "order", "sku=TEA-1", "amount:=90", "--id", f"order-{number}")
        if demo.ledger() != demo.written and demo.rng.random() < 0.3:
            demo.kill()
        demo.tally(done)
    while done < orders:
        demo.await_work()
        demo.kill()
        done = demo.done()
        demo.tally(done)
        if time.monotonic() > end:
            raise Failed(f"only {done} of {orders} orders are done after {limit} s")
    if sys.stdout.isatty():
        print()


def story_tell(demo, orders):
    if not orders:
        print("no order was hit in the middle of an activity this time")
        return
    name, again = orders[0]
    print(f"\nwhat happened to {name}, whose worker was killed in the middle of an activity ({again} more attempts):\n")
    for words in (["why", name], ["history", name], ["show", name]):
        print(f"$ holdfast {' '.join(words)}")
        print(demo.run(*words))


def console_show(demo, orders):
    """Leaves the console open where something was interrupted: the crash is drawn there."""
    names = [name for name, _ in orders]
    print("the console, one login within ten minutes" + (f", at {names[0]}:" if names else ":"))
    print("  " + demo.link("runs/" + names[0] if names else "runs"))
    if names[1:]:
        print("others that were interrupted: " + " ".join(names[1:10]) + (" ..." if names[10:] else ""))
    print("Enter ends the demo.", flush=True)
    try:
        input()
    except (EOFError, KeyboardInterrupt):
        print()


def charges_check(demo):
    count = demo.charges()
    if len(count) != demo.orders or any(times != 1 for times in count.values()):
        raise Failed(f"charges: {count}")
    if demo.kills == 0:
        raise Failed("nothing was killed, so nothing was shown")


def store_check(demo):
    if demo.stop() != 0:
        raise Failed("the server did not end well: see dev.log")
    print(demo.run("verify", ".holdfast/dev.db"), end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--limit", type=int, default=120, help="seconds until it is given up")
    parser.add_argument("--keep", action="store_true", help="leave the folder behind")
    parser.add_argument("--test", action="store_true", help="end with the summary line of a test program")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 32)
    folder = tempfile.mkdtemp(prefix="holdfast-demo-")
    demo = Demo(os.path.abspath(args.build), folder, random.Random(seed), args.orders)
    code = 1
    try:
        demo.start()
        orders_run(demo, args.limit)
        charges_check(demo)
        orders = demo.interrupted()
        story_tell(demo, orders)
        if sys.stdin.isatty() and sys.stdout.isatty():
            console_show(demo, orders)
        else:
            print("to look at orders in a browser: make demo on a terminal, or make run")
        store_check(demo)
        code = 0
    except Failed as why:
        print(f"\ndemo: {why}\ndemo: seed {seed}, everything is in {folder}", file=sys.stderr)
    finally:
        demo.stop()
    if code == 0 and not args.keep:
        shutil.rmtree(folder)
    if args.test:
        print(f"{100 - 100 * code}%: Checks: 1, Failures: {code}, Errors: 0")
    return code


if __name__ == "__main__":
    sys.exit(main())
