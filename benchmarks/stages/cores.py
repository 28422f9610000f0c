"""What a second core gains: the same batches on one thread and on two."""

import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpora import MONTH, NOTHING_FILTERED, open_month
from benchmarks.machine import cores_free
from benchmarks.measure import Variant, Work, interleave
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from rukh_assets.encode import make_encoder
from rukh_assets.ingest.judge import Judged, judge

_FREE = 1.8
"""Cores that two threads must get for a second one to count as free."""
_GAMES_IN_MEMORY = 50_000
_BATCHES = 16

Step = Callable[[pa.RecordBatch], Any]


def cores(plan: Plan) -> list[Result]:
    """The elapsed time of one worker over that of two; judged only where the machine had a second core to give."""
    games = pq.read_table(plan.corpora.games(plan.at_most(200_000)), partitioning=None)
    raw = pa.Table.from_batches(open_month(plan.corpora.hf(plan.at_most(_GAMES_IN_MEMORY))).batches())
    return [
        _gain(plan, "uci", make_encoder("uci").encode_batch, games),
        _gain(plan, "san", make_encoder("san").encode_batch, games),
        _gain(plan, "movetext", _judge, raw),
    ]


def _judge(batch: pa.RecordBatch) -> Judged:
    return judge(batch, MONTH, NOTHING_FILTERED)


def _gain(plan: Plan, name: str, step: Step, games: pa.Table) -> Result:
    batches = games.combine_chunks().to_batches(max_chunksize=-(-games.num_rows // _BATCHES))
    free: list[float] = []

    def look() -> Work:
        free.append(cores_free())
        return Work(0)

    timings = interleave(
        [
            Variant("one", lambda: _on_threads(1, step, batches)),
            Variant("two", lambda: _on_threads(2, step, batches)),
            Variant("how many cores are free meanwhile", look),
        ],
        plan.rounds,
    )
    gain, given = timings["one"].elapsed_s / timings["two"].elapsed_s, statistics.median(free)
    is_free = given >= _FREE
    return plan.figure(
        "cores",
        f"{name}, 2 workers over 1",
        gain,
        "x",
        Floor(least=1.6),
        can_tell=is_free and plan.judged,
        games=games.num_rows,
        note=f"{'' if is_free else 'no second core was free: '}two threads of sha256 got {given:.2f} cores",
    )


def _on_threads(workers: int, step: Step, batches: list[pa.RecordBatch]) -> Work:
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(step, batches):
            pass
    return Work(sum(batch.num_rows for batch in batches))
