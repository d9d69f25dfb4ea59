"""world.py: the processes of a chaos run: the proxy, PostgreSQL, servers, nodes and workers. Each knows whether its end was
ordered; one that ends otherwise is a finding.
"""
import json
import os
import pwd
import select
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Ended(Exception):
    """A process ended by itself."""


class Process:
    """A program that may be killed and started again; its output goes to one log over all its lives."""

    def __init__(self, world, name, command, env=None, as_user=None, ready=None):
        self.world = world
        self.name = name
        self.command = command
        self.env = dict(os.environ, **(env or {}))
        self.as_user = as_user
        self.ready = ready  # text of the line of standard output that says that it works; None: there is none
        self.process = None
        self.wanted = False
        self.again = 0
        self.rss = 0
        self.log = open(os.path.join(world.logs, name + ".log"), "ab")

    def spawn(self):
        command = self.command
        if self.as_user and os.getuid() == 0:
            command = ["setpriv", "--reuid=" + self.as_user, "--regid=" + self.as_user, "--init-groups"] + command
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if self.ready else self.log,
                                        stderr=self.log, env=self.env, start_new_session=True,
                                        cwd=None if self.as_user else self.world.logs)  # for its core, if it leaves one

    def line(self, limit_s):
        """The line that says that it works; None: it ended, or was silent for too long."""
        until = time.monotonic() + limit_s
        text = b""
        while time.monotonic() < until:
            ready, _, _ = select.select([self.process.stdout], [], [], 0.1)
            if ready:
                got = os.read(self.process.stdout.fileno(), 4096)
                if not got:
                    return None
                text += got
                self.log.write(got)
                self.log.flush()
                for line in text.decode().split("\n")[:-1]:
                    if self.ready in line:
                        return line
        return None

    def start(self):
        """Until it works. While faults are about, one that says that it cannot begin is started again."""
        until = time.monotonic() + 60
        while True:
            self.spawn()
            if not self.ready:
                break
            if self.line(30) is not None:
                break
            code = self.process.poll()
            if code is None:
                time.sleep(0.2)
                code = self.process.poll()
            if code is None or code < 0 or time.monotonic() > until:
                raise Ended(f"{self.name} did not begin: {code}")
            self.process.stdout.close()
            self.again += 1
            time.sleep(0.2)
        self.wanted = True

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def look(self):
        """Ended: it is gone, and nobody wanted it."""
        if not self.wanted:
            return
        code = self.process.poll()
        if code is not None:
            raise Ended(f"{self.name} ended by itself: {'signal ' + str(-code) if code < 0 else code}")
        try:
            with open(f"/proc/{self.process.pid}/statm", encoding="utf-8") as file:
                self.rss = max(self.rss, int(file.read().split()[1]) * 4 // 1024)
        except (OSError, IndexError):
            pass

    def tell(self, number):
        os.kill(self.process.pid, number)

    def state(self):
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            return "gone"

    def kill(self):
        """True: it was alive, and SIGKILL ended it."""
        self.wanted = False
        self.tell(signal.SIGKILL)
        code = self.process.wait()
        if self.ready:
            self.process.stdout.close()
        return code == -signal.SIGKILL

    def stop(self, limit_s=30):
        self.wanted = False
        self.tell(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise Ended(f"{self.name} does not end at SIGTERM") from None
        if self.ready:
            self.process.stdout.close()
        if code != 0:
            raise Ended(f"{self.name} ended at SIGTERM with {code}")

    def end(self):
        self.wanted = False
        if self.alive():
            self.process.kill()
            self.process.wait()
        self.log.close()


class Proxy:
    """The network, in a process of its own."""

    def __init__(self, seed, trace):
        self.lock = threading.Lock()
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "proxy.py"), str(seed), *trace], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)

    def order(self, **order):
        with self.lock:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())

    def listen(self, name, port):
        return self.order(do="listen", name=name, to=["127.0.0.1", port])["port"]

    def set(self, name, mode, ms=0):
        self.order(do="set", name=name, mode=mode, ms=ms)

    def count(self, name, what):
        return self.order(do="stats")[name].get(what, 0)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Postgres(Process):
    """A PostgreSQL server of its own, which may be killed with all its processes."""

    def __init__(self, world, folder):
        self.bin = os.environ.get("HF_PG_BIN") or sorted(
            (os.path.join("/usr/lib/postgresql", name, "bin") for name in os.listdir("/usr/lib/postgresql")),
            key=lambda path: int(path.split("/")[-2]))[-1]
        self.folder = os.path.join(folder, "pg")
        self.port = free_port()
        # Small segments, so that a full disk is met by files that grow before it is met by the log of writes.
        super().__init__(world, "postgres", [
            os.path.join(self.bin, "postgres"), "-D", os.path.join(self.folder, "data"), "-p", str(self.port), "-k", self.folder,
            "-h", "127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB",
            "-c", "max_connections=100", "-c", "min_wal_size=32MB", "-c", "max_wal_size=64MB"],
            as_user="postgres")
        os.mkdir(self.folder)
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.run("initdb", "--no-sync", "--auth=trust", "--username=holdfast", "--encoding=UTF8", "--locale=C",
                 "--wal-segsize=4", "--pgdata=" + os.path.join(self.folder, "data"))

    def run(self, program, *words):
        command = [os.path.join(self.bin, program), *words]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + command
        subprocess.run(command, check=True, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, cwd=self.folder)

    def up(self):
        try:
            with open(os.path.join(self.folder, "data", "postmaster.pid"), encoding="utf-8") as file:
                return file.read().split("\n")[7].strip() == "ready"
        except (OSError, IndexError):
            return False

    def start(self):
        for _ in range(5):
            self.spawn()
            until = time.monotonic() + 30
            while time.monotonic() < until and self.alive() and not self.up():
                time.sleep(0.02)
            if self.up() and self.alive():
                self.wanted = True
                return
            self.end_all()
            self.again += 1
            time.sleep(0.3)
        raise Ended("PostgreSQL does not start")

    def end_all(self):
        """Kills the postmaster and all its children; they have sessions of their own."""
        children = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                        if int(file.read().rsplit(")", 1)[1].split()[1]) == self.process.pid:
                            children.append(int(entry))
                except OSError:
                    pass
        good = self.alive()
        if good:
            self.process.kill()
        self.process.wait()
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        pid_file = os.path.join(self.folder, "data", "postmaster.pid")
        if os.path.exists(pid_file):
            os.unlink(pid_file)
        return good

    def kill(self):
        self.wanted = False
        return self.end_all()

    def stop(self, limit_s=30):
        self.wanted = False
        self.tell(signal.SIGINT)
        self.process.wait(timeout=limit_s)

    def end(self):
        if self.process is not None:
            self.wanted = False
            self.end_all()
        self.log.close()

    def ask(self, text):
        done = subprocess.run(["psql", "-qAtX", "-h", "127.0.0.1", "-p", str(self.port), "-U", "holdfast", "-d", "postgres",
                               "-c", text], capture_output=True, text=True, check=False, timeout=30)
        return done.stdout.strip()


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
