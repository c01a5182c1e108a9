"""The race that a `sent` flag loses: the same mail at the same instant, through several relays."""

import concurrent.futures
import smtplib
import threading

import pytest

from harness import Conversation, Mail, check_partition, submit


def at_once(relays, mail, connections, copies):
    """Sends `copies` builds over `connections` connections dealt to the relays; all start together."""
    start = threading.Barrier(connections)
    builds = [[mail.build() for _ in range(copies // connections)] for _ in range(connections)]

    def client(number):
        with smtplib.SMTP("127.0.0.1", relays[number % len(relays)].port, timeout=60) as connection:
            connection.ehlo()
            start.wait()
            return [submit(connection, octets) for octets in builds[number]]

    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        return [attempt for attempts in pool.map(client, range(connections)) for attempt in attempts]


def check_one_copy(attempts, relays, upstream, mail):
    (copy,) = upstream.accepted(mail.test_id)
    assert {attempt.reply for attempt in attempts} == {copy["reply"]}
    check_partition(attempts, relays, upstream)
    outcomes = [line["outcome"] for relay in relays for line in relay.decisions()]
    assert outcomes.count("forwarded") == 1
    assert outcomes.count("duplicate") == len(attempts) - 1


def test_two_hundred_copies_over_forty_connections_and_two_relays_arrive_once(world, upstream):
    redis = world.redis()
    relays = [world.relay(upstream, store=redis.url) for _ in range(2)]
    mail = Mail()
    attempts = at_once(relays, mail, connections=40, copies=200)
    assert len(attempts) == 200
    check_one_copy(attempts, relays, upstream, mail)


def test_copies_wait_for_the_first_one_while_the_upstream_thinks(world, upstream, store):
    upstream.fault("dot delay 1s")
    relays = [world.relay(upstream, store=store) for _ in range(1 if store == "memory:" else 2)]
    mail = Mail()
    attempts = at_once(relays, mail, connections=10, copies=10)
    check_one_copy(attempts, relays, upstream, mail)


def test_when_the_first_copy_is_refused_one_of_the_others_is_sent(world, upstream, store):
    upstream.fault("delay=300ms dot reply 451 4.3.0 Try again")
    relays = [world.relay(upstream, store=store) for _ in range(1 if store == "memory:" else 2)]
    mail = Mail()
    attempts = at_once(relays, mail, connections=10, copies=10)
    assert sorted(attempt.code for attempt in attempts) == [250] * 9 + [451]
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition(attempts, relays, upstream)


def test_who_waited_long_enough_is_told_to_come_again(world, upstream, store):
    upstream.fault("dot hold")
    relay = world.relay(upstream, store=store, policy={"wait": "200ms"})
    mail = Mail()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(submit, relay, mail.build())
        upstream.wait("held", 1)
        second = submit(relay, mail.build())
        assert second.reply.startswith("451 4.4.5 ")
        upstream.go()
        assert first.result().code == 250
    third = submit(relay, mail.build())
    assert third.reply == first.result().reply
    check_partition([first.result(), second, third], [relay], upstream)


def test_who_leaves_while_waiting_costs_nothing_and_sends_nothing(world, upstream, store):
    upstream.fault("dot hold")
    relay = world.relay(upstream, store=store, upstream_keys={"max_connections": 2, "max_wait": "5s"},
                        server={"workers": 1})
    mail, other = Mail(), Mail()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(submit, relay, mail.build())
        upstream.wait("held", 1)
        with Conversation(relay) as waiting:
            waiting.begin()
            waiting.send(mail.build() + b"\r\n.\r\n")
        # The upstream connection it held is free again: there are two, and the first copy has the other.
        assert submit(relay, other.build()).code == 250
        upstream.go()
        assert first.result().code == 250
    relay.wait_for_decision(reason="client_left")
    assert len(upstream.accepted(mail.test_id)) == 1


@pytest.mark.parametrize("groups", [(("a", "b"), ("b", "a")), (("a", "b"), ("b", "c"), ("c", "a"))],
                         ids=["two", "three"])
def test_overlapping_recipients_at_the_same_instant_do_not_block_each_other(world, upstream, store, groups):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    start = threading.Barrier(len(groups))

    def client(group):
        start.wait()
        return submit(relay, mail.build(), [f"{name}@example.net" for name in group])

    with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
        attempts = list(pool.map(client, groups))
    assert all(attempt.code == 250 for attempt in attempts)
    received = sorted(name for copy in upstream.accepted(mail.test_id) for name in copy["recipients"])
    assert received == sorted({f"{name}@example.net" for group in groups for name in group})
    check_partition(attempts, [relay], upstream)
