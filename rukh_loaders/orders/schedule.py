"""Which part of a mixture serves each position, so that every prefix holds each part's share to within one sample.

With weights w that are fractions of a common denominator D, a schedule is a period of D positions. The i-th sample of
a part of weight w (i from 1) is served in the window of positions `floor((i - 1) / w) .. ceil(i / w) - 1`. Then after
any n positions the part has served `floor(w * n)` or `ceil(w * n)` samples. Windows of all parts can be kept at once
(S. Baruah, N. Cohen, C. Plaxton, D. Varvel, "Proportionate Progress", 1996), and serving the part whose window ends
first among those whose window has begun keeps them, since that order, earliest deadline first, meets whole deadlines
of unit jobs on one machine whenever any order does.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import WeightError

MAX_PERIOD = 2**20
"""The longest period: weights of a larger common denominator are rounded to multiples of 1 / 2**20."""

_SPAN = 2**14  # positions scheduled at a time, so that a long period needs no long Python lists


@dataclass(frozen=True)
class Schedule:
    """The parts, numbered from 0, that serve the positions 0, 1, 2, ... without end; one period has `sum(quotas)`.

    `quotas` are how many samples of each part a period has, each 1 or more. The period is worked out when it is first
    asked for, which takes about 1 s for the longest, and 8 MB to keep it.
    """

    quotas: tuple[int, ...]

    @staticmethod
    def of(weights: Iterable[float | Fraction]) -> Schedule:
        """The schedule of weights, which are positive and need not sum to 1.

        A weight is taken as the decimal number that it is written as: 0.1 is a tenth, though no float is.

        Raises:
            WeightError: no weight, one that is not a positive finite number, or one that is too small beside the
                others to be served once in `MAX_PERIOD` samples.
        """
        shares = _shares([_fraction(weight) for weight in weights])
        period = math.lcm(*(share.denominator for share in shares))
        quotas = _rounded(shares, min(period, MAX_PERIOD))
        return Schedule(tuple(quota // math.gcd(*quotas) for quota in quotas))

    @property
    def period(self) -> int:
        """After so many positions the parts come in the same order again."""
        return sum(self.quotas)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The fraction of positions that each part serves; together exactly 1."""
        return tuple(Fraction(quota, self.period) for quota in self.quotas)

    def draws(self, positions: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The part that serves each position, and how many samples that part has served before it."""
        parts, ranks = self._period
        periods, within = np.divmod(positions, self.period)
        served_by = parts[within].astype(np.int64)
        return served_by, periods * np.array(self.quotas)[served_by] + ranks[within]

    def position_of(self, part: int, draw: int) -> int:
        """The position at which a part serves its sample number `draw`, from 0."""
        quota = self.quotas[part]
        periods, rank = divmod(draw, quota)
        begin, end = rank * self.period // quota, -(-(rank + 1) * self.period // quota)
        parts, ranks = (values[begin:end] for values in self._period)
        return periods * self.period + begin + int(np.argmax((parts == part) & (ranks == rank)))

    def __getstate__(self) -> dict[str, tuple[int, ...]]:
        return {"quotas": self.quotas}

    def __setstate__(self, state: dict[str, tuple[int, ...]]) -> None:
        self.__dict__.update(state)

    @cached_property
    def _period(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The part at each position of a period, and how many samples it served before in the period."""
        parts = np.fromiter(_earliest_deadline_first(self.quotas), np.uint32, self.period)
        ranks = np.empty_like(parts)
        in_turn = np.argsort(parts, kind="stable")
        ends = np.cumsum(self.quotas)
        ranks[in_turn] = np.arange(self.period) - np.repeat(ends - np.array(self.quotas), self.quotas)
        return parts, ranks


def _fraction(weight: float | Fraction) -> Fraction:
    try:
        fraction = Fraction(str(weight))
    except (ValueError, ZeroDivisionError):  # nan, inf and what is no number
        fraction = Fraction(0)
    if fraction <= 0:
        raise WeightError(f"a weight is {weight!r}; it must be a positive finite number")
    return fraction


def _shares(weights: Sequence[Fraction]) -> list[Fraction]:
    if not weights:
        raise WeightError("a mixture has no parts; it needs one or more")
    total = sum(weights)
    return [weight / total for weight in weights]


def _rounded(shares: Sequence[Fraction], period: int) -> list[int]:
    """Quotas that sum to `period`: shares of it rounded down, and the largest remainders up."""
    quotas = [int(share * period) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda part: quotas[part] - shares[part] * period)
    for part in by_remainder[: period - sum(quotas)]:
        quotas[part] += 1
    for part, quota in enumerate(quotas):
        if quota == 0:
            raise WeightError(
                f"part {part} has {float(shares[part]):.3g} of all weights; it must suffice for one sample in {period}"
            )
    return quotas


def _earliest_deadline_first(quotas: Sequence[int]) -> Iterator[int]:
    """The part at each position of a period."""
    waiting: list[int] = []
    for begun in _windows(quotas):
        for window in begun:
            heapq.heappush(waiting, window)
        yield heapq.heappop(waiting) % len(quotas)


def _windows(quotas: Sequence[int]) -> Iterator[list[int]]:
    """For each position of a period the windows that begin there, each as `end * len(quotas) + part`."""
    period, quota = sum(quotas), np.array(quotas, dtype=np.int64)
    for begin in range(0, period, _SPAN):
        end = min(begin + _SPAN, period)
        first, stop = -(-begin * quota // period), -(-end * quota // period)  # the samples whose windows begin here
        parts = np.repeat(np.arange(len(quotas)), stop - first)
        samples = np.arange(len(parts)) + np.repeat(stop - np.cumsum(stop - first), stop - first)
        begins, ends = samples * period // quota[parts], -(-(samples + 1) * period // quota[parts])
        windows = (ends * len(quotas) + parts)[np.argsort(begins, kind="stable")].tolist()
        bounds = np.searchsorted(np.sort(begins), np.arange(begin, end + 1)).tolist()
        for low, high in itertools.pairwise(bounds):
            yield windows[low:high]
