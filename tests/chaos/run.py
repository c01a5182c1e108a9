"""One run: starts the parts, lets clients work, breaks something at each point the seed chose, and judges the end.

Reading order: mails.py and jobs.py (what is sent and how often), load.py (who sends it), stack.py (through what),
faults.py and stores.py (what breaks), oracle.py (what must not happen), report.py.
"""

import argparse
import dataclasses
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

from harness import wait_until

from .evidence import gather
from .faults import faults_for
from .jobs import Jobs
from .load import Load
from .oracle import judge
from .report import Period, Report
from .stack import Stack
from .stores import STORES

SETTLE = 120  # seconds that the last jobs may take once nothing is broken any more


@dataclasses.dataclass(frozen=True)
class Plan:
    messages: int
    seed: int
    faults: int = 0  # 0: each kind once
    store: str = "redis"
    store_down: str = "defer"
    relays: int = 3
    clients: int = 32
    only: str = ""  # faults whose name contains this

    def faults_and_points(self, rng, faults):
        """Each kind as often as the others, in an order of the seed; after how many messages each comes."""
        kinds = [fault for fault in faults if self.only in fault.name]
        rng.shuffle(kinds)
        chosen = [kinds[number % len(kinds)] for number in range(self.faults or len(kinds))]
        rng.shuffle(chosen)
        margin = self.messages // 50
        return list(zip(chosen, sorted(rng.randrange(margin, self.messages - margin) for _ in chosen)))


def run(plan, folder, tell=lambda text: None):
    stack = Stack(folder, STORES[plan.store], plan.relays, plan.store_down)
    try:
        jobs = Jobs(plan.seed, plan.messages)
        load = Load(jobs, stack.ports, plan.clients)
        periods = break_things(plan, stack, jobs, tell)
        if not load.join(SETTLE):
            raise AssertionError(f"{jobs.unfinished} jobs are not done {SETTLE} s after the last fault")
        stack.check_alive()
        stack.end_relays()
        evidence = gather(stack, load.attempts, plan.store_down != "defer")
        return Report(periods, evidence, judge(evidence))
    finally:
        stack.stop()


def break_things(plan, stack, jobs, tell):
    faults = plan.faults_and_points(random.Random(f"{plan.seed}/faults"), faults_for(stack))
    # Clients get no further than to the next fault while one lasts, with enough to do meanwhile.
    ahead = max(2 * plan.clients, plan.messages // len(faults))
    never, periods = threading.Event(), []
    for number, (fault, point) in enumerate(faults, 1):
        jobs.allow(point + ahead)
        wait_until(lambda: jobs.begun >= point, f"{point} messages are begun", SETTLE)
        periods.append(Period(time.monotonic(), fault.name, jobs.under_way))
        rng = random.Random(f"{plan.seed}/fault/{number}")  # its own: what one draws moves no other
        with fault(stack, rng):
            never.wait(fault.last(rng))
        stack.check_alive()
        tell(f"{number}/{len(faults)} at {point}: {fault.name}")
    jobs.allow(plan.messages)
    wait_until(lambda: jobs.begun >= plan.messages, "all messages are begun", 3600)
    return periods


def main():
    parser = argparse.ArgumentParser(prog="scripts/chaos", description="Breaks everything around mailonce, and counts.")
    parser.add_argument("--messages", type=int, default=5000)
    parser.add_argument("--faults", type=int, default=0, help="each kind once, if not given")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--store", choices=STORES, default="redis")
    parser.add_argument("--store-down", choices=["defer", "local"], default="defer")
    parser.add_argument("--relays", type=int, default=3)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose name contains it")
    parser.add_argument("--folder", type=pathlib.Path, help="where logs are left; a new one in the system's place")
    options = vars(parser.parse_args())
    folder = options.pop("folder") or pathlib.Path(tempfile.mkdtemp(prefix="chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    plan = Plan(**options)
    print(f"{plan}\n{folder}", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # whoever ends this, the parts end too
    begin = time.monotonic()
    report = run(plan, folder, lambda text: print(f"{time.monotonic() - begin:7.1f} s  {text}", file=sys.stderr))
    print(f"\n{plan.messages} messages, {report.injected.total()} faults, seed {plan.seed}, {plan.relays} relays, "
          f'store {plan.store}, store_down = "{plan.store_down}", {time.monotonic() - begin:.0f} s\n\n'
          f"{report.markdown()}")
    (folder / "findings.txt").write_text("".join(f"{finding}\n" for finding in report.findings))
    for finding in report.defects[:20]:
        print(f"\n{finding}", *report.story(finding), sep="\n  ")
    return bool(report.defects)
