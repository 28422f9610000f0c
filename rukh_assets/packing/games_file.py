"""A games file, opened once: hashed and read through the same handle, so that both are of the same bytes."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from rukh_assets.errors import DamagedSourceError, GameColumnsError, GamesChangedError, GamesMissingError
from rukh_assets.ingest.schema import GAMES_SCHEMA
from rukh_loaders.formats import MANIFEST, FileRecord, hash_file, read_manifest

_BUFFER = 1 << 20
"""Bytes of a column that are read at once, instead of all of a row group's."""


class Piece(NamedTuple):
    """Games that follow each other in one row group."""

    row_group: int
    first_row: int
    """The row of the first one, counted from 0 in the row group."""
    games: pa.RecordBatch


class GamesFile:
    """A month's games, in order; `record` is the size and sha256 of the bytes that are read."""

    def __init__(self, path: Path, record: FileRecord, parquet: pq.ParquetFile) -> None:
        self.path = path
        self.record = record
        self._parquet = parquet

    @property
    def n_games(self) -> int:
        """Rows of the file."""
        return int(self._parquet.metadata.num_rows)

    def row_groups(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield every row group, in order, with these columns of the games schema: one in memory at a time.

        Raises `GameColumnsError` for a column that is missing or does not cast to the schema's type without loss.
        """
        schema = self._schema(columns)
        for number in range(self._parquet.num_row_groups):
            place = f"{self.path}, row group {number}"
            with _damage_named(place):
                table = self._parquet.read_row_group(number, columns=list(columns))
            yield _cast(table, schema, place)

    def pieces(self, columns: Sequence[str], most_games: int) -> Iterator[Piece]:
        """Yield every row group, in order, in pieces of at most so many games: one in memory at a time.

        One piece without games stands for a row group that has none. Raises as `row_groups` does.
        """
        schema = self._schema(columns)
        for number in range(self._parquet.num_row_groups):
            place = f"{self.path}, row group {number}"
            row = 0
            with _damage_named(place):
                for batch in self._parquet.iter_batches(most_games, row_groups=[number], columns=list(columns)):
                    games = _cast(pa.Table.from_batches([batch]), schema, place)
                    yield Piece(number, row, games.to_batches()[0])
                    row += batch.num_rows
            if row == 0:
                yield Piece(number, row, pa.RecordBatch.from_pylist([], schema))

    def _schema(self, columns: Sequence[str]) -> pa.Schema:
        present = set(self._parquet.schema_arrow.names)
        missing = [name for name in columns if name not in present]
        if missing:
            raise GameColumnsError(f"{self.path}: columns {missing} are missing; the file has {sorted(present)}")
        return pa.schema([GAMES_SCHEMA.field(name) for name in columns])


@contextmanager
def open_games_file(path: Path) -> Iterator[GamesFile]:
    """Open and hash a games file; one that is replaced meanwhile is read on as it was.

    Raises `GamesMissingError` when there is none, `GamesChangedError` when a manifest beside it lists the file with
    another size or sha256, and `DamagedSourceError`, here and while it is read, for what is no parquet file.
    """
    _check_stands(path)
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        record: FileRecord = {"bytes": stream.tell(), "sha256": sha256}
        said = _said(path)
        if said is not None and said != record:
            raise GamesChangedError(f"{path}: is {record}, the manifest beside it says {said}")
        stream.seek(0)
        with _damage_named(str(path)):
            parquet = pq.ParquetFile(stream, buffer_size=_BUFFER)
        yield GamesFile(path, record, parquet)


def games_sha256(path: Path) -> str:
    """The sha256 of a games file without reading it where the manifest beside it says so and the size agrees."""
    _check_stands(path)
    said = _said(path)
    if said is not None and said["bytes"] == path.stat().st_size:
        return said["sha256"]
    return hash_file(path)["sha256"]


def _check_stands(path: Path) -> None:
    if not path.is_file():
        raise GamesMissingError(f"{path}: is not there; make the month's games first (the asset `games`)")


def _cast(games: pa.Table, schema: pa.Schema, place: str) -> pa.Table:
    try:
        return games.select(schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise GameColumnsError(f"{place}: {error}; expected {schema}") from error


@contextmanager
def _damage_named(place: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise DamagedSourceError(f"{place}: {error}") from error


def _said(path: Path) -> FileRecord | None:
    if not (path.parent / MANIFEST).is_file():
        return None
    record: FileRecord | None = read_manifest(path.parent).get("files", {}).get(path.name)
    return record
