"""A Redis server of the test's own, on a port the system chose."""

import socket
import time

from .process import Process
from .waiting import wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RedisError(AssertionError):
    """What Redis answered instead of a value."""


def ask(port, *words):
    """Sends one command, returns a string, a number or a list; enough RESP for a test."""
    return ask_all(port, words)[0]


def ask_all(port, *commands):
    """Several on one connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        stream = connection.makefile("rb")
        answers = []
        for words in commands:
            encoded = [str(word).encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(encoded)
                               + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded))
            answers.append(answer(stream))
        return answers


def answer(stream):
    line = stream.readline()[:-2]
    kind, rest = line[:1], line[1:]
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2].decode(errors="replace")
    if kind == b"*":
        return [answer(stream) for _ in range(int(rest))]
    if kind == b":":
        return int(rest)
    if kind == b"-":
        raise RedisError(f"Redis: {rest.decode()}")
    return rest.decode()


class Redis:
    """Can be frozen, killed and started again on the same port, as an outage does. `durable`: what it answered is on
    the disk, and there again after a start. `tls`: key and certificate of a second port, `tls_port`."""

    def __init__(self, folder, durable=False, arguments=(), tls=None):
        self.folder = folder
        self.arguments = ["--appendonly", "yes", "--appendfsync", "always"] if durable else ["--appendonly", "no"]
        self.arguments += arguments
        if tls:
            self.tls_port = free_port()
            self.arguments += ["--tls-port", str(self.tls_port), "--tls-key-file", str(tls[0]), "--tls-cert-file",
                               str(tls[1]), "--tls-auth-clients", "no"]
        self.starts = 0
        for _ in range(5):
            self.port = free_port()
            if self._start():
                return
        raise AssertionError("redis-server does not start:\n" + self.process.text())

    def _start(self):
        self.starts += 1
        self.process = Process(self.folder, f"redis-{self.starts}", [
            "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder),
            "--daemonize", "no", "--protected-mode", "no", *self.arguments])
        wait_until(lambda: not self.process.running or self._answers(), "Redis answers PING", 30)
        return self.process.running

    def _answers(self):
        try:
            return self.command("PING") == "PONG"
        except (OSError, RedisError):  # it is not there, or still reads what it held
            return False

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self, *words):
        return ask(self.port, *words)

    def records(self):
        return self.command("KEYS", "mailonce:*")

    def replicates(self):
        """A replica confirms writes, three within the time a relay waits: one that is "online" need not do so yet, nor
        one that a Sentinel has just found. WAIT waits for writes of its connection only."""
        return all(ask_all(self.port, ["FUNCTION", "FLUSH"], ["WAIT", 1, 50])[1] > 0 for _ in range(3))

    def freeze(self):
        """It accepts connections and never answers."""
        self.process.freeze()

    def thaw(self):
        self.process.thaw()
        wait_until(self._answers, "Redis answers again")

    def kill(self):
        """Connections are refused, and what it held is forgotten, unless it is durable."""
        self.process.kill()

    def start_again(self):
        end = time.monotonic() + 10
        while not self._start():
            if time.monotonic() > end:
                raise AssertionError("redis-server does not start again:\n" + self.process.text())

    def stop(self):
        self.process.stop()
