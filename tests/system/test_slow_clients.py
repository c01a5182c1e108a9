"""Clients that take their time, take every place, or talk without end: each has a limit, and it is of the whole."""

import base64
import contextlib
import socket
import subprocess
import time

import pytest

from harness import Conversation, Mail, certificates, submit

PASSWORD = "correct horse battery"


@pytest.fixture
def users(world):
    hashed = subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=PASSWORD, text=True, capture_output=True,
                            check=True).stdout
    path = world.folder / "users"
    path.write_text("shop:" + hashed)
    return str(path)


def strict(users, **keys):
    """A listener that nobody may use without a login."""
    return {"address": "127.0.0.1:0", "allow": [], "users_file": users, "allow_plaintext_auth": True, **keys}


def log_in(client):
    return client.ask("AUTH PLAIN " + base64.b64encode(b"\0shop\0" + PASSWORD.encode()).decode())


def drip(client, octets, pause=0.2, at_most=8.0):
    """Sends an octet now and then until the other side has had enough; what it said, and after how long."""
    begun = time.monotonic()
    client.socket.settimeout(pause)
    heard = b""
    for octet in octets:
        if time.monotonic() - begun > at_most:
            pytest.fail(f"an octet each {pause} s was enough to stay; heard {heard}")
        with contextlib.suppress(ConnectionError):
            client.send(bytes([octet]))
        with contextlib.suppress(TimeoutError):
            received = client.socket.recv(4096)
            if not received:
                break
            heard += received
    return heard.decode(), time.monotonic() - begun


def test_a_command_that_drips_has_the_deadline_of_a_command(world, upstream):
    relay = world.relay(upstream, limits={"command_timeout": "1s"})
    with Conversation(relay) as client:
        heard, seconds = drip(client, b"NOOP " + b"x" * 1000)
    assert heard.startswith("421 4.4.2 ") and 0.8 < seconds < 5


def test_a_command_that_drips_inside_a_transaction_has_it_too(world, upstream):
    relay = world.relay(upstream, limits={"command_timeout": "1s"})
    with Conversation(relay) as client:
        client.ask("MAIL FROM:<shop@example.com>")
        client.ask("RCPT TO:<ada@example.net>")
        heard, _ = drip(client, b"RCPT TO:<" + b"x" * 1000)
    assert heard.startswith("421 4.4.2 ")


def test_who_completes_commands_in_time_stays_as_long_as_it_likes(world, upstream):
    relay = world.relay(upstream, limits={"command_timeout": "1s"})
    with Conversation(relay) as client:
        begun = time.monotonic()
        # The end of one command and the begin of the next come together.
        while time.monotonic() - begun < 2.5:
            client.send(b"OP\r\nNO" if time.monotonic() > begun + 0.1 else b"NOOP\r\nNO")
            assert client.reply().startswith("250")
            time.sleep(0.2)


def test_a_body_that_drips_has_one_deadline(world, upstream):
    relay = world.relay(upstream, limits={"message_timeout": "1s"})
    with Conversation(relay) as client:
        client.begin()
        heard, seconds = drip(client, b"x" * 1000)
    assert heard.startswith("421 4.4.2 ") and 0.8 < seconds < 5
    assert upstream.accepted() == []


def test_octets_of_a_refused_chunk_that_drip_have_it_too(world, upstream):
    relay = world.relay(upstream, limits={"message_timeout": "1s"})
    with Conversation(relay) as client:
        heard, _ = drip(client, b"BDAT 900\r\n" + b"x" * 900, pause=0.1)
    assert "421 4.4.2 " in heard


def test_a_body_slower_than_the_least_rate_is_given_up(world, upstream):
    relay = world.relay(upstream, limits={"data_min_rate": "100B", "data_min_rate_after": "1s"})
    with Conversation(relay) as client:
        client.begin()
        heard, seconds = drip(client, b"x" * 1000, pause=0.1)
    assert heard.startswith("421 4.4.2 ") and 0.8 < seconds < 5


def test_a_body_faster_than_the_least_rate_is_taken(world, upstream):
    relay = world.relay(upstream, limits={"data_min_rate": "100B", "data_min_rate_after": "1s"})
    mail = Mail(text="x" * 70 + "\n")
    with Conversation(relay) as client:
        client.begin()
        client.send(mail.build())
        for _ in range(10):
            time.sleep(0.2)
            client.send(b"x" * 70 + b"\r\n")
        client.send(b".\r\n")
        assert client.reply().startswith("250")
    assert len(upstream.accepted(mail.test_id)) == 1


def test_a_handshake_that_drips_has_one_deadline(world, upstream):
    certs = certificates(world.folder / "certs")
    relay = world.relay(upstream, limits={"handshake_timeout": "1s"}, listen=[
        {"address": "127.0.0.1:0", "tls": "implicit", "certificate_file": str(certs / "server.pem"),
         "key_file": str(certs / "server.key")}])
    with Conversation(relay, greet=False) as client:
        _, seconds = drip(client, b"\x16\x03\x01\x03\xe8\x01\x00\x03\xe4" + b"\0" * 1000)
    assert seconds < 5
    assert relay.wait_for_event("tls_failed")


def test_who_does_not_read_its_replies_is_given_up(world, upstream):
    relay = world.relay(upstream, limits={"write_timeout": "1s", "commands_without_message": 1_000_000_000})
    with Conversation(relay) as client:
        client.socket.settimeout(1)
        begun = time.monotonic()
        with pytest.raises(ConnectionError):
            while True:
                assert time.monotonic() - begun < 20
                with contextlib.suppress(TimeoutError):
                    client.send(b"VRFY x\r\n" * 1000)
    assert submit(relay, Mail().build()).code == 250


def test_who_must_log_in_has_a_minute_for_it(world, upstream, users):
    relay = world.relay(upstream, listen=[strict(users)], limits={"login_timeout": "1s"})
    with Conversation(relay) as idle:
        begun = time.monotonic()
        assert idle.reply().startswith("421 4.7.0 ")
        assert idle.rest() == "" and time.monotonic() - begun < 5
    assert relay.wait_for_event("login_timed_out")["client"] == "127.0.0.1"


def test_talking_is_no_login(world, upstream, users):
    relay = world.relay(upstream, listen=[strict(users)], limits={"login_timeout": "1s"})
    with Conversation(relay) as client:
        begun = time.monotonic()
        while client.ask("NOOP").startswith("250"):
            assert time.monotonic() - begun < 5
            time.sleep(0.01)
        assert time.monotonic() - begun > 0.8


def test_who_logged_in_or_need_not_has_all_its_time(world, upstream, users):
    relay = world.relay(upstream, listen=[strict(users), {"address": "127.0.0.1:0"}], limits={"login_timeout": "1s"})
    other = int(relay.events("listening")[1]["address"].rsplit(":", 1)[1])
    with Conversation(relay) as client, Conversation(other) as allowed:
        assert log_in(client).startswith("235")
        time.sleep(1.5)
        assert client.ask("NOOP").startswith("250") and allowed.ask("NOOP").startswith("250")
        assert submit(other, Mail().build()).code == 250
    assert relay.events("login_timed_out") == []


def test_strangers_can_not_take_every_place(world, upstream, users):
    relay = world.relay(upstream, listen=[strict(users), {"address": "127.0.0.1:0"}], limits={"connections": 6})
    other = int(relay.events("listening")[1]["address"].rsplit(":", 1)[1])
    with contextlib.ExitStack() as held:
        strangers = [held.enter_context(Conversation(relay)) for _ in range(3)]
        with Conversation(relay, greet=False) as fourth:
            assert fourth.reply().startswith("421 4.7.0 ")
        assert submit(other, Mail().build()).code == 250  # who need not log in has its place
        assert relay.wait_for_event("session_refused")["why"] == "too_many_unauthenticated"
        # Who logs in makes room for the next.
        assert log_in(strangers[0]).startswith("235")
        with Conversation(relay) as next_one:
            assert log_in(next_one).startswith("235")


def test_commands_without_a_message_are_bounded(world, upstream):
    relay = world.relay(upstream, limits={"commands_without_message": 100})
    with Conversation(relay) as client:
        for _ in range(99):
            assert client.ask("NOOP").startswith("250")
        assert client.ask("NOOP").startswith("421 4.7.0 ")
        assert client.rest() == ""
    with Conversation(relay) as client:
        for _ in range(3):
            for _ in range(60):
                assert client.ask("NOOP").startswith("250")
            client.begin()
            client.send(Mail().build() + b"\r\n.\r\n")
            assert client.reply().startswith("250")


def test_messages_a_minute_are_bounded_for_a_client_over_all_its_connections(world, upstream, users):
    relay = world.relay(upstream, listen=[{"address": "127.0.0.1:0", "users_file": users, "allow_plaintext_auth": True}],
                        limits={"messages_per_minute": 3}, server={"workers": 2})
    for _ in range(3):
        assert submit(relay, Mail().build()).code == 250
    refused = submit(relay, Mail().build(), recipients=("ada@example.net", "bob@example.net"))
    assert refused.code == 450 and refused.text.startswith("4.7.1 ")
    assert relay.wait_for_event("rate_limited")["client"] == "127.0.0.1"
    with Conversation(relay) as client:  # a user is another client
        assert log_in(client).startswith("235")
        client.begin()
        client.send(Mail().build() + b"\r\n.\r\n")
        assert client.reply().startswith("250")
        assert client.ask("RSET").startswith("250")
    assert len(upstream.accepted()) == 4
