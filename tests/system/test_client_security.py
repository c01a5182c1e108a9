"""TLS and logins towards clients: who may relay, under whose credential, and that no secret is in a log."""

import base64
import concurrent.futures
import contextlib
import shutil
import smtplib
import socket
import ssl
import subprocess

import pytest

from harness import Mail, certificates, submit, wait_until

PASSWORD = "correct horse battery"
UPSTREAM_USERS = "auth.required = true\nauth.users = {shop = 'correct horse battery', billing = 'staple'}"


@pytest.fixture
def certs(world):
    return certificates(world.folder / "certs")


def door(certs, **keys):
    """A listener that nobody may use without a login."""
    return {"address": "127.0.0.1:0", "allow": [], "certificate_file": str(certs / "server.pem"),
            "key_file": str(certs / "server.key"), **keys}


def users_file(world, **users):
    lines = [f"{name}:" + subprocess.run(["openssl", "passwd", "-6", "-stdin"], input=password, text=True,
                                         capture_output=True, check=True).stdout for name, password in users.items()]
    path = world.folder / "users"
    path.write_text("# who may relay\n" + "".join(lines))
    return str(path)


@contextlib.contextmanager
def session(relay, certs, user=None, password=PASSWORD, tls=True, mechanism=None, certificate=None):
    with smtplib.SMTP("localhost", relay.port, timeout=30) as client:
        if tls:
            context = ssl.create_default_context(cafile=certs / "ca.pem")
            if certificate:
                context.load_cert_chain(certs / f"{certificate}.pem", certs / f"{certificate}.key")
            client.starttls(context=context)
        client.ehlo("app.example")
        if mechanism:
            client.user, client.password = user, password
            client.auth(mechanism, getattr(client, "auth_" + mechanism.lower()))
        elif user:
            client.login(user, password)
        yield client


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
def test_a_user_of_the_file_may_relay_inside_tls(world, upstream, certs, mechanism):
    relay = world.relay(upstream, listen=[door(certs, users_file=users_file(world, shop=PASSWORD))])
    mail = Mail()
    for _ in range(2):
        with session(relay, certs, "shop", mechanism=mechanism) as client:
            assert submit(client, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    assert relay.wait_for_event("decision", 2)["user"] == "shop"
    assert "battery" not in relay.text() + relay.log.read_text()


def test_who_did_not_log_in_may_not_relay(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, users_file=users_file(world, shop=PASSWORD))])
    with session(relay, certs) as client:
        assert client.mail("shop@example.com") == (530, b"5.7.0 Authentication required")
    assert upstream.stats()["mail"] == 0


def test_a_wrong_password_is_refused_and_the_third_ends_the_session(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, users_file=users_file(world, shop=PASSWORD))])
    with session(relay, certs) as client:
        wrong = base64.b64encode(b"\0shop\0wrong horse").decode()
        nobody = base64.b64encode(b"\0nobody\0" + PASSWORD.encode()).decode()
        assert client.docmd("AUTH PLAIN", wrong)[0] == 535
        assert client.mail("shop@example.com")[0] == 530
        assert client.docmd("AUTH PLAIN", nobody)[0] == 535
        assert client.docmd("AUTH PLAIN", wrong)[0] == 421
        client.sock.settimeout(10)
        assert client.sock.recv(1) == b""
    assert "horse" not in relay.text() + relay.log.read_text()


def test_no_password_is_taken_in_the_clear(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, users_file=users_file(world, shop=PASSWORD))])
    with session(relay, certs, tls=False) as client:
        assert "auth" not in client.esmtp_features and "starttls" in client.esmtp_features
        assert client.docmd("AUTH PLAIN", base64.b64encode(b"\0shop\0" + PASSWORD.encode()).decode())[0] == 538


def test_on_this_host_a_password_may_be_taken_in_the_clear(world, upstream):
    users = users_file(world, shop=PASSWORD)
    relay = world.relay(upstream, listen=[{"address": "127.0.0.1:0", "allow": [], "users_file": users,
                                           "allow_plaintext_auth": True}])
    with session(relay, None, "shop", tls=False) as client:
        assert submit(client, Mail().build()).code == 250


def test_each_application_goes_through_with_its_own_credential(world, certs):
    upstream = world.upstream(settings=[UPSTREAM_USERS], tls=True)
    relay = through(world, upstream, certs)
    mail = Mail()
    for user, password in (("shop", PASSWORD), ("billing", "staple"), ("shop", PASSWORD)):
        with session(relay, certs, user, password) as client:
            assert submit(client, mail.build()).code == 250
    # Two customers of one relay are two: neither is answered from the other's record.
    assert sorted(copy["user"] for copy in upstream.accepted(mail.test_id)) == ["billing", "shop"]
    assert "battery" not in relay.text() + relay.log.read_text()
    assert "staple" not in relay.text() + relay.log.read_text()


def through(world, upstream, certs, **tables):
    return world.relay(f"smtp+starttls://localhost:{upstream.port}", upstream_keys={"ca_file": str(upstream.certificate)},
                       listen=[door(certs, auth="upstream")], server={"workers": 1}, **tables)


def test_customers_with_one_user_name_are_told_apart_by_their_passwords(world, certs):
    """As at SendGrid, where everybody is "apikey"."""
    upstream = world.upstream(settings=["auth.required = true"], tls=True)  # whatever is given is right
    relay = through(world, upstream, certs)
    mail = Mail()
    for password in ("first", "second", "first"):
        with session(relay, certs, "apikey", password) as client:
            assert submit(client, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 2


def test_a_login_in_the_clear_is_forgotten_inside_tls(world, certs):
    upstream = world.upstream(settings=[UPSTREAM_USERS], tls=True)
    relay = world.relay(f"smtp+starttls://localhost:{upstream.port}", upstream_keys={"ca_file": str(upstream.certificate)},
                        listen=[door(certs, auth="upstream", allow=["127.0.0.0/8"], allow_plaintext_auth=True)])
    with session(relay, certs, "shop", tls=False) as client:
        client.starttls(context=ssl.create_default_context(cafile=certs / "ca.pem"))
        client.ehlo("app.example")
        assert submit(client, Mail().build()).code // 100 == 5  # the provider wants a login, and there is none
    assert upstream.accepted() == []


def test_many_logins_at_once_share_one_pool(world, certs):
    upstream = world.upstream(settings=[UPSTREAM_USERS], tls=True)
    relay = through(world, upstream, certs)
    mails = [Mail() for _ in range(8)]

    def send(mail):
        with session(relay, certs, "shop") as client:
            return submit(client, mail.build()).code

    with concurrent.futures.ThreadPoolExecutor(len(mails)) as pool:
        assert list(pool.map(send, mails)) == [250] * len(mails)
    assert {copy["user"] for copy in upstream.accepted()} == {"shop"}


def test_a_path_that_is_no_socket_is_left_alone(world, upstream):
    path = world.folder / "window.db"
    path.write_text("records")
    with pytest.raises(AssertionError, match="did not start"):
        world.relay(upstream, listen=[{"address": f"unix:{path}"}])
    assert path.read_text() == "records"


def test_a_credential_that_was_right_a_moment_ago_costs_no_login_upstream(world, certs):
    upstream = world.upstream(settings=[UPSTREAM_USERS], tls=True)
    relay = through(world, upstream, certs)
    for _ in range(5):
        with session(relay, certs, "shop") as client:
            assert submit(client, Mail().build()).code == 250
    assert sum(line.startswith("AUTH") for line in upstream.commands()) == 1


def test_the_providers_answer_to_a_wrong_credential_is_the_answer(world, certs):
    upstream = world.upstream(settings=[UPSTREAM_USERS, "auth.perm_fail = '535 5.7.8 No such key (provider)'"], tls=True)
    relay = through(world, upstream, certs)
    with session(relay, certs) as client:
        for _ in range(2):
            with pytest.raises(smtplib.SMTPAuthenticationError) as refused:
                client.login("shop", "wrong horse")
            assert refused.value.smtp_error == b"5.7.8 No such key (provider)"
            client.ehlo()
            break
        assert client.mail("shop@example.com")[0] == 530
    assert "horse" not in relay.text() + relay.log.read_text()


def bearer(user, token):
    return base64.b64encode(f"user={user}\1auth=Bearer {token}\1\1".encode()).decode()


@pytest.mark.parametrize("profile", ["office365", "gmail-relay"])
def test_a_token_is_passed_through(world, certs, profile):
    upstream = world.upstream(profile=profile, settings=[UPSTREAM_USERS], tls=True)
    relay = through(world, upstream, certs)
    with session(relay, certs) as client:
        assert "XOAUTH2" in client.esmtp_features["auth"]
        code, text = client.docmd("AUTH XOAUTH2", bearer("shop", "stale horse"))
        assert (code, text) == (334, b"eyJzdGF0dXMiOiI0MDEifQ==") or code == 535
        if code == 334:
            assert client.docmd("")[0] == 535
        assert client.docmd("AUTH XOAUTH2", bearer("shop", PASSWORD))[0] == 235
        assert submit(client, Mail().build()).code == 250
    (copy,) = upstream.accepted()
    assert copy["user"] == "shop"
    assert any(line.startswith("AUTH XOAUTH2") for line in upstream.commands())
    assert "horse" not in relay.text() + relay.log.read_text()


def test_a_provider_that_cannot_be_asked_is_no_refusal_of_the_credential(world, certs):
    upstream = world.upstream(settings=[UPSTREAM_USERS], tls=True)
    relay = through(world, upstream, certs)
    upstream.listen(False)
    with session(relay, certs) as client:
        assert client.docmd("AUTH PLAIN", base64.b64encode(b"\0shop\0" + PASSWORD.encode()).decode())[0] == 454


def test_a_rule_may_be_for_one_credential(world, upstream, certs):
    users = users_file(world, shop=PASSWORD, alerts="staple")
    relay = world.relay(upstream, listen=[door(certs, users_file=users)],
                        rule=[{"name": "alerts", "match": {"credential": "alerts"}, "mode": "off"}])
    mails = {"shop": Mail(), "alerts": Mail()}
    for user, password in (("shop", PASSWORD), ("alerts", "staple")) * 2:
        with session(relay, certs, user, password) as client:
            assert submit(client, mails[user].build()).code == 250
    assert len(upstream.accepted(mails["shop"].test_id)) == 1
    assert len(upstream.accepted(mails["alerts"].test_id)) == 2


def test_tls_from_the_first_octet(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, tls="implicit", users_file=users_file(world, shop=PASSWORD))])
    context = ssl.create_default_context(cafile=certs / "ca.pem")
    with smtplib.SMTP_SSL("localhost", relay.port, context=context, timeout=30) as client:
        client.ehlo("app.example")
        assert "starttls" not in client.esmtp_features
        client.login("shop", PASSWORD)
        assert submit(client, Mail().build()).code == 250


def test_a_certificate_of_our_authority_is_a_login(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, client_ca_file=str(certs / "ca.pem"))])
    with session(relay, certs, certificate="client") as client:
        assert submit(client, Mail().build()).code == 250
    assert relay.wait_for_event("decision")["user"] == "application"
    with session(relay, certs) as client:
        assert client.mail("shop@example.com")[0] == 530
    with pytest.raises((ssl.SSLError, smtplib.SMTPServerDisconnected, ConnectionError)):
        with session(relay, certs, certificate="self-signed") as client:
            client.mail("shop@example.com")
    assert "self-signed" in relay.wait_for_event("tls_failed")["error"]


def test_nothing_is_taken_before_tls_where_it_is_required(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, allow=["127.0.0.0/8"], require_tls=True)])
    with session(relay, certs, tls=False) as client:
        assert client.mail("shop@example.com") == (530, b"5.7.0 Must issue a STARTTLS command first")
    with session(relay, certs) as client:
        assert submit(client, Mail().build()).code == 250


@pytest.mark.parametrize("behind", [b"NOOP\r\n", b"EHLO x\r\nMAIL FROM:<a@b.example>\r\n", b"N"])
def test_what_stands_behind_starttls_in_the_clear_is_never_said_inside_tls(world, upstream, certs, behind):
    relay = world.relay(upstream, listen=[door(certs, allow=["127.0.0.0/8"])])
    with socket.create_connection(("127.0.0.1", relay.port), timeout=10) as client:
        stream = client.makefile("rb")
        assert stream.readline().startswith(b"220 ")
        client.sendall(b"STARTTLS\r\n" + behind)
        assert stream.readline().startswith(b"554 5.5.0 ")
        assert stream.read() == b""


def test_inside_tls_all_begins_anew(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, allow=["127.0.0.0/8"])])
    with session(relay, certs, tls=False) as client:
        assert client.docmd("STARTTLS", "foo")[0] == 501
        client.starttls(context=ssl.create_default_context(cafile=certs / "ca.pem"))
        assert client.mail("shop@example.com")[0] == 503
        client.ehlo("app.example")
        assert "starttls" not in client.esmtp_features
        assert client.docmd("STARTTLS")[0] == 503
        assert submit(client, Mail().build()).code == 250


def test_a_new_certificate_needs_no_restart(world, upstream, certs):
    relay = world.relay(upstream, listen=[door(certs, allow=["127.0.0.0/8"])])
    with session(relay, certs):
        pass
    for kind in ("pem", "key"):
        shutil.copy(certs / f"wrong-name.{kind}", certs / f"server.{kind}")
    relay.signal(1)
    relay.wait_for_event("reloaded")
    with pytest.raises(ssl.SSLCertVerificationError, match="localhost"):
        with session(relay, certs):
            pass
    (certs / "server.pem").write_text("spoilt")
    relay.signal(1)
    assert "server.pem" in relay.wait_for_event("reload_failed")["text"]
    assert relay.running


def test_a_unix_socket_takes_mail_of_who_may_open_it(world, upstream):
    path = world.folder / "smtp.sock"
    relay = world.relay(upstream, listen=[{"address": "127.0.0.1:0"}, {"address": f"unix:{path}", "mode": "0600"}])
    wait_until(path.exists, "the socket is there")
    assert path.stat().st_mode & 0o777 == 0o600
    mail = Mail()
    for _ in range(2):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            with smtplib.SMTP() as client:
                client.sock, client.file = connection, connection.makefile("rb")
                assert client.getreply()[0] == 220
                client.ehlo("app.example")
                assert submit(client, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1
    assert relay.wait_for_event("decision")["client"] == "local"
    relay.stop()
    assert not path.exists()
