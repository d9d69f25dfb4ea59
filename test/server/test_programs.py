#!/usr/bin/env python3
"""test_programs.py: programs that embed the engine, run with the address of a server instead: the examples unchanged, a
server that dies under them, and C and Python working on the same runs.

    test_programs.py --build DIR --venv DIR [--cc CC] [--sanitize LIST]

The last line is Check's summary, for run_programs.py.
"""
import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_sdk import LIMIT_S, Server, environment  # pylint: disable=wrong-import-position

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MIXED = r"""
#include <holdfast/holdfast.h>
static hf_value c_triple(hf_act *a, hf_value in)
{
    return hf_json(a, "%lld", (long long)(3 * hf_int(in, "", 0)));
}
static hf_value c_flow(hf_ctx *w, hf_value in)
{
    return hf_json(w, "{'doubled': %p}", (const void *)hf_activity(w, "py_double", hf_json(w, "[%lld]",
                   (long long)hf_int(in, "0", 0))));
}
static const hf_workflow_def workflows[] = {{"c_flow", c_flow}, {0}};
static const hf_activity_def activities[] = {{hf_fn(c_triple)}, {0}};
static const hf_app app = {.name = "mixed", .workflows = workflows, .activities = activities};
int main(int argc, char **argv)
{
    return hf_main(argc, argv, &app);
}
"""
# The order of the examples by somebody who waits longer than this test, so that a slow machine is not a lost task.
PATIENT = r"""
#include <stdio.h>
#include "order.h"
int main(int argc, char **argv)
{
    hf_engine *d;
    hf_value out;
    hf_status s = argc > 1 ? hf_open(argv[1], &order_app, &d) : HF_MISUSE;
    if (s == HF_OK)
        s = hf_start(d, "order", hf_json(d, "{'sku': 'TEA-1', 'amount': 90, 'customer': 'Ada'}"), .id = "order-42");
    if (s == HF_OK)
        s = hf_result(d, "order-42", hf_minutes(4), &out, NULL);
    printf("%s: %s\n", s ? "ended" : "done", s ? hf_errmsg(d) : hf_show(d, out));
    hf_close(d);
    return s != HF_OK;
}
"""
args = None


def program(name, text, *more):
    """Compiles it as a user would."""
    with open(name + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    command = [args.cc, "-std=c17", "-I", os.path.join(ROOT, "include"), "-I", os.path.join(ROOT, "examples"), name + ".c",
               *more, "-o", name, "-L", args.build, "-lholdfast", "-Wl,-rpath," + args.build]
    if args.sanitize:
        command.append("-fsanitize=" + args.sanitize)
    subprocess.run(command, check=True)
    return os.path.abspath(name)


def until(what):
    end = time.monotonic() + LIMIT_S
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def effects():
    if not os.path.exists("effects.log"):
        return []
    with open("effects.log", encoding="utf-8") as file:
        return [line.split()[0] for line in file]


def example(name):
    return os.path.join(args.build, "examples", name)


def order_ships(server):
    """The example of the guide, unchanged but for the address it is given."""
    done = subprocess.run([example("order"), server.url()], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r'done: \{"charge":"[0-9A-Z]{26}","tracking":"T-1"\}\n', done.stdout), done.stdout
    assert effects() == ["reserve", "charge", "ship"], effects()


def order_outlives(server, interrupt, whole):
    """The server goes and comes twice while the program works; nothing is lost. `whole`: the program that began it sees its
    end; else it may be begun again."""
    path = program("patient", PATIENT, os.path.join(ROOT, "examples", "order_app.c")) if whole else example("order")

    def begin():
        return subprocess.Popen([path, server.url()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    child = begin()

    def reached(count):
        nonlocal child
        if child.poll() is not None and len(effects()) < count:
            out, _ = child.communicate()
            assert not whole, f"it gave up: {out}"
            child = begin()
        return len(effects()) >= count

    for wanted in (1, 2):
        until(lambda n=wanted: reached(n))
        interrupt()
        server.start()
    until(lambda: reached(3))
    out, _ = child.communicate(timeout=LIMIT_S)
    if child.returncode != 0 and not whole:
        child = begin()
        out, _ = child.communicate(timeout=LIMIT_S)
    assert child.returncode == 0 and out.startswith("done: "), out
    assert set(effects()) == {"reserve", "charge", "ship"}, effects()


def order_outlives_its_server(server):
    """The server is killed; the program registers again and comes to its end. An attempt that was recorded and had not
    reached the program when the server was killed waits for the end of its lease, 300 s, which is longer than the program
    waits: nobody is left who knows that the answer was not sent, and a worker that did get it must not find another at its
    work. Then the program is begun again."""
    def kill():
        server.kill()
        time.sleep(0.2)

    order_outlives(server, kill, whole=False)


def order_outlives_a_stop(server):
    """The server is told to stop with tasks in flight: it ends well and at once, the program never notices more than a
    pause, and nothing is done twice."""
    def stop():
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 20, "it waited for what cannot come"

    order_outlives(server, stop, whole=True)
    assert sorted(effects()) == ["charge", "reserve", "ship"], effects()


def worker_ends_when_told(server):
    """hf_main with --store: queries, validators, updates; it works until SIGTERM, deregisters, and ends with 0."""
    child = subprocess.Popen([example("approval"), "worker", "--store", server.url()], stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: server.ask("GET", "/api/workers")["workers"])
        server.ask("POST", "/api/workflows", {"workflow_type": "approval", "workflow_id": "a-1", "input": {
            "codec": "json", "blob": json.dumps({"manager": "mia", "director": "dan"})}})
        assert child.stdout.readline() == "notify mia\n"
        answer = server.ask("POST", "/api/workflows/a-1/query/status", {})
        assert answer["result"]["ready"] == 0, answer
        answer = server.ask("POST", "/api/workflows/a-1/update/documents", {"input": [], "wait_for": "completed"})
        assert answer["result"] == {"ready": 1}, answer
        try:
            server.ask("POST", "/api/workflows/a-1/update/documents", {"input": [], "wait_for": "completed"})
            raise AssertionError("a second decision was taken")
        except urllib.error.HTTPError as refusal:
            assert b"already decided" in refusal.read()
        server.ask("POST", "/api/workflows/a-1/signal/approved-by", {"input": {"codec": "json",
                                                                               "blob": '{"approver": "mia"}'}})
        until(lambda: server.ask("GET", "/api/workflows/a-1/result")["status"] == "completed")
    finally:
        child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=LIMIT_S) == 0
    child.stdout.close()
    assert not server.ask("GET", "/api/workers")["workers"]


def c_and_python(server):
    """A C workflow with an activity in Python and a Python workflow with one in C."""
    child = subprocess.Popen([program("mixed", MIXED), "worker", "--store", server.url()])
    try:
        until(lambda: server.ask("GET", "/api/workers")["workers"])
        done = subprocess.run([environment(args.venv), os.path.abspath(__file__), "--inside", server.url()],
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=LIMIT_S) == 0


def inside(url):
    from durable_workflow import Client, Worker, activity, workflow

    @activity.defn(name="py_double")
    def py_double(number: int) -> int:
        return 2 * number

    @workflow.defn(name="py_flow")
    class PyFlow:
        def run(self, ctx, number: int):
            tripled = yield ctx.schedule_activity("c_triple", [number])
            return tripled + 1

    async def run():
        client = Client(url, namespace="default")
        worker = Worker(client, task_queue="default", workflows=[PyFlow], activities=[py_double], worker_id="py-mixed")
        task = asyncio.create_task(worker.run())
        ours = await client.start_workflow(workflow_type="py_flow", workflow_id="py-1", task_queue="default", input=[7])
        theirs = await client.start_workflow(workflow_type="c_flow", workflow_id="c-1", task_queue="default", input=[21])
        assert await ours.result(timeout=LIMIT_S) == 22
        assert await theirs.result(timeout=LIMIT_S) == {"doubled": 42}
        await worker.stop()
        task.cancel()
        await client.aclose()

    asyncio.run(run())
    return 0


class Site(Server):
    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url() + path, method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"X-Durable-Workflow-Control-Plane-Version": "2",
                                                  "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return json.load(answer)


def main():
    global args
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    parser.add_argument("--venv")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--sanitize", default="")
    parser.add_argument("--inside")
    args = parser.parse_args()
    if args.inside:
        return inside(args.inside)
    cases = [case for case in (order_ships, order_outlives_its_server, order_outlives_a_stop, worker_ends_when_told,
                               c_and_python) if os.environ.get("HF_TEST_ONLY", "") in case.__name__]
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            server = Site(args.build, folder)
            try:
                server.start()
                case(server)
                server.stop()
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"{case.__name__}:\n{traceback.format_exc()}", flush=True)
                server.kill()
            os.chdir("/")
    print(f"{100 * (len(cases) - failed) // max(1, len(cases))}%: Checks: {len(cases)}, Failures: {failed}, Errors: 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
