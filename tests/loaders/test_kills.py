"""Trainings that are killed, and go on with another number of ranks, count every sample."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from month_packs import write_month
from training_rank import COUNT, EPOCHS, FIRST_ID


@pytest.fixture
def launch(project, tmp_path):
    """Starts the ranks of a training in `tmp_path`; what still runs at the end is killed."""
    started = []

    def start(world_size):
        command = [sys.executable, project / "tests" / "training_rank.py"]
        env = os.environ | {"PYTHONPATH": f"{project}:{project / 'tests'}", "OMP_NUM_THREADS": "1"}
        with (tmp_path / "errors").open("a") as errors:
            ranks = [
                subprocess.Popen([*command, str(rank), str(world_size), tmp_path], env=env, stderr=errors)
                for rank in range(world_size)
            ]
        started.extend(ranks)
        return ranks

    yield start
    kill(started)


def kill(ranks):
    for rank in ranks:
        rank.kill()
    for rank in ranks:
        rank.wait()


def checkpoint(folder):
    with contextlib.suppress(FileNotFoundError):
        return json.loads((folder / "checkpoint.json").read_text())
    return {"trained": [], "loader": {"epoch": 0, "position": 0}}


def wait_for_steps(folder, steps, ranks):
    deadline = time.monotonic() + 60
    while len(checkpoint(folder)["trained"]) < steps:
        assert all(rank.poll() is None for rank in ranks), (folder / "errors").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def uses_shared_memory(rank):
    maps = Path(f"/proc/{rank.pid}/maps")
    return maps.exists() and "/dev/shm" in maps.read_text()


def test_a_killed_training_resumed_by_other_numbers_of_ranks_counts_every_sample_over_two_epochs(launch, tmp_path):
    games = [[1, FIRST_ID + game, 2] for game in range(COUNT)]
    for month, of_month in (("2025-01", games[:50]), ("2025-02", games[50:])):
        write_month(tmp_path / "packs" / month, of_month, vocab_size=1000)
    steps = 0
    for world_size, more in ((2, 9), (3, 14)):
        ranks = launch(world_size)
        wait_for_steps(tmp_path, steps + more, ranks)
        assert not any(map(uses_shared_memory, ranks))
        kill(ranks)
        steps = len(checkpoint(tmp_path)["trained"])
    (last,) = launch(1)
    assert last.wait(timeout=60) == 0, (tmp_path / "errors").read_text()
    trained = checkpoint(tmp_path)["trained"]
    for epoch in range(EPOCHS):
        items = Counter(item for of_epoch, items in trained if of_epoch == epoch for item in items)
        assert items == Counter(range(COUNT))
    assert len({len(items) for _, items in trained}) >= 3  # each number of ranks had its own size of batches


KILLED = """
import os, sys
from rukh_loaders import PackedDataset, make_loader

dataset = PackedDataset(sys.argv[1], block=6)
for x, y in make_loader(dataset, 4):
    print(x.shape, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_a_killed_program_leaves_nothing_that_stops_the_next_one(twenty_games, project):
    env = os.environ | {"PYTHONPATH": str(project)}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", KILLED, twenty_games], capture_output=True, text=True, env=env)
        assert done.returncode == -9
        assert done.stdout == "torch.Size([4, 6])\n", done.stderr
