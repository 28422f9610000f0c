"""Visits of positions in files, so that a month of any size is grouped by position in bounded memory.

A visit goes to one of `PARTITIONS` files by its position's key; a position lies in one file whole, and one file at a
time is in memory. What prompts are written from, each game's first moves and ratings, lies in files that are mapped.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rukh_assets.records.chess.annotated import Visits
from rukh_assets.records.chess.evaluations import NONE

PARTITIONS = 64
_BITS = 6

VISIT = np.dtype([("key", "<i8"), ("game", "<i4"), ("change", "<i2"), ("move", "<u2"), ("ply", "<u2")])
"""`game` counts the games of the spool, `ply` the moves before this one; the others are as in `Visits`."""

VisitRows = NDArray[np.void]


class VisitSpool:
    """Takes visits in a folder of its own, then gives them by partition; a context, which closes the files.

    Only visits with an evaluation are kept: `n_visits` of `n_games` games, all of which `opening` knows.
    """

    def __init__(self, folder: Path, width: int) -> None:
        self.n_games = self.n_visits = 0
        self._width = width
        self._moves_path, self._elos_path = folder / "moves", folder / "elos"
        self._paths = [folder / f"visits_{number:02d}" for number in range(PARTITIONS)]
        with ExitStack() as stack:
            files: list[IO[bytes]] = [
                stack.enter_context(path.open("wb")) for path in (*self._paths, self._moves_path, self._elos_path)
            ]
            self._stack = stack.pop_all()
        self._partitions = files[:PARTITIONS]
        self._moves, self._elos = files[PARTITIONS:]

    def add(self, visits: Visits) -> None:
        """Add the visits of further games."""
        games, plies = np.nonzero(visits.changes != NONE)
        rows = np.empty(len(games), VISIT)
        rows["key"], rows["move"] = visits.keys[games, plies], visits.moves[games, plies]
        rows["change"], rows["ply"] = visits.changes[games, plies], plies
        rows["game"] = games + self.n_games
        partitions = rows["key"].view(np.uint64) >> np.uint64(64 - _BITS)
        rows = rows[np.argsort(partitions, kind="stable")]
        ends = np.cumsum(np.bincount(partitions.astype(np.int64), minlength=PARTITIONS)).tolist()
        for file, begin, end in zip(self._partitions, [0, *ends[:-1]], ends, strict=True):
            file.write(rows[begin:end].tobytes())
        self._moves.write(visits.moves.tobytes())
        self._elos.write(visits.elos.tobytes())
        self.n_games += len(visits.moves)
        self.n_visits += len(rows)

    def partitions(self) -> Iterator[VisitRows]:
        """Close the files and yield all visits of one partition after the other, as `VISIT`."""
        self._stack.close()
        for path in self._paths:
            yield np.fromfile(path, VISIT)

    def openings(self) -> tuple[NDArray[np.uint16], NDArray[np.int16]]:
        """Of each game the first moves, [n_games, width], and the ratings, [n_games, 2]: mapped files, once closed."""
        if not self.n_games:
            return np.empty((0, self._width), np.uint16), np.empty((0, 2), np.int16)
        moves = np.memmap(self._moves_path, np.uint16, "r", shape=(self.n_games, self._width))
        return moves, np.memmap(self._elos_path, np.int16, "r", shape=(self.n_games, 2))

    def __enter__(self) -> "VisitSpool":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()
