"""The loaders that the package's own is measured against serve the same windows."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.corpora import PACK_REPEATS, Corpora
from benchmarks.peers import BY_HAND, PEERS
from benchmarks.window_loaders import nanogpt_batches, written_windows
from rukh_loaders import PackedDataset, open_pack
from rukh_loaders.formats import Pack
from rukh_loaders.rates.baselines import CarefulWindows, NaiveWindows, batches_by_item, gather_alone

BLOCK, BATCH, GAMES = 50, 32, 24


@pytest.fixture(scope="module")
def pack(corpora: Corpora) -> Pack:
    return open_pack(corpora.pack(GAMES))


@pytest.fixture(scope="module")
def rows(pack: Pack) -> set[bytes]:
    """Each window that the package serves: x and y, one after the other."""
    dataset = PackedDataset(pack, BLOCK)
    return {np.concatenate(dataset[index]).tobytes() for index in range(len(dataset))}


def served(batches: Iterator[Any], count: int) -> list[bytes]:
    """The rows of some batches, each of which must be int64 of the right shape."""
    found = []
    for x, y in itertools.islice(batches, count):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, y.shape) == ((BATCH, BLOCK), (BATCH, BLOCK))
        assert (x.dtype, y.dtype) == (np.int64, np.int64)
        found += [np.concatenate(row).tobytes() for row in zip(x, y, strict=True)]
    return found


def test_a_pack_repeats_its_games(pack: Pack) -> None:
    pack.verify()
    assert pack.info.n_games == GAMES * PACK_REPEATS
    once = pack.info.n_tokens // PACK_REPEATS
    assert np.array_equal(pack.tokens, np.tile(pack.tokens[:once], PACK_REPEATS))


@pytest.mark.parametrize("windows", [NaiveWindows, CarefulWindows])
def test_loaders_of_one_item_at_a_time_serve_every_window_as_the_package_does(
    windows: type[NaiveWindows] | type[CarefulWindows], pack: Pack
) -> None:
    ours, theirs = PackedDataset(pack, BLOCK), windows(pack, BLOCK)
    assert len(ours) == len(theirs)
    for index in range(len(ours)):
        assert all(np.array_equal(own, other) for own, other in zip(ours[index], theirs[index], strict=True))
    assert all(tensor.is_contiguous() for tensor in next(batches_by_item(theirs, BATCH)))


def test_the_batches_of_nanogpt_and_of_the_gather_alone_are_of_the_same_windows(pack: Pack, rows: set[bytes]) -> None:
    for batches in (nanogpt_batches(pack, BLOCK, BATCH), gather_alone(pack, BLOCK, BATCH)):
        assert set(served(batches, 20)) <= rows


def test_windows_are_written_for_peers_without_those_that_run_over_the_end(pack: Pack, rows: set[bytes]) -> None:
    windows = written_windows(pack, BLOCK, most=10_000)
    assert GAMES * PACK_REPEATS - 3 < len(windows) <= GAMES * PACK_REPEATS
    assert {np.concatenate([ids[:-1], ids[1:]]).astype(np.int64).tobytes() for ids in windows} <= rows
    assert len(written_windows(pack, BLOCK, most=7)) == 7


@pytest.mark.parametrize("name", [*PEERS, *BY_HAND])
def test_a_peer_serves_every_window_that_was_written_for_it(name: str, pack: Pack, tmp_path: Path) -> None:
    peer = (PEERS | BY_HAND)[name]
    if not peer.is_installed:
        pytest.skip(f"{peer.module} is not installed (the extra `peers`)")
    windows = written_windows(pack, BLOCK, most=BATCH * 5)
    peer.write(windows, tmp_path)
    found = served(peer.pairs(tmp_path, BLOCK, BATCH), 5)
    assert sorted(found) == sorted(np.concatenate([ids[:-1], ids[1:]]).astype(np.int64).tobytes() for ids in windows)
    assert len(served(peer.pairs(tmp_path, BLOCK, BATCH), 11)) == 11 * BATCH  # epochs follow one another
