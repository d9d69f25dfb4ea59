"""sdk_hold.py: a worker of the official Python SDK for bench_http_loss.c, run with the interpreter of its environment.

    sdk_hold.py URL NAME MARKS

Whoever has a run's activity first leaves a file with its name in the folder MARKS and never ends it.
"""
import asyncio
import os
import sys

from durable_workflow import Client, Worker, activity, workflow

MARKS = sys.argv[3]


@activity.defn(name="py_hold")
async def py_hold(name: str) -> int:
    path = os.path.join(MARKS, name)
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8"):
            pass
        await asyncio.sleep(3600)
    return 1


@workflow.defn(name="py_held")
class Held:
    def run(self, ctx, name: str):
        result = yield ctx.schedule_activity("py_hold", [name])
        return result


async def work():
    client = Client(sys.argv[1], namespace="default")
    await Worker(client, task_queue="default", workflows=[Held], activities=[py_hold], worker_id=sys.argv[2]).run()


asyncio.run(work())
