"""How long a training step waits for its batch."""

import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.machine import cores_free
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from benchmarks.residency import read_whole
from benchmarks.stages.loader import BLOCK
from benchmarks.window_loaders import without_end
from rukh_loaders import PackedDataset, make_loader, open_pack
from rukh_loaders.rates.baselines import NaiveWindows, batches_by_item

_BATCH = 256
_STEP_S = 0.002
_STEPS, _QUICK_STEPS, _UNTIMED = 400, 100, 20
"""Steps of a round; with 400 and five rounds 20 waits lie above the 99th percentile."""


def loader_wait(plan: Plan) -> list[Result]:
    """Batches of 256 to a step of 2 ms that leaves the processor alone, as one on a GPU does."""
    pack = open_pack(plan.corpora.pack(plan.games))
    read_whole(pack.path / "tokens.npy")
    dataset = PackedDataset(pack, BLOCK)
    batch = min(_BATCH, len(dataset))
    loaders: dict[str, Iterator[Any]] = {
        "naive": batches_by_item(NaiveWindows(pack, BLOCK), batch),
        "rukh, no prefetch": without_end(make_loader(dataset, batch, prefetch=0)),
        "rukh": without_end(make_loader(dataset, batch)),
    }
    waits: dict[str, list[float]] = {name: [] for name in loaders}
    steps = _STEPS if plan.judged else _QUICK_STEPS
    for _ in range(plan.rounds):
        for name, batches in loaders.items():
            waits[name] += waits_us(batches, steps)
    note = f"two threads of sha256 got {cores_free():.2f} cores"
    return [
        *[_median(name, waits[name]) for name in loaders if name != "rukh"],
        plan.figure("loader_wait", "rukh, median", statistics.median(waits["rukh"]), "us", Floor(most=50)),
        plan.figure("loader_wait", "rukh, 99 of 100", _percentile_99(waits["rukh"]), "us", Floor(most=200), note=note),
    ]


def waits_us(batches: Iterator[Any], steps: int) -> list[float]:
    """Microseconds from the end of a step to its next batch, those of the first steps left out."""
    waits = []
    for _ in range(_UNTIMED + steps):
        began = time.perf_counter()
        next(batches)
        waits.append(1e6 * (time.perf_counter() - began))
        time.sleep(_STEP_S)
    return waits[_UNTIMED:]


def _median(name: str, waits: list[float]) -> Result:
    note = f"{_percentile_99(waits):,.0f} us at 99 of 100"
    return Result("loader_wait", f"{name}, median", value=statistics.median(waits), unit="us", note=note)


def _percentile_99(waits: list[float]) -> float:
    return statistics.quantiles(waits, n=100, method="inclusive")[98]
