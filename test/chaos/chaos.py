#!/usr/bin/env python3
"""chaos.py: servers, nodes, workers and clients under faults; then everything is held against what clients were told.

    chaos.py --build DIR [--store sqlite|postgres|mixed|divided] [--seconds 30] [--seed N] [--venv DIR] [--logs DIR]

sqlite is one `holdfast serve`; postgres are two on one database, mixed is one and a program that embeds the engine; divided
are two whose workers have different parts: workflows in C at one, activities and the SDK at the other. Workers
in C, and with --venv of the Python SDK, work through a proxy of our own; so do the clients, and so do the servers with
PostgreSQL. Faults come from the seed: SIGKILL of servers, workers and PostgreSQL, SIGSTOP for longer than leases, a network
that delays, cuts, dribbles and holds (also each COMMIT), a full disk. Each kind must take effect or the run fails. When they
are over, everything must come to its end, and check.py looks at all of it; `verify` and `doctor` find nothing, every process
ends well when it is told to, and none has grown without bound.

HF_CHAOS_SECONDS and HF_CHAOS_SEED are the same as the options. Processes are not simulated: a seed repeats the faults and
the work, not the order in which the machine does them. Logs are kept in LOGS/SEED-STORE when something was wrong. The last
line is Check's summary.
"""
import argparse
import collections
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # pylint: disable=wrong-import-position
from wire import Caller  # pylint: disable=wrong-import-position
from world import HERE, Ended, Postgres, Process, Proxy, free_port  # pylint: disable=wrong-import-position

SEED_DEFAULT = 1
LEASE_MS = 2000          # of shards, at all nodes
PAUSE_S = LEASE_MS / 1000 + 1.5  # longer than that, and than an attempt may take
CLIENTS = 8
OPEN_MAX = 8             # workflows that a client has open at a time
SIGNALS_MAX = 12
PATIENCE_S = 60 * float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "1"))
RSS_MAX_MB = 384
DISK_BYTES = {"sqlite": 64 << 20, "postgres": 320 << 20, "mixed": 320 << 20,
              "divided": 320 << 20}
SET = f"node_lease_ms={LEASE_MS},workflow_task_lease_ms=4000,activity_lease_ms=4000,update_behind_signal=queue"
QUEUE = "chaos"


class Server(Process):
    """`holdfast serve`, always at one port, with a gate of the proxy before it and one behind it."""

    def __init__(self, world, number, store):
        self.port = free_port()
        super().__init__(world, f"server-{number}", [
            os.path.join(world.build, "holdfast"), "serve", store, "--auth", "none", "--listen", f"127.0.0.1:{self.port}",
            "--set", SET], ready=" at http://")
        self.number = number
        self.gate = f"http-{number}"
        self.outer = world.proxy.listen(self.gate, self.port)


class Chaos:
    """One run: what exists, what was told to clients, what went wrong."""

    def __init__(self, args, folder, logs):
        self.store_kind = args.store
        self.build = os.path.abspath(args.build)
        self.seed = args.seed
        self.ports = []
        self.logs = logs
        self.folder = folder
        self.seconds = args.seconds
        self.began = time.monotonic()
        self.over = threading.Event()
        self.enough = threading.Event()
        self.lock = threading.Lock()
        self.failures = []
        self.told = {}
        self.closed = set()
        self.bites = collections.Counter()
        self.answers = collections.Counter()
        self.threads = []
        self.proxy = Proxy(self.seed, [os.path.join(logs, "trace")] if os.environ.get("HF_CHAOS_TRACE") else [])
        self.disk = self.disk_make()
        self.effects = os.path.join(folder, "effects")
        self.postgres = None
        self.ends_postgres = threading.Lock()  # of one fault at a time
        self.processes = []
        self.servers = []
        self.nodes = []
        self.workers = []
        self.registered = {}  # worker -> the name under which servers know it
        self.python = None
        self.store = None
        self.began_faults = None
        self.journal = open(os.path.join(logs, "faults.log"), "w", encoding="utf-8")

    # ---- how it is made

    def make(self, venv):
        """Begins everything; nothing goes wrong meanwhile."""
        folder = self.folder
        if self.store_kind == "sqlite":
            self.store = os.path.join(self.disk or folder, "chaos.db")
            stores = [self.store]
        else:
            self.postgres = Postgres(self, self.disk or folder)
            self.processes.append(self.postgres)
            self.postgres.start()
            self.store = self.address(self.postgres.port)
            stores = [self.address(self.proxy.listen(f"pg-{i}", self.postgres.port)) for i in range(2)]
        if self.store_kind == "mixed":
            stores = stores[1:] + stores[:1]
        for i, store in enumerate(stores[:1] if self.store_kind == "mixed" else stores):
            self.servers.append(Server(self, i, store))
            self.processes.append(self.servers[-1])
            self.servers[-1].start()
        self.ports = [server.outer for server in self.servers]
        self.nodes = list(self.servers)
        worker = os.path.join(self.build, "test", "chaos_worker")
        if self.store_kind == "mixed":
            self.nodes.append(Process(self, "node", [worker, "node", stores[1], *SET.split(",")],
                                      env={"CHAOS_EFFECTS": self.effects, "HF_MODULE_DIR": self.build}, ready="node"))
            self.processes.append(self.nodes[-1])
            self.nodes[-1].start()
        self.python = self.python_find(venv) if self.store_kind != "mixed" else None
        divided = self.store_kind == "divided"
        for i in range(2):
            server = self.servers[i % len(self.servers)]
            self.worker_make(f"c-{i}", [worker, "worker", "--store", f"http://127.0.0.1:{server.outer}"],
                             ("workflows", "activities")[i] if divided else "all")
            if self.python and server.number == i and not (divided and i == 0):
                self.worker_make(f"py-{i}", [self.python, os.path.join(HERE, "sdk_worker.py"),
                                             f"http://127.0.0.1:{server.outer}", f"py-{i}", self.effects])
        self.await_workers()

    def worker_make(self, name, command, part="all"):
        worker = Process(self, "worker-" + name, command, env={"CHAOS_EFFECTS": self.effects, "HF_WORKER_ID": name,
                                                               "CHAOS_PART": part})
        self.workers.append(worker)
        self.processes.append(worker)
        self.registered[worker] = name
        worker.start()

    @staticmethod
    def address(port):
        return f"postgresql://holdfast@127.0.0.1:{port}/postgres?connect_timeout=5"

    def disk_make(self):
        """A small disk of its own, which can be full. None: it cannot be had here."""
        path = os.path.join(self.folder, "disk")
        os.mkdir(path)
        if os.environ.get("CHAOS_MOUNTS") == "1" and subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES[self.store_kind]},mode=0755", "none", path],
                capture_output=True, check=False).returncode == 0:
            return path
        self.say("left out: full_disk, which needs the right to mount a file system")
        return None

    def python_find(self, venv):
        python = venv and os.path.join(os.path.abspath(venv), "bin", "python")  # processes begin in another folder
        if python and os.path.exists(python) and subprocess.run(
                [python, "-c", "import durable_workflow"], capture_output=True, check=False).returncode == 0:
            return python
        self.say("left out: workers of the Python SDK, which is not installed (test_server_sdk does that)")
        return None

    def await_workers(self):
        """What they declare counts from their registration on."""
        until = time.monotonic() + PATIENCE_S
        caller = Caller([server.port for server in self.servers])
        for server in range(len(self.servers)):
            caller.leave()
            caller.at = server
            while True:
                _, answer = caller.ask("GET", "/api/workers")
                seen = {worker["worker_id"] for worker in answer["workers"]}
                if seen >= set(self.registered.values()):
                    break
                assert time.monotonic() < until, f"workers do not register: {seen}"
                self.look()
                time.sleep(0.2)
        caller.leave()

    # ---- talk

    def say(self, text):
        print(f"  {time.monotonic() - self.began:6.1f} s: {text}", flush=True)

    def note(self, text):
        self.journal.write(f"{time.monotonic() - self.began:8.3f} {text}\n")
        self.journal.flush()

    def begin(self, target, *args):
        def guarded():
            try:
                target(*args)
            except Exception:  # pylint: disable=broad-except
                self.failures.append(traceback.format_exc())
        thread = threading.Thread(target=guarded, daemon=True)
        self.threads.append(thread)
        thread.start()
        return thread

    def look(self):
        """Nobody ended by itself, nobody found anything wrong."""
        if self.failures:
            raise check.Wrong(self.failures[0])
        for process in self.processes:
            if process in self.workers and self.registered[process].startswith("py-") and process.wanted and \
                    not process.alive():
                self.answers["the SDK's worker gave up"] += 1  # not ours: it may
                process.start()
                continue
            process.look()
            if process.rss > RSS_MAX_MB and process is not self.postgres:
                raise check.Wrong(f"{process.name} has grown to {process.rss} MB")

    # ---- clients

    def caller(self, number):
        caller = Caller(self.ports, at=number, over=self.over, timeout=5)
        once = caller.once

        def counted(method, path, body=None):
            status, answer = once(method, path, body)
            if status >= 429:
                self.answers[f"{status} {answer.get('reason')}"] += 1
            return status, answer
        caller.once = counted
        return caller

    def client(self, number):
        chance = random.Random(f"{self.seed}/client/{number}")
        caller = self.caller(number)
        kinds = ["counter"] * 4 + ["fan"] * 3 + ["naps", "family", "family", "chain", "chain", "endless"]
        if self.python:
            kinds += ["py_mail", "py_fan"]
        only = os.environ.get("HF_CHAOS_TYPES")
        if only:
            kinds = only.split(",")
        mine = collections.deque()
        count = 0
        while not self.over.is_set():
            while len(mine) >= (1 if self.enough.is_set() else OPEN_MAX):
                name = mine.popleft()
                _, answer = caller.ask("GET", f"/api/workflows/{name}/result?wait_timeout_seconds=1")
                if answer is None:
                    return
                if answer["status"] == "open":
                    mine.append(name)
                else:
                    self.closed.add(name)
                if self.enough.is_set() and not mine:
                    break
            if self.enough.is_set():
                break
            kind = chance.choice(kinds)
            name = f"{kind}-{number}-{count}"
            count += 1
            if chance.random() < 0.3:
                caller.move()
            if getattr(self, "do_" + kind)(caller, chance, name):
                mine.append(name)
            self.over.wait(chance.random() * 0.05)
        caller.leave()

    def started(self, caller, kind, name, arguments, plan):
        """Starts a workflow. None: everything is over."""
        status, answer = caller.ask("POST", "/api/workflows", {
            "workflow_type": kind, "workflow_id": name, "task_queue": QUEUE, "request_id": "start-" + name,
            "input": arguments if kind.startswith("py_") else {"codec": "json", "blob": json.dumps(arguments)}})
        if status is None:
            return None
        assert status in (200, 201), (name, status, answer)
        self.told[name] = dict(plan, type=kind, run_id=answer["run_id"])
        return self.told[name]

    def signalled(self, caller, name, number, told):
        status, answer = caller.ask("POST", f"/api/workflows/{name}/signal/add",
                                    {"input": [number], "request_id": f"signal-{name}-{number}"})
        if status is None:
            return False
        assert status in (200, 202), (name, number, status, answer)
        told["signals"].append(number)
        return True

    def updated(self, caller, name, number, told):
        status, answer = caller.ask("POST", f"/api/workflows/{name}/update/put", {
            "input": [number], "request_id": f"update-{name}-{number}", "wait_for": "completed", "wait_timeout_seconds": 2})
        if status is None:
            return False
        assert status in (200, 202), (name, number, status, answer)
        told["updates"].append(number)
        if status == 200:
            told["answers"][number] = answer["result"]
        return True

    def do_counter(self, caller, chance, name):
        signals, updates = chance.randint(1, SIGNALS_MAX), chance.randint(0, 3)
        told = self.started(caller, "counter", name, {"signals": signals, "updates": updates},
                            {"signals": [], "updates": [], "answers": {}})
        todo = [(self.signalled, i + 1) for i in range(signals)]
        for i in range(updates):
            todo.insert(chance.randint(0, len(todo)), (self.updated, i))
        # Updates in the order of their numbers, so that their place among each other is known.
        numbers = iter(range(1, updates + 1))
        for act, number in todo:
            if told is None or not act(caller, name, next(numbers) if act == self.updated else number, told):
                return False
        return True

    def do_fan(self, caller, chance, name):
        width = chance.choice([1, 4, 16, 40])
        return self.started(caller, "fan", name, {"width": width}, {"width": width})

    def do_naps(self, caller, chance, name):
        naps = chance.randint(1, 4)
        return self.started(caller, "naps", name, {"naps": naps}, {"naps": naps})

    def do_family(self, caller, chance, name):
        kids = chance.randint(1, 4)
        return self.started(caller, "family", name, {"kids": kids}, {"kids": kids})

    def do_chain(self, caller, chance, name):
        length = chance.randint(1, 5)
        told = self.started(caller, "chain", name, {"left": length, "got": []}, {"length": length, "signals": []})
        return told and all(self.signalled(caller, name, i + 1, told) for i in range(length))

    def do_endless(self, caller, chance, name):
        verb = chance.choice(["cancel", "terminate"])
        told = self.started(caller, "endless", name, {}, {"ended_by": verb})
        self.over.wait(chance.random() * 0.5)
        if not told:
            return None
        status, answer = caller.ask("POST", f"/api/workflows/{name}/{verb}", {"request_id": f"{verb}-{name}"})
        assert status in (None, 200, 202), (name, status, answer)
        return status is not None

    def do_py_mail(self, caller, chance, name):
        wanted = chance.randint(1, 5)
        told = self.started(caller, "py_mail", name, [wanted], {"signals": []})
        return told and all(self.signalled(caller, name, i + 1, told) for i in range(wanted))

    def do_py_fan(self, caller, chance, name):
        width = chance.randint(1, 8)
        return self.started(caller, "py_fan", name, [width], {"width": width})

    # ---- faults: each returns how often it took effect

    def kill_server(self, chance):
        node = chance.choice(self.nodes)
        bitten = node.kill()
        self.over.wait(chance.random() * 1.0)
        node.start()
        return int(bitten)

    def kill_worker(self, chance):
        worker = chance.choice(self.workers)
        bitten = worker.kill()
        self.over.wait(chance.random() * 0.5)
        worker.start()
        return int(bitten)

    def kill_postgres(self, chance):
        bitten = self.postgres.kill()
        self.over.wait(chance.random() * 1.0)
        self.postgres.start()
        return int(bitten)

    def epochs(self):
        return int(self.postgres.ask("select sum(epoch) from holdfast.shard") or 0) if self.postgres else 0

    def pause(self, process):
        process.tell(signal.SIGSTOP)
        before = self.epochs()
        until = time.monotonic() + PAUSE_S
        stopped = True
        while time.monotonic() < until and not self.over.is_set():
            time.sleep(0.1)
            stopped = stopped and process.state() == "T"
        moved = self.epochs() - before
        process.tell(signal.SIGCONT)
        return stopped, moved

    def pause_server(self, chance):
        """With two nodes it counts only when the other took shards over meanwhile."""
        stopped, moved = self.pause(chance.choice(self.nodes))
        return int(stopped and (moved > 0 or not self.postgres))

    def pause_worker(self, chance):
        return int(self.pause(chance.choice(self.workers))[0])

    def network(self, gate, mode, seconds, ms=0):
        before = self.proxy.count(gate, mode)
        self.proxy.set(gate, mode, ms)
        self.over.wait(seconds)
        after = self.proxy.count(gate, mode)
        self.proxy.set(gate, "pass")
        return after - before

    def gate(self, chance, side):
        return f"{side}-{chance.randrange(len(self.servers) if side == 'http' else 2)}"

    def delay(self, chance, side):
        return self.network(self.gate(chance, side), "delay", 1 + chance.random(), chance.choice([20, 100, 400]))

    def cut(self, chance, side):
        return self.network(self.gate(chance, side), "cut", 0.5 + chance.random())

    def dribble(self, chance, side):
        return self.network(self.gate(chance, side), "dribble", 1 + chance.random())

    def hold(self, chance, side):
        return self.network(self.gate(chance, side), "hold", chance.choice([1, PAUSE_S]))

    def pg_hold_commit(self, chance):
        """A COMMIT is held on its way until the lease of its node is over; then it goes on."""
        before = self.epochs()
        held = self.network(self.gate(chance, "pg"), "hold_commit", PAUSE_S + 1)
        return held if self.epochs() > before else 0

    def full_disk(self, chance):
        """Until a client was told, and a moment longer."""
        def told():
            return sum(count for what, count in self.answers.items() if what.startswith("507") or "full" in what)
        before = told()
        ballast = os.path.join(self.disk, "ballast")
        until = time.monotonic() + 6
        fd = os.open(ballast, os.O_WRONLY | os.O_CREAT)
        try:
            while time.monotonic() < until and told() == before and not self.over.is_set():
                try:
                    while os.write(fd, bytes(1 << 16)):
                        pass
                except OSError:
                    pass
                self.over.wait(0.05)
            self.over.wait(0.5 * chance.random())
        finally:
            os.close(fd)
            os.unlink(ballast)
        if self.postgres and not self.postgres.alive():  # it gives up when it cannot write its log
            self.postgres.end_all()
            self.postgres.start()
        return told() - before

    def kinds(self):
        """Two lanes of faults that overlap: of processes, and of what is between and under them."""
        lanes = [{"kill_server": self.kill_server, "kill_worker": self.kill_worker, "pause_server": self.pause_server,
                  "pause_worker": self.pause_worker}, {}]
        for side in ("http", "pg") if self.postgres else ("http",):
            for mode in (self.delay, self.cut, self.dribble, self.hold):
                lanes[1][f"{side}_{mode.__name__}"] = lambda chance, mode=mode, side=side: mode(chance, side)
        if self.postgres:
            lanes[0]["kill_postgres"] = self.kill_postgres
            lanes[1]["pg_hold_commit"] = self.pg_hold_commit
        if self.disk:
            lanes[1]["full_disk"] = self.full_disk
        only = os.environ.get("HF_CHAOS_FAULTS")
        if only:
            lanes = [{kind: fault for kind, fault in lane.items() if kind in only.split(",")} for lane in lanes]
        return lanes

    def strike(self, kind, fault, chance):
        with self.ends_postgres if kind in ("kill_postgres", "full_disk") else contextlib.nullcontext():
            self.note(f"{kind} begins")
            if kind == "full_disk" and self.postgres:
                self.postgres.wanted = False
            count = fault(chance)
            if kind == "full_disk" and self.postgres:
                self.postgres.wanted = True
        self.bites[kind] += count
        self.note(f"{kind} ends, took effect {count} times")

    def lane(self, number, kinds):
        """All kinds in an order from the seed, again and again; those that had no effect once more at the end."""
        chance = random.Random(f"{self.seed}/faults/{number}")
        until = self.began_faults + self.seconds
        waiting = []
        while time.monotonic() < until and not self.over.is_set() and kinds:
            if not waiting:
                waiting = chance.sample(sorted(kinds), len(kinds))
            kind = waiting.pop()
            self.strike(kind, kinds[kind], chance)
            self.over.wait(0.1 + chance.random() * 0.3)
        for _ in range(3):
            for kind in kinds:
                if not self.bites[kind] and not self.over.is_set():
                    self.strike(kind, kinds[kind], chance)

    # ---- the whole

    def progress(self):
        self.say(f"{len(self.told)} workflows, {len(self.closed)} seen closed; faults: " +
                 (", ".join(f"{kind} {count}" for kind, count in sorted(self.bites.items())) or "none yet"))

    def work(self):
        self.began_faults = time.monotonic()
        clients = [self.begin(self.client, i) for i in range(CLIENTS)]
        kinds = self.kinds()
        lanes = [self.begin(self.lane, i, lane) for i, lane in enumerate(kinds)]
        shown = time.monotonic()
        while any(lane.is_alive() for lane in lanes):
            time.sleep(0.1)
            self.look()
            if time.monotonic() - shown >= 5:
                shown = time.monotonic()
                self.progress()
        self.enough.set()
        self.progress()
        self.look()
        never = [kind for lane in kinds for kind in lane if not self.bites[kind]]
        if never:
            raise check.Wrong(f"never took effect: {', '.join(never)}")
        self.settle(clients)

    def settle(self, clients):
        """Faults are over: every client gets its answers, every workflow its end."""
        seen, moved, shown = None, time.monotonic(), time.monotonic()
        while any(client.is_alive() for client in clients):
            time.sleep(0.1)
            self.look()
            now = time.monotonic()
            if len(self.closed) != seen:
                seen, moved = len(self.closed), now
            if now - shown >= 5:
                shown = now
                self.progress()
            if now - moved > PATIENCE_S:
                raise check.Wrong(self.stuck())
        self.say("all is closed")

    def stuck(self):
        caller = Caller([server.port for server in self.servers], timeout=5)
        text = f"nothing moves for {PATIENCE_S:.0f} s:\n"
        try:
            _, runs = caller.once("GET", "/api/workflows?status=running&page_size=200")
            text += f"{len(runs['workflows'])} runs are open\n"
            for run in runs["workflows"][:20]:
                _, seen = caller.once("GET", f"/console/api/runs/{run['workflow_id']}/why")
                text += f"{run['workflow_id']}: {json.dumps(seen['why'])[:400]}\n"
        except (OSError, ValueError, KeyError) as error:
            text += f"the server does not say why: {error}\n"
        return text

    def judge(self):
        caller = self.caller(0)
        effects = check.Effects(self.effects)
        counts, wrong = check.check_all(caller.ask, self.told, effects)
        caller.leave()
        self.say(f"checked {counts['workflows']} workflows, {counts['runs']} runs, {counts['events']} events, "
                 f"{counts['results']} results of {effects.count} attempts; the most memory: " + ", ".join(
                     f"{process.name} {process.rss} MB" for process in self.processes if process.rss))
        if self.answers:
            self.say("answers to clients: " + ", ".join(f"{what} {count}" for what, count in sorted(self.answers.items())))
        if wrong:
            raise check.Wrong(f"{len(wrong)} workflows are wrong:\n" + "\n".join(wrong[:20]))

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(10)
        for worker in self.workers:
            if self.registered[worker].startswith("py-"):
                worker.wanted = False
                worker.tell(signal.SIGTERM)
            else:
                worker.stop()
        for node in self.nodes:
            node.stop()
        for verb in ("verify", "doctor"):
            done = subprocess.run([os.path.join(self.build, "holdfast"), verb, self.store], capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                raise check.Wrong(f"{verb} says {done.returncode}:\n{done.stdout[:6000]}{done.stderr[:2000]}")
        self.say("verify and doctor find nothing")

    def end(self, keep):
        self.over.set()
        for process in self.processes:
            if process is not self.postgres:
                process.end()
        if keep:
            self.keep()
        if self.postgres:
            self.postgres.end()
        self.proxy.end()
        self.journal.close()
        if self.disk:
            subprocess.run(["umount", "-l", self.disk], check=False)

    def keep(self):
        """The store, what clients were told and what activities did, beside the logs."""
        with open(os.path.join(self.logs, "told.json"), "w", encoding="utf-8") as file:
            json.dump(self.told, file, indent=1)
        if os.path.exists(self.effects):
            shutil.copy(self.effects, self.logs)
        if self.store_kind == "sqlite" and self.store:
            for suffix in ("", "-wal"):
                if os.path.exists(self.store + suffix):
                    shutil.copy(self.store + suffix, self.logs)
        elif self.postgres and self.postgres.alive():
            subprocess.run(["pg_dump", "-f", os.path.join(self.logs, "store.sql"), "-d", self.address(self.postgres.port)],
                           check=False, capture_output=True, timeout=60)


def own_mounts():
    """Begins again in a name space of mounts of its own, so that a small disk goes with it; where that is allowed."""
    if os.environ.get("CHAOS_MOUNTS") or os.getuid() != 0 or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0:
        os.environ["CHAOS_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--store", choices=("sqlite", "postgres", "mixed", "divided"), default="sqlite")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("HF_CHAOS_SECONDS", "30")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HF_CHAOS_SEED", SEED_DEFAULT)))
    parser.add_argument("--venv")
    parser.add_argument("--logs", default="build/chaos")
    args = parser.parse_args()
    own_mounts()
    logs = os.path.join(os.path.abspath(args.logs), f"{args.seed}-{args.store}")
    shutil.rmtree(logs, ignore_errors=True)
    os.makedirs(logs)
    failed = 0
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    print(f"chaos on {args.store}, {args.seconds:g} s of faults; again with: "
          f"HF_CHAOS_SEED={args.seed} HF_CHAOS_SECONDS={args.seconds:g} {' '.join(sys.argv)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        chaos = Chaos(args, folder, logs)
        try:
            chaos.make(args.venv)
            chaos.work()
            chaos.judge()
            chaos.stop()
        except (check.Wrong, Ended) as what:
            failed = 1
            print(f"chaos_{args.store} (HF_CHAOS_SEED={args.seed}): {what}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed = 1
            print(f"chaos_{args.store} (HF_CHAOS_SEED={args.seed}):\n{traceback.format_exc()}", flush=True)
        chaos.end(keep=failed)
    if failed:
        print(f"logs and store are in {logs}")
    else:
        shutil.rmtree(logs, ignore_errors=True)
    print(f"{100 - 100 * failed}%: Checks: 1, Failures: {failed}, Errors: 0")
    return failed


if __name__ == "__main__":
    sys.exit(main())
