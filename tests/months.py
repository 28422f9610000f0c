"""Months of a few games, read for real."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rukh_assets.board import UNREADABLE, UciGames, Verdicts
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.month import read_month
from rukh_assets.ingest.replay import Kernels
from rukh_assets.ingest.sources import open_source

MONTH = "2024-01"
EVERYTHING = Filters(min_elo=None, min_base_seconds=None, terminations=None, min_plies=None, max_plies=None)
"""Every filter off but those of bots and of players against themselves."""

TAGS = {
    "Event": "Rated Blitz game",
    "Site": "https://lichess.org/abcdefgh",
    "White": "white",
    "Black": "black",
    "Result": "1-0",
    "UTCDate": "2024.01.02",
    "WhiteElo": "1900",
    "BlackElo": "2000",
    "ECO": "C20",
    "TimeControl": "300+3",
    "Termination": "Normal",
}


def _take_no_movetext(movetext: pa.Array) -> UciGames:
    nothing = np.zeros(len(movetext), np.int32)
    verdicts = np.full(len(movetext), UNREADABLE, np.uint8)
    uci = pa.array([""] * len(movetext), pa.string())
    return UciGames(uci, nothing, nothing.astype(np.uint8), np.zeros((len(movetext), 3), np.int32), verdicts)


def _take_no_uci(uci: pa.Array) -> Verdicts:
    return Verdicts(np.full(len(uci), UNREADABLE, np.uint8), np.zeros(len(uci), np.int32))


NO_KERNELS = Kernels(_take_no_movetext, _take_no_uci)
"""Every game is left to the readable path."""

BEFORE = ("https://lichess.org/before00", "1. d4 d5 1-0")
AFTER = ("https://lichess.org/after000", "1. c4 c5 1-0")


def pgn(movetext: str, **tags: str | None) -> str:
    """One game with tags that every default filter takes; a tag given as None is left out."""
    merged = {name: value for name, value in (TAGS | tags).items() if value is not None}
    return "".join(f'[{name} "{value}"]\n' for name, value in merged.items()) + f"\n{movetext}\n"


@dataclass(frozen=True)
class Month:
    folder: Path
    manifest: dict[str, Any]

    @property
    def games(self) -> list[dict[str, Any]]:
        table: pa.Table = pq.read_table(self.folder / "games.parquet", partitioning=None)
        games: list[dict[str, Any]] = table.to_pylist()
        return games

    @property
    def moves(self) -> list[str]:
        return [game["uci"] for game in self.games]

    @property
    def rejects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "rejects.jsonl").read_text("ascii").splitlines()]

    @property
    def rejected(self) -> dict[str, int]:
        """The reasons that were given, and how often."""
        return {reason: count for reason, count in self.manifest["counts"]["rejected"].items() if count}


def read(folder: Path, content: str | bytes, filters: Filters = EVERYTHING, **settings: Any) -> Month:
    """The month that one `.pgn` file of this content gives, in `folder`; its counts add up."""
    data = content.encode() if isinstance(content, str) else content
    (folder / f"{MONTH}.pgn").write_bytes(data)
    return read_source(folder, str(folder / "{year}-{month}.pgn"), filters, **settings)


def read_source(folder: Path, setting: str, filters: Filters = EVERYTHING, **settings: Any) -> Month:
    month = settings.pop("month", MONTH)
    manifest = read_month(month, open_source(setting, month), filters, folder / "month", **settings)
    counts = manifest["counts"]
    assert counts["read"] == counts["kept"] + sum(counts["rejected"].values())
    return Month(folder / "month", manifest)


def judged(folder: Path, game: str, filters: Filters = EVERYTHING) -> dict[str, Any]:
    """The row or the reject of a game between two good ones, which stay unharmed."""
    before, after = (pgn(movetext, Site=site) for site, movetext in (BEFORE, AFTER))
    month = read(folder, f"{before}\n{game}\n{after}", filters)
    assert month.manifest["counts"]["read"] == 3
    moves = month.moves
    assert (moves[0], moves[-1]) == ("d2d4 d7d5", "c2c4 c7c5")
    outcome: dict[str, Any] = month.rejects[0] if month.rejects else month.games[1]
    return outcome


def write_hf(path: Path, rows: list[dict[str, Any]], schema: pa.Schema | None = None) -> None:
    """A file of the Hugging Face layout, of the columns that the rows have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
