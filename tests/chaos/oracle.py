"""What chaos must not do, judged from what clients were told, what the provider accepted and what the logs say.

P1: whoever was told 2xx, the provider has that mail for that recipient. P2: it has it twice only after doubt, which the
log declares and which has a cause (second_copies.py). P3: what was decided to be a duplicate has an earlier copy.
P5: what was told is what the provider said about that mail, and only what it refused is refused for good.
"""

from .case import UNHEARD, Case
from .findings import DROPPED, LOST, REPLY, Finding
from .second_copies import second_copies


def judge(evidence):
    """Every finding: DEFECTS, of which there should be none, and DECLARED second copies."""
    case = Case(evidence)
    return [*told(case), *decided_unheard(case), *second_copies(case)]


def told(case):
    for attempt in case.evidence.attempts:
        for recipient, (code, text) in attempt.replies.items():
            if code // 100 == 2:
                yield from told_yes(case, attempt, recipient, f"{code} {text}")
            elif code // 100 != 4:
                yield from told_no(case, attempt, recipient, f"{code} {text}")


def told_yes(case, attempt, recipient, reply):
    line = case.line(attempt, recipient)
    dropped = line is not None and line.outcome == "duplicate"
    if not has_copy(case, attempt, recipient, attempt.end):
        yield Finding(DROPPED if dropped else LOST, attempt.mail, recipient, attempt.end, f"told {reply}")
    elif dropped and line.first_mail not in (None, attempt.mail):
        yield Finding(DROPPED, attempt.mail, recipient, attempt.end, f"as a duplicate of mail {line.first_mail}")
    elif reply not in case.replies[attempt.mail]:
        yield Finding(REPLY, attempt.mail, recipient, attempt.end, f"told {reply}")


def told_no(case, attempt, recipient, reply):
    if reply not in case.evidence.refusals:
        yield Finding(REPLY, attempt.mail, recipient, attempt.end, f"refused for good: {reply}")
    elif any(copy.build == attempt.build for copy in case.copies[attempt.mail, recipient]):
        yield Finding(REPLY, attempt.mail, recipient, attempt.end, f"accepted, and told {reply}")


def decided_unheard(case):
    """What was dropped as a duplicate for a client that had gone."""
    for attempt in case.evidence.attempts:
        for recipient in attempt.recipients:
            line = case.line(attempt, recipient)
            if (recipient not in attempt.replies and line is not None and line.outcome == "duplicate"
                    and not has_copy(case, attempt, recipient, attempt.end + UNHEARD)):
                yield Finding(DROPPED, attempt.mail, recipient, attempt.end, "dropped unheard")


def has_copy(case, attempt, recipient, until):
    """Whether the provider can have accepted this mail for this recipient by then."""
    return any(case.attempts[copy.build].start <= until for copy in case.copies[attempt.mail, recipient])
