"""Bodies beyond memory: spooled to an unlinked file, intact; a full disk is a clean refusal."""

import os
import subprocess

import pytest

from harness import Conversation, Mail, submit, wait_until


def test_twenty_megabytes_arrive_octet_for_octet(world, upstream, store):
    limits = {"memory_per_message": "1MB", "spool_directory": str(world.folder)}
    relay = world.relay(upstream, store=store, limits=limits)
    mail = Mail(attachment=os.urandom(15_000_000))
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert len(attempts[0].octets) > 20_000_000
    (copy,) = upstream.accepted(mail.test_id)
    assert upstream.content(copy) == attempts[0].octets
    assert attempts[0].reply == attempts[1].reply


@pytest.mark.parametrize("line", [b"." * 70, b"..", b"." + b"x" * 998, b"y" * 100_000, "ü".encode() * 400],
                         ids=["dots", "two dots", "998 octets", "100 kB", "8 bit"])
def test_a_large_body_of_odd_lines_arrives_octet_for_octet(world, upstream, line):
    relay = world.relay(upstream, limits={"memory_per_message": "64KiB"})
    body = b"Subject: odd\r\nX-Test-Id: odd\r\n\r\n" + (line + b"\r\n") * (1_500_000 // len(line))
    attempt = submit(relay, body)
    assert attempt.code == 250
    (copy,) = upstream.accepted("odd")
    assert upstream.content(copy) == body


def test_the_spool_file_has_no_name_and_is_gone_with_its_message(world, upstream):
    spool = world.folder / "spool"
    spool.mkdir()
    relay = world.relay(upstream, limits={"memory_per_message": "64KiB", "spool_directory": str(spool)})
    upstream.fault("dot hold")
    with Conversation(relay) as client:
        client.begin()
        client.send(b"Subject: x\r\n\r\n" + b"z" * 78 * 5000 + b"\r\n.\r\n")
        upstream.wait("held", 1)
        assert list(spool.iterdir()) == []
        assert spooled_files(relay, spool)
        upstream.go()
        assert client.reply().startswith("250")
    wait_until(lambda: not spooled_files(relay, spool), "the spool file is gone")


def spooled_files(relay, folder):
    return [target for target in relay.open_files() if target.startswith(str(folder))]


def test_a_message_beyond_the_limit_is_refused_at_mail_or_after_its_end(world, upstream):
    relay = world.relay(upstream, limits={"message_size": "100kB"})
    with Conversation(relay) as client:
        assert "SIZE 100000" in client.ehlo
        assert client.ask("MAIL FROM:<shop@example.com> SIZE=100001").startswith("552 5.3.4")
        client.begin()
        client.send((b"x" * 78 + b"\r\n") * 2000 + b".\r\n")
        assert client.reply().startswith("552 5.3.4")
        assert client.ask("NOOP").startswith("250")
    assert upstream.accepted() == []
    decision = relay.wait_for_decision(reason="too_large")
    assert decision["outcome"] == "refused" and decision["reply"].startswith("552 5.3.4")


@pytest.fixture
def small_disk(world):
    folder = world.folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_spool_is_a_clean_transient_refusal(world, upstream, small_disk):
    relay = world.relay(upstream, limits={"memory_per_message": "64KiB", "spool_directory": str(small_disk)})
    large, small = Mail(attachment=os.urandom(3_000_000)), Mail()
    first = submit(relay, large.build())
    assert first.reply.startswith("452 4.3.1 ")
    assert upstream.accepted() == []
    assert submit(relay, small.build()).code == 250
    again = submit(relay, Mail(attachment=os.urandom(1_000_000)).build())
    assert again.code == 250
    relay.wait_for_event("spool_failed")
    decision = relay.wait_for_decision(reason="spool_failed")
    assert (decision["outcome"], decision["reply"], decision["to"]) == ("deferred", first.reply, ["ada@example.net"])
