"""One raw game a row, all text: the form that every source is brought to, so that one conversion serves all."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

TAGS: dict[str, str] = {
    "Event": "event",
    "Site": "site",
    "White": "white",
    "Black": "black",
    "Result": "result",
    "WhiteTitle": "white_title",
    "BlackTitle": "black_title",
    "WhiteElo": "white_elo",
    "BlackElo": "black_elo",
    "UTCDate": "utc_date",
    "ECO": "eco",
    "Termination": "termination",
    "TimeControl": "time_control",
    "Variant": "variant",
    "FEN": "fen",
    "SetUp": "setup",
}
"""PGN tag, and column of the Hugging Face layout, to raw column. Other tags are dropped."""

RAW_SCHEMA = pa.schema(
    [
        *((column, pa.string()) for column in TAGS.values()),
        ("movetext", pa.string()),
        ("file", pa.string()),
        ("number", pa.int64()),
        ("ended", pa.bool_()),
    ]
)
"""The tags as the source spells them (null where absent; `utc_date` as `YYYY.MM.DD`), the `movetext`, the base name of
the `file`, the 0-based `number` of the game in it, and whether the game `ended` in a result token (null where the form
does not tell: the Hugging Face layout may leave the token out)."""


def raw_batch(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Return `rows`, one mapping from raw column to value a game, as a batch of `RAW_SCHEMA`; absent keys are null."""
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in RAW_SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=RAW_SCHEMA)
