"""Where a month's games come from: one interface over the forms that `open_source` knows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from rukh_assets.errors import SourceChangedError, SourceError
from rukh_assets.ingest.expectation import Expectation as Expectation
from rukh_assets.ingest.expectation import SourceFile as SourceFile
from rukh_assets.ingest.expectation import read_sidecars
from rukh_assets.ingest.find import ending, find_files
from rukh_assets.ingest.pgn import PgnReader
from rukh_assets.ingest.pgn_splitter import PgnSplitter
from rukh_assets.ingest.schema import split_month
from rukh_assets.ingest.tables import parquet_form, read_games_form, read_hf
from rukh_assets.ingest.zst import read_zst
from rukh_assets.workers import ALONE, Workers
from rukh_loaders.formats.manifest import hash_file

PgnSplit = Callable[[Iterable[bytes], str], PgnReader | PgnSplitter]
"""From the bytes of a PGN file and its name to its games."""

SAMPLE = "sample"
_BLOCK = 1 << 20


class Source(Protocol):
    """The games of one month, read from the start by each call of `batches`."""

    form: str
    """One of "sample", "parquet" (the Hugging Face layout), "games", "pgn" and "pgn.zst"."""
    name: str
    """What to call it in messages."""
    files: Sequence[SourceFile]
    """Its files in the order in which they are read, as they were when hashed; none for a sample."""
    undecodable_bytes: int
    """Bytes that were not UTF-8 in the batches so far."""

    def describe(self) -> dict[str, Any]:
        """Return what identifies the input, for manifests: never a path of this machine."""

    def batches(self, workers: Workers = ALONE) -> Iterator[pa.RecordBatch]:
        """Yield the games in order: `RAW_SCHEMA`, or `PLACED_GAMES_SCHEMA` where `form` is "games".

        The same games for any `workers`, who may read ahead.
        """

    def check_unchanged(self) -> None:
        """Raise `SourceChangedError` where what was read need not be what was hashed."""


def open_source(setting: str, month: str, *, sample_games: int = 2000, seed: int = 0) -> Source:
    """Return the source of `month` (`YYYY-MM`) that `setting` names, its files hashed.

    `setting` is `sample`, for `sample_games` games made from `seed`, or a path pattern (see `find_files`). The form
    follows from the files' ending, and for parquet from the columns. A digest beside a file (see `read_sidecars`) must
    be that of the file.

    Raises `SourceError`, `SourceMissingError` (not published yet) and `DamagedSourceError`.
    """
    split_month(month)
    if setting == SAMPLE:
        return SampleSource(month, sample_games, seed)
    paths = find_files(setting, month)
    return FileSource(_form(paths), paths)


class SampleSource:
    """Games made here from a seed, so that everything runs without a file or a network."""

    form = SAMPLE
    name = SAMPLE
    files: Sequence[SourceFile] = ()
    undecodable_bytes = 0

    def __init__(self, month: str, games: int, seed: int) -> None:
        self._month, self._games, self._seed = month, games, seed

    def describe(self) -> dict[str, Any]:
        """Return the form and what the games are made from."""
        return {"form": self.form, "games": self._games, "seed": self._seed, "files": []}

    def batches(self, workers: Workers = ALONE) -> Iterator[pa.RecordBatch]:
        """Yield the games, the same ones each time."""
        from rukh_assets.ingest.sample import sample_batches

        yield from sample_batches(self._month, self._games, self._seed)

    def check_unchanged(self) -> None:
        """Nothing can change."""


class FileSource:
    """The games of one file after the other, all of one form; `split_pgn` is `PgnSplitter`, or its oracle."""

    def __init__(self, form: str, paths: Sequence[Path], split_pgn: PgnSplit = PgnSplitter) -> None:
        self.form = form
        self._split_pgn = split_pgn
        self.name = ", ".join(path.name for path in paths)
        self.undecodable_bytes = 0
        self._paths = tuple(paths)
        self._stamps = [_stamp(path) for path in paths]
        self.files: Sequence[SourceFile] = tuple(SourceFile(path.name, **hash_file(path)) for path in paths)
        Expectation(sha256=read_sidecars(paths)).check_files(self.files)

    def describe(self) -> dict[str, Any]:
        """Return the form, and name, size and sha256 of each file."""
        return {"form": self.form, "files": [vars(file) for file in self.files]}

    def batches(self, workers: Workers = ALONE) -> Iterator[pa.RecordBatch]:
        """Yield the games of all files; `DamagedSourceError` where one cannot be read to its end."""
        self.undecodable_bytes = 0
        for path in self._paths:
            yield from self._read(path, workers)

    def check_unchanged(self) -> None:
        """Raise `SourceChangedError` where a file's size or time of change is not what it was when it was hashed."""
        for path, stamp in zip(self._paths, self._stamps, strict=True):
            if (now := _stamp(path)) != stamp:
                raise SourceChangedError(
                    f"{path}: changed while it was read: (size, mtime_ns) was {stamp}, is {now}; run the month again"
                )

    def _read(self, path: Path, workers: Workers) -> Iterator[pa.RecordBatch]:
        if self.form == "parquet":
            return read_hf(path, workers)
        if self.form == "games":
            return read_games_form(path, workers)
        return self._read_pgn(path)

    def _read_pgn(self, path: Path) -> Iterator[pa.RecordBatch]:
        blocks = read_zst(path) if self.form == "pgn.zst" else _read_blocks(path)
        games = self._split_pgn(blocks, path.name)
        yield from games.batches()
        self.undecodable_bytes += games.undecodable_bytes


def _form(paths: Sequence[Path]) -> str:
    if ending(paths[0]) != ".parquet":
        return str(ending(paths[0])).removeprefix(".")
    forms = {path.name: parquet_form(path) for path in paths}
    if len(set(forms.values())) > 1:
        raise SourceError(f"source files of more than one form: {forms}; give a pattern that matches one form only")
    return forms[paths[0].name]


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _read_blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
