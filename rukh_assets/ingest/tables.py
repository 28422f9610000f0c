"""Parquet files of games: the Hugging Face layout, and the games form that this project writes itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rukh_assets.errors import DamagedSourceError, SourceError
from rukh_assets.ingest.raw import RAW_SCHEMA, TAGS
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_assets.workers import ALONE, Workers

BATCH_GAMES = 10_000
BATCH_BYTES = 1 << 23
"""A batch has at most so many games, and of games larger than usual only as many as come to about so many bytes; a
row group of no more bytes is never divided."""
_BUFFER = 1 << 20

PLACED_GAMES_SCHEMA = pa.schema([*GAMES_SCHEMA, ("file", pa.string()), ("number", pa.int64())])
"""`GAMES_SCHEMA`, and where each game came from: base name of the file, 0-based number in it."""


def parquet_form(path: Path) -> str:
    """Return "parquet" for the Hugging Face layout (it has `movetext`) and "games" for the games form (it has `uci`).

    Raises `SourceError` for a file that has neither column, `DamagedSourceError` for one without a readable footer.
    """
    with _damage_named(path):
        columns = pq.read_schema(path).names
    twice = sorted({name for name in columns if columns.count(name) > 1} & {*TAGS, "movetext", *GAMES_SCHEMA.names})
    if twice:
        raise SourceError(f"{path}: columns {', '.join(twice)} are there more than once")
    if "movetext" in columns:
        return "parquet"
    if "uci" in columns:
        return "games"
    raise SourceError(f"{path}: columns {', '.join(columns)}; a parquet source needs 'movetext' or 'uci'")


def read_hf(path: Path, workers: Workers = ALONE) -> Iterator[pa.RecordBatch]:
    """Yield batches of `RAW_SCHEMA` from a file of the Hugging Face layout.

    Columns may be absent, all null or of any type that has a text; each becomes the text that PGN would have.
    """
    with _damage_named(path):
        for batch, place in _read(path, [*TAGS, "movetext"], _raw_texts, workers):
            ended = pa.nulls(batch.num_rows, pa.bool_())
            yield pa.RecordBatch.from_arrays([*batch.columns, *place, ended], schema=RAW_SCHEMA)


def read_games_form(path: Path, workers: Workers = ALONE) -> Iterator[pa.RecordBatch]:
    """Yield batches of `PLACED_GAMES_SCHEMA` from a file of the games form, cast to its types.

    Raises `SourceError` for a missing column.
    """
    with _damage_named(path):
        missing = sorted(set(GAMES_SCHEMA.names) - set(pq.read_schema(path).names))
        if missing:
            raise SourceError(f"{path}: the games form needs columns {', '.join(missing)}, which are missing")
        for batch, place in _read(path, GAMES_SCHEMA.names, _games, workers):
            yield pa.RecordBatch.from_arrays([*batch.columns, *place], schema=PLACED_GAMES_SCHEMA)


_FIRST_DAY, _LAST_DAY = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))

Convert = Callable[[pa.RecordBatch], pa.RecordBatch]


class Portion(NamedTuple):
    """Row groups that are decoded together: several small ones, or one."""

    groups: list[int]
    n_games: int
    n_bytes: int


def _read(
    path: Path, columns: list[str], convert: Convert, workers: Workers
) -> Iterator[tuple[pa.RecordBatch, tuple[pa.Array, pa.Array]]]:
    """Yield batches of those `columns` that the file has, converted, each with its place in the file.

    Small row groups are decoded by the workers, each whole. Larger ones come through a buffer, so that no column is
    ever in memory whole, be it larger than 2 GiB.
    """
    with pq.ParquetFile(path, buffer_size=_BUFFER, page_checksum_verification=True) as file:
        present = [name for name in columns if name in file.schema_arrow.names]
        decode = partial(_decode, path, file.metadata, present, convert)
        n_games = 0
        for small, portions in groupby(_portions(file.metadata), key=lambda portion: portion.n_bytes <= BATCH_BYTES):
            if small:
                batches = chain.from_iterable(workers.map(decode, portions))
            else:
                batches = chain.from_iterable(_stream(file, portion, present, convert) for portion in portions)
            for batch in batches:
                numbers = np.arange(n_games, n_games + batch.num_rows, dtype=np.int64)
                yield batch, (pa.repeat(path.name, batch.num_rows), pa.array(numbers))
                n_games += batch.num_rows


def _portions(metadata: pq.FileMetaData) -> Iterator[Portion]:
    portion = Portion([], 0, 0)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        grown = Portion(
            [*portion.groups, number], portion.n_games + group.num_rows, portion.n_bytes + group.total_byte_size
        )
        if portion.groups and (grown.n_games > BATCH_GAMES or grown.n_bytes > BATCH_BYTES):
            yield portion
            grown = Portion([number], group.num_rows, group.total_byte_size)
        portion = grown
    if portion.groups:
        yield portion


def _decode(
    path: Path, metadata: pq.FileMetaData, columns: list[str], convert: Convert, portion: Portion
) -> list[pa.RecordBatch]:
    with pq.ParquetFile(path, metadata=metadata, page_checksum_verification=True) as file:
        table = file.read_row_groups(portion.groups, columns, use_threads=False)
    return [convert(batch) for batch in table.combine_chunks().to_batches()]


def _stream(file: pq.ParquetFile, portion: Portion, columns: list[str], convert: Convert) -> Iterator[pa.RecordBatch]:
    game_bytes = portion.n_bytes // max(portion.n_games, 1)
    size = max(1, min(BATCH_GAMES, BATCH_BYTES // max(game_bytes, 1)))
    return map(convert, file.iter_batches(size, row_groups=portion.groups, columns=columns))


def _raw_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    names = [*TAGS, "movetext"]
    return pa.RecordBatch.from_arrays([_text(batch, name) for name in names], names)


def _games(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [_known_dates(_valid(batch, field.name).cast(field.type)) for field in GAMES_SCHEMA], schema=GAMES_SCHEMA
    )


def _text(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, pa.string())
    column = _valid(batch, name)
    if pa.types.is_timestamp(column.type) and column.type.tz:
        column = column.cast(pa.timestamp(column.type.unit, "UTC"))
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        return pc.strftime(column, format="%Y.%m.%d")
    return column.cast(pa.string())


def _valid(batch: pa.RecordBatch, name: str) -> pa.Array:
    """The column, its texts found to be UTF-8."""
    try:
        batch[name].validate(full=True)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(f"column {name}: {error}") from error
    return batch[name]


def _known_dates(column: pa.Array) -> pa.Array:
    """The column; dates must lie in the years 1 to 9999, since no calendar here knows others."""
    if pa.types.is_date32(column.type):
        least, most = (bound.as_py() for bound in pc.min_max(column.cast(pa.int32())).values())
        if least is not None and not _FIRST_DAY <= least <= most <= _LAST_DAY:
            raise pa.ArrowInvalid(f"column utc_date: days {least} to {most}, allowed {_FIRST_DAY} to {_LAST_DAY}")
    return column


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise DamagedSourceError(f"{path}: {error}") from error
