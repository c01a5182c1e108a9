"""A short run of chaos for each store; scripts/chaos makes long ones. The seed is printed, and can be given again."""

import os

import pytest

from chaos.findings import DUPLICATE, LOCAL
from chaos.run import Plan, run

SEED = int(os.environ.get("CHAOS_SEED", 1))


def checked_run(plan, folder, capsys):
    with capsys.disabled():
        print(f"\n{plan}")
    report = run(plan, folder)
    with capsys.disabled():
        print(f"{report.markdown()}\n")
    assert report.defects == []
    assert report.total["of these duplicates"] > 0
    return report


def test_a_run_finds_what_relays_without_a_shared_store_send_twice(tmp_path):
    report = run(Plan(messages=100, seed=SEED, store="memory", only="upstream: slow"), tmp_path)
    assert {finding.kind for finding in report.defects} == {DUPLICATE}


@pytest.mark.parametrize("store", ["redis", "sqlite"])
def test_whatever_breaks_each_mail_is_sent_once_or_explained(store, tmp_path, capsys):
    report = checked_run(Plan(messages=500, faults=18, seed=SEED, store=store), tmp_path, capsys)
    assert report.total[LOCAL] == 0


def test_a_cluster_that_fails_over_and_moves_slots_sends_each_mail_once(tmp_path, capsys):
    checked_run(Plan(messages=200, faults=6, seed=SEED, store="cluster", only="Cluster"), tmp_path, capsys)


def test_relays_that_go_on_without_their_store_declare_what_they_decided_alone(tmp_path, capsys):
    checked_run(Plan(messages=200, seed=SEED, store="redis", store_down="local", only="Redis"), tmp_path, capsys)
