"""The order in which items are served: a pure function of (seed, epoch, position), so that resuming is starting at k.

    SequentialOrder   0, 1, 2, ...
    FeistelOrder      all items shuffled, in no memory: the default
    BlockOrder        blocks of items shuffled, and the items of a few blocks at a time: for packs larger than memory
    RandpermOrder     `torch.randperm`: the order of other loaders, 8 bytes an item

>>> order = FeistelOrder(10, seed=0, epoch=0)
>>> order.take(0, 10).tolist()
[0, 7, 2, 6, 5, 9, 3, 8, 1, 4]
>>> order.take(4, 7).tolist()
[5, 9, 3]

Take many positions at once: a `take` of one costs some 100 us and one of 64k some 20 ns for each.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import OrderArgumentError, PositionError
from rukh_loaders.orders.permutation import MAX_COUNT, Permutations, hashed, keys_of

Indices = NDArray[np.int64]


class Order(Protocol):
    """Which item is at which position of an epoch."""

    def __len__(self) -> int:
        """The number of positions."""
        ...

    def take(self, begin: int, end: int) -> Indices:
        """The items at the positions `begin..end-1`, int64 of shape (end - begin,), the caller's own.

        The same whenever and in whatever pieces it is asked for; memory is that of the result, besides a constant.

        Raises:
            PositionError: not `0 <= begin <= end <= len`. An `IndexError`.
        """
        ...


@dataclass(frozen=True)
class SequentialOrder:
    """The items `0..count-1` as they come.

    Raises:
        OrderArgumentError: `count` is negative or above 2**62.
    """

    count: int

    def __post_init__(self) -> None:
        check_count(self.count)

    def __len__(self) -> int:
        return self.count

    def take(self, begin: int, end: int) -> Indices:
        """The items at the positions `begin..end-1`."""
        check_positions(begin, end, self.count)
        return np.arange(begin, end, dtype=np.int64)


@dataclass(frozen=True)
class FeistelOrder:
    """The items `0..count-1`, each once, in an order that belongs to the pair `(seed, epoch)`.

    Nothing is stored: each item is computed from its position (see `rukh_loaders.orders.permutation`). `seed` is any
    whole number; the order is the same on every machine and in every version.

    Raises:
        OrderArgumentError: `count` is negative or above 2**62, or `epoch` is negative or not below 2**62.
        TypeError: a number that is not whole.
    """

    count: int
    seed: int = 0
    epoch: int = 0

    def __post_init__(self) -> None:
        check_shuffle(self.count, self.seed, self.epoch)

    def __len__(self) -> int:
        return self.count

    def take(self, begin: int, end: int) -> Indices:
        """The items at the positions `begin..end-1`."""
        check_positions(begin, end, self.count)
        return self.at(np.arange(begin, end, dtype=np.int64))

    def at(self, positions: Indices) -> Indices:
        """The items at `positions`, int64 of shape (n,), which are in `0..count-1`."""
        return self._permutation.of(positions)

    @cached_property
    def _permutation(self) -> Permutations:
        key = keys_of(np.array([hashed(str(self.seed))]), np.array([self.epoch], dtype=np.uint64))
        return Permutations(np.array([self.count], dtype=np.uint64), key)


@dataclass(frozen=True)
class BlockOrder:
    """The items `0..count-1`, each once: blocks of them shuffled, and within each group of blocks the items.

    A group is `buffer` blocks from all over the pack, of `block` consecutive items each. Only its items are read from
    at a time, so a pack larger than memory is read about once an epoch. The last block may be shorter than the others;
    it comes anywhere in the order, as they do. Nothing is stored.

    Raises:
        OrderArgumentError: `count` or `epoch` as in `FeistelOrder`; `block` or `buffer` is below 1 or above 2**62.
        TypeError: a number that is not whole.
    """

    count: int
    seed: int = 0
    epoch: int = 0
    block: int = 4096
    buffer: int = 64

    def __post_init__(self) -> None:
        check_shuffle(self.count, self.seed, self.epoch)
        for name, size in (("block", self.block), ("buffer", self.buffer)):
            if not 1 <= operator.index(size) <= MAX_COUNT:
                raise OrderArgumentError(f"{name} is {size}; it must be from 1 to {MAX_COUNT}")

    def __len__(self) -> int:
        return self.count

    def take(self, begin: int, end: int) -> Indices:
        """The items at the positions `begin..end-1`."""
        check_positions(begin, end, self.count)
        taken = np.empty(end - begin, np.int64)
        position = begin
        while position < end:
            stop, items = self._rest_of_group(position, end)
            taken[position - begin : stop - begin] = items
            position = stop
        return taken

    def _rest_of_group(self, position: int, end: int) -> tuple[int, Indices]:
        """The items from `position` to the end of its group, or to `end`, and where that is."""
        group = self._slot_of(position) // self.buffer
        first, stop = self._begin_of(group * self.buffer), self._begin_of((group + 1) * self.buffer)
        within = FeistelOrder(stop - first, derived_seed(self.seed, f"group {group}"), self.epoch)
        stop = min(stop, end)
        return stop, self._items_at(first + within.take(position - first, stop - first))

    def _items_at(self, places: Indices) -> Indices:
        """The items at `places` of the order in which blocks are shuffled and their items are not."""
        short = self._short_slot
        slots, within = np.divmod(
            np.where(places < self._begin_of(short + 1), places, places + self._missing), self.block
        )
        blocks = np.full(len(places), self._n_blocks - 1)
        full = slots != short
        blocks[full] = FeistelOrder(self._n_blocks - 1, derived_seed(self.seed, "blocks"), self.epoch).at(
            slots[full] - (slots[full] > short)
        )
        items: Indices = blocks * self.block + within
        return items

    @property
    def _n_blocks(self) -> int:
        return -(-self.count // self.block)

    @property
    def _missing(self) -> int:
        """How many items the last block is short of."""
        return self._n_blocks * self.block - self.count

    @cached_property
    def _short_slot(self) -> int:
        """Where among the shuffled blocks the last one comes."""
        return derived_seed(self.seed, f"short block {self.epoch}") % self._n_blocks

    def _slot_of(self, place: int) -> int:
        return (place if place < self._begin_of(self._short_slot + 1) else place + self._missing) // self.block

    def _begin_of(self, slot: int) -> int:
        """The first place of the block at `slot`, or `count` past the last."""
        return min(slot * self.block - (self._missing if slot > self._short_slot else 0), self.count)


@dataclass(frozen=True)
class RandpermOrder:
    """The items `0..count-1` in the order of `torch.randperm(count)`, its generator seeded with `seed + epoch`.

    That is the order of loaders that other trainings were done with; epoch 1 of seed 0 is epoch 0 of seed 1. The first
    `take` draws the whole of it, 8 bytes an item, and 117 s for 1e9.

    Raises:
        OrderArgumentError: `count` is negative or above 2**62, or `epoch` is negative or not below 2**62.
    """

    count: int
    seed: int = 0
    epoch: int = 0

    def __post_init__(self) -> None:
        check_shuffle(self.count, self.seed, self.epoch)

    def __len__(self) -> int:
        return self.count

    def take(self, begin: int, end: int) -> Indices:
        """The items at the positions `begin..end-1`."""
        check_positions(begin, end, self.count)
        return self._items[begin:end].copy()

    def __getstate__(self) -> dict[str, int]:
        return {"count": self.count, "seed": self.seed, "epoch": self.epoch}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.__dict__.update(state)

    @cached_property
    def _items(self) -> Indices:
        import torch  # here, since the other orders need none

        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        return torch.randperm(self.count, generator=generator).numpy()


def derived_seed(seed: int, purpose: str) -> int:
    """A seed for one of several orders that one seed decides, so that they have nothing in common."""
    return int(hashed(f"{seed} {purpose}"))


def check_count(count: int) -> None:
    """Refuses a number of items that no order can have."""
    if not 0 <= operator.index(count) <= MAX_COUNT:
        raise OrderArgumentError(f"the number of items is {count}; it must be from 0 to {MAX_COUNT}")


def check_shuffle(count: int, seed: int, epoch: int) -> None:
    """Refuses numbers that no shuffled order can have."""
    check_count(count)
    operator.index(seed)
    if not 0 <= operator.index(epoch) < MAX_COUNT:
        raise OrderArgumentError(f"epoch is {epoch}; it must be from 0 to {MAX_COUNT - 1}")


def check_positions(begin: int, end: int, count: int) -> None:
    """Refuses a range of positions that is not within `0..count-1`."""
    if not 0 <= operator.index(begin) <= operator.index(end) <= count:
        raise PositionError(f"no positions {begin} to {end}: the order has {count}, numbered from 0")
