#!/usr/bin/env python3
"""test_kill_server.py: `holdfast serve` under load, killed with SIGKILL again and again.

    test_kill_server.py --build DIR

Clients start workflows and send signals, each command with a request id, and ask again until they get an answer.
Workers poll, report, and ask again too. In the end every command that was acknowledged is in the history of its run,
once, every run has come to its end, and `holdfast verify` finds nothing. HF_CAMPAIGN says how many kills there are:
unset 5, 1 (`make test`) 20, long (`make check`) 200, a number that many; `forever` goes on until somebody stops it.
The PostgreSQL cases use the server of HF_TEST_PG and start one when there is none. The last line is Check's summary.
"""
import argparse
import concurrent.futures
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

CLIENTS = 4
WORKERS = 4
SIGNALS = 2
PATIENCE_S = 60
HEADERS = {"X-Durable-Workflow-Control-Plane-Version": "2", "X-Durable-Workflow-Protocol-Version": "1.13",
           "Content-Type": "application/json"}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Server:
    """One process and the port it listens on, which stays the same over its lives."""

    def __init__(self, build, store):
        self.command = [os.path.join(build, "holdfast"), "serve", store, "--auth", "none", "--listen"]
        self.port = 0
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command + [f"127.0.0.1:{self.port}"], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert " at http://" in line, f"the server did not start: {line!r}"
        self.port = int(line.strip().rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=PATIENCE_S) == 0
        self.process.stdout.close()


class Caller:
    """Asks one of several servers, the next one when there is no answer, until there is one."""

    def __init__(self, world, at):
        self.world = world
        self.at = at
        self.connection = None

    def once(self, method, path, body):
        server = self.world.servers[self.at % len(self.world.servers)]
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        self.connection.request(method, path, json.dumps(body) if body is not None else None, HEADERS)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def ask(self, method, path, body=None):
        """The status and body of the first answer that is none of a server in trouble; None when the world ends."""
        while not self.world.over.is_set():
            try:
                status, answer = self.once(method, path, body)
                if status not in (429, 503):
                    return status, answer
                self.world.over.wait(0.02)
            except (OSError, http.client.HTTPException, ValueError):
                self.world.retries += 1
                self.at += 1
                self.leave()
                self.world.over.wait(0.02)
        return None, None

    def leave(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class World:
    """Servers, who asks them, and what they acknowledged."""

    def __init__(self, servers):
        self.servers = servers
        self.over = threading.Event()    # everybody goes home
        self.enough = threading.Event()  # nothing new is begun
        self.runs = {}                   # workflow id -> run id, acknowledged
        self.failures = []
        self.retries = 0
        self.threads = []
        self.clients = []
        self.lock = threading.Lock()

    def begin(self, target, *args):
        def guarded():
            try:
                target(*args)
            except Exception:  # pylint: disable=broad-except
                self.failures.append(traceback.format_exc())
        thread = threading.Thread(target=guarded)
        self.threads.append(thread)
        thread.start()
        return thread

    def client(self, number):
        """Starts a workflow and sends it its signals, one after the other; the next server each time."""
        caller = Caller(self, number)
        count = 0
        while not self.enough.is_set() and not self.over.is_set():
            name = f"run-{number}-{count}"
            count += 1
            status, answer = caller.ask("POST", "/api/workflows", {
                "workflow_type": "job", "workflow_id": name, "task_queue": "q", "input": [count],
                "request_id": "start-" + name})
            assert status in (None, 200, 201), (status, answer)
            if status is None:
                return
            with self.lock:
                self.runs[name] = answer["run_id"]
            for i in range(SIGNALS):
                caller.leave()
                caller.at += 1
                status, answer = caller.ask("POST", f"/api/workflows/{name}/signal/ping",
                                            {"input": [i], "request_id": f"signal-{name}-{i}"})
                assert status in (None, 200, 202), (status, answer)
        caller.leave()

    def workflow_worker(self, number):
        caller = Caller(self, number)
        name = f"w-{number}"
        while not self.over.is_set():
            _, answer = caller.ask("POST", "/api/worker/workflow-tasks/poll",
                                   {"worker_id": name, "task_queue": "q", "timeout_seconds": 1})
            task = answer and answer["task"]
            if not task:
                continue
            kinds = [event["event_type"] for event in task["history_events"]]
            if "ActivityCompleted" not in kinds:
                command = {"type": "schedule_activity", "activity_type": "double", "queue": "q",
                           "arguments": {"codec": "json", "blob": "[2]"}, "start_to_close_timeout": 2,
                           "retry_policy": {"max_attempts": 1000, "backoff_seconds": [0]}}
            elif kinds.count("SignalReceived") < SIGNALS:
                command = {"type": "open_condition_wait", "condition_key": "pinged"}
            else:
                command = {"type": "complete_workflow", "result": kinds.count("SignalReceived")}
            caller.ask("POST", f"/api/worker/workflow-tasks/{task['task_id']}/complete",
                       {"lease_owner": name, "workflow_task_attempt": task["workflow_task_attempt"],
                        "commands": [command]})
        caller.leave()

    def activity_worker(self, number):
        caller = Caller(self, number)
        name = f"a-{number}"
        while not self.over.is_set():
            _, answer = caller.ask("POST", "/api/worker/activity-tasks/poll",
                                   {"worker_id": name, "task_queue": "q", "timeout_seconds": 1})
            task = answer and answer["task"]
            if task:
                caller.ask("POST", f"/api/worker/activity-tasks/{task['task_id']}/complete",
                           {"lease_owner": name, "activity_attempt_id": task["activity_attempt_id"], "result": 4})
        caller.leave()

    def declare(self):
        status, answer = Caller(self, 0).ask("POST", "/api/worker/register", {
            "worker_id": "declarer", "task_queue": "q", "supported_workflow_types": ["job"],
            "workflow_command_contracts": {"job": {"signals": ["ping"], "updates": [], "queries": []}}})
        assert status == 200, answer

    def populate(self):
        self.declare()
        for i in range(WORKERS):
            self.begin(self.workflow_worker, i)
            self.begin(self.activity_worker, i)
        for i in range(CLIENTS):
            self.clients.append(self.begin(self.client, i))

    def settle(self):
        """Every acknowledged run ends; then everybody goes home."""
        self.enough.set()
        caller = Caller(self, 0)
        for thread in self.clients:
            thread.join(PATIENCE_S)
        waiting = list(self.runs)
        until = time.monotonic() + PATIENCE_S
        while waiting:
            assert not self.failures, self.failures[0]
            left = [name for name in waiting
                    if caller.ask("GET", f"/api/workflows/{name}")[1].get("status") != "completed"]
            if len(left) < len(waiting):  # they are many, and get on
                until = time.monotonic() + PATIENCE_S
            waiting = left
            assert not waiting or time.monotonic() < until, \
                f"{len(waiting)} runs do not end, such as {waiting[0]}: " + \
                json.dumps(caller.ask("GET", f"/api/workflows/{waiting[0]}")[1])[:3000]
            if waiting:
                time.sleep(0.05)
        self.check(caller)
        self.leave()
        caller.leave()

    def check(self, caller):
        """What was acknowledged is there, once."""
        for name, run in self.runs.items():
            status, runs = caller.ask("GET", f"/api/workflows/{name}/runs")
            assert status == 200 and len(runs["runs"]) == 1, (name, runs)
            _, history = caller.ask("GET", f"/api/workflows/{name}/runs/{run}/history")
            kinds = [event["event_type"] for event in history["events"]]
            for kind, count in (("WorkflowStarted", 1), ("SignalReceived", SIGNALS), ("ActivityScheduled", 1),
                                ("ActivityCompleted", 1), ("WorkflowCompleted", 1)):
                assert kinds.count(kind) == count, (name, kind, kinds)
        assert self.runs, "nothing was done"

    def leave(self):
        self.enough.set()
        self.over.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)
        assert not self.failures, self.failures[0]


# ---- cases


def verify(build, store):
    done = subprocess.run([os.path.join(build, "holdfast"), "verify", store], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def kill_cycles(build, store, kills, seed):
    """One server that is killed while everybody asks it something."""
    chance = random.Random(seed)
    world = World([Server(build, store)])
    try:
        world.populate()
        for _ in range(kills):
            time.sleep(0.05 + chance.random() * 0.3)
            world.servers[0].kill()
            world.servers[0].start()
        world.settle()
    finally:
        world.over.set()
        world.servers[0].process.poll() is None and world.servers[0].stop()
    verify(build, store)
    print(f"kill_server: {kills} kills, {len(world.runs)} runs, {world.retries} questions asked again", flush=True)


def two_servers(build, store):
    """Two servers on one database; clients go round. One is killed: the other takes its runs over."""
    world = World([Server(build, store), Server(build, store)])
    try:
        world.populate()
        time.sleep(0.5)
        world.servers[0].kill()
        world.servers = [world.servers[1]]
        time.sleep(0.2)
        world.settle()
    finally:
        world.over.set()
        for server in world.servers:
            server.process.poll() is None and server.stop()
    verify(build, store)
    print(f"two_servers: {len(world.runs)} runs, {world.retries} questions asked again", flush=True)


class Postgres:
    """The server of the run, or one of our own."""

    def __init__(self):
        self.uri = os.environ.get("HF_TEST_PG")
        self.process = None
        if not self.uri:
            self.process = subprocess.Popen([os.path.join(ROOT, "tools", "pg_for_tests.sh")], stdout=subprocess.PIPE,
                                            stdin=subprocess.PIPE, text=True)
            self.uri = self.process.stdout.readline().strip()

    def store(self, name):
        return f"{self.uri}{'&' if '?' in self.uri else '?'}hf_schema={name}_{os.getpid()}"

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def kills_wanted():
    text = os.environ.get("HF_CAMPAIGN", "")
    named = {"": 5, "1": 20, "long": 200, "forever": sys.maxsize}
    return named[text] if text in named else max(1, int(text) // 100)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    only = os.environ.get("HF_TEST_ONLY", "")
    seed = int(os.environ.get("HF_CRASH_SEED", "1"))
    kills = kills_wanted()
    postgres = None
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(3) as pool:
        cases = {
            "kill_cycles_sqlite": lambda: kill_cycles(args.build, os.path.join(folder, "k.db"), kills, seed),
            "kill_cycles_postgres": lambda: kill_cycles(args.build, postgres.store("kill"), max(2, kills // 5), seed),
            "two_servers_postgres": lambda: two_servers(args.build, postgres.store("two")),
        }
        chosen = {name: case for name, case in cases.items() if only in name}
        if any("postgres" in name for name in chosen):
            postgres = Postgres()
        jobs = {name: pool.submit(case) for name, case in chosen.items()}  # mostly they wait for leases to end
        for name, job in jobs.items():
            try:
                job.result()
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"{name} (HF_CRASH_SEED={seed}):\n{traceback.format_exc()}", flush=True)
    if postgres:
        postgres.stop()
    print(f"{100 * (len(chosen) - failed) // max(1, len(chosen))}%: Checks: {len(chosen)}, Failures: {failed}, "
          "Errors: 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
