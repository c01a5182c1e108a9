"""Redis as companies run it: TLS, ACL users of few rights, failover, resharding, too few replicas, eviction."""

import subprocess

import pytest

from harness import Mail, submit
from harness import certificates as make_certificates
from harness.process import binary

# What docs/claim-protocol.md says such a user needs.
RIGHTS = "+evalsha +eval +time +mget +set +del +pttl +pexpire +select +scan +info".split()

# A relay waits at its end for a store that is down, to give back its claims.
NO_LONG_GOODBYE = {"limits": {"drain_timeout": "1s"}}


@pytest.fixture
def certificates(world):
    return make_certificates(world.folder / "certs")


def key_and_certificate(certificates):
    return certificates / "server.key", certificates / "server.pem"


def test_tls_with_an_acl_user_of_the_documented_rights(world, upstream, certificates):
    redis = world.redis(tls=key_and_certificate(certificates))
    redis.command("ACL", "SETUSER", "mailonce", "on", ">correct horse", "~shop:mailonce:*", *RIGHTS)
    redis.command("ACL", "SETUSER", "default", "resetkeys")
    password = world.folder / "store.password"
    password.write_text("correct horse\n")
    password.chmod(0o600)
    relay = world.relay(upstream, store=f"rediss://mailonce@127.0.0.1:{redis.tls_port}/1",
                        window={"ca_file": str(certificates / "ca.pem"), "password_file": str(password), "prefix": "shop:"})
    mail = Mail()
    attempts = [submit(relay, mail.build()) for _ in range(2)]
    assert [attempt.code for attempt in attempts] == [250, 250]
    assert len(upstream.accepted(mail.test_id)) == 1
    assert not relay.events("store_down")


def test_a_server_whose_certificate_nobody_vouches_for_gets_no_record(world, upstream, certificates):
    redis = world.redis(tls=key_and_certificate(certificates))
    relay = world.relay(upstream, store=f"rediss://127.0.0.1:{redis.tls_port}/0", policy={"store_down": "defer"},
                        **NO_LONG_GOODBYE)
    assert submit(relay, Mail().build()).code == 451
    assert "certificate" in relay.wait_for_event("store_down")["error"]
    assert redis.command("DBSIZE") == 0


def test_a_repeat_after_a_failover_is_a_duplicate(world, upstream):
    redis = world.redis_sentinel()
    relay = world.relay(upstream, store=redis.url, window={"min_replicas": 1, "timeout": "3s"})
    mail = Mail()
    assert submit(relay, mail.build()).code == 250
    redis.fail_over()
    # One replica is asked for and none is left: nothing new could be begun, but what was sent is known.
    assert submit(relay, mail.build()).code == 250
    assert len(upstream.accepted(mail.test_id)) == 1


def test_without_the_replicas_that_are_asked_for_the_store_is_down(world, upstream):
    redis = world.redis()
    relay = world.relay(upstream, store=redis.url, window={"min_replicas": 1}, policy={"store_down": "defer"},
                        **NO_LONG_GOODBYE)
    mail = Mail()
    assert submit(relay, mail.build()).code == 451
    assert upstream.accepted(mail.test_id) == []


def test_a_cluster_is_one_window_while_it_is_resharded_and_loses_a_master(world, upstream):
    redis = world.redis_cluster()
    relays = [world.relay(upstream, store=redis.url, window={"min_replicas": 1, "timeout": "3s"}) for _ in range(2)]
    mails = [Mail() for _ in range(20)]

    def send_all(attempt):
        for number, mail in enumerate(mails):
            assert submit(relays[(number + attempt) % 2], mail.build()).code == 250

    send_all(0)
    assert len({node.port for node in redis.serving() if node.records()}) == redis.masters
    first = redis.serving()[0]
    redis.reshard(first, 4000)
    send_all(1)
    redis.kill(first)
    redis.taken_over()
    send_all(2)
    assert [len(upstream.accepted(mail.test_id)) for mail in mails] == [1] * len(mails)


# What docs/claim-protocol.md says a user needs besides, for each.
@pytest.mark.parametrize("topology, more", [
    ("sentinel", ["+role"]), ("cluster", ["+cluster|slots", "+asking"])])
def test_a_user_of_the_documented_rights_is_enough(world, upstream, topology, more):
    redis = world.redis_sentinel() if topology == "sentinel" else world.redis_cluster()
    for node in redis.nodes:
        node.command("ACL", "SETUSER", "mailonce", "on", ">secret", "~mailonce:*", "+wait", *more,
                     *[right for right in RIGHTS if right != "+select"])
    password = world.folder / "store.password"
    password.write_text("secret\n")
    password.chmod(0o600)
    scheme, rest = redis.url.split("://")
    relay = world.relay(upstream, store=f"{scheme}://mailonce@{rest}", policy={"store_down": "defer"},
                        window={"min_replicas": 1, "password_file": str(password)})
    mail = Mail()
    assert [submit(relay, mail.build()).code for _ in range(2)] == [250, 250]
    assert len(upstream.accepted(mail.test_id)) == 1
    if topology == "cluster":
        key = redis.forget_and_begin_to_move(redis.records()[0])
        assert [submit(relay, mail.build()).code for _ in range(2)] == [250, 250]
        assert len(upstream.accepted(mail.test_id)) == 2
        assert redis.records() == [key]
    assert not relay.events("store_down")


def test_a_server_that_evicts_is_warned_about(world, upstream):
    redis = world.redis()
    relay = world.relay(upstream, store=redis.url)
    assert submit(relay, Mail().build()).code == 250  # the settings were asked for before
    assert not relay.events("store_settings")
    redis.command("CONFIG", "SET", "maxmemory", "100mb")
    assert "evicts" not in check(relay)
    redis.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
    other = world.relay(upstream, store=redis.url)
    warning = other.wait_for_event("store_settings")
    assert warning["level"] == "warning" and "volatile-lru" in warning["text"]
    assert "evicts" in check(other)


def check(relay):
    done = subprocess.run([binary("mailonce"), "check", "--config", str(relay.config), "--connect"],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr
