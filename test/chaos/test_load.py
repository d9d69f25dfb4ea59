#!/usr/bin/env python3
"""test_load.py: fan-outs behind a server with sixteen pollers that come and go.

    test_load.py --build DIR [--seconds 20] [--seed N]

Runs of 150 parallel activities, twenty at a time. The pollers speak raw HTTP and go away at any point of an exchange: in
the middle of a request, behind it, while they wait, in the middle of an answer, with a task in hand. Some runs are
cancelled, some end by a timeout. In the end every run is closed, every activity of those that completed has one result,
the server has ended by itself at SIGTERM alone, with nothing to say on standard error, and `holdfast verify` finds
nothing. It is for builds with sanitizers: the server is the only program of ours in it. HF_LOAD_SECONDS and HF_LOAD_SEED
are the same as the options; CK_TIMEOUT_MULTIPLIER stretches what it waits for. The last line is Check's summary.
"""
import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from wire import Caller, Gone, Line  # pylint: disable=wrong-import-position

POLLERS = 16
RUNS = 20
WIDTH = 150
LOOKED_AT = 30  # runs whose histories are read: under a sanitizer each takes half a second
PATIENCE_S = 60 * float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1"))
CLOSED = ("completed", "failed", "cancelled", "terminated", "timed_out")


class Load:
    """The server, those who poll it, and what they saw."""

    def __init__(self, build, folder, seed):
        self.build = build
        self.folder = folder
        self.seed = seed
        self.store = os.path.join(folder, "load.db")
        self.over = threading.Event()
        self.enough = threading.Event()
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.failures = []
        self.plans = {}  # workflow id -> what becomes of it
        self.open = set()
        self.vanished = collections.deque()  # (when, worker id)
        self.log = open(os.path.join(folder, "server.log"), "w+", encoding="utf-8")
        # Without its sandbox, in which a sanitizer could not start what names the lines of a report.
        self.process = subprocess.Popen([os.path.join(build, "holdfast"), "serve", self.store, "--auth", "none",
                                         "--no-sandbox", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        assert " at http://" in line, f"the server did not start: {line!r}"
        self.port = int(line.strip().rsplit(":", 1)[1])

    def alive(self):
        return self.process.poll() is None

    def caller(self):
        return Caller([self.port], over=self.over)

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    # ---- those who work

    def commands(self, task):
        if task["last_history_sequence"] >= WIDTH:
            return [{"type": "complete_workflow", "result": 1}]
        plan = self.plans[task["workflow_id"]]
        return [{"type": "schedule_activity", "activity_type": "a", "queue": "q",
                 "parallel_group_id": f"parallel-activities:1:{WIDTH}", "parallel_group_kind": "activity",
                 "parallel_group_base_sequence": 1, "parallel_group_size": WIDTH, "parallel_group_index": i,
                 "retry_policy": {"max_attempts": 100000, "backoff_seconds": [0]},
                 **({"start_to_close_timeout": 1, "schedule_to_close_timeout": 1} if plan == "late" and i == WIDTH - 1
                    else {"start_to_close_timeout": 3})}
                for i in range(WIDTH)]

    def place(self, chance, kind):
        """Where in this exchange the poller goes away; mostly nowhere."""
        if self.enough.is_set() or chance.random() >= (0.03 if kind == "activity" else 0.15):
            return None
        return chance.choice(Line.PLACES)

    def poller(self, number):
        chance = random.Random(f"{self.seed}/poller/{number}")
        kind = "workflow" if number % 4 == 0 else "activity"
        line = Line(self.port, chance)
        life = 0
        while not self.over.is_set():
            name = f"{kind}-{number}-{life}"
            try:
                leave_at = self.place(chance, kind)
                _, answer = line.ask("POST", f"/api/worker/{kind}-tasks/poll", {
                    "worker_id": name, "task_queue": "q", "timeout_seconds": chance.choice([0, 1, 1, 2])}, leave_at)
                task = answer.get("task")
                if not task:
                    self.over.wait(0.01)
                    continue
                self.count(kind)
                if kind == "workflow":
                    report = {"lease_owner": name, "workflow_task_attempt": task["workflow_task_attempt"],
                              "commands": self.commands(task)}
                else:
                    report = {"lease_owner": name, "activity_attempt_id": task["activity_attempt_id"], "result": number}
                leave_at = self.place(chance, kind)
                status, answer = line.ask("POST", f"/api/worker/{kind}-tasks/{task['task_id']}/complete", report, leave_at)
                assert status in (200, 409, 429, 503), (status, answer)
                self.count(f"report {status}")
            except Gone:
                self.count(f"gone {leave_at}")
                with self.lock:
                    self.vanished += [(time.monotonic() + wait, name) for wait in (0.05, 1.5)]
                life += 1
            except (OSError, ValueError):
                if not self.alive():
                    return
                line.close()
                self.count("connection lost")
                self.over.wait(0.02)
        line.close()

    def reaper(self):
        """Says of those who went that they are gone, at once and when a task may have reached them too late."""
        caller = self.caller()
        while not self.over.is_set() and self.alive():
            with self.lock:
                due = [entry for entry in self.vanished if entry[0] <= time.monotonic()]
                for entry in due:
                    self.vanished.remove(entry)
            for _, name in due:
                caller.ask("DELETE", f"/api/worker/registrations/{name}")
            self.over.wait(0.02)
        caller.leave()

    # ---- those who ask for work

    def client(self):
        chance = random.Random(f"{self.seed}/client")
        caller = self.caller()
        cancels = []
        count = 0
        while not self.over.is_set() and self.alive():
            with self.lock:
                want = 0 if self.enough.is_set() else RUNS - len(self.open)
            for _ in range(want):
                name = f"run-{count}"
                plan = ("plain", "cancel", "plain", "timeout", "plain", "late")[count % 6]
                count += 1
                with self.lock:
                    self.plans[name] = plan
                    self.open.add(name)
                status, answer = caller.ask("POST", "/api/workflows", {
                    "workflow_type": "fan", "workflow_id": name, "task_queue": "q", "request_id": "start-" + name,
                    **({"run_timeout_seconds": chance.randint(1, 3)} if plan == "timeout" else {})})
                assert status in (None, 200, 201), (status, answer)
                if plan == "cancel":
                    cancels.append((time.monotonic() + chance.random() * 3, name))
            for due, name in [one for one in cancels if one[0] <= time.monotonic()]:
                cancels.remove((due, name))
                status, answer = caller.ask("POST", f"/api/workflows/{name}/cancel", {"request_id": "cancel-" + name})
                assert status in (None, 200, 202, 409), (status, answer)
            with self.lock:
                looked = list(self.open)
            for name in looked:
                _, seen = caller.ask("GET", f"/api/workflows/{name}/result")
                if seen and seen["status"] in CLOSED:
                    with self.lock:
                        self.open.discard(name)
                    self.count("run " + seen["status"])
            self.over.wait(0.1)
        caller.leave()

    # ---- the whole

    def begin(self, target, *args):
        def guarded():
            try:
                target(*args)
            except Exception:  # pylint: disable=broad-except
                self.failures.append(traceback.format_exc())
        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        return thread

    def progress(self, began):
        print(f"  {time.monotonic() - began:5.1f} s: " + ", ".join(
            f"{what} {count}" for what, count in sorted(self.counts.items())) + f", open {len(self.open)}", flush=True)

    def work(self, seconds):
        began = shown = time.monotonic()
        threads = [self.begin(self.poller, i) for i in range(POLLERS)]
        threads += [self.begin(self.reaper), self.begin(self.client)]
        try:
            seen, moved = None, began
            while True:
                now = time.monotonic()
                assert self.alive(), f"the server ended by itself: {self.process.returncode}"
                assert not self.failures, self.failures[0]
                if now - began >= seconds:
                    self.enough.set()
                if now - shown >= 5:
                    shown = now
                    self.progress(began)
                if self.enough.is_set() and not self.open:
                    break
                state = (self.counts["activity"], self.counts["workflow"], len(self.open))
                if state != seen:
                    seen, moved = state, now
                assert now - moved < PATIENCE_S, f"nothing moves and {len(self.open)} runs are open, such as " \
                    f"{sorted(self.open)[0]}: {self.counts}"
                time.sleep(0.1)
            self.check()
        finally:
            self.over.set()
            for thread in threads:
                thread.join(PATIENCE_S)
            self.progress(began)
        assert not self.failures, self.failures[0]

    def check(self):
        """One result for each activity of a run that completed, and an end for each run, once; a sample of them."""
        caller = self.caller()
        for name, plan in random.Random(self.seed).sample(sorted(self.plans.items()), min(LOOKED_AT, len(self.plans))):
            events, token = [], None
            status, runs = caller.ask("GET", f"/api/workflows/{name}/runs")
            assert status == 200 and len(runs["runs"]) == 1, (name, runs)
            while True:
                path = f"/api/workflows/{name}/runs/{runs['runs'][0]['run_id']}/history?page_size=1000"
                _, page = caller.ask("GET", path + (f"&next_page_token={token}" if token else ""))
                events += page["events"]
                token = page.get("next_page_token")
                if not token:
                    break
            kinds = collections.Counter(event["event_type"] for event in events)
            ends = [kind for kind in kinds if kind in ("WorkflowCompleted", "WorkflowFailed", "WorkflowCancelled",
                                                       "WorkflowTerminated", "WorkflowTimedOut")]
            assert len(ends) == 1 and kinds[ends[0]] == 1, (name, plan, kinds)
            assert kinds["ActivityCompleted"] <= WIDTH and kinds["ActivityScheduled"] in (0, WIDTH), (name, plan, kinds)
            if plan == "plain":
                assert kinds["ActivityCompleted"] == WIDTH and ends[0] == "WorkflowCompleted", (name, plan, kinds)
        caller.leave()
        gone = [what for what in self.counts if what.startswith("gone ")]
        assert len(gone) == len(Line.PLACES), f"nobody went away at some of the places: {gone}"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE_S)
        self.log.seek(0)
        said = self.log.read()
        assert code == 0 and "Sanitizer" not in said, f"the server ended with {code}\n{said}"
        done = subprocess.run([os.path.join(self.build, "holdfast"), "verify", self.store], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def end(self):
        if self.alive():
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("HF_LOAD_SECONDS", "20")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HF_LOAD_SEED", "1")))
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        load = Load(args.build, folder, args.seed)
        try:
            load.work(args.seconds)
            load.stop()
        except Exception:  # pylint: disable=broad-except
            failed = 1
            print(f"fan_out_with_pollers_that_come_and_go (HF_LOAD_SEED={args.seed}):\n{traceback.format_exc()}")
            load.end()
            with open(os.path.join(folder, "server.log"), encoding="utf-8") as log:
                print("".join(log.readlines()[:200]), flush=True)
        load.end()
    print(f"{100 - 100 * failed}%: Checks: 1, Failures: {failed}, Errors: 0")
    return failed


if __name__ == "__main__":
    sys.exit(main())
