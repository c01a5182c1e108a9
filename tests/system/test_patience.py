"""The relay outlives its client's patience (P6)."""

import concurrent.futures

from harness import Conversation, Mail, attempt_of, check_partition, submit


def send_and_leave(relay, upstream, mail):
    """Sends up to the dot; waits until the upstream has it, and leaves without a reply."""
    octets = mail.build()
    with Conversation(relay) as client:
        client.begin()
        client.send(octets + b".\r\n")
        upstream.wait("dots", 1)
    return attempt_of(octets)


def test_a_client_gone_after_the_dot_gets_the_first_reply_at_its_retry(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    upstream.fault("dot hold")
    left = send_and_leave(relay, upstream, mail)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        retry = pool.submit(submit, relay, mail.build())
        upstream.go()
        attempt = retry.result()
    (copy,) = upstream.accepted(mail.test_id)
    assert attempt.reply == copy["reply"]
    check_partition([left, attempt], [relay], upstream)


def test_an_upstream_that_takes_eight_seconds_is_waited_for(world, upstream):
    relay = world.relay(upstream, store=world.redis().url)
    mail = Mail()
    upstream.fault("dot delay 8s")
    left = send_and_leave(relay, upstream, mail)
    retry = submit(relay, mail.build())  # at once, while the upstream still decides
    late = submit(relay, mail.build())
    (copy,) = upstream.accepted(mail.test_id)
    assert retry.reply == late.reply == copy["reply"]
    assert relay.wait_for_decision(outcome="forwarded")["send_ms"] >= 8000
    check_partition([left, retry, late], [relay], upstream)


def test_a_client_gone_before_the_dot_leaves_nothing(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    octets = mail.build()
    for part in (b"", octets[:100], octets, octets + b"."):
        with Conversation(relay) as client:
            client.begin()
            client.send(part)
    attempt = submit(relay, mail.build())
    assert attempt.code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    assert upstream.stats()["dots"] == 1


def test_a_lost_answer_to_quit_changes_nothing(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    upstream.fault("after rst")
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert attempts[0].reply == attempts[1].reply
    assert submit(relay, Mail().build()).code == 250
    check_partition(attempts, [relay], upstream)
