"""Sample months: games made here from a seed, in the shape in which Lichess publishes a month.

>>> from rukh_assets.ingest.sample import sample_batches
>>> batch, *others = sample_batches("2021-10", games=2, seed=0, batch_size=2)
>>> batch["site"].to_pylist()
['https://lichess.org/0Yn3QIyl', 'https://lichess.org/tM31L3LJ']
>>> batch["movetext"][0].as_py()[:67]
'1. d4 { [%clk 0:10:00] } 1... Nf6 { [%clk 0:10:00] } 2. Nf3 { [%clk'

Every game is legal from the normal start and a pure function of (seed, month, index), the same on every machine and
Python: all randomness is a stream seeded by the SHA-256 of those three (`dice`), all arithmetic is in whole numbers.

| module | holds |
|---|---|
| `pairings.py`, `people.py`, `openings.py` | who plays whom, on which clock, from which line of a small book |
| `settings.py` | how well each side plays, and where unwanted games are broken off |
| `play.py` | the kernel: games from the first move to the last, written as movetext |
| `choice.py` | which move a player makes: the best-looking one, misjudged by as much as the rating lets it |
| `candidates.py`, `scoring.py`, `survey.py` | all moves, scored by what each side attacks, without search |
| `exchange.py`, `mates.py`, `repetition.py` | what the reply may win, mates in one, positions that come again |
| `ends.py`, `writing.py` | resigning, overstepping, agreeing to draws; SAN and clocks |
| `rows.py`, `tags.py` | games played and tagged, as Arrow columns |
| `game.py`, `tables.py`, `dice.py` | the parts of a game under way; the worth of pieces and squares; random numbers |

About one raw game in four is there to be rejected: rated too low, too fast, abandoned, unfinished (`Unwanted`).
"""

import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from rukh_assets.errors import SampleError
from rukh_assets.ingest.raw import RAW_SCHEMA
from rukh_assets.ingest.sample.rows import raw_games
from rukh_assets.ingest.schema import split_month
from rukh_assets.workers import Workers

MAX_GAMES = 2**28
"""Most kept games of one sample month: addresses are kept apart up to there."""

MAX_SEED = 2**63 - 1

MAX_WORKERS = 1024

GAMES_AT_ONCE = 256
"""Kept games that one call of the kernel plays, with the rejected ones between them."""

__all__ = ["MAX_GAMES", "MAX_SEED", "sample_batches"]


def sample_batches(
    month: str, games: int, seed: int, batch_size: int = 1000, *, workers: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Yields raw games of `month` (`YYYY-MM`) as batches of `RAW_SCHEMA`, each of `batch_size` rows but the last.

    They are made by as many threads as `workers` says, all cores by default, somewhat ahead of the batch that is asked
    for; the games are the same for any number.

    `games` of them pass the default filters; the others, about a third as many and interleaved, fail them. The raw
    games of a smaller `games` are the first of a larger one's, dates included: UTCDate rises through the month, half
    of it within 500 kept games.

    Raises MonthError, and SampleError for `games` outside 1..MAX_GAMES, `seed` outside 0..MAX_SEED and `batch_size` or
    `workers` under 1, before the first batch is asked for.
    """
    split_month(month)
    if workers is None:
        workers = os.cpu_count() or 1
    for name, value, least, most in (
        ("games", games, 1, MAX_GAMES),
        ("seed", seed, 0, MAX_SEED),
        ("batch_size", batch_size, 1, MAX_GAMES),
        ("workers", workers, 1, MAX_WORKERS),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise SampleError(f"sample of {month}: {name} must be an integer from {least} to {most}, got {value!r}")
    return _batches(month, games, seed, batch_size, workers)


def _batches(month: str, games: int, seed: int, batch_size: int, workers: int) -> Iterator[pa.RecordBatch]:
    waiting = RAW_SCHEMA.empty_table()
    number = 0
    for part in _parts(month, games, seed, workers):
        waiting = pa.concat_tables([waiting, part])
        while waiting.num_rows >= batch_size:
            yield _numbered(waiting.slice(0, batch_size), month, number)
            waiting = waiting.slice(batch_size)
            number += batch_size
    if waiting.num_rows:
        yield _numbered(waiting, month, number)


def _parts(month: str, games: int, seed: int, workers: int) -> Iterator[pa.Table]:
    """Yields all raw games in order, made by `workers` threads."""
    begins = range(0, games, GAMES_AT_ONCE)
    with Workers(workers) as threads:
        yield from threads.map(lambda begin: raw_games(month, seed, begin, min(begin + GAMES_AT_ONCE, games)), begins)


def _numbered(rows: pa.Table, month: str, first: int) -> pa.RecordBatch:
    """Fills the columns that say where a row stands."""
    columns = dict(zip(rows.column_names, rows.columns, strict=True))
    columns["file"] = pa.repeat(f"sample-{month}", len(rows))
    columns["number"] = np.arange(first, first + len(rows))
    return pa.table(columns, schema=RAW_SCHEMA).combine_chunks().to_batches()[0]
