"""SMTPUTF8 and DSN: announced when the provider has them, and passed on as they came."""

from harness import Conversation


def lines(world, profile, *commands):
    upstream = world.upstream(profile=profile)
    relay = world.relay(upstream)
    conversation = Conversation(relay)
    replies = [conversation.ask(command) for command in commands]
    return upstream, conversation.ehlo, replies


def test_dsn_reaches_a_provider_that_has_it(world):
    upstream, ehlo, replies = lines(
        world, "office365", b"MAIL FROM:<shop@example.com> RET=HDRS ENVID=order+2B1\r\n",
        b"RCPT TO:<ada@example.net> NOTIFY=FAILURE,DELAY ORCPT=rfc822;ada@example.net\r\n")
    assert "DSN" in ehlo and all(reply.startswith("250") for reply in replies)
    assert any("RET=HDRS ENVID=order+2B1" in line for line in upstream.commands())
    assert "RCPT TO:<ada@example.net> NOTIFY=FAILURE,DELAY ORCPT=rfc822;ada@example.net" in upstream.commands()


def test_dsn_is_refused_where_the_provider_has_none(world):
    upstream, ehlo, replies = lines(world, "ses", b"MAIL FROM:<shop@example.com> RET=HDRS\r\n")
    assert "DSN" not in ehlo and replies[0].startswith("555 5.5.4")
    assert upstream.stats()["mail"] == 0


def test_utf8_addresses_reach_a_provider_that_takes_them(world):
    sender, recipient = "<jörg@beispiel.example>".encode(), "<用户@例.example>".encode()
    upstream, ehlo, replies = lines(world, "gmail-relay", b"MAIL FROM:" + sender + b" SMTPUTF8\r\n",
                                    b"RCPT TO:" + recipient + b"\r\n")
    assert "SMTPUTF8" in ehlo and all(reply.startswith("250") for reply in replies)
    heard = [line.encode("latin-1").decode() for line in upstream.commands()]
    assert "MAIL FROM:<jörg@beispiel.example> SMTPUTF8" in heard
    assert "RCPT TO:<用户@例.example>" in heard


def test_utf8_addresses_are_refused_where_they_would_be_at_the_end(world):
    upstream, ehlo, replies = lines(world, "ses", "MAIL FROM:<jörg@beispiel.example> SMTPUTF8\r\n".encode())
    assert "SMTPUTF8" not in ehlo and replies[0].startswith("553 5.6.7")
    assert upstream.stats()["mail"] == 0
