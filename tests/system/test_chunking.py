"""CHUNKING through the real relay: a message in chunks is the message it is by DATA, and no octet of a chunk runs."""

import time

import pytest

from harness import Conversation, Mail, submit


def chunk(octets, last=False):
    return b"BDAT %d%s\r\n" % (len(octets), b" LAST" if last else b"") + octets


ENVELOPE = b"MAIL FROM:<shop@example.com>\r\nRCPT TO:<ada@example.net>\r\n"


@pytest.fixture
def relay(world, upstream):
    return world.relay(upstream, limits={"message_size": "64kB"})


def told(client, count):
    return [client.reply()[:3] for _ in range(count)]


def test_a_message_in_chunks_arrives_as_it_is(relay, upstream):
    text = b".\r\n..two\r\n\r\n.\r\nMAIL FROM:<evil@example.org>\r\n.end\r\n"
    message = Mail().build() + text
    with Conversation(relay) as client:
        assert "CHUNKING" in client.ehlo and "BINARYMIME" not in client.ehlo
        client.send(ENVELOPE)
        assert told(client, 2) == ["250", "250"]
        for at in range(0, len(message), 100):
            client.send(chunk(message[at:at + 100]))
            assert client.reply() == f"250 2.0.0 {len(message[at:at + 100])} octets received"
        client.send(b"BDAT 0 LAST\r\n")
        assert client.reply().startswith("250")
    (accepted,) = upstream.accepted()
    assert upstream.content(accepted) == message
    assert not any("evil" in line or line.startswith("BDAT") for line in upstream.commands())


def test_chunks_and_the_next_transaction_may_be_pipelined(relay, upstream):
    mails = [Mail() for _ in range(3)]
    script = b""
    for mail in mails:
        octets = mail.build()
        script += ENVELOPE + chunk(octets[:50]) + chunk(octets[50:60]) + chunk(octets[60:], last=True)
    with Conversation(relay) as client:
        client.send(script + b"QUIT\r\n")
        assert told(client, 16) == ["250"] * 15 + ["221"]
    assert [message["test_id"] for message in upstream.accepted()] == [mail.test_id for mail in mails]


def test_the_same_mail_by_bdat_and_by_data_is_one(relay, upstream):
    mail = Mail()
    with Conversation(relay) as client:
        client.send(ENVELOPE + chunk(mail.build().rstrip(b"\r\n"), last=True))  # without its last line end
        assert told(client, 3) == ["250"] * 3
    assert submit(relay, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    assert upstream.content(upstream.accepted()[0]).endswith(b"EUR.\r\n")


@pytest.mark.parametrize("octets", [b"x\n.\nMAIL FROM:<evil@example.org>\r\n", b"x\r\n.\rMAIL FROM:<evil@example.org>\r\n",
                                    b"x\0y\r\n", b"x\r"], ids=["LF", "CR", "NUL", "last CR"])
def test_what_data_can_not_carry_is_refused_at_the_last_chunk(relay, upstream, octets):
    with Conversation(relay) as client:
        client.send(ENVELOPE + chunk(octets) + b"BDAT 0 LAST\r\n")
        assert told(client, 3) == ["250"] * 3
        assert client.reply().startswith("550 5.5.2 ")
        assert client.ask("NOOP").startswith("250")
    assert upstream.accepted() == [] and upstream.stats()["data"] == 0
    assert relay.wait_for_event("decision")["reason"] == "malformed_data"


def test_octets_without_a_recipient_are_no_commands(relay, upstream):
    evil = b"MAIL FROM:<evil@example.org>\r\nRCPT TO:<victim@example.org>\r\n"
    upstream.fault("rcpt reply 550 5.1.1 Unknown")
    with Conversation(relay) as client:
        client.send(chunk(evil, last=True) + ENVELOPE + chunk(evil, last=True) + b"RSET\r\nQUIT\r\n")
        assert told(client, 6) == ["503", "250", "550", "554", "250", "221"]
    assert not any("evil" in line for line in upstream.commands())


def test_a_message_too_large_is_refused_where_it_becomes_so_and_the_session_goes_on(relay, upstream):
    with Conversation(relay) as client:
        client.send(ENVELOPE + chunk(b"x" * 60_000) + chunk(b"y" * 3_000_000) + chunk(b"z\r\n", last=True))
        assert told(client, 5) == ["250", "250", "250", "552", "503"]
        mail = Mail()
        client.send(ENVELOPE + chunk(mail.build(), last=True))
        assert told(client, 3) == ["250"] * 3
    assert [message["test_id"] for message in upstream.accepted()] == [mail.test_id]
    assert relay.wait_for_event("decision")["reason"] == "too_large"


@pytest.mark.parametrize("line", [b"BDAT 99999999999999999999\r\n", b"BDAT x\r\n", b"BDAT 9999999999\r\n"],
                         ids=["overflow", "no number", "ten gigabytes"])
def test_a_chunk_that_can_not_be_read_ends_the_session(relay, upstream, line):
    with Conversation(relay) as client:
        client.send(ENVELOPE + line + b"MAIL FROM:<evil@example.org>\r\n")
        assert told(client, 2) == ["250"] * 2
        assert client.reply()[:3] in ("501", "552")
        try:
            assert client.rest() == ""
        except ConnectionError:
            pass
    assert not any("evil" in command for command in upstream.commands())


def test_rset_between_chunks_gives_the_message_up(relay, upstream):
    mail = Mail()
    with Conversation(relay) as client:
        client.send(ENVELOPE + chunk(b"Subject: first\r\n\r\n") + b"RSET\r\n" + ENVELOPE + chunk(mail.build(), last=True))
        assert told(client, 7) == ["250"] * 7
    (accepted,) = upstream.accepted()
    assert accepted["test_id"] == mail.test_id and b"first" not in upstream.content(accepted)


def test_a_client_that_leaves_between_chunks_sent_nothing(relay, upstream):
    with Conversation(relay) as client:
        client.send(ENVELOPE + chunk(Mail().build()))
        assert told(client, 3) == ["250"] * 3
    mail = Mail()
    assert submit(relay, mail.build()).code == 250
    assert [message["test_id"] for message in upstream.accepted()] == [mail.test_id]


def test_a_body_that_drips_in_chunks_has_the_deadline_of_a_body(world, upstream):
    relay = world.relay(upstream, limits={"message_timeout": "1s"})
    with Conversation(relay) as client:
        client.send(ENVELOPE)
        assert told(client, 2) == ["250"] * 2
        begun = time.monotonic()
        while True:
            assert time.monotonic() - begun < 10
            client.send(chunk(b"x"))
            reply = client.reply()
            if not reply.startswith("250"):
                break
            time.sleep(0.1)
        assert reply.startswith("421 4.4.2 ")
    assert upstream.accepted() == []
