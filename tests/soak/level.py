"""What a process holds: descriptors, threads, resident memory."""

import contextlib
import os
import pathlib
import resource
import time
import typing

PAGE = os.sysconf("SC_PAGE_SIZE")


class Level(typing.NamedTuple):
    at: float         # seconds, monotonic
    descriptors: int
    threads: int
    resident: int     # octets

    def row(self, begin):
        return [f"{self.at - begin:.0f}", self.descriptors, self.threads, f"{self.resident / 1e6:.1f}"]


def level_of(pid):
    process = pathlib.Path(f"/proc/{pid}")
    return Level(time.monotonic(), len(os.listdir(process / "fd")), len(os.listdir(process / "task")),
                 int((process / "statm").read_text().split()[1]) * PAGE)


def settled(pid, quiet=1.0, at_most=30.0):
    """The level once no descriptor and no thread has come or gone for `quiet` seconds."""
    end = time.monotonic() + at_most
    last = level_of(pid)
    while time.monotonic() < end:
        time.sleep(0.1)
        now = level_of(pid)
        if now[1:3] != last[1:3]:
            last = now
        elif now.at - last.at > quiet:
            return now
    return level_of(pid)


@contextlib.contextmanager
def all_descriptors():
    """This process and its children may open as many files as the system lets them."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        yield before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
