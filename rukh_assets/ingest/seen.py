"""The game ids that a month has kept so far: exact, and in memory that the system can write out."""

import tempfile

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

_MERGE_IDS = 1 << 20
"""Ids that are merged in memory at once."""


class SeenIds:
    """A set of int64 that only grows.

    Sorted runs; one that is at most twice as long as the next is merged with it, and a long one into a nameless
    temporary file that is mapped. So n ids are in about log2(n) runs, and each was merged about log2(n) times.
    """

    def __init__(self) -> None:
        self._runs: list[Ids] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, ids: Ids) -> NDArray[np.bool_]:
        """Add a batch of ids; return a mask, true at the first occurrence of each id that was not in the set."""
        new = np.zeros(len(ids), np.bool_)
        unique, first = np.unique(ids, return_index=True)
        for run in self._runs:
            unknown = ~_holds(run, unique)
            unique, first = unique[unknown], first[unknown]
        new[first] = True
        if len(unique):
            self._append(unique)
        return new

    def _append(self, run: Ids) -> None:
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = _merge(self._runs.pop(), run)
        self._runs.append(run)


def _holds(run: Ids, ids: Ids) -> NDArray[np.bool_]:
    places = np.minimum(np.searchsorted(run, ids), len(run) - 1)
    found: NDArray[np.bool_] = run[places] == ids
    return found


def _merge(longer: Ids, shorter: Ids) -> Ids:
    """Merge two sorted arrays, long ones piece by piece into a mapped one."""
    if len(longer) + len(shorter) <= _MERGE_IDS:
        return np.sort(np.concatenate([longer, shorter]), kind="stable")
    with tempfile.TemporaryFile() as file:
        done = 0
        for start in range(0, len(longer), _MERGE_IDS):
            piece = longer[start : start + _MERGE_IDS]
            last = start + len(piece) == len(longer)
            end = len(shorter) if last else int(np.searchsorted(shorter, piece[-1]))
            file.write(np.sort(np.concatenate([piece, shorter[done:end]]), kind="stable").data)
            done = end
        file.flush()
        return np.memmap(file, np.int64, mode="r")
