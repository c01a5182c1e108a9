"""SIGTERM: nothing new, what is under way comes to its end, and the process ends with 0."""

import signal

import pytest

from harness import Conversation, Mail, attempt_of, check_partition, submit, wait_until


def test_an_idle_session_is_told_and_the_process_ends(world, upstream):
    relay = world.relay(upstream)
    with Conversation(relay) as client:
        relay.signal(signal.SIGTERM)
        assert client.reply().startswith("421 4.3.2 ")
        assert client.rest() == ""
    assert relay.child.wait(20) == 0
    assert [event["event"] for event in relay.lines()][-1] == "stopped"


def test_no_connection_is_taken_while_it_drains(world, upstream):
    relay = world.relay(upstream)
    upstream.fault("dot hold")
    with Conversation(relay) as client:
        client.begin()
        client.send(Mail().build() + b".\r\n")
        upstream.wait("held", 1)
        relay.signal(signal.SIGTERM)
        relay.wait_for_event("draining")
        with pytest.raises(OSError):
            Conversation(relay)
        upstream.go()
        assert client.reply().startswith("250")


def test_a_message_under_way_gets_its_reply(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    octets = mail.build()
    with Conversation(relay) as client:
        client.begin()
        client.send(octets[:50])
        relay.signal(signal.SIGTERM)
        relay.wait_for_event("draining")
        client.send(octets[50:] + b".\r\n")
        assert client.reply().startswith("250")
        assert client.reply().startswith("421 4.3.2 ")
    assert relay.child.wait(20) == 0
    assert len(upstream.accepted(mail.test_id)) == 1


def test_an_upstream_that_does_not_answer_in_time_leaves_doubt(world, upstream):
    redis = world.redis()
    relay = world.relay(upstream, store=redis.url, limits={"drain_timeout": "500ms"})
    mail = Mail()
    octets = mail.build()
    upstream.fault("dot accept-then-stall")
    with Conversation(relay) as client:
        client.begin()
        client.send(octets + b".\r\n")
        upstream.wait("dots", 1)
        relay.signal(signal.SIGTERM)
        assert client.reply().startswith("451 4.4.2 ")
    assert relay.child.wait(20) == 0
    other = world.relay(upstream, store=redis.url, policy={"doubt": "defer"})
    retry = submit(other, mail.build())
    assert retry.reply.startswith("451 4.4.2 ")
    check_partition([attempt_of(octets), retry], [relay, other], upstream)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_any_number_of_signals_end_it_with_0(world, upstream, number):
    relay = world.relay(upstream)
    while relay.running:
        relay.signal(number)
    assert relay.child.wait(20) == 0


def test_a_signal_during_start_up_is_heard(world, upstream):
    for _ in range(20):
        relay = world.relay(upstream)
        relay.signal(signal.SIGTERM)
        assert relay.child.wait(20) == 0


def test_what_waits_to_be_written_back_is_written_before_the_end(world, upstream):
    redis = world.redis()
    relay = world.relay(upstream, store=redis.url)
    mail = Mail()
    redis.freeze()
    first = submit(relay, mail.build())
    assert first.code == 250
    relay.signal(signal.SIGTERM)
    relay.wait_for_event("draining")
    redis.thaw()
    assert relay.child.wait(20) == 0
    assert relay.events("write_back_lost") == []
    other = world.relay(upstream, store=redis.url)
    again = submit(other, mail.build())
    assert again.reply == first.reply
    check_partition([first, again], [relay, other], upstream)


def test_a_restart_loses_no_mail(world, upstream):
    """Clients that come again after a refusal or a broken connection, over three relays that follow one another."""
    redis = world.redis()
    mails = [Mail() for _ in range(60)]
    waiting, attempts, relays = list(mails), [], []
    for _ in range(3):
        relay = world.relay(upstream, store=redis.url)
        relays.append(relay)
        for number, mail in enumerate(list(waiting)):
            if number == 20:
                relay.signal(signal.SIGTERM)
                relay.wait_for_event("draining")
            try:
                attempt = submit(relay, mail.build())
            except OSError:
                continue
            attempts.append(attempt)
            if attempt.replies and attempt.code == 250:
                waiting.remove(mail)
        if not relay.events("draining"):
            relay.signal(signal.SIGTERM)
        wait_until(lambda: not relay.running, "the relay ended")
    assert waiting == []
    assert all(len(upstream.accepted(mail.test_id)) == 1 for mail in mails)
    check_partition(attempts, relays, upstream)
