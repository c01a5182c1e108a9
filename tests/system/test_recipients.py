"""One record for each recipient: only those who do not have the mail get it."""

from harness import Conversation, Mail, check_partition, submit

A, B, C = "a@example.net", "b@example.net", "c@example.net"


def test_a_new_recipient_beside_old_ones_gets_the_mail_alone(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    first = submit(relay, mail.build(), [A, B])
    second = submit(relay, mail.build(), [A, B, C])
    copies = upstream.accepted(mail.test_id)
    assert [copy["recipients"] for copy in copies] == [[A, B], [C]]
    assert second.reply == copies[1]["reply"]
    assert upstream.content(copies[1]) == second.octets
    check_partition([first, second], [relay], upstream)


def test_a_subset_of_recipients_is_a_duplicate(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    attempts = [submit(relay, mail.build(), recipients) for recipients in ([A, B], [B], [B, A])]
    (copy,) = upstream.accepted(mail.test_id)
    assert all(attempt.reply == copy["reply"] for attempt in attempts)
    check_partition(attempts, [relay], upstream)


def test_a_domain_in_other_case_is_the_same_recipient_a_local_part_is_not(world, upstream):
    relay = world.relay(upstream)
    mail = Mail()
    for recipient in ("a@example.net", "a@EXAMPLE.net", "A@example.net"):
        submit(relay, mail.build(), [recipient])
    assert [copy["recipients"] for copy in upstream.accepted(mail.test_id)] == [["a@example.net"], ["A@example.net"]]


def test_a_recipient_named_twice_gets_one_copy(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    assert submit(relay, mail.build(), [A, A]).code == 250
    assert submit(relay, mail.build(), [A]).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1


def test_a_refused_recipient_has_no_record(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    upstream.fault("rcpt[1] reply 450 4.2.1 Mailbox busy")
    first = submit(relay, mail.build(), [A, B])
    assert first.replies[A][0] == 250
    assert first.replies[B] == (450, "4.2.1 Mailbox busy")
    second = submit(relay, mail.build(), [A, B])
    assert [copy["recipients"] for copy in upstream.accepted(mail.test_id)] == [[A], [B]]
    check_partition([first, second], [relay], upstream)


def test_a_hundred_recipients_in_one_flight(world, upstream, store):
    relay = world.relay(upstream, store=store)
    mail = Mail()
    names = [f"r{number}@example.net" for number in range(100)]
    first = submit(relay, mail.build(), names[:90])
    with Conversation(relay) as client:
        commands = "".join(f"RCPT TO:<{name}>\r\n" for name in names)
        client.send("MAIL FROM:<shop@example.com>\r\n" + commands + "DATA\r\n")
        replies = [client.reply() for _ in range(102)]
        assert [reply[:3] for reply in replies] == ["250"] * 101 + ["354"]
        client.send(mail.build() + b".\r\n")
        assert client.reply().startswith("250")
    assert first.code == 250
    assert [copy["recipients"] for copy in upstream.accepted(mail.test_id)] == [names[:90], names[90:]]


def test_the_envelope_sender_does_not_count(world, upstream):
    relay = world.relay(upstream)
    mail = Mail()
    for sender in ("bounce+1@example.com", "bounce+2@example.com", ""):
        assert submit(relay, mail.build(), [A], sender=sender).code == 250
    (copy,) = upstream.accepted(mail.test_id)
    assert copy["sender"] == "bounce+1@example.com"
