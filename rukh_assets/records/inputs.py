"""The files that a corpus is made of: hashed before they are read, and seen to be the same afterwards."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rukh_assets.errors import SourceChangedError
from rukh_loaders.errors import RecordFileError
from rukh_loaders.formats import FileRecord, hash_file
from rukh_loaders.records import BadLine, Place, find_inputs, read_records

Entry = tuple[Place, dict[str, Any] | BadLine]

MAX_BATCH_CHARACTERS = 1 << 21
"""A batch is no larger than this, or it is one record: encoded, a text takes some hundred times its size."""


@dataclass(frozen=True)
class InputFile:
    """A file of records, as it was when it was hashed."""

    path: Path
    record: FileRecord
    changed_ns: int

    def check_unchanged(self) -> None:
        """Raise `SourceChangedError` where size or time of change is not what it was."""
        size, changed_ns = _look_at(self.path)
        if (size, changed_ns) != (self.record["bytes"], self.changed_ns):
            raise SourceChangedError(
                f"{self.path}: was changed while it was read: it had {self.record['bytes']} bytes and has {size}"
            )


def hash_inputs(paths: Iterable[Path | str]) -> list[InputFile]:
    """The files to read, as `find_inputs` finds them; `RecordFileError` for one that cannot be read."""
    return [_hash_input(path) for path in find_inputs(paths)]


def read_in_batches(files: Iterable[InputFile], batch_size: int) -> Iterator[list[Entry]]:
    """The files' records in order, at most `batch_size` and at most `MAX_BATCH_CHARACTERS` of text at a time."""
    batch: list[Entry] = []
    characters = 0
    for file in files:
        for line, record in read_records(file.path):
            more = _count_characters(record)
            if batch and (len(batch) == batch_size or characters + more > MAX_BATCH_CHARACTERS):
                yield batch
                batch, characters = [], 0
            batch.append((Place(file.path, line), record))
            characters += more
        file.check_unchanged()
    if batch:
        yield batch


def _hash_input(path: Path) -> InputFile:
    try:
        _, changed_ns = _look_at(path)
        return InputFile(path, hash_file(path), changed_ns)
    except OSError as error:
        raise RecordFileError(f"{path}: cannot be read: {error.strerror or error}") from error


def _look_at(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _count_characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_count_characters, value.values()))
    return sum(map(_count_characters, value)) if isinstance(value, list) else 0
