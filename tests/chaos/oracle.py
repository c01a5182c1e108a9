"""What chaos must not do, judged from what clients were told, what the provider accepted and what the logs say.

P1: whoever was told 2xx, the provider has that mail for that recipient. P2: it has it twice only if the log calls the
second a possible duplicate, or the line's process was killed. P3: who was answered as a duplicate, has an earlier copy.
P5: what was told is what the provider said about that mail, and nothing is refused for good.
"""

import collections
import dataclasses

UNWRITTEN = 1.0  # seconds: longer than a log line waits for being written
UNHEARD = 10.0   # seconds: longer than a relay works for a client that has gone

LOST = "lost"
DROPPED = "wrongly dropped"
DUPLICATE = "unexplained duplicate"
REPLY = "reply of nobody"
DOUBT = "resent after doubt"
KILLED = "its log line died with its process"
LOCAL = "decided locally during an outage"
FORGOTTEN = "the store had forgotten"
DEFECTS = (LOST, DROPPED, DUPLICATE, REPLY)
DECLARED = (DOUBT, KILLED, LOCAL, FORGOTTEN)


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


@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str
    mail: int
    recipient: str
    at: float
    why: str


@dataclasses.dataclass
class Evidence:
    attempts: list  # of load.Attempt
    copies: list    # of Copy, in order
    lines: dict     # (build, recipient) → Line
    kills: list = dataclasses.field(default_factory=list)        # (relay, when)
    forgettings: list = dataclasses.field(default_factory=list)  # (since, until)
    alone: list = dataclasses.field(default_factory=list)  # (relay, since, until): it decided without the store


def judge(evidence):
    """Every finding: DEFECTS, of which there should be none, and DECLARED second copies."""
    case = _Case(evidence)
    return [*case.told(), *case.second_copies()]


class _Case:
    def __init__(self, evidence):
        self.evidence = evidence
        self.attempts = {attempt.build: attempt for attempt in evidence.attempts}
        self.copies = collections.defaultdict(list)
        self.replies = collections.defaultdict(set)
        for copy in evidence.copies:
            self.copies[copy.mail, copy.recipient].append(copy)
            self.replies[copy.mail].add(copy.reply)

    def told(self):
        for attempt in self.evidence.attempts:
            for recipient, (code, text) in attempt.replies.items():
                if code // 100 == 2:
                    yield from self._told_yes(attempt, recipient, f"{code} {text}")
                elif code // 100 != 4:
                    yield Finding(REPLY, attempt.mail, recipient, attempt.end, f"refused for good: {code} {text}")

    def _told_yes(self, attempt, recipient, reply):
        earlier = [copy for copy in self.copies[attempt.mail, recipient]
                   if self.attempts[copy.build].start <= attempt.end]
        if not earlier:
            line = self._line(attempt, recipient)
            kind = DROPPED if line and line.outcome == "duplicate" else LOST
            yield Finding(kind, attempt.mail, recipient, attempt.end, f"told {reply}")
        elif reply not in self.replies[attempt.mail]:
            yield Finding(REPLY, attempt.mail, recipient, attempt.end, f"told {reply}")

    def second_copies(self):
        for (mail, recipient), copies in self.copies.items():
            if len(copies) > 1:
                yield from self._second_copies(mail, recipient, copies)

    def _second_copies(self, mail, recipient, copies):
        attempts = sorted((self.attempts[copy.build] for copy in copies), key=lambda attempt: attempt.start)
        if len({attempt.build for attempt in attempts}) < len(attempts):
            yield Finding(DUPLICATE, mail, recipient, attempts[-1].end, "one attempt was sent twice")
            return
        flagged = [attempt for attempt in attempts if self._flagged(attempt, recipient)]
        killed = [attempt for attempt in attempts if self._died_unlogged(attempt, recipient)]
        plain = [attempt for attempt in attempts if attempt not in flagged and attempt not in killed]
        # One copy is the first and needs no reason; each other one has to have its own.
        first = (plain or killed or flagged)[0]
        for attempt in attempts:
            if attempt is first:
                continue
            if attempt in flagged:
                yield Finding(DOUBT, mail, recipient, attempt.end, "")
            elif attempt in killed and (not plain or self._after_doubt_in(first, attempt, recipient)):
                yield Finding(KILLED, mail, recipient, attempt.end, "")
            else:
                yield self._unflagged(mail, recipient, first, attempt)

    def _flagged(self, attempt, recipient):
        line = self._line(attempt, recipient)
        return line is not None and line.flagged

    def _died_unlogged(self, attempt, recipient):
        return self._line(attempt, recipient) is None and self._death(attempt) is not None

    def _after_doubt_in(self, first, attempt, recipient):
        """Whether `attempt`, of which no line is left, can have been a resend after doubt in `first`. If it came
        before, it left doubt itself, and `first` had to be flagged."""
        line = self._line(first, recipient)
        known = line is not None and line.outcome != "doubt"
        # Who knows of the outcome and is killed before the store does, leaves doubt too.
        return self._death(attempt) >= first.end and not (known and self._death(first, float("inf")) is None)

    def _unflagged(self, mail, recipient, first, second):
        if any(since <= second.end and until >= first.start for since, until in self.evidence.forgettings):
            kind = FORGOTTEN
        else:
            alone = any(self._decided_alone(attempt, recipient) for attempt in (first, second))
            kind = LOCAL if alone else DUPLICATE
        return Finding(kind, mail, recipient, second.end, f"builds {first.build} and {second.build}")

    def _decided_alone(self, attempt, recipient):
        line = self._line(attempt, recipient)
        if line:
            return line.source in ("local", "unasked")
        # What it knew of this attempt died with it before it was written back.
        return any(relay == attempt.relay and since <= attempt.end and until >= attempt.start
                   for relay, since, until in self.evidence.alone)

    def _line(self, attempt, recipient):
        return self.evidence.lines.get((attempt.build, recipient))

    def _death(self, attempt, within=None):
        """When the attempt's relay was killed, if that may have cost its line."""
        if within is None:
            within = UNWRITTEN if attempt.replies else UNHEARD
        return next((at for relay, at in self.evidence.kills
                     if relay == attempt.relay and attempt.start <= at <= attempt.end + within), None)
