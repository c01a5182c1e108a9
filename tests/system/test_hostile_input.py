"""Hostile input through the real relay: what reaches the upstream is well-formed, and never more than was meant."""

import pytest

from harness import Conversation, Mail, submit

SMUGGLED = b"MAIL FROM:<evil@example.org>\r\nRCPT TO:<victim@example.org>\r\nDATA\r\nSubject: smuggled\r\n\r\nx"

REFUSED = {
    "S1": b"\n.\n", "S2": b"\n.\r\n", "S3": b"\r\n.\n", "S4": b"\n.\r", "S5": b"\r.\r", "S6": b"\r.\n",
    "S7": b"\r.\r\n", "S8": b"\r\n.\r", "S9": b"\n\n.\r\n", "S10": b"\r\n\r.\r\n", "S11": b"\r\n\0.\r\n",
    "S13": b"\r\n.\0\r\n", "S14": b"\r\n.\r\r\n", "S15": b"\r\r\n.\r\r\n",
}
LEGAL = {"S12 tab": b"\r\n.\t\r\n", "S12 space": b"\r\n. \r\n", "S16": b"\r\n..\r\n"}


@pytest.fixture(scope="module")
def upstream(shared_world):
    return shared_world.upstream()


@pytest.fixture(scope="module")
def shared_relay(shared_world, upstream):
    return shared_world.relay(upstream)


@pytest.fixture
def relay(shared_relay, upstream):
    """The relay; afterwards, whatever was sent, no octet that has no place reached the upstream."""
    upstream.reset()
    yield shared_relay
    stats = upstream.stats()
    assert (stats["bare_cr"], stats["bare_lf"], stats["nul"]) == (0, 0, 0)
    assert not any("evil" in line or "victim" in line for line in upstream.commands())


def header(test_id):
    """The begin of a message that is no test's but this one's."""
    name = test_id.encode()
    return b"From: a@example.com\r\nSubject: " + name + b"\r\nX-Test-Id: " + name + b"\r\n\r\nfirst line"


@pytest.mark.parametrize("octets", REFUSED.values(), ids=REFUSED)
def test_a_false_end_of_data_gets_one_refusal_after_the_true_end(relay, upstream, octets):
    with Conversation(relay) as client:
        client.begin()
        client.send(header("false end") + octets + SMUGGLED + b"\r\n.\r\n")
        assert client.reply().startswith("550 5.5.2 ")
        # One reply only, and the session goes on.
        assert client.ask("NOOP").startswith("250")
        assert client.ask("QUIT").startswith("221")
        assert client.rest() == ""
    assert upstream.stats()["mail"] <= 1
    assert upstream.accepted() == []


@pytest.mark.parametrize("octets", LEGAL.values(), ids=LEGAL)
def test_a_line_that_only_looks_like_the_end_is_text(relay, upstream, octets):
    with Conversation(relay) as client:
        client.begin()
        client.send(header("text") + octets + SMUGGLED + b"\r\n.\r\n")
        assert client.reply().startswith("250")
        assert client.ask("NOOP").startswith("250")
    assert upstream.stats()["mail"] == 1
    (message,) = upstream.accepted()
    assert upstream.content(message) == header("text") + octets.replace(b"\r\n.", b"\r\n", 1) + SMUGGLED + b"\r\n"


def test_an_empty_message_is_a_message(relay, upstream):
    with Conversation(relay) as client:
        client.begin()
        client.send(b".\r\n")
        assert client.reply().startswith("250")
    (message,) = upstream.accepted()
    assert message["octets"] == 0


def test_an_end_of_data_in_five_segments_is_one(relay, upstream):
    with Conversation(relay) as client:
        client.begin()
        client.send(header("segments"))
        for octet in b"\r\n.\r\n":
            client.send(bytes([octet]))
        assert client.reply().startswith("250")
    (message,) = upstream.accepted()
    assert upstream.content(message) == header("segments") + b"\r\n"


def test_commands_behind_the_true_end_are_commands_again(relay, upstream):
    with Conversation(relay) as client:
        client.begin()
        client.send(header("one") + b"\r\n.\r\nMAIL FROM:<shop@example.com>\r\nRCPT TO:<ada@example.net>\r\nDATA\r\n")
        assert [client.reply()[:3] for _ in range(4)] == ["250", "250", "250", "354"]
        client.send(header("two") + b"!\r\n.\r\nQUIT\r\n")
        assert [client.reply()[:3] for _ in range(2)] == ["250", "221"]
    assert [message["test_id"] for message in upstream.accepted()] == ["one", "two"]


@pytest.mark.parametrize("command", [
    b"RCPT TO:<a@b.example>\rRCPT TO:<evil@example.org>\r\n", b"RCPT TO:<a@b.example>\nRCPT TO:<evil@example.org>\r\n",
    b"RCPT TO:<a\0@b.example>\r\n", b"RCPT TO:<a\x7f@b.example>\r\n", b"RCPT TO:<ada@example.net> X=1\r\n",
    b"RCPT TO:<\xc3\xa4@example.net>\r\n", b"RCPT TO:ada@example.net, evil@example.org\r\n", b"RCPT TO:<>\r\n"],
    ids=["bare CR", "bare LF", "NUL", "DEL", "unknown parameter", "UTF-8", "two addresses", "null"])
def test_a_recipient_that_is_not_one_address_never_reaches_the_upstream(relay, upstream, command):
    with Conversation(relay) as client:
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("250")
        assert client.ask(command)[:1] == "5"
    assert upstream.stats()["rcpt"] == 0


@pytest.mark.parametrize("command", [
    b"MAIL FROM:<a@b.example>\nRCPT TO:<victim@example.org>\r\n", b"MAIL FROM:<a@b.example> SIZE=10\rX\r\n",
    b"MAIL FROM:<a@b.example> BODY=BINARYMIME\r\n", b"MAIL FROM:<a@b.example> AUTH=evil\x01\r\n"],
    ids=["bare LF", "bare CR in a value", "BINARYMIME", "control octet"])
def test_a_sender_that_is_not_one_address_is_refused(relay, command):
    with Conversation(relay) as client:
        assert client.ask(command)[:1] == "5"


def test_a_source_route_is_dropped(relay, upstream):
    with Conversation(relay) as client:
        client.begin(recipients=["@relay.example,@other.example:ada@example.net"])
        client.send(header("route") + b"\r\n.\r\n")
        assert client.reply().startswith("250")
    assert upstream.accepted()[0]["recipients"] == ["ada@example.net"]


def test_an_endless_command_line_does_not_fill_the_memory(relay):
    with Conversation(relay) as client:
        try:
            for _ in range(200):
                client.send(b"x" * 65536)
            reply = client.reply()
        except OSError:
            reply = "421"
        assert reply[:3] in ("500", "421")
    with open(f"/proc/{relay.child.pid}/statm") as statm:
        resident = int(statm.read().split()[1]) * 4096
    assert resident < 1 << 30


def test_a_body_sent_without_waiting_for_a_refused_data_is_not_run_as_commands(relay, upstream):
    upstream.fault("rcpt reply 550 5.1.1 Unknown")
    with Conversation(relay) as client:
        envelope = b"MAIL FROM:<shop@example.com>\r\nRCPT TO:<ada@example.net>\r\nDATA\r\n"
        client.send(envelope + SMUGGLED + b"\r\n.\r\nQUIT\r\n")
        assert [client.reply()[:3] for _ in range(3)] == ["250", "550", "554"]
        client.rest()
    assert upstream.accepted() == []


@pytest.mark.parametrize("line", [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n"],
    ids=["GET", "POST", "TLS"])
def test_another_protocol_is_not_served(relay, upstream, line):
    with Conversation(relay, greet=False) as client:
        client.reply()
        client.send(line + SMUGGLED)
        client.socket.shutdown(1)
        client.rest()
    assert upstream.stats()["mail"] == 0


def test_an_answer_to_a_command_never_holds_control_octets_of_the_upstream(relay, upstream):
    upstream.fault("times=every rcpt reply 550 5.1.1 No\\0t \x1b[31mhere")
    with Conversation(relay) as client:
        client.ask("MAIL FROM:<shop@example.com>")
        reply = client.ask("RCPT TO:<ada@example.net>")
    assert reply[:3] in ("550", "451")
    assert all(" " <= octet <= "~" for octet in reply)


def test_after_all_this_the_relay_still_serves(relay, upstream):
    mail = Mail()
    assert submit(relay, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
