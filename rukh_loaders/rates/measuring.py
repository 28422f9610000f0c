"""The ways to serve windows of a pack, timed side by side: each in turn for a moment, round after round."""

import statistics
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from typing import NamedTuple

from rukh_loaders.datasets import PackedDataset
from rukh_loaders.formats.pack import Pack
from rukh_loaders.loader import make_loader
from rukh_loaders.rates.baselines import CarefulWindows, NaiveWindows, batches_by_item, gather_alone

Batches = Generator[object, None, None]

ROUNDS = 9

NAIVE, CAREFUL = "naive, item by item", "careful, item by item"
LOADER, NO_THREAD = "make_loader", "make_loader, prefetch=0"
LIMIT = "gather alone: the limit"


class Rate(NamedTuple):
    """Medians over the rounds: `x` tokens a second of elapsed time, and CPU seconds a second of it."""

    tokens_per_s: float
    running: float


def measure(pack: Pack, block: int, batch_size: int, seconds: float) -> dict[str, Rate]:
    """The rate of each way to serve batches of `batch_size` windows of `block` tokens, in about `seconds` in all.

    The ways take turns, so that a slow spell of the machine meets them all. When its turn begins, the thread of
    `make_loader` is two batches ahead.

    Raises:
        BenchmarkError: the pack is too small for a batch of whole windows.
    """
    ways = _ways(pack, block, batch_size)
    turn = seconds / (ROUNDS * len(ways))
    rounds: dict[str, list[Rate]] = {name: [] for name in ways}
    with ExitStack() as stack:
        running = {name: stack.enter_context(closing(way())) for name, way in ways.items()}
        for batches in running.values():
            next(batches)
        for _ in range(ROUNDS):
            for name, batches in running.items():
                rounds[name].append(_rate(batches, batch_size * block, turn))
    return {name: Rate(*map(statistics.median, zip(*rates, strict=True))) for name, rates in rounds.items()}


def _ways(pack: Pack, block: int, batch_size: int) -> dict[str, Callable[[], Batches]]:
    return {
        LIMIT: lambda: gather_alone(pack, block, batch_size),
        NAIVE: lambda: batches_by_item(NaiveWindows(pack, block), batch_size),
        CAREFUL: lambda: batches_by_item(CarefulWindows(pack, block), batch_size),
        NO_THREAD: lambda: _loader_batches(pack, block, batch_size, prefetch=0),
        LOADER: lambda: _loader_batches(pack, block, batch_size, prefetch=2),
    }


def _loader_batches(pack: Pack, block: int, batch_size: int, prefetch: int) -> Batches:
    """Epoch after epoch."""
    with make_loader(PackedDataset(pack, block), batch_size, prefetch=prefetch) as loader:
        while True:
            yield from loader


def _rate(batches: Batches, tokens: int, seconds: float) -> Rate:
    """Of batches of so many tokens, for about so long and at least one."""
    count, cpu, began = 0, time.process_time(), time.perf_counter()
    while (elapsed := time.perf_counter() - began) < seconds or count == 0:
        next(batches)
        count += 1
    return Rate(count * tokens / elapsed, (time.process_time() - cpu) / elapsed)
