"""Gathers what the oracle judges: from the clients, the provider's record and the relays' logs."""

import json

from .mails import mail_and_build
from .oracle import Copy, Evidence, Line


def gather(stack, attempts):
    return Evidence(attempts, list(copies_of(stack.upstream)),
                    {key: line for relay in stack.relays for key, line in lines_of(relay.log)},
                    stack.kills, stack.forgettings)


def copies_of(upstream):
    for message in upstream.accepted():
        mail, build = mail_and_build(message["test_id"])
        for recipient in message["recipients"]:
            yield Copy(mail, build, recipient, message["reply"])


def lines_of(log):
    """((build, recipient), Line) for each decision about a message."""
    with open(log, encoding="utf-8", errors="replace") as lines:
        for text in lines:
            # A process that is killed may leave half a line, and its successor appends to it.
            text = text[text.rfind('{"time"'):]
            if '"event":"decision"' not in text or not text.endswith("}\n"):
                continue
            fields = json.loads(text)
            if fields["reason"] == "recipient_refused":
                continue
            _, build = mail_and_build(fields.get("message_id", ""))
            for recipient in fields["to"]:
                yield (build, recipient), Line(fields["outcome"], fields.get("possible_duplicate", False),
                                               fields.get("source", "store"))
