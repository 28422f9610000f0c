"""`chess_grpo`: positions that several games reached, the moves that were played there, and what each of them did."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rukh_assets.errors import RecordSettingError
from rukh_assets.records.chess.annotated import AnnotatedGames
from rukh_assets.records.chess.corpora import GRPO
from rukh_assets.records.chess.making import Progress, RecordFiles
from rukh_assets.records.chess.spool import VisitRows, VisitSpool
from rukh_assets.records.chess.tokens import move_text, moves_text, ratings_text

MAX_FIRST_PLIES = 300


class Played(NamedTuple):
    """A move that was played in a position: in how many games, and its change in centipawns, their mean, rounded."""

    move: int
    games: int
    change: int


class Group(NamedTuple):
    """A position that several games reached: the first of them, its plies up to there, and the moves, best first."""

    game: int
    ply: int
    moves: list[Played]


@dataclass(frozen=True)
class Groups:
    """One record a position among the first `first_plies` moves of games that `min_games` games or more moved on from.

    `{"prompt", "responses", "rewards", "games", "evaluation"}`: the prompt, one message, has ratings and moves of the
    first game that reached the position; of each response, a move, the reward in pawns and the number of games; and
    where evaluations come from. At least two different moves were played; a game counts once in a position.

    Raises `RecordSettingError` for `first_plies` outside 2..300 and `min_games` under 2.
    """

    annotated: AnnotatedGames
    first_plies: int = 40
    min_games: int = 2
    workers: int | None = None
    corpus: str = GRPO

    def __post_init__(self) -> None:
        if not 2 <= self.first_plies <= MAX_FIRST_PLIES:
            raise RecordSettingError(f"first_plies: got {self.first_plies}, allowed: 2 to {MAX_FIRST_PLIES}")
        if self.min_games < 2:
            raise RecordSettingError(f"min_games: got {self.min_games}, allowed: 2 and more")

    def describe(self) -> dict[str, Any]:
        """The games by what they were made from, where evaluations come from, and the settings."""
        return {
            "games": self.annotated.games_inputs(),
            "evaluation": self.annotated.evaluation,
            "settings": {"first_plies": self.first_plies, "min_games": self.min_games},
        }

    def write(self, files: RecordFiles, progress: Progress | None) -> dict[str, int]:
        """One record a group, in the order of the positions' keys, which is none of the games'."""
        # Beside the records: a folder for temporary files need not have room for a month.
        with (
            tempfile.TemporaryDirectory(dir=files.folder, prefix=".visits-") as home,
            VisitSpool(Path(home), self.first_plies) as spool,
        ):
            for visits in self.annotated.visits(self.first_plies, self.workers):
                spool.add(visits)
                if progress:
                    progress(spool.n_games, 0)
            self._write_groups(spool, files, progress)
            return {"evaluated_games": spool.n_games, "evaluated_moves": spool.n_visits}

    def _write_groups(self, spool: VisitSpool, files: RecordFiles, progress: Progress | None) -> None:
        partitions = spool.partitions()
        moves, elos = None, None
        for rows in partitions:
            if moves is None or elos is None:
                moves, elos = spool.openings()
            groups = groups_of(rows, self.min_games)
            files.write(
                self._line(group, ratings_text(*elos[group.game].tolist()), moves_text(moves[group.game, : group.ply]))
                for group in groups
            )
            if progress:
                progress(spool.n_games, files.n_records)

    def _line(self, group: Group, ratings: str, moves: str) -> str:
        record = {
            "prompt": [{"role": "user", "content": f"{ratings} {moves}".rstrip()}],
            "responses": [move_text(played.move) for played in group.moves],
            "rewards": [played.change / 100 for played in group.moves],
            "games": [played.games for played in group.moves],
            "evaluation": self.annotated.evaluation,
        }
        return json.dumps(record)


def groups_of(rows: VisitRows, min_games: int) -> Iterator[Group]:
    """The groups among visits, those of a position all there, by key."""
    rows = rows[np.lexsort((rows["ply"], rows["game"], rows["key"]))]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (rows["key"][1:] != rows["key"][:-1]) | (rows["game"][1:] != rows["game"][:-1])
    rows = rows[is_first]  # of a game that comes back to the position, only the first time
    begins = _begins(rows["key"])
    sizes = np.diff(begins, append=len(rows))
    for begin, size in zip(begins[sizes >= min_games].tolist(), sizes[sizes >= min_games].tolist(), strict=True):
        visits = rows[begin : begin + size]
        if (visits["move"] != visits["move"][0]).any():
            yield Group(int(visits["game"][0]), int(visits["ply"][0]), _moves(visits))


def _moves(visits: VisitRows) -> list[Played]:
    moves, which, counts = np.unique(visits["move"], return_inverse=True, return_counts=True)
    sums = np.bincount(which, weights=visits["change"]).astype(np.int64)
    means = (2 * sums + counts) // (2 * counts)  # rounded, halves up
    played = map(Played, moves.tolist(), counts.tolist(), means.tolist())
    return sorted(played, key=lambda one: (-one.change, -one.games, one.move))


def _begins(keys: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
