"""Raw months to games: movetext to moves, and a dump to its games.parquet."""

import functools
import tempfile
from pathlib import Path

import pyarrow as pa

from benchmarks import baselines
from benchmarks.corpora import MONTH, NOTHING_FILTERED, open_month
from benchmarks.measure import Variant, Work, interleave
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from rukh_assets.board import movetext_to_uci
from rukh_assets.ingest.judge import judge
from rukh_assets.ingest.month import read_month
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_assets.ingest.zst import read_zst

_PLAIN_GAMES = 400
_GAMES_IN_MEMORY = 50_000


def movetext(plan: Plan, of: str) -> list[Result]:
    """Raw games in memory, clocks and evaluations in their movetext, to rows of the games schema."""
    rows = baselines.hf_rows(plan.corpora.hf(plan.at_most(_PLAIN_GAMES), of))
    batches = list(open_month(plan.corpora.hf(plan.at_most(_GAMES_IN_MEMORY), of)).batches())
    timings = interleave(
        [
            Variant("plain Python", lambda: _plain_rows(rows)),
            Variant("rukh", lambda: _judge(batches)),
            Variant("board's kernel alone", lambda: _kernel(batches)),
        ],
        plan.rounds,
    )
    return plan.compare(_stage("movetext", of), timings, {"rukh": Floor(least=100)})


def pgn_zst(plan: Plan, of: str) -> list[Result]:
    """A dump to games.parquet; beside it, what unpacking alone takes."""
    slice_ = plan.corpora.pgn_zst(plan.at_most(_PLAIN_GAMES), of)
    dump = plan.corpora.pgn_zst(plan.games, of)
    with tempfile.TemporaryDirectory() as folder:
        timings = interleave(
            [
                Variant("plain Python", functools.partial(_plain_dump, slice_, Path(folder))),
                Variant("rukh", functools.partial(_read_month, dump, Path(folder))),
                Variant("zstd alone", lambda: _unpack(dump, plan.games)),
            ],
            plan.rounds,
        )
    return plan.compare(_stage("pgn_zst", of), timings, {"rukh": Floor(least=60)})


def _stage(name: str, of: str) -> str:
    return name if of == "sample" else f"{name}_{of}"


def _plain_rows(rows: list[baselines.RawRow]) -> Work:
    games = baselines.games_of_rows(rows, MONTH)
    return Work(pa.RecordBatch.from_pylist(games, GAMES_SCHEMA).num_rows)


def _judge(batches: list[pa.RecordBatch]) -> Work:
    return Work(sum(judge(batch, MONTH, NOTHING_FILTERED).games.num_rows for batch in batches))


def _kernel(batches: list[pa.RecordBatch]) -> Work:
    return Work(sum(len(movetext_to_uci(batch["movetext"]).uci) for batch in batches))


def _plain_dump(dump: Path, folder: Path) -> Work:
    games = baselines.games_of_pgn_zst(dump, MONTH)
    baselines.write_games(games, folder / "plain.parquet")
    return Work(len(games))


def _read_month(dump: Path, folder: Path) -> Work:
    manifest = read_month(MONTH, open_month(dump), NOTHING_FILTERED, folder / "month")
    return Work(manifest["counts"]["kept"])


def _unpack(dump: Path, games: int) -> Work:
    for _ in read_zst(dump):
        pass
    return Work(games)
