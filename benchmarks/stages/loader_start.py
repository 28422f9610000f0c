"""What the loader costs besides batches: the first one, memory, its state, and the order of a large epoch."""

import json
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from benchmarks.residency import drop
from rukh_loaders.orders.order import FeistelOrder

_STAGE = "loader_start"
_BATCH = 256
_ARRAYS = ("tokens.npy", "starts.npy")
_COLD = 0.01
"""Share of a pack that may lie in memory for it to count as cold."""
_SAMPLES = 1_000_000_000
_CHUNK, _CHUNKS = 1 << 16, 20

Measured = Mapping[str, float | None]


def loader_start(plan: Plan) -> list[Result]:
    """Batches of 256, each round in a new process, of a pack that was dropped from memory; then an order of 1e9."""
    pack = plan.corpora.pack(plan.games)
    return [*loader_figures(plan, [_cold_process(pack) for _ in range(plan.rounds)]), *order_figures(plan)]


def loader_figures(plan: Plan, rounds: list[Measured]) -> list[Result]:
    """What `benchmarks.loading` measured, by the medians, beside the floors."""

    def median(key: str) -> float:
        return statistics.median(one[key] or 0.0 for one in rounds)

    def figure(name: str, value: float, unit: str, most: float, *, can_tell: bool, note: str | None = None) -> Result:
        return plan.figure(_STAGE, name, value, unit, Floor(most=most), can_tell=can_tell, note=note)

    is_cold = all(one["resident"] is not None and one["resident"] < _COLD for one in rounds)
    dropped = None if is_cold else "the system did not drop the pack from memory, or does not tell"
    cold_ms, warm_ms = 1e3 * median("first_s"), 1e3 * median("first_warm_s")
    most_mb, tells = median("most_mb"), median("most_mb") > 0
    above = "above torch alone, in an epoch" if tells else "this system does not tell"
    return [
        figure("first batch, warm", warm_ms, "ms", 20, can_tell=plan.judged),
        figure(
            "first batch, cold",
            cold_ms,
            "ms",
            100,
            can_tell=is_cold and plan.judged,
            note=dropped,
        ),
        figure("anonymous memory", most_mb, "MB", 10, can_tell=tells and plan.judged, note=above),
        Result(_STAGE, "its growth", value=median("growth_mb"), unit="MB", note="from the first batch to the last"),
        figure("state", median("state_bytes"), "bytes", 1_000, can_tell=True, note="as JSON"),
        figure("dataset, pickled", median("pickle_bytes"), "bytes", 4_000, can_tell=True),
    ]


def order_figures(plan: Plan) -> list[Result]:
    """The order of an epoch of 1e9 samples: from nothing to its first batch, and an index of many."""
    setups = [_setup_ms() for _ in range(plan.rounds)]
    tracemalloc.start()
    _setup_ms()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return [
        plan.figure(_STAGE, "order of 1e9, set-up", statistics.median(setups), "ms", Floor(most=10), can_tell=True),
        plan.figure(_STAGE, "order of 1e9, memory", peak / 1e6, "MB", Floor(most=1), can_tell=True),
        Result(_STAGE, "order of 1e9, an index", value=_index_ns(), unit="ns", note="of CPU time, in chunks of 64k"),
    ]


def _setup_ms() -> float:
    began = time.perf_counter()
    FeistelOrder(_SAMPLES, seed=0, epoch=0).take(0, _BATCH)
    return 1e3 * (time.perf_counter() - began)


def _index_ns() -> float:
    order = FeistelOrder(_SAMPLES, seed=0, epoch=0)
    began = time.process_time()
    for number in range(_CHUNKS):
        order.take(number * _CHUNK, (number + 1) * _CHUNK)
    return 1e9 * (time.process_time() - began) / (_CHUNKS * _CHUNK)


def _cold_process(pack: Path) -> Measured:
    for name in _ARRAYS:
        drop(pack / name)
    command = [sys.executable, "-m", "benchmarks.loading", str(pack), str(_BATCH)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float | None] = json.loads(done.stdout)
    return measured
