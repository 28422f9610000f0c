"""The steps of the chain as plain Python does them: a list of ids a game, `dict.get` a move, python-chess a board.

They do what the package does, with the same results, so that a ratio compares the same work; the tests hold them to it.
Only `random_movetexts` makes other games than the sample: a yardstick, as both play legal moves and spell them.
"""

import hashlib
import io
import random
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from numpy.typing import NDArray

from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_loaders.tokenizers import BOS, EOS, UNK, SanCharTokenizer, UciTokenizer
from rukh_loaders.tokenizers.vocabulary import RESULT_IDS

Ids = list[list[int]]
RawRow = tuple[Any, ...]
"""Site, result, ratings of White and Black, date, ECO, time control and movetext of one raw game."""

_NO_MOVE = re.compile(r"\{[^}]*\}|\$[0-9]+|[0-9]+\.+|[?!]+")
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def uci_ids(games_parquet: Path) -> Ids:
    """The games of a file in the uci scheme."""
    table = UciTokenizer().ids
    return [
        [
            BOS,
            table[f"<w{_elo_bin(white):04d}>"],
            table[f"<b{_elo_bin(black):04d}>"],
            *[table.get(move, UNK) for move in uci.split()],
            RESULT_IDS[result],
            EOS,
        ]
        for uci, white, black, result in _rows(games_parquet, "uci", "white_elo", "black_elo", "result")
    ]


def san_ids(games_parquet: Path) -> Ids:
    """The games of a file in the san scheme."""
    table = SanCharTokenizer().ids
    games = []
    for uci, result in _rows(games_parquet, "uci", "result"):
        board = chess.Board()
        words = []
        for ply, move in enumerate(uci.split()):
            number = f"{ply // 2 + 1}." if ply % 2 == 0 else ""
            words.append(number + board.san_and_push(board.parse_uci(move)))
        games.append([BOS, *[table[character] for character in f"{' '.join(words)} {result}"], EOS])
    return games


def bpe_ids(games_parquet: Path, tokenizer: Any) -> Ids:
    """The games of a file in the bpe scheme, by one call of the library a game."""
    return [
        [BOS, *tokenizer.encode("".join(uci.split()), add_special_tokens=False).ids, RESULT_IDS[result], EOS]
        for uci, result in _rows(games_parquet, "uci", "result")
    ]


def save_ids(games: Ids, folder: Path) -> int:
    """Write the ids as tokens.npy and starts.npy of a pack, and return how many there are."""
    tokens: list[int] = []
    starts: list[int] = []
    for ids in games:
        starts.append(len(tokens))
        tokens.extend(ids)
    np.save(folder / "tokens.npy", np.array(tokens, np.uint16))
    np.save(folder / "starts.npy", np.array(starts, np.int64))
    return len(tokens)


def moves_of_movetext(movetext: str) -> list[str]:
    """The moves of one game in UCI; the text may end in a result."""
    board = chess.Board()
    moves = []
    for word in _NO_MOVE.sub(" ", movetext).split():
        if word in _RESULTS:
            break
        move = board.parse_san(word)
        moves.append(move.uci())
        board.push(move)
    return moves


def hf_rows(parquet: Path) -> list[RawRow]:
    """What `games_of_rows` takes, from a file of the Hugging Face layout."""
    columns = ("Site", "Result", "WhiteElo", "BlackElo", "UTCDate", "ECO", "TimeControl", "movetext")
    return list(_rows(parquet, *columns))


def games_of_rows(rows: Sequence[RawRow], month: str) -> list[dict[str, Any]]:
    """The raw games that have a result, both ratings and a move, as rows of the games schema."""
    games = (_game(row, month) for row in rows if row[1] in RESULT_IDS and None not in row[2:4])
    return [game for game in games if game["n_plies"]]


def games_of_pgn_zst(dump: Path, month: str) -> list[dict[str, Any]]:
    """The games of a `.pgn.zst` dump as rows of the games schema: tag lines, a blank line, one line of movetext."""
    games: list[dict[str, Any]] = []
    tags: dict[str, str] = {}
    with dump.open("rb") as file:
        stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        for line in io.TextIOWrapper(stream, "utf-8"):
            if line.startswith("["):
                name, value = line[1:].split(" ", 1)
                tags[name] = value.rstrip()[1:-2]
            elif line.strip():
                games += games_of_rows([_row_of_tags(tags, line)], month)
                tags = {}
    return games


def write_games(games: Sequence[dict[str, Any]], path: Path) -> None:
    """Write rows of the games schema as a parquet file."""
    pq.write_table(pa.Table.from_pylist(list(games), GAMES_SCHEMA), path, compression="zstd")


def write_twice(pieces: Sequence[NDArray[np.uint16]], folder: Path) -> None:
    """Write ids to a raw file as they come, then through maps to tokens.npy, whose size is known by then."""
    raw = folder / "tokens.raw"
    with raw.open("wb") as file:
        for piece in pieces:
            piece.tofile(file)
    ids = np.memmap(raw, np.uint16, mode="r")
    tokens = np.lib.format.open_memmap(folder / "tokens.npy", mode="w+", dtype=np.uint16, shape=ids.shape)
    tokens[:] = ids
    tokens.flush()
    raw.unlink()


def hash_again(path: Path) -> str:
    """The sha256 of a file, by reading it once more."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def random_movetexts(count: int, seed: int = 0, plies: int = 75) -> list[str]:
    """Legal games by python-chess, every move chosen blindly, as movetext with clocks."""
    return [_random_movetext(random.Random(f"{seed} {number}"), plies) for number in range(count)]


def _random_movetext(source: random.Random, plies: int) -> str:
    board = chess.Board()
    words = []
    for ply in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        number, black = divmod(ply, 2)
        san = board.san_and_push(source.choice(moves))
        words.append(f"{number + 1}.{'..' if black else ''} {san} {{ [%clk 0:03:00] }}")
    return " ".join(words)


def _rows(parquet: Path, *columns: str) -> Iterator[tuple[Any, ...]]:
    with pq.ParquetFile(parquet) as file:
        for batch in file.iter_batches(columns=list(columns)):
            yield from zip(*(batch[name].to_pylist() for name in columns), strict=True)


def _elo_bin(elo: int) -> int:
    return min(max(elo, 600), 3299) // 100 * 100


def _row_of_tags(tags: dict[str, str], movetext: str) -> RawRow:
    return (
        tags["Site"],
        tags["Result"],
        int(tags["WhiteElo"]) if tags["WhiteElo"].isdigit() else None,
        int(tags["BlackElo"]) if tags["BlackElo"].isdigit() else None,
        date.fromisoformat(tags["UTCDate"].replace(".", "-")),
        tags.get("ECO"),
        tags.get("TimeControl"),
        movetext,
    )


def _game(row: RawRow, month: str) -> dict[str, Any]:
    site, result, white_elo, black_elo, utc_date, eco, time_control, movetext = row
    moves = moves_of_movetext(movetext)
    return {
        "game_id": int.from_bytes(hashlib.sha256(site.encode()).digest()[:8], "little", signed=True),
        "uci": " ".join(moves),
        "n_plies": len(moves),
        "white_elo": white_elo,
        "black_elo": black_elo,
        "result": result,
        "time_control": time_control,
        "utc_date": utc_date,
        "eco": eco or "?",
        "month": month,
    }
