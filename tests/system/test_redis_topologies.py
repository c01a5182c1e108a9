"""Redis as companies run it: TLS with an ACL user of few rights; a failover under mail; too few replicas."""

import pathlib
import subprocess

import pytest

from harness import Mail, submit

# What docs/claim-protocol.md says such a user needs.
RIGHTS = "+evalsha +eval +time +mget +set +del +pttl +pexpire +select +scan +get".split()

# A relay waits at its end for a store that is down, to give back its claims.
NO_LONG_GOODBYE = {"limits": {"drain_timeout": "1s"}}


@pytest.fixture
def certificates(world):
    subprocess.run([str(pathlib.Path(__file__).parents[2] / "certs" / "make"), str(world.folder / "certs")], check=True,
                   capture_output=True)
    return world.folder / "certs"


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
