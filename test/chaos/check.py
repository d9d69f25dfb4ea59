"""check.py: what must be true of a store after chaos, judged by what clients were told, what activities did and what the
public API shows. No code of the engine is in here: payloads are decoded by the published schema, histories are walked as
the documents describe them.
"""
import base64
import collections
import datetime
import traceback

CLOSING = {"WorkflowCompleted": "completed", "WorkflowFailed": "failed", "WorkflowCancelled": "cancelled",
           "WorkflowTerminated": "terminated", "WorkflowTimedOut": "timed_out", "WorkflowContinuedAsNew": "continued"}
ACTIVITY_ENDS = ("ActivityCompleted", "ActivityFailed", "ActivityCancelled", "ActivityTimedOut")
CHILD_ENDS = ("ChildRunCompleted", "ChildRunFailed", "ChildRunCancelled", "ChildRunTerminated")


class Wrong(Exception):
    """Something is not as it must be."""


def need(good, *what):
    if not good:
        raise Wrong(" ".join(str(one) for one in what))


# ---- payloads: Avro, single object, the Value schema


class Bytes:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def long(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return (value >> 1) ^ -(value & 1)

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def blocks(self, item):
        while True:
            count = self.long()
            if count == 0:
                return
            if count < 0:
                count = -count
                self.long()
            for _ in range(count):
                item()

    def value(self):
        branch = self.long()
        if branch == 0:
            return None
        if branch == 1:
            return self.take(1) == b"\1"
        if branch == 2:
            return self.long()
        if branch == 5:
            return self.take(self.long()).decode()
        if branch == 6:
            items = []
            self.blocks(lambda: items.append(self.value()))
            return items
        if branch == 7:
            members = {}

            def member():
                name = self.take(self.long()).decode()
                members[name] = self.value()
            self.blocks(member)
            return members
        raise Wrong(f"a payload of a kind that nobody sent: {branch}")


def payload(text):
    """What a blob, or an envelope with one, holds."""
    if isinstance(text, dict):
        text = text["blob"]
    data = base64.b64decode(text)
    need(data[:2] == b"\xc3\1", "a payload without its frame:", text)
    return Bytes(data[10:]).value()


def moment(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f%z")


# ---- one run, whatever its type


class Effects:
    """The file that activities append to: one line for each attempt that really ran."""

    def __init__(self, path):
        self.lines = collections.defaultdict(list)  # key -> (attempt, nonce, outcome)
        self.count = 0
        try:
            with open(path, encoding="utf-8") as file:
                for line in file:
                    key, attempt, nonce, outcome = line.split()
                    self.lines[key].append((int(attempt), int(nonce), outcome))
                    self.count += 1
        except FileNotFoundError:
            pass


def check_order(name, events):
    """Sequences without a gap, one beginning, one end that is the last."""
    kinds = [event["event_type"] for event in events]
    need([event["sequence"] for event in events] == list(range(1, len(events) + 1)), name, "has gaps")
    need(kinds.count("WorkflowStarted") == 1 and kinds[:2] == ["StartAccepted", "WorkflowStarted"], name, "begins", kinds)
    ends = [kind for kind in kinds if kind in CLOSING]
    need(len(ends) == 1 and kinds[-1] == ends[0], name, "does not end once:", kinds)
    times = [moment(event["recorded_at"]) for event in events]
    need(all(a <= b for a, b in zip(times, times[1:])), name, "has events whose times go back")
    return ends[0]


def check_activities(name, events, effects):
    """Each is scheduled once, attempts count up, one end, nothing behind it; its result is what that attempt returned."""
    states = {}
    for event in events:
        kind, body = event["event_type"], event["payload"]
        if not kind.startswith("Activity") or "activity_execution_id" not in body:
            continue
        key = body["activity_execution_id"]
        where = f"{name} event {event['sequence']} {kind} of {key}"
        if kind == "ActivityScheduled":
            need(key not in states, where, "comes twice")
            states[key] = {"attempt": 0, "end": None}
            continue
        need(key in states, where, "was never scheduled")
        state = states[key]
        need(state["end"] is None, where, "comes after", state["end"])  # n02
        if kind == "ActivityStarted":
            need(body["attempt_number"] == state["attempt"] + 1, where, "is attempt", body["attempt_number"],
                 "after", state["attempt"])
            state["attempt"] += 1
        if kind in ACTIVITY_ENDS:
            state["end"] = kind
        if kind == "ActivityCompleted" and body["activity_type"] in ("effect", "py_effect"):
            need(body["attempt_number"] == state["attempt"], where, "is of attempt", body["attempt_number"])
            result = payload(body["result"])
            if body["activity_type"] == "py_effect":
                need((0, result, "done") in effects.lines["py"], where, "recorded what no attempt returned:", result)
                continue
            need(result["key"] == key and result["attempt"] == body["attempt_number"], where, "has the result", result)
            need((result["attempt"], result["nonce"], "done") in effects.lines[key], where,
                 "recorded what that attempt did not return:", result, effects.lines[key])
    for key, state in states.items():
        ran = [attempt for attempt, _, _ in effects.lines.get(key, [])]
        need(all(attempt <= state["attempt"] for attempt in ran), name, key, "ran attempts", ran, "but recorded",
             state["attempt"])
    return states


def check_timers(name, events):
    """Each fires or is cancelled once, and never early."""
    due = {}
    for event in events:
        kind, body = event["event_type"], event["payload"]
        if kind == "TimerScheduled":
            need(body["timer_id"] not in due, name, "has timer twice", body["timer_id"])
            due[body["timer_id"]] = moment(body["fire_at"])
        elif kind in ("TimerFired", "TimerCancelled"):
            need(due.get(body["timer_id"]), name, kind, body["timer_id"], "was not open")
            need(kind == "TimerCancelled" or moment(event["recorded_at"]) >= due[body["timer_id"]], name, "timer",
                 body["timer_id"], "was early")
            due[body["timer_id"]] = None


def check_messages(name, events):
    """Signals and updates: received once, applied once, in the order in which they were received."""
    received, applied, updates = [], [], collections.Counter()
    for event in events:
        kind, body = event["event_type"], event["payload"]
        if kind == "SignalReceived":
            received.append(body["signal_id"])
        elif kind == "SignalApplied":
            applied.append(body["signal_id"])
        elif kind in ("UpdateAccepted", "UpdateApplied", "UpdateCompleted"):
            updates[kind, body["update_id"]] += 1
    need(len(set(received)) == len(received), name, "received a signal twice")
    need(len(set(applied)) == len(applied), name, "applied a signal twice")
    need(applied == [one for one in received if one in set(applied)], name, "applied signals in another order")
    need(all(count == 1 for count in updates.values()), name, "has an update twice", updates)


def check_children(name, events):
    ends = collections.Counter(event["payload"]["child_call_id"] for event in events
                               if event["event_type"] in CHILD_ENDS)
    need(all(count == 1 for count in ends.values()), name, "heard twice of the end of a child", ends)
    return ends


class Run:
    """A run as its history shows it."""

    def __init__(self, name, number, run_id, events, effects):
        self.name = f"{name}#{number}"
        self.events = events
        self.end = check_order(self.name, events)
        self.activities = check_activities(self.name, events, effects)
        check_timers(self.name, events)
        check_messages(self.name, events)
        self.children = check_children(self.name, events)
        self.run_id = run_id

    def all(self, kind):
        return [event["payload"] for event in self.events if event["event_type"] == kind]

    def numbers(self, signal="add"):
        return [payload(body["arguments"])[0] for body in self.all("SignalReceived") if body["signal_name"] == signal]

    def taken(self, runs):
        """The numbers of the signals that were applied; one that was handed on was received by a run before. Its value is
        the argument, or, in runs of workers in other languages, the list of arguments."""
        received = {body["signal_id"]: payload(body["arguments"])[0] for run in runs for body in run.all("SignalReceived")}
        numbers = [received[body["signal_id"]] for body in self.all("SignalApplied")]
        for body, number in zip(self.all("SignalApplied"), numbers):
            need(payload(body["value"]) in (number, [number]), self.name, "applied", body, "for", number)
        return numbers

    def output(self):
        text = self.all("WorkflowCompleted")[0].get("output")
        return payload(text) if text else None

    def done(self, kind, count):
        found = sum(1 for state in self.activities.values() if state["end"] == kind)
        need(found == count, self.name, f"has {found} {kind}, not {count}")


# ---- one workflow of each type, against what its client was told


def see_counter(told, runs, _):
    run, = runs
    need(run.end == "WorkflowCompleted", run.name, run.end)
    sent, put = told["signals"], told["updates"]
    need(run.numbers() == sent, run.name, "received", run.numbers(), "but acknowledged were", sent)
    need(run.taken(runs) == sent, run.name, "applied", run.taken(runs), "but acknowledged were", sent)
    done = [(payload(body["result"]) if body.get("result") else None) for body in run.all("UpdateCompleted")]
    need(len(done) == len(put), run.name, "completed", done, "but acknowledged were", put)
    need([one["n"] for one in done] == put and [one["count"] for one in done] == list(range(1, len(put) + 1)), run.name,
         "completed", done, "but acknowledged were", put)
    for number, answer in told["answers"].items():
        need(answer == {"n": number, "count": put.index(number) + 1}, run.name, "answered", answer, "to", number)
    need(run.output() == {"got": sent, "put": put}, run.name, "ended with", run.output())


def see_fan(told, runs, _):
    run, = runs
    need(run.end == "WorkflowCompleted", run.name, run.end)
    run.done("ActivityCompleted", told["width"])
    recorded = {body["activity_execution_id"]: payload(body["result"]) for body in run.all("ActivityCompleted")}
    output = run.output()
    need([one["in"] for one in output] == list(range(told["width"])), run.name, "ended with", output)
    need(all(recorded[one["key"]] == one for one in output), run.name, "ended with what was not recorded", output)


def see_naps(told, runs, _):
    run, = runs
    need(run.end == "WorkflowCompleted" and run.output() == told["naps"], run.name, run.end)
    need(len(run.all("TimerFired")) == told["naps"], run.name, "fired", len(run.all("TimerFired")), "timers")


def see_family(told, runs, look):
    run, = runs
    need(run.end == "WorkflowCompleted", run.name, run.end)
    need(len(run.children) == told["kids"], run.name, "heard of", len(run.children), "children")
    output = run.output()
    need([one["place"] for one in output] == list(range(told["kids"])), run.name, "ended with", output)
    need([one["go"] for one in output] == [100 + i for i in range(told["kids"])], run.name, "ended with", output)
    kids = {body["child_workflow_instance_id"] for body in run.all("ChildRunStarted")}
    need(len(kids) == told["kids"], run.name, "has the children", kids)
    seen = []
    for kid in kids:
        one, = look(kid)
        need(one.end == "WorkflowCompleted" and one.numbers(signal="go") != [], one.name, one.end)
        need(len(one.numbers(signal="go")) == 1, one.name, "was signalled", one.numbers(signal="go"))
        one.done("ActivityCompleted", 1)
        seen.append(one.output())
    need(sorted(seen, key=lambda one: one["place"]) == output, run.name, "has other results than its children", seen)


def see_chain(told, runs, _):
    need(len(runs) == told["length"], runs[0].name, "has", len(runs), "runs, not", told["length"])
    for run, after in zip(runs, runs[1:]):
        need(run.end == "WorkflowContinuedAsNew", run.name, run.end)
        need(after.all("WorkflowStarted")[0]["continued_from_run_id"] == run.run_id, after.name, "goes on from another")
    need(runs[-1].end == "WorkflowCompleted", runs[-1].name, runs[-1].end)
    for run in runs:
        run.done("ActivityCompleted", 1)
    taken = [number for run in runs for number in run.taken(runs)]
    need(taken == told["signals"], runs[0].name, "applied", taken, "but acknowledged were", told["signals"])
    need(runs[-1].output() == told["signals"], runs[-1].name, "ended with", runs[-1].output())


def see_endless(told, runs, _):
    run, = runs
    need(run.end == {"cancel": "WorkflowCancelled", "terminate": "WorkflowTerminated"}[told["ended_by"]], run.name, run.end)


def see_py_mail(told, runs, _):
    run, = runs
    need(run.end == "WorkflowCompleted", run.name, run.end)
    need(run.numbers() == told["signals"], run.name, "received", run.numbers(), "but acknowledged were", told["signals"])
    need(run.output() == told["signals"], run.name, "ended with", run.output())


def see_py_fan(told, runs, _):
    run, = runs
    need(run.end == "WorkflowCompleted", run.name, run.end)
    run.done("ActivityCompleted", told["width"])
    recorded = [payload(body["result"]) for body in sorted(run.all("ActivityCompleted"), key=lambda one: one["sequence"])]
    need(run.output() == recorded, run.name, "ended with", run.output(), "but recorded", recorded)


SEE = {"counter": see_counter, "fan": see_fan, "naps": see_naps, "family": see_family, "chain": see_chain,
       "endless": see_endless, "py_mail": see_py_mail, "py_fan": see_py_fan}


def history(ask, name, run_id):
    events, token = [], None
    while True:
        path = f"/api/workflows/{name}/runs/{run_id}/history?page_size=1000" + (f"&next_page_token={token}" if token else "")
        status, page = ask("GET", path)
        need(status == 200, name, "has no history:", status, page)
        events += page["events"]
        token = page.get("next_page_token")
        if not token:
            return events


def check_all(ask, told, effects):
    """Every workflow that was acknowledged. Returns how much was looked at; Wrong says what is not right."""
    counts = collections.Counter()

    def look(name):
        status, answer = ask("GET", f"/api/workflows/{name}/runs")
        need(status == 200, name, "was acknowledged and is not there:", answer)
        runs = sorted(answer["runs"], key=lambda run: run["run_number"])
        need([run["run_number"] for run in runs] == list(range(1, len(runs) + 1)), name, "has the runs",
             [run["run_number"] for run in runs])
        seen = [Run(name, run["run_number"], run["run_id"], history(ask, name, run["run_id"]), effects) for run in runs]
        counts["runs"] += len(seen)
        counts["events"] += sum(len(run.events) for run in seen)
        counts["results"] += sum(len(run.all("ActivityCompleted")) for run in seen)
        return seen

    wrong = []
    for name, one in told.items():
        try:
            SEE[one["type"]](one, look(name), look)
            counts["workflows"] += 1
        except Wrong as what:
            wrong.append(str(what))
        except (KeyError, IndexError, TypeError, ValueError):
            wrong.append(f"{name} is not as it was published: {traceback.format_exc(limit=-2)}")
    return counts, wrong
