"""What chaos breaks: relays that share one window, its store, and the provider, all real processes."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time

from harness import Relay, Upstream, wait_until

from .log_pipe import LogPipe

LEASE = "5s"  # the shortest there is


class Disk:
    """A small file system of its own, where the machine lets us have one; it can be filled."""

    def __init__(self, folder, size):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.folder],
                                      capture_output=True).returncode == 0

    def fill(self):
        with contextlib.suppress(OSError), open(self.folder / "filler", "ab", buffering=0) as filler:
            free = os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize
            os.posix_fallocate(filler.fileno(), filler.tell(), free)
            while True:
                filler.write(bytes(1 << 12))

    def empty(self):
        (self.folder / "filler").unlink(missing_ok=True)

    def stop(self):
        if self.mounted:
            subprocess.run(["umount", self.folder], check=True)


class Stack:
    def __init__(self, folder, make_store, relays, store_down):
        self.folder = pathlib.Path(folder)
        self._parts = contextlib.ExitStack()
        self.kills = []        # (relay, when it was killed with -9)
        self.freezes = []      # (relay, since, until)
        self.refusals = set()  # replies with which the upstream was told to refuse for good
        self.forgettings = []  # (since, until): when the store may have lost what it had answered
        try:
            self._start(make_store, relays, store_down)
        except BaseException:
            self._parts.close()
            raise

    def _start(self, make_store, relays, store_down):
        self.upstream = self._keep(Upstream(self.folder, capture=False))
        self.spool = self._keep(Disk(self.folder / "spool", "4m"))
        self.store = self._keep(make_store(self))
        self.logs = [self._keep(LogPipe(self.folder, f"relay-{number}")) for number in range(relays)]
        self.relays = []
        for number in range(relays):
            self.relays.append(self._keep(Relay(
                self.folder, self.upstream, store=self.store.url, name=f"relay-{number}",
                window={"lease": LEASE, "timeout": "500ms", **self.store.window},
                policy={"wait": "1s", "store_down": store_down},
                server={"workers": 2},
                upstream_keys={
                    "connect_timeout": "2s", "greeting_timeout": "2s", "command_timeout": "2s", "data_timeout": "2s",
                    "reply_timeout": "1500ms", "max_wait": "2s"},
                limits={"memory_per_message": "32KiB", "spool_directory": str(self.spool.folder),
                        "drain_timeout": "5s"},
                log={"level": "info", "file": str(self.logs[number].path)})))

    def _keep(self, part):
        self._parts.callback(part.stop)
        return part

    @property
    def ports(self):
        return [relay.port for relay in self.relays]

    def kill(self, number):
        self.relays[number].kill()
        self.kills.append((number, time.monotonic()))  # noted behind: no attempt begins after it and lives

    def start_again(self, number):
        relay = self.relays[number]
        relay.start_again()
        wait_until(lambda: not relay.running or listens(relay.port), f"{relay.name} listens")
        if not relay.running:
            raise AssertionError(f"{relay.name} does not start again:\n{relay.text()[-4000:]}")

    def freeze(self, number):
        self.freezes.append((number, time.monotonic(), float("inf")))
        self.relays[number].freeze()

    def thaw(self, number):
        self.relays[number].thaw()
        self.freezes[-1] = (*self.freezes[-1][:2], time.monotonic())

    def end_relays(self):
        """As a shutdown does it: with 0, and with every line written."""
        for part in [*self.relays, *self.logs]:
            part.stop()

    def check_alive(self):
        """What was not killed has to be there."""
        for part in [self.upstream, *self.relays]:
            if not part.running:
                raise AssertionError(f"{part.name} ended by itself with {part.child.returncode}:\n"
                                     f"{part.text()[-4000:]}")

    def stop(self):
        self._parts.close()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False
