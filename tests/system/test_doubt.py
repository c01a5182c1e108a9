"""No reply to the final dot: doubt, and what each policy makes of it (DESIGN.md §4)."""

import pytest

from harness import Mail, check_partition, submit

CUTS = ["dot close", "dot rst", "dot accept-then-close", "dot accept-then-rst", "dot half", "dot garbage",
        "dot mismatched"]


def doubt(relay, upstream, mail, fault="dot accept-then-close"):
    upstream.fault(fault)
    attempt = submit(relay, mail.build())
    assert attempt.reply.startswith("451 4.4.2 "), attempt
    relay.wait_for_decision(outcome="doubt", message_id=attempt.message_id)
    return attempt


@pytest.mark.parametrize("fault", CUTS)
def test_an_upstream_cut_after_the_dot_is_doubt(world, upstream, fault):
    relay = world.relay(upstream, upstream_keys={"reply_timeout": "1s"}, policy={"doubt": "defer"})
    mail = Mail()
    first = doubt(relay, upstream, mail, fault)
    again = submit(relay, mail.build())
    assert again.reply.startswith("451 4.4.2 ")
    check_partition([first, again], [relay], upstream)


def test_an_upstream_silent_after_the_dot_is_doubt_and_its_connection_is_not_used_again(world, upstream):
    relay = world.relay(upstream, upstream_keys={"reply_timeout": "1s"})
    first = doubt(relay, upstream, Mail(), "dot accept-then-stall")
    connections = upstream.stats()["connections"]
    assert submit(relay, Mail().build()).code == 250
    assert upstream.stats()["connections"] == connections + 1
    check_partition([first], [relay], upstream)


def test_resend_forwards_the_retry_once_with_the_first_message_id(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"doubt": "resend"})
    mail = Mail()
    first = doubt(relay, upstream, mail)
    retry, third = submit(relay, mail.build()), submit(relay, mail.build())
    copies = upstream.accepted(mail.test_id)
    assert [copy["message_id"] for copy in copies] == [first.message_id] * 2
    assert retry.reply == third.reply == copies[1]["reply"]
    # Nothing but the Message-ID was changed.
    assert upstream.content(copies[1]) == retry.octets.replace(retry.message_id.encode(), first.message_id.encode())
    assert relay.wait_for_decision(message_id=retry.message_id)["possible_duplicate"] is True
    check_partition([first, retry, third], [relay], upstream, extra_copies=1)


def test_a_signed_mail_is_resent_as_it_is(world, upstream):
    relay = world.relay(upstream, policy={"doubt": "resend"})
    mail = Mail(headers=[("DKIM-Signature", "v=1; a=rsa-sha256; d=example.com; s=x; h=from; bh=x; b=x")])
    first = doubt(relay, upstream, mail)
    retry = submit(relay, mail.build())
    assert upstream.content(upstream.accepted(mail.test_id)[1]) == retry.octets
    check_partition([first, retry], [relay], upstream, extra_copies=1)


def test_suppress_answers_the_retry_without_sending(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"doubt": "suppress"})
    mail = Mail()
    first = doubt(relay, upstream, mail, "dot close")
    retry = submit(relay, mail.build())
    assert retry.code == 250
    assert upstream.accepted() == []
    line = relay.wait_for_decision(message_id=retry.message_id)
    assert (line["outcome"], line["reason"]) == ("duplicate", "suppressed_doubt")
    check_partition([first, retry], [relay], upstream)


def test_defer_refuses_every_retry_until_a_person_decides(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"doubt": "defer"})
    mail = Mail()
    attempts = [doubt(relay, upstream, mail)]
    for _ in range(2):
        attempts.append(submit(relay, mail.build()))
        assert attempts[-1].reply.startswith("451 4.4.2 ")
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition(attempts, [relay], upstream)


def test_doubt_of_one_relay_is_known_to_the_others(world, upstream):
    redis = world.redis()
    one = world.relay(upstream, store=redis.url)
    other = world.relay(upstream, store=redis.url, policy={"doubt": "defer"})
    mail = Mail()
    first = doubt(one, upstream, mail)
    retry = submit(other, mail.build())
    assert retry.reply.startswith("451 4.4.2 ")
    check_partition([first, retry], [one, other], upstream)


def test_a_refused_resend_leaves_the_doubt(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    attempts = [doubt(relay, upstream, mail)]
    upstream.fault("dot reply 451 4.3.0 Try again")
    attempts += [submit(relay, mail.build()), submit(relay, mail.build())]
    assert [attempt.code for attempt in attempts] == [451, 451, 250]
    assert relay.wait_for_decision(message_id=attempts[2].message_id)["possible_duplicate"] is True
    check_partition(attempts, [relay], upstream, extra_copies=1)
