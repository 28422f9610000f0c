"""The columns of a month's games (formats.md section 1) and the name of a month."""

import re

import pyarrow as pa

from rukh_assets.errors import MonthError

GAMES_SCHEMA = pa.schema(
    [
        ("game_id", pa.int64()),
        ("uci", pa.string()),
        ("n_plies", pa.int16()),
        ("white_elo", pa.int16()),
        ("black_elo", pa.int16()),
        ("result", pa.string()),
        ("time_control", pa.string()),
        ("utc_date", pa.date32()),
        ("eco", pa.string()),
        ("month", pa.string()),
    ]
)
"""One game a row. Only `utc_date` may be null (an unknown date); an unknown `eco` is `?`."""

RESULTS = ("1-0", "0-1", "1/2-1/2")
"""Results of finished games."""

MAX_INT16 = 32_767
"""Largest rating and number of plies that the schema holds."""

_MONTH = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])")


def split_month(month: str) -> tuple[str, str]:
    """Return (`YYYY`, `MM`) of a month named strictly `YYYY-MM`.

    Raises `MonthError` for anything else, so that no other text becomes part of a path.
    """
    if not _MONTH.fullmatch(month):
        raise MonthError(f"month {month!r}: must be YYYY-MM, from 01 to 12, such as '2021-10'")
    return month[:4], month[5:]
