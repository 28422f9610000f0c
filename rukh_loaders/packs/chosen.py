"""Which games of a stream are chosen: a range of them, which costs nothing, or one bit a game.

Both are immutable, count their games from 0 in the order of the stream, and are the same for the same games: what is
consecutive is always a range.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BLOCK = 512
"""Games in a block of a bitmap, all before which are counted in its index."""

_BYTES = BLOCK // 8

_PIECE = 1 << 12
"""Blocks, or games, that are worked on in one go: a few hundred kB."""

_PLACES = np.array([([i for i in range(8) if byte >> i & 1] + [0] * 8)[:8] for byte in range(256)], np.int64)
"""Row b, column j: which bit of the byte b is its j-th set one."""

_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)


class Choice(Protocol):
    """Games of a stream: `count` of them, all in `begin` to `end - 1`."""

    @property
    def begin(self) -> int:
        """The first chosen game."""

    @property
    def end(self) -> int:
        """One behind the last chosen game."""

    @property
    def count(self) -> int:
        """How many are chosen."""

    def select(self, k: NDArray[np.int64]) -> NDArray[np.int64]:
        """The games that are the k-th chosen ones, each k in 0 to `count - 1`; a new array."""

    def mask(self, begin: int, end: int) -> NDArray[np.bool_]:
        """Of each game from `begin` to `end - 1` whether it is chosen."""

    def describe(self) -> list[Any]:
        """What tells this choice from any other, as JSON."""


@dataclass(frozen=True)
class GameRange:
    """The games from `begin` to `end - 1`."""

    begin: int
    end: int

    @property
    def count(self) -> int:
        """How many are chosen."""
        return self.end - self.begin

    def select(self, k: NDArray[np.int64]) -> NDArray[np.int64]:
        """The games that are the k-th chosen ones, each k in 0 to `count - 1`; a new array."""
        return k + self.begin

    def mask(self, begin: int, end: int) -> NDArray[np.bool_]:
        """Of each game from `begin` to `end - 1` whether it is chosen."""
        chosen = np.zeros(end - begin, np.bool_)
        chosen[max(self.begin - begin, 0) : max(self.end - begin, 0)] = True
        return chosen

    def describe(self) -> list[Any]:
        """What tells this choice from any other, as JSON."""
        return ["range", self.begin, self.end]


class GameBitmap:
    """Scattered games: bit i is game `first + i`, the lowest bit of a byte first, and an index of 3 bits to 8 games.

    `first` is a multiple of 512, `bits` whole blocks of 512; neither the first nor the last block is empty.
    The k-th set bit is found by rank and select: the block and the word by the counts in the index, the byte by
    arithmetic on all bytes of the word at once (Vigna, "Broadword implementation of rank/select queries", 2008), the
    bit by a table.
    """

    def __init__(self, first: int, bits: NDArray[np.uint8]) -> None:
        self.first = first
        self.bits = bits
        self._words = bits.view("<u8")
        self._ends = _count_ends(self._words)
        self._before = np.zeros(len(self._ends) + 1, np.int64)
        np.cumsum(self._ends[:, -1], out=self._before[1:])
        self.count = int(self._before[-1])
        self.begin, last = self.select(np.array([0, self.count - 1])).tolist()
        self.end = last + 1

    def select(self, k: NDArray[np.int64]) -> NDArray[np.int64]:
        """The games that are the k-th chosen ones, each k in 0 to `count - 1`; a new array."""
        games = np.empty(k.size, np.int64)
        for begin in range(0, k.size, _PIECE):
            games[begin : begin + _PIECE] = self._select(k[begin : begin + _PIECE])
        return games

    def _select(self, k: NDArray[np.int64]) -> NDArray[np.int64]:
        block = np.searchsorted(self._before, k, side="right") - 1
        left = k - self._before[block]
        ends = self._ends.take(block, axis=0)
        word = (ends > left.astype(np.uint16)[:, np.newaxis]).argmax(axis=1)
        left -= ends[np.arange(k.size), word]  # which counts the word itself, so that its own count is put back
        word += block * 8
        bits = self._words[word]
        counts = _count_up(bits)
        left += (counts >> np.uint64(56)).view(np.int64)
        # A byte's high bit stays where no more than `left` bits are set up to its end.
        passed = (((left.view(np.uint64) * _ONES) | _HIGHS) - counts) & _HIGHS
        shift = ((passed >> np.uint64(7)) * _ONES >> np.uint64(56)) * np.uint64(8)
        left -= ((counts << np.uint64(8)) >> shift & np.uint64(255)).view(np.int64)
        octet = (bits >> shift & np.uint64(255)).view(np.int64)
        games: NDArray[np.int64] = word * 64 + shift.view(np.int64)
        games += _PLACES[octet, left]
        games += self.first
        return games

    def mask(self, begin: int, end: int) -> NDArray[np.bool_]:
        """Of each game from `begin` to `end - 1` whether it is chosen."""
        chosen = np.zeros(end - begin, np.bool_)
        low, high = max(begin, self.first), min(end, self.first + self.bits.size * 8)
        if low < high:
            byte = (low - self.first) // 8
            bits = np.unpackbits(self.bits[byte : -(-(high - self.first) // 8)], bitorder="little")
            skip = low - self.first - byte * 8
            chosen[low - begin : high - begin] = bits[skip : skip + high - low]
        return chosen

    def describe(self) -> list[Any]:
        """What tells this choice from any other, as JSON: it reads all bits."""
        return ["bitmap", self.first, self.bits.size, hashlib.sha256(self.bits.data).hexdigest()]

    def __reduce__(self) -> tuple[Any, ...]:
        return GameBitmap, (self.first, self.bits)


class ChoiceBuilder:
    """Takes for each game from `begin` to `end - 1`, piece by piece, whether it is chosen, and makes the choice."""

    def __init__(self, begin: int, end: int) -> None:
        self._first = begin // BLOCK * BLOCK
        self._at = begin
        self._end = end
        self._bits = np.zeros(-(-(end - self._first) // BLOCK) * _BYTES, np.uint8)

    def append(self, chosen: NDArray[np.bool_]) -> None:
        """The answers for the games that follow; every piece but the last ends at a multiple of 8 of the stream."""
        skip = (self._at - self._first) % 8
        byte = (self._at - self._first) // 8
        packed = np.packbits(np.concatenate([np.zeros(skip, np.bool_), chosen]), bitorder="little")
        self._bits[byte : byte + packed.size] = packed
        self._at += chosen.size

    def finish(self) -> Choice:
        """The choice, once every game was answered for: a range where the chosen games are consecutive."""
        filled = np.flatnonzero(self._bits.view("<u8").reshape(-1, 8).any(axis=1))
        if not filled.size:
            return GameRange(0, 0)
        low, high = int(filled[0]), int(filled[-1]) + 1
        chosen = GameBitmap(self._first + low * BLOCK, self._bits[low * _BYTES : high * _BYTES].copy())
        if chosen.count == chosen.end - chosen.begin:
            return GameRange(chosen.begin, chosen.end)
        return chosen


def _count_ends(words: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """How many bits are set in each block up to the end of each of its words; shape (blocks, 8)."""
    ends = np.empty((words.size // 8, 8), np.uint16)
    for begin in range(0, len(ends), _PIECE):
        counts = _count_up(words[begin * 8 : (begin + _PIECE) * 8]) >> np.uint64(56)
        np.cumsum(counts.reshape(-1, 8), axis=1, out=ends[begin : begin + _PIECE], dtype=np.uint16)
    return ends


def _count_up(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """In byte i of each word, the lowest first, how many bits are set in its bytes 0 to i; in the last one, in all."""
    counts = words >> np.uint64(1)
    counts &= np.uint64(0x5555555555555555)
    np.subtract(words, counts, out=counts)
    fours = counts >> np.uint64(2)
    fours &= np.uint64(0x3333333333333333)
    counts &= np.uint64(0x3333333333333333)
    counts += fours
    counts += counts >> np.uint64(4)
    counts &= np.uint64(0x0F0F0F0F0F0F0F0F)
    counts *= _ONES
    return counts
