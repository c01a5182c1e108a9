"""A Celery worker, and the files through which its tasks and the test meet."""

import contextlib
import os
import pathlib
import signal

from .process import Process
from .waiting import wait_until


class CeleryWorker(Process):
    """Runs the tasks of `module`, a file; `broker` is a Redis, whose database 1 it uses."""

    def __init__(self, folder, module, broker, concurrency, pool="prefork", name="worker"):
        module = pathlib.Path(module)
        self.folder = pathlib.Path(folder)
        super().__init__(folder, name, [
            "/usr/bin/python3", "-m", "celery", "--app", module.stem, "--workdir", str(module.parent), "worker",
            "--pool", pool, "--concurrency", str(concurrency), "--hostname", f"{name}@localhost",
            "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"],
            env={"SHOP_FOLDER": str(folder), "SHOP_BROKER": broker_url(broker), "PYTHONDONTWRITEBYTECODE": "1"})

    def notes(self, what, job):
        """The runs of the job that have come so far, as the processes they run in."""
        return [int(path.suffix[1:]) for path in sorted(self.folder.glob(f"{what}.{job}.*"))]

    def wait_for_notes(self, what, job, count, at_most=30):
        def there():
            assert self.running, f"{self.name} is gone:\n{self.text()}"
            found = self.notes(what, job)
            return len(found) >= count and found
        try:
            return wait_until(there, f"{count} runs of {job} are {what}", at_most)
        except AssertionError as missing:
            raise AssertionError(f"{missing}\n{self.text()[-4000:]}") from None

    def let_go_on(self, what):
        (self.folder / what).touch()

    def kill(self):
        """kill -9 to it and to the processes it started."""
        children = pathlib.Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text().split()
        super().kill()  # first, so that it does not give a dead child's task to another
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)

    def stop(self, at_most=60):
        return None if not self.running else super().stop(at_most)


def broker_url(redis):
    return f"redis://127.0.0.1:{redis.port}/1"
