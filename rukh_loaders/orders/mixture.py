"""Games of several corpora served together, each in its share.

    mixture = Mixture([(open_packs("data/packs/uci"), 0.9), (open_packs("data/packs/masters"), 0.1)])
    PackedDataset(mixture)

After any number of samples each part has served its share to within one sample. A part whose share is larger than its
size begins anew, in another order, when all of it was served, and not before: the draws go on through the epochs, so
that a part of which an epoch needs half is served whole in two.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import EmptyPartError, OrderArgumentError, VocabularyMismatchError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.formats.pack import Pack
from rukh_loaders.orders.order import Indices, check_positions, check_shuffle, derived_seed
from rukh_loaders.orders.permutation import MAX_COUNT, Permutations, hashed, keys_of
from rukh_loaders.orders.schedule import Schedule
from rukh_loaders.packs.packs import Packs, Root, open_packs

_CHUNK = 32768  # positions worked out at a time, so that memory is that of the result


class Mixture:
    """Corpora with weights, which need not sum to 1: what a dataset serves in the order of a `MixtureOrder`.

    Each is what `open_packs` gave, or what it takes, such as a folder, which is opened.

    `samples` is the length of an epoch; without it, an epoch ends when the first part has been served whole. `weights`
    are the shares that are served: those asked for, as exact fractions, or the nearest multiples of 2**-20 where they
    have no common denominator of 2**20 or less.

    Raises:
        EmptyPartError: no part, or one in which no game is chosen. A `ValueError`, as are the others.
        WeightError: a weight that is not a positive finite number, or too small beside the others to be served.
        VocabularyMismatchError: parts of different vocabularies.
        OrderArgumentError: `samples` is below 1 or above 2**62.
        TypeError: a part that is no packs, such as a dataset.
    """

    def __init__(self, parts: Iterable[tuple[Packs | Root, float | Fraction]], samples: int | None = None) -> None:
        pairs = list(parts)
        self.parts = tuple(_opened(part, packs) for part, (packs, _) in enumerate(pairs))
        _check_sizes([packs.n_games for packs in self.parts], "games")
        _check_vocabularies(self.parts)
        self.samples = None if samples is None else operator.index(samples)
        _check_samples(self.samples)
        self.schedule = Schedule.of(weight for _, weight in pairs)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The fraction of samples that each part serves; together exactly 1."""
        return self.schedule.weights

    @property
    def fingerprint(self) -> str:
        """Digest of the parts, of the shares that are served, and of the length of an epoch."""
        return digest([[packs.fingerprint for packs in self.parts], self.schedule.quotas, self.samples])


@dataclass(frozen=True)
class MixtureOrder:
    """An order over the parts' items put one after the other: item i of part p is `sum(lengths[:p]) + i`.

    The epochs are pieces, of `samples` positions each, of one endless order, in which the schedule says whose turn it
    is. Draw k of part p is item `k % n` of `FeistelOrder(n, derived_seed(seed, f"part {p}"), k // n)`, where n is the
    part's length, or without `shuffle` item `k % n` itself: nothing of a part comes again before all of it has come.

    Raises:
        EmptyPartError: no part, or one of length 0.
        OrderArgumentError: a number of samples below 1 or that reaches position 2**62, or a seed or epoch that
            `FeistelOrder` refuses, or not one length for each part of the schedule.
    """

    lengths: tuple[int, ...]
    schedule: Schedule
    seed: int = 0
    epoch: int = 0
    shuffle: bool = True
    samples: int | None = None

    def __post_init__(self) -> None:
        _check_sizes(self.lengths, "items")
        if len(self.lengths) != len(self.schedule.quotas):
            raise OrderArgumentError(
                f"there are {len(self.lengths)} lengths; the schedule is of {len(self.schedule.quotas)} parts"
            )
        _check_samples(self.samples)
        check_shuffle(sum(self.lengths), self.seed, self.epoch)
        if (self.epoch + 1) * len(self) > MAX_COUNT:
            raise OrderArgumentError(
                f"epoch is {self.epoch}, with {len(self)} samples an epoch; their product must be below {MAX_COUNT}"
            )

    def __len__(self) -> int:
        return self._n_samples

    def take(self, begin: int, end: int) -> Indices:
        """The items at the positions `begin..end-1`."""
        check_positions(begin, end, len(self))
        items = np.arange(begin, end, dtype=np.int64) + self.epoch * len(self)
        for chunk in np.split(items, range(_CHUNK, len(items), _CHUNK)):  # views
            chunk[:] = self._items_at(chunk)
        return items

    def _items_at(self, positions: Indices) -> Indices:
        """The items at positions of the endless order."""
        parts, draws = self.schedule.draws(positions)
        lengths = np.array(self.lengths, dtype=np.int64)
        rounds, items = np.divmod(draws, lengths[parts])
        if self.shuffle:
            keys = keys_of(self._part_keys[parts], rounds.astype(np.uint64))
            items = Permutations(lengths[parts].astype(np.uint64), keys).of(items)
        items += (np.cumsum(lengths) - lengths)[parts]
        return items

    @cached_property
    def _n_samples(self) -> int:
        return samples_of_epoch(self.lengths, self.schedule) if self.samples is None else self.samples

    @cached_property
    def _part_keys(self) -> NDArray[np.uint64]:
        return np.array([hashed(str(derived_seed(self.seed, f"part {part}"))) for part in range(len(self.lengths))])


def samples_of_epoch(lengths: Sequence[int], schedule: Schedule) -> int:
    """After how many samples the first of the parts has been served whole."""
    return min(schedule.position_of(part, length - 1) for part, length in enumerate(lengths)) + 1


def _opened(part: int, packs: Packs | Root) -> Packs:
    if isinstance(packs, Packs):
        return packs
    if not isinstance(packs, str | os.PathLike | Pack | Sequence):
        raise TypeError(
            f"part {part} of a mixture is a {type(packs).__name__}; allowed are packs or a folder of them, "
            "and a dataset is made of the mixture: PackedDataset(Mixture([(packs, weight), ...]))"
        )
    return open_packs(packs)


def _check_sizes(sizes: Sequence[int], things: str) -> None:
    if not sizes:
        raise EmptyPartError("a mixture has no parts; it needs one or more")
    for part, size in enumerate(sizes):
        if size == 0:
            raise EmptyPartError(f"part {part} of a mixture has no {things}, so that its share cannot be served")


def _check_samples(samples: int | None) -> None:
    if samples is not None and not 1 <= operator.index(samples) <= MAX_COUNT:
        raise OrderArgumentError(f"samples is {samples}; it must be 1 or more, and 2**62 at most")


def _check_vocabularies(parts: Sequence[Packs]) -> None:
    first = parts[0]
    for part, packs in enumerate(parts):
        if packs.vocab_hash != first.vocab_hash:
            raise VocabularyMismatchError(
                f"part 0 of a mixture has the vocabulary {first.vocab_hash} ({first.scheme}), part {part} "
                f"{packs.vocab_hash} ({packs.scheme}); all must have the same"
            )
