"""A Redis Cluster: three masters, a replica of each, made and resharded by redis-cli."""

import subprocess

from .redis import Redis, RedisError, free_port
from .waiting import wait_until


class RedisCluster:
    masters = 3

    def __init__(self, folder):
        self.nodes = [self._node(folder / f"cluster-{i}") for i in range(2 * self.masters)]
        self._redis_cli("create", *[f"127.0.0.1:{node.port}" for node in self.nodes], "--cluster-replicas", "1")
        wait_until(self._settled, "every node knows the Cluster as whole, and replicas confirm writes", 60)

    @staticmethod
    def _node(folder):
        folder.mkdir(parents=True)
        return Redis(folder, arguments=[
            "--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--cluster-node-timeout", "600",
            "--cluster-replica-validity-factor", "0", "--cluster-allow-replica-migration", "no",
            "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"])

    @staticmethod
    def _redis_cli(verb, *arguments):
        done = subprocess.run(["redis-cli", "--cluster", verb, *map(str, arguments), "--cluster-yes"],
                              capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"redis-cli --cluster {verb}:\n{done.stdout}{done.stderr}")

    @property
    def url(self):
        """One node is enough to find the others; another one in case that it is down."""
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port},127.0.0.1:{self.nodes[1].port}"

    def running(self):
        return [node for node in self.nodes if node.process.running]

    def serving(self):
        """The masters that have slots."""
        return [node for node in self.running() if node.command("ROLE")[0] == "master"]

    def records(self):
        return [key for node in self.serving() for key in node.records()]

    def _taken_over(self):
        try:
            return len(self.serving()) == self.masters and all(
                "cluster_state:ok" in node.command("CLUSTER", "INFO") for node in self.running())
        except (OSError, RedisError):
            return False

    def _settled(self):
        return self._taken_over() and all(node.replicates() for node in self.serving())

    def kill(self, master):
        """kill -9 to that node. Its replica takes over: taken_over() waits for that."""
        master.kill()

    def taken_over(self):
        wait_until(self._taken_over, "a replica has taken over", 60)

    def heal(self):
        """What is not running starts again, empty, as a replica of its successor."""
        for node in self.nodes:
            if not node.process.running:
                node.start_again()
        wait_until(self._settled, "the Cluster is whole", 60)

    def reshard(self, to, slots):
        """So many slots, from all other masters, with what they hold."""
        ident = to.command("CLUSTER", "MYID")
        self._redis_cli("reshard", f"127.0.0.1:{to.port}", "--cluster-from", "all", "--cluster-to", ident,
                        "--cluster-slots", slots)

    def forget_and_begin_to_move(self, key):
        """Deletes it, and its slot begins to move: who asks for it is sent on by ASK until the move ends."""
        source = next(node for node in self.serving() if key in node.records())
        target = next(node for node in self.serving() if node is not source)
        slot = source.command("CLUSTER", "KEYSLOT", key)
        source.command("DEL", key)
        target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.command("CLUSTER", "MYID"))
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.command("CLUSTER", "MYID"))
        return key

    def stop(self):
        for node in self.nodes:
            node.stop()
