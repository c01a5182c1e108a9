"""Minutes of clients with all manners before a provider with all troubles. When all are gone the relay must hold what
it held after a warm-up: as many descriptors and threads, and no more memory than heaps breathe."""

import collections
import contextlib
import dataclasses
import random
import statistics
import subprocess
import threading
import time
import typing

from .level import Level, all_descriptors, level_of, settled
from .manners import MANNERS, PASSWORD, Visit, choose
from .normal_client import NormalClient, content
from .report import table
from .rig import Rig
from .troubles import TROUBLES

BREATH_SHARE = 0.10     # of resident memory may come and go, if that is more than `breath`
FEWEST_SAMPLES = 16     # for a judgement on the rise
QUIET = 3               # seconds in which whatever has a time limit here meets it


@dataclasses.dataclass(frozen=True)
class Load:
    minutes: float = 10
    seed: int = 1
    clients: int = 16
    rate: float = 200      # visits a second, all clients together
    store: str = "sqlite"
    warm: float = 60       # seconds before the level is taken that has to be reached again
    every: float = 3       # seconds from sample to sample
    breath: float = 8      # MB of resident memory that may come and go
    rise: float = 2        # MB that the last quarter of the samples may lie above the third


class Result(typing.NamedTuple):
    plan: Load
    before: Level
    samples: list
    after: Level
    visits: collections.Counter
    sent: int
    troubles: collections.Counter
    errors: list           # of the relay's own making, from its log

    @property
    def failures(self):
        yield from judge(self.plan, self.before, self.samples, self.after)
        if not self.sent:
            yield "no message was sent"
        for name in MANNERS:
            if not self.visits[name]:
                yield f"nobody came who: {name}"
        yield from (f"logged: {error}" for error in self.errors[:10])

    def markdown(self):
        begin = self.samples[0].at
        head = ["seconds", "descriptors", "threads", "resident MB"]
        step = max(1, len(self.samples) // 20)
        levels = [head, ["after the warm-up", *self.before.row(begin)[1:]],
                  *(sample.row(begin) for sample in self.samples[::step]), ["all gone", *self.after.row(begin)[1:]]]
        visits = [["clients", "visits"], *sorted(self.visits.items()), ["**all**", self.visits.total()]]
        troubles = [["provider", "times"], *sorted(self.troubles.items()), ["**all**", self.troubles.total()]]
        return f"{table(levels)}\n\n{table(visits)}\n\n{table(troubles)}\n\n{self.sent} messages were told 2xx."


def judge(plan, before, samples, after):
    """What the relay kept, each as a sentence."""
    for what in ("descriptors", "threads"):
        if getattr(after, what) != getattr(before, what):
            yield f"{getattr(after, what)} {what} when all are gone, {getattr(before, what)} before"
    if after.resident > before.resident + max(1e6 * plan.breath, BREATH_SHARE * before.resident):
        yield f"{after.resident / 1e6:.1f} MB when all are gone, {before.resident / 1e6:.1f} before"
    if len(samples) >= FEWEST_SAMPLES:
        quarter = len(samples) // 4
        third, last = (statistics.median(sample.resident for sample in part)
                       for part in (samples[-2 * quarter:-quarter], samples[-quarter:]))
        if last > third + 1e6 * plan.rise:
            yield f"memory still rises: {last / 1e6:.1f} MB in the last quarter, {third / 1e6:.1f} in the third"


class Clients:
    """Threads that visit, until told to stop."""

    def __init__(self, plan, ports, round_):
        self.visits, self.sent, self.failure = collections.Counter(), 0, None
        self._plan, self._ports = plan, ports
        self._end, self._lock, self._recent = threading.Event(), threading.Lock(), []
        self._first = list(MANNERS)  # each comes once, however short the load
        self._threads = [threading.Thread(target=self._guarded, args=(f"{plan.seed}/{round_}/{number}",), daemon=True)
                         for number in range(plan.clients)]
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._end.set()
        for thread in self._threads:
            thread.join(60)
        if self.failure:
            raise self.failure

    def _guarded(self, seed):
        try:
            self._come_again(random.Random(seed))
        except Exception as error:  # told by stop(): a thread has nobody else to tell
            self.failure = error

    def _come_again(self, rng):
        while not self._end.wait(rng.expovariate(self._plan.rate / self._plan.clients)):
            name = self._next(rng)
            visit = Visit(self._ports, rng, self._recent)
            try:
                # What the relay closes or resets, and what it leaves unanswered, is what these clients ask for.
                with contextlib.suppress(OSError):
                    MANNERS[name][1](visit)
            finally:
                visit.leave()
            with self._lock:
                self.visits[name] += 1
                self.sent += visit.sent

    def _next(self, rng):
        with self._lock:
            return self._first.pop() if self._first else choose(rng)


def run(plan, folder, tell=lambda text: None, leave_open=0, **limits):
    """For the test that they are found: `leave_open` connections that somebody forgets, other `limits` of the relay."""
    with all_descriptors(), rig_for(plan, folder, limits) as rig:
        ports = {"smtp": rig.port(0), "proxy": rig.port(1)}
        work(plan, rig, ports, min(plan.warm, 60 * plan.minutes), "warm-up")
        before = calm(rig, ports)
        tell(f"warm: {before.resident / 1e6:.1f} MB, {before.descriptors} descriptors")
        with contextlib.ExitStack() as forgotten:
            for _ in range(leave_open):
                forgotten.enter_context(contextlib.closing(NormalClient(ports["smtp"])))
            clients, troubles, samples = work(plan, rig, ports, 60 * plan.minutes, "load", tell)
            after = calm(rig, ports)
        errors = [str(line) for line in rig.relay.lines()
                  if line["level"] == "error" or line.get("reason") == "internal_error"]
    return Result(plan, before, samples, after, clients.visits, clients.sent, troubles, errors)


def rig_for(plan, folder, limits):
    users = folder / "users"
    users.write_text("shop:" + subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=PASSWORD, text=True,
                                              capture_output=True, check=True).stdout)
    return Rig(
        folder, plan.store, {"users_file": str(users)}, [{"address": "127.0.0.1:0", "proxy_protocol": ["127.0.0.1"]}],
        # Short, so that what the clients and the provider leave hanging comes to its end while they still come.
        limits={"memory_per_message": "32KiB", "spool_directory": str(folder), "command_timeout": "2s",
                "data_timeout": "2s", "write_timeout": "2s", "handshake_timeout": "2s", **limits},
        tls_upstream=True,
        upstream_keys={"ca_file": str(folder / "upstream.pem"), "connect_timeout": "1s", "greeting_timeout": "1s",
                       "command_timeout": "1s", "data_timeout": "1s", "reply_timeout": "1s", "max_wait": "1s",
                       "max_idle": "1s"},
        # Records end while others come, so that their number stays the same too.
        window={"content": "30s", "memory_max_records": 2000}, policy={"wait": "1s"})


def work(plan, rig, ports, seconds, round_, tell=lambda text: None):
    """Load and troubles for so long; samples all the while."""
    rng = random.Random(f"{plan.seed}/{round_}/troubles")
    troubles, samples, begin = collections.Counter(), [level_of(rig.pid)], time.monotonic()
    clients = Clients(plan, ports, round_)
    try:
        while time.monotonic() < begin + seconds:
            name = rng.choice(list(TROUBLES))
            with TROUBLES[name](rig.upstream):
                time.sleep(rng.uniform(0.1, 1.0))
            troubles[name] += 1
            time.sleep(rng.uniform(0.1, 1.0))
            if time.monotonic() > samples[-1].at + plan.every:
                samples.append(level_of(rig.pid))
                if len(samples) % 20 == 0:
                    tell(f"{samples[-1].resident / 1e6:.1f} MB, {samples[-1].descriptors} descriptors")
    finally:
        clients.stop()
    return clients, troubles, samples


def calm(rig, ports):
    """The level when everybody is gone, the provider's idle connections too, and the relay has shown that it works."""
    with contextlib.closing(NormalClient(ports["smtp"])) as client:
        client.send(content())
    return settled(rig.pid, QUIET)
