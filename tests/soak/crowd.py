"""The crowd as whoever measures sees it: a process of its own (crowd_process.py), to disturb nobody but the relay."""

import json
import pathlib
import subprocess
import sys

from .crowd_process import IDLE, SLOW

__all__ = ["IDLE", "SLOW", "Crowd"]


class Crowd:
    def __init__(self, port):
        self.child = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("crowd_process.py"), str(port)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def add(self, kind, count):
        self._ask(f"add {kind} {count}")

    @property
    def standing(self):
        return self._ask("standing")["standing"]

    def _ask(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            raise AssertionError(f"the crowd is gone, asked to {line}")
        answer = json.loads(answer)
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer

    def leave(self):
        """All at once, as when their host dies."""
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()
