"""A crowd stands: connections that do nothing, and slow ones. What a normal client's message takes meanwhile, beside
what it took alone; and what a connection costs in memory."""

import dataclasses
import time
import typing

from .crowd import IDLE, SLOW, Crowd
from .level import all_descriptors, level_of, settled
from .normal_client import time_messages
from .report import table
from .rig import Rig

SHAPES = {"over one session": 1_000_000, "a connection each": 1}
LONG = "1h"
# The limits that this crowd is beyond are raised, and those of time, which would send it away; others are as they come.
PATIENCE = {"command_timeout": LONG, "data_timeout": LONG, "message_timeout": LONG, "handshake_timeout": LONG,
            "write_timeout": LONG}
SPARE = 300  # descriptors for all that is not the crowd


@dataclasses.dataclass(frozen=True)
class Idle:
    connections: int = 10_000
    slow: int = 500
    seconds: float = 20   # each measurement
    store: str = "sqlite"
    most: float = 2.0     # times as long as alone
    pause: float = 2      # seconds between the crowd's coming and the measuring

    def waves(self):
        """(kind, count): half of the idle ones have but connected."""
        silent, *others = IDLE
        half = self.connections // 2
        return [(silent, half), *shares(self.connections - half, others), *shares(self.slow, list(SLOW))]


def shares(count, kinds):
    return [(kind, count // len(kinds) + (number < count % len(kinds))) for number, kind in enumerate(kinds)]


class Wave(typing.NamedTuple):
    kind: str
    count: int
    octets: float  # resident memory of one


class Result(typing.NamedTuple):
    plan: Idle
    waves: list
    alone: dict    # shape → Times
    crowded: dict
    standing: int  # at the end

    @property
    def ratios(self):
        return {shape: self.crowded[shape].median / self.alone[shape].median for shape in SHAPES}

    @property
    def failures(self):
        crowd = sum(wave.count for wave in self.waves)
        if self.standing < crowd:
            yield f"{crowd - self.standing} of {crowd} connections did not stand until the end"
        for shape, ratio in self.ratios.items():
            if ratio > self.plan.most:
                yield f"a message {shape} takes {ratio:.2f} times as long, {self.plan.most} are the most"

    def markdown(self):
        times = [["a normal client's message", "alone: median, 99 %", "in the crowd: median, 99 %",
                  "times as long: median, 99 %"]]
        for shape in SHAPES:
            alone, crowded = self.alone[shape], self.crowded[shape]
            times.append([shape, milliseconds(alone), milliseconds(crowded), f"{self.ratios[shape]:.2f}, "
                          f"{crowded.worst_percent / alone.worst_percent:.2f}"])
        memory = [["connections", "how many", "resident memory of one"]]
        memory += [[wave.kind, wave.count, f"{wave.octets / 1024:.1f} KiB"] for wave in self.waves]
        return f"{table(times)}\n\n{table(memory)}"


def milliseconds(times):
    return f"{times.median * 1e3:.2f} ms, {times.worst_percent * 1e3:.2f} ms"


def run(plan, folder, tell=lambda text: None, **limits):
    """`limits`: others for the relay, for the test that a crowd that is sent away is found."""
    crowd = plan.connections + plan.slow
    limits = {"connections": crowd + SPARE, "commands_without_message": 1_000_000_000, **PATIENCE, **limits}
    with all_descriptors() as most:
        if most < crowd + plan.slow + SPARE:
            raise SystemExit(f"the system lets a process open {most} files: too few for {crowd} connections")
        # A slow body holds its connection to the provider until its end.
        with Rig(folder, plan.store, limits=limits, upstream_keys={"max_connections": plan.slow + 50}) as rig:
            return measure(plan, rig, tell)


def measure(plan, rig, tell):
    port = rig.port(0)
    for shape in SHAPES:
        time_messages(port, plan.seconds / 5, SHAPES[shape])  # warms caches, pools and the store
    alone = {shape: time_messages(port, plan.seconds, SHAPES[shape]) for shape in SHAPES}
    tell("measured alone")
    with Crowd(port) as crowd:
        waves = [come(rig, crowd, kind, count, plan.pause) for kind, count in plan.waves()]
        tell(f"{crowd.standing} connections stand")
        time.sleep(plan.pause)  # the kernel's work for those that came is not theirs for standing
        crowded = {shape: time_messages(port, plan.seconds, SHAPES[shape]) for shape in SHAPES}
        standing = crowd.standing
    tell("measured in the crowd")
    settled(rig.pid)
    # Once more, so that a machine that became slower or faster meanwhile does not count for or against the crowd.
    alone = {shape: alone[shape] + time_messages(port, plan.seconds, SHAPES[shape]) for shape in SHAPES}
    return Result(plan, waves, alone, crowded, standing)


def come(rig, crowd, kind, count, pause):
    before = level_of(rig.pid).resident
    crowd.add(kind, count)
    time.sleep(min(pause, 1))
    return Wave(kind, count, (level_of(rig.pid).resident - before) / max(count, 1))
