"""Behind others: who speaks for a client, and that nobody else can say to be one."""

import base64
import contextlib
import socket
import ssl
import time

import pytest

from harness import Conversation, Mail, certificates, submit

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
PEER = "127.0.0.1"


def line(client="192.0.2.7", port=40000):
    return f"PROXY TCP4 {client} 198.51.100.1 {port} 25\r\n".encode()


def binary(client="192.0.2.7", command=0x21, tlv=b""):
    block = socket.inet_aton(client) + socket.inet_aton("198.51.100.1") + b"\x9c\x40\0\x19" + tlv
    return SIGNATURE + bytes([command, 0x11]) + len(block).to_bytes(2, "big") + block


def door(**keys):
    return {"address": "127.0.0.1:0", "allow": ["192.0.2.0/24"], "proxy_protocol": [PEER], **keys}


def connect(relay, octets):
    client = Conversation(relay, greet=False)
    client.send(octets)
    return client


def deliver(client, mail):
    client.begin()
    client.send(mail.build() + b"\r\n.\r\n")
    return client.reply()


@pytest.mark.parametrize("header", [line(), binary(), binary(tlv=b"\x04\0\x03xyz"), binary(tlv=b"t" * 8000)],
                         ids=["version 1", "version 2", "TLV", "long TLV"])
def test_the_client_is_whom_the_proxy_names(world, upstream, header):
    relay = world.relay(upstream, listen=[door()])
    mail = Mail()
    with connect(relay, header) as client:
        assert client.reply().startswith("220")
        assert client.ask("EHLO app.example").startswith("250")
        assert deliver(client, mail).startswith("250")
    assert len(upstream.accepted(mail.test_id)) == 1
    assert relay.wait_for_event("decision")["client"] == "192.0.2.7"


def test_the_header_may_come_octet_by_octet_and_with_commands_behind_it(world, upstream):
    relay = world.relay(upstream, listen=[door()])
    for octets in (line(), binary()):
        with connect(relay, b"") as client:
            for octet in octets:
                client.send(bytes([octet]))
            assert client.reply().startswith("220")
        with connect(relay, octets + b"EHLO app.example\r\nNOOP\r\nQUIT\r\n") as client:
            assert [client.reply()[:3] for _ in range(4)] == ["220", "250", "250", "221"]


def test_the_header_comes_before_tls(world, upstream):
    certs = certificates(world.folder / "certs")
    relay = world.relay(upstream, listen=[door(tls="implicit", certificate_file=str(certs / "server.pem"),
                                               key_file=str(certs / "server.key"))])
    context = ssl.create_default_context(cafile=certs / "ca.pem")
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        tls.do_handshake()
    # The header and the begin of the handshake in one segment.
    with connect(relay, line() + outgoing.read()) as client:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.send(outgoing.read())
                incoming.write(client.socket.recv(65536))
        client.send(outgoing.read())
        while True:
            try:
                assert tls.read(4) == b"220 "
                break
            except ssl.SSLWantReadError:
                incoming.write(client.socket.recv(65536))


@pytest.mark.parametrize("header", [b"PROXY UNKNOWN\r\n", binary(command=0x20), SIGNATURE + b"\x21\0\0\0"],
                         ids=["UNKNOWN", "LOCAL", "UNSPEC"])
def test_a_client_without_address_is_the_proxy_itself(world, upstream, header):
    relay = world.relay(upstream, listen=[door(), door(allow=[PEER])])
    with connect(relay, header) as client:
        assert client.reply().startswith("554 5.7.1 ")
        assert client.rest() == ""
    port = int(relay.events("listening")[1]["address"].rsplit(":", 1)[1])
    with connect(port, header) as client:
        assert client.reply().startswith("220")
    assert relay.wait_for_event("session_refused")["client"] == PEER


def test_whom_the_proxy_names_is_asked_whether_it_may_relay(world, upstream):
    relay = world.relay(upstream, listen=[door()])
    with connect(relay, line("203.0.113.9")) as client:
        assert client.reply() == "554 5.7.1 Relaying not allowed"
        assert client.rest() == ""
    refused = relay.wait_for_event("session_refused")
    assert (refused["client"], refused["why"]) == ("203.0.113.9", "not_allowed")


def test_connections_are_counted_for_the_client_and_not_for_the_proxy(world, upstream):
    relay = world.relay(upstream, listen=[door()], limits={"connections_per_address": 2})
    with contextlib.ExitStack() as held:
        for client in ("192.0.2.7", "192.0.2.7", "192.0.2.8", "192.0.2.8", "192.0.2.9"):
            assert held.enter_context(connect(relay, line(client))).reply().startswith("220")
        with connect(relay, line("192.0.2.7")) as third:
            assert third.reply().startswith("421 4.7.0 ")
    # Their places are free again when they left.
    deadline = time.monotonic() + 10
    while True:
        with connect(relay, line("192.0.2.7")) as client:
            if client.reply().startswith("220"):
                return
        assert time.monotonic() < deadline


@pytest.mark.parametrize("octets", [b"EHLO app.example\r\n", b"PROXY TCP4 192.0.2.7\r\n", binary(command=0x11),
                                    b"PROXY UNKNOWN " + b"x" * 200], ids=["none", "short", "version", "long"])
def test_a_malformed_header_gets_no_word(world, upstream, octets):
    relay = world.relay(upstream, listen=[door(allow=["127.0.0.0/8"])])
    with connect(relay, octets) as client:
        with contextlib.suppress(ConnectionError):  # what was not read any more is a reset
            assert client.rest() == ""
    line = relay.wait_for_event("proxy_header_refused")
    assert line["level"] == "warning" and line["client"] == PEER


def test_a_header_that_drips_has_one_deadline(world, upstream):
    relay = world.relay(upstream, listen=[door()], limits={"handshake_timeout": "1s"})
    with connect(relay, b"") as client:
        begun = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for octet in line() * 3:
                client.send(bytes([octet]))
                time.sleep(0.3)
            pytest.fail("an octet at a time was enough to stay")
        assert time.monotonic() - begun < 8
    assert "in time" in relay.wait_for_event("proxy_header_refused")["error"]


def test_a_look_whether_somebody_listens_is_no_warning(world, upstream):
    relay = world.relay(upstream, listen=[door()])
    connect(relay, b"").close()
    with connect(relay, line()) as client:
        assert client.reply().startswith("220")
    assert relay.events("proxy_header_refused") == []


@pytest.mark.parametrize("header", [line(), binary()], ids=["version 1", "version 2"])
def test_nobody_else_can_say_to_be_another(world, upstream, header):
    relay = world.relay(upstream, listen=[door(allow=["127.0.0.0/8"], proxy_protocol=["192.0.2.1"])])
    with connect(relay, header) as client:
        assert client.reply().startswith("220")
        assert client.reply()[:1] in ("4", "5")  # an unknown command, or lines without CR
    assert relay.wait_for_event("listening")
    assert submit(relay, Mail().build()).code == 250
    assert relay.wait_for_event("decision")["client"] == PEER


def test_a_password_in_the_clear_is_for_clients_of_this_host_and_not_for_those_of_the_proxy(world, upstream):
    users = world.folder / "users"
    users.write_text("shop:$6$x$" + "a" * 86 + "\n")
    relay = world.relay(upstream, listen=[door(users_file=str(users), allow_plaintext_auth=True)])
    for client_address, offered in (("203.0.113.9", False), (PEER, True)):
        with connect(relay, line(client_address)) as client:
            client.reply()
            assert ("AUTH" in client.ask("EHLO app.example")) == offered


def test_the_relay_ends_while_a_proxy_is_silent(world, upstream):
    relay = world.relay(upstream, listen=[door()])
    with connect(relay, b"PROXY "):
        time.sleep(0.2)
        begun = time.monotonic()
        assert relay.stop() == 0
        assert time.monotonic() - begun < 10


def test_too_many_connections_of_implicit_tls_are_closed_without_noise_in_the_clear(world, upstream):
    certs = certificates(world.folder / "certs")
    relay = world.relay(upstream, limits={"connections_per_address": 1}, listen=[
        {"address": "127.0.0.1:0", "tls": "implicit", "certificate_file": str(certs / "server.pem"),
         "key_file": str(certs / "server.key")}])
    with Conversation(relay, greet=False):
        with Conversation(relay, greet=False) as second:
            assert second.rest() == ""
    assert relay.wait_for_event("session_refused")["why"] == "too_many_connections_of_address"


# --- XCLIENT


def trusting(**keys):
    return {"address": "127.0.0.1:0", "allow": ["192.0.2.0/24"], "xclient": [PEER], **keys}


def named(relay, attributes):
    client = Conversation(relay)
    assert client.ask("XCLIENT " + attributes).startswith("220 ")
    client.ehlo = client.ask("EHLO app.example")
    return client


def test_xclient_names_the_client(world, upstream):
    relay = world.relay(upstream, listen=[trusting()])
    mail = Mail()
    with Conversation(relay) as client:
        assert "XCLIENT NAME ADDR" in client.ehlo
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("554 5.7.1 ")  # it is no client itself
    with named(relay, "ADDR=192.0.2.7 NAME=app.example HELO=app.example PROTO=ESMTP PORT=40000") as client:
        assert deliver(client, mail).startswith("250")
    assert relay.wait_for_event("decision")["client"] == "192.0.2.7"
    event = relay.wait_for_event("client_named")
    assert (event["client"], event["by"], event["helo"]) == ("192.0.2.7", PEER, "app.example")


def test_whom_xclient_names_is_asked_whether_it_may_relay(world, upstream):
    relay = world.relay(upstream, listen=[trusting(allow=["127.0.0.0/8", "192.0.2.0/24"])])
    for address in ("203.0.113.9", "IPV6:2001:db8::7", "[UNAVAILABLE]"):
        with named(relay, "ADDR=" + address) as client:
            assert client.ask("MAIL FROM:<shop@example.com>").startswith("554 5.7.1 ")
            # Its own right does not come back but with an address that has it.
            assert client.ask("XCLIENT NAME=x.example").startswith("220 ")
            client.ask("EHLO app.example")
            assert client.ask("MAIL FROM:<shop@example.com>").startswith("554 5.7.1 ")
    assert upstream.stats()["mail"] == 0


def test_xclient_from_others_is_refused(world, upstream):
    relay = world.relay(upstream, listen=[trusting(allow=["127.0.0.0/8"], xclient=["192.0.2.1"])])
    with Conversation(relay) as client:
        assert "XCLIENT" not in client.ehlo
        assert client.ask("XCLIENT ADDR=192.0.2.7 LOGIN=shop").startswith("550 5.7.0 ")
        assert deliver(client, Mail()).startswith("250")
    decision = relay.wait_for_event("decision")
    assert decision["client"] == PEER and not decision.get("user")


def test_a_login_by_xclient_is_that_of_the_user_of_the_file(world, upstream):
    users = world.folder / "users"
    password = "$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/"
    users.write_text(f"shop:{password}\nbilling:{password}\n")
    relay = world.relay(upstream, listen=[trusting(allow=[], users_file=str(users), allow_plaintext_auth=True)])
    mail = Mail()
    with Conversation(relay) as client:
        assert client.ask("AUTH PLAIN " + base64.b64encode(b"\0shop\0password").decode()).startswith("235")
        assert deliver(client, mail).startswith("250")
    for user in ("shop", "billing"):
        with named(relay, "ADDR=203.0.113.9 LOGIN=" + user) as client:
            assert deliver(client, mail).startswith("250")
    # One's mail is a repeat of one's own, and never of another's.
    assert [(line["user"], line["outcome"]) for line in (relay.wait_for_event("decision", n) for n in (1, 2, 3))] == [
        ("shop", "forwarded"), ("shop", "duplicate"), ("billing", "forwarded")]
    # Without LOGIN the client must log in itself: the host's own login was not the client's.
    with Conversation(relay) as client:
        assert client.ask("AUTH PLAIN " + base64.b64encode(b"\0shop\0password").decode()).startswith("235")
        assert client.ask("XCLIENT ADDR=203.0.113.9").startswith("220 ")
        client.ask("EHLO app.example")
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("530 5.7.0 ")


def test_what_xclient_does_not_say_stays_as_it_said_before(world, upstream):
    """Postfix splits what does not fit into one line."""
    relay = world.relay(upstream, listen=[trusting()])
    with named(relay, "ADDR=203.0.113.9 LOGIN=shop") as client:
        assert client.ask("XCLIENT NAME=app.example").startswith("220 ")
        client.ask("EHLO app.example")
        assert deliver(client, Mail()).startswith("250")
        assert client.ask("XCLIENT LOGIN=[UNAVAILABLE]").startswith("220 ")
        client.ask("EHLO app.example")
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("554 5.7.1 ")
    decision = relay.wait_for_event("decision")
    assert (decision["client"], decision["user"]) == ("203.0.113.9", "shop")


def test_no_login_by_name_goes_under_a_credential_of_the_provider(world):
    upstream = world.upstream(settings=["auth.required = true\nauth.users = {shop = 'secret'}"], tls=True)
    relay = world.relay(f"smtp+starttls://localhost:{upstream.port}", upstream_keys={"ca_file": str(upstream.certificate)},
                        listen=[trusting(allow=[], auth="upstream", allow_plaintext_auth=True)])
    with Conversation(relay) as client:
        assert "XCLIENT" in client.ehlo and "LOGIN DESTADDR" not in client.ehlo
        assert client.ask("XCLIENT ADDR=192.0.2.7 LOGIN=shop").startswith("501 5.5.4 ")
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("530 5.7.0 ")
    assert upstream.accepted() == []


def test_a_pipelined_command_behind_xclient_is_not_run(world, upstream):
    relay = world.relay(upstream, listen=[trusting()])
    with Conversation(relay) as client:
        client.send(b"XCLIENT ADDR=192.0.2.7\r\nEHLO evil.example\r\n")
        assert client.reply().startswith("554 5.5.0 ")
        assert client.rest() == ""


def test_connections_are_counted_for_whom_xclient_names(world, upstream):
    relay = world.relay(upstream, listen=[trusting()], limits={"connections_per_address": 2})
    with contextlib.ExitStack() as held:
        for number in range(5):
            held.enter_context(named(relay, f"ADDR=192.0.2.{number // 2}"))
        third = held.enter_context(Conversation(relay))
        assert third.ask("XCLIENT ADDR=192.0.2.0").startswith("421 4.7.0 ")
        assert third.rest() == ""


def test_xclient_after_starttls_keeps_tls_and_starttls_after_it_forgets_the_login(world, upstream):
    certs = certificates(world.folder / "certs")
    relay = world.relay(upstream, listen=[trusting(allow=[], certificate_file=str(certs / "server.pem"),
                                                   key_file=str(certs / "server.key"), require_tls=True)])
    context = ssl.create_default_context(cafile=certs / "ca.pem")
    with named(relay, "ADDR=203.0.113.9 LOGIN=shop") as client:
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("530 5.7.0 Must issue")
        assert client.ask("STARTTLS").startswith("220")
        client.socket = context.wrap_socket(client.socket, server_hostname="localhost")
        client.input = client.socket.makefile("rb")
        client.ask("EHLO app.example")
        assert client.ask("MAIL FROM:<shop@example.com>").startswith("554 5.7.1 ")
        assert client.ask("XCLIENT LOGIN=shop").startswith("220 ")
        assert "STARTTLS" not in client.ask("EHLO app.example")
        assert deliver(client, Mail()).startswith("250")
    assert relay.wait_for_event("decision")["client"] == "203.0.113.9"
