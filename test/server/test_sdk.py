#!/usr/bin/env python3
"""test_sdk.py: the official Python SDK, unmodified, runs its workflows and activities against `holdfast serve`.

    test_sdk.py --build DIR --venv DIR [--sdk VERSION]

The SDK is installed into a virtual environment on the first run: the release that clients.json pins as the newest, or
another. The last line is Check's summary, for run_programs.py.
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

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients.json"), encoding="utf-8") as pins:
    CLIENTS = json.load(pins)
LIMIT_S = 60


# ---- the environment


def interpreters():
    yield sys.executable
    for name in ("python3", "/usr/bin/python3"):
        found = shutil.which(name)
        if found:
            yield found


def environment(folder, version=CLIENTS["python"]):
    """The interpreter of the virtual environment, made when it is not there; by one program at a time."""
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return environment_make(folder, version)


def environment_make(folder, version):
    python = os.path.join(folder, "bin", "python")
    ready = os.path.join(folder, "ready-" + version)
    if os.path.exists(ready):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    for interpreter in interpreters():
        made = subprocess.run([interpreter, "-m", "venv", folder], capture_output=True, text=True, check=False)
        if made.returncode == 0:
            break
    else:
        sys.exit("no interpreter here can make a virtual environment; install python3-venv\n" + made.stderr)
    # What the SDK needs is named apart: its own bound on certifi can be ahead of what the index has.
    for what in (["--no-deps", "durable-workflow==" + version], CLIENTS["python_needs"]):
        subprocess.run([python, "-m", "pip", "install", "-q", *what], check=True, timeout=300)
    with open(ready, "w", encoding="utf-8"):
        pass
    return python


# ---- the server


class Server:
    """`holdfast serve`, or a program with C code in it, on a store of its own and a port of its own."""

    def __init__(self, build, folder, host=False):
        self.build = build
        self.store = os.path.join(folder, "host.db" if host else "sdk.db")
        self.host = host
        self.port = 0
        self.process = None

    def start(self):
        serve = [os.path.join(self.build, "holdfast"), "serve", self.store, "--auth", "none", "--listen",
                 f"127.0.0.1:{self.port}"]
        host = [os.path.join(self.build, "test", "sdk_host"), self.store]
        self.process = subprocess.Popen(host if self.host else serve, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
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

    def ask(self, path):
        request = urllib.request.Request(self.url() + path, headers={"X-Durable-Workflow-Control-Plane-Version": "2"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def events(self, handle):
        return self.ask(f"/api/workflows/{handle.workflow_id}/runs/{handle.run_id}/history")["events"]


# ---- what the SDK does; inside the environment


def inside(build):  # pylint: disable=too-many-locals,too-many-statements
    from durable_workflow import ChildWorkflowRetryPolicy, Client, Worker, activity, serializer, workflow
    from durable_workflow.client import ScheduleAction, ScheduleSpec
    from durable_workflow.errors import (ActivityCancelled, DurableWorkflowError, QueryFailed, ScheduleNotFound,
                                         UpdateRejected, WorkflowFailed)
    from durable_workflow.workflow import Replayer

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

    @activity.defn(name="breaks")
    def breaks() -> str:
        raise ValueError("always")

    beats = {}

    @activity.defn(name="patient")
    async def patient(key: str) -> str:
        """Shows that it lives until it is told to stop."""
        beats[key] = 0
        try:
            for _ in range(600):
                await activity.context().heartbeat({"beat": beats[key]})
                beats[key] += 1
                await asyncio.sleep(0.05)
        except ActivityCancelled:
            beats[key] = "cancelled"
            raise
        return "not cancelled"

    released = set()

    @activity.defn(name="held")
    async def held(key: str) -> str:
        while key not in released:
            await asyncio.sleep(0.02)
        return key

    @workflow.defn(name="busy")
    class Busy:
        def __init__(self):
            self.got = []

        @workflow.signal("add")
        def add(self, number: int):
            self.got.append(number)

        @workflow.update("bump")
        def bump(self, by: int):
            self.got.append(by)
            return len(self.got)

        def run(self, ctx, key: str):
            yield ctx.schedule_activity("held", [key])
            yield ctx.wait_condition(lambda: len(self.got) >= 3, key="three")
            return self.got

    @workflow.defn(name="waits_long")
    class WaitsLong:
        def run(self, ctx, key: str):
            result = yield ctx.schedule_activity("patient", [key], heartbeat_timeout=30)
            return result

    @workflow.defn(name="py_doubles")
    class Doubles:
        def run(self, ctx, number: int):
            result = yield ctx.schedule_activity("c_twice", [number])
            return result

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

    @workflow.defn(name="wobbly")
    class Wobbly:
        def run(self, ctx, key: str):
            count = yield ctx.side_effect(lambda: tries.setdefault(key, 0) + 1)
            tries[key] = count
            if count < 2:
                raise ValueError("not yet")
            return count

    @workflow.defn(name="carer")
    class Carer:
        def run(self, ctx, key: str, never: list):
            policy = ChildWorkflowRetryPolicy(non_retryable_error_types=never)
            count = yield ctx.start_child_workflow("wobbly", [key], retry_policy=policy)
            return count

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

    types = [Busy, WaitsLong, Doubles, Sequence, Mailbox, Impatient, Leaf, Tree, Wobbly, Carer, Again, Stubborn, Broken, Versioned]

    class Session:
        """One server with one client and one worker."""

        def __init__(self, folder, host=False):
            self.folder = folder
            self.server = Server(build, folder, host)

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
            self.worker = Worker(self.client, task_queue="default", workflows=types, activities=[greet, flaky, breaks, held, patient],
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
        await s.until(lambda: sum(e["type"] == "SignalApplied" for e in s.server.events(handle)) == 2)
        answer = await s.client.update_workflow(handle.workflow_id, "bump", args=[7])
        assert answer["update_status"] == "completed", answer
        assert await s.result(handle) == {"full": True, "got": [1, 2, 7]}

    async def while_busy(s):
        """Signals and updates are applied while the code waits for an activity, in their order, and it fails nothing."""
        handle = await s.start("busy", "a")
        await s.until(lambda: "ActivityStarted" in [e["type"] for e in s.server.events(handle)])
        for number in (1, 2):
            await s.client.signal_workflow(handle.workflow_id, "add", args=[number])
        await s.until(lambda: sum(e["type"] == "SignalApplied" for e in s.server.events(handle)) == 2)
        updated = await s.client.update_workflow(handle.workflow_id, "bump", args=[7], wait_for="completed")
        assert updated["update_status"] == "completed", updated
        applied = [e["payload"]["value"] for e in s.server.events(handle) if e["type"] == "SignalApplied"]
        assert [serializer.decode_envelope(value, codec="avro") for value in applied] == [[1], [2]], applied
        assert "ActivityCompleted" not in [e["type"] for e in s.server.events(handle)]
        released.add("a")
        assert await s.result(handle) == [1, 2, 7]
        seen = s.server.ask("/api/workflows/" + handle.workflow_id)
        assert not [task for task in seen["tasks"] if task.get("failure_count")], seen["tasks"]

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
        """Three generations under one id; the last one has the result."""
        handle = await s.start("again", 1)
        kind, _ = await s.end(handle)
        assert kind == "WorkflowContinuedAsNew"
        newest = s.client.get_workflow_handle(handle.workflow_id)
        assert await newest.result(timeout=LIMIT_S) == 3
        seen = await s.client.describe_workflow(handle.workflow_id)
        assert seen.run_id != handle.run_id and seen.status == "completed", seen

    async def retries(s):
        assert await s.result(await s.start("stubborn", "a")) == 3

    async def child_retries(s):
        """The default policy of a child: 1 s before its second run; and a failure type that ends it at once."""
        handle = await s.start("carer", "kid", [])
        assert await s.result(handle) == 2
        begun = [e["payload"] for e in s.server.events(handle) if e["type"] == "ChildRunStarted"]
        assert [one.get("retry_backoff_seconds") for one in begun] == [None, 1], begun
        kind, payload = await s.end(await s.start("carer", "kid-2", ["ValueError"]))
        assert kind == "WorkflowFailed" and tries["kid-2"] == 1, payload

    async def failures(s):
        kind, payload = await s.end(await s.start("broken"))
        assert kind == "WorkflowFailed" and "broken on purpose" in payload["message"], payload

    async def versions(s):
        """A version marker is recorded, and search attributes that the code sets are shown."""
        handle = await s.start("versioned")
        assert await s.result(handle) == 2
        kinds = [e["type"] for e in s.server.events(handle)]
        assert "VersionMarkerRecorded" in kinds and "SearchAttributesUpserted" in kinds, kinds
        seen = await s.client.describe_workflow(handle.workflow_id)
        assert seen.search_attributes == {"stage": "done"}, seen

    async def eventually(ask, done):
        """Asks until the answer is as it should be."""
        limit = time.monotonic() + LIMIT_S
        while True:
            seen = await ask()
            if done(seen):
                return seen
            assert time.monotonic() < limit, seen
            await asyncio.sleep(0.1)

    async def schedules(s):
        """A schedule fires by itself, and its runs are worked on; one goes after its only run, one is filled in
        backwards."""
        c = s.client
        plan = await c.create_schedule(schedule_id="often", spec=ScheduleSpec(intervals=[{"every": "PT1S"}]),
                                       action=ScheduleAction(workflow_type="leaf", task_queue="default", input=[5]),
                                       overlap_policy="allow_all", note="often")
        seen = await eventually(plan.describe, lambda one: one.fires_count >= 2)
        assert seen.note == "often", seen
        await c.create_schedule(schedule_id="once", spec=ScheduleSpec(intervals=[{"every": "PT1S"}]), max_runs=1,
                                action=ScheduleAction(workflow_type="leaf", task_queue="default", input=[5]))
        run = c.get_workflow_handle(seen.latest_workflow_instance_id)
        assert await run.result(timeout=LIMIT_S) == 6
        past = await c.create_schedule(schedule_id="past", spec=ScheduleSpec(cron_expressions=["0 3 * * *"]), paused=True,
                                       action=ScheduleAction(workflow_type="leaf", task_queue="default", input=[6]))
        filled = await c.backfill_schedule("past", start_time="2026-01-01T00:00:00Z", end_time="2026-01-03T00:00:00Z",
                                           overlap_policy="allow_all")
        assert filled.fires_attempted == 2, filled
        await c.update_schedule("past", note="later")
        assert (await past.describe()).note == "later"
        kinds = [one.event_type for one in (await c.get_schedule_history("past")).events]
        assert kinds.count("ScheduleTriggered") == 2, kinds
        await eventually(c.list_schedules, lambda all: "once" not in [one.schedule_id for one in all.schedules])
        assert (await c.get_schedule_history("once")).events[-1].event_type == "ScheduleDeleted"
        for one in (plan, past):
            await one.delete()
        try:
            await past.describe()
            raise AssertionError("a deleted schedule was described")
        except ScheduleNotFound:
            pass

    async def standalone(s):
        """An activity without a workflow: retried, described, refused twice under one id, failed."""
        c = s.client
        solo = await c.start_activity(activity_type="flaky", task_queue="default", activity_id="solo-1", input=["solo"],
                                      business_key="b-1", retry_policy={"max_attempts": 5, "backoff_seconds": [0, 0]})
        assert await solo.result(timeout=LIMIT_S) == 3
        seen = await c.describe_activity("solo-1")
        assert (seen.status, seen.activity_status, seen.activity_type) == ("completed", "completed", "flaky"), seen
        assert seen.attempt_count == 3 and seen.business_key == "b-1", seen
        late = await c.start_activity(activity_type="breaks", task_queue="default", retry_policy={"max_attempts": 1})
        try:
            await late.result(timeout=LIMIT_S)
            raise AssertionError("a failed activity has a result")
        except WorkflowFailed:
            pass
        long = await c.start_activity(activity_type="patient", task_queue="default", activity_id="solo-2", input=["solo"],
                                      heartbeat_timeout_seconds=30)
        try:
            await c.start_activity(activity_type="patient", task_queue="default", activity_id="solo-2", input=["solo"])
            raise AssertionError("two activities of one id are open")
        except DurableWorkflowError:
            pass
        await s.until(lambda: beats.get("solo", 0) != 0)
        await c.cancel_workflow(long.activity_id, reason="enough")
        await s.until(lambda: beats["solo"] == "cancelled")

    async def reads(s):
        """What the SDK asks about runs: description, list, result."""
        handle = await s.start("sequence", "eve")
        assert await handle.result(timeout=LIMIT_S) == ["hello eve", "hello x", "hello y"]
        seen = await s.client.describe_workflow(handle.workflow_id)
        assert seen.status == "completed" and seen.input == ["eve"] and seen.workflow_type == "sequence", seen
        listed = await s.client.list_workflows()
        assert handle.workflow_id in [one.workflow_id for one in listed.executions]

    async def cancelling(s):
        """An activity that heartbeats learns that its run was cancelled."""
        handle = await s.start("waits_long", "k")
        await s.until(lambda: beats.get("k", 0) != 0)
        await s.client.cancel_workflow(handle.workflow_id, reason="enough")
        await s.until(lambda: beats["k"] == "cancelled")
        assert "ActivityHeartbeatRecorded" in [e["type"] for e in s.server.events(handle)]
        assert (await s.client.describe_workflow(handle.workflow_id)).status == "cancelled"

    async def bundles(s):
        """What is exported passes the SDK's own verifiers, and its replay agrees with its history."""
        handle = await s.start("sequence", "fay")
        assert await s.result(handle) == ["hello fay", "hello x", "hello y"]
        bundle = await s.client.export_history(handle.workflow_id, handle.run_id)
        path = os.path.join(s.folder, "bundles")
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "one.json"), "w", encoding="utf-8") as out:
            json.dump(bundle, out)
        for tool in (["durable-workflow-history-bundle-verify", os.path.join(path, "one.json")],
                     ["durable-workflow-replay-verify", "--simulate-bundles", "--strict-warnings", path]):
            done = subprocess.run([os.path.join(os.path.dirname(sys.executable), tool[0])] + tool[1:],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        outcome = Replayer(workflows=[Sequence]).replay(s.server.events(handle), ["fay"], payload_codec="avro")
        assert getattr(outcome.commands[-1], "result", None) == ["hello fay", "hello x", "hello y"], outcome

    async def fleet(s):
        """What the SDK reads of queues, builds and workers, and what it changes there."""
        queue = await s.client.describe_task_queue("default")
        assert queue.admission.workflow_tasks.active_worker_count >= 1, queue
        assert "default" in [one.name for one in (await s.client.list_task_queues()).task_queues]
        workers = await s.client.list_workers(task_queue="default", status="active")
        assert s.worker.worker_id in [one.worker_id for one in workers.workers], workers
        assert (await s.client.describe_worker(s.worker.worker_id)).runtime == "python"
        state = await s.client.drain_task_queue_build_id("other", "b1")
        assert state.drain_intent == "draining" and state.drained_at, state
        builds = await s.client.list_task_queue_build_ids("other")
        assert [(b.build_id, b.rollout_status) for b in builds.build_ids] == [("b1", "no_workers")], builds
        assert (await s.client.resume_task_queue_build_id("other", "b1")).drain_intent == "active"
        try:  # no worker of it has ever come (n15)
            state = await s.client.promote_task_queue_build_id("other", "b1")
        except Exception as refused:
            assert "build_not_found" in str(refused), refused
        else:
            raise AssertionError(state)

    async def both_ways(s):
        """A C workflow calls a Python activity, and a Python workflow a C activity."""
        assert await s.result(await s.start("c_greets", "sea")) == "hello sea"
        doubled = await s.result(await s.start("py_doubles", 21))
        assert doubled == 42, doubled

    async def manages(s):
        """Everything else of the control plane that the SDK has a call for."""
        c = s.client
        await c.create_namespace("shop", description="a shop", retention_days=5)
        await c.update_namespace("shop", retention_days=6)
        assert (await c.describe_namespace("shop")).retention_days == 6
        assert "shop" in [one.name for one in (await c.list_namespaces()).namespaces]
        await c.create_search_attribute("team", "keyword")
        assert (await c.list_search_attributes()).custom_attributes["team"] == "keyword"
        await c.delete_search_attribute("team")
        solo = await c.start_activity(activity_type="greet", task_queue="default", input=["solo"])
        assert await solo.result(timeout=LIMIT_S) == "hello solo"
        assert solo.activity_id in [one.activity_id for one in (await c.list_activities()).activities]
        plan = await c.create_schedule(schedule_id="nightly", spec=ScheduleSpec(cron_expressions=["0 3 * * *"]),
                                       action=ScheduleAction(workflow_type="leaf", task_queue="default", input=[1]))
        fired = await plan.trigger()
        assert fired.outcome == "triggered", fired
        await plan.pause(note="holiday")
        assert (await plan.describe()).status == "paused"
        await plan.resume()
        assert [one.schedule_id for one in (await c.list_schedules()).schedules] == ["nightly"]
        assert (await c.get_schedule_history("nightly")).events[0].event_type == "ScheduleCreated"
        await plan.delete()
        for expected in ("accepted", "duplicate"):
            outcome = await c.send_webhook_bridge_event("shop", action="start_workflow", idempotency_key="k-1",
                                                        target={"workflow_type": "broken", "task_queue": "default"})
            assert outcome.outcome == expected, outcome
        for call in (c.repair_status, c.repair_pass, c.retention_status, c.retention_pass, c.activity_timeout_status,
                     c.activity_timeout_pass):
            await call()

    async def worker_restarts(s):
        """What one worker began another one ends: its code is replayed from history."""
        handle = await s.start("mailbox")
        await s.client.signal_workflow(handle.workflow_id, "add", args=[1])
        await s.until(lambda: "SignalApplied" in [e["type"] for e in s.server.events(handle)])
        await s.rest()
        await s.client.signal_workflow(handle.workflow_id, "add", args=[2])
        await s.work()
        await s.client.signal_workflow(handle.workflow_id, "add", args=[3])
        assert await s.result(handle) == {"full": True, "got": [1, 2, 3]}

    async def restarts(s):
        """A worker that goes and one that comes, and a server that is killed, lose nothing."""
        handle = await s.start("sequence", "bob")
        await asyncio.sleep(0.5)
        await s.rest()
        s.server.kill()
        s.server.start()
        await s.work()
        assert await s.result(handle) == ["hello bob", "hello x", "hello y"]

    cases = (steps, messages, while_busy, questions, timeouts, children, continuing, retries, child_retries, failures,
             versions, reads, cancelling, schedules, standalone, bundles, fleet, manages, worker_restarts, restarts)
    hosted = (both_ways,)
    failed = []

    async def run(folder, host, some):
        async with Session(folder, host) as s:
            for case in some:
                try:
                    await asyncio.wait_for(case(s), LIMIT_S)
                except Exception:  # pylint: disable=broad-except
                    failed.append(f"{case.__name__}:\n{traceback.format_exc()}")

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder, False, cases))
        asyncio.run(run(folder, True, hosted))
    cases += hosted
    print("\n".join(failed))
    good = 100 * (len(cases) - len(failed)) // len(cases)
    print(f"{good}%: Checks: {len(cases)}, Failures: {len(failed)}, Errors: 0")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--venv")
    parser.add_argument("--sdk", default=CLIENTS["python"])
    parser.add_argument("--inside", action="store_true")
    args = parser.parse_args()
    if args.inside:
        return inside(args.build)
    python = environment(args.venv, args.sdk)
    return subprocess.run([python, os.path.abspath(__file__), "--inside", "--build", args.build], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
