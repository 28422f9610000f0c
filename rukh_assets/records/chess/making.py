"""A month of raw records: made by a recipe, published whole, left as it is while nothing that it is made of changes."""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

from rukh_assets.errors import EmptyCorpusError
from rukh_assets.records.chess.corpora import furnish
from rukh_assets.standing import standing_manifest
from rukh_loaders.formats import describe_files, digest, publish_folder, write_manifest
from rukh_loaders.formats.publish import exclusive

CHESS_RECORDS_VERSION = 1
"""Raised with any change that makes other records of the same games."""

RECORDS_PER_FILE = 100_000

UNCHANGED = "unchanged: games, settings and code are what the standing records were made from"

Progress = Callable[[int, int], None]
"""Called with what was read and what was written so far, in games (of pairs: in groups) and records."""


class Recipe(Protocol):
    """How the records of one corpus are made of a month."""

    @property
    def corpus(self) -> str:
        """The corpus that the records are of."""

    def describe(self) -> dict[str, Any]:
        """What the records depend on, as JSON: settings, and digests of what is read."""

    def write(self, files: "RecordFiles", progress: Progress | None) -> dict[str, int]:
        """Write the records and return counts of what became of what was read."""


class RecordFiles:
    """Lines into `part_0000.jsonl`, `part_0001.jsonl`, ... of a folder, `RECORDS_PER_FILE` in each; a context."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n_records = 0
        self._file: IO[str] | None = None

    def write(self, lines: Iterable[str]) -> None:
        """Add records, each a JSON object without a line feed."""
        for line in lines:
            if self.n_records % RECORDS_PER_FILE == 0:
                self._open_next()
            assert self._file is not None
            self._file.write(line)
            self._file.write("\n")
            self.n_records += 1

    def __enter__(self) -> "RecordFiles":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def _open_next(self) -> None:
        if self._file is not None:
            self._file.close()
        name = f"part_{self.n_records // RECORDS_PER_FILE:04d}.jsonl"
        self._file = (self.folder / name).open("w", encoding="ascii", newline="\n")


def make_records(
    recipe: Recipe, month: str, corpus_folder: Path, *, force: bool = False, progress: Progress | None = None
) -> tuple[dict[str, Any], str]:
    """Make `corpus_folder/<month>` by a recipe, and config.json and tokenizer/ beside it where they are missing.

    The month's folder appears whole, with .jsonl files and manifest.json, in place of the one that stood there. The
    same inputs and settings give the same bytes. Returns the manifest, and what was done: "built" or `UNCHANGED`.

    Raises `EmptyCorpusError` where there is no record; what stands then stays.
    """
    folder = corpus_folder / month
    described = {"code_version": CHESS_RECORDS_VERSION, "corpus": recipe.corpus, "month": month, **recipe.describe()}
    with exclusive(folder):
        furnish(recipe.corpus, corpus_folder)
        manifest = None if force else standing_manifest(folder, digest(described))
        if manifest is not None:
            return manifest, UNCHANGED
        with publish_folder(folder) as building:
            with RecordFiles(building) as files:
                counts = recipe.write(files, progress)
            if not files.n_records:
                said = ", ".join(f"{name} {count}" for name, count in counts.items())
                raise EmptyCorpusError(f"{recipe.corpus} {month}: no record can be made; {said}")
            listed = describe_files(building)
            manifest = {
                "format_version": 1,
                "content": "raw_records",
                **described,
                "counts": counts,
                "n_records": files.n_records,
                "files": listed,
                "inputs": digest(described),
                "data_version": digest(listed),
                "libraries": {},
            }
            write_manifest(building, manifest)
    return manifest, "built"
