"""Unmodified clients: what a library builds twice arrives once, and what is different arrives."""

import pathlib
import smtplib
import subprocess

import pytest

from harness import Mail, check_partition, submit

CLIENTS = pathlib.Path(__file__).resolve().parent / "clients"


@pytest.fixture(scope="module")
def relay(shared_world):
    relay = shared_world.relay(shared_world.upstream(), store=shared_world.redis().url)
    relay.provider = shared_world.started[0]
    return relay


def by_nodemailer(port, subject, test_id):
    return ["node", CLIENTS / "send.js", port, subject, test_id]


def by_phpmailer(port, subject, test_id):
    return ["php", CLIENTS / "send.php", port, subject, test_id]


def by_django(port, subject, test_id):
    return ["/usr/bin/python3", CLIENTS / "send_django.py", port, subject, test_id]


def by_swaks(port, subject, test_id):
    return ["swaks", "--server", f"127.0.0.1:{port}", "--from", "shop@example.com", "--to", "ada@example.net",
            "--header", f"Subject: {subject}", "--header", f"X-Test-Id: {test_id}", "--body", "your invoice: 10 EUR",
            "--hide-informational"]


def run(command):
    # Debian keeps its Node packages in that folder.
    environment = {"PATH": "/usr/bin:/bin", "NODE_PATH": "/usr/share/nodejs", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60,
                          env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("client", [by_nodemailer, by_phpmailer, by_django, by_swaks],
                         ids=lambda client: client.__name__[3:])
def test_a_mail_built_twice_by_a_library_arrives_once(relay, client):
    first, other = Mail(), Mail()
    told = [run(client(relay.port, first.subject, first.test_id)) for _ in range(2)]
    run(client(relay.port, other.subject, other.test_id))
    (copy,) = relay.provider.accepted(first.test_id)
    assert len(relay.provider.accepted(other.test_id)) == 1
    if client is not by_django:  # it tells a number only
        assert all(copy["reply"].split()[-1] in text for text in told)


@pytest.mark.parametrize("mail", [
    Mail(), Mail(html="<p>10.00 EUR</p>"), Mail(attachment=b"%PDF-1.4 \0\r\n.\r\n"),
    Mail(text="Grüße,\n.\n..zwei Punkte\n")], ids=["text", "html", "attachment", "dots and umlauts"])
def test_a_mail_built_twice_by_smtplib_arrives_once_and_untouched(relay, mail):
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    (copy,) = relay.provider.accepted(mail.test_id)
    assert relay.provider.content(copy) == attempts[0].octets
    assert [attempt.reply for attempt in attempts] == [copy["reply"]] * 2
    check_partition(attempts, [relay], relay.provider)


@pytest.mark.parametrize("change", ["subject", "text", "reply-to", "attachment"])
def test_a_mail_that_differs_in_what_is_seen_arrives(relay, change):
    mail = Mail(attachment=b"%PDF-1.4 one")
    first = submit(relay, mail.build())
    if change == "subject":
        mail.subject += "."
    elif change == "text":
        mail.text = mail.text.replace("10.00", "10.01")
    elif change == "reply-to":
        mail.headers.append(("Reply-To", "billing@example.com"))
    else:
        mail.attachment = b"%PDF-1.4 onE"
    second = submit(relay, mail.build())
    assert len(relay.provider.accepted(mail.test_id)) == 2
    assert first.code == second.code == 250
    assert first.text != second.text


def test_one_connection_serves_many_mails(relay):
    mails = [Mail() for _ in range(20)]
    connections = relay.provider.stats()["connections"]
    with smtplib.SMTP("127.0.0.1", relay.port, timeout=30) as client:
        client.ehlo()
        attempts = [submit(client, mail.build()) for mail in mails + mails]
    assert all(attempt.code == 250 for attempt in attempts)
    assert relay.provider.stats()["connections"] - connections <= 2
    assert all(len(relay.provider.accepted(mail.test_id)) == 1 for mail in mails)
