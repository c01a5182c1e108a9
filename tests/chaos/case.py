"""What is known of a run, and what can be asked of it: the clients' attempts, the provider's copies, the relays' lines,
and when which part was broken."""

import collections
import dataclasses

UNWRITTEN = 1.0  # seconds: longer than a log line, or a commit once the store is back, waits for being written
UNHEARD = 10.0   # seconds: longer than a relay works for a client that has gone


@dataclasses.dataclass(frozen=True)
class Copy:
    """What the provider accepted, for one recipient."""

    mail: int
    build: int
    recipient: str
    reply: str


@dataclasses.dataclass(frozen=True)
class Line:
    """What a relay's log says of one build, for one recipient."""

    outcome: str
    flagged: bool = False  # possible_duplicate
    source: str = "store"
    first_mail: int | None = None  # the mail that first_message_id belongs to


@dataclasses.dataclass
class Evidence:
    attempts: list  # of load.Attempt
    copies: list    # of Copy, in order
    lines: dict     # (build, recipient) → Line
    kills: list = dataclasses.field(default_factory=list)        # (relay, when)
    freezes: list = dataclasses.field(default_factory=list)      # (relay, since, until)
    outages: list = dataclasses.field(default_factory=list)      # (relay, since, until): by its log, of its store
    forgettings: list = dataclasses.field(default_factory=list)  # (since, until): what the store may have lost
    alone: bool = False                                          # relays decide during an outage
    refusals: frozenset = frozenset()                            # what the provider was told to refuse for good with


class Case:
    def __init__(self, evidence):
        self.evidence = evidence
        self.attempts = {attempt.build: attempt for attempt in evidence.attempts}
        self.of_mail = collections.defaultdict(list)
        self.copies = collections.defaultdict(list)
        self.replies = collections.defaultdict(set)
        for attempt in evidence.attempts:
            self.of_mail[attempt.mail].append(attempt)
        for copy in evidence.copies:
            self.copies[copy.mail, copy.recipient].append(copy)
            self.replies[copy.mail].add(copy.reply)

    def line(self, attempt, recipient):
        return self.evidence.lines.get((attempt.build, recipient))

    def death(self, attempt, within=None):
        """When the attempt's relay was killed, if that may have cost its line."""
        if within is None:
            within = UNWRITTEN if attempt.replies else UNHEARD
        return next((at for relay, at in self.evidence.kills
                     if relay == attempt.relay and attempt.start <= at <= attempt.end + within), None)

    def died_unlogged(self, attempt, recipient):
        return self.line(attempt, recipient) is None and self.death(attempt) is not None

    def frozen(self, attempt):
        return overlaps(self.evidence.freezes, attempt, UNHEARD)

    def without_store(self, attempt):
        return overlaps(self.evidence.outages, attempt, UNHEARD)

    def forgotten(self, since, until):
        return any(begin <= until and end >= since for begin, end in self.evidence.forgettings)

    def decided_alone(self, attempt, recipient):
        line = self.line(attempt, recipient)
        if line:
            return line.source in ("local", "unasked")
        # What it knew of this attempt died with it before it was written back.
        return self.evidence.alone and overlaps(self.evidence.outages, attempt, 0)


def overlaps(periods, attempt, after):
    """Whether one of the attempt's relay touches it, or the time `after` it."""
    return any(relay == attempt.relay and since <= attempt.end + after and until >= attempt.start
               for relay, since, until in periods)
