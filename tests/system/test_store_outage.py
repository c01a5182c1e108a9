"""Redis frozen or killed in the middle: no crash, no wrong drop, each policy as declared, back without a restart."""

import concurrent.futures

import pytest

from harness import Mail, check_partition, submit, wait_until


class Outage:
    def __init__(self, redis, how):
        self.redis, self.how = redis, how

    def begin(self):
        self.redis.freeze() if self.how == "frozen" else self.redis.kill()

    def end(self):
        self.redis.thaw() if self.how == "frozen" else self.redis.start_again()


@pytest.fixture
def redis(world):
    return world.redis()


@pytest.fixture(params=["frozen", "killed"])
def outage(request, redis):
    return Outage(redis, request.param)


def relay_with(world, upstream, redis, policy):
    return world.relay(upstream, store=redis.url, policy={"store_down": policy, "wait": "2s"})


def test_local_goes_on_from_memory_and_writes_back(world, upstream, redis, outage):
    relay = relay_with(world, upstream, redis, "local")
    before, during = Mail(), Mail()
    attempts = [submit(relay, before.build())]
    outage.begin()
    attempts += [submit(relay, during.build()) for _ in range(2)]
    attempts.append(submit(relay, before.build()))  # this process remembers what it sent
    relay.wait_for_event("store_down")
    outage.end()
    relay.wait_for_event("store_back")
    # What was sent meanwhile is written to the store: another relay knows it.
    other = relay_with(world, upstream, redis, "defer")
    records = 2 if outage.how == "frozen" else 1
    wait_until(lambda: len(redis.records()) >= records, "the commit was written back")
    attempts += [submit(relay, during.build()), submit(other, during.build())]
    assert [attempt.code for attempt in attempts] == [250] * len(attempts)
    assert len(upstream.accepted(during.test_id)) == 1
    assert len(upstream.accepted(before.test_id)) == 1
    check_partition(attempts, [relay, other], upstream)


def test_defer_refuses_until_the_store_is_back(world, upstream, redis, outage):
    relay = relay_with(world, upstream, redis, "defer")
    before, during = Mail(), Mail()
    attempts = [submit(relay, before.build())]
    outage.begin()
    refused = [submit(relay, during.build()) for _ in range(2)]
    assert [attempt.reply[:10] for attempt in refused] == ["451 4.3.0 "] * 2
    assert upstream.accepted(during.test_id) == []
    outage.end()
    relay.wait_for_event("store_back")
    after = [submit(relay, during.build()) for _ in range(2)]
    assert [attempt.code for attempt in after] == [250, 250]
    assert len(upstream.accepted(during.test_id)) == 1
    check_partition(attempts + refused + after, [relay], upstream)


def test_forward_sends_without_asking_until_the_store_is_back(world, upstream, redis, outage):
    relay = relay_with(world, upstream, redis, "forward")
    outage.begin()
    during = [Mail() for _ in range(3)]
    attempts = [submit(relay, mail.build()) for mail in during]
    assert [attempt.code for attempt in attempts] == [250] * 3
    assert relay.wait_for_decision(message_id=attempts[2].message_id)["source"] == "unasked"
    outage.end()
    relay.wait_for_event("store_back")
    after = Mail()
    attempts += [submit(relay, after.build()) for _ in range(2)]
    assert attempts[-1].reply == attempts[-2].reply
    check_partition(attempts, [relay], upstream)


@pytest.mark.parametrize("policy", ["local", "defer", "forward"])
def test_a_store_lost_while_the_upstream_decides_does_not_undo_its_yes(world, upstream, redis, outage, policy):
    relay = relay_with(world, upstream, redis, policy)
    mail = Mail()
    upstream.fault("dot hold")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(submit, relay, mail.build())
        upstream.wait("held", 1)
        outage.begin()
        upstream.go()
        first = first.result()
    assert first.code == 250
    again = submit(relay, mail.build())
    assert again.reply == first.reply  # answered from memory
    outage.end()
    relay.wait_for_event("store_back")
    third = submit(relay, mail.build())
    assert third.reply == first.reply
    assert len(upstream.accepted(mail.test_id)) == 1
    check_partition([first, again, third], [relay], upstream)


def test_a_refusal_during_an_outage_is_not_doubt_afterwards(world, upstream, redis):
    relay = relay_with(world, upstream, redis, "local")
    mail = Mail()
    upstream.fault("delay=700ms dot reply 451 4.3.0 Try again")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(submit, relay, mail.build())
        upstream.wait("dots", 1)
        redis.freeze()
        first = first.result()
    assert first.reply == "451 4.3.0 Try again"
    redis.thaw()
    relay.wait_for_event("store_back")
    again = submit(relay, mail.build())
    assert again.code == 250
    assert not any(line.get("possible_duplicate") for line in relay.decisions())
    check_partition([first, again], [relay], upstream)


@pytest.mark.parametrize("policy", ["local", "defer", "forward"])
def test_a_relay_started_while_the_store_is_down_serves_and_finds_it_later(world, upstream, redis, policy):
    redis.kill()
    relay = relay_with(world, upstream, redis, policy)
    attempt = submit(relay, Mail().build())
    assert attempt.code == (451 if policy == "defer" else 250)
    redis.start_again()
    relay.wait_for_event("store_back")
    mail = Mail()
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert attempts[0].reply == attempts[1].reply
    check_partition([attempt, *attempts], [relay], upstream)


def test_a_store_that_lost_its_scripts_gets_them_again(world, upstream, redis):
    relay = relay_with(world, upstream, redis, "defer")
    assert submit(relay, Mail().build()).code == 250
    redis.command("SCRIPT", "FLUSH")
    mail = Mail()
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250, 250]
    assert relay.events("store_down") == []
    check_partition(attempts, [relay], upstream)


def test_records_hold_no_address_and_no_content(world, upstream, redis):
    relay = relay_with(world, upstream, redis, "defer")
    submit(relay, Mail(subject="A very secret subject").build(), ["confidential@example.net"])
    (key,) = redis.records()
    kind = redis.command("TYPE", key)
    content = redis.command("HGETALL", key) if kind == "hash" else [redis.command("GET", key)]
    stored = key + "".join(content)
    for word in ("confidential", "secret", "example.net", "shop@"):
        assert word not in stored
    assert 0 < redis.command("PTTL", key) <= 2 * 3600 * 1000
