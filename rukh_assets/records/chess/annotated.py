"""A month's kept games with what is known of their positions, read from the raw source once more.

games.parquet holds no comments, so they are read where they stand. A game is kept if the ingest keeps it: the same
code judges it again, by the same filters, and of two games with one id the first is taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rukh_assets.board import load_kernels
from rukh_assets.board.batches import text_of
from rukh_assets.board.position import SIZE
from rukh_assets.errors import GamesChangedError
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.judge import judge
from rukh_assets.ingest.month import standing_month
from rukh_assets.ingest.seen import SeenIds
from rukh_assets.ingest.sources import SAMPLE, Source
from rukh_assets.records.chess.evaluations import MOST, NONE, evaluations_of
from rukh_assets.records.chess.kernels import write_visits
from rukh_assets.workers import Workers

COMMENTS, MATERIAL = "%eval", "material"


class Visits(NamedTuple):
    """The first plies of n games, `width` of each, and what each did to the evaluation."""

    keys: NDArray[np.int64]
    """[n, width]: the position before the move."""
    moves: NDArray[np.uint16]
    """[n, width]: `origin | target << 6 | promotion << 12`."""
    changes: NDArray[np.int16]
    """[n, width]: evaluation after the move less that before it, in centipawns, as the mover sees it; or `NONE`."""
    elos: NDArray[np.int16]
    """[n, 2]: White's and Black's rating."""


@dataclass(frozen=True)
class AnnotatedGames:
    """The kept games of a month that have evaluations: of a sample all, evaluated by counting the material.

    `games_folder` holds the month's games.parquet, made from this very `source` by these `filters`.
    """

    month: str
    source: Source
    filters: Filters
    games_folder: Path

    @property
    def evaluation(self) -> str:
        """Where evaluations come from: `%eval`, the source's comments, or `material`, in a sample month."""
        return MATERIAL if self.source.form == SAMPLE else COMMENTS

    def games_inputs(self) -> str:
        """The digest of what the standing games were made from; `GamesChangedError` where they are other ones."""
        manifest = standing_month(self.month, self.source, self.filters, self.games_folder)
        if manifest is None:
            raise GamesChangedError(
                f"{self.games_folder}: the games of {self.month} are not what {self.source.name} and the filters give "
                "now, expected those very games: make the month's games again"
            )
        return str(manifest["inputs"])

    def visits(self, width: int, workers: int | None) -> Iterator[Visits]:
        """Yield the first `width` plies of the games in the source's order, the same for any `workers`."""
        if self.source.form == "games":  # without comments
            return
        load_kernels()
        seen = SeenIds()
        with Workers(workers) as crew:
            for ids, visits in crew.map(partial(self._annotate, width), crew.ahead(self.source.batches(crew))):
                first = seen.add(ids)
                keys, moves, changes, elos = visits
                yield Visits(keys[first], moves[first], changes[first], elos[first])
        self.source.check_unchanged()

    def _annotate(self, width: int, batch: pa.RecordBatch) -> tuple[NDArray[np.int64], Visits]:
        """Ids and visits of those games of a batch that have evaluations and are kept."""
        if self.evaluation == COMMENTS:
            batch = batch.filter(pc.fill_null(pc.match_substring(batch["movetext"], "[%eval "), False))
        judged = judge(batch, self.month, self.filters)
        keys, moves, balances = replay(judged.games["uci"], width)
        evaluations = np.full((len(keys), width + 1), NONE, np.int16)
        if self.evaluation == COMMENTS:
            for game, text in enumerate(batch["movetext"].take(pa.array(judged.rows)).to_pylist()):
                evaluations[game, 1:] = evaluations_of(text, width)
        else:
            evaluations[:, 0] = 0
            evaluations[:, 1:] = balances
        elos = np.stack([np.asarray(judged.games[name], np.int16) for name in ("white_elo", "black_elo")], axis=1)
        return np.asarray(judged.games["game_id"], np.int64), Visits(keys, moves, changes_of(evaluations), elos)


def changes_of(evaluations: NDArray[np.int16]) -> NDArray[np.int16]:
    """[n, width] of [n, width + 1] evaluations, the first one that before the first move: see `Visits.changes`."""
    before, after = evaluations[:, :-1].astype(np.int32), evaluations[:, 1:].astype(np.int32)
    changes = after - before
    changes[:, 1::2] *= -1
    changes[(before == NONE) | (after == NONE)] = NONE
    return changes.astype(np.int16)


def replay(uci: pa.Array, width: int) -> tuple[NDArray[np.int64], NDArray[np.uint16], NDArray[np.int16]]:
    """[n, width] each: keys, moves, and the material after each move within `MOST`, `NONE` behind a game's end."""
    text, offsets, _ = text_of(uci)
    shape = len(uci), width
    keys, moves, balances = np.zeros(shape, np.int64), np.zeros(shape, np.uint16), np.zeros(shape, np.int16)
    plies = np.empty(len(uci), np.int32)
    scratch = np.empty(SIZE, np.int64)
    write_visits(text, offsets, width, keys.ravel(), moves.ravel(), balances.ravel(), plies, scratch)
    np.clip(balances, -MOST, MOST, out=balances)
    balances[np.arange(width) >= plies[:, None]] = NONE
    return keys, moves, balances
