"""The order in which a loader serves its items: a pure function of (seed, epoch)."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from torch.utils.data import Sampler

if TYPE_CHECKING:
    from numpy.typing import NDArray


def epoch_order(count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """The indices `0..count-1`, int64, in the order that belongs to `(seed, epoch)`.

    The pair is hashed, not added up, so that epoch 1 of seed 0 is not epoch 0 of seed 1. The order is that of `count`
    raw Philox outputs, a stream that numpy promises to keep: other versions and other machines draw the same one.
    """
    key = hashlib.sha256(f"{seed} {epoch}".encode("ascii")).digest()[:16]
    draws = np.random.Philox(key=int.from_bytes(key, "little")).random_raw(count)
    return np.argsort(draws, kind="stable")


class ShuffledSampler(Sampler[int]):
    """Every index of `0..count-1` once an iteration, each iteration in the order of the next epoch.

    `epoch` is the one that the next iteration draws. It begins at 0, rises when the first index of an iteration is
    drawn, and may be set: `loader.sampler.epoch = 3` goes on where three epochs were served.
    """

    def __init__(self, count: int, seed: int = 0) -> None:
        self.count = count
        self.seed = operator.index(seed)
        self.epoch = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[int]:
        # A generator, since a loader with workers asks for two iterators and draws from the second only.
        order = epoch_order(self.count, self.seed, self.epoch)
        self.epoch += 1
        yield from map(int, order)
