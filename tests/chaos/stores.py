"""The stores that relays share, and what happens to each. One entry of STORES adds another: a class with the `url`
that relays get, `stop()`, its own `faults` and, if it has any, keys of `[window]`. A fault by which the store may lose what it had answered (a failover
before replication) appends (since, until) to stack.forgettings: the oracle counts second copies then apart."""

import contextlib
import sqlite3

from harness import Redis, RedisCluster, RedisSentinel

from .faults import Fault
from .stack import Disk


class RedisStore:
    """Durable: what it answered survives its kill -9, so that no copy is explained by its forgetting."""

    window = {}

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


class ReplicatedStore:
    """What counts is on a replica, too: a failover forgets nothing."""

    window = {"min_replicas": 1}

    def __init__(self, stack):
        self.servers = self.kind(stack.folder)
        self.url, self.stop = self.servers.url, self.servers.stop


class SentinelStore(ReplicatedStore):
    """A master and its replica."""

    kind = RedisSentinel

    def failed_over(stack, rng):
        stack.store.servers.fail_over()
        yield
        stack.store.servers.heal()

    def replica_lost(stack, rng):
        servers = stack.store.servers
        next(node for node in servers.nodes if node is not servers.master).kill()
        yield
        servers.heal()

    faults = [
        Fault("store", "Sentinel: master killed with -9, its replica takes over", failed_over),
        Fault("store", "Sentinel: replica killed with -9", replica_lost),
    ]


class ClusterStore(ReplicatedStore):
    """Three masters, a replica of each."""

    kind = RedisCluster

    def failed_over(stack, rng):
        servers = stack.store.servers
        servers.kill(rng.choice(servers.serving()))
        servers.taken_over()
        yield
        servers.heal()

    def resharded(stack, rng):
        servers = stack.store.servers
        servers.reshard(rng.choice(servers.serving()), 300)
        yield

    faults = [
        Fault("store", "Cluster: a master killed with -9, its replica takes over", failed_over),
        Fault("store", "Cluster: slots moved to another master", resharded),
    ]


class SqliteStore:
    """One file for all relays, on a disk of its own."""

    window = {}

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

    url, faults, window = "memory:", [], {}

    def __init__(self, stack):
        pass

    def stop(self):
        pass


STORES = {"redis": RedisStore, "sentinel": SentinelStore, "cluster": ClusterStore, "sqlite": SqliteStore,
          "memory": NoSharedStore}
