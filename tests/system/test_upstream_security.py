"""TLS and authentication towards the upstream; secrets are in no log."""

import pytest

from harness import Conversation, Mail, submit

USERS = "auth.required = true\nauth.users = {relay = 'correct horse battery'}"


def secret(world, text="correct horse battery"):
    path = world.folder / "password"
    path.write_text(text + "\n")
    path.chmod(0o600)
    return str(path)


def relay_to(world, upstream, scheme, host="localhost", **keys):
    keys.setdefault("ca_file", str(upstream.certificate))
    return world.relay(f"{scheme}://{host}:{upstream.port}", upstream_keys={"name": "provider", **keys})


@pytest.mark.parametrize("profile", ["plain", "ses", "mailgun", "sendgrid", "gmail-relay", "office365"])
@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_every_provider_is_spoken_to_over_tls_with_a_password(world, profile, scheme):
    upstream = world.upstream(profile=profile, settings=[USERS], tls=True, implicit_tls=scheme == "smtps")
    relay = relay_to(world, upstream, scheme, username="relay", password_file=secret(world))
    mail = Mail()
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    (copy,) = upstream.accepted(mail.test_id)
    assert (copy["tls"], copy["user"]) == (True, "relay")
    assert [attempt.reply for attempt in attempts] == [copy["reply"]] * 2
    assert upstream.stats()["unannounced_pipelining"] == 0
    assert "battery" not in relay.text() + relay.log.read_text()


def test_a_password_may_come_from_the_environment(world):
    upstream = world.upstream(settings=[USERS], tls=True)
    relay = world.relay(f"smtp+starttls://relay@localhost:{upstream.port}",
                        env={"MAILONCE_UPSTREAM_PASSWORD": "correct horse battery"},
                        upstream_keys={"ca_file": str(upstream.certificate)})
    assert submit(relay, Mail().build()).code == 250


def test_a_wrong_password_is_a_transient_refusal_and_nothing_is_sent(world):
    upstream = world.upstream(settings=[USERS], tls=True)
    relay = relay_to(world, upstream, "smtp+starttls", username="relay", password_file=secret(world, "wrong horse"))
    assert submit(relay, Mail().build()).reply.startswith("451 4.7.0 ")
    assert upstream.stats()["mail"] == 0
    assert "horse" not in relay.text() + relay.log.read_text()


@pytest.mark.parametrize("fault", ["auth temp-fail", "auth reply 535 5.7.8 No"])
def test_a_failed_login_is_not_a_refusal_of_the_mail(world, fault):
    upstream = world.upstream(settings=[USERS], tls=True)
    upstream.fault("times=every " + fault)
    relay = relay_to(world, upstream, "smtp+starttls", username="relay", password_file=secret(world))
    mail = Mail()
    assert submit(relay, mail.build()).code // 100 == 4
    upstream.clear_faults()
    assert submit(relay, mail.build()).code == 250


@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_a_certificate_nobody_vouches_for_is_refused(world, scheme):
    upstream = world.upstream(tls=True, implicit_tls=scheme == "smtps")
    relay = world.relay(f"{scheme}://localhost:{upstream.port}")
    assert submit(relay, Mail().build()).reply.startswith("454 4.7.5 ")
    assert upstream.stats()["mail"] == 0


def test_a_certificate_for_another_name_is_refused(world):
    upstream = world.upstream(tls=True)
    relay = relay_to(world, upstream, "smtp+starttls", host="127.0.0.2")
    assert submit(relay, Mail().build()).code // 100 == 4
    assert upstream.stats()["mail"] == 0


@pytest.mark.parametrize("fault", ["starttls reply 454 4.7.0 Not now", "starttls reply 502 5.5.1 No"])
def test_without_tls_nothing_is_said_in_the_clear(world, fault):
    upstream = world.upstream(settings=[USERS], tls=True)
    upstream.fault("times=every " + fault)
    relay = relay_to(world, upstream, "smtp+starttls", username="relay", password_file=secret(world))
    assert submit(relay, Mail().build()).code // 100 == 4
    assert not any(line.startswith(("AUTH", "MAIL")) for line in upstream.commands())


@pytest.mark.parametrize("injected", ["250-evil.example\\r\\n250 AUTH PLAIN\\r\\n", "250-SMTPUT"],
                         ids=["whole reply", "fragment"])
def test_octets_injected_before_the_handshake_end_the_connection(world, injected):
    upstream = world.upstream(tls=True)
    upstream.fault(f"times=every starttls inject {injected}")
    relay = relay_to(world, upstream, "smtp+starttls")
    assert submit(relay, Mail().build()).reply.startswith("454 4.7.5 ")
    assert upstream.stats()["mail"] == 0


def test_a_refusal_in_the_clear_on_the_tls_port_is_transient(world):
    upstream = world.upstream(implicit_tls=True)
    upstream.fault("times=every tls plaintext 421 Too many concurrent SMTP connections")
    relay = relay_to(world, upstream, "smtps")
    assert submit(relay, Mail().build()).code // 100 == 4
    upstream.clear_faults()
    assert submit(relay, Mail().build()).code == 250


def test_only_what_both_sides_can_do_is_announced(world):
    both = {"PIPELINING", "8BITMIME"}
    for profile, words in (("plain", both | {"ENHANCEDSTATUSCODES"}), ("ses", both)):
        relay = world.relay(world.upstream(profile=profile))
        with Conversation(relay) as client:
            announced = {line[4:].split()[0] for line in client.ehlo.splitlines()[1:]}
            assert words <= announced
            assert not announced & {"STARTTLS", "AUTH", "SMTPUTF8", "DSN", "REQUIRETLS", "Ok"}


@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_a_further_connection_resumes_the_tls_session(world, scheme):
    upstream = world.upstream(tls=True, implicit_tls=scheme == "smtps")
    relay = relay_to(world, upstream, scheme, max_messages=1)
    for _ in range(4):
        assert submit(relay, Mail().build()).code == 250
    relay.wait_for_event("upstream_connected", count=4)
    made = [line["tls"].endswith(" resumed") for line in relay.events("upstream_connected")]
    assert made[0] is False and made.count(True) >= len(made) // 2  # each worker's first may come before a ticket
    assert len(upstream.accepted()) == 4
