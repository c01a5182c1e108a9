"""Chaos: the real binary under load from clients that behave as task queues, while its surroundings break at points
that a seed chooses. Read run.py first."""
