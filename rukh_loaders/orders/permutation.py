"""Keyed permutations of `0..count-1` that are computed item by item, so that an order of 1e9 items takes no memory.

An item is written as (row, column) of a grid with about sqrt(count) rows and columns. In each round a keyed function of
the one, taken modulo the size of the other, is added to the other: a generalised Feistel network (J. Black and
P. Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). Every round can be undone, so the whole is a permutation of
the grid. The grid has a few cells more than there are items; an item that lands there is permuted again until it
lands on an item (cycle walking, same paper), which keeps it a permutation of the items.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_COUNT = 2**62
"""The most items: with it a row and a column fit 31 bits each, and an item fits int64."""

ROUNDS = 8
"""An even number of rounds. Six show in the statistics of a thousand items (over 2e6 orders), eight do not."""

TINY = 1024
"""Below this count a half has so few values that items go through the rounds three times, with three keys."""

_CHUNK = 32768  # items permuted at a time: their temporaries stay in a core's second-level cache

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: the step of SplitMix64


def hashed(text: str) -> np.uint64:
    """64 bits of BLAKE2b over `text`: the same on every machine and in every version."""
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode("ascii"), digest_size=8).digest(), "little"))


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64-bit words in which every bit in changes half of the bits out, on average.

    It is the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014),
    with the multipliers of Stafford's variant 13.
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def keys_of(seed: NDArray[np.uint64], epoch: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The key of each pair of a hashed seed and an epoch.

    The pair is hashed, not added up, so that epoch 1 of seed 0 is not epoch 0 of seed 1.
    """
    return mixed(seed ^ mixed(epoch + _GOLDEN))


@dataclass(frozen=True, eq=False)
class Permutations:
    """Permutations of `0..counts-1`, one a key, that are applied to one item each or, if there is one key, to all.

    `counts` and `keys` are uint64 of the same shape (k,). A permutation depends on its count and its key alone.
    Counts are from 1 to `MAX_COUNT`; the callers check that.
    """

    counts: NDArray[np.uint64]
    keys: NDArray[np.uint64]

    def of(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """What each of `items` becomes, int64 of shape (n,), where k is 1 or n.

        Items are in `0..count-1`, which callers check: the walk of one that is not may never end.
        """
        permuted = items.astype(np.uint64)
        room = _Room.of(min(len(items), _CHUNK))
        for begin in range(0, len(items), _CHUNK):
            chosen = slice(begin, begin + _CHUNK)
            self._part(chosen)._shuffle(permuted[chosen], room)
        return permuted.view(np.int64)

    def _part(self, chosen: slice | NDArray[np.intp]) -> Permutations:
        """The permutations of the chosen items."""
        return self if len(self.keys) == 1 else Permutations(self.counts[chosen], self.keys[chosen])

    def _shuffle(self, items: NDArray[np.uint64], room: _Room) -> None:
        self._walk(items, room)
        (tiny,) = np.nonzero(np.broadcast_to(self.counts < TINY, items.shape))
        if len(tiny):
            part, tiny_items = self._part(tiny), items[tiny]
            for _ in range(2):
                part = Permutations(part.counts, mixed(part.keys))
                part._walk(tiny_items, room)
            items[tiny] = tiny_items

    def _walk(self, items: NDArray[np.uint64], room: _Room) -> None:
        """Permutes each item, in place, as often as it takes to land on an item."""
        self._grid.permute(items, room.first(len(items)))
        (outside,) = np.nonzero(items >= self.counts)
        if len(outside):
            walking = items[outside]
            self._part(outside)._walk(walking, room)
            items[outside] = walking

    @cached_property
    def _grid(self) -> _Grid:
        # An even number of rows, since with odd numbers of rows and columns each round, and so the whole, would be an
        # even permutation. The root need not be exact: columns make up for it.
        rows = np.ceil(np.sqrt(self.counts.astype(np.float64))).astype(np.uint64)
        rows += rows & np.uint64(1)
        words = mixed(self.keys + np.arange(1, ROUNDS + 1, dtype=np.uint64)[:, np.newaxis] * _GOLDEN)
        return _Grid(
            rows=rows,
            columns=(self.counts + rows - np.uint64(1)) // rows,
            factors=words.astype(np.uint32) | np.uint32(1),
            offsets=(words >> np.uint64(32)).astype(np.uint32),
        )


@dataclass(frozen=True, eq=False)
class _Grid:
    """The sizes of grids and the keys of their rounds: shapes (k,) and (ROUNDS, k)."""

    rows: NDArray[np.uint64]
    columns: NDArray[np.uint64]
    factors: NDArray[np.uint32]
    offsets: NDArray[np.uint32]

    def permute(self, cells: NDArray[np.uint64], room: _Room) -> None:
        """Makes each cell, numbered row by row, the cell that it becomes; `room` is of as many cells."""
        row, column, *_, product = room
        np.floor_divide(cells, self.columns, out=product)
        row[:] = product
        product *= self.columns
        np.subtract(cells, product, out=product)
        column[:] = product
        for step in range(0, ROUNDS, 2):
            self._turn(step, column, row, self.rows, room)
            self._turn(step + 1, row, column, self.columns, room)
        cells[:] = row
        cells *= self.columns
        product[:] = column
        cells += product

    def _turn(
        self, step: int, one: NDArray[np.uint32], other: NDArray[np.uint32], size: NDArray[np.uint64], room: _Room
    ) -> None:
        """Adds to `other`, modulo `size`, a number that depends on `one`: 32 mixed bits times `size`, over 2**32."""
        *_, bits, spare, product = room
        np.multiply(one, self.factors[step], out=bits)
        bits += self.offsets[step]
        bits ^= np.right_shift(bits, 16, out=spare)  # From here "lowbias32" of C. Wellons' hash-prospector, without
        bits *= np.uint32(0x7FEB352D)  # its last shift, which changes low bits only.
        bits ^= np.right_shift(bits, 15, out=spare)
        bits *= np.uint32(0x846CA68B)
        product[:] = bits
        product *= size
        product >>= np.uint64(32)
        bits[:] = product
        other += bits
        np.subtract(other, size.astype(np.uint32), out=spare)  # Where that is negative it wraps round, so that the
        np.minimum(other, spare, out=other)  # smaller of the two is the remainder.


class _Room(NamedTuple):
    """Arrays that every round writes into: fresh ones for each would cost as much again in page faults."""

    row: NDArray[np.uint32]
    column: NDArray[np.uint32]
    bits: NDArray[np.uint32]
    spare: NDArray[np.uint32]
    product: NDArray[np.uint64]

    @staticmethod
    def of(size: int) -> _Room:
        row, column, bits, spare = np.empty((4, size), np.uint32)
        return _Room(row, column, bits, spare, np.empty(size, np.uint64))

    def first(self, size: int) -> _Room:
        return _Room(self.row[:size], self.column[:size], self.bits[:size], self.spare[:size], self.product[:size])
