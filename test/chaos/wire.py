"""wire.py: HTTP as bytes, for clients that go away in the middle of it, and for those that ask until they are answered.

Nothing of the engine is used here, and nothing but the standard library.
"""
import http.client
import json
import random
import socket
import threading
import time

HEADERS = {"X-Durable-Workflow-Control-Plane-Version": "2", "X-Durable-Workflow-Protocol-Version": "1.13",
           "Content-Type": "application/json"}


def request_bytes(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else b""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in HEADERS.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + data


class Gone(Exception):
    """The client went away, as it wanted to."""


class Line:
    """One connection. `leave_at` says where in the next exchange the client goes away; None: nowhere."""

    PLACES = ("request_half", "request_sent", "waiting", "answer_half", "answer_whole")

    def __init__(self, port, chance):
        self.port = port
        self.chance = chance
        self.socket = None

    def open(self):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=30)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self, reset=False):
        if self.socket is not None:
            if reset:  # with RST instead of FIN
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.socket.close()
        self.socket = None

    def go(self):
        self.close(reset=self.chance.random() < 0.5)
        raise Gone()

    def ask(self, method, path, body=None, leave_at=None):
        """Status and body. Gone: it left where it was told to."""
        self.open()
        data = request_bytes(method, path, body)
        if leave_at == "request_half":
            self.socket.sendall(data[:self.chance.randrange(1, len(data))])
            self.go()
        self.socket.sendall(data)
        if leave_at == "request_sent":
            self.go()
        if leave_at == "waiting":
            time.sleep(self.chance.random() * 0.2)
            self.go()
        got = b""
        while b"\r\n\r\n" not in got:
            more = self.socket.recv(65536)
            if not more:
                raise OSError("no answer")
            got += more
            if leave_at == "answer_half":
                self.go()
        head, got = got.split(b"\r\n\r\n", 1)
        if leave_at == "answer_half":
            self.go()
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        length = int(headers.get("content-length", 0))
        while len(got) < length:
            more = self.socket.recv(65536)
            if not more:
                raise OSError("half an answer")
            got += more
        if headers.get("connection", "").lower() == "close":
            self.close()
        if leave_at == "answer_whole":
            self.go()
        return int(lines[0].split(" ")[1]), json.loads(got or b"null")


class Caller:
    """Asks one of several ports, the next one when there is no answer, until there is one."""

    def __init__(self, ports, at=0, over=None, timeout=10):
        self.ports = ports  # may change under it: ports of servers are put into their places
        self.at = at
        self.over = over or threading.Event()
        self.timeout = timeout
        self.connection = None
        self.again = 0

    def once(self, method, path, body=None):
        if self.connection is None:
            port = self.ports[self.at % len(self.ports)]
            self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=self.timeout)
        self.connection.request(method, path, json.dumps(body) if body is not None else None, HEADERS)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def ask(self, method, path, body=None, retried=(429, 503, 507)):
        """The first answer that is none of a server in trouble; (None, None) when everything is over."""
        pause = 0.02
        while not self.over.is_set():
            try:
                status, answer = self.once(method, path, body)
                if status not in retried:
                    return status, answer
                self.again += 1
                if status == 503:  # perhaps another one can
                    self.move()
            except (OSError, http.client.HTTPException, ValueError):
                self.again += 1
                self.move()
            self.over.wait(pause * (0.5 + random.random()))
            pause = min(1.0, pause * 1.5)
        return None, None

    def move(self):
        self.leave()
        self.at += 1

    def leave(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None
