"""A child process whose output goes to a file, and which is gone when the test is."""

import contextlib
import os
import pathlib
import signal
import subprocess

from .waiting import wait_until


def binary(name):
    """The program as built; ctest says where."""
    default = pathlib.Path(__file__).resolve().parents[4] / "build" / "dev" / "bin"
    path = pathlib.Path(os.environ.get("MAILONCE_BIN", default)) / name
    if not path.exists():
        raise FileNotFoundError(f"{path}: build it, or set MAILONCE_BIN to the folder of the programs")
    return str(path)


class Process:
    def __init__(self, folder, name, command, stdout=None, env=None):
        self.name = name
        self.output = pathlib.Path(folder) / f"{name}.log"
        self._file = open(self.output, "ab")
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or self._file,
                                      stderr=self._file, env={**os.environ, **(env or {})})

    @property
    def running(self):
        return self.child.poll() is None

    def text(self):
        return self.output.read_text(errors="replace")

    def open_files(self):
        """What its file descriptors are, as the system names it; one it closes meanwhile is none."""
        found = []
        for descriptor in pathlib.Path(f"/proc/{self.child.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found.append(os.readlink(descriptor))
        return found

    def signal(self, number):
        self.child.send_signal(number)

    def freeze(self):
        """It keeps its connections and its memory, and does nothing."""
        self.signal(signal.SIGSTOP)
        stat = f"/proc/{self.child.pid}/stat"
        wait_until(lambda: open(stat).read().rsplit(")", 1)[1].split()[0] == "T", f"{self.name} is stopped")

    def thaw(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9; not a failure of the process."""
        self.child.kill()
        self.child.wait()

    def stop(self, at_most=60):
        """SIGTERM; returns the exit status."""
        if self.running:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
        try:
            return self.child.wait(at_most)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end at SIGTERM:\n{self.text()}") from None
        finally:
            self._file.close()
