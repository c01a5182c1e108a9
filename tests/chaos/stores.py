"""The stores that relays share, and what happens to each. One entry of STORES adds another: a class with the `url`
that relays get, `stop()` and its own `faults`. A fault by which the store may lose what it had answered (a failover
before replication) appends (since, until) to stack.forgettings: the oracle counts second copies then apart."""

import contextlib
import sqlite3

from harness import Redis

from .faults import Fault
from .stack import Disk


class RedisStore:
    """Durable: what it answered survives its kill -9, so that no copy is explained by its forgetting."""

    def __init__(self, stack):
        folder = stack.folder / "redis"
        folder.mkdir()
        self.server = Redis(folder, durable=True)
        self.url, self.stop = self.server.url, self.server.stop

    def killed(stack, rng):
        stack.store.server.kill()
        yield
        stack.store.server.start_again()

    def frozen(stack, rng):
        stack.store.server.freeze()
        yield
        stack.store.server.thaw()

    def cut(stack, rng):
        stack.store.server.command("CLIENT", "KILL", "TYPE", "normal")
        yield

    def scripts_forgotten(stack, rng):
        stack.store.server.command("SCRIPT", "FLUSH")
        yield

    def full(stack, rng):
        stack.store.server.command("CONFIG", "SET", "maxmemory", "1")
        yield
        stack.store.server.command("CONFIG", "SET", "maxmemory", "0")

    faults = [
        Fault("store", "Redis: killed with -9", killed),
        Fault("store", "Redis: frozen", frozen, longest=2),
        Fault("store", "Redis: connections cut", cut),
        Fault("store", "Redis: scripts forgotten", scripts_forgotten),
        Fault("store", "Redis: memory full", full),
    ]


class SqliteStore:
    """One file for all relays, on a disk of its own."""

    def __init__(self, stack):
        self.disk = Disk(stack.folder / "window", "192m")
        self.stop = self.disk.stop
        self.file = self.disk.folder / "window.db"
        self.url = f"sqlite:{self.file}"
        self.faults = [Fault("store", "SQLite: file locked", SqliteStore.locked, longest=2)]
        if self.disk.mounted:
            self.faults.append(Fault("store", "SQLite: disk full", SqliteStore.full, longest=2))

    def connect(self):
        return sqlite3.connect(self.file, timeout=5, isolation_level=None)

    def full(stack, rng):
        stack.store.disk.fill()
        # Its log would take a while to need more than the room it has.
        with contextlib.suppress(sqlite3.Error), contextlib.closing(stack.store.connect()) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        stack.store.disk.fill()
        yield
        stack.store.disk.empty()

    def locked(stack, rng):
        """As by a backup that copies it."""
        with contextlib.closing(stack.store.connect()) as other:
            other.execute("BEGIN IMMEDIATE")
            yield


class NoSharedStore:
    """Each relay remembers for itself: what a run has to find."""

    url, faults = "memory:", []

    def __init__(self, stack):
        pass

    def stop(self):
        pass


STORES = {"redis": RedisStore, "sqlite": SqliteStore, "memory": NoSharedStore}
