"""A batch of games judged: which are kept, as rows of the games schema, and why each other one is not."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rukh_assets.ingest.comments import CommentCounts
from rukh_assets.ingest.filters import CHECKS, Filters
from rukh_assets.ingest.game_ids import game_ids
from rukh_assets.ingest.headers import Headers, headers_of_games, headers_of_raw
from rukh_assets.ingest.replay import KERNELS, Kernels, check_games, read_movetexts
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_assets.ingest.verdicts import PASSED, REASONS, Verdict

_DATE = re.compile(r"[0-9]{4}\.[0-9]{2}\.[0-9]{2}")

Rows = NDArray[np.int64]


class Judged(NamedTuple):
    """A batch of n games, and the verdict on each by all reasons but "duplicate"."""

    batch: pa.RecordBatch
    reasons: NDArray[np.uint8]
    """[n]: an index of `REASONS`, or `PASSED`."""
    verdicts: dict[int, Verdict]
    """Row to verdict of those games that moves or movetext were the reason for, not tags."""
    games: pa.RecordBatch
    """The games that passed, as `GAMES_SCHEMA`."""
    rows: Rows
    """The row in the batch of each game that passed."""
    comments: CommentCounts
    """Those of every game whose movetext was read."""


def judge(batch: pa.RecordBatch, month: str, filters: Filters, kernels: Kernels = KERNELS) -> Judged:
    """Judge a batch of `RAW_SCHEMA` or `PLACED_GAMES_SCHEMA`; the games that pass become `GAMES_SCHEMA`."""
    if "movetext" in batch.schema.names:
        return judge_raw(batch, month, filters, kernels)
    return judge_games(batch, month, filters, kernels)


def judge_raw(batch: pa.RecordBatch, month: str, filters: Filters, kernels: Kernels) -> Judged:
    """Judge a batch of `RAW_SCHEMA`."""
    headers = headers_of_raw(batch)
    reasons = _first_checks(headers, filters)
    rows = np.flatnonzero(reasons == PASSED)
    replayed = read_movetexts(_take(batch.select(["movetext", "result", "ended"]), rows), filters, kernels)
    verdicts = {int(rows[row]): verdict for row, verdict in replayed.verdicts.items()}
    _add_reasons(reasons, verdicts)
    passed = np.flatnonzero(reasons[rows] == PASSED)
    moves = _take(pa.RecordBatch.from_arrays([replayed.uci, pa.array(replayed.plies)], ["uci", "n_plies"]), passed)
    rows = rows[passed]
    games = _games_of_raw(batch, headers, rows, moves, month)
    return Judged(batch, reasons, verdicts, games, rows, replayed.comments)


def judge_games(batch: pa.RecordBatch, month: str, filters: Filters, kernels: Kernels) -> Judged:
    """Judge a batch of `PLACED_GAMES_SCHEMA` by the reasons that its columns still tell; each game is replayed."""
    reasons = _first_checks(headers_of_games(batch), filters)
    rows = np.flatnonzero(reasons == PASSED)
    found = check_games(_take(batch, rows), month, filters, kernels)
    verdicts = {int(rows[row]): verdict for row, verdict in found.items()}
    _add_reasons(reasons, verdicts)
    rows = np.flatnonzero(reasons == PASSED)
    kept = _take(batch.select(GAMES_SCHEMA.names), rows)
    games = kept.set_column(GAMES_SCHEMA.get_field_index("eco"), "eco", _eco(kept["eco"]))
    return Judged(batch, reasons, verdicts, games, rows, CommentCounts())


def _first_checks(headers: Headers, filters: Filters) -> NDArray[np.uint8]:
    """The first check that takes each row, `PASSED` where none does."""
    masks = [check(headers, filters) for check in CHECKS.values()]
    return np.select(masks, range(len(masks)), default=PASSED).astype(np.uint8)


def _add_reasons(reasons: NDArray[np.uint8], verdicts: dict[int, Verdict]) -> None:
    for row, verdict in verdicts.items():
        reasons[row] = REASONS.index(verdict.reason)


def _take(batch: pa.RecordBatch, rows: Rows) -> pa.RecordBatch:
    """Rows of a batch, in order; nothing is copied where they are all."""
    return batch if len(rows) == batch.num_rows else batch.take(pa.array(rows))


def _games_of_raw(
    batch: pa.RecordBatch, headers: Headers, rows: Rows, moves: pa.RecordBatch, month: str
) -> pa.RecordBatch:
    """The rows of a batch of `RAW_SCHEMA` as `GAMES_SCHEMA`; `moves` has their `uci` and `n_plies`."""
    tags = _take(batch.select(["site", "result", "time_control", "utc_date", "eco"]), rows)
    columns = {
        "game_id": pa.array(game_ids(tags["site"])),
        "uci": moves["uci"],
        "n_plies": moves["n_plies"].cast(pa.int16()),
        "white_elo": pa.array(headers.white_elo[rows]).cast(pa.int16()),
        "black_elo": pa.array(headers.black_elo[rows]).cast(pa.int16()),
        "result": tags["result"],
        "time_control": tags["time_control"],
        "utc_date": _dates(tags["utc_date"]),
        "eco": _eco(tags["eco"]),
        "month": pa.repeat(month, len(rows)),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in GAMES_SCHEMA.names], schema=GAMES_SCHEMA)


def _eco(texts: pa.Array) -> pa.Array:
    """`?` for no code."""
    return pc.if_else(pc.equal(pc.fill_null(texts, ""), ""), "?", texts)


def _dates(texts: pa.Array) -> pa.Array:
    """The day of each text, each distinct text read once."""
    encoded = texts.dictionary_encode()
    days: Sequence[date | None] = [_date(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(days, pa.date32()).take(encoded.indices)


def _date(text: str | None) -> date | None:
    """The day that `YYYY.MM.DD` says; None for a text that says none, such as `????.??.??`."""
    if text is None or not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text.replace(".", "-"))
    except ValueError:
        return None
