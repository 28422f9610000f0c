"""The whole chain: what Dagster adds to it, and how time and memory grow with the month."""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.chain import check_plainly, lake_with_tokenizer, run_by_dagster, run_plainly
from benchmarks.measure import Variant, Work, growth_exponent, interleave
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result

_ROUNDS = 3
_WARM_UP_GAMES = 20


def dagster(plan: Plan) -> list[Result]:
    """A month by Dagster's in-process executor, against the same functions called directly."""
    hf, bpe = plan.corpora.hf(plan.games), plan.corpora.bpe()
    checks: list[float] = []

    def plainly() -> Work:
        with lake_with_tokenizer(bpe) as lake:
            run_plainly(lake, hf)
            began = time.process_time()
            check_plainly(lake)
            checks.append(time.process_time() - began)
        return Work(plan.games)

    def by_dagster() -> Work:
        with lake_with_tokenizer(bpe) as lake:
            run_by_dagster(lake, hf)
        return Work(plan.games)

    timings = interleave(
        [Variant("plain functions", plainly), Variant("Dagster", by_dagster)], min(plan.rounds, _ROUNDS)
    )
    plain, orchestrated = timings["plain functions"], timings["Dagster"]
    share = _share(plain.cpu_s, orchestrated.cpu_s)
    elapsed = _share(plain.elapsed_s, orchestrated.elapsed_s)
    with_checks = _share(plain.cpu_s - statistics.median(checks), orchestrated.cpu_s)
    return [
        *plan.compare("dagster", timings, {}),
        plan.figure("dagster", "its share", share, "%", Floor(most=20), note=f"{elapsed:.0f} % of the elapsed time"),
        Result("dagster", "its share and the checks'", value=with_checks, unit="%"),
    ]


def growth(plan: Plan) -> list[Result]:
    """Months of growing size, each in a process of its own."""
    sizes = [plan.games // 20, plan.games // 2, plan.games * (5 if plan.full else 1)]
    imports_mb = _month()["peak_mb"]
    warm_up, bpe = plan.corpora.hf(_WARM_UP_GAMES), plan.corpora.bpe()
    results, seconds = [], []
    for games in sizes:
        month = _month(plan.corpora.hf(games), bpe, warm_up)
        seconds.append(month["cpu_s"])
        results.append(
            Result(
                "growth",
                f"{games:,} games",
                games=games,
                games_per_s=games / month["cpu_s"],
                peak_mb=month["peak_mb"] - imports_mb,
            )
        )
    before, peak = (result.peak_mb or 0.0 for result in results[-2:])
    return [
        *results,
        plan.figure("growth", "exponent of time", growth_exponent(sizes, seconds), "", Floor(most=1.1)),
        plan.figure("growth", "peak memory", peak, "MB", Floor(most=600)),
        plan.figure("growth", "peak over the one before", peak / before, "x", Floor(most=1.2)),
    ]


def _share(plain: float, orchestrated: float) -> float:
    """Percent of the orchestrated time that the plain functions do not need."""
    return 100 * (1 - plain / orchestrated)


def _month(*arguments: Path) -> dict[str, float]:
    """CPU time and peak memory of the chain over one corpus, or of the imports alone."""
    command = [sys.executable, "-m", "benchmarks.chain", *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured
