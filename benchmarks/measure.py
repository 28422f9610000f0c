"""Variants of one step, timed side by side: CPU time, interleaved rounds, medians."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.memory import peak_of_step


class Work(NamedTuple):
    """How much a variant did in one call."""

    games: int
    tokens: int | None = None


@dataclass(frozen=True)
class Variant:
    """One way to do a step; each call does the same work again."""

    name: str
    run: Callable[[], Work]


@dataclass(frozen=True)
class Timing:
    """What a variant did in a call, the median times of one, and the most memory that one needed."""

    name: str
    work: Work
    cpu_s: float
    """Of all threads of the process."""
    elapsed_s: float
    peak_mb: float | None

    @property
    def games_per_s(self) -> float:
        return self.work.games / self.cpu_s

    @property
    def tokens_per_s(self) -> float | None:
        return None if self.work.tokens is None else self.work.tokens / self.cpu_s


def interleave(variants: Sequence[Variant], rounds: int) -> dict[str, Timing]:
    """Time each variant once a round, so that a slow spell of the machine meets them all; medians over the rounds.

    Two calls of each are not timed: one that compiles and fills caches, and one whose memory is watched.
    """
    works: dict[str, Work] = {}
    peaks: dict[str, float | None] = {}
    for variant in variants:
        variant.run()
        with peak_of_step() as peak:
            works[variant.name] = variant.run()
        peaks[variant.name] = peak.mb
    times: dict[str, list[tuple[float, float]]] = {variant.name: [] for variant in variants}
    for _ in range(rounds):
        for variant in variants:
            cpu, elapsed = time.process_time(), time.perf_counter()
            variant.run()
            times[variant.name].append((time.process_time() - cpu, time.perf_counter() - elapsed))
    return {name: _timing(name, works[name], times[name], peaks[name]) for name in works}


def growth_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The k of seconds ~ size ** k: the slope of a straight line through the logarithms, by least squares."""
    return statistics.linear_regression([*map(math.log, sizes)], [*map(math.log, seconds)]).slope


def _timing(name: str, work: Work, times: Sequence[tuple[float, float]], peak_mb: float | None) -> Timing:
    cpu, elapsed = (statistics.median(clock) for clock in zip(*times, strict=True))
    return Timing(name, work, cpu, elapsed, peak_mb)
