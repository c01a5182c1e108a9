"""Clients: threads that take jobs, build the mail anew for each attempt, and keep what they were told."""

import dataclasses
import random
import threading
import time

from .mails import build
from .session import Lost, Session

TIMEOUT = 15        # longer than the relay needs to decide, whatever is broken
IMPATIENT = 0.01    # the share of attempts whose client leaves after its dot
ONE_SESSION = 30    # messages, then another relay


@dataclasses.dataclass
class Attempt:
    mail: int
    build: int
    recipients: tuple
    relay: int
    start: float
    end: float = 0.0
    replies: dict = dataclasses.field(default_factory=dict)  # recipient → (code, text); empty: lost

    @property
    def felt(self):
        """When it met what was broken: soon after its start, however long it hung."""
        return min(self.end, self.start + 0.1)

    def told(self, recipient):
        """The first digit of the last word; 0 for none."""
        return self.replies.get(recipient, (0, ""))[0] // 100


class Load:
    def __init__(self, jobs, ports, clients):
        self.jobs, self.ports = jobs, ports
        self.attempts = []
        self.failure = None
        self._threads = [threading.Thread(target=self._guarded, args=(number,), daemon=True)
                         for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def join(self, at_most):
        end = time.monotonic() + at_most
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        if self.failure:
            raise self.failure
        return not any(thread.is_alive() for thread in self._threads)

    def _guarded(self, number):
        try:
            self._work(random.Random(f"{self.jobs.seed}/client/{number}"))
        except Exception as error:  # told by join(): a thread has nobody else to tell
            self.failure = error

    def _work(self, rng):
        session, relay, left = None, 0, 0
        while job := self.jobs.take():
            mail, repeats = job
            if left == 0:
                session, relay, left = self._other(session), rng.randrange(len(self.ports)), ONE_SESSION
            octets, number = build(mail)
            attempt = Attempt(mail.number, number, mail.recipients, relay, time.monotonic())
            try:
                session = session or Session(self.ports[relay], TIMEOUT)
                attempt.replies = session.send(mail.recipients, octets, leave=rng.random() < IMPATIENT)
                left -= 1
            except Lost:
                session, left = self._other(session), 0
            attempt.end = time.monotonic()
            self.attempts.append(attempt)
            finished = all(attempt.told(recipient) == 2 for recipient in mail.recipients)
            (self.jobs.done if finished else self.jobs.failed)(mail, repeats)
        self._other(session)

    @staticmethod
    def _other(session):
        if session:
            session.close()
