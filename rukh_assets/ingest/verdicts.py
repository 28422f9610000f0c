"""A batch of games judged: which are kept, as rows of the games schema, and why each other one is not."""

import hashlib
import re
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from rukh_assets.errors import MovetextError, NotLegalError
from rukh_assets.ingest.comments import CommentCounts
from rukh_assets.ingest.filters import CHECKS, Filters, keeps_length
from rukh_assets.ingest.headers import Headers, headers_of_games, headers_of_raw
from rukh_assets.ingest.movetext import check_uci, find_drop, moves_to_uci, parse_movetext
from rukh_assets.ingest.schema import GAMES_SCHEMA

REASONS = (*CHECKS, "truncated", "result_conflict", "malformed", "length", "illegal", "duplicate")
"""Every reason for which a game is not kept, in the order in which they are tried. Each game has one at most."""

_DATE = re.compile(r"[0-9]{4}\.[0-9]{2}\.[0-9]{2}")


class Verdict(NamedTuple):
    """Why a game is not kept: one of `REASONS`, the ply from 1 where one is at fault, and the words for it."""

    reason: str
    ply: int | None = None
    detail: str = ""


class Judged(NamedTuple):
    """The games of a batch: those that passed, the row in the batch of each, and the verdict on every other row."""

    games: pa.RecordBatch
    rows: list[int]
    verdicts: dict[int, Verdict]


def game_id(site: str) -> int:
    """Return the id of the game at `site`: the first 8 bytes of its sha256, little-endian, signed."""
    return int.from_bytes(hashlib.sha256(site.encode()).digest()[:8], "little", signed=True)


def judge_raw(batch: pa.RecordBatch, month: str, filters: Filters, comments: CommentCounts) -> Judged:
    """Judge a batch of `RAW_SCHEMA` by all reasons but "duplicate", and turn the games that pass to `GAMES_SCHEMA`.

    Counts the comments of every game whose movetext was read.
    """
    rows, verdicts = _judge_headers(headers_of_raw(batch), filters)
    passed: dict[int, str] = {}
    plies: list[int] = []
    open_rows = batch.take(pa.array(rows, pa.int64()))
    columns = (open_rows[name].to_pylist() for name in ("movetext", "result", "ended"))
    for row, movetext, result, ended in zip(rows, *columns, strict=True):
        moves = _read_moves(movetext or "", result, ended, filters, comments)
        if isinstance(moves, Verdict):
            verdicts[row] = moves
        else:
            passed[row] = " ".join(moves)
            plies.append(len(moves))
    return Judged(_games_of_raw(batch, month, passed, plies), list(passed), verdicts)


def judge_games(batch: pa.RecordBatch, month: str, filters: Filters) -> Judged:
    """Judge a batch of `PLACED_GAMES_SCHEMA` by the reasons that its columns still tell; each game is replayed."""
    rows, verdicts = _judge_headers(headers_of_games(batch), filters)
    table = batch.take(pa.array(rows, pa.int64())).to_pylist()
    for row, game in zip(rows, table, strict=True):
        verdict = _check_game(game, month, filters)
        if verdict:
            verdicts[row] = verdict
    passed = [row for row in rows if row not in verdicts]
    kept = batch.take(pa.array(passed, pa.int64())).select(GAMES_SCHEMA.names)
    eco = pa.array([eco or "?" for eco in kept["eco"].to_pylist()], pa.string())
    return Judged(kept.set_column(GAMES_SCHEMA.get_field_index("eco"), "eco", eco), passed, verdicts)


def _judge_headers(headers: Headers, filters: Filters) -> tuple[list[int], dict[int, Verdict]]:
    """Return the rows that no check takes, and the verdict of the first check that takes each other row."""
    masks = [check(headers, filters) for check in CHECKS.values()]
    first = np.select(masks, range(len(masks)), default=len(masks))
    verdicts = {int(row): Verdict(REASONS[first[row]]) for row in np.flatnonzero(first < len(masks))}
    return np.flatnonzero(first == len(masks)).tolist(), verdicts


def _read_moves(
    text: str, result: str, ended: bool | None, filters: Filters, comments: CommentCounts
) -> list[str] | Verdict:
    if ended is False:
        return Verdict("truncated", detail=f"no result token at the end: ...{text[-40:]!r}")
    try:
        movetext = parse_movetext(text)
        comments.add(movetext.comments)
        if drop := find_drop(movetext.sans):
            return Verdict("not_standard", drop, f"drop {movetext.sans[drop - 1]!r}")
        if movetext.result not in (None, result):
            return Verdict("result_conflict", detail=f"movetext ends in {movetext.result!r}, the tag says {result!r}")
        if not keeps_length(len(movetext.sans), filters):
            return _length(len(movetext.sans))
        return moves_to_uci(movetext.sans)
    except MovetextError as error:
        return Verdict("malformed", detail=str(error))
    except NotLegalError as error:
        return Verdict("illegal", error.ply, str(error))


def _check_game(game: dict[str, Any], month: str, filters: Filters) -> Verdict | None:
    for name in ("game_id", "uci", "n_plies"):
        if game[name] is None:
            return Verdict("malformed", detail=f"{name} is null")
    if game["month"] != month:
        return Verdict("malformed", detail=f"month is {game['month']!r}, the partition's is {month!r}")
    moves = game["uci"].split(" ") if game["uci"] else []
    if len(moves) != game["n_plies"]:
        return Verdict("malformed", detail=f"n_plies is {game['n_plies']}, uci split by single spaces has {len(moves)}")
    if not keeps_length(len(moves), filters):
        return _length(len(moves))
    try:
        check_uci(moves)
    except NotLegalError as error:
        return Verdict("illegal", error.ply, str(error))
    return None


def _length(n_plies: int) -> Verdict:
    return Verdict("length", detail=f"{n_plies} plies")


def _games_of_raw(batch: pa.RecordBatch, month: str, uci: dict[int, str], plies: Sequence[int]) -> pa.RecordBatch:
    """Return the rows of `batch` that `uci` has moves for, as `GAMES_SCHEMA`."""
    rows = batch.take(pa.array(list(uci), pa.int64()))
    columns = {
        "game_id": [game_id(site) for site in rows["site"].to_pylist()],
        "uci": list(uci.values()),
        "n_plies": plies,
        "white_elo": rows["white_elo"].cast(pa.int16()),
        "black_elo": rows["black_elo"].cast(pa.int16()),
        "result": rows["result"],
        "time_control": rows["time_control"],
        "utc_date": [_date(text) for text in rows["utc_date"].to_pylist()],
        "eco": [eco or "?" for eco in rows["eco"].to_pylist()],
        "month": [month] * len(uci),
    }
    arrays = [pa.array(columns[field.name], field.type) for field in GAMES_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=GAMES_SCHEMA)


def _date(text: str | None) -> date | None:
    """The day that `YYYY.MM.DD` says; None for a text that says none, such as `????.??.??`."""
    if text is None or not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text.replace(".", "-"))
    except ValueError:
        return None
