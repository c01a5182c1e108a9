"""Clients: one that behaves and reports what it was told, and one that sends what it is given, octet for octet."""

import dataclasses
import re
import smtplib
import socket


@dataclasses.dataclass
class Attempt:
    """One attempt to send, as the client saw it."""

    test_id: str
    message_id: str
    octets: bytes
    recipients: tuple
    replies: dict = dataclasses.field(default_factory=dict)  # recipient → (code, text): the last word about it
    refused_early: set = dataclasses.field(default_factory=set)  # recipients refused before DATA
    failure: str = ""  # the connection broke before the last word

    @property
    def code(self):
        """The one code all recipients were told; fails when they differ."""
        codes = {code for code, _ in self.replies.values()}
        assert len(codes) == 1, self.replies
        return codes.pop()

    @property
    def text(self):
        texts = {text for _, text in self.replies.values()}
        assert len(texts) == 1, self.replies
        return texts.pop()

    @property
    def reply(self):
        return f"{self.code} {self.text}"


def header(octets, name):
    found = re.search(rb"^" + name.encode() + rb":[ \t]*([^\r\n]*)", octets.partition(b"\r\n\r\n")[0],
                      re.MULTILINE | re.IGNORECASE)
    return found.group(1).decode("latin-1") if found else ""


def attempt_of(octets, recipients=("ada@example.net",)):
    """An attempt that has not been answered; what a client that left knows of its own."""
    return Attempt(header(octets, "X-Test-Id"), header(octets, "Message-ID"), octets, tuple(recipients))


def submit(where, octets, recipients=("ada@example.net",), sender="shop@example.com", timeout=60):
    """Sends once, over a new connection (`where`: a relay or a port) or over an open smtplib.SMTP."""
    attempt = attempt_of(octets, recipients)
    if isinstance(where, smtplib.SMTP):
        _transact(where, attempt, sender)
        return attempt
    try:
        with smtplib.SMTP("127.0.0.1", getattr(where, "port", where), timeout=timeout) as client:
            client.ehlo("app.example.com")
            _transact(client, attempt, sender)
    except (smtplib.SMTPException, OSError) as error:
        attempt.failure = attempt.failure or repr(error)
    return attempt


def _transact(client, attempt, sender):
    try:
        code, text = client.mail(sender)
        if code != 250:
            return _all(attempt, attempt.recipients, code, text, early=True)
        standing = []
        for recipient in attempt.recipients:
            code, text = client.rcpt(recipient)
            if code // 100 == 2:
                standing.append(recipient)
            else:
                _all(attempt, [recipient], code, text, early=True)
        if not standing:
            client.rset()
            return None
        try:
            # smtplib stuffs dots itself, and leaves line ends that are right alone.
            code, text = client.data(attempt.octets)
        except smtplib.SMTPDataError as refused:
            code, text = refused.smtp_code, refused.smtp_error
        return _all(attempt, standing, code, text)
    except (smtplib.SMTPServerDisconnected, OSError) as error:
        attempt.failure = repr(error)
        return None


def _all(attempt, recipients, code, text, early=False):
    for recipient in recipients:
        attempt.replies[recipient] = (code, text.decode("latin-1"))
        if early:
            attempt.refused_early.add(recipient)


class Conversation:
    """A raw session. Lines are sent as they are; a reply is its code and text."""

    def __init__(self, where, greet=True, timeout=30):
        self.socket = socket.create_connection(("127.0.0.1", getattr(where, "port", where)), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        if greet:
            self.banner = self.reply()
            self.ehlo = self.ask("EHLO client.example")

    def send(self, octets):
        self.socket.sendall(octets if isinstance(octets, bytes) else octets.encode())

    def reply(self):
        """The next reply as one string, its lines joined by newlines; empty at the end of the stream."""
        lines = []
        while True:
            line = self.input.readline()
            lines.append(line.decode("latin-1").rstrip("\r\n"))
            if not line or line[3:4] != b"-":
                return "\n".join(lines)

    def ask(self, line):
        self.send(line if isinstance(line, bytes) else line.encode() + b"\r\n")
        return self.reply()

    def begin(self, sender="shop@example.com", recipients=("ada@example.net",)):
        """MAIL, RCPT and DATA; the body may follow."""
        assert self.ask(f"MAIL FROM:<{sender}>").startswith("250")
        for recipient in recipients:
            assert self.ask(f"RCPT TO:<{recipient}>").startswith("250")
        assert self.ask("DATA").startswith("354")

    def rest(self):
        """Everything until the other side closes."""
        return self.input.read().decode("latin-1")

    def close(self):
        self.input.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
