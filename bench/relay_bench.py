"""What a message costs on the way: direct, HAProxy in TCP mode, mailonce with each store, in one run.

For each route and shape of load: messages a second, median and 99 % time of a message as its client sees it and how much
longer that is than directly, and for the process in the middle CPU time, system calls and round trips to Redis a message. Quote ratios: machines are noisy, and client, relay
and upstream share the cores.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SHAPES = {
    "1 session": {"sessions": 1, "a-connection": 0},
    "16 sessions": {"sessions": 16, "a-connection": 0},
    "1 connection a message": {"sessions": 1, "a-connection": 1},
}
ROUTES = ("direct", "haproxy", "mailonce memory", "mailonce sqlite", "mailonce redis")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, what):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    sys.exit(f"{what} does not listen on port {port}")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def redis_steps(port):
    """Scripts Redis has run: each is one round trip of a relay."""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(b"INFO commandstats\r\n")
        answer = connection.makefile("rb")
        text = answer.read(int(answer.readline()[1:])).decode()
    return sum(int(calls) for calls in re.findall(r"^cmdstat_eval(?:sha)?:calls=(\d+)", text, re.M))


def system_calls(pid, run):
    """System calls of a process while run() runs; None when this machine does not let us count."""
    if not shutil.which("perf"):
        run()
        return None
    counter = subprocess.Popen(["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-p", str(pid)],
                               stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    run()
    counter.send_signal(signal.SIGINT)
    found = re.search(r"^(\d+),", counter.communicate()[1], re.M)
    return int(found.group(1)) if found else None


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mailonce-bench-"))
        self.processes = []
        self.ports = {}
        self.pids = {}

    def start(self, *command, **more):
        log = open(self.folder / f"{len(self.processes)}.log", "w")
        more = {"stdout": log, **more}
        self.processes.append(subprocess.Popen([str(part) for part in command], stderr=log, **more))
        return self.processes[-1]

    def set_up(self):
        tools = self.options.bin
        upstream = self.start(tools / "scripted-upstream", "--profile", "plain", "--count-only", "--quiet",
                              stdout=subprocess.PIPE, text=True)
        upstream_port = json.loads(upstream.stdout.readline())["port"]
        redis_port = self.redis_port = free_port()
        self.start("redis-server", "--port", redis_port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        wait_for(redis_port, "redis-server")
        self.ports["direct"], self.pids["direct"] = upstream_port, None
        port = free_port()
        config = self.folder / "haproxy.cfg"
        config.write_text(f"defaults\n mode tcp\n timeout connect 5s\n timeout client 60s\n timeout server 60s\n"
                          f"listen smtp\n bind 127.0.0.1:{port}\n server upstream 127.0.0.1:{upstream_port}\n")
        self.add("haproxy", port, self.start("haproxy", "-db", "-f", config))
        stores = {"memory": "memory:", "sqlite": f"sqlite:{self.folder}/window.db", "redis": f"redis://127.0.0.1:{redis_port}"}
        for name, store in stores.items():
            port = free_port()
            relay = self.start(tools / "mailonce", "serve", "--listen", f"127.0.0.1:{port}", "--upstream",
                               f"smtp://127.0.0.1:{upstream_port}", "--store", store)
            self.add(f"mailonce {name}", port, relay)

    def add(self, route, port, process):
        wait_for(port, route)
        self.ports[route], self.pids[route] = port, process.pid

    def load(self, route, shape, messages):
        command = [self.options.bin / "smtp-load", "--port", self.ports[route], "--messages", messages]
        for name, value in SHAPES[shape].items():
            command += [f"--{name}", value]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout)
        if result["failures"]:
            sys.exit(f"{route}, {shape}: {result['failures']} messages failed")
        return result

    def measure(self, route, shape):
        pid = self.pids[route]
        before, steps = cpu_seconds(pid) if pid else 0, redis_steps(self.redis_port)
        result = self.load(route, shape, self.options.messages)
        steps = redis_steps(self.redis_port) - steps
        cpu = (cpu_seconds(pid) - before) / result["messages"] if pid else None
        return {"rate": result["messages"] / result["seconds"], "median": result["median_us"],
                "p99": result["p99_us"], "cpu": cpu, "trips": steps / result["messages"] or None}

    def count_calls(self, route, shape):
        pid = self.pids[route]
        if not pid:
            return None
        messages = max(200, self.options.messages // 10)
        calls = system_calls(pid, lambda: self.load(route, shape, messages))
        return calls / messages if calls is not None else None

    def tear_down(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def middle(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def show(value, form):
    return "-" if value is None else form.format(value)


def report(shape, rows, calls):
    print(f"\n{shape}")
    print(f"  {'route':<16} {'msg/s':>7} {'median µs':>10} {'99 % µs':>8} {'+median':>8} {'+99 %':>7} {'CPU µs/msg':>11}"
          f" {'calls/msg':>10} {'CPU/HAProxy':>12} {'Redis trips':>12}")
    reference = middle([row["cpu"] for row in rows["haproxy"]])
    direct = {name: middle([row[name] for row in rows["direct"]]) for name in ("median", "p99")}
    for route in ROUTES:
        of = {name: middle([row[name] for row in rows[route]]) for name in ("rate", "median", "p99", "cpu", "trips")}
        ratio = of["cpu"] / reference if of["cpu"] is not None and reference else None
        print(f"  {route:<16} {of['rate']:>7.0f} {of['median']:>10.0f} {of['p99']:>8.0f} {of['median'] - direct['median']:>8.0f}"
              f" {of['p99'] - direct['p99']:>7.0f} {show(of['cpu'] and of['cpu'] * 1e6, '{:.0f}'):>11}"
              f" {show(calls[route], '{:.1f}'):>10} {show(ratio, '{:.2f}'):>12} {show(of['trips'], '{:.2f}'):>12}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--messages", type=int, default=3000, help="a measurement (3000)")
    parser.add_argument("--rounds", type=int, default=3, help="of all routes in turn; medians are shown (3)")
    bench = Bench(parser.parse_args())
    try:
        bench.set_up()
        for route in ROUTES:
            bench.load(route, "16 sessions", 200)  # warm: pools, caches
        for shape in SHAPES:
            rows = {route: [] for route in ROUTES}
            for _ in range(bench.options.rounds):
                for route in ROUTES:
                    rows[route].append(bench.measure(route, shape))
            report(shape, rows, {route: bench.count_calls(route, shape) for route in ROUTES})
    finally:
        bench.tear_down()


if __name__ == "__main__":
    main()
