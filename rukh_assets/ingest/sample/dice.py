"""Random whole numbers that are the same on every machine: one stream a game, drawn from by numpy and by kernels.

A stream is splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014), its first state the
first 8 bytes, little-endian, of SHA-256 of a text key. Numbers wrap around, so they are unsigned: numba leaves it to
chance what becomes of signed ones that overflow.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.kernel import Numbers, rule

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
State = TypeVar("State", np.uint64, NDArray[np.uint64])

STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


def _upper_half(state: State) -> State:
    """The upper 32 bits of the number that splitmix64 gives for a state."""
    state = (state ^ (state >> _30)) * _FIRST_FACTOR
    state = (state ^ (state >> _27)) * _SECOND_FACTOR
    return (state ^ (state >> _31)) >> _32


_upper_half_in_kernel = rule(_upper_half)


@rule
def below(dice: Numbers, bound: int) -> int:
    """The next number of the stream whose state is `dice[0]`, brought to 0..bound-1; `bound` is at most 2**31."""
    state = np.uint64(dice[0]) + STEP
    dice[0] = int(np.int64(state))
    return int(np.int64(_upper_half_in_kernel(state))) * bound >> 32


@rule
def chance(dice: Numbers, count: int, of: int) -> bool:
    """True `count` times in `of`."""
    return below(dice, of) < count


class Dice:
    """Streams of many games: each draw takes the next number of every stream, so none depends on the others."""

    def __init__(self, states: NDArray[np.uint64]) -> None:
        self.states = states
        """[streams]: the state of each, from which a kernel may go on."""

    @classmethod
    def of(cls, keys: Iterable[str]) -> "Dice":
        """The stream of each key."""
        digests = b"".join(hashlib.sha256(key.encode()).digest()[:8] for key in keys)
        return cls(np.frombuffer(digests, "<u8").astype(np.uint64))

    def only(self, which: Mask) -> "Dice":
        """Some of the streams, as they go on from here."""
        return Dice(self.states[which])

    def __len__(self) -> int:
        return len(self.states)

    def below(self, bound: int) -> Integers:
        """[streams]: integers of 0..bound-1, each as likely as the others to within `bound` in 2**32."""
        self.states = self.states + STEP
        return _upper_half(self.states).astype(np.int64) * bound >> 32

    def chance(self, count: int, of: int) -> Mask:
        """[streams]: true `count` times in `of`."""
        return self.below(of) < count

    def spread(self, reach: int) -> Integers:
        """[streams]: integers of -reach..reach, most often near 0 (the difference of two even draws)."""
        return self.below(reach + 1) - self.below(reach + 1)

    def weighted(self, weights: Sequence[int]) -> Integers:
        """[streams]: indices of `weights`, each as often as its weight says."""
        ends = np.cumsum(weights)
        return np.searchsorted(ends, self.below(int(ends[-1])), side="right")
