"""Where the kept records of .jsonl files stand, so that any of them is read alone."""

import json
import os
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import StoreChangedError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.formats.tensors import Cut, cut_at
from rukh_loaders.records.reading import Line, parse_line

LINE = np.dtype([("file", "<i4"), ("size", "<i4"), ("number", "<i8"), ("begin", "<i8")])
"""24 bytes a record; with its place in the stream, 32."""


@dataclass(frozen=True)
class LineFile:
    """A .jsonl file as it was when it was indexed."""

    path: str
    bytes: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True)
class DomainRun:
    """The records of a domain: `n_records` of them, one after the other."""

    name: str
    n_records: int


class LineRows:
    """Lines as they are kept one by one: 48 bytes each."""

    def __init__(self) -> None:
        self._columns = {name: array("q") for name in ("file", "size", "number", "begin", "tokens", "domain")}
        self._domains: dict[str, int] = {}

    def add(self, file: int, line: Line, tokens: int, domain: str) -> None:
        """One more kept record."""
        number = self._domains.setdefault(domain, len(self._domains))
        row = (file, line.end - line.begin, line.number, line.begin, tokens, number)
        for column, value in zip(self._columns.values(), row, strict=True):
            column.append(value)

    def finish(self, files: Sequence[LineFile]) -> "LineIndex":
        """The index, its records by domain and within one as they came, in a folder of its own."""
        columns = {name: np.frombuffer(column, np.int64) for name, column in self._columns.items()}
        names = sorted(self._domains)
        rank_of = {name: rank for rank, name in enumerate(names)}
        ranks = np.array([rank_of[name] for name in self._domains], np.int64)[columns["domain"]]
        order = np.argsort(ranks, kind="stable")
        lines = np.empty(order.size, LINE)
        for name in LINE.names or ():
            lines[name] = columns[name][order]
        counts = np.bincount(ranks, minlength=len(names)).tolist()
        domains = [DomainRun(name, count) for name, count in zip(names, counts, strict=True)]
        return _write(lines, cut_at(columns["tokens"][order]), files, domains)


class LineIndex:
    """The lines of kept records, mapped from a folder that is removed with the index that wrote it.

    `tokens` cuts the stream of all records into these; `content` is a digest of the files' bytes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines: NDArray[Any] = np.load(folder / "lines.npy", mmap_mode="r")
        self.tokens: Cut = np.load(folder / "tokens.npy", mmap_mode="r")
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        self.files = tuple(LineFile(**file) for file in facts["files"])
        self.domains = tuple(DomainRun(**domain) for domain in facts["domains"])

    @property
    def content(self) -> str:
        """Digest of what the files hold."""
        return digest([file.sha256 for file in self.files])

    def place(self, index: int) -> str:
        """The file and line of a record, for messages."""
        line = self._lines[index]
        return f"{self.files[line['file']].path}:{line['number']}"

    def read(self, indices: NDArray[np.int64]) -> list[object]:
        """The records of rising indices; `StoreChangedError` where a file was changed since it was indexed."""
        lines = self._lines[indices]
        records: list[object] = []
        for number in np.unique(lines["file"]):
            records += self._read_of(self.files[number], lines[lines["file"] == number])
        places = np.argsort(np.argsort(lines["file"], kind="stable"), kind="stable")
        return [records[place] for place in places]

    def _read_of(self, file: LineFile, lines: NDArray[Any]) -> list[object]:
        with open(file.path, "rb") as stream:  # noqa: PTH123
            status = os.fstat(stream.fileno())
            if (status.st_size, status.st_mtime_ns) != (file.bytes, file.mtime_ns):
                raise StoreChangedError(f"{file.path}: was changed since its lines were indexed; open it anew")
            records: list[object] = []
            for line in lines:
                stream.seek(line["begin"])
                records.append(parse_line(stream.read(line["size"]), int(line["number"])))
            return records


def _write(lines: NDArray[Any], tokens: Cut, files: Sequence[LineFile], domains: Sequence[DomainRun]) -> LineIndex:
    folder = Path(tempfile.mkdtemp(prefix="rukh-lines-"))
    np.save(folder / "lines.npy", lines)
    np.save(folder / "tokens.npy", tokens)
    facts = {"files": [asdict(file) for file in files], "domains": [asdict(domain) for domain in domains]}
    (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")
    index = LineIndex(folder)
    weakref.finalize(index, _remove, folder, os.getpid())
    return index


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in one that was forked, while this one still reads it
        shutil.rmtree(folder, ignore_errors=True)
