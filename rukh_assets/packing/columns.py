"""The columns of a pack: one number a game, parsed from the games file's own columns."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.errors import NullValueError, RukhAssetsError, TimeControlError, UnknownResultError
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
    seconds = _parse(games, "time_control", _time_control, file, first_row).reshape(-1, 2)
    columns = {
        "game_id": games["game_id"],
        "white_elo": games["white_elo"],
        "black_elo": games["black_elo"],
        "n_plies": games["n_plies"],
        "result": _parse(games, "result", _result, file, first_row),
        "base_seconds": seconds[:, 0],
        "increment_seconds": seconds[:, 1],
        "utc_date": games["utc_date"].cast(pa.int32()).fill_null(UNKNOWN_DATE),
        "eco": _parse(games, "eco", _eco, file, first_row),
    }
    return {name: np.asarray(columns[name], dtype=dtype) for name, dtype in COLUMNS.items()}


def _parse(
    games: pa.Table, name: str, parser: Callable[[str], int | tuple[int, int]], file: str, first_row: int
) -> NDArray[np.int64]:
    """What `parser` makes of each text of a column; it sees each distinct text once, in the order of the rows."""
    texts = games[name].combine_chunks().dictionary_encode()
    numbers = np.asarray(texts.indices)
    values = []
    for number, text in enumerate(texts.dictionary.to_pylist()):
        try:
            values.append(parser(text))
        except RukhAssetsError as error:
            row = first_row + int(np.argmax(numbers == number))
            raise type(error)(f"{file}, row {row}: {error}") from None
    parsed: NDArray[np.int64] = np.array(values, np.int64)[numbers]
    return parsed


def _result(text: str) -> int:
    if text not in RESULT_CODES:
        raise UnknownResultError(f"result {text!a}; allowed are {', '.join(RESULT_CODES)}")
    return RESULT_CODES[text]


def _time_control(text: str) -> tuple[int, int]:
    if text == "-":
        return CORRESPONDENCE, CORRESPONDENCE
    match = _TIME_CONTROL.fullmatch(text)
    base, increment = (int(match[1]), int(match[2])) if match else (-1, -1)
    if not match or base > np.iinfo(np.int32).max or increment > np.iinfo(np.int16).max:
        raise TimeControlError(
            f"time_control {text!a}; allowed are base+increment in seconds "
            "(at most 2147483647+32767), and - for correspondence"
        )
    return base, increment


def _eco(text: str) -> int:
    return "ABCDE".index(text[0]) * 100 + int(text[1:]) if _ECO.fullmatch(text) else UNKNOWN_ECO
