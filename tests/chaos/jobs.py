"""The task queue: at least once, sometimes at once, again after a failure, and now and then again after success."""

import heapq
import itertools
import random
import threading
import time

from .mails import mail_of

RETRY = (0.05, 0.5)  # seconds until a job that failed is delivered again
REPEAT = (0.0, 4.0)  # until one that was done runs once more


class Jobs:
    """Thread-safe. New jobs are given out up to `allow(number)`; the order in which threads take them is their own."""

    def __init__(self, seed, messages):
        self.seed, self.messages = seed, messages
        self._changed = threading.Condition()
        self._rng = random.Random(f"{seed}/jobs")
        self._due, self._order = [], itertools.count()
        self._open = self._begun = self._allowed = 0
        self.under_way = 0  # deliveries that clients work on

    def allow(self, number):
        with self._changed:
            self._allowed = min(number, self.messages)
            self._changed.notify_all()

    @property
    def begun(self):
        return self._begun

    @property
    def unfinished(self):
        return self.messages - self._begun + self._open

    def take(self):
        """The next delivery, a mail and how often it is to be repeated; None when all is done."""
        with self._changed:
            while self.unfinished:
                now = time.monotonic()
                if self._due and self._due[0][0] <= now:
                    self.under_way += 1
                    return heapq.heappop(self._due)[2:]
                if self._begun < self._allowed:
                    self.under_way += 1
                    return self._begin()
                self._changed.wait(self._due[0][0] - now if self._due else None)
            self._changed.notify_all()
            return None

    def done(self, mail, repeats):
        with self._changed:
            if repeats:
                self._put(mail, repeats - 1, self._rng.uniform(*REPEAT))
            self._open -= 1
            self.under_way -= 1
            self._changed.notify()

    def failed(self, mail, repeats):
        with self._changed:
            self._put(mail, repeats, self._rng.uniform(*RETRY))
            self._open -= 1
            self.under_way -= 1
            self._changed.notify()

    def _begin(self):
        mail = mail_of(self.seed, self._begun)
        self._begun += 1
        for _ in range(mail.deliveries - 1):
            self._put(mail, 0, 0)
        self._open += 1
        self._changed.notify_all()
        return mail, mail.repeats

    def _put(self, mail, repeats, delay):
        self._open += 1
        heapq.heappush(self._due, (time.monotonic() + delay, next(self._order), mail, repeats))
