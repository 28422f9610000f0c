"""Games that are there more than once: in two packs, where training and judging would share them, or in one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.formats.pack import Pack

IDS_AT_ONCE = 1 << 26
"""About as many ids are sorted at a time; with the copy that is made of them that takes 1 GB."""

EXAMPLES = 3

_CHUNK = 1 << 20
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio, made odd: Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4) parts any ids evenly."""


@dataclass(frozen=True)
class RepeatedGames:
    """How many different ids are there more than once, and where some of these games are.

    `examples` maps an id to the places that have it: a number of a pack and of a game in it.
    """

    count: int
    examples: dict[int, list[tuple[int, int]]]


def repeated_games(
    packs: Sequence[Pack], at_once: int = IDS_AT_ONCE, on_bytes: Callable[[int], object] = lambda size: None
) -> RepeatedGames:
    """Look for equal values in the column `game_id` of all `packs`, each of which has it.

    The ids are parted by a hash, and one part after the other is read and sorted, so that `at_once` bounds the memory
    and more ids than that are read several times. `on_bytes` is called with the size of what was read: in all
    `reading_bytes(packs, at_once)`.
    """
    bits = _bits(packs, at_once)
    count = 0
    found: list[int] = []
    for part in range(1 << bits):
        ids = _ids_of_part(packs, part, bits, on_bytes)
        ids.sort()
        repeated = np.unique(ids[1:][ids[1:] == ids[:-1]])
        count += repeated.size
        found += repeated[: EXAMPLES - len(found)].tolist()
    return RepeatedGames(count, {game_id: _places(packs, game_id) for game_id in found})


def reading_bytes(packs: Sequence[Pack], at_once: int = IDS_AT_ONCE) -> int:
    """How many bytes `repeated_games` reads to find out how many games are repeated."""
    return _total(packs) * 8 << _bits(packs, at_once)


def _total(packs: Sequence[Pack]) -> int:
    return sum(len(pack) for pack in packs)


def _bits(packs: Sequence[Pack], at_once: int) -> int:
    """The ids come in `2 ** bits` parts, 1 where they are few."""
    return max(0, -(-_total(packs) // at_once) - 1).bit_length()


def _ids_of_part(packs: Sequence[Pack], part: int, bits: int, on_bytes: Callable[[int], object]) -> NDArray[np.int64]:
    """All ids of which the first `bits` bits of the hash are `part`."""
    pieces = [np.empty(0, np.int64)]
    for ids in _chunks(packs):
        pieces.append(ids[_hash(ids) >> np.uint64(64 - bits) == part] if bits else ids)
        on_bytes(ids.nbytes)
    return np.concatenate(pieces)


def _chunks(packs: Sequence[Pack]) -> Iterator[NDArray[np.int64]]:
    for pack in packs:
        for begin in range(0, len(pack), _CHUNK):
            yield pack.columns["game_id"][begin : begin + _CHUNK]


def _hash(ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    return ids.view(np.uint64) * _MULTIPLIER


def _places(packs: Sequence[Pack], game_id: int) -> list[tuple[int, int]]:
    return [
        (number, int(game))
        for number, pack in enumerate(packs)
        for game in np.flatnonzero(pack.columns["game_id"] == game_id)
    ]
