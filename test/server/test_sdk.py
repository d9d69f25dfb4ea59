#!/usr/bin/env python3
"""test_sdk.py: the official Python SDK, unmodified, runs its workflows and activities against `holdfast serve`.

    test_sdk.py --build DIR --venv DIR

The SDK is installed into a virtual environment on the first run. The newest release that speaks worker protocol 1.13 or
older is pinned: later ones refuse servers that advertise less than what they were built for. The last line is Check's
summary, for run_programs.py.
"""
import argparse
import asyncio
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

SDK = "durable-workflow==2.0.0rc34"
LIMIT_S = 60


# ---- the environment


def interpreters():
    yield sys.executable
    for name in ("python3", "/usr/bin/python3"):
        found = shutil.which(name)
        if found:
            yield found


def environment(folder):
    """The interpreter of the virtual environment, made when it is not there; by one program at a time."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return environment_make(folder)


def environment_make(folder):
    python = os.path.join(folder, "bin", "python")
    ready = os.path.join(folder, "ready-" + SDK)
    if os.path.exists(ready):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    for interpreter in interpreters():
        made = subprocess.run([interpreter, "-m", "venv", folder], capture_output=True, text=True, check=False)
        if made.returncode == 0:
            break
    else:
        sys.exit("no interpreter here can make a virtual environment; install python3-venv\n" + made.stderr)
    subprocess.run([python, "-m", "pip", "install", "-q", SDK], check=True, timeout=300)
    with open(ready, "w", encoding="utf-8"):
        pass
    return python


# ---- the server


class Server:
    """`holdfast serve` on a store of its own and a port of its own."""

    def __init__(self, build, folder):
        self.build = build
        self.store = os.path.join(folder, "sdk.db")
        self.port = 0
        self.process = None

    def start(self):
        listen = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [os.path.join(self.build, "holdfast"), "serve", self.store, "--auth", "none", "--listen", listen],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        assert " at http://" in line, f"the server did not start: {line!r}"
        self.port = int(line.strip().rsplit(":", 1)[1])

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=LIMIT_S) == 0
        done = subprocess.run([os.path.join(self.build, "holdfast"), "verify", self.store],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def events(self, handle):
        request = urllib.request.Request(
            f"{self.url()}/api/workflows/{handle.workflow_id}/runs/{handle.run_id}/history",
            headers={"X-Durable-Workflow-Control-Plane-Version": "2"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["events"]


# ---- what the SDK does; inside the environment


def inside(build):  # pylint: disable=too-many-locals,too-many-statements
    from durable_workflow import Client, Worker, activity, serializer, workflow
    from durable_workflow.errors import QueryFailed, UpdateRejected

    tries = {}

    @activity.defn(name="greet")
    def greet(name: str) -> str:
        return "hello " + name

    @activity.defn(name="flaky")
    def flaky(key: str) -> int:
        tries[key] = tries.get(key, 0) + 1
        if tries[key] < 3:
            raise RuntimeError("not yet")
        return tries[key]

    @workflow.defn(name="sequence")
    class Sequence:
        def run(self, ctx, name: str):
            first = yield ctx.schedule_activity("greet", [name])
            yield ctx.sleep(1)
            both = yield [ctx.schedule_activity("greet", ["x"]), ctx.schedule_activity("greet", ["y"])]
            return [first] + both

    @workflow.defn(name="mailbox")
    class Mailbox:
        def __init__(self):
            self.got = []

        @workflow.signal("add")
        def add(self, number: int):
            self.got.append(number)

        @workflow.update("bump")
        def bump(self, by: int):
            self.got.append(by)
            return len(self.got)

        @bump.validator
        def bump_check(self, by: int):
            if by > 100:
                raise ValueError("at most 100")

        @workflow.query("numbers")
        def numbers(self, first: int = 0):
            return self.got[first:]

        def run(self, ctx):
            full = yield ctx.wait_condition(lambda: len(self.got) >= 3, key="three")
            return {"full": full, "got": self.got}

    @workflow.defn(name="impatient")
    class Impatient:
        def run(self, ctx):
            done = yield ctx.wait_condition(lambda: False, key="never", timeout=1)
            return done

    @workflow.defn(name="leaf")
    class Leaf:
        def run(self, ctx, number: int):
            more = yield ctx.side_effect(lambda: number + 1)
            return more

    @workflow.defn(name="tree")
    class Tree:
        def run(self, ctx):
            one = yield ctx.start_child_workflow("leaf", [1])
            two = yield [ctx.start_child_workflow("leaf", [10]), ctx.start_child_workflow("leaf", [20])]
            return [one] + two

    @workflow.defn(name="again")
    class Again:
        def run(self, ctx, number: int):
            yield ctx.schedule_activity("greet", ["x"])
            if number < 3:
                return ctx.continue_as_new(number + 1)
            return number

    @workflow.defn(name="stubborn")
    class Stubborn:
        def run(self, ctx, key: str):
            count = yield ctx.schedule_activity(
                "flaky", [key], retry_policy={"max_attempts": 5, "backoff_seconds": [0, 0]})
            return count

    @workflow.defn(name="broken")
    class Broken:
        def run(self, ctx):
            raise ValueError("broken on purpose")

    @workflow.defn(name="versioned")
    class Versioned:
        def run(self, ctx):
            version = yield ctx.get_version("change", -1, 2)
            yield ctx.upsert_search_attributes({"stage": "done"})
            return version

    types = [Sequence, Mailbox, Impatient, Leaf, Tree, Again, Stubborn, Broken, Versioned]

    class Session:
        """One server with one client and one worker."""

        def __init__(self, folder):
            self.server = Server(build, folder)

        async def __aenter__(self):
            self.server.start()
            self.client = Client(self.server.url(), namespace="default")
            await self.work()
            return self

        async def __aexit__(self, *_):
            await self.rest()
            await self.client.aclose()
            self.server.stop()

        async def work(self):
            self.worker = Worker(self.client, task_queue="default", workflows=types, activities=[greet, flaky],
                                 worker_id=f"py-{time.monotonic_ns()}")
            self.task = asyncio.create_task(self.worker.run())
            await asyncio.sleep(0.5)

        async def rest(self):
            await self.worker.stop()
            self.task.cancel()

        async def start(self, kind, *arguments):
            return await self.client.start_workflow(workflow_type=kind, workflow_id=f"{kind}-{time.monotonic_ns()}",
                                                    task_queue="default", input=list(arguments))

        async def end(self, handle):
            """The type and payload of the event that closed the run."""
            limit = time.monotonic() + LIMIT_S
            while time.monotonic() < limit:
                last = self.server.events(handle)[-1]
                if last["type"] in ("WorkflowCompleted", "WorkflowFailed", "WorkflowContinuedAsNew"):
                    return last["type"], last["payload"]
                await asyncio.sleep(0.1)
            raise AssertionError(f"{handle.workflow_id} did not end: {[e['type'] for e in self.server.events(handle)]}")

        async def until(self, done):
            limit = time.monotonic() + LIMIT_S
            while not done():
                assert time.monotonic() < limit, "it did not happen"
                await asyncio.sleep(0.05)

        async def result(self, handle):
            kind, payload = await self.end(handle)
            assert kind == "WorkflowCompleted", payload
            return serializer.decode_envelope(payload["output"], codec="avro")

    async def steps(s):
        assert await s.result(await s.start("sequence", "ada")) == ["hello ada", "hello x", "hello y"]

    async def messages(s):
        handle = await s.start("mailbox")
        for number in (1, 2):
            await s.client.signal_workflow(handle.workflow_id, "add", args=[number])
        await asyncio.sleep(1)
        answer = await s.client.update_workflow(handle.workflow_id, "bump", args=[7])
        assert answer["update_status"] == "completed", answer
        assert await s.result(handle) == {"full": True, "got": [1, 2, 7]}

    async def questions(s):
        """Queries of open and closed runs, and an update that its validator refuses."""
        handle = await s.start("mailbox")
        await s.client.signal_workflow(handle.workflow_id, "add", args=[5])
        await s.until(lambda: "SignalApplied" in [e["type"] for e in s.server.events(handle)])
        assert (await s.client.query_workflow(handle.workflow_id, "numbers"))["result"] == [5]
        try:
            await s.client.update_workflow(handle.workflow_id, "bump", args=[101], wait_for="completed")
            raise AssertionError("the validator was not asked")
        except UpdateRejected as refused:
            assert "at most 100" in str(refused), refused
        for number in (6, 7):
            answer = await s.client.update_workflow(handle.workflow_id, "bump", args=[number], wait_for="completed")
            assert answer["update_status"] == "completed", answer
        assert await s.result(handle) == {"full": True, "got": [5, 6, 7]}
        assert await handle.query("numbers", [1]) == await s.client.query_workflow(handle.workflow_id, "numbers", args=[1])
        assert (await s.client.query_workflow(handle.workflow_id, "numbers", args=[1]))["result"] == [6, 7]
        try:
            await s.client.query_workflow(handle.workflow_id, "nothing")
            raise AssertionError("an unknown query was answered")
        except QueryFailed as refused:
            assert refused.status == 404, refused

    async def timeouts(s):
        assert await s.result(await s.start("impatient")) is False

    async def children(s):
        assert await s.result(await s.start("tree")) == [2, 11, 21]

    async def continuing(s):
        handle = await s.start("again", 1)
        kind, _ = await s.end(handle)
        assert kind == "WorkflowContinuedAsNew"

    async def retries(s):
        assert await s.result(await s.start("stubborn", "a")) == 3

    async def failures(s):
        kind, payload = await s.end(await s.start("broken"))
        assert kind == "WorkflowFailed" and "broken on purpose" in payload["message"], payload

    async def versions(s):
        assert await s.result(await s.start("versioned")) == 2

    async def reads(s):
        """What the SDK asks about runs: description, list, result."""
        handle = await s.start("sequence", "eve")
        assert await handle.result(timeout=LIMIT_S) == ["hello eve", "hello x", "hello y"]
        seen = await s.client.describe_workflow(handle.workflow_id)
        assert seen.status == "completed" and seen.input == ["eve"] and seen.workflow_type == "sequence", seen
        listed = await s.client.list_workflows()
        assert handle.workflow_id in [one.workflow_id for one in listed.executions]

    async def restarts(s):
        """A worker that goes and one that comes, and a server that is killed, lose nothing."""
        handle = await s.start("sequence", "bob")
        await asyncio.sleep(0.5)
        await s.rest()
        s.server.kill()
        s.server.start()
        await s.work()
        assert await s.result(handle) == ["hello bob", "hello x", "hello y"]

    cases = (steps, messages, questions, timeouts, children, continuing, retries, failures, versions, reads, restarts)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        async def run():
            async with Session(folder) as s:
                for case in cases:
                    try:
                        await asyncio.wait_for(case(s), LIMIT_S)
                    except Exception:  # pylint: disable=broad-except
                        failed.append(f"{case.__name__}:\n{traceback.format_exc()}")
        asyncio.run(run())
    print("\n".join(failed))
    good = 100 * (len(cases) - len(failed)) // len(cases)
    print(f"{good}%: Checks: {len(cases)}, Failures: {len(failed)}, Errors: 0")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--venv")
    parser.add_argument("--inside", action="store_true")
    args = parser.parse_args()
    if args.inside:
        return inside(args.build)
    python = environment(args.venv)
    return subprocess.run([python, os.path.abspath(__file__), "--inside", "--build", args.build], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
