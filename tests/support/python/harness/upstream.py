"""The scripted upstream as a process, and its control channel."""

import hashlib
import json
import pathlib
import socket
import subprocess

from .process import Process, binary


class Upstream(Process):
    """`fault(...)` schedules what goes wrong (tests/support/fault.h has the language); `accepted()` is the oracle, unless
    it counts only, as for a load without end."""

    def __init__(self, folder, profile="plain", settings=(), tls=False, implicit_tls=False, name="upstream",
                 capture=True, count_only=False):
        self.captured = pathlib.Path(folder) / f"{name}.captured"
        self.certificate = pathlib.Path(folder) / f"{name}.pem"
        command = [binary("scripted-upstream"), "--profile", profile, "--control", "127.0.0.1:0"]
        command += ["--capture", str(self.captured)] if capture and not count_only else ["--quiet"]
        command += ["--count-only"] if count_only else []
        for setting in settings:
            command += ["--set", setting]
        if tls or implicit_tls:
            command += ["--tls-self-signed", str(self.certificate)]
        if implicit_tls:
            command.append("--implicit-tls")
        super().__init__(folder, name, command, stdout=subprocess.PIPE)
        line = self.child.stdout.readline()
        if not line:
            raise AssertionError(f"{name} did not start:\n{self.text()}")
        ports = json.loads(line)
        self.port = ports["port"]
        self._socket = socket.create_connection(("127.0.0.1", ports["control"]), timeout=60)
        self._control = self._socket.makefile("rw")

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.port}"

    def command(self, line):
        self._control.write(line + "\n")
        self._control.flush()
        answer = json.loads(self._control.readline())
        if not answer.pop("ok"):
            raise AssertionError(f"{line}: {answer['error']}")
        return answer

    def fault(self, text):
        self.command("arm " + text)

    def clear_faults(self):
        self.command("clear")

    def go(self):
        self.command("go")

    def accepted(self, test_id=None, after=0):
        messages = self.command(f"accepted {after}")["accepted"]
        return [message for message in messages if test_id is None or message["test_id"] == test_id]

    def content(self, message):
        """The octets of an accepted message, after un-stuffing."""
        octets = (self.captured / f"{message['serial']:06d}.eml").read_bytes()
        assert hashlib.sha256(octets).hexdigest() == message["sha256"]
        return octets

    def stats(self):
        return self.command("stats")

    def commands(self):
        """Every command line received, without its connection's number."""
        return [line.split(" ", 1)[1] for line in self.command("commands")["commands"]]

    def wait(self, counter, at_least, at_most=20):
        self.command(f"wait {counter} {at_least} {at_most}s")

    def listen(self, on):
        self.command("listen " + ("on" if on else "off"))

    def drop_connections(self):
        self.command("drop")

    def reset(self):
        self.command("reset")

    def stop(self, at_most=60):
        self._control.close()
        self._socket.close()
        status = super().stop(at_most)
        self.child.stdout.close()
        return status
