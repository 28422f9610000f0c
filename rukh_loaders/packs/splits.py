"""Games dealt into parts by a keyed hash of their id, so that a game is in the same part whatever is opened with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import SplitError
from rukh_loaders.orders.permutation import mixed
from rukh_loaders.packs.choosing import chunks
from rukh_loaders.packs.chosen import Choice, ChoiceBuilder
from rukh_loaders.packs.stream import Stream

REST = "train"
"""The part that has what the shares leave."""

Share = float | Fraction


def split_choice(stream: Stream, choice: Choice, salt: str, shares: Mapping[str, Share]) -> dict[str, Choice]:
    """The chosen games in parts, `train` first; the column `game_id` is read once.

    A game goes to the part in whose interval its `split_hash` lies: the intervals follow one another from 0 on in the
    order of `shares`, each as long as its share of 2**64, and `train` is the last.
    """
    intervals = _intervals(shares)
    stream.check_column("game_id")
    builders = {name: ChoiceBuilder(choice.begin, choice.end) for name in intervals}
    for chunk in chunks(stream, choice):
        hashes = split_hash(chunk.columns["game_id"], salt)
        for name, (low, high) in intervals.items():
            builders[name].append(chunk.spread(_between(hashes, low, high)))
    return {name: builders[name].finish() for name in sorted(intervals, key=lambda name: name != REST)}


def split_hash(game_ids: NDArray[np.int64], salt: str) -> NDArray[np.uint64]:
    """A hash of each game id that the salt keys: uint64, uniform, and other ids have other hashes.

    The id as uint64 is xored with the first 8 bytes (little-endian) of the 16 that BLAKE2b gives for the salt in
    UTF-8, mixed, xored with the other 8, and mixed again; for the mix, a bijection, see `mixed`.
    """
    keys = np.frombuffer(hashlib.blake2b(salt.encode(), digest_size=16).digest(), "<u8")
    hashes = game_ids.astype(np.int64).view(np.uint64)
    for key in keys:
        hashes = mixed(hashes ^ key)
    return hashes


def _intervals(shares: Mapping[str, Share]) -> dict[str, tuple[int, int]]:
    """Of each part the hashes from the first number to before the second."""
    exact = {name: _exact(name, share) for name, share in shares.items()}
    total = sum(exact.values(), Fraction(0))
    if total > 1:
        said = ", ".join(f"{name}={share}" for name, share in shares.items())
        raise SplitError(f"shares {said}: add up to {float(total)}; allowed is at most 1")
    rest = exact.pop(REST, 1 - total)
    intervals, begin = {}, Fraction(0)
    for name, share in [*exact.items(), (REST, rest)]:
        intervals[name] = (int(begin * 2**64), int((begin + share) * 2**64))
        begin += share
    return intervals


def _exact(name: str, share: Any) -> Fraction:
    """The share as it is written: 0.1 is a tenth."""
    try:
        exact = Fraction(str(share))
    except (ValueError, ZeroDivisionError) as error:
        raise SplitError(f"share {name}={share!r}: allowed are numbers from 0 to 1") from error
    if not 0 <= exact <= 1:
        raise SplitError(f"share {name}={share!r}: allowed are numbers from 0 to 1")
    return exact


def _between(hashes: NDArray[np.uint64], low: int, high: int) -> NDArray[np.bool_]:
    if low == high:
        return np.zeros(hashes.size, np.bool_)
    inside: NDArray[np.bool_] = (hashes >= np.uint64(low)) & (hashes <= np.uint64(high - 1))
    return inside
