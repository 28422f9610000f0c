"""The columns of a pack: one number a game, parsed from the games file's own columns."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.errors import NullValueError, TimeControlError, UnknownResultError
from rukh_loaders.formats import COLUMNS

GAME_COLUMNS = ("game_id", "white_elo", "black_elo", "n_plies", "result", "time_control", "utc_date", "eco")
"""Columns of the games file that the pack's columns are made from."""

RESULT_CODES = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}
UNKNOWN_DATE = UNKNOWN_ECO = CORRESPONDENCE = -1

_TIME_CONTROL = re.compile(r"([0-9]+)\+([0-9]+)")
_ECO = re.compile(r"[A-E][0-9]{2}")


def pack_columns(games: pa.Table, file: str = "games", first_row: int = 0) -> dict[str, NDArray[Any]]:
    """Turn a row group with `GAME_COLUMNS` into the pack's columns, each with its dtype of `formats.pack.COLUMNS`.

    `result` is 1, 0 or -1; `-` as time control is -1 in both its columns; an `eco` that is none of `A00` to `E99`
    is -1, and so is a null `utc_date`, the only column of the games schema that may be null.

    Raises `NullValueError`, `UnknownResultError` or `TimeControlError`, which name the `file` and the row in it:
    `first_row` is that of the table's first game.
    """
    for name in GAME_COLUMNS:
        if name != "utc_date" and games[name].null_count:
            row = first_row + games[name].is_null().to_pylist().index(True)
            raise NullValueError(f"{file}, row {row}: {name} is null; only utc_date may be")
    texts = _Texts(games, file, first_row)
    seconds = texts.parse("time_control", _time_control)
    columns = {
        "game_id": games["game_id"],
        "white_elo": games["white_elo"],
        "black_elo": games["black_elo"],
        "n_plies": games["n_plies"],
        "result": texts.parse("result", _result),
        "base_seconds": [base for base, _ in seconds],
        "increment_seconds": [increment for _, increment in seconds],
        "utc_date": games["utc_date"].cast(pa.int32()).fill_null(UNKNOWN_DATE),
        "eco": texts.parse("eco", _eco),
    }
    return {name: np.asarray(columns[name], dtype=dtype) for name, dtype in COLUMNS.items()}


class _Texts:
    """Text columns of a table, each distinct text parsed once."""

    def __init__(self, games: pa.Table, file: str, first_row: int) -> None:
        self._games, self._file, self._first_row = games, file, first_row

    def parse(self, name: str, parser: Callable[[str, str], Any]) -> list[Any]:
        texts = self._games[name].to_pylist()
        parsed: dict[str, Any] = {}
        for row, text in enumerate(texts, self._first_row):
            if text not in parsed:
                parsed[text] = parser(text, f"{self._file}, row {row}")
        return [parsed[text] for text in texts]


def _result(text: str, place: str) -> int:
    if text not in RESULT_CODES:
        raise UnknownResultError(f"{place}: result {text!a}; allowed are {', '.join(RESULT_CODES)}")
    return RESULT_CODES[text]


def _time_control(text: str, place: str) -> tuple[int, int]:
    if text == "-":
        return CORRESPONDENCE, CORRESPONDENCE
    match = _TIME_CONTROL.fullmatch(text)
    base, increment = (int(match[1]), int(match[2])) if match else (-1, -1)
    if not match or base > np.iinfo(np.int32).max or increment > np.iinfo(np.int16).max:
        raise TimeControlError(
            f"{place}: time_control {text!a}; allowed are base+increment in seconds "
            "(at most 2147483647+32767), and - for correspondence"
        )
    return base, increment


def _eco(text: str, place: str) -> int:
    return "ABCDE".index(text[0]) * 100 + int(text[1:]) if _ECO.fullmatch(text) else UNKNOWN_ECO
