"""The files that a corpus is made of: hashed before they are read, and seen to be the same afterwards."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rukh_assets.errors import SourceChangedError
from rukh_loaders.errors import RecordFileError
from rukh_loaders.formats import FileRecord, hash_file
from rukh_loaders.records import Place, find_inputs, read_records
from rukh_loaders.records.corpus import Entry, in_batches


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
    """The files' records in order and in batches, see `in_batches`; `SourceChangedError` for a file that changed."""
    return in_batches(_entries(files), batch_size)


def _entries(files: Iterable[InputFile]) -> Iterator[Entry]:
    for file in files:
        for line, record in read_records(file.path):
            yield Place(file.path, line), record
        file.check_unchanged()


def _hash_input(path: Path) -> InputFile:
    try:
        _, changed_ns = _look_at(path)
        return InputFile(path, hash_file(path), changed_ns)
    except OSError as error:
        raise RecordFileError(f"{path}: cannot be read: {error.strerror or error}") from error


def _look_at(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns
