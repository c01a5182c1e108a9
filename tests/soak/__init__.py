"""Crowds and long loads: the relay stays as fast as it was, and keeps nothing of what has gone."""
