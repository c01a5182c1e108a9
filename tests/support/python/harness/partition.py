"""The oracle of every system test (P1, P2): each message sent to each recipient is exactly one of forwarded,
duplicate, refused, deferred or in doubt, what the client was told agrees, and so does the upstream's own record."""

import collections

from .waiting import wait_until

TOLD = {"forwarded": 2, "duplicate": 2, "refused": 5, "deferred": 4, "doubt": 4}


def check_partition(attempts, relays, upstream, extra_copies=0):
    """`attempts`: all that were made in this test. `extra_copies`: second copies that doubt is known to have made."""
    wait_until(lambda: _complete(attempts, relays), "a decision in the log for each reply")
    fates = wait_until(lambda: _all_decided(attempts, _fates(relays)), "a decision line for each answered attempt")
    for attempt in attempts:
        for recipient in attempt.recipients:
            if recipient not in attempt.refused_early:
                _check_attempt(attempt, recipient, fates[attempt.message_id, recipient])
    _check_upstream(attempts, fates, upstream, extra_copies)


def _complete(attempts, relays):
    """The log is written behind: complete when each answered recipient has a decision."""
    fates = _fates(relays)
    answered = [(attempt.message_id, recipient) for attempt in attempts for recipient in attempt.replies
                if recipient not in attempt.refused_early]
    return all(key in fates for key in answered)


def _all_decided(attempts, fates):
    """The log is written behind the replies."""
    answered = [(attempt.message_id, recipient) for attempt in attempts for recipient in attempt.replies
                if recipient not in attempt.refused_early]
    return fates if all(fates[about] for about in answered) else None


def _fates(relays):
    """(Message-ID, recipient) → the decisions about it, of all relays."""
    fates = collections.defaultdict(list)
    for relay in relays:
        for line in relay.decisions():
            if line["reason"] != "recipient_refused" and "message_id" in line:
                for recipient in line["to"]:
                    fates[line["message_id"], recipient].append(line)
    return fates


def _check_attempt(attempt, recipient, decisions):
    told = attempt.replies.get(recipient)
    if told is None:
        # The client left or was cut off: decided once or, before its dot, not at all.
        assert len(decisions) <= 1, (attempt, decisions)
        return
    assert len(decisions) == 1, (attempt.test_id, recipient, told, decisions)
    decision = decisions[0]
    code, text = told
    if len(attempt.recipients) == 1:
        assert code // 100 == TOLD[decision["outcome"]] or decision["reason"] == "suppressed_doubt", (told, decision)
        assert decision["reply"] == f"{code} {text}".replace("\n", " / "), (told, decision)


def _check_upstream(attempts, fates, upstream, extra_copies):
    copies = collections.Counter()
    for message in upstream.accepted():
        for recipient in message["recipients"]:
            copies[message["test_id"], recipient] += 1
    told_sent, forwarded, doubtful = set(), collections.Counter(), collections.Counter()
    for attempt in attempts:
        for recipient in attempt.recipients:
            mail = (attempt.test_id, recipient)
            outcomes = [line["outcome"] for line in fates[attempt.message_id, recipient]]
            forwarded[mail] += outcomes.count("forwarded")
            doubtful[mail] += outcomes.count("doubt")
            suppressed = any(line["reason"] == "suppressed_doubt" for line in fates[attempt.message_id, recipient])
            if attempt.replies.get(recipient, (0, ""))[0] // 100 == 2 and not suppressed:
                told_sent.add(mail)
    for mail in told_sent:
        assert copies[mail] >= 1, f"acknowledged and lost: {mail}"
    for mail, count in forwarded.items():
        assert count <= copies[mail] <= count + doubtful[mail], (mail, count, copies[mail], doubtful[mail])
    surplus = sum(count - 1 for count in copies.values() if count > 1)
    assert surplus == extra_copies, f"{surplus} second copies: {copies}"
