"""Game ids: the first 8 bytes, little-endian, signed, of the sha256 of each game's Site.

The hash is that of FIPS 180-4, over a whole column at once: no Python object a game, and no GIL while it runs.
Oracle: `hashlib.sha256`.
"""

from math import isqrt

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.board.batches import text_of
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule

BLOCK = 64
"""Bytes that are hashed at once, and words of the message schedule."""
STATE = 8
"""Words of the hash while it is made; it is kept before the schedule in the same scratch."""
WORD = 0xFFFFFFFF


def _primes(count: int) -> list[int]:
    return [number for number in range(2, 400) if all(number % divisor for divisor in range(2, number))][:count]


def _cube_root(number: int) -> int:
    """The root, rounded down, bit by bit from the highest."""
    root = 0
    for bit in reversed(range(number.bit_length() // 3 + 1)):
        if (root | 1 << bit) ** 3 <= number:
            root |= 1 << bit
    return root


INITIAL: Numbers = np.array([isqrt(prime << 64) & WORD for prime in _primes(8)], np.int64)
"""The first 32 bits after the point of the square roots of the first 8 primes."""

ROUNDS: Numbers = np.array([_cube_root(prime << 96) & WORD for prime in _primes(64)], np.int64)
"""The first 32 bits after the point of the cube roots of the first 64 primes."""


def game_ids(sites: pa.Array) -> NDArray[np.int64]:
    """Return the id of each of the games at `sites`, none of which is null."""
    text, borders, _ = text_of(sites)
    ids = np.empty(len(sites), np.int64)
    hash_texts(text, borders, ids, np.empty(STATE + BLOCK, np.int64))
    return ids


def game_id(site: str) -> int:
    """Return the id of the game at `site`."""
    return int(game_ids(pa.array([site], pa.string()))[0])


@kernel
def hash_texts(text: Numbers, offsets: Numbers, ids: Numbers, scratch: Numbers) -> None:
    """Write the id of each text, which is `text[offsets[i]:offsets[i + 1]]`; `scratch` is `STATE + BLOCK` words."""
    for row in range(len(ids)):
        for word in range(STATE):
            scratch[word] = INITIAL[word]
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        for begin in range(0, length + 9, BLOCK):
            fill_schedule(memory(scratch), memory(text), start, begin, length)
            hash_block(memory(scratch))
        ids[row] = swapped(scratch[0]) | (swapped(scratch[1]) << 32)


@rule
def fill_schedule(scratch: Numbers, text: Numbers, start: int, begin: int, length: int) -> None:
    """Write the words that the block at `begin` is made to: text, a one, zeros, and at the end the number of bits."""
    for word in range(16):
        value = 0
        for position in range(begin + 4 * word, begin + 4 * word + 4):
            value <<= 8
            if position < length:
                value |= text[start + position]
            elif position == length:
                value |= 0x80
        scratch[STATE + word] = value
    if length + 9 <= begin + BLOCK:
        scratch[STATE + 14] = (8 * length) >> 32
        scratch[STATE + 15] = (8 * length) & WORD
    for word in range(STATE + 16, STATE + BLOCK):
        before, later = scratch[word - 15], scratch[word - 2]
        first = turned(before, 7) ^ turned(before, 18) ^ (before >> 3)
        second = turned(later, 17) ^ turned(later, 19) ^ (later >> 10)
        scratch[word] = (scratch[word - 16] + first + scratch[word - 7] + second) & WORD


@rule
def hash_block(scratch: Numbers) -> None:
    """Take the block of the schedule into the hash; the letters are those of FIPS 180-4."""
    a, b, c, d = scratch[0], scratch[1], scratch[2], scratch[3]
    e, f, g, h = scratch[4], scratch[5], scratch[6], scratch[7]
    for word in range(BLOCK):
        first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g))
        first += ROUNDS[word] + scratch[STATE + word]
        second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e = g, f, e, (d + first) & WORD
        d, c, b, a = c, b, a, (first + second) & WORD
    for word, value in enumerate((a, b, c, d, e, f, g, h)):
        scratch[word] = (scratch[word] + value) & WORD


@rule
def turned(word: int, places: int) -> int:
    """A word of 32 bits, rotated to the right."""
    return ((word >> places) | (word << (32 - places))) & WORD


@rule
def swapped(word: int) -> int:
    """A word of 32 bits, its bytes in the other order."""
    return (word >> 24) | ((word >> 8) & 0xFF00) | ((word & 0xFF00) << 8) | ((word & 0xFF) << 24)
