"""The SQLite file: shared by relays, kept over kill -9, full, locked, removed; and the operator's command on it."""

import json
import resource
import sqlite3
import subprocess

import pytest

from harness import Mail, check_partition, submit
from harness.process import binary


@pytest.fixture
def store(world):
    return world.embedded_store()


def window(store, *arguments, status=0):
    run = subprocess.run([binary("mailonce"), "window", *arguments, "--store", store, "--json"], capture_output=True,
                         text=True, timeout=60)
    assert run.returncode == status, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_what_was_sent_is_known_after_kill_9_and_to_the_other_relay(world, upstream, store):
    killed = world.relay(upstream, store=store)
    other = world.relay(upstream, store=store)
    mail = Mail()
    first = submit(killed, mail.build())
    assert submit(other, mail.build()).reply == first.reply
    killed.kill()
    restarted = world.relay(upstream, store=store)
    repeats = [submit(relay, mail.build()) for relay in (other, restarted)]
    assert [repeat.reply for repeat in repeats] == [first.reply] * 2
    assert len(upstream.accepted(mail.test_id)) == 1


@pytest.mark.parametrize("policy", ["local", "defer"])
def test_a_full_disk_is_an_outage_that_ends_by_itself(world, upstream, store, policy):
    relay = world.relay(upstream, store=store, policy={"store_down": policy})
    known = Mail()
    attempts = [submit(relay, known.build())]
    # Nothing of the process may grow any more, its log neither: it is read when the disk has space again.
    unlimited = resource.prlimit(relay.child.pid, resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY))
    mails = [Mail() for _ in range(5)]
    during = [submit(relay, mail.build()) for mail in mails]
    resource.prlimit(relay.child.pid, resource.RLIMIT_FSIZE, unlimited)
    expected = {250} if policy == "local" else {451}
    assert {attempt.code for attempt in during} == expected
    submit(relay, Mail().build())
    relay.wait_for_event("store_back")
    repeats = [submit(relay, mail.build()) for mail in [known, *mails]]
    assert {repeat.code for repeat in repeats} == {250}
    for mail in [known, *mails]:
        assert len(upstream.accepted(mail.test_id)) == 1
    assert repeats[0].reply == attempts[0].reply


def test_a_file_another_process_holds_delays_nobody_for_long(world, upstream, store):
    relay = world.relay(upstream, store=store, window={"timeout": "300ms"})
    mail = Mail()
    first = submit(relay, mail.build())
    holder = sqlite3.connect(store.removeprefix("sqlite:"))
    holder.execute("BEGIN EXCLUSIVE")
    during = Mail()
    attempts = [first, submit(relay, during.build()), submit(relay, mail.build())]
    holder.rollback()
    relay.wait_for_event("store_back")
    attempts.append(submit(relay, during.build()))
    assert [attempt.code for attempt in attempts] == [250] * 4
    check_partition(attempts, [relay], upstream)


def test_a_person_decides_about_doubt(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"doubt": "defer"})
    mails = {"sent": Mail(), "not-sent": Mail()}
    for mail in mails.values():
        upstream.fault("dot accept-then-close")
        assert submit(relay, mail.build()).reply.startswith("451 4.4.2 ")
        assert submit(relay, mail.build()).reply.startswith("451 4.4.2 ")
    doubts = window(store, "list", "--doubt")
    assert len(doubts) == 2
    for (verdict, mail), doubt in zip(mails.items(), doubts):
        (shown,) = window(store, "show", "--message-id", doubt["message_id"])
        assert shown["state"] == "doubt"
        (resolved,) = window(store, "resolve", verdict, "--fingerprint", doubt["fingerprint"])
        assert resolved["done"].startswith(verdict.replace("-", " "))
        assert submit(relay, mail.build()).code == 250
    assert len(upstream.accepted(mails["sent"].test_id)) == 1
    assert len(upstream.accepted(mails["not-sent"].test_id)) == 2
    assert window(store, "list", "--doubt") == []


def test_what_is_forgotten_is_sent_again(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    submit(relay, mail.build(), ["ada@example.net", "bob@example.net"])
    (forgotten,) = window(store, "forget", "--recipient", "bob@EXAMPLE.NET")
    assert forgotten["done"].startswith("forgotten")
    submit(relay, mail.build(), ["ada@example.net", "bob@example.net"])
    copies = upstream.accepted(mail.test_id)
    assert [copy["recipients"] for copy in copies] == [["ada@example.net", "bob@example.net"], ["bob@example.net"]]
