"""The columns of a pack in words: single values, and ranges that are gathered piece by piece."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.formats.pack import Pack

_VALUES_AT_ONCE = 1 << 22
_RESULTS = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}
_UNKNOWN = {
    "base_seconds": "correspondence",
    "increment_seconds": "correspondence",
    "utc_date": "unknown",
    "eco": "unknown",
}
"""Columns in which -1 is no value, and what it says."""


def describe_columns(pack: Pack) -> str:
    """A line a column: its range, its mean, and how many games have no value."""
    if not pack.columns:
        return "columns: none, so that games cannot be chosen by rating, date, opening or clock"
    return "\n".join(["columns:", *(f"  {name:19}{_describe_column(name, c)}" for name, c in pack.columns.items())])


def column_value(name: str, value: int) -> str:
    """One value of a column, as people write it."""
    if name == "result":
        return _RESULTS.get(value, str(value))
    if value == -1 and name in _UNKNOWN:
        return _UNKNOWN[name]
    if name == "utc_date":
        return str(np.datetime64(value, "D"))
    return f"{'ABCDE'[value // 100]}{value % 100:02}" if name == "eco" and 0 <= value < 500 else str(value)


def _describe_column(name: str, values: NDArray[Any]) -> str:
    if name == "game_id":
        return "a hash of the game's address; `check` looks for games that are there twice"
    if name == "result":
        counts = {code: sum(int((piece == code).sum()) for piece in _pieces(values)) for code in _RESULTS}
        return ", ".join(f"{_RESULTS[code]} {count / values.size:.1%}" for code, count in counts.items())
    spread = _spread(values, unknown=-1 if name in _UNKNOWN else None)
    missing = f", {_UNKNOWN[name]} {1 - spread.known / values.size:.1%}" if spread.known < values.size else ""
    if spread.known == 0:
        return f"{_UNKNOWN[name]} throughout"
    mean = "" if name in ("utc_date", "eco") else f", mean {spread.mean:.1f}"
    return f"{column_value(name, spread.low)} to {column_value(name, spread.high)}{mean}{missing}"


@dataclass(frozen=True)
class _Spread:
    """Of the values that are known: the ends, the mean, how many."""

    low: int
    high: int
    mean: float
    known: int


def _spread(values: NDArray[Any], unknown: int | None) -> _Spread:
    lows, highs, total, known = [], [], 0, 0
    for piece in _pieces(values):
        there = piece if unknown is None else piece[piece != unknown]
        if there.size:
            lows.append(int(there.min()))
            highs.append(int(there.max()))
            total += int(there.sum(dtype=np.int64))
            known += there.size
    return _Spread(min(lows, default=0), max(highs, default=0), total / max(known, 1), known)


def _pieces(values: NDArray[Any]) -> list[NDArray[Any]]:
    return [values[begin : begin + _VALUES_AT_ONCE] for begin in range(0, values.size, _VALUES_AT_ONCE)]
