#!/usr/bin/env python3
"""test_rust.py: the official Rust SDK, unmodified, runs its own examples against `holdfast serve`.

    test_rust.py --build DIR --work DIR [--crate VERSION]

The crate comes from the registry and is built once in DIR: the release that clients.json pins as the newest, or another.
What runs are the examples that the crate ships, as they are. The last line is Check's summary, for run_programs.py.
Part of `make check`: building takes minutes the first time.
"""
import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

CRATE = "durable-workflow"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients.json"), encoding="utf-8") as pins:
    NEWEST = json.load(pins)["rust"]
MANIFEST = """[package]
name = "holdfast_examples"
version = "0.1.0"
edition = "2021"

[dependencies]
{crate} = "={version}"
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
tokio = {{ version = "1", features = ["macros", "rt-multi-thread"] }}
"""
# What each of them prints when it ends well; older crates do not have all.
EXAMPLES = {"hello_world": "Hello", "activity_options": "retry_result", "workflow_pagination": "workflow summaries"}


def programs(work, version):
    """The examples, built; their source is taken out of the crate."""
    folder = os.path.join(work, "src", "bin")
    shutil.rmtree(os.path.join(work, "src"), ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(work, "Cargo.toml"), "w", encoding="utf-8") as out:
        out.write(MANIFEST.format(crate=CRATE, version=version))
    with open(os.path.join(work, "src", "main.rs"), "w", encoding="utf-8") as out:
        out.write("fn main() {}\n")
    cargo = ["cargo", "--quiet"]
    subprocess.run(cargo + ["fetch"], cwd=work, check=True, timeout=300)
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    found = {}
    for name in EXAMPLES:
        source = glob.glob(os.path.join(home, "registry", "src", "*", f"{CRATE}-{version}", "examples", name + ".rs"))
        if source:
            shutil.copyfile(source[0], os.path.join(folder, name + ".rs"))
            found[name] = os.path.join(work, "target", "debug", name)
    subprocess.run(cargo + ["build"], cwd=work, check=True, timeout=1500)
    return found


def run(build, name, example):
    """True: the example ended well, and the store it left is sound."""
    holdfast = os.path.join(build, "holdfast")
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "rust.db")
        with subprocess.Popen([holdfast, "serve", store, "--auth", "none", "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            url = "http://" + server.stdout.readline().strip().rsplit("http://", 1)[1]
            done = subprocess.run([example], capture_output=True, text=True, check=False, timeout=120,
                                  env={**os.environ, "DURABLE_WORKFLOW_SERVER_URL": url})
            server.send_signal(signal.SIGTERM)
        print(done.stdout + done.stderr)
        sound = subprocess.run([holdfast, "verify", store], capture_output=True, text=True, check=False)
        print(sound.stdout + sound.stderr)
        return done.returncode == 0 and EXAMPLES[name] in done.stdout and sound.returncode == 0 and server.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--crate", default=NEWEST)
    args = parser.parse_args()
    if not shutil.which("cargo"):
        sys.exit("cargo is needed: install it (apt-get install cargo, or a newer one)")
    ran = {name: run(os.path.abspath(args.build), name, example)
           for name, example in programs(os.path.abspath(args.work), args.crate).items()}
    failed = [name for name, good in ran.items() if not good]
    print("\n".join("it did not end well: " + name for name in failed))
    good = 100 * (len(ran) - len(failed)) // max(len(ran), 1)
    print(f"{good}%: Checks: {len(ran)}, Failures: {len(failed)}, Errors: 0")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
