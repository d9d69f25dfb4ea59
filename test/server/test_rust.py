#!/usr/bin/env python3
"""test_rust.py: the official Rust SDK, unmodified, runs its own hello-world example against `holdfast serve`.

    test_rust.py --build DIR --work DIR

The crate comes from the registry and is built once in DIR. The newest release that speaks worker protocol 1.13 or older
is pinned; later ones refuse servers that advertise less. What runs is the example that the crate ships, as it is. The
last line is Check's summary, for run_programs.py. Part of `make check`: building takes minutes the first time.
"""
import argparse
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile

CRATE = "durable-workflow"
VERSION = "2.0.0-rc.32"
MANIFEST = f"""[package]
name = "hello"
version = "0.1.0"
edition = "2021"

[dependencies]
{CRATE} = "={VERSION}"
tokio = {{ version = "1", features = ["macros", "rt-multi-thread"] }}
"""


def program(work):
    """The example, built; its source is taken out of the crate."""
    os.makedirs(os.path.join(work, "src"), exist_ok=True)
    main = os.path.join(work, "src", "main.rs")
    with open(os.path.join(work, "Cargo.toml"), "w", encoding="utf-8") as out:
        out.write(MANIFEST)
    if not os.path.exists(main):
        with open(main, "w", encoding="utf-8") as out:
            out.write("fn main() {}\n")
    cargo = ["cargo", "--quiet"]
    subprocess.run(cargo + ["fetch"], cwd=work, check=True, timeout=300)
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    found = glob.glob(os.path.join(home, "registry", "src", "*", f"{CRATE}-{VERSION}", "examples", "hello_world.rs"))
    shutil.copyfile(found[0], main)
    subprocess.run(cargo + ["build"], cwd=work, check=True, timeout=1500)
    return os.path.join(work, "target", "debug", "hello")


def run(build, hello):
    """True: the example ended well, and the store it left is sound."""
    holdfast = os.path.join(build, "holdfast")
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "rust.db")
        with subprocess.Popen([holdfast, "serve", store, "--auth", "none", "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            url = "http://" + server.stdout.readline().strip().rsplit("http://", 1)[1]
            done = subprocess.run([hello], capture_output=True, text=True, check=False, timeout=120,
                                  env={**os.environ, "DURABLE_WORKFLOW_SERVER_URL": url})
            server.send_signal(signal.SIGTERM)
        print(done.stdout + done.stderr)
        sound = subprocess.run([holdfast, "verify", store], capture_output=True, text=True, check=False)
        print(sound.stdout + sound.stderr)
        return done.returncode == 0 and "Hello" in done.stdout and sound.returncode == 0 and server.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    if not shutil.which("cargo"):
        sys.exit("cargo is needed: install it (apt-get install cargo, or a newer one)")
    good = run(os.path.abspath(args.build), program(os.path.abspath(args.work)))
    print(f"{100 if good else 0}%: Checks: 1, Failures: {0 if good else 1}, Errors: 0")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
