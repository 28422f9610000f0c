"""Games for tests, as rows of the games schema: those of a PGN file, random legal ones, and files of them."""

import datetime
import hashlib
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pyarrow as pa
import pyarrow.parquet as pq

from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_loaders.formats import read_manifest, write_manifest

Game = dict[str, Any]
RESULTS = ("1-0", "0-1", "1/2-1/2")


def game_of(uci: str, site: str = "https://lichess.org/aaaaaaaa", **changes: Any) -> Game:
    """One row of the games schema with these moves; other columns have plausible values that `changes` replaces."""
    game_id = int.from_bytes(hashlib.sha256(site.encode()).digest()[:8], "little", signed=True)
    columns = {
        "game_id": game_id,
        "uci": uci,
        "n_plies": len(uci.split()),
        "white_elo": 1512,
        "black_elo": 1488,
        "result": "1-0",
        "time_control": "180+2",
        "utc_date": datetime.date(2021, 10, 1),
        "eco": "C20",
        "month": "2021-10",
    }
    return columns | changes


@cache
def pgn_games(pgn: Path) -> tuple[Game, ...]:
    """Every finished, rated game with a move of a PGN file, read by python-chess."""
    games = []
    with pgn.open(encoding="utf-8") as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            assert not game.errors
            tags = game.headers
            uci = " ".join(move.uci() for move in game.mainline_moves())
            if not uci or tags["Result"] not in RESULTS or "?" in tags["WhiteElo"] + tags["BlackElo"]:
                continue
            games.append(
                game_of(
                    uci,
                    tags["Site"],
                    white_elo=int(tags["WhiteElo"]),
                    black_elo=int(tags["BlackElo"]),
                    result=tags["Result"],
                    time_control=tags.get("TimeControl", "-"),
                    utc_date=datetime.date.fromisoformat(tags.get("UTCDate", "2021.10.01").replace(".", "-")),
                    eco=tags.get("ECO", "?"),
                )
            )
    return tuple(games)


@cache
def random_game(seed: int, max_plies: int = 120) -> Game:
    """A random legal game, a pure function of its seed; half of the moves prefer promotions, checks and castling."""
    source = random.Random(seed)
    board = chess.Board()
    moves = []
    for _ in range(source.randint(1, max_plies)):
        legal = list(board.legal_moves)
        if not legal:
            break
        sharp = [move for move in legal if move.promotion or board.is_castling(move) or board.gives_check(move)]
        move = source.choice(sharp if sharp and source.random() < 0.5 else legal)
        moves.append(move.uci())
        board.push(move)
    return game_of(
        " ".join(moves),
        f"https://lichess.org/seed{seed:04d}",
        white_elo=source.randint(500, 3400),
        black_elo=source.randint(500, 3400),
        result=source.choice(RESULTS),
        time_control=source.choice(("60+0", "180+2", "-")),
        eco=source.choice(("A00", "E99", "C42", "?")),
    )


def random_games(count: int, max_plies: int = 120) -> list[Game]:
    return [random_game(seed, max_plies) for seed in range(count)]


def batch_of(games: Sequence[Game]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(games), schema=GAMES_SCHEMA)


def write_games(path: Path, games: Sequence[Game], row_group_size: int = 100_000) -> Path:
    """A games.parquet, in row groups of this many games."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_batches([batch_of(games)]), path, row_group_size=row_group_size, compression="zstd")
    return path


def bytes_below(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder, by its path in it."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def change_manifest(folder: Path, **changes: Any) -> None:
    """Write a folder's manifest again with other values."""
    write_manifest(folder, read_manifest(folder) | changes)
