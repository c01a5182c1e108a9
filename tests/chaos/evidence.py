"""Gathers what the oracle judges: from the clients, the provider's record and the relays' logs."""

import datetime
import json
import time

from .case import Copy, Evidence, Line
from .mails import mail_and_build


def gather(stack, attempts, alone):
    """`alone`: whether relays go on without their store."""
    outages = [(number, since, until) for number, relay in enumerate(stack.relays)
               for since, until in outages_of(relay.log)]
    return Evidence(attempts, list(copies_of(stack.upstream)),
                    {key: line for relay in stack.relays for key, line in lines_of(relay.log)},
                    stack.kills, stack.freezes, outages, stack.forgettings, alone, frozenset(stack.refusals))


def copies_of(upstream):
    for message in upstream.accepted():
        mail, build = mail_and_build(message["test_id"])
        for recipient in message["recipients"]:
            yield Copy(mail, build, recipient, message["reply"])


def lines_of(log):
    """((build, recipient), Line) for each decision about a message."""
    for fields in events_of(log, ("decision",)):
        if fields["reason"] == "recipient_refused":
            continue
        _, build = mail_and_build(fields.get("message_id", ""))
        first_mail, _ = mail_and_build(fields.get("first_message_id", ""))
        for recipient in fields["to"]:
            yield (build, recipient), Line(fields["outcome"], fields.get("possible_duplicate", False),
                                           fields.get("source", "store"), first_mail)


def outages_of(log):
    """(since, until) by the clock of the attempts: from the store's loss until it is back, or the next process."""
    since = None
    for fields in events_of(log, ("store_down", "store_back", "listening")):
        at = datetime.datetime.fromisoformat(fields["time"]).timestamp() - time.time() + time.monotonic()
        if since is not None:
            yield since, at
        since = at if fields["event"] == "store_down" else None
    if since is not None:
        yield since, float("inf")


def events_of(log, names):
    with open(log, encoding="utf-8", errors="replace") as lines:
        for text in lines:
            # A process that is killed may leave half a line, and its successor appends to it.
            text = text[text.rfind('{"time"'):]
            if text.endswith("}\n") and any(f'"event":"{name}"' in text for name in names):
                yield json.loads(text)
