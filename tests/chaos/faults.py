"""What goes wrong. A fault is a generator: until its yield it breaks something, after it the thing is whole again; one
entry of the table adds it. Stores bring their own (stores.py)."""

import contextlib
import dataclasses
import time
import typing


@dataclasses.dataclass(frozen=True)
class Fault:
    part: str  # what breaks, or is told to: two faults at once take two parts
    name: str
    happen: typing.Callable  # (stack, rng) → generator
    longest: float = 0.6     # seconds it lasts; the shortest is 0.05

    def last(self, rng):
        return rng.uniform(0.05, self.longest)

    def __call__(self, stack, rng):
        return contextlib.contextmanager(self.happen)(stack, rng)


def relay_killed(stack, rng):
    number = rng.randrange(len(stack.relays))
    stack.kill(number)
    yield
    stack.start_again(number)


def all_relays_killed(stack, rng):
    for number in range(len(stack.relays)):
        stack.kill(number)
    yield
    for number in range(len(stack.relays)):
        stack.start_again(number)


def relay_killed_with_the_dot_out(stack, rng):
    """The provider has the message, and the relay dies before it hears so."""
    dots = stack.upstream.stats()["dots"]
    stack.upstream.fault("times=every dot accept-then-hold")
    with contextlib.suppress(AssertionError):  # nothing was on its way
        stack.upstream.wait("dots", dots + 3, 2)
    stack.kill(rng.randrange(len(stack.relays)))
    number = stack.kills[-1][0]
    stack.upstream.clear_faults()
    stack.upstream.go()
    yield
    stack.start_again(number)


def relay_restarted(stack, rng):
    """As a deployment does it; ends with 0 or the test fails."""
    number = rng.randrange(len(stack.relays))
    stack.relays[number].stop()
    yield
    stack.start_again(number)


def relay_frozen(stack, rng):
    """Longer than its lease at times: it wakes up believing that it still holds its claims."""
    relay = rng.choice(stack.relays)
    relay.freeze()
    yield
    relay.thaw()


def upstream_cut(stack, rng):
    for _ in range(rng.randint(1, 5)):
        stack.upstream.drop_connections()
        time.sleep(rng.uniform(0, 0.05))  # where the cuts fall is the point
    yield


def upstream_gone(stack, rng):
    stack.upstream.listen(False)
    stack.upstream.drop_connections()
    yield
    stack.upstream.listen(True)


def upstream_frozen(stack, rng):
    stack.upstream.freeze()
    yield
    stack.upstream.thaw()


def armed(*faults):
    """Faults of the scripted upstream, until the end of this one; what they hold is let go."""
    def happen(stack, rng):
        for text in faults:
            stack.upstream.fault(text)
        yield
        stack.upstream.clear_faults()
        stack.upstream.go()
    return happen


FAULTS = [
    Fault("relay", "relay killed with -9", relay_killed),
    Fault("upstream", "relay killed with the dot out", relay_killed_with_the_dot_out),
    Fault("relay", "all relays killed with -9", all_relays_killed),
    Fault("relay", "relay restarted", relay_restarted),
    Fault("relay", "relay frozen", relay_frozen, longest=7),
    Fault("upstream", "upstream: connections cut", upstream_cut),
    Fault("upstream", "upstream: gone", upstream_gone),
    Fault("upstream", "upstream: frozen", upstream_frozen, longest=2.5),
    Fault("upstream", "upstream: accepts and hangs up", armed("times=20 dot accept-then-close")),
    Fault("upstream", "upstream: hangs up at the dot", armed("times=20 dot close")),
    Fault("upstream", "upstream: accepts and says nothing", armed("times=10 dot accept-then-stall"), longest=2),
    Fault("upstream", "upstream: half a reply to the dot", armed("times=10 dot half"), longest=2),
    Fault("upstream", "upstream: cut in the body", armed("times=every octets=200 body rst")),
    Fault("upstream", "upstream: 451 to the dot", armed("times=every dot reply 451 4.3.0 Try again")),
    Fault("upstream", "upstream: 450 to a recipient", armed("times=every to=ada@* rcpt reply 450 4.2.1 Busy")),
    Fault("upstream", "upstream: slow", armed("times=every dot delay 700ms")),
]


def spool_full(stack, rng):
    stack.spool.fill()
    yield
    stack.spool.empty()


def two_at_once(faults):
    def happen(stack, rng):
        one = rng.choice(faults)
        other = rng.choice([fault for fault in faults if fault.part != one.part])
        with one(stack, rng), other(stack, rng):
            yield
    return happen


def faults_for(stack):
    """All that can happen to this stack."""
    faults = FAULTS + list(stack.store.faults)
    if stack.spool.mounted:
        faults.append(Fault("disk", "spool: disk full", spool_full))
    return [*faults, Fault("two", "two of these at once", two_at_once(faults), longest=2)]
