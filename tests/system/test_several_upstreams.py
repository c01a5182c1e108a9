"""Several upstreams: who gets a message, what becomes of it when one is down, and that none gets it twice."""

import time

import pytest

from harness import Conversation, Mail, submit, wait_until


def two(world, store="memory:", first=None, second=None, keys=None, **tables):
    """A relay before two upstreams, and these."""
    upstreams = [world.upstream(**(first or {})), world.upstream(**(second or {}))]
    named = [{"name": name, "url": upstream.url, **(keys or {})}
             for name, upstream in zip(("first", "second"), upstreams)]
    return [world.relay(named, store=store, **tables), *upstreams]


def test_the_first_serves_and_the_second_when_it_is_gone(world, store):
    relay, first, second = two(world, store)
    before, meanwhile = Mail(), Mail()
    assert submit(relay, before.build()).code == 250
    first.listen(False)
    told = submit(relay, meanwhile.build())
    assert told.code == 250
    assert (len(first.accepted()), len(second.accepted())) == (1, 1)
    # What one took is a duplicate at both, with the reply of the one that took it.
    assert submit(relay, meanwhile.build()).reply == told.reply
    assert submit(relay, before.build()).code == 250
    assert (len(first.accepted()), len(second.accepted())) == (1, 1)
    assert [line["upstream"] for line in relay.decisions(outcome="forwarded")] == ["first", "second"]


@pytest.mark.parametrize("fault", ["connect close", "banner reply 421 4.3.2 later", "mail reply 451 4.3.0 later",
                                   "data reply 451 4.3.0 later",
                                   "data close"])
def test_before_the_dot_the_second_takes_over(world, fault):
    relay, first, second = two(world)
    first.fault("times=every " + fault)
    mail = Mail()
    assert [submit(relay, mail.build()).code for _ in range(2)] == [250, 250]
    assert (len(first.accepted()), len(second.accepted())) == (0, 1)
    assert second.content(second.accepted()[0]).count(mail.test_id.encode()) >= 1


@pytest.mark.parametrize("fault", ["dot close", "dot accept-then-close", "dot reply 451 4.3.0 later",
                                   "dot reply 454 Throttling failure"])
def test_after_the_dot_nobody_else_is_asked(world, fault):
    relay, first, second = two(world)
    first.fault(fault)
    assert submit(relay, Mail().build()).code // 100 == 4
    assert second.stats()["mail"] == 0


# A provider that does not know the sender's domain must not make the application give the mail up.
def test_a_5xx_of_the_second_does_not_end_a_mail_while_the_first_is_down(world):
    relay, first, second = two(world)
    first.fault("times=every banner close")
    second.fault("times=every rcpt reply 550 5.7.1 Not verified here")
    mail = Mail()
    told = submit(relay, mail.build())
    assert told.code == 451 and "second: 550 5.7.1 Not verified here" in told.text
    first.clear_faults()
    wait_until(lambda: submit(relay, mail.build()).code == 250, "the first serves again")
    assert len(first.accepted()) == 1


def test_a_dead_upstream_costs_no_client_its_time_out(world):
    relay, first, second = two(world, keys={"greeting_timeout": "2s"}, server={"workers": 1})
    first.fault("times=every banner stall")
    for _ in range(3):  # one after the other: each waits once
        assert submit(relay, Mail().build()).code == 250
    relay.wait_for_event("upstream_down")
    begun = time.monotonic()
    for _ in range(20):
        assert submit(relay, Mail().build()).code == 250
    # One time-out less than those before; a probe is waited for by one client, and a second at most.
    assert time.monotonic() - begun < 4
    assert len(second.accepted()) == 23
    first.clear_faults()
    wait_until(lambda: submit(relay, Mail().build()).code == 250 and first.accepted(), "the first serves again")


def test_a_route_says_who_gets_whose_mail(world):
    relay, first, second = two(world, route=[
        {"match": {"sender": "*@news.example.com"}, "upstream": "second"}])
    assert submit(relay, Mail().build(), sender="a@news.example.com").code == 250
    assert submit(relay, Mail().build(), sender="a@example.com").code == 250
    assert (len(first.accepted()), len(second.accepted())) == (1, 1)
    # It may go nowhere else.
    second.listen(False)
    second.drop_connections()
    assert submit(relay, Mail().build(), sender="a@news.example.com").code == 451
    assert len(first.accepted()) == 1


def test_only_what_all_can_do_is_announced(world):
    relay, first, second = two(world, first={"profile": "office365"}, second={"profile": "ses"})
    for _ in range(2):  # the second time both are known
        with Conversation(relay) as client:
            announced = client.ehlo
    assert "8BITMIME" in announced
    assert "SMTPUTF8" not in announced and "DSN" not in announced


def test_who_logs_in_at_one_sends_there_alone(world):
    users = ["auth.required = true\nauth.users = {shop = 'correct horse battery'}"]
    relay, first, second = two(
        world, second={"settings": users}, keys={"allow_plaintext_auth": True},
        listen=[{"address": "127.0.0.1:0", "allow": [], "auth": "upstream", "auth_upstream": "second",
                 "allow_plaintext_auth": True}])
    with Conversation(relay) as client:
        assert client.ask("AUTH PLAIN AHNob3AAY29ycmVjdCBob3JzZSBiYXR0ZXJ5").startswith("235")
        assert client.ask("MAIL FROM:<a@example.com>").startswith("250")
        assert client.ask("RCPT TO:<b@example.net>").startswith("250")
        assert client.ask("DATA").startswith("354")
        assert client.ask("Subject: x\r\n\r\nx\r\n.").startswith("250")
    assert second.accepted()[0]["user"] == "shop"
    assert first.accepted() == []


def test_a_rate_holds_for_all_connections(world):
    upstream = world.upstream()
    relay = world.relay(upstream, upstream_keys={"max_rate": "10/s", "max_wait": "700ms"})
    begun = time.monotonic()
    for _ in range(5):
        assert submit(relay, Mail().build()).code == 250
    assert time.monotonic() - begun >= 0.4
    many = [f"r{i}@example.net" for i in range(10)]
    assert submit(relay, Mail().build(), many).code == 250  # takes a second of the rate
    refused = submit(relay, Mail().build())
    assert refused.reply.startswith("451 4.3.2 ")
    assert len(upstream.accepted()) == 6


def test_ten_connections_serve_many_clients(world):
    import concurrent.futures
    upstream = world.upstream(settings=["max_connections.limit = 10\n"
                                        "max_connections.line = '421 Too many concurrent SMTP connections'"])
    relay = world.relay(upstream, upstream_keys={"max_connections": 10})
    with concurrent.futures.ThreadPoolExecutor(100) as clients:
        told = list(clients.map(lambda _: submit(relay, Mail().build()).code, range(300)))
    assert told == [250] * 300
    assert len(upstream.accepted()) == 300
