"""The rows of an Arrow batch of games, checked: what every encoder takes, and what none of them takes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

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


def read_games(batch: pa.RecordBatch) -> Iterator[GameRow]:
    """Yield every game of a batch of the games schema, in its order, once it is seen to be one that has a text.

    Slices and `large_string` columns are read as any other. Row numbers count from 0 within the batch.

    Raises `GameColumnsError` for a missing column or one of another type, and at the first bad row
    `NullValueError`, `UnknownResultError`, `MalformedUciError` or `UnknownMoveError`.
    """
    _check_columns(batch.schema)
    values = (batch.column(name).to_pylist() for name in _COLUMNS)
    for row, (game_id, uci, white_elo, black_elo, result) in enumerate(zip(*values, strict=True)):
        place = _place(row, game_id)
        for name, value in zip(_COLUMNS, (game_id, uci, white_elo, black_elo, result), strict=True):
            if value is None:
                raise NullValueError(f"{place}: {name} is null; every column of a game has a value")
        if result not in RESULT_TOKENS:
            raise UnknownResultError(f"{place}: result {result!a}; allowed are {', '.join(RESULT_TOKENS)}")
        split_uci(uci, place)
        yield GameRow(row, game_id, uci, white_elo, black_elo, result)


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


def _check_columns(schema: pa.Schema) -> None:
    for name in _COLUMNS:
        index = schema.get_field_index(name)
        if index < 0:
            raise GameColumnsError(f"column {name!r} is missing; the batch has {schema.names}")
        kind = schema.field(index).type
        is_string = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if name in _STRING_COLUMNS and not is_string:
            raise GameColumnsError(f"column {name!r} is {kind}; allowed are string and large_string")
        if name in _INTEGER_COLUMNS and not pa.types.is_integer(kind):
            raise GameColumnsError(f"column {name!r} is {kind}; allowed are integers")


def _place(row: int, game_id: int | None) -> str:
    return f"row {row} (game_id {'null' if game_id is None else game_id})"
