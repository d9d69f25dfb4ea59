#!/usr/bin/env python3
"""test_examples.py: what users read and copy. The programs of examples/ run, each in an empty folder, and say what they
should; hf_main behaves as a program's main function; every C block of the guide and of README.md compiles.

    test_examples.py --build DIR [--cc CC] [--cxx CXX] [--sanitize LIST]

A document's C blocks follow a line `<!-- c -->` and are joined, in order, into one source, as a reader would type them;
after one with a main function, a block that includes holdfast.h begins another.
A source with a main function is linked and run, and a text block after `<!-- prints -->` must be what it printed.
A block after `<!-- file PATH -->` must be the contents of that file. The last line is Check's summary, for run_programs.py.
"""
import argparse
import hashlib
import hmac
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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^(?:<!-- (c|prints|file) ?(\S*) -->\n)?```(c|cpp|text)\n(.*?)^```$", re.M | re.S)
LIMIT_S = 60
args = None
cases = []


def case(function):
    cases.append(function)
    return function


def equal(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


def program(name):
    return os.path.join(args.build, "examples", name)


def run(*words, code=0, text=""):
    """Standard output of a program that must end with `code`."""
    done = subprocess.run([program(words[0]), *words[1:]], input=text, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == code, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def effects():
    with open("effects.log", encoding="utf-8") as file:
        return [line.split()[0] for line in file]


def until(what, seconds=LIMIT_S):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


@case
def hello_says_hello():
    """Twice: the second time the result is there already, so starting is refused and looking is not."""
    equal(run("hello"), '"hello, Ada"\n')
    equal(run("hello"), '"hello, Ada"\n')


@case
def order_ships():
    out = run("order")
    assert re.fullmatch(r'done: \{"charge":"[0-9A-Z]{26}","tracking":"T-1"\}\n', out), out
    equal(effects(), ["reserve", "charge", "ship"])


@case
def order_undoes_what_it_did():
    equal(run("order", "orders.db", "5000", code=1), "failed: card_declined: limit is 1000, asked 5000\n")
    equal(effects(), ["reserve", "release"])


@case
def order_survives_kill():
    """Killed inside the fraud window, and on the way there: nothing is done twice that was recorded."""
    for wanted in (1, 2):
        child = subprocess.Popen([program("order")], stdout=subprocess.DEVNULL)
        until(lambda n=wanted: os.path.exists("effects.log") and len(effects()) >= n)
        time.sleep(0.1)  # the report of the effect is most likely committed; right also when it is not
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert run("order").startswith("done: ")
    assert set(effects()) == {"reserve", "charge", "ship"}, effects()
    equal(effects().count("ship"), 1)


@case
def fanout_joins_in_order():
    equal(run("fanout"), '{"regions":[{"imported":10},{"imported":20},{"imported":30}],"mails":["sent",["sent","sent"]]}\n')


@case
def subscription_lives_a_year():
    equal(run("subscription"), 'ok {"ended":"cancelled","plan":"pro","months":12}\n')


@case
def machine_checks_out():
    equal(run("machine"), '{"order":7,"children":2}\n')


@case
def tests_of_the_order_pass():
    equal(run("test_order"), "order keeps its promises\n")


@case
def embed_answers_from_its_own_loop():
    """Requests come in by a pipe that poll watches; the end of the input ends the program."""
    child = subprocess.Popen([program("embed")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answers = []
    end = time.monotonic() + LIMIT_S
    while "200" not in answers:
        assert time.monotonic() < end, answers
        child.stdin.write("request\n")
        child.stdin.flush()
        answers.append(child.stdout.readline().strip())
        time.sleep(0.1)
    child.stdin.close()
    equal(child.wait(LIMIT_S), 0)
    equal(answers[0], "202")
    equal(set(answers), {"202", "200"})
    equal(effects(), ["reserve", "charge", "ship"])


@case
def cpp_order_runs():
    done = 'done {"charge":"C","tracking":"T"}\n'
    equal(run("order_cpp"), done + "failed card_declined\nfailed card_declined\n" + done)


@case
def the_cpp_header_compiles():
    for standard in ("c++17", "c++20"):
        for flags in (["-Wall", "-Wextra", "-Werror"],):
            done = subprocess.run([args.cxx, "-std=" + standard, *flags, "-I" + os.path.join(ROOT, "include"),
                                   "-fsyntax-only", os.path.join(ROOT, "examples", "order_cpp.cpp")],
                                  capture_output=True, text=True)
            assert done.returncode == 0, f"{standard}: {done.stderr}"


UNWOUND = """
#include <cstdio>
#include <holdfast/holdfast.hpp>

static int alive;
struct thing {
    hf::context &c;
    explicit thing(hf::context &context) : c(context) { alive++; }
    ~thing() { alive--; c.activity("echo", {}); } // refused while the run leaves memory
};
static hf_value echo(hf_act *, hf_value in) { return in; }
static hf::value body(hf::context &c, hf::value)
{
    thing outer(c);
    hf::undo undone([&] { std::puts("undone"); });
    try {
        thing inner(c);
        c.receive("go");
    } catch (const hf::failure &) {
        std::puts("caught");
    }
    undone.dismiss();
    return c.json("'done'");
}
int main()
{
    static const hf_signal_def signals[] = {{"go"}, {}};
    hf_workflow_def waits = hf::workflow("waits", hf::entry<body>);
    waits.signals = signals;
    const hf_workflow_def workflows[] = {waits, {}};
    const hf_activity_def activities[] = {hf::activity("echo", echo), {}};
    const hf_app app = hf::app("unwound", workflows, activities);
    hf_engine *d = hf_test_open(&app);
    hf_start_opts o{};
    o.size_ = sizeof(o);
    o.id = "a";
    hf_start_with(d, "waits", &o);
    hf_test_drain(d);
    std::printf("parked %d\\n", alive);
    hf_test_crash(d);
    std::printf("gone %d\\n", alive);
    hf_test_drain(d);
    hf_signal(d, "a", "go", nullptr);
    hf_test_drain(d);
    std::printf("%s %d\\n", hf_test_status(d, "a"), alive);
    o.id = "b";
    hf_start_with(d, "waits", &o);
    hf_test_drain(d);
    hf_close(d);
    std::printf("closed %d\\n", alive);
}
"""


@case
def cpp_destructors_run_when_a_run_leaves_memory():
    with open("unwound.cpp", "w", encoding="utf-8") as file:
        file.write(UNWOUND)
    words = [args.cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers",
             "-I" + os.path.join(ROOT, "include"), "unwound.cpp", "-o", "unwound", "-L" + args.build, "-lholdfast",
             "-Wl,-rpath," + args.build]
    if args.sanitize:
        words.append("-fsanitize=" + args.sanitize)
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./unwound"], capture_output=True, text=True, timeout=LIMIT_S)
    equal((done.returncode, done.stdout), (0, "parked 2\ngone 0\ncompleted 0\nclosed 0\n"))


@case
def main_works_until_it_is_told_to_stop():
    """The worker takes what was asked for, and ends with 0 at a signal; a person looks and approves."""
    for stop in (signal.SIGTERM, signal.SIGINT):
        worker = subprocess.Popen([program("approval"), "worker"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
        equal(worker.stderr.readline(), "approvals: working on ./approvals.db\n")
        worker.send_signal(stop)
        out, err = worker.communicate(timeout=LIMIT_S)
        equal((worker.returncode, err), (0, ""))
    assert os.path.exists("approvals.db")
    run("approve", "ask")
    worker = subprocess.Popen([program("approval"), "--store", "approvals.db"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    equal(worker.stderr.readline(), "approvals: working on approvals.db\n")
    time.sleep(0.2)  # enough to reach the wait; the rest does not depend on it
    worker.send_signal(signal.SIGTERM)
    equal(worker.wait(LIMIT_S), 0)
    worker.stderr.close()
    until(lambda: '"limit":100' in run("approve", "look"))
    assert run("approve", "give").endswith('{"approved":true,"by":"Grace"}\n')
    equal(run("approve", "look"), '{"ready":1,"limit":100,"approver":"Grace"}\n')


@case
def main_has_the_verbs_of_holdfast():
    """The activity prints too, as the code runs in the process that was asked."""
    def last(*words):
        lines = [line for line in run("approval", *words).splitlines() if not line.startswith("notify ")]
        return json.loads(lines[-1])

    run("approval", "start", "approval", "manager=mia", "director=dan", "--id", "a-1")
    equal(last("query", "a-1", "status")["limit"], 100)
    equal(last("update", "a-1", "documents", "ready:=true"), {"ready": 1})
    assert "a-1  approval  " in run("approval", "show", "a-1")
    run("approval", "signal", "a-1", "approved-by", "approver=Grace")
    equal(last("start", "approval", "manager=m", "director=d", "--id", "a-2", "--dup", "existing", "--run-timeout", "1s",
               "-o", "json")["outcome"], "started_new")
    until(lambda: run("approval", "query", "a-1", "status") and "a-1\n" in run("approval", "ls", "status=completed", "-o", "name"))
    equal(last("result", "a-1")["by"], "Grace")
    done = subprocess.run([program("approval"), "show", "a-3"], capture_output=True, text=True, timeout=LIMIT_S)
    equal(done.returncode, 5)
    assert f"next:  {program('approval')} ls" in done.stderr, done.stderr


@case
def hooks_judge_who_calls_them():
    """A server of the program asks its function: signed webhooks start and signal, all others are refused."""
    key = "a key of the tests"
    server = subprocess.Popen([program("hooks"), "dev", "--listen", "127.0.0.1:0", "--webhooks", "custom"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=dict(os.environ, PAY_KEY=key))
    url = re.search(r" at (http://\S+)\n", server.stdout.readline()).group(1)

    def send(path, body, at, secret=key):
        text = json.dumps(body)
        mac = hmac.new(secret.encode(), f"{at}.{text}".encode(), hashlib.sha256).hexdigest()
        ask = urllib.request.Request(url + "/webhooks" + path, data=text.encode(), headers={
            "Content-Type": "application/json", "Pay-Signature": f"t={at},v1={mac}"})
        try:
            with urllib.request.urlopen(ask, timeout=LIMIT_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    now = int(time.time())
    try:
        until(lambda: send("/start/invoice", {"workflow_id": "i-1"}, now) == 202)  # its worker has to come first
        equal(send("/start/invoice", {"workflow_id": "i-2"}, now, "another key"), 401)
        equal(send("/start/invoice", {"workflow_id": "i-2"}, now - 3600), 401)
        equal(send("/instances/i-1/signals/paid", {"arguments": ["bob"]}, now), 202)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=LIMIT_S)
    equal(server.returncode, 0)
    equal(run("hooks", "serve", "--listen", "127.0.0.1:0", "--webhooks", "other", code=2), "")


@case
def main_says_what_there_is():
    out = run("approval", "--help")
    for word in ("worker", "--store", "approvals.db", "workflows: approval", "activities: notify"):
        assert word in out, f"{word} is not in {out}"
    for words, text in ((["fly"], "unknown command fly; "),
                        (["--fly"], "unknown flag --fly; there are: --store --help"),
                        (["--store"], "--store needs an ADDRESS"),
                        (["worker", "worker"], "one command at a time")):
        done = subprocess.run([program("approval"), *words], capture_output=True, text=True, timeout=LIMIT_S)
        equal(done.returncode, 2)
        assert text in done.stderr, done.stderr
    with open("not.db", "w", encoding="utf-8") as file:
        file.write("this is no database, but long enough to be looked at as one" * 20)
    done = subprocess.run([program("approval"), "--store=not.db"], capture_output=True, text=True, timeout=LIMIT_S)
    equal(done.returncode, 15)
    equal(os.listdir("."), ["not.db"])


MAIN = re.compile(r"^int main\(", re.M)


def document_programs(path):
    """The C blocks of a document, joined into programs: one that has its main function is complete, and a block that
    includes holdfast.h again begins the next. A list of [source, what it prints or None]."""
    programs = []
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for match in BLOCK.finditer(text):
        kind, name, language, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if kind == "file":
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                assert body in file.read(), f"{path}:{line}: {name} has other words"
        elif language == "c" or kind == "c":
            assert kind == "c", f"{path}:{line}: a C block that nothing compiles"
            again = programs and MAIN.search(programs[-1][0]) and body.startswith("#include <holdfast/holdfast.h>")
            if not programs or again:
                programs.append(["#include <holdfast/holdfast.h>\n#include <stdio.h>\n#include <string.h>\n", None])
            programs[-1][0] += f'#line {line} "{path}"\n{body}'
        elif kind == "prints":
            programs[-1][1] = body
    return programs


def document_program(source, prints):
    """Compiles it, and runs it when it has a main function."""
    with open("document.c", "w", encoding="utf-8") as file:
        file.write(source)
    flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Wno-unused-const-variable",
             "-Wno-unused-variable", "-D_POSIX_C_SOURCE=200809L", "-I" + os.path.join(ROOT, "include")]
    if args.sanitize:
        flags.append("-fsanitize=" + args.sanitize)
    has_main = MAIN.search(source)
    words = [args.cc, *flags, "document.c"]
    words += ["-o", "document", "-L" + args.build, "-lholdfast", "-Wl,-rpath," + args.build] if has_main else ["-c"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if has_main:
        done = subprocess.run(["./document"], capture_output=True, text=True, timeout=LIMIT_S)
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        if prints is not None:
            equal(done.stdout, prints)


def document_case(path):
    """The programs of one document."""

    def check():
        for source, prints in document_programs(path):
            document_program(source, prints)

    check.__name__ = "document " + path
    return check


def main():
    global args
    options = argparse.ArgumentParser()
    options.add_argument("--build", required=True)
    options.add_argument("--cc", default="cc")
    options.add_argument("--cxx", default="c++")
    options.add_argument("--sanitize", default="")
    options.add_argument("--only", default="")
    args = options.parse_args()
    args.build = os.path.abspath(args.build)
    guide = os.path.join(ROOT, "docs", "guide")
    documents = ["README.md"] + sorted("docs/guide/" + name for name in os.listdir(guide) if name.endswith(".md"))
    cases.extend(document_case(path) for path in documents)
    failed = ran = 0
    for function in cases:
        if args.only not in function.__name__:
            continue
        ran += 1
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
            except Exception:
                failed += 1
                print(f"F:{function.__name__}:\n{traceback.format_exc()}", flush=True)
            os.chdir("/")
    print("Running suite(s): engine/examples")
    print(f"{100 * (ran - failed) // max(ran, 1)}%: Checks: {ran}, Failures: {failed}, Errors: 0")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
