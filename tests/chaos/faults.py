"""What goes wrong. A fault is a generator: until its yield it breaks something, after it the thing is whole again; one
entry of the table adds it. Stores bring their own (stores.py)."""

import contextlib
import dataclasses
import resource
import time
import typing


@dataclasses.dataclass(frozen=True)
class Fault:
    part: str  # what breaks, or is told to: two faults at once take two parts
    name: str
    happen: typing.Callable  # (stack, rng) → generator
    shortest: float = 0.05   # seconds it lasts
    longest: float = 0.6

    def last(self, rng):
        return rng.uniform(self.shortest, self.longest)

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
    stack.upstream.fault("times=every dot accept-then-hold")
    with contextlib.suppress(AssertionError):  # so many were not on their way
        stack.upstream.wait("held", 2 * len(stack.relays), 1)
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
    """Longer than its lease, it wakes up believing that it still holds its claims."""
    number = rng.randrange(len(stack.relays))
    stack.freeze(number)
    yield
    stack.thaw(number)


def no_file_may_grow(stack, rng):
    """For one relay or for all: neither the embedded store nor what spills to disk."""
    relays = [relay for relay in stack.relays if relay.running]
    relays = rng.choice([relays, relays[:1]])
    for relay in relays:
        limit_files(relay, 8192)
    yield
    for relay in relays:
        limit_files(relay, resource.RLIM_INFINITY)


def limit_files(relay, octets):
    with contextlib.suppress(ProcessLookupError):  # killed meanwhile: the next process has no limit
        resource.prlimit(relay.child.pid, resource.RLIMIT_FSIZE, (octets, resource.RLIM_INFINITY))


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


def refused_for_good(phase, reply, more=""):
    def happen(stack, rng):
        stack.refusals.add(reply)
        yield from armed(f"times=every {more}{phase} reply {reply}")(stack, rng)
    return happen


FAULTS = [
    Fault("relay", "relay: killed with -9", relay_killed),
    Fault("upstream", "relay: killed with the dot out", relay_killed_with_the_dot_out),
    Fault("relay", "relay: all killed with -9", all_relays_killed),
    Fault("relay", "relay: restarted", relay_restarted),
    Fault("relay", "relay: frozen", relay_frozen, longest=2),
    Fault("relay", "relay: frozen for longer than its lease", relay_frozen, shortest=5.2, longest=7),
    Fault("disk", "relay: no file may grow", no_file_may_grow, longest=2),
    Fault("upstream", "upstream: connections cut", upstream_cut),
    Fault("upstream", "upstream: gone", upstream_gone),
    Fault("upstream", "upstream: frozen", upstream_frozen, longest=2.5),
    Fault("upstream", "upstream: says nothing to a new connection", armed("times=10 banner stall"), longest=2),
    Fault("upstream", "upstream: says nothing to a recipient", armed("times=10 rcpt stall"), longest=2),
    Fault("upstream", "upstream: 450 to a recipient", armed("times=every to=ada@* rcpt reply 450 4.2.1 Busy")),
    Fault("upstream", "upstream: 550 to a recipient", refused_for_good("rcpt", "550 5.1.1 Gone", "to=ada@* ")),
    Fault("upstream", "upstream: 451 to DATA", armed("times=every data reply 451 4.3.1 Full")),
    Fault("upstream", "upstream: 554 to DATA", refused_for_good("data", "554 5.7.1 Not now")),
    Fault("upstream", "upstream: cut in the body", armed("times=every octets=200 body rst")),
    Fault("upstream", "upstream: 451 to the dot", armed("times=every dot reply 451 4.3.0 Try again")),
    Fault("upstream", "upstream: 554 to the dot", refused_for_good("dot", "554 5.7.1 Unwanted")),
    Fault("upstream", "upstream: 421 to the dot", armed("times=20 dot reply-close 421 4.3.2 Going down")),
    Fault("upstream", "upstream: hangs up at the dot", armed("times=20 dot close")),
    Fault("upstream", "upstream: accepts and hangs up", armed("times=20 dot accept-then-close")),
    Fault("upstream", "upstream: accepts and says nothing", armed("times=10 dot accept-then-stall"), longest=2),
    Fault("upstream", "upstream: accepts and answers late", armed("times=10 dot accept-then-reply 2500ms"), longest=2),
    Fault("upstream", "upstream: half a reply to the dot", armed("times=10 dot half"), longest=2),
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
