"""Which samples of an epoch each rank serves, batch by batch.

The order of an epoch is one and the same on every rank. A global batch is the next `world_size * batch_size` positions
of it, cut into one batch a rank:

    position      0  1  2  3 | 4  5  6  7 | 8  9
    rank 0        0  1       | 4  5       | 8  -1      -1 is a row that only fills up
    rank 1              2  3 |       6  7 | 9  -1

The last global batch is left out where it is not full (`drop_last`), or filled up. So every rank serves the same number
of batches, of `batch_size` rows each, whatever the numbers of samples and ranks, and no sample is served twice.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import distributed

from rukh_loaders.batch import FILLER
from rukh_loaders.errors import LoaderArgumentError, NoBatchError

if TYPE_CHECKING:
    from rukh_loaders.orders.order import Order

_TAKEN_AT_ONCE = 1 << 13
"""Positions asked of an order in one go: few enough to wait for (under 1 ms), enough to spread the cost of asking."""

_TAKEN_BY_ALL = 1 << 11
"""Up to this many samples a global batch, those of all ranks for many batches cost less than one's own for each."""


def find_rank(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """The number of this process and how many there are: as given, else as torch.distributed has them, else `(0, 1)`.

    Raises:
        LoaderArgumentError: one of the two is given without the other; `rank` is not in `0..world_size-1`; or neither
            is given, the launcher's `WORLD_SIZE` says that there are several processes, and torch.distributed is not
            initialised, so that each of them would serve the same samples.
    """
    if rank is not None and world_size is not None:
        if not 0 <= rank < world_size:
            raise LoaderArgumentError(f"rank is {rank} of world_size {world_size}; ranks are numbered from 0")
        return operator.index(rank), operator.index(world_size)
    if rank is not None or world_size is not None:
        raise LoaderArgumentError(f"rank is {rank} and world_size is {world_size}; pass both or neither")
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise LoaderArgumentError(
            f"WORLD_SIZE is {os.environ['WORLD_SIZE']} in the environment and torch.distributed is not initialised; "
            f"call init_process_group before, or pass rank and world_size"
        )
    return 0, 1


@dataclass(frozen=True)
class RankBatches:
    """The batches of one rank: `batch_size` rows each, the same number on each of `world_size` ranks.

    Raises:
        LoaderArgumentError: `batch_size` is below 1.
    """

    batch_size: int
    rank: int
    world_size: int
    drop_last: bool

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise LoaderArgumentError(f"batch_size is {self.batch_size}; it must be 1 or more")

    @property
    def global_size(self) -> int:
        """Samples of a full batch over all ranks."""
        return self.batch_size * self.world_size

    def count(self, samples: int) -> int:
        """How many batches the next `samples` of an order make, on every rank."""
        return samples // self.global_size if self.drop_last else -(-samples // self.global_size)

    def check_some(self, samples: int) -> None:
        """Raise `NoBatchError` where an epoch of `samples` has no batch."""
        if samples == 0:
            raise NoBatchError("the dataset has no items, so there is no batch to serve")
        if self.count(samples) == 0:
            ranks = "" if self.world_size == 1 else f" on each of {self.world_size} ranks"
            raise NoBatchError(
                f"the dataset has {samples} items and batch_size is {self.batch_size}{ranks}, so no batch is full and "
                f"drop_last would leave none; lower batch_size or pass drop_last=False"
            )

    def indices(self, order: Order, position: int) -> Iterator[tuple[NDArray[np.int64], int]]:
        """This rank's indices of each batch, int64 of shape (batch_size,), and the position of the order after it.

        `position` is where in the order the first global batch begins. Rows that only fill up are `FILLER`, the last
        of their batch; they are spread so that the samples of two ranks' batches differ by at most one in number.
        """
        full = (len(order) - position) // self.global_size
        batches = self._of_all_ranks if self.global_size <= _TAKEN_BY_ALL else self._of_this_rank
        for own in batches(order, position, full):
            position += self.global_size
            yield own, position
        if position < len(order) and not self.drop_last:
            yield self._filled_up(order, position), len(order)

    def _of_all_ranks(self, order: Order, position: int, batches: int) -> Iterator[NDArray[np.int64]]:
        at_once = _TAKEN_AT_ONCE // self.global_size
        for done in range(0, batches, at_once):
            begin = position + done * self.global_size
            end = position + min(done + at_once, batches) * self.global_size
            taken = order.take(begin, end).reshape(-1, self.world_size, self.batch_size)
            for own in taken[:, self.rank]:
                yield own.copy()  # the caller's own, who may keep it

    def _of_this_rank(self, order: Order, position: int, batches: int) -> Iterator[NDArray[np.int64]]:
        for batch in range(batches):
            begin = position + batch * self.global_size + self.rank * self.batch_size
            yield order.take(begin, begin + self.batch_size)

    def _filled_up(self, order: Order, position: int) -> NDArray[np.int64]:
        left = len(order) - position
        begin, end = (position + left * rank // self.world_size for rank in (self.rank, self.rank + 1))
        filled = np.full(self.batch_size, FILLER, dtype=np.int64)
        filled[: end - begin] = order.take(begin, end)
        return filled
