"""Random integers that are the same on every machine: bytes of SHAKE-256 over a text key."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

BLOCK = 4096


class Dice:
    """A stream of bytes that is a pure function of `key`; integers and choices are read from it in order.

    SHAKE-256 is a standard (FIPS 202), so the stream holds for every platform and Python version, as `random` does
    not promise for its integer methods. Block k of 4,096 bytes is SHAKE-256 of the UTF-8 text `<key>#<k>`.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self._block = 0
        self._bytes = b""
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        while self._at + count > len(self._bytes):
            block = hashlib.shake_256(f"{self._key}#{self._block}".encode()).digest(BLOCK)
            self._bytes = self._bytes[self._at :] + block
            self._at = 0
            self._block += 1
        begin = self._at
        self._at = begin + count
        return self._bytes[begin : self._at]

    def below(self, bound: int) -> int:
        """An integer of 0..bound-1 from the next four bytes; a `bound` up to 2**24 keeps the bias under 1/256."""
        return int.from_bytes(self.take(4), "big") % bound

    def chance(self, count: int, of: int) -> bool:
        """True `count` times in `of`."""
        return self.below(of) < count

    def spread(self, reach: int) -> int:
        """An integer of -reach..reach, most often near 0 (the sum of two even draws)."""
        return self.below(reach + 1) - self.below(reach + 1)

    def weighted(self, choices: Sequence[tuple[T, int]]) -> T:
        """One of `choices`, each a value and its weight (whole numbers)."""
        left = self.below(sum(weight for _, weight in choices))
        for value, weight in choices:
            left -= weight
            if left < 0:
                return value
        raise AssertionError("the weights of a choice are positive")
