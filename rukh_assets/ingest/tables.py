"""Parquet files of games: the Hugging Face layout, and the games form that this project writes itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rukh_assets.errors import DamagedSourceError, SourceError
from rukh_assets.ingest.raw import RAW_SCHEMA, TAGS
from rukh_assets.ingest.schema import GAMES_SCHEMA

BATCH_GAMES = 10_000
BATCH_BYTES = 1 << 26
"""A batch has at most so many games, and of games larger than usual only as many as come to about so many bytes."""
_BUFFER = 1 << 20

PLACED_GAMES_SCHEMA = pa.schema([*GAMES_SCHEMA, ("file", pa.string()), ("number", pa.int64())])
"""`GAMES_SCHEMA`, and where each game came from: base name of the file, 0-based number in it."""


def parquet_form(path: Path) -> str:
    """Return "parquet" for the Hugging Face layout (it has `movetext`) and "games" for the games form (it has `uci`).

    Raises `SourceError` for a file that has neither column, `DamagedSourceError` for one without a readable footer.
    """
    with _damage_named(path):
        columns = pq.read_schema(path).names
    if "movetext" in columns:
        return "parquet"
    if "uci" in columns:
        return "games"
    raise SourceError(f"{path}: columns {', '.join(columns)}; a parquet source needs 'movetext' or 'uci'")


def read_hf(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield batches of `RAW_SCHEMA` from a file of the Hugging Face layout.

    Columns may be absent, all null or of any type that has a text; each becomes the text that PGN would have.
    """
    with _damage_named(path):
        for batch, first in _read(path, [*TAGS, "movetext"]):
            columns = [_text(batch, name) for name in (*TAGS, "movetext")]
            ended = pa.nulls(batch.num_rows, pa.bool_())
            yield pa.RecordBatch.from_arrays([*columns, *_place(batch, path, first), ended], schema=RAW_SCHEMA)


def read_games_form(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield batches of `PLACED_GAMES_SCHEMA` from a file of the games form, cast to its types.

    Raises `SourceError` for a missing column.
    """
    with _damage_named(path):
        missing = sorted(set(GAMES_SCHEMA.names) - set(pq.read_schema(path).names))
        if missing:
            raise SourceError(f"{path}: the games form needs columns {', '.join(missing)}, which are missing")
        for batch, first in _read(path, GAMES_SCHEMA.names):
            columns = [batch[field.name].cast(field.type) for field in GAMES_SCHEMA]
            yield pa.RecordBatch.from_arrays([*columns, *_place(batch, path, first)], schema=PLACED_GAMES_SCHEMA)


def _read(path: Path, columns: list[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield batches of those `columns` that the file has, each with the number of its first row.

    Through a buffer, so that no column is ever in memory whole, be it larger than 2 GiB.
    """
    with pq.ParquetFile(path, buffer_size=_BUFFER, page_checksum_verification=True) as file:
        present = [name for name in columns if name in file.schema_arrow.names]
        first = 0
        for batch in file.iter_batches(_games_a_batch(file.metadata), columns=present):
            yield batch, first
            first += batch.num_rows


def _games_a_batch(metadata: pq.FileMetaData) -> int:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    game_bytes = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(BATCH_GAMES, BATCH_BYTES // max(game_bytes, 1)))


def _text(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, pa.string())
    column = batch[name]
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        return pc.strftime(column, format="%Y.%m.%d")
    return column.cast(pa.string())


def _place(batch: pa.RecordBatch, path: Path, first: int) -> tuple[pa.Array, pa.Array]:
    numbers = np.arange(first, first + batch.num_rows, dtype=np.int64)
    return pa.array([path.name] * batch.num_rows, pa.string()), pa.array(numbers)


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise DamagedSourceError(f"{path}: {error}") from error
