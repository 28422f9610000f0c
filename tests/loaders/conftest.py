"""Packs of a few small integers, written by the project's own writer."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from rukh_loaders.formats.pack import PackInfo, PackWriter

Games = Sequence[Sequence[int]]
WritePack = Callable[[Games], Path]


@pytest.fixture(scope="session")
def write_pack(tmp_path_factory: pytest.TempPathFactory) -> WritePack:
    """Writes whole games, each a list of ids from `<bos>` (1) to `<eos>` (2), and returns the pack's folder."""
    root = tmp_path_factory.mktemp("packs")
    numbers = itertools.count()

    def write(games: Games) -> Path:
        folder = root / f"pack-{next(numbers)}"
        ids = np.array([token for game in games for token in game], dtype=np.uint16)
        info = PackInfo(
            n_games=len(games),
            n_tokens=len(ids),
            scheme="tiny",
            vocab_size=100,
            vocab_hash="0" * 64,
            source="small integers",
        )
        with PackWriter(folder, info) as writer:
            writer.append(ids, np.array([len(game) for game in games], dtype=np.int64))
            writer.finish({})
        return folder

    return write


@pytest.fixture(scope="session")
def twenty_games(write_pack: WritePack) -> Path:
    """Twenty games of 4 to 8 tokens, of which the second names the game."""
    return write_pack([[1, 10 + game, *range(50, 51 + game % 5), 2] for game in range(20)])
