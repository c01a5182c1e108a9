"""The mails of the load. What a mail is follows from the seed and its number alone; each build() of it is made anew."""

import base64
import dataclasses
import email.utils
import itertools
import random
import re
import uuid

NAMES = ["ada", "grace", "edsger", "barbara", "donald"]
BUILD = re.compile(r"^<?(\d+)\.(\d+)")

_builds = itertools.count(1)


@dataclasses.dataclass(frozen=True)
class Mail:
    number: int
    recipients: tuple
    deliveries: int  # how many workers are given the job at the same moment
    repeats: int     # how often the job runs again after it was done
    attachment: bytes


def mail_of(seed, number):
    rng = random.Random(f"{seed}/{number}")
    recipients = tuple(f"{name}@example.net" for name in rng.sample(NAMES, rng.choices([1, 2, 3], [8, 1, 1])[0]))
    # Most are what a shop sends; a few are larger than what the relay keeps in memory.
    attachment = rng.randbytes(60_000) if rng.random() < 0.03 else b""
    return Mail(number, recipients, rng.choices([1, 2, 5], [85, 12, 3])[0], rng.choices([0, 1, 2], [75, 20, 5])[0],
                attachment)


def build(mail):
    """The mail's octets, and the number of this build: new Message-ID, Date and boundary, the same for the reader."""
    number, boundary = next(_builds), uuid.uuid4().hex
    parts = [
        f"From: Shop <shop@example.com>\nTo: customers@example.net\nSubject: Invoice {mail.number}\n"
        f"Date: {email.utils.formatdate()}\nMessage-ID: <{mail.number}.{number}@app.example.com>\n"
        f"X-Test-Id: {mail.number}.{number}\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n',
        # One digit tells two mails apart.
        f"--{boundary}\nContent-Type: text/plain; charset=utf-8\n\nDear customer,\n\n"
        f"your invoice {mail.number} of 10.00 EUR is attached.\n"]
    if mail.attachment:
        parts.append(f"--{boundary}\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n"
                     f"{base64.encodebytes(mail.attachment).decode()}")
    parts.append(f"--{boundary}--\n")
    return "".join(parts).replace("\n", "\r\n").encode(), number


def mail_and_build(text):
    """Of a Message-ID or X-Test-Id made here."""
    found = BUILD.match(text)
    return (int(found[1]), int(found[2])) if found else (None, None)
