"""Keys, Message-IDs and modes, through the real binary."""

from harness import Mail, check_partition, submit


def keyed(key, text="Dear Ada,\n"):
    return Mail(text=text, headers=[("Idempotency-Key", key)])


def test_a_key_makes_different_builds_one_mail_and_the_same_key_with_other_content_is_refused(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = keyed("job-1")
    first, second = submit(relay, mail.build()), submit(relay, mail.build())
    mail.text = "Something else\n"
    third = submit(relay, mail.build())
    assert second.reply == first.reply
    assert third.reply.startswith("554 5.6.0 ")
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition([first, second, third], [relay], upstream)


def test_different_keys_make_the_same_content_two_mails(world, upstream):
    relay = world.relay(upstream)
    mail = keyed("job-1")
    submit(relay, mail.build())
    mail.headers = [("Idempotency-Key", "job-2")]
    submit(relay, mail.build())
    assert len(upstream.accepted(mail.test_id)) == 2


def test_conflict_forward_gives_other_content_its_own_record(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"conflict": "forward"})
    mail = keyed("job-1")
    attempts = [submit(relay, mail.build())]
    mail.text = "Something else\n"
    attempts += [submit(relay, mail.build()), submit(relay, mail.build())]
    assert [attempt.code for attempt in attempts] == [250] * 3
    assert len(upstream.accepted(mail.test_id)) == 2
    check_partition(attempts, [relay], upstream, extra_copies=1)


def test_a_key_header_can_be_stripped_and_is_kept_by_default(world, upstream):
    mail = keyed("job-1")
    for strip in (False, True):
        relay = world.relay(upstream, policy={"strip_key_header": strip})
        attempt = submit(relay, mail.build())
        sent = upstream.content(upstream.accepted(mail.test_id)[-1])
        wanted = attempt.octets.replace(b"Idempotency-Key: job-1\r\n", b"") if strip else attempt.octets
        assert sent == wanted


def test_message_id_as_strategy_makes_a_rebuilt_mail_new_and_a_repeated_one_old(world, upstream):
    relay = world.relay(upstream, policy={"strategy": ["message-id"]})
    mail = Mail()
    octets = mail.build()
    submit(relay, octets)
    submit(relay, octets)
    assert len(upstream.accepted(mail.test_id)) == 1
    submit(relay, mail.build())
    assert len(upstream.accepted(mail.test_id)) == 2


def test_observe_forwards_everything_and_says_what_it_would_have_dropped(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"mode": "observe"})
    mail = Mail()
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250, 250]
    assert relay.wait_for_decision(would_drop=True)["message_id"] == attempts[1].message_id
    assert len(upstream.accepted(mail.test_id)) == 2
    check_partition(attempts, [relay], upstream, extra_copies=1)


def test_observe_says_of_each_recipient_whether_it_would_have_been_dropped(world, upstream, store):
    relay = world.relay(upstream, store=store, policy={"mode": "observe"})
    mail = Mail()
    attempts = [submit(relay, mail.build(), ["ada@example.net"]),
                submit(relay, mail.build(), ["ada@example.net", "bob@example.net"])]
    relay.wait_for_decision(would_drop=True)
    again = relay.decisions(message_id=attempts[1].message_id)
    assert sorted((line["to"], line.get("would_drop", False), line["outcome"]) for line in again) == [
        (["ada@example.net"], True, "forwarded"), (["bob@example.net"], False, "forwarded")]
    assert {line["reply"] for line in again} == {attempts[1].reply}
    check_partition(attempts, [relay], upstream, extra_copies=1)


def test_off_forwards_everything_and_keeps_no_record(world, upstream):
    redis = world.redis()
    relay = world.relay(upstream, store=redis.url, policy={"mode": "off"})
    mail = Mail()
    assert [submit(relay, mail.build()).code for _ in range(2)] == [250, 250]
    assert len(upstream.accepted(mail.test_id)) == 2
    assert redis.records() == []


def test_a_window_ends(world, upstream, store):
    relay = world.relay(upstream, store=store, window={"content": "1s"})
    mail = Mail()
    submit(relay, mail.build())
    while len(upstream.accepted(mail.test_id)) < 2:  # the limit is the test's own
        attempt = submit(relay, mail.build())
    assert attempt.text == upstream.accepted(mail.test_id)[1]["reply"].partition(" ")[2]
    relay.wait_for_decision(outcome="forwarded", count=2)
    ages = [line["first_age_ms"] for line in relay.decisions(outcome="duplicate")]
    assert ages and max(ages) <= 1000


def test_a_decision_says_what_why_and_which_earlier_message(world, upstream):
    relay = world.relay(upstream)
    mail = Mail()
    first, second = submit(relay, mail.build()), submit(relay, mail.build())
    relay.wait_for_decision(outcome="duplicate")
    forwarded, duplicate = relay.decisions()
    assert (forwarded["outcome"], forwarded["reason"]) == ("forwarded", "new")
    assert (duplicate["outcome"], duplicate["reason"]) == ("duplicate", "in_window")
    for line, attempt in ((forwarded, first), (duplicate, second)):
        assert line["message_id"] == attempt.message_id
        assert line["to"] == ["ada@example.net"]
        assert line["from"] == "shop@example.com"
        assert line["client"] == "127.0.0.1"
        assert line["octets"] == len(attempt.octets)
        assert line["strategy"] == "content"
        assert line["reply"] == first.reply
        assert line["total_ms"] >= line["claim_ms"] >= 0
    assert duplicate["fingerprint"] == forwarded["fingerprint"]
    assert duplicate["first_message_id"] == first.message_id
    assert duplicate["first_age_ms"] >= 0
    assert forwarded["upstream"] == "provider"


def test_the_first_rule_that_matches_decides_for_each_recipient(world, upstream, store):
    rules = [{"name": "watched", "match.recipient": "*@watched.example", "mode": "observe"},
             {"name": "alerts", "match.subject": ["Alert*", "/^ALARM/"], "mode": "off"}]
    relay = world.relay(upstream, store=store, rule=rules)
    mail, alert = Mail(), Mail(subject="Alert: disk full")
    both = ["ada@example.net", "eve@watched.example"]
    attempts = [submit(relay, mail.build(), both) for _ in range(2)]
    attempts += [submit(relay, alert.build(), ["ada@example.net"]) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250] * 4
    copies = [copy["recipients"] for copy in upstream.accepted(mail.test_id)]
    assert copies == [both, ["eve@watched.example"]]
    assert len(upstream.accepted(alert.test_id)) == 2
    relay.wait_for_decision(reason="mode_off", count=2)
    second = {line["rule"]: line["outcome"] for line in relay.decisions(message_id=attempts[1].message_id)}
    assert second == {"default": "duplicate", "watched": "forwarded"}
    check_partition(attempts, [relay], upstream, extra_copies=2)


def test_a_token_that_is_ignored_does_not_make_another_mail(world, upstream):
    relay = world.relay(upstream, policy={"ignore": ["token=[0-9a-f]+"]})
    mail = Mail(text="Confirm: https://shop.example/?token=12ab\n")
    first = submit(relay, mail.build())
    mail.text = "Confirm: https://shop.example/?token=99ff00\n"
    assert submit(relay, mail.build()).reply == first.reply
    mail.text = "Confirm: https://shop.example/?order=7&token=99ff00\n"
    submit(relay, mail.build())
    assert len(upstream.accepted(mail.test_id)) == 2
