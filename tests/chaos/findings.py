"""What a judgement is made of: defects, of which there should be none, and second copies declared with a reason."""

import dataclasses

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
class Finding:
    kind: str
    mail: int
    recipient: str
    at: float
    why: str
