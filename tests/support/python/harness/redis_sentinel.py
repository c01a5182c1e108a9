"""A Redis master, its replica and the Sentinel that names the master."""

from .process import Process
from .redis import Redis, RedisError, ask, free_port
from .waiting import wait_until


class RedisSentinel:
    service = "window"

    def __init__(self, folder):
        self.folder = folder / "sentinel"
        self.nodes = [self._node("first", [])]
        self.nodes.append(self._node("second", ["--replicaof", "127.0.0.1", str(self.nodes[0].port)]))
        wait_until(self.nodes[0].replicates, "the replica confirms writes", 30)
        self.port = free_port()
        config = self.folder / "sentinel.conf"
        config.write_text(f"port {self.port}\nbind 127.0.0.1\ndir {self.folder}\n"
                          f"sentinel monitor {self.service} 127.0.0.1 {self.nodes[0].port} 1\n"
                          f"sentinel down-after-milliseconds {self.service} 500\n"
                          f"sentinel failover-timeout {self.service} 2000\n")
        self.sentinel = Process(self.folder, "sentinel", ["redis-server", str(config), "--sentinel"])
        wait_until(self._knows_the_replica, "the Sentinel knows the replica", 60)
        wait_until(self.nodes[0].replicates, "the replica still confirms writes", 30)

    def _node(self, name, arguments):
        folder = self.folder / name
        folder.mkdir(parents=True)
        return Redis(folder, arguments=["--repl-diskless-sync-delay", "0", *arguments])

    def _knows_the_replica(self):
        try:
            return len(ask(self.port, "SENTINEL", "REPLICAS", self.service)) == 1
        except (OSError, RedisError):
            return False

    @property
    def url(self):
        return f"redis+sentinel://127.0.0.1:{self.port}/{self.service}"

    @property
    def master(self):
        """The node that the Sentinel names."""
        port = int(ask(self.port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.service)[1])
        return next(node for node in self.nodes if node.port == port)

    def fail_over(self):
        """kill -9 to the master; returns when the Sentinel names the other one, and it is a master."""
        lost = self.master
        lost.process.kill()
        wait_until(lambda: self.master is not lost and self.master.command("ROLE")[0] == "master",
                   "the replica takes over", 60)

    def ports(self):
        return [str(node.port) for node in self.nodes]

    def heal(self):
        """The lost one is back, empty, as a replica of the other."""
        lost = next(node for node in self.nodes if not node.process.running)
        other = next(node for node in self.nodes if node is not lost)
        # Never a master that is empty: whoever followed it would be empty, too.
        base = [each for each in lost.arguments if each not in ("--replicaof", "127.0.0.1", *self.ports())]
        lost.arguments = [*base, "--replicaof", "127.0.0.1", str(other.port)]
        lost.start_again()
        wait_until(lambda: self.master.replicates(), "the replica confirms writes", 60)

    def stop(self):
        for process in [self.sentinel, *self.nodes]:
            process.stop()
