"""Sample months: games made here from a seed, in the shape in which Lichess publishes a month.

>>> from rukh_assets.ingest.sample import sample_batches
>>> batch, *others = sample_batches("2021-10", games=2, seed=0, batch_size=2)
>>> batch["site"].to_pylist()
['https://lichess.org/0Yn3QIyl', 'https://lichess.org/tM31L3LJ']
>>> batch["movetext"][0].as_py()[:67]
'1. e4 { [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. Nf3 { [%clk '

Every game is legal from the normal start and a pure function of (seed, month, index), the same on every machine and
Python: all randomness is SHAKE-256 of those three (`dice`), all arithmetic is in whole numbers. The players follow a
line of a small opening `book`, then make the move that looks best from what each side attacks (`survey`, `scoring`),
misjudged by as much as their rating lets them (`choice`); they resign, overstep, agree to draws and mate (`play`).
About one raw game in four is there to be rejected: rated too low, too fast, abandoned, unfinished (`raw_game`).
"""

from collections.abc import Iterator

import pyarrow as pa

from rukh_assets.errors import SampleError
from rukh_assets.ingest.raw import raw_batch
from rukh_assets.ingest.sample.raw_game import RawGame, raw_games
from rukh_assets.ingest.schema import split_month

MAX_GAMES = 2**28
"""Most kept games of one sample month: addresses are kept apart up to there."""

MAX_SEED = 2**63 - 1

__all__ = ["MAX_GAMES", "MAX_SEED", "sample_batches"]


def sample_batches(month: str, games: int, seed: int, batch_size: int = 1000) -> Iterator[pa.RecordBatch]:
    """Yields raw games of `month` (`YYYY-MM`) as batches of `RAW_SCHEMA`, each of `batch_size` rows but the last.

    `games` of them pass the default filters; the others, about a third as many and interleaved, fail them. The raw
    games of a smaller `games` are the first of a larger one's, dates included: UTCDate rises through the month, half
    of it within 500 kept games.

    Raises MonthError, and SampleError for `games` outside 1..MAX_GAMES, `seed` outside 0..MAX_SEED and `batch_size`
    under 1, before the first batch is asked for.
    """
    split_month(month)
    for name, value, least, most in (
        ("games", games, 1, MAX_GAMES),
        ("seed", seed, 0, MAX_SEED),
        ("batch_size", batch_size, 1, MAX_GAMES),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise SampleError(f"sample of {month}: {name} must be an integer from {least} to {most}, got {value!r}")
    return _batches(month, games, seed, batch_size)


def _batches(month: str, games: int, seed: int, batch_size: int) -> Iterator[pa.RecordBatch]:
    rows: list[RawGame] = []
    number = 0
    for index in range(games):
        for row in raw_games(month, seed, index):
            rows.append(row | {"file": f"sample-{month}", "number": number})
            number += 1
            if len(rows) == batch_size:
                yield raw_batch(rows)
                rows = []
    if rows:
        yield raw_batch(rows)
