"""What games are asked for by, read from how it is written: numbers, results, openings, clocks and dates.

Everything becomes boxes: a game meets a criterion when it lies in one of its boxes, and in a box when each column
that the box names lies within its bounds, both included. What a column marks as unknown lies in no box.
"""

from __future__ import annotations

import datetime
import functools
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from typing import Any, SupportsIndex

import numpy as np

from rukh_loaders.errors import ChoiceError
from rukh_loaders.formats.pack_info import COLUMNS

Box = tuple[tuple[str, int, int], ...]
"""Columns, each with the lowest and the highest value that lies in the box."""

Criterion = tuple[Box, ...]

Date = str | datetime.date

Number = SupportsIndex | tuple[SupportsIndex | None, SupportsIndex | None]
"""One number, or the lowest and the highest, None for no bound."""

Numbers = Number | list[Number] | Set[Number]

Openings = str | tuple[str | None, str | None] | list[Any] | Set[Any]

Dates = Date | tuple[Date | None, Date | None] | list[Any] | Set[Any]

Texts = str | Collection[str]

_RESULTS = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}
_ECO = re.compile(r"[A-E][0-9]{0,2}")
_TIME_CONTROL = re.compile(r"([0-9]{1,10})\+([0-9]{1,5})")
_UNKNOWN = -1
_EPOCH = datetime.date(1970, 1, 1)

_Bounds = tuple[int, int]


def read_criteria(asked: Mapping[str, Any]) -> list[Criterion]:
    """A criterion for each thing that is asked, by the names that `Packs.where` takes; None asks for nothing.

    `ChoiceError` names a value that no game can have.
    """
    return [_READERS[name](wanted) for name, wanted in asked.items() if wanted is not None]


def numbers(column: str, wanted: Numbers) -> Criterion:
    """Ratings, plies or seconds: a number, `(low, high)` with both ends and None for no bound, or a list or set."""
    return _alternatives(column, column, wanted, _number)


def openings(wanted: Openings) -> Criterion:
    """`"B20"`, a prefix such as `"B"` or `"B2"`, `("B20", "C99")` with both ends, or a list or set of these."""
    return _alternatives("eco", "eco", wanted, _opening)


def dates(wanted: Dates) -> Criterion:
    """A `datetime.date` or `"YYYY-MM-DD"`, two of them in a tuple with both ends, or a list or set of these."""
    return _alternatives("date", "utc_date", wanted, _date)


def results(wanted: Texts) -> Criterion:
    """`"1-0"`, `"0-1"` or `"1/2-1/2"`, or several of them."""
    return tuple((("result", result, result),) for result in map(_result, _texts(wanted)))


def time_controls(wanted: Texts) -> Criterion:
    """`"300+3"`, base and increment in seconds, `"-"` for correspondence, or several of these."""
    return tuple(
        (("base_seconds", base, base), ("increment_seconds", increment, increment))
        for base, increment in map(_time_control, _texts(wanted))
    )


def _alternatives(what: str, column: str, wanted: Any, bounds: Callable[[str, Any], _Bounds]) -> Criterion:
    """A box for each of several alternatives, or for the only one."""
    several = wanted if isinstance(wanted, (list, Set)) else [wanted]
    return tuple((((column, *_range(what, column, item, bounds)),)) for item in several)


def _range(what: str, column: str, item: Any, bounds: Callable[[str, Any], _Bounds]) -> _Bounds:
    """The bounds of one value, or of a tuple of the lowest and the highest; never those of what is unknown."""
    if not isinstance(item, tuple):
        return bounds(what, item)
    if len(item) != 2:
        raise ChoiceError(f"{what} {item!r}: a tuple is (lowest, highest); put alternatives into a list")
    low = 0 if item[0] is None else bounds(what, item[0])[0]
    high = int(np.iinfo(COLUMNS[column]).max) if item[1] is None else bounds(what, item[1])[1]
    if low > high:
        raise ChoiceError(f"{what} {item!r}: the lowest is above the highest")
    return low, high


def _number(what: str, value: Any) -> _Bounds:
    try:
        number = operator.index(value)
    except TypeError:
        number = _UNKNOWN
    if number < 0 or isinstance(value, bool):
        raise ChoiceError(
            f"{what} {value!r}: allowed are integers from 0 on, (lowest, highest), and lists or sets of these"
        )
    return number, number


def _opening(what: str, value: Any) -> _Bounds:
    if not isinstance(value, str) or not _ECO.fullmatch(value):
        raise ChoiceError(
            f"{what} {value!r}: allowed are A00 to E99, prefixes of them such as B or B2, (first, last), "
            "and lists or sets of these"
        )
    low, high = ("ABCDE".index(code[0]) * 100 + int(code[1:]) for code in (value.ljust(3, "0"), value.ljust(3, "9")))
    return low, high


def _date(what: str, value: Any) -> _Bounds:
    try:
        date = value if isinstance(value, datetime.date) else datetime.date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise ChoiceError(
            f"{what} {value!r}: allowed are dates, as YYYY-MM-DD or datetime.date, (first, last), "
            "and lists or sets of these"
        ) from error
    days = date.toordinal() - _EPOCH.toordinal()
    if days < 0:
        raise ChoiceError(f"{what} {value!r}: packs know dates from {_EPOCH} on")
    return days, days


def _result(value: Any) -> int:
    if value not in _RESULTS:
        raise ChoiceError(f"result {value!r}: allowed are {', '.join(_RESULTS)}, and lists or sets of them")
    return _RESULTS[value]


def _time_control(value: Any) -> tuple[int, int]:
    if value == "-":
        return _UNKNOWN, _UNKNOWN
    match = _TIME_CONTROL.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ChoiceError(
            f"time_control {value!r}: allowed are base+increment in seconds such as 300+3, - for correspondence, "
            "and lists or sets of these"
        )
    return int(match[1]), int(match[2])


def _texts(wanted: Texts) -> Iterable[Any]:
    return wanted if isinstance(wanted, Collection) and not isinstance(wanted, str) else [wanted]


_READERS: dict[str, Callable[[Any], Criterion]] = {
    **{
        column: functools.partial(numbers, column)
        for column in ("white_elo", "black_elo", "n_plies", "base_seconds", "increment_seconds")
    },
    "result": results,
    "eco": openings,
    "time_control": time_controls,
    "date": dates,
}
