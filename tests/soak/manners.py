"""How clients behave, well and badly. A manner is a function of a visit: it opens what it needs of the relay's
listeners and leaves. Whatever the relay answers to bad manners is right as long as it goes on. An entry of MANNERS adds
one."""

import base64
import contextlib
import itertools
import random
import socket
import ssl
import struct
import time

PASSWORD = "correct horse battery"
TIMEOUT = 10
ENVELOPE = (b"MAIL FROM:<shop@example.com>\r\n", b"RCPT TO:<ada@example.net>\r\n")
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE  # these clients trust anybody
PROXY_V2 = b"\r\n\r\n\0\r\nQUIT\n"

_numbers = itertools.count(1)


class Visit:
    """One client's stay. `ports`: what listens, by name."""

    def __init__(self, ports, rng, recent):
        self.ports, self.rng, self.recent = ports, rng, recent
        self.sent = 0  # messages it was told 2xx for
        self.sockets = []

    def connect(self, to="smtp", greeting=True):
        connection = socket.create_connection(("127.0.0.1", self.ports[to]), timeout=TIMEOUT)
        self.sockets.append(connection)
        if greeting:
            self.reply(connection)
            self.ask(connection, b"EHLO app.example.com\r\n")
        return connection

    def connect_tls(self):
        connection = TLS.wrap_socket(self.start_tls())
        self.sockets.append(connection)
        self.ask(connection, b"EHLO app.example.com\r\n")
        return connection

    def start_tls(self):
        connection = self.connect()
        self.ask(connection, b"STARTTLS\r\n")
        return connection

    def ask(self, connection, octets):
        connection.sendall(octets)
        return self.reply(connection)

    @staticmethod
    def reply(connection):
        """What it was told; fails when the relay closes, as it may."""
        octets = b""
        while not octets.endswith(b"\n") or octets.splitlines()[-1][3:4] == b"-":
            received = connection.recv(4096)
            if not received:
                raise ConnectionError("closed")
            octets += received
        return octets

    def begin(self, connection, end=b"DATA\r\n"):
        """The envelope in one flight, until the body may come."""
        lines = ENVELOPE + ((end,) if end else ())
        connection.sendall(b"".join(lines))
        replies = [self.reply_line(connection) for _ in lines]
        if any(reply[:1] not in b"23" for reply in replies):
            raise ConnectionError("refused")

    @staticmethod
    def reply_line(connection):
        line = b""
        while not line.endswith(b"\n"):
            octet = connection.recv(1)
            if not octet:
                raise ConnectionError("closed")
            line += octet
        return line

    def message(self):
        """One in five was sent before."""
        if self.recent and self.rng.random() < 0.2:
            return self.rng.choice(self.recent)
        number = next(_numbers)
        octets = b"Message-ID: <%d@app.example.com>\r\nSubject: Invoice %d\r\n\r\n" % (number, number)
        octets += b"Dear Ada,\r\n" * self.rng.choice([1, 40, 400])
        if len(self.recent) < 200:
            self.recent.append(octets)
        else:
            self.recent[self.rng.randrange(200)] = octets
        return octets

    def told(self, reply):
        self.sent += reply.startswith(b"2")

    def send(self, connection):
        self.begin(connection)
        self.told(self.ask(connection, self.message() + b".\r\n"))

    def reset(self, connection):
        """Ends with RST: nothing more is read, nothing is said."""
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def leave(self):
        for connection in self.sockets:
            with contextlib.suppress(OSError):
                connection.close()

    def drip(self, connection, octets, seconds):
        end = time.monotonic() + seconds
        for at in range(len(octets)):
            if time.monotonic() > end:
                return
            connection.sendall(octets[at:at + 1])
            time.sleep(0.01)  # that it is slow is the point


def well(visit):
    connection = visit.connect()
    for _ in range(visit.rng.randint(1, 4)):
        visit.send(connection)
    visit.ask(connection, b"QUIT\r\n")


def well_in_tls(visit):
    connection = visit.connect_tls()
    visit.send(connection)
    visit.ask(connection, b"QUIT\r\n")


def well_through_a_proxy(visit):
    connection = visit.connect("proxy", greeting=False)
    connection.sendall(b"PROXY TCP4 127.0.0.9 127.0.0.1 4000 25\r\n")
    visit.reply(connection)
    visit.ask(connection, b"EHLO app.example.com\r\n")
    visit.send(connection)


def in_chunks(visit):
    connection = visit.connect()
    visit.begin(connection, end=None)
    rest = visit.message()
    while len(rest) > 1000 and visit.rng.random() < 0.7:
        cut = visit.rng.randrange(1, len(rest))
        visit.ask(connection, b"BDAT %d\r\n" % cut + rest[:cut])
        rest = rest[cut:]
    visit.told(visit.ask(connection, b"BDAT %d LAST\r\n" % len(rest) + rest))


def logged_in(visit):
    connection = visit.connect_tls()
    password = visit.rng.choice([PASSWORD, "wrong"])
    visit.ask(connection, b"AUTH PLAIN " + base64.b64encode(b"\0shop\0" + password.encode()) + b"\r\n")
    visit.send(connection)


def large(visit):
    """Goes through a file."""
    connection = visit.connect()
    visit.begin(connection)
    body = b"Subject: %d\r\n\r\n" % next(_numbers) + b"x" * 998 + b"\r\n"
    visit.told(visit.ask(connection, body * visit.rng.choice([100, 1000]) + b".\r\n"))


def leaves_in_a_large_body(visit):
    connection = visit.connect()
    visit.begin(connection)
    connection.sendall((b"x" * 998 + b"\r\n") * visit.rng.randrange(50, 500))


def leaves_in_the_body(visit):
    connection = visit.connect()
    visit.begin(connection)
    connection.sendall(visit.message()[:visit.rng.randrange(1, 60)])


def resets_in_the_body(visit):
    connection = visit.connect()
    visit.begin(connection)
    connection.sendall(visit.message())
    visit.reset(connection)


def resets_after_the_dot(visit):
    connection = visit.connect()
    visit.begin(connection)
    connection.sendall(visit.message() + b".\r\n")
    time.sleep(visit.rng.choice([0, 0.001, 0.01]))  # where the decision is then is the point
    visit.reset(connection)


def leaves_in_tls_without_a_word(visit):
    connection = visit.connect_tls()
    visit.begin(connection)
    connection.sendall(visit.message())
    visit.reset(connection)


def closes_its_side_after_the_dot(visit):
    connection = visit.connect()
    visit.begin(connection)
    connection.sendall(visit.message() + b".\r\n")
    connection.shutdown(socket.SHUT_WR)
    visit.told(visit.reply(connection))


def leaves_in_a_chunk(visit):
    connection = visit.connect()
    visit.begin(connection, end=None)
    connection.sendall(b"BDAT 5000\r\n" + b"x" * visit.rng.randrange(5000))


def chunks_of_nothing(visit):
    connection = visit.connect()
    visit.ask(connection, b"BDAT 700\r\n" + b"QUIT\r\n" * 100 + b"x" * 100)
    visit.ask(connection, b"BDAT 99999999999999999999\r\n")


def malformed(visit):
    connection = visit.connect()
    visit.begin(connection)
    visit.ask(connection, visit.rng.choice([b"bare\nLF", b"bare\rCR", b"NUL\0"]) + b"\r\n.\r\n")


def garbage(visit):
    connection = visit.connect(greeting=False)
    connection.sendall(visit.rng.randbytes(visit.rng.randrange(1, 5000)))
    visit.reply(connection)
    visit.reply(connection)


def another_protocol(visit):
    connection = visit.connect(greeting=False)
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    visit.reply(connection)
    visit.reply(connection)


def comes_and_goes(visit):
    connection = visit.connect(greeting=False)
    if visit.rng.random() < 0.5:
        visit.reset(connection)


def hello_of(rng):
    """The begin of a TLS handshake, as far as it goes."""
    hello = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        TLS.wrap_bio(ssl.MemoryBIO(), hello).do_handshake()
    octets = hello.read()
    return octets[:rng.randrange(1, len(octets) + 1)]


def breaks_off_the_handshake(visit):
    connection = visit.start_tls()
    connection.sendall(hello_of(visit.rng))
    if visit.rng.random() < 0.5:
        visit.reset(connection)


def no_handshake(visit):
    connection = visit.start_tls()
    connection.sendall(visit.rng.randbytes(300))
    connection.recv(100)


def speaks_behind_starttls(visit):
    connection = visit.connect()
    visit.ask(connection, b"STARTTLS\r\nMAIL FROM:<attacker@example.com>\r\n")


def no_proxy_header(visit):
    connection = visit.connect("proxy", greeting=False)
    connection.sendall(visit.rng.choice([
        b"PROXY TCP4 ", b"PROXY TCP4 not an address\r\n", b"EHLO app.example.com\r\n", PROXY_V2,
        PROXY_V2 + visit.rng.randbytes(16), PROXY_V2 + b"\x21\x11\xff\xff" + bytes(500), visit.rng.randbytes(200)]))
    if visit.rng.random() < 0.5:
        connection.recv(100)


def drips(visit):
    connection = visit.connect()
    if visit.rng.random() < 0.5:
        return visit.drip(connection, b"NOOP " + b"x" * 200 + b"\r\n", 1)
    visit.begin(connection)
    visit.drip(connection, visit.message(), 1)
    visit.told(visit.ask(connection, b"\r\n.\r\n"))


def does_not_read(visit):
    connection = visit.connect()
    connection.settimeout(0.3)
    for _ in range(20):
        connection.sendall(b"EHLO app.example.com\r\n" * 90)


# (how often among all, what it does)
MANNERS = {
    "sends": (30, well), "sends in TLS": (6, well_in_tls), "sends through a proxy": (4, well_through_a_proxy),
    "sends in chunks": (6, in_chunks), "logs in, or not": (2, logged_in), "sends a large message": (2, large),
    "leaves in a large body": (2, leaves_in_a_large_body), "leaves in the body": (4, leaves_in_the_body),
    "resets in the body": (4, resets_in_the_body), "resets after the dot": (6, resets_after_the_dot),
    "leaves in TLS without a word": (3, leaves_in_tls_without_a_word),
    "closes its side after the dot": (3, closes_its_side_after_the_dot), "leaves in a chunk": (3, leaves_in_a_chunk),
    "chunks of nothing": (2, chunks_of_nothing), "malformed body": (3, malformed), "garbage": (3, garbage),
    "another protocol": (1, another_protocol), "comes and goes": (4, comes_and_goes),
    "breaks off the handshake": (4, breaks_off_the_handshake), "no handshake": (2, no_handshake),
    "speaks behind STARTTLS": (2, speaks_behind_starttls), "no PROXY header": (4, no_proxy_header),
    "drips": (1, drips), "does not read": (1, does_not_read)}


def choose(rng: random.Random):
    return rng.choices(list(MANNERS), [weight for weight, _ in MANNERS.values()])[0]
