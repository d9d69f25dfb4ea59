#!/usr/bin/env python3
"""proxy.py: a TCP proxy that does what networks do: it delays, cuts, dribbles and holds.

    proxy.py SEED [TRACE]      what went through is written into the file TRACE; orders come as JSON lines on standard input, each is answered with one line

    {"do": "listen", "name": "http-0", "to": ["127.0.0.1", 7430]}   -> {"port": N}
    {"do": "set", "name": "http-0", "mode": "delay", "ms": 200}     pass, delay, cut, dribble, hold, hold_commit
    {"do": "stats"}                                                 -> {"http-0": {"delay": N, ...}, ...}

What is counted is what took effect: chunks that were delayed, exchanges that were cut while bytes were under way, bytes
that were dribbled, bytes that were held, commits of PostgreSQL that were held on their way to the server, with all that followed. It is a process
of its own, so that it does not share a processor lock with the clients. It ends when its input does.
"""
import collections
import json
import random
import selectors
import socket
import sys
import time

CHUNK = 65536
QUEUE_MAX = 1 << 20
MODES = ("pass", "delay", "cut", "dribble", "hold", "hold_commit")
NEVER = float("inf")


class Way:
    """One direction of a link: bytes read from one socket that wait to be written to the other."""

    def __init__(self, link, source, target, up):
        self.link = link
        self.source = source
        self.target = target
        self.up = up
        self.queue = collections.deque()  # [due, bytes]
        self.size = 0
        self.ended = False
        self.told = False

    def take(self, data, now):
        gate = self.link.gate
        if gate.trace:
            gate.trace.write(f"\n== {time.time():.3f} {gate.name} {id(self.link):x} {'>' if self.up else '<'}\n".encode() + data)
        due = now
        if gate.mode == "delay":
            due = now + gate.seconds
            gate.counts["delay"] += 1
        if gate.mode == "hold":
            gate.counts["hold"] += len(data)
        if gate.mode == "hold_commit" and self.up and b"COMMIT" in data and not gate.tripped:
            gate.tripped = True
            gate.counts["hold_commit"] += 1
        if self.queue:
            due = max(due, self.queue[-1][0])
        self.queue.append([due, data])
        self.size += len(data)

    def held(self):
        gate = self.link.gate
        return gate.mode == "hold" or (gate.tripped and gate.mode == "hold_commit")

    def due(self):
        """When there is something to write; NEVER: not for now."""
        if self.held() or not (self.queue or (self.ended and not self.told)):
            return NEVER
        return self.queue[0][0] if self.queue else 0

    def give(self, now, chance):
        """Writes what is due. False: the link is over."""
        gate = self.link.gate
        while self.queue and self.queue[0][0] <= now and not self.held():
            due, data = self.queue[0]
            part = data
            if gate.mode == "dribble":
                part = data[:chance.randint(1, 48)]
            if gate.mode == "cut" and chance.random() < 0.3:
                part = data[:chance.randrange(len(data))]
            try:
                sent = self.target.send(part) if part else 0
            except BlockingIOError:
                return True
            except OSError:
                return False
            if gate.mode == "cut" and len(part) < len(data):
                gate.counts["cut"] += 1
                return False
            self.size -= sent
            if sent == len(data):
                self.queue.popleft()
            else:
                self.queue[0][1] = data[sent:]
            if gate.mode == "dribble":
                gate.counts["dribble"] += sent
                if self.queue:
                    self.queue[0][0] = now + 0.01
                return True
            if sent < len(part):
                return True
        if not self.queue and self.ended and not self.told and not self.held():
            self.told = True
            try:
                self.target.shutdown(socket.SHUT_WR)
            except OSError:
                return False
        return True


class Link:
    def __init__(self, gate, client, server):
        self.gate = gate
        self.sockets = (client, server)
        self.up = Way(self, client, server, True)
        self.down = Way(self, server, client, False)
        self.connected = False

    def way_of(self, sock):
        return self.up if sock is self.up.source else self.down

    def over(self):
        return self.up.told and self.down.told


class Gate:
    """One listener and what is done to its links."""

    def __init__(self, name, to, trace):
        self.name = name
        self.trace = trace
        self.to = tuple(to)
        self.mode = "pass"
        self.seconds = 0
        self.tripped = False  # a COMMIT came: it and all else is held, so that the lease of its node runs out
        self.counts = collections.Counter()
        self.links = set()
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)
        self.listener.setblocking(False)


class Proxy:
    def __init__(self, seed, trace=None):
        self.trace = open(trace, "wb") if trace else None
        self.chance = random.Random(f"{seed}/proxy")
        self.gates = {}
        self.selector = selectors.DefaultSelector()
        self.masks = {}

    def order(self, order):
        if order["do"] == "listen":
            gate = Gate(order["name"], order["to"], self.trace)
            self.gates[gate.name] = gate
            self.selector.register(gate.listener, selectors.EVENT_READ, gate)
            return {"port": gate.listener.getsockname()[1]}
        if order["do"] == "set":
            gate = self.gates[order["name"]]
            assert order["mode"] in MODES
            gate.mode = order["mode"]
            gate.seconds = order.get("ms", 0) / 1000
            gate.tripped = False
            if gate.mode == "cut":  # those that wait for an answer are cut at once, some of them
                for link in list(gate.links):
                    if self.chance.random() < 0.3:
                        gate.counts["cut"] += 1
                        self.end(link, reset=True)
            for link in gate.links:
                for way in (link.up, link.down):
                    for entry in way.queue:
                        entry[0] = 0
            return {}
        return {gate.name: dict(gate.counts) for gate in self.gates.values()}

    def accept(self, gate):
        try:
            client, _ = gate.listener.accept()
        except OSError:
            return
        server = socket.socket()
        for sock in (client, server):
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.connect_ex(gate.to)
        gate.links.add(Link(gate, client, server))
        gate.counts["links"] += 1

    def end(self, link, reset=False):
        link.gate.links.discard(link)
        for sock in link.sockets:
            self.watch(sock, 0, link)
            if reset:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()

    def watch(self, sock, mask, link):
        old = self.masks.get(sock, 0)
        if mask == old:
            return
        if not mask:
            self.selector.unregister(sock)
            del self.masks[sock]
        elif not old:
            self.selector.register(sock, mask, link)
            self.masks[sock] = mask
        else:
            self.selector.modify(sock, mask, link)
            self.masks[sock] = mask

    def read(self, way, now):
        try:
            data = way.source.recv(CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if data:
            way.take(data, now)
        else:
            way.ended = True
        return True

    def turn(self):
        now = time.monotonic()
        next_due = now + 0.5
        for gate in self.gates.values():
            for link in list(gate.links):
                if link.over():
                    self.end(link)
                    continue
                for way in (link.up, link.down):
                    mask = 0
                    if not way.ended and way.size < QUEUE_MAX:
                        mask |= selectors.EVENT_READ
                    other = link.down if way is link.up else link.up  # what is written to this socket
                    due = other.due()
                    if due <= now and (link.connected or way.source is link.sockets[0]):
                        mask |= selectors.EVENT_WRITE
                    elif due < next_due:
                        next_due = due
                    if way.source is link.sockets[1] and not link.connected:
                        mask = selectors.EVENT_WRITE
                    self.watch(way.source, mask, link)
        for key, events in self.selector.select(max(0, next_due - now)):
            if isinstance(key.data, Gate):
                self.accept(key.data)
                continue
            if not isinstance(key.data, Link):
                if not self.hear():
                    return False
                continue
            link, sock = key.data, key.fileobj
            if link not in link.gate.links:
                continue
            now = time.monotonic()
            good = True
            if sock is link.sockets[1] and not link.connected:
                good = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
                link.connected = True
            else:
                if events & selectors.EVENT_READ:
                    good = self.read(link.way_of(sock), now)
                if good and events & selectors.EVENT_WRITE:
                    way = link.down if sock is link.sockets[0] else link.up
                    good = way.give(now, self.chance)
            if not good:
                self.end(link, reset=True)
        return True

    def hear(self):
        line = sys.stdin.readline()
        if not line:
            return False
        print(json.dumps(self.order(json.loads(line))), flush=True)
        return True

    def run(self):
        self.selector.register(sys.stdin, selectors.EVENT_READ, "orders")
        while self.turn():
            pass


if __name__ == "__main__":
    Proxy(*sys.argv[1:]).run()
