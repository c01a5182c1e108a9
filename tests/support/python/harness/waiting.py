"""Waiting for a condition with a limit, instead of sleeping."""

import time


def wait_until(condition, what, at_most=20.0):
    """Returns the first true value of `condition()`; fails after `at_most` seconds, saying what did not come."""
    end = time.monotonic() + at_most
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {at_most} s: {what}")
        time.sleep(0.005)
