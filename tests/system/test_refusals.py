"""Refusals are the upstream's own, at the command they belong to, and leave nothing behind (P5)."""

import pytest

from harness import Conversation, Mail, check_partition, submit

REFUSALS = ["450 4.2.1 Mailbox busy, come again", "550 5.7.1 Not for you"]


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("phase", ["mail", "rcpt", "data", "dot"])
def test_the_client_sees_the_refusal_and_the_next_attempt_is_forwarded(world, upstream, store, phase, refusal):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    upstream.fault(f"{phase} reply {refusal}")
    first = submit(relay, mail.build())
    assert first.reply == refusal
    assert upstream.accepted() == []
    second = submit(relay, mail.build())
    assert second.code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition([first, second], [relay], upstream)


def test_a_refusal_of_several_lines_arrives_whole(world, upstream):
    relay = world.relay(upstream)
    upstream.fault("dot reply 554-5.7.1 First line\\r\\n554 5.7.1 Last line")
    with Conversation(relay) as client:
        client.begin()
        client.send(Mail().build() + b".\r\n")
        assert client.reply() == "554-5.7.1 First line\n554 5.7.1 Last line"


def test_a_refusal_at_mail_is_told_at_rcpt(world, upstream):
    relay = world.relay(upstream)
    upstream.fault("mail reply 550 5.1.8 Sender not wanted")
    with Conversation(relay) as client:
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("250")
        assert client.ask("RCPT TO:<ada@example.net>") == "550 5.1.8 Sender not wanted"
        assert client.ask("DATA").startswith("554 5.5.1")


def test_a_refusal_after_a_success_does_not_undo_it(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    first = submit(relay, mail.build())
    upstream.fault("times=every dot reply 554 5.7.1 Never again")
    second = submit(relay, mail.build())
    assert second.reply == first.reply
    check_partition([first, second], [relay], upstream)


def test_a_throttled_mail_goes_out_when_the_client_comes_again(world):
    upstream = world.upstream(profile="ses", settings=[
        "rate = {limit = 2, line = '454 Throttling failure: Maximum sending rate exceeded.'}"])
    relay = world.relay(upstream)
    mails = [Mail() for _ in range(4)]
    attempts = [submit(relay, mail.build()) for mail in mails]
    throttled = [mail for mail, attempt in zip(mails, attempts) if attempt.code == 454]
    assert throttled
    for mail in throttled:
        again = submit(relay, mail.build())
        while again.code == 454:
            attempts.append(again)
            again = submit(relay, mail.build())
        attempts.append(again)
    assert all(len(upstream.accepted(mail.test_id)) == 1 for mail in mails)
    check_partition(attempts, [relay], upstream)


def test_an_upstream_that_can_not_be_reached_is_a_transient_refusal(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    upstream.listen(False)
    first = submit(relay, mail.build())
    assert first.reply.startswith("451 4.4.1 ")
    upstream.listen(True)
    assert submit(relay, mail.build()).code == 250
