"""scripts/soak in small, so that it keeps working; what its figures are the long runs say (docs/soak.md). Each way in
which it can fail is made to happen."""

import dataclasses
import os

from soak import idle, load
from soak.idle import Idle
from soak.level import Level
from soak.load import Load, judge
from soak.normal_client import Times

# Other tests share the cores, one measurement more than another.
CROWD = Idle(connections=500, slow=60, seconds=0.8, most=5, pause=0.2)
# A sanitizer's heap keeps what was freed.
HEAP = {"breath": 1000, "rise": 1000} if os.environ.get("MAILONCE_SANITIZE") else {}
SHORT = Load(minutes=0.08, warm=2, clients=24, every=0.5, **HEAP)


def test_a_crowd_stands_and_a_normal_client_is_as_fast_as_before(tmp_path, capsys):
    result = idle.run(CROWD, tmp_path)
    with capsys.disabled():
        print(f"\n{result.markdown()}\n")
    assert list(result.failures) == []
    assert result.standing == 560


def test_a_crowd_that_the_relay_sends_away_is_a_failure(tmp_path):
    result = idle.run(dataclasses.replace(CROWD, connections=20, slow=6), tmp_path, command_timeout="1s")
    assert any("did not stand until the end" in failure for failure in result.failures)


def test_a_message_that_takes_more_than_twice_as_long_is_a_failure():
    def result(crowded):
        times = {shape: Times([0.001, 0.001, 0.5]) for shape in idle.SHAPES}
        return idle.Result(Idle(), [], times, {**times, "over one session": Times(crowded)}, 0)
    assert list(result([0.0019] * 3).failures) == []
    (failure,) = result([0.0021] * 3).failures
    assert failure.startswith("a message over one session takes 2.10 times as long")


def test_a_load_with_faults_leaves_the_relay_as_it_was(tmp_path, capsys):
    result = load.run(SHORT, tmp_path)
    with capsys.disabled():
        print(f"\n{result.markdown()}\n")
    assert list(result.failures) == []


def test_a_connection_that_stays_is_a_failure(tmp_path):
    result = load.run(dataclasses.replace(SHORT, minutes=0.03, warm=1), tmp_path, leave_open=1, command_timeout="1h")
    assert any("descriptors when all are gone" in failure for failure in result.failures)


def test_what_is_kept_is_a_failure():
    def found(descriptors=20, threads=6, end=25.0, rise=0.0):
        samples = [Level(at, 40, 6, round(1e6 * (25 + rise * at / 40))) for at in range(40)]
        after = Level(50, descriptors, threads, round(end * 1e6))
        return [failure.split()[1] for failure in judge(Load(), Level(0, 20, 6, 25_000_000), samples, after)]
    assert found() == found(end=32, rise=5) == []
    assert found(descriptors=21) == ["descriptors"]
    assert found(threads=7) == ["threads"]
    assert found(end=34) == ["MB"]
    assert found(rise=12) == ["still"]
