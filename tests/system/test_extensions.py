"""SMTPUTF8, DSN, REQUIRETLS and LIMITS: announced when the provider has them, and passed on as they came."""

import smtplib
import ssl

import pytest

from harness import Conversation, Mail, certificates, submit


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


# --- LIMITS and REQUIRETLS

OFFERS = 'ehlo_tls = ["mx.example", "PIPELINING", "SIZE 1000000", "8BITMIME", "REQUIRETLS", "LIMITS RCPTMAX=3"]'
SILENT = 'ehlo_tls = ["mx.example", "PIPELINING", "SIZE 1000000", "8BITMIME"]'


def secure(relay, certs):
    client = smtplib.SMTP("localhost", relay.port, timeout=30)
    client.starttls(context=ssl.create_default_context(cafile=certs / "ca.pem"))
    client.ehlo("app.example")
    return client


def behind_tls(world, settings, **keys):
    """An upstream with these EHLO lines inside TLS, and a relay that offers STARTTLS and verifies it."""
    certs = certificates(world.folder / "certs")
    upstream = world.upstream(settings=[settings], tls=True)
    relay = world.relay(f"smtp+starttls://localhost:{upstream.port}",
                        upstream_keys={"ca_file": str(upstream.certificate), **keys},
                        listen=[{"address": "127.0.0.1:0", "certificate_file": str(certs / "server.pem"),
                                 "key_file": str(certs / "server.key")}])
    return upstream, relay, certs


def test_the_lesser_limit_of_recipients_is_announced_and_kept(world):
    upstream, relay, certs = behind_tls(world, OFFERS)
    with secure(relay, certs) as client:
        assert client.esmtp_features["limits"] == "RCPTMAX=3"
        client.mail("shop@example.com")
        codes = [client.rcpt(f"r{number}@example.net")[0] for number in range(4)]
        assert codes == [250, 250, 250, 452]
    assert upstream.stats()["rcpt"] == 3


def test_our_own_limit_of_recipients_is_announced(world, upstream):
    relay = world.relay(upstream, limits={"recipients": 2})
    with Conversation(relay) as client:
        assert "LIMITS RCPTMAX=2" in client.ehlo


def test_requiretls_reaches_a_provider_that_keeps_it(world):
    upstream, relay, certs = behind_tls(world, OFFERS)
    mail = Mail()
    with secure(relay, certs) as client:
        assert "requiretls" in client.esmtp_features
        assert client.mail("shop@example.com", ["REQUIRETLS"])[0] == 250
        assert client.rcpt("ada@example.net")[0] == 250
        assert client.data(mail.build())[0] == 250
    assert any(line.startswith("MAIL FROM:<shop@example.com>") and line.endswith(" REQUIRETLS")
               for line in upstream.commands())


def test_requiretls_is_not_offered_in_the_clear(world):
    upstream, relay, _ = behind_tls(world, OFFERS)
    with Conversation(relay) as client:
        assert "REQUIRETLS" not in client.ehlo
        assert client.ask("MAIL FROM:<shop@example.com> REQUIRETLS").startswith("530 5.7.0 ")
    assert upstream.stats()["mail"] == 0


@pytest.mark.parametrize("settings, keys", [(SILENT, {}), (OFFERS, {"verify_certificate": False})],
                         ids=["not offered", "not verified"])
def test_requiretls_is_refused_where_nobody_keeps_it(world, settings, keys):
    upstream, relay, certs = behind_tls(world, settings, **keys)
    with secure(relay, certs) as client:
        assert "requiretls" not in client.esmtp_features
        assert client.mail("shop@example.com", ["REQUIRETLS"]) == (550, b"5.7.30 REQUIRETLS support required")
        assert submit(client, Mail().build()).code == 250  # without it, as ever
    assert upstream.stats()["mail"] == 1


def test_a_provider_without_tls_offers_no_requiretls_whatever_it_says(world):
    certs = certificates(world.folder / "certs")
    upstream = world.upstream(settings=[OFFERS.replace("ehlo_tls", "ehlo_plain")])
    relay = world.relay(upstream, listen=[{"address": "127.0.0.1:0", "certificate_file": str(certs / "server.pem"),
                                           "key_file": str(certs / "server.key")}])
    with secure(relay, certs) as client:
        assert "requiretls" not in client.esmtp_features and client.esmtp_features["limits"] == "RCPTMAX=3"
        assert client.mail("shop@example.com", ["REQUIRETLS"])[0] == 550


def test_a_connection_that_does_not_keep_requiretls_any_more_gets_no_such_message(world):
    upstream, relay, certs = behind_tls(world, OFFERS, max_messages=1)
    with secure(relay, certs) as client:
        assert submit(client, Mail().build()).code == 250
        upstream.fault("times=every ehlo-tls reply 250-mx.example\\r\\n250 8BITMIME")
        assert client.mail("shop@example.com", ["REQUIRETLS"])[0] == 250
        assert client.rcpt("ada@example.net")[0] == 451
    assert upstream.stats()["mail"] == 1
    assert "REQUIRETLS" in str(relay.wait_for_event("upstream_failed"))


def test_the_tls_required_field_is_left_alone(world, upstream):
    relay = world.relay(upstream)
    mail = Mail(headers=[("TLS-Required", "No")])
    octets = mail.build()
    assert submit(relay, octets).code == 250
    assert upstream.content(upstream.accepted()[0]) == octets
