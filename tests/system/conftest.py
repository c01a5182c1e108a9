"""Fixtures of the system tests. `world` starts processes and stops them after the test; a relay must end with 0."""

import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support" / "python"), str(TESTS)]

from harness import World  # noqa: E402


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.stop()


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory):
    """For tests of one file that need no world of their own."""
    world = World(tmp_path_factory.mktemp("shared"))
    yield world
    world.stop()


@pytest.fixture
def upstream(world):
    return world.upstream()


@pytest.fixture(params=["memory", "sqlite", "redis"])
def store(request, world):
    """The URL of each store in turn."""
    return world.redis().url if request.param == "redis" else world.embedded_store(request.param)
