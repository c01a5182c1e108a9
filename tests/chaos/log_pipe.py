"""A relay's log as a pipe into a file: what is decided while no file of the relay may grow is still told."""

import os
import subprocess


class LogPipe:
    def __init__(self, folder, name):
        self.path = folder / f"{name}.pipe"
        os.mkfifo(self.path)
        with open(folder / f"{name}.json", "wb") as file:
            self._reader = subprocess.Popen(["cat", self.path], stdin=subprocess.DEVNULL, stdout=file)
        # Held open, so that the reader outlives the relay's end and start.
        self._end = os.open(self.path, os.O_WRONLY)

    def stop(self):
        """After the relay's last end: returns when all of it is in the file."""
        if self._end is not None:
            os.close(self._end)
            self._end = None
            try:
                self._reader.wait(30)
            except subprocess.TimeoutExpired:
                self._reader.kill()
                self._reader.wait()
                raise AssertionError(f"{self.path} is still written to") from None
