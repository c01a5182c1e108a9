"""The oracle itself: an oracle that accepts everything proves nothing."""

import pytest

from harness import Mail, attempt_of, check_partition

REPLY = (250, "2.0.0 Ok: queued as 1")


class Lines:
    """A relay that only has a log."""

    def __init__(self, *decisions):
        self.log = [dict(zip(("message_id", "outcome", "reason", "reply"), line), to=["ada@example.net"])
                    for line in decisions]

    def decisions(self):
        return self.log


class Copies:
    """An upstream that only has a record."""

    def __init__(self, mail, count):
        self.copies = [{"test_id": mail.test_id, "recipients": ["ada@example.net"]}] * count

    def accepted(self):
        return self.copies


def told(mail, code=REPLY[0], text=REPLY[1]):
    attempt = attempt_of(mail.build())
    attempt.replies["ada@example.net"] = (code, text)
    return attempt


def line(attempt, outcome, reason="new", reply="250 2.0.0 Ok: queued as 1"):
    return attempt.message_id, outcome, reason, reply


def test_one_copy_forwarded_and_one_duplicate_is_right():
    mail = Mail()
    one, two = told(mail), told(mail)
    check_partition([one, two], [Lines(line(one, "forwarded"), line(two, "duplicate"))], Copies(mail, 1))


@pytest.mark.parametrize("copies", [0, 2], ids=["lost", "sent twice"])
def test_a_record_of_the_upstream_that_differs_is_noticed(copies):
    mail = Mail()
    one, two = told(mail), told(mail)
    with pytest.raises(AssertionError):
        check_partition([one, two], [Lines(line(one, "forwarded"), line(two, "duplicate"))], Copies(mail, copies))


def test_two_decisions_about_one_message_are_noticed():
    mail = Mail()
    one = told(mail)
    with pytest.raises(AssertionError):
        check_partition([one], [Lines(line(one, "forwarded")), Lines(line(one, "forwarded"))], Copies(mail, 2))


def test_a_duplicate_of_what_was_never_sent_is_noticed():
    mail = Mail()
    one = told(mail)
    with pytest.raises(AssertionError):
        check_partition([one], [Lines(line(one, "duplicate"))], Copies(mail, 0))


@pytest.mark.parametrize("outcome", ["refused", "deferred", "doubt"])
def test_a_client_told_something_else_is_noticed(outcome):
    mail = Mail()
    one = told(mail)
    with pytest.raises(AssertionError):
        check_partition([one], [Lines(line(one, outcome))], Copies(mail, 1))


def test_a_second_copy_after_doubt_has_to_be_expected():
    mail = Mail()
    one, two = told(mail, 451, "4.4.2 not known"), told(mail)
    relay = Lines(line(one, "doubt", "no_answer_after_dot", "451 4.4.2 not known"),
                  line(two, "forwarded", "after_doubt"))
    check_partition([one, two], [relay], Copies(mail, 2), extra_copies=1)
    with pytest.raises(AssertionError):
        check_partition([one, two], [relay], Copies(mail, 2))
