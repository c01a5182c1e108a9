"""P2: each copy but the first needs its own reason. One that the log calls a possible duplicate needs a doubt before
it; and what a client was told is done, with the store at hand, is never sent again, whatever the log calls it."""

from .case import UNWRITTEN, overlaps
from .findings import DOUBT, DUPLICATE, FORGOTTEN, KILLED, LOCAL, Finding


def second_copies(case):
    for (mail, recipient), copies in case.copies.items():
        if len(copies) > 1:
            yield from explained(case, mail, recipient, copies)


def explained(case, mail, recipient, copies):
    attempts = sorted((case.attempts[copy.build] for copy in copies), key=lambda attempt: attempt.start)
    if len({attempt.build for attempt in attempts}) < len(attempts):
        yield Finding(DUPLICATE, mail, recipient, attempts[-1].end, "one attempt was sent twice")
        return
    flagged = [attempt for attempt in attempts if is_flagged(case, attempt, recipient)]
    killed = [attempt for attempt in attempts if case.died_unlogged(attempt, recipient)]
    plain = [attempt for attempt in attempts if attempt not in flagged and attempt not in killed]
    # One copy is the first and needs no reason.
    first = (plain or killed or flagged)[0]
    for attempt in attempts:
        if attempt is first:
            continue
        done = next((one for one in attempts if is_done_before(case, one, attempt, recipient)), None)
        if done:
            yield unexcused(case, recipient, done, attempt, "sent again after its acknowledgement")
        elif attempt in flagged:
            yield (cause_of_doubt(case, attempt, recipient) or
                   unexcused(case, recipient, first, attempt, "called a possible duplicate without a doubt before"))
        elif attempt in killed and (not plain or after_doubt_in(case, first, attempt, recipient)):
            yield Finding(KILLED, mail, recipient, attempt.felt, f"build {attempt.build}")
        else:
            yield unexcused(case, recipient, first, attempt, "neither was in doubt")


def is_flagged(case, attempt, recipient):
    line = case.line(attempt, recipient)
    return line is not None and line.flagged


def is_done_before(case, one, other, recipient):
    """Whether `one` was acknowledged, and its commit written, when `other` began."""
    line = case.line(one, recipient)
    return (one.told(recipient) == 2 and one.end < other.start and line is not None and line.outcome == "forwarded"
            and line.source == "store" and not overlaps(case.evidence.outages, one, UNWRITTEN))


def cause_of_doubt(case, attempt, recipient):
    """What an earlier attempt left in doubt, and how; None if none did."""
    for earlier in reversed(case.of_mail[attempt.mail]):
        if earlier is attempt or earlier.start >= attempt.end or recipient not in earlier.recipients:
            continue
        line = case.line(earlier, recipient)
        if line is not None and line.outcome == "doubt":
            how = "is doubt in the log"
        elif case.death(earlier) is not None:
            how = "had its relay killed"
        elif case.frozen(earlier):
            how = "had its relay frozen"
        elif case.without_store(earlier):
            how = "had no store for its commit"
        else:
            continue
        return Finding(DOUBT, attempt.mail, recipient, earlier.felt, f"build {earlier.build} {how}")
    return None


def after_doubt_in(case, first, attempt, recipient):
    """Whether `attempt`, of which no line is left, can have been a resend after doubt in `first`. If it came before, it
    left doubt itself, and `first` had to be flagged."""
    line = case.line(first, recipient)
    known = line is not None and line.outcome != "doubt"
    # Who knows of the outcome and is killed before the store does, leaves doubt too.
    return case.death(attempt) >= first.end and not (known and case.death(first, float("inf")) is None)


def unexcused(case, recipient, first, second, why):
    if case.forgotten(min(first.start, second.start), max(first.end, second.end)):
        kind = FORGOTTEN
    else:
        alone = any(case.decided_alone(attempt, recipient) for attempt in (first, second))
        kind = LOCAL if alone else DUPLICATE
    return Finding(kind, second.mail, recipient, second.felt, f"builds {first.build} and {second.build}: {why}")
