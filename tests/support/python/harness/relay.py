"""The real binary, its configuration and its log."""

import json
import pathlib

from .process import Process, binary
from .waiting import wait_until


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def write_config(path, tables):
    """`tables`: name → keys; a list of keys stands for an array of tables."""
    lines = []
    for name, content in tables.items():
        for keys in content if isinstance(content, list) else [content]:
            lines.append(f"[[{name}]]" if isinstance(content, list) else f"[{name}]")
            lines += [f"{key} = {toml(value)}" for key, value in keys.items()]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


class Relay(Process):
    """`upstream`: an Upstream or a URL; several: a list of their keys. Further keyword arguments are tables of the
    configuration: policy={...}."""

    def __init__(self, folder, upstream, store="memory:", name="relay", upstream_keys=None, env=None, **tables):
        self.config = pathlib.Path(folder) / f"{name}.toml"
        self.log = pathlib.Path(folder) / f"{name}.json"
        window = {"store": store, **tables.pop("window", {})}
        log = {"format": "json", "level": "debug", "file": str(self.log), **tables.pop("log", {})}
        write_config(self.config, {
            "listen": tables.pop("listen", [{"address": "127.0.0.1:0"}]),
            "upstream": upstream if isinstance(upstream, list) else
            [{"name": "provider", "url": getattr(upstream, "url", upstream), **(upstream_keys or {})}],
            "server": {"hostname": "relay.example", **tables.pop("server", {})},
            "window": window, "log": log, **tables})
        self._start = lambda: super(Relay, self).__init__(
            folder, name, [binary("mailonce"), "serve", "--config", str(self.config)], env=env)
        self._start()
        self.expected_status = 0
        try:
            self.port = int(self.wait_for_event("listening")["address"].rsplit(":", 1)[1])
        except AssertionError:
            super().kill()
            raise AssertionError(f"{name} did not start:\n{self.text()}") from None

    def lines(self):
        if not self.log.exists():
            return []
        complete = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in complete.splitlines()]

    def events(self, name=None):
        return [line for line in self.lines() if name is None or line["event"] == name]

    def decisions(self, **wanted):
        """Decision lines whose fields are as wanted: decisions(outcome="doubt")."""
        return [line for line in self.events("decision")
                if all(line.get(key) == value for key, value in wanted.items())]

    def wait_for_event(self, name, count=1, at_most=20):
        def there():
            running = self.running  # asked first: what it logged before its end is in the log then
            events = self.events(name)
            if len(events) < count and not running:
                raise AssertionError(f"{self.name} is gone:\n{self.text()}")
            return len(events) >= count and events[count - 1]
        return wait_until(there, f"event {name} of {self.name}", at_most)

    def wait_for_decision(self, count=1, at_most=20, **wanted):
        """The `count`th decision that is as wanted."""
        def there():
            found = self.decisions(**wanted)
            return len(found) >= count and found[count - 1]
        return wait_until(there, f"decision {wanted} of {self.name}", at_most)

    def start_again(self):
        """After its end, on the port it had; returns at once."""
        self.config.write_text(self.config.read_text().replace('"127.0.0.1:0"', f'"127.0.0.1:{self.port}"'))
        self._start()
        self.expected_status = 0

    def kill(self):
        self.expected_status = -9
        super().kill()

    def stop(self, at_most=60):
        status = super().stop(at_most)
        if status != self.expected_status:
            raise AssertionError(f"{self.name} ended with {status}:\n{self.text()[-4000:]}")
        return status
