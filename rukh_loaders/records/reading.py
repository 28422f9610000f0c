"""Input files to records: .jsonl line by line in bounded memory, .json whole.

Offline and online, files are read through here, so a file has the same records in both. What cannot be read as a
record is a `BadLine` in its place, never an end of the reading.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rukh_loaders.errors import RecordFileError
from rukh_loaders.records.outcomes import SkipReason

MAX_LINE_BYTES = 64 << 20
"""A longer line is a bad line: it is most likely a file without line feeds."""
MAX_JSON_BYTES = 1 << 30
"""A .json file is read whole; a longer one is refused, and can be written as .jsonl."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class BadLine:
    """A line, or an element of a .json list, that is no record: `detail` says what was got."""

    reason: SkipReason
    detail: str


@dataclass(frozen=True, slots=True)
class Line:
    """Where a line stands in its file: its number from 1, and its first byte and that behind its last."""

    number: int
    begin: int
    end: int


def find_inputs(paths: Iterable[Path | str]) -> list[Path]:
    """The files to read: a file as it is, of a folder its .jsonl files, not those in folders below, sorted by name.

    `RecordFileError` for a path that is missing and for a folder without such a file, before anything is read.
    """
    return [file for path in map(Path, paths) for file in _files_of(path)]


def read_records(path: Path | str) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    """Each record of a file with its number: the line's, from 1, blank lines counted but not given.

    A path that ends in .json (any case) is read whole, at most `MAX_JSON_BYTES`: an object is record 1, of a list each
    element is a record with its place from 1. Any other is read as lines of at most `MAX_LINE_BYTES`. Text is UTF-8; a
    byte order mark is passed over. `RecordFileError` for a file that cannot be opened or read.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if path.suffix.lower() == ".json":
                yield from _read_whole(path, file)
            else:
                yield from ((line.number, record) for line, record in read_lines(file))
    except OSError as error:
        raise RecordFileError(f"{path}: cannot be read: {error.strerror or error}") from error


def _files_of(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise RecordFileError(f"{path}: is missing, expected a file or a folder of .jsonl files")
    files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".jsonl" and file.is_file())
    if not files:
        raise RecordFileError(f"{path}: has no .jsonl file; those in folders below it are not looked for")
    return files


def read_lines(file: IO[bytes]) -> Iterator[tuple[Line, dict[str, Any] | BadLine]]:
    """Each line of a .jsonl file that is not blank, with its place: the bytes of it are what `parse_line` takes."""
    number = end = 0
    while text := file.readline(MAX_LINE_BYTES + 1):
        number, begin, end = number + 1, end, end + len(text)
        if len(text) > MAX_LINE_BYTES and not text.endswith(b"\n"):
            end += _pass_line(file)
            yield Line(number, begin, end), BadLine(SkipReason.NOT_JSON, f"a line of more than {MAX_LINE_BYTES} bytes")
        elif (record := parse_line(text, number)) is not None:
            yield Line(number, begin, end), record


def parse_line(text: bytes, number: int) -> dict[str, Any] | BadLine | None:
    """The record of a line of this number, of which the first may begin with a byte order mark; None of a blank one."""
    text = (text.removeprefix(_BOM) if number == 1 else text).strip()
    if not text:
        return None
    try:
        return _as_record(json.loads(text.decode()))
    except (ValueError, RecursionError) as error:
        return BadLine(SkipReason.NOT_JSON, f"not JSON: {error}")


def _pass_line(file: IO[bytes]) -> int:
    """How many bytes the rest of the line has."""
    size = 0
    while line := file.readline(1 << 20):
        size += len(line)
        if line.endswith(b"\n"):
            break
    return size


def _read_whole(path: Path, file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    data = file.read(MAX_JSON_BYTES + 1)
    if len(data) > MAX_JSON_BYTES:
        raise RecordFileError(
            f"{path}: has more than {MAX_JSON_BYTES} bytes, which is what is read of a .json file; "
            "write one record a line into a .jsonl file"
        )
    try:
        content = json.loads(data.removeprefix(_BOM).decode())
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        yield line, BadLine(SkipReason.NOT_JSON, f"not JSON: {error}; a file of one record a line is named .jsonl")
        return
    elements = content if isinstance(content, list) else [content]
    for number, element in enumerate(elements, 1):
        yield number, _as_record(element)


def _as_record(value: object) -> dict[str, Any] | BadLine:
    if isinstance(value, dict):
        return value
    return BadLine(SkipReason.NOT_AN_OBJECT, f"a JSON {type(value).__name__}, expected an object")
