"""A client that behaves, waits for every reply as applications' libraries do, and times its messages."""

import contextlib
import itertools
import socket
import statistics
import time
import typing

_numbers = itertools.count(1)
SOURCES = 250
TEXT = b"Dear Ada,\r\n\r\nthe invoice of this month is attached to your account.\r\n" * 50


class Times(typing.NamedTuple):
    """Seconds a message."""

    all: list

    @property
    def median(self):
        return statistics.median(self.all)

    @property
    def worst_percent(self):
        return sorted(self.all)[int(len(self.all) * 0.99)]

    def __add__(self, other):
        return Times(self.all + other.all)


class NormalClient:
    def __init__(self, port):
        # From an address in turn: ports that wait for their reuse would make each connection slower than the last.
        source = f"127.0.1.{1 + next(_numbers) % SOURCES}"
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._expect(b"220")
        self._ask(b"EHLO app.example.com\r\n", b"250")

    def send(self, content):
        self._ask(b"MAIL FROM:<shop@example.com>\r\n", b"250")
        self._ask(b"RCPT TO:<ada@example.net>\r\n", b"250")
        self._ask(b"DATA\r\n", b"354")
        self._ask(content, b"250")

    def _ask(self, octets, wanted):
        self.socket.sendall(octets)
        self._expect(wanted)

    def _expect(self, wanted):
        reply = b""
        while not reply.endswith(b"\n") or reply.splitlines()[-1][3:4] == b"-":
            received = self.socket.recv(4096)
            reply += received
            if not received:
                break
        if not reply.startswith(wanted):
            raise AssertionError(f"the normal client was told {reply.decode()!r}, not {wanted.decode()}")

    def close(self):
        self.socket.close()


def content():
    """A message nobody sent before."""
    return b"From: shop@example.com\r\nSubject: Invoice %d\r\n\r\n%s.\r\n" % (next(_numbers), TEXT)


def time_messages(port, seconds, a_connection):
    """`a_connection`: as many messages over each; its making counts as time of the first."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.ExitStack() as open_connection:
            client = None
            for _ in range(a_connection):
                message = content()
                begin = time.perf_counter()
                client = client or open_connection.enter_context(contextlib.closing(NormalClient(port)))
                client.send(message)
                times.append(time.perf_counter() - begin)
                if time.monotonic() > end:
                    break
    return Times(times)
