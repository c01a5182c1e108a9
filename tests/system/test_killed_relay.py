"""kill -9 at the worst moment: what the other relays make of the record left behind."""

import threading

import pytest

from harness import Conversation, Mail, check_partition, submit
from harness.client import header

LEASE = {"lease": "5s"}  # the shortest allowed


def kill_at_the_dot(relay, upstream, mail, fault):
    """Sends `mail`; kills the relay when the upstream has the dot and before it answers."""
    upstream.fault(fault)
    octets = mail.build()
    dots = upstream.stats()["dots"]
    client = threading.Thread(target=submit, args=(relay, octets))
    client.start()
    upstream.wait("dots", dots + 1)
    relay.kill()
    client.join()
    return octets


def test_a_relay_killed_between_dot_and_reply_leaves_doubt_to_the_others(world, upstream):
    redis = world.redis()
    killed = world.relay(upstream, store=redis.url, window=LEASE)
    defers = world.relay(upstream, store=redis.url, window=LEASE, policy={"doubt": "defer", "wait": "20s"})
    suppresses = world.relay(upstream, store=redis.url, window=LEASE, policy={"doubt": "suppress"})
    resends = world.relay(upstream, store=redis.url, window=LEASE, policy={"doubt": "resend"})
    mail = Mail()
    first_id = header(kill_at_the_dot(killed, upstream, mail, "dot accept-then-hold"), "Message-ID")
    # Waits for the lease to end, then finds doubt.
    attempts = [submit(defers, mail.build()), submit(suppresses, mail.build())]
    assert attempts[0].reply.startswith("451 4.4.2 ")
    assert attempts[1].code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    attempts += [submit(resends, mail.build()), submit(defers, mail.build())]
    copies = upstream.accepted(mail.test_id)
    assert [copy["message_id"] for copy in copies] == [first_id] * 2
    assert attempts[2].reply == attempts[3].reply == copies[1]["reply"]
    upstream.go()


def test_a_relay_killed_before_the_dot_only_delays_the_retry(world, upstream):
    redis = world.redis()
    killed = world.relay(upstream, store=redis.url, window=LEASE)
    other = world.relay(upstream, store=redis.url, window=LEASE, policy={"wait": "20s"})
    mail = Mail()
    with Conversation(killed) as client:
        client.begin()
        client.send(mail.build())
        killed.kill()
    attempt = submit(other, mail.build())
    assert attempt.code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition([attempt], [other], upstream)


@pytest.mark.parametrize("fault", ["dot close", "dot accept-then-close"])
def test_a_relay_killed_after_it_recorded_the_reply_is_not_missed(world, upstream, fault):
    redis = world.redis()
    killed = world.relay(upstream, store=redis.url)
    other = world.relay(upstream, store=redis.url, policy={"doubt": "defer"})
    sent, doubtful = Mail(), Mail()
    first = submit(killed, sent.build())
    upstream.fault(fault)
    submit(killed, doubtful.build())
    killed.kill()
    assert submit(other, sent.build()).reply == first.reply
    assert submit(other, doubtful.build()).reply.startswith("451 4.4.2 ")

