"""The oracle of chaos: it has to find each thing that must not happen, and to accept each that is declared."""

import pytest

from chaos.case import Copy, Evidence, Line
from chaos.findings import DOUBT, DROPPED, DUPLICATE, FORGOTTEN, KILLED, LOCAL, LOST, REPLY
from chaos.load import Attempt
from chaos.oracle import judge

ADA = "ada@example.net"
YES, LATER = (250, "2.0.0 Ok 1"), (451, "4.4.2 not known")
FORWARDED, DUPLICATED, IN_DOUBT = Line("forwarded"), Line("duplicate"), Line("doubt")
RESENT = Line("forwarded", flagged=True)


def story(*attempts, alone=(), refusals=(), **broken):
    """Each attempt of one mail: (told or None, its line or None, the reply of its copy or None), one a second; the
    relay of the first is 1. `alone`: outages during which relays decide."""
    broken = {"outages": alone, **broken}
    evidence = Evidence([], [], {}, alone=bool(alone), refusals=frozenset(refusals), **broken)
    for number, (told, line, copy) in enumerate(attempts, 1):
        evidence.attempts.append(Attempt(7, number, (ADA,), relay=number, start=number, end=number + 0.5,
                                         replies={ADA: told} if told else {}))
        if line:
            evidence.lines[number, ADA] = line
        if copy:
            evidence.copies.append(Copy(7, number, ADA, copy))
    return [finding.kind for finding in judge(evidence)]


ONE, OTHER = "250 2.0.0 Ok 1", "250 2.0.0 Ok 2"


@pytest.mark.parametrize("attempts", [
    [(YES, FORWARDED, ONE)],
    [(YES, FORWARDED, ONE), (YES, DUPLICATED, None)],
    [(LATER, Line("deferred"), None), (YES, FORWARDED, ONE), (None, None, None)],
], ids=["once", "repeated", "deferred, sent, lost"])
def test_what_is_right_is_accepted(attempts):
    assert story(*attempts) == []


def test_a_loss_is_found():
    assert story((YES, FORWARDED, None)) == [LOST]
    assert story((YES, None, None)) == [LOST]


def test_an_acknowledgement_before_the_copy_is_a_loss_too():
    assert story((YES, FORWARDED, None), (YES, FORWARDED, ONE)) == [LOST]


def test_a_wrong_drop_is_found():
    assert story((YES, DUPLICATED, None)) == [DROPPED]
    assert story((YES, DUPLICATED, None), (YES, FORWARDED, ONE)) == [DROPPED]


def test_an_unexplained_duplicate_is_found():
    assert story((YES, FORWARDED, ONE), ((250, "2.0.0 Ok 2"), FORWARDED, OTHER)) == [DUPLICATE]
    assert story((LATER, IN_DOUBT, ONE), ((250, "2.0.0 Ok 2"), FORWARDED, OTHER)) == [DUPLICATE]


def test_an_attempt_that_was_sent_twice_is_found():
    evidence = Evidence([Attempt(7, 1, (ADA,), 0, 1, 2, {ADA: YES})], [Copy(7, 1, ADA, ONE)] * 2, {(1, ADA): FORWARDED})
    assert [finding.kind for finding in judge(evidence)] == [DUPLICATE]


def test_a_reply_of_another_mail_and_a_refusal_for_good_are_found():
    assert story(((250, "2.0.0 Ok 9"), FORWARDED, ONE)) == [REPLY]
    assert story(((554, "5.0.0 No"), Line("refused"), None)) == [REPLY]


def test_a_resend_after_doubt_is_declared():
    assert story((LATER, IN_DOUBT, ONE), (YES, RESENT, ONE)) == [DOUBT]
    assert story((LATER, IN_DOUBT, ONE), (LATER, Line("doubt", flagged=True), OTHER), (YES, RESENT, ONE)) == [DOUBT] * 2
    assert story((LATER, IN_DOUBT, None), (YES, RESENT, ONE)) == []


def test_one_flagged_copy_does_not_excuse_another():
    assert sorted(story((LATER, IN_DOUBT, ONE), (YES, RESENT, ONE), (YES, FORWARDED, ONE))) == [DOUBT, DUPLICATE]


def test_a_resend_whose_relay_was_killed_needs_no_line_but_a_death():
    resend = [(LATER, IN_DOUBT, ONE), (None, None, OTHER)]
    assert story(*resend, kills=[(2, 2.4)]) == [KILLED]
    assert story(*resend) == [DUPLICATE]
    assert story(*resend, kills=[(1, 2.4)]) == [DUPLICATE]


def test_a_kill_after_the_dot_does_not_excuse_a_copy_that_is_not_flagged():
    assert story((None, None, ONE), ((250, "2.0.0 Ok 2"), FORWARDED, OTHER), kills=[(1, 1.4)]) == [DUPLICATE]
    assert story((None, None, ONE), ((250, "2.0.0 Ok 2"), RESENT, OTHER), kills=[(1, 1.4)]) == [DOUBT]


def test_a_resend_after_a_success_needs_that_relay_to_have_died_before_it_said_so():
    unheard, heard = (None, FORWARDED, ONE), (YES, FORWARDED, ONE)
    resend = (None, None, OTHER)
    assert story(unheard, resend, kills=[(2, 2.4)]) == [DUPLICATE]
    assert story(unheard, resend, kills=[(1, 1.7), (2, 2.4)]) == [KILLED]
    assert story(heard, resend, kills=[(1, 1.7), (2, 2.4)]) == [DUPLICATE]


def test_what_was_acknowledged_is_never_in_doubt_again():
    assert story((LATER, IN_DOUBT, None), (YES, RESENT, ONE), (YES, RESENT, ONE)) == [DUPLICATE]
    assert story((YES, FORWARDED, ONE), (YES, RESENT, ONE), kills=[(1, 1.7)]) == [DUPLICATE]
    assert story((YES, FORWARDED, ONE), (YES, RESENT, ONE), outages=[(1, 1.2, 1.9)]) == [DOUBT]


@pytest.mark.parametrize(("broken", "kind"), [
    ({}, DUPLICATE),
    ({"kills": [(1, 1.2)]}, DOUBT),
    ({"kills": [(3, 1.2)]}, DUPLICATE),
    ({"freezes": [(1, 1.2, 9)]}, DOUBT),
    ({"outages": [(1, 1.2, 1.9)]}, DOUBT),
    ({"outages": [(2, 1.2, 1.9)]}, DUPLICATE),
], ids=["nothing", "killed", "another killed", "frozen", "without its store", "another without its store"])
def test_a_possible_duplicate_needs_a_cause_of_doubt(broken, kind):
    assert story((None, None, ONE), (YES, RESENT, ONE), **broken) == [kind]


def test_only_what_the_provider_refused_may_be_refused_for_good():
    no = [((550, "5.1.1 Gone"), Line("refused"), None)]
    assert story(*no) == [REPLY]
    assert story(*no, refusals=["550 5.1.1 Gone"]) == []
    assert story(((550, "5.1.1 Gone"), Line("refused"), ONE), refusals=["550 5.1.1 Gone"]) == [REPLY]


def test_a_drop_that_no_client_heard_of_is_found():
    assert story((None, DUPLICATED, None)) == [DROPPED]
    assert story((YES, FORWARDED, ONE), (None, DUPLICATED, None)) == []


def test_a_duplicate_of_another_mail_is_a_wrong_drop():
    assert story((YES, FORWARDED, ONE), (YES, Line("duplicate", first_mail=8), None)) == [DROPPED]


def test_copies_during_an_outage_and_of_a_store_that_forgot_are_declared_as_such():
    alone = Line("forwarded", source="local")
    assert story((YES, alone, ONE), (YES, FORWARDED, ONE)) == [LOCAL]
    assert story((YES, FORWARDED, ONE), (YES, FORWARDED, ONE), forgettings=[(1.2, 1.9)]) == [FORGOTTEN]
    assert story((YES, FORWARDED, ONE), (YES, FORWARDED, ONE), forgettings=[(5, 6)]) == [DUPLICATE]


def test_the_store_may_forget_the_copy_that_ended_first_although_it_began_last():
    attempts = [Attempt(7, 1, (ADA,), 1, 1.0, 9.0, {ADA: YES}), Attempt(7, 2, (ADA,), 2, 1.1, 2.0, {ADA: YES})]
    evidence = Evidence(attempts,
                        [Copy(7, 2, ADA, ONE), Copy(7, 1, ADA, ONE)], {(1, ADA): FORWARDED, (2, ADA): FORWARDED},
                        forgettings=[(5, 5)])
    assert [finding.kind for finding in judge(evidence)] == [FORGOTTEN]


def test_what_a_relay_decided_alone_and_took_to_its_grave_is_declared():
    copies = [(YES, None, ONE), (YES, FORWARDED, ONE)]
    assert story(*copies, kills=[(1, 1.7)], alone=[(1, 0.9, 1.7)]) == [LOCAL]
    assert story(*copies, kills=[(1, 1.7)], alone=[(2, 0.9, 1.7)]) == [DUPLICATE]
