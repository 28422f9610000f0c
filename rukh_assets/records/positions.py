"""Position ids of a shard, made piece by piece: in every row as an attention over it would count them."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.formats import cut_at

Ints = NDArray[np.int64]


def restarting(lengths: Ints) -> Ints:
    """`0, 1, ..., n - 1` for each length n, one after the other; a chunk of a split document counts from 0 as well."""
    begins = cut_at(lengths)
    return np.arange(begins[-1]) - np.repeat(begins[:-1], lengths)


def reset_pieces(runs: Iterator[Ints]) -> Iterator[Ints]:
    """Positions of pieces of runs, each given as their lengths: every run counts from 0."""
    return map(restarting, runs)


def running_pieces(runs: Iterator[Ints]) -> Iterator[Ints]:
    """Positions of pieces of runs, each given as their lengths: one count over all of the shard."""
    begin = 0
    for lengths in runs:
        end = begin + int(lengths.sum())
        yield np.arange(begin, end)
        begin = end


PIECES: dict[str, Callable[[Iterator[Ints]], Iterator[Ints]]] = {
    "doc_reset": reset_pieces,
    "continuous": running_pieces,
}
"""The function of each `position_ids_mode` of a config, but for "none"."""


def highest_position(lengths: Ints, mode: str) -> int:
    """The highest position id of a shard of these runs."""
    return int(lengths.sum() if mode == "continuous" else lengths.max()) - 1
