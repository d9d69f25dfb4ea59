"""sdk_worker.py: a worker of the official Python SDK for the chaos driver, run with the interpreter of its environment.

    sdk_worker.py URL WORKER_ID EFFECTS
"""
import asyncio
import os
import random
import signal
import sys

from durable_workflow import Client, Worker, activity, workflow

EFFECTS = sys.argv[3]


@activity.defn(name="py_effect")
def py_effect(_place: int) -> int:
    nonce = random.SystemRandom().getrandbits(52)
    log = os.open(EFFECTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.write(log, f"py 0 {nonce} done\n".encode())
    os.close(log)
    return nonce


@workflow.defn(name="py_fan")
class Fan:
    def run(self, ctx, width: int):
        results = yield [ctx.schedule_activity("py_effect", [place], start_to_close_timeout=3,
                                               retry_policy={"max_attempts": 1000, "backoff_seconds": [0]})
                         for place in range(width)]
        return results


@workflow.defn(name="py_mail")
class Mail:
    def __init__(self):
        self.got = []

    @workflow.signal("add")
    def add(self, number: int):
        self.got.append(number)

    def run(self, ctx, wanted: int):
        yield ctx.wait_condition(lambda: len(self.got) >= wanted, key="all")
        return self.got


async def work():
    client = Client(sys.argv[1], namespace="default")
    worker = Worker(client, task_queue="chaos", workflows=[Fan, Mail], activities=[py_effect], worker_id=sys.argv[2])
    task = asyncio.create_task(worker.run())
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task  # it ended by itself: say why
    await worker.stop()
    task.cancel()
    await client.aclose()


asyncio.run(work())
