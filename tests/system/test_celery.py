"""Why mailonce exists: a task queue runs a job twice. Each story is told twice in one test: straight to a provider,
where the customer gets the mail again (a test that can not fail proves nothing), and to another through mailonce."""

import collections
import dataclasses
import os
import pathlib
import signal
import time
import uuid

import celery
import pytest

from harness import wait_until
from harness.celery_worker import broker_url

SHOP = pathlib.Path(__file__).resolve().parent / "clients" / "shop.py"


@dataclasses.dataclass
class Route:
    """A way to a provider of its own, and the job whose mail takes it."""

    name: str
    provider: object
    ports: list
    job: str

    def copies(self):
        """Recipient → how many copies the provider accepted. Each was built anew: no Message-ID comes twice."""
        accepted = self.provider.accepted(self.job)
        assert len({copy["message_id"] for copy in accepted}) == len(accepted)
        return collections.Counter(recipient for copy in accepted for recipient in copy["recipients"])


class Queue:
    def __init__(self, broker):
        self.app = celery.Celery(broker=broker_url(broker))
        self.broker = broker

    def put(self, task, route, *arguments, times=1):
        """The same job `times` times, as a queue delivers it that is not sure: with the same id."""
        name = str(uuid.uuid4())
        for number in range(times):
            port = route.ports[number % len(route.ports)]
            self.app.send_task(f"shop.{task}", (port, route.job, *arguments), task_id=name)

    def wait_for_timeout(self):
        """Until every task that is under way has been so for longer than the visibility timeout of one second."""
        def waited():
            with self.app.connection_for_read() as connection:
                index = connection.default_channel.client.zrange("unacked_index", 0, -1, withscores=True)
            return bool(index) and max(since for _, since in index) < time.time() - 1
        wait_until(waited, "the visibility timeout is over")

    def close(self):
        self.app.close()


@pytest.fixture
def routes(world):
    """Straight, and through two relays that share a window."""
    straight, provider, redis = world.upstream(), world.upstream(), world.redis()
    relays = [world.relay(provider, store=redis.url) for _ in range(2)]
    return [Route("straight", straight, [straight.port], f"straight-{uuid.uuid4().hex[:8]}"),
            Route("mailonce", provider, [relay.port for relay in relays], f"mailonce-{uuid.uuid4().hex[:8]}")]


@pytest.fixture
def queue(world):
    queue = Queue(world.redis())
    yield queue
    queue.close()


@pytest.fixture
def tell(capsys):
    """Prints, whatever pytest is told, what each route made of the same story; returns the copies a route."""
    def tell(story, routes):
        copies = [route.copies() for route in routes]
        with capsys.disabled():
            for route, count in zip(routes, copies):
                duplicates = sum(count.values()) - len(count)
                print(f"\n{story}, {route.name}: copies {sum(count.values())}, duplicates {duplicates}", end="")
        return copies
    return tell


def test_a_task_longer_than_its_visibility_timeout_runs_twice_and_sends_once(world, routes, queue, tell):
    first = world.celery_worker(SHOP, queue.broker, concurrency=2)
    for route in routes:
        queue.put("render_and_send", route)
    for route in routes:
        first.wait_for_notes("started", route.job, 1)
    queue.wait_for_timeout()
    world.celery_worker(SHOP, queue.broker, concurrency=2)  # a worker that starts looks for what is overdue
    for route in routes:
        first.wait_for_notes("started", route.job, 2)
    first.let_go_on("rendered")
    for route in routes:
        first.wait_for_notes("done", route.job, 2)
    straight, once = tell("redelivered while it runs", routes)
    assert straight == {"ada@example.net": 2}
    assert once == {"ada@example.net": 1}


def test_a_send_longer_than_the_visibility_timeout_is_waited_for_by_the_second_run(world, routes, queue, tell):
    first = world.celery_worker(SHOP, queue.broker, concurrency=2)
    for route in routes:
        route.provider.fault("times=2 dot hold")
        queue.put("send_to_each", route, ["ada@example.net"])
    for route in routes:
        route.provider.wait("held", 1, 30)
    queue.wait_for_timeout()
    world.celery_worker(SHOP, queue.broker, concurrency=2)
    for route in routes:
        first.wait_for_notes("started", route.job, 2)
    routes[0].provider.wait("held", 2)
    for route in routes:
        route.provider.clear_faults()
        route.provider.go()
    for route in routes:
        first.wait_for_notes("done", route.job, 2)
    straight, once = tell("redelivered while the provider thinks", routes)
    assert straight == {"ada@example.net": 2}
    assert once == {"ada@example.net": 1}


def test_twenty_workers_given_the_same_job_at_once_send_once(world, routes, queue, tell):
    worker = world.celery_worker(SHOP, queue.broker, concurrency=40, pool="threads")
    for route in routes:
        queue.put("render_and_send", route, times=20)
    for route in routes:
        worker.wait_for_notes("started", route.job, 20)
    worker.let_go_on("rendered")
    for route in routes:
        worker.wait_for_notes("done", route.job, 20)
    worker.kill()  # its pool of threads would take ten seconds to notice that they are done
    straight, once = tell("twenty workers, one job", routes)
    assert straight == {"ada@example.net": 20}
    assert once == {"ada@example.net": 1}


def test_a_task_killed_between_send_and_acknowledgement_runs_again_and_sends_once(world, routes, queue, tell):
    worker = world.celery_worker(SHOP, queue.broker, concurrency=2)
    for route in routes:
        queue.put("send_and_book", route)
    for route in routes:
        (process,) = worker.wait_for_notes("sent", route.job, 1)
        os.kill(process, signal.SIGKILL)
    for route in routes:
        worker.wait_for_notes("sent", route.job, 2)
    worker.let_go_on("booked")
    for route in routes:
        worker.wait_for_notes("done", route.job, 1)
    straight, once = tell("task killed after its send", routes)
    assert straight == {"ada@example.net": 2}
    assert once == {"ada@example.net": 1}


def test_a_worker_killed_between_send_and_acknowledgement_is_replaced_and_sends_once(world, routes, queue, tell):
    worker = world.celery_worker(SHOP, queue.broker, concurrency=2)
    for route in routes:
        queue.put("send_and_book", route)
    for route in routes:
        worker.wait_for_notes("sent", route.job, 1)
    worker.kill()
    queue.wait_for_timeout()
    other = world.celery_worker(SHOP, queue.broker, concurrency=2)
    other.let_go_on("booked")
    for route in routes:
        other.wait_for_notes("done", route.job, 1)
    straight, once = tell("worker killed after its send", routes)
    assert straight == {"ada@example.net": 2}
    assert once == {"ada@example.net": 1}


@pytest.mark.parametrize("task", ["send_to_each", "send_to_all"])
def test_a_job_retried_for_all_because_one_recipient_was_refused_sends_to_each_once(world, routes, queue, tell, task):
    recipients = ["ada@example.net", "grace@example.net", "edsger@example.net"]
    worker = world.celery_worker(SHOP, queue.broker, concurrency=2)
    for route in routes:
        route.provider.fault("to=edsger@* rcpt reply 450 4.2.1 Mailbox busy")
        queue.put(task, route, recipients)
    for route in routes:
        worker.wait_for_notes("done", route.job, 1)
        assert len(worker.notes("started", route.job)) == 2
    straight, once = tell(f"retried for all recipients, {task}", routes)
    assert straight == {"ada@example.net": 2, "grace@example.net": 2, "edsger@example.net": 1}
    assert once == {recipient: 1 for recipient in recipients}
