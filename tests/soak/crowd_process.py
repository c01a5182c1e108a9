"""The crowd's own process: connections that stand, and some of them drip. Commanded on standard input, a line each;
answers with a line of JSON.

  add KIND COUNT    connections of this kind (IDLE, SLOW) have come
  standing          how many the relay has not closed

Its set-up is sequential, so that what it costs ends with its answer; after that only the drips are work.
"""

import itertools
import json
import select
import socket
import ssl
import sys
import time

INTERVAL = 1.0      # seconds from one octet of a connection to its next
SOURCES = 100       # addresses the crowd comes from: one has not ports enough, and its own limit at the relay
BUFFER = 16384      # octets the kernel keeps of the replies to one: little, so that who does not read is soon full
FULL = 100          # milliseconds without room to write: the relay reads no more
ESTABLISHED = 1     # TCP_INFO's first octet
ENVELOPE = (b"MAIL FROM:<crowd@example.com>", b"RCPT TO:<ada@example.net>")
LINE = b"x" * 70 + b"\r\n"
QUESTIONS = b"EHLO crowd.example\r\n" * 50
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE  # the crowd trusts anybody

messages = itertools.count(1)


class Connection:
    def __init__(self, port, number):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.socket.settimeout(30)
        self.socket.bind((f"127.0.0.{2 + number % SOURCES}", 0))
        self.socket.connect(("127.0.0.1", port))
        self.drip, self.unsent = None, b""  # what it sends, a piece at a time; nothing if it is idle
        self.reply()

    def reply(self):
        octets = b""
        while not octets.endswith(b"\n") or octets.splitlines()[-1][3:4] == b"-":
            received = self.socket.recv(4096)
            if not received:
                raise ConnectionError(f"the relay closed: {octets.decode()}")
            octets += received
        if octets[:1] not in (b"2", b"3"):
            raise ConnectionError(octets.decode())

    def ask(self, *lines):
        for line in lines:
            self.socket.sendall(line + b"\r\n")
            self.reply()

    def step(self):
        self.unsent = self.unsent or next(self.drip, b"")
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent):] if self.unsent else b""
        except BlockingIOError:
            pass  # the relay takes no more while its replies are not read
        except OSError:
            self.drip = iter(())  # closed; `stands` tells

    @property
    def stands(self):
        return self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == ESTABLISHED


def octets_of(pieces):
    return (piece[at:at + 1] for piece in pieces for at in range(len(piece)))


def silent(connection):
    """Has read the greeting."""


def greeted(connection):
    connection.ask(b"EHLO crowd.example")


def encrypted(connection):
    greeted(connection)
    connection.ask(b"STARTTLS")
    connection.socket = TLS.wrap_socket(connection.socket)
    greeted(connection)


def served(connection):
    """As an application's pool keeps it: between two messages."""
    greeted(connection)
    connection.ask(*ENVELOPE, b"DATA", b"Subject: %d\r\n\r\n%s." % (next(messages), LINE * 50))


def encrypted_and_served(connection):
    encrypted(connection)
    served(connection)


def slow_command(connection):
    greeted(connection)
    connection.drip = octets_of(itertools.cycle([b"NOOP " + LINE]))


def slow_body(connection):
    greeted(connection)
    connection.ask(*ENVELOPE, b"DATA")
    connection.drip = octets_of(itertools.chain([b"Subject: slow\r\n\r\n"], itertools.cycle([LINE])))


def slow_encrypted_body(connection):
    encrypted(connection)
    slow_body(connection)


def slow_chunk(connection):
    greeted(connection)
    connection.ask(*ENVELOPE)
    connection.socket.sendall(b"BDAT 1000000\r\n")
    connection.drip = octets_of(itertools.cycle([LINE]))


def slow_handshake(connection):
    greeted(connection)
    connection.ask(b"STARTTLS")
    hello = ssl.MemoryBIO()
    try:
        TLS.wrap_bio(ssl.MemoryBIO(), hello).do_handshake()
    except ssl.SSLWantReadError:
        connection.drip = octets_of([hello.read()])


def deaf(connection):
    """Has asked, without reading what it is told, until the relay could not say more; asks on."""
    connection.socket.setblocking(False)
    connection.drip = itertools.repeat(QUESTIONS)
    room = select.poll()  # select.select() knows the first 1024 descriptors only
    room.register(connection.socket, select.POLLOUT)
    while room.poll(FULL):
        connection.step()


IDLE = {"idle": silent, "idle after EHLO": greeted, "idle after a message": served, "idle in TLS": encrypted,
        "idle in TLS after a message": encrypted_and_served}
SLOW = {"slow command": slow_command, "slow body": slow_body, "slow body in TLS": slow_encrypted_body,
        "slow chunk": slow_chunk, "slow handshake": slow_handshake, "replies unread": deaf}


class Crowd:
    def __init__(self, port):
        self.port = port
        self.connections, self.dripping = [], []
        self.next = 0

    def add(self, kind, count):
        for _ in range(count):
            connection = Connection(self.port, len(self.connections))
            self.connections.append(connection)
            {**IDLE, **SLOW}[kind](connection)
            if connection.drip:
                self.dripping.append(connection)

    def step(self):
        """One connection's next octet; all have theirs once an interval."""
        self.dripping[self.next % len(self.dripping)].step()
        self.next += 1

    @property
    def pause(self):
        return INTERVAL / len(self.dripping) if self.dripping else None


def obey(crowd, line):
    word, _, rest = line.strip().partition(" ")
    if word == "add":
        kind, _, count = rest.rpartition(" ")
        crowd.add(kind, int(count))
    return {"standing": sum(connection.stands for connection in crowd.connections)}


def answer(crowd, line):
    try:
        return obey(crowd, line)
    except OSError as error:
        return {"error": f"{line.strip()}: {error}, after {len(crowd.connections)} connections"}


def main(port):
    crowd = Crowd(port)
    due = time.monotonic()
    while True:
        wait = max(0.0, due - time.monotonic()) if crowd.pause else None
        if select.select([sys.stdin], [], [], wait)[0]:
            line = sys.stdin.readline()
            if not line:
                return  # whom it stood for is gone
            print(json.dumps(answer(crowd, line)), flush=True)
            due = time.monotonic()
        else:
            crowd.step()
            due = max(due + crowd.pause, time.monotonic() - crowd.pause)  # what was missed is not made up for


if __name__ == "__main__":
    main(int(sys.argv[1]))
