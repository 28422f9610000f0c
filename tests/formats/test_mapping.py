"""Mapped arrays: what they hold in memory is given back."""

from pathlib import Path

import numpy as np
import pytest

from rukh_loaders.formats.mapping import give_back
from rukh_loaders.formats.npy import open_npy

STATUS = Path("/proc/self/status")


def mapped_mb():
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("RssFile:"))
    return int(line.split()[1]) / 1024


@pytest.mark.skipif(not STATUS.exists() or "RssFile" not in STATUS.read_text(), reason="reads the memory from /proc")
def test_pages_that_were_read_are_given_back_and_read_again(tmp_path):
    np.save(tmp_path / "numbers.npy", np.arange(1 << 22))
    numbers = open_npy(tmp_path / "numbers.npy", np.int64)
    before = mapped_mb()
    total = numbers.sum()
    assert mapped_mb() > before + 28
    give_back(numbers[5:])
    assert mapped_mb() < before + 4
    assert numbers.sum() == total


def test_nothing_happens_to_an_array_that_is_not_mapped():
    numbers = np.arange(4)
    give_back(numbers[1:])
    assert numbers.tolist() == [0, 1, 2, 3]
