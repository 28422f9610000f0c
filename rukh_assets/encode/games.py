"""The rows of an Arrow batch of games: what every encoder takes, and what none of them takes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.errors import (
    GameColumnsError,
    MalformedUciError,
    NullValueError,
    UnknownMoveError,
    UnknownResultError,
)
from rukh_loaders.tokenizers.uci import UciTokenizer
from rukh_loaders.tokenizers.vocabulary import RESULT_TOKENS

MOVES = frozenset(token for token in UciTokenizer().vocab if not token.startswith("<"))
"""The 1,968 moves that the uci table holds, promotions included; specials and Elo bins are not moves."""

_STRING_COLUMNS = ("uci", "result")
_INTEGER_COLUMNS = ("game_id", "white_elo", "black_elo")
_COLUMNS = ("game_id", "uci", "white_elo", "black_elo", "result")


class GameRow(NamedTuple):
    """One checked game of a batch: its moves are all in `MOVES`, at least one; legality is not checked."""

    row: int
    game_id: int
    uci: str
    white_elo: int
    black_elo: int
    result: str

    @property
    def place(self) -> str:
        """Where the game is, for messages."""
        return _place(self.row, self.game_id)


def check_columns(batch: pa.RecordBatch) -> None:
    """Raise `GameColumnsError` unless a batch has the columns that encoders read, each of a type that it may have.

    Integers are of any width; texts are `string` or `large_string`.
    """
    for name in _COLUMNS:
        index = batch.schema.get_field_index(name)
        if index < 0:
            raise GameColumnsError(f"column {name!r} is missing; the batch has {batch.schema.names}")
        kind = batch.schema.field(index).type
        is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if name in _STRING_COLUMNS and not is_string:
            raise GameColumnsError(f"column {name!r} is {kind}; allowed are string and large_string")
        if name in _INTEGER_COLUMNS and not pa.types.is_integer(kind):
            raise GameColumnsError(f"column {name!r} is {kind}; allowed are integers")


def rows_without_nulls(batch: pa.RecordBatch) -> NDArray[np.bool_]:
    """For each row, whether all columns that encoders read have a value."""
    whole = np.ones(batch.num_rows, np.bool_)
    for name in _COLUMNS:
        column = batch.column(name)
        if column.null_count:
            whole &= column.is_valid().to_numpy(zero_copy_only=False)
    return whole


def read_game(batch: pa.RecordBatch, row: int, first_row: int = 0) -> GameRow:
    """One game of a batch that passes `check_columns`, once it is seen to be one that has a text.

    In messages the batch's rows count from `first_row`. Raises `NullValueError`, `UnknownResultError`,
    `MalformedUciError` or `UnknownMoveError`. Bytes that are not UTF-8 are as wrong as any character beyond ASCII.
    """
    values = {name: _value(batch.column(name)[row]) for name in _COLUMNS}
    place = _place(first_row + row, values["game_id"])
    for name, value in values.items():
        if value is None:
            raise NullValueError(f"{place}: {name} is null; every column of a game has a value")
    if values["result"] not in RESULT_TOKENS:
        raise UnknownResultError(f"{place}: result {values['result']!a}; allowed are {', '.join(RESULT_TOKENS)}")
    split_uci(values["uci"], place)
    return GameRow(first_row + row, **values)


def split_uci(uci: str, place: str = "game") -> list[str]:
    """Split the moves of one game, `e2e4 e7e5`: at least one, a single space between two, each one in `MOVES`.

    Raises `MalformedUciError` or `UnknownMoveError`, which begin with `place` and name the first bad ply (1 is White's
    first move) and the character (0 is the text's first).
    """
    moves = uci.split(" ")
    if not MOVES.issuperset(moves):
        _refuse(moves, place)
    return moves


def _refuse(moves: Sequence[str], place: str) -> None:
    if list(moves) == [""]:
        raise MalformedUciError(f"{place}: uci is empty; a game has at least one move")
    ply = next(ply for ply, move in enumerate(moves, 1) if move not in MOVES)
    move = moves[ply - 1]
    start = sum(len(earlier) + 1 for earlier in moves[: ply - 1])
    if not move:
        raise MalformedUciError(f"{place}, ply {ply}: no move at character {start}; moves have one space between them")
    for character, letter in enumerate(move, start):
        if not letter.isascii() or letter.isspace():
            raise MalformedUciError(
                f"{place}, ply {ply}: {letter!a} at character {character}; "
                "allowed are ASCII moves with one space between them"
            )
    raise UnknownMoveError(
        f"{place}, ply {ply}: {move!a} at character {start} is not in the uci table; "
        "allowed are moves such as e2e4, e1g1 and e7e8q, lower case, no null move"
    )


def _value(scalar: pa.Scalar) -> Any:
    if pa.types.is_integer(scalar.type) or not scalar.is_valid:
        return scalar.as_py()
    return scalar.as_buffer().to_pybytes().decode("utf-8", "surrogateescape")


def _place(row: int, game_id: int | None) -> str:
    return f"row {row} (game_id {'null' if game_id is None else game_id})"
