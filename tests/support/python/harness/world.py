"""Everything one test starts, stopped in reverse order whatever happens."""

from .celery_worker import CeleryWorker
from .redis import Redis
from .redis_cluster import RedisCluster
from .redis_sentinel import RedisSentinel
from .relay import Relay
from .upstream import Upstream


class World:
    def __init__(self, folder):
        self.folder = folder
        self.started = []

    def upstream(self, **options):
        return self._keep(Upstream(self.folder, name=self._name("upstream"), **options))

    def redis(self, **options):
        return self._keep(Redis(self.folder, **options))

    def redis_sentinel(self):
        return self._keep(RedisSentinel(self.folder))

    def redis_cluster(self):
        return self._keep(RedisCluster(self.folder))

    def embedded_store(self, kind="sqlite"):
        return "memory:" if kind == "memory" else f"sqlite:{self.folder}/window.db"

    def relay(self, upstream, **options):
        return self._keep(Relay(self.folder, upstream, **{"name": self._name("relay"), **options}))

    def celery_worker(self, module, broker, concurrency, **options):
        return self._keep(CeleryWorker(self.folder, module, broker, concurrency, name=self._name("worker"), **options))

    def _name(self, kind):
        return f"{kind}-{len(self.started)}"

    def _keep(self, process):
        self.started.append(process)
        return process

    def stop(self):
        failures = []
        while self.started:
            try:
                self.started.pop().stop()
            except Exception as error:  # every process has to be stopped before any failure is told
                failures.append(error)
        if failures:
            raise failures[0]
