"""The result of a run as a table in Markdown: a row for each kind of fault, from its beginning until the
next one; what is sent again after doubt counts where the doubt arose."""

import bisect
import collections
import typing

from .findings import DECLARED, DEFECTS

COLUMNS = ["under way", "messages", "attempts", "told 2xx", "of these duplicates", "told 4xx", "told 5xx",
           "connection lost", *DECLARED, *DEFECTS]
BEFORE = "(before the first)"


class Period(typing.NamedTuple):
    """From the beginning of a fault until the next one."""

    begin: float
    fault: str
    under_way: int  # attempts when it began


class Report:
    """`periods`: in order."""

    def __init__(self, periods, evidence, findings):
        self.periods, self.findings, self.evidence = periods, findings, evidence
        self._begins = [at for at, _, _ in periods]
        self.injected = collections.Counter(name for _, name, _ in periods)
        self.rows = collections.defaultdict(collections.Counter)
        for _, name, under_way in periods:
            self.rows[name]["under way"] += under_way
        seen = set()
        for attempt in evidence.attempts:
            row = self.rows[self._name(attempt.felt)]
            row["attempts"] += 1
            row["messages"] += attempt.mail not in seen
            seen.add(attempt.mail)
            row["connection lost"] += not attempt.replies
            for recipient in attempt.replies:
                line = evidence.lines.get((attempt.build, recipient))
                told = attempt.told(recipient)
                row["told 4xx"] += told == 4
                row["told 5xx"] += told == 5
                row["told 2xx"] += told == 2
                row["of these duplicates"] += told == 2 and line is not None and line.outcome == "duplicate"
        for finding in findings:
            self.rows[self._name(finding.at)][finding.kind] += 1
        self.total = sum(self.rows.values(), collections.Counter())

    def _name(self, at):
        index = bisect.bisect_right(self._begins, at)
        return self.periods[index - 1].fault if index else BEFORE

    @property
    def defects(self):
        return [finding for finding in self.findings if finding.kind in DEFECTS]

    def story(self, finding):
        """All that is known of the finding's mail, for whoever looks for the reason."""
        evidence, about = self.evidence, finding.recipient
        attempts = [attempt for attempt in evidence.attempts if attempt.mail == finding.mail]
        for attempt in sorted(attempts, key=lambda attempt: attempt.start):
            yield f"{attempt}, {evidence.lines.get((attempt.build, about))}, in {self._name(attempt.felt)}"
        yield from (str(copy) for copy in evidence.copies if (copy.mail, copy.recipient) == (finding.mail, about))
        for name in ("kills", "freezes", "outages"):
            near = [event for event in getattr(evidence, name)
                    if event[1] <= attempts[-1].end + 10 and event[-1] >= attempts[0].start - 10]
            yield f"{name}: {near}"

    def markdown(self):
        # What never happened and was not promised never to happen needs no column.
        columns = [name for name in COLUMNS if name not in DECLARED or self.total[name]]
        rows = [["fault", "injected", *columns], ["---", *["---:"] * (len(columns) + 1)]]
        for name in sorted(self.rows, key=lambda name: (name != BEFORE, name)):
            rows.append([name, self.injected[name], *(self.rows[name][column] for column in columns)])
        rows.append(["**all**", self.injected.total(), *(self.total[column] for column in columns)])
        return "\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)
