"""Until the dot is handed over everything may be done again on a fresh connection: the client never notices."""

import smtplib

import pytest

from harness import Mail, check_partition, submit, wait_until

PHASES = ["connect", "banner", "ehlo", "mail", "rcpt", "data"]


@pytest.mark.parametrize("how", ["close", "rst"])
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("profile", ["plain", "ses"])
def test_a_connection_cut_before_the_dot_is_replaced_unseen(world, profile, phase, how):
    upstream = world.upstream(profile=profile)
    relay = world.relay(upstream)
    mail = Mail()
    upstream.fault(f"{phase} {how}")
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250, 250]
    assert len(upstream.accepted(mail.test_id)) == 1
    assert upstream.stats()["faults"] == 1
    check_partition(attempts, [relay], upstream)


@pytest.mark.parametrize("phase", ["mail", "rcpt", "data"])
def test_a_kept_connection_cut_in_its_second_transaction_is_replaced_unseen(world, upstream, phase):
    relay = world.relay(upstream)
    assert submit(relay, Mail().build()).code == 250
    upstream.fault(f"{phase} rst")
    mail = Mail()
    assert submit(relay, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1


# More than the kernel takes ahead of the upstream: otherwise the dot may be handed over before the cut is seen.
@pytest.mark.parametrize("octets", [1, 100_000, 1_000_000])
def test_a_connection_cut_inside_a_large_body_is_replaced_unseen(world, upstream, store, octets):
    relay = world.relay(upstream, store=store)
    mail = Mail(text="a line of a long mail, it has fifty octets or so..\n" * 500_000)
    upstream.fault(f"octets={octets} body rst")
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250, 250]
    (copy,) = upstream.accepted(mail.test_id)
    assert upstream.content(copy) == attempts[0].octets
    check_partition(attempts, [relay], upstream)


@pytest.mark.parametrize("unasked", ["reply-close 451 4.4.2 Timeout waiting for data from client.",
                                     "reply-close 421 4.4.1 Connection timed out", "close", "rst",
                                     "reply 451 4.4.2 Timeout"])
def test_a_connection_that_went_stale_in_the_pool_is_replaced_unseen(world, upstream, unasked):
    relay = world.relay(upstream)
    upstream.fault(f"after {unasked}")
    first = submit(relay, Mail().build())
    mail = Mail()
    second = submit(relay, mail.build())
    assert (first.code, second.code) == (250, 250)
    assert second.text != first.text
    assert len(upstream.accepted(mail.test_id)) == 1
    assert upstream.stats()["connections"] == 2


def test_an_idle_connection_that_ses_closed_is_replaced_unseen(world):
    upstream = world.upstream(profile="ses", settings=["idle_close.after_s = 0.2"])
    relay = world.relay(upstream)
    mails = [Mail(), Mail(), Mail()]
    for number, mail in enumerate(mails, start=1):
        assert submit(relay, mail.build()).code == 250
        upstream.wait("connections", number)
        wait_for_no_connection(upstream)
    assert all(len(upstream.accepted(mail.test_id)) == 1 for mail in mails)


def wait_for_no_connection(upstream):
    wait_until(lambda: upstream.stats()["open"] == 0, "the upstream closed its idle connection")


def test_all_pooled_connections_cut_at_once_are_replaced_unseen(world, upstream):
    relay = world.relay(upstream)
    for _ in range(3):
        assert submit(relay, Mail().build()).code == 250
    upstream.drop_connections()
    mail = Mail()
    assert submit(relay, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1


def test_a_partial_repeat_survives_a_cut_at_rset(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    first = submit(relay, mail.build(), ["a@example.net"])
    upstream.fault("rset rst")
    second = submit(relay, mail.build(), ["a@example.net", "b@example.net"])
    assert (first.code, second.code) == (250, 250)
    assert [copy["recipients"] for copy in upstream.accepted(mail.test_id)] == [["a@example.net"], ["b@example.net"]]
    check_partition([first, second], [relay], upstream)


@pytest.mark.parametrize("shape", ["split", "multiline 50", "no-text", "delay 200ms"])
@pytest.mark.parametrize("phase", ["banner", "ehlo", "mail", "rcpt", "data", "dot"])
def test_an_odd_but_legal_reply_is_understood(world, upstream, phase, shape):
    relay = world.relay(upstream)
    upstream.fault(f"{phase} {shape}")
    mail = Mail()
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250, 250]
    assert len(upstream.accepted(mail.test_id)) == 1


@pytest.mark.parametrize("shape", ["garbage", "mismatched", "lf"])
@pytest.mark.parametrize("phase", ["banner", "ehlo", "mail", "rcpt", "data"])
def test_a_malformed_reply_is_never_taken_for_an_answer(world, upstream, phase, shape):
    relay = world.relay(upstream)
    upstream.fault(f"times=every {phase} {shape}")
    mail = Mail()
    attempt = submit(relay, mail.build())
    assert attempt.code // 100 in (4, 2), attempt
    upstream.clear_faults()
    again = submit(relay, mail.build())
    assert again.code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition([attempt, again], [relay], upstream)


# SES says 451 and closes after 10 s without a command, also on a connection it never saw a message on.
def test_a_fresh_connection_that_gave_up_on_a_slow_client_is_replaced_unseen(world):
    upstream = world.upstream(profile="ses", settings=["idle_close.after_s = 0.3"])
    relay = world.relay(upstream)
    mail = Mail()
    with smtplib.SMTP("127.0.0.1", relay.port, timeout=30) as client:
        client.ehlo("app.example.com")
        assert client.mail("shop@example.com")[0] == 250
        assert client.rcpt("ada@example.net")[0] == 250
        wait_for_no_connection(upstream)
        assert client.data(mail.build())[0] == 250
    assert len(upstream.accepted(mail.test_id)) == 1
