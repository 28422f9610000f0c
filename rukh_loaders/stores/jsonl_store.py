"""Raw .jsonl files as they are: each record is made into ids and masks when it is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import (
    NoRecordsError,
    RecordFileError,
    StoreChangedError,
    UnsupportedFileError,
)
from rukh_loaders.formats.corpus import POSITION_IDS
from rukh_loaders.formats.manifest import hash_file
from rukh_loaders.records import Built, MaskBuilder, OutputKind, PipelineConfig, RecordTokenizer, Tally, find_inputs
from rukh_loaders.records.corpus import Entry, Place, build_batch, in_batches, judge
from rukh_loaders.records.reading import Line, read_lines
from rukh_loaders.stores.cutting import Part
from rukh_loaders.stores.line_index import LineFile, LineIndex, LineRows
from rukh_loaders.stores.store import Array, Bounds, Column, Store

ID_DTYPE = np.dtype("int32")
"""Of ids, masks and positions."""


class JsonlStore(Store):
    """A .jsonl file, or those of a folder, by a config and a tokenizer; the ids and masks are those of its shards.

    Opening it builds every record once: those that cannot be served are counted in `tally`, with their places, and
    left out, before any training begins; of the others, only the place of their lines is kept. After that a record is
    read and built each time it is asked for, once for all of its keys. Nothing is packed into rows. Records come by
    domain, and within one as they stand in the files.

    `builder` is the class that builds: `MaskBuilder`, or one of your own for records of another shape.

    Errors: those of `find_inputs`, `RecordTokenizer.from_folder` and `MaskBuilder`; `UnsupportedFileError` for a file
    that is no .jsonl file; `NoRecordsError` where no record is left; `RecordRefusedError` at the first bad one where
    the config is strict; `StoreChangedError` when a file has changed since.
    """

    def __init__(
        self,
        path: Path | str,
        config: PipelineConfig,
        tokenizer: RecordTokenizer | Path | str,
        window_size: int = 0,
        stride: int | None = None,
        *,
        pad_last: bool = False,
        weights: Mapping[str, float] | None = None,
        builder: type[MaskBuilder] = MaskBuilder,
        _index: tuple[LineIndex, Tally] | None = None,
    ) -> None:
        self.path = Path(path)
        self.config = config
        self.tokenizer = tokenizer if isinstance(tokenizer, RecordTokenizer) else RecordTokenizer.from_folder(tokenizer)
        self._builder = builder(config.for_building(), self.tokenizer)
        self._outputs = self._builder.outputs
        self._dtypes = {o.name: config.value_dtype(o.name) for o in self._outputs if _is_values(o)}
        streamed = next((o.names for o in self._outputs if o.kind is OutputKind.SEQUENCE), ())
        has_positions = "sequence" in streamed and config.output.position_ids_mode != "none"
        self.stream_keys = (*streamed, POSITION_IDS) if has_positions else streamed
        self.keys = tuple(name for o in self._outputs for name in o.names) + ((POSITION_IDS,) if has_positions else ())
        self._index, self.tally = _index or self._index_lines()
        self.domains = tuple(self._domains())
        super().__init__(window_size, stride, pad_last, weights)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (
            self.path.absolute(),
            self.config,
            self.tokenizer,
            self.cutting.window_size,
            self.cutting.stride,
        )
        options = {"pad_last": self.cutting.pad_last, "weights": self.weights, "builder": type(self._builder)}
        return _reopen, (type(self), arguments, options, self._index.folder, self.tally, self.fingerprint)

    def check_same_lengths(self, keys: Sequence[str]) -> None:
        """Nothing: what is built goes along with its ids."""

    def record_bounds(self, index: int) -> Bounds:
        """Begin and end of a record in the stream; `RecordIndexError` outside `0..num_records-1`."""
        self._check_record(index)
        begin, end = self._index.tokens[index : index + 2].tolist()
        return begin, end

    def document_begins(self, begin: int, end: int) -> NDArray[np.int64]:
        """Where the records of a range of the stream begin."""
        first, last = self._records_of(begin, max(end, begin + 1))
        return np.array(self._index.tokens[first:last])

    def _record_keys(self) -> tuple[str, ...]:
        return self.keys

    def _content(self) -> object:
        return [self._index.content, self.config.fingerprint, self.tokenizer.fingerprint, type(self._builder).__name__]

    def _domains(self) -> Iterator[Part]:
        ends = accumulate((run.n_records for run in self._index.domains), initial=0)
        tokens = self._index.tokens if self.stream_keys else np.zeros_like(self._index.tokens)
        for run, begin in zip(self._index.domains, ends, strict=False):
            end = begin + run.n_records
            yield Part(run.name, range(begin, end), range(int(tokens[begin]), int(tokens[end])))

    def _records_of(self, begin: int, end: int) -> tuple[int, int]:
        """The records that a range of the stream touches, as a range."""
        tokens = self._index.tokens
        first = max(int(np.searchsorted(tokens, begin, "right")) - 1, 0)
        return first, min(max(int(np.searchsorted(tokens, end)), first), len(tokens) - 1)

    def _read_stream(self, bounds: Sequence[Bounds], keys: Sequence[str]) -> list[dict[str, Array]]:
        touched = [self._records_of(begin, end) if begin < end else (0, 0) for begin, end in bounds]
        records = self._build([np.arange(*records) for records in touched])
        return [
            {key: self._piece(key, records, span, begin, end) for key in keys}
            for span, (begin, end) in zip(touched, bounds, strict=True)
        ]

    def _piece(self, key: str, records: dict[int, Built], span: Bounds, begin: int, end: int) -> Array:
        whole = [np.empty(0, ID_DTYPE), *(self._array(key, i, records[i]) for i in range(*span))]
        offset = int(self._index.tokens[span[0]])
        return np.concatenate(whole)[begin - offset : end - offset] if begin < end else whole[0]

    def _read_records(self, indices: Sequence[int], keys: Sequence[str]) -> list[dict[str, Column]]:
        records = self._build([np.array(indices, np.int64)])
        return [{key: self._column(key, i, records[i]) for key in keys} for i in indices]

    def _build(self, indices: Sequence[NDArray[np.int64]]) -> dict[int, Built]:
        """The records of all these, each read and built once."""
        wanted = np.unique(np.concatenate([np.empty(0, np.int64), *indices]))
        if not wanted.size:
            return {}
        built = {}
        for i, outcome in zip(wanted.tolist(), self._builder.build(self._index.read(wanted)), strict=True):
            if not isinstance(outcome, Built):
                raise StoreChangedError(f"{self._index.place(i)}: can be served no more: {outcome.detail}")
            built[i] = outcome
        return built

    def _column(self, key: str, index: int, record: Built) -> Column:
        column: Any = record.keys.get(key)
        if key != POSITION_IDS and key not in self._dtypes and column and isinstance(column[0], list):
            return [np.array(ids, ID_DTYPE) for ids in column]
        return self._array(key, index, record)

    def _array(self, key: str, index: int, record: Built) -> Array:
        if key == POSITION_IDS:
            begin, end = self.record_bounds(index)
            return np.arange(begin, end, dtype=ID_DTYPE) - ID_DTYPE.type(self._origin(index, begin))
        if key in self._dtypes:
            return np.array(record.keys[key], np.float64).astype(self._dtypes[key])
        return np.array(record.keys[key], ID_DTYPE)

    def _origin(self, index: int, begin: int) -> int:
        """The token of the stream at which the positions of a record count from 0."""
        if self.config.output.position_ids_mode == "doc_reset":
            return begin
        return next(part.tokens.start for part in self.domains if index in part.records)

    def _index_lines(self) -> tuple[LineIndex, Tally]:
        """Build every record of the files once, and keep the place of those that can be served."""
        paths = _jsonl_files(self.path)
        files = [_describe(path) for path in paths]
        rows, tally, lines = LineRows(), Tally(), deque[tuple[int, Line]]()
        batches = in_batches(_read(paths, lines), self.config.preprocessing.batch_size)
        outcomes = (outcome for batch in batches for outcome in build_batch(batch, self._builder))
        for place, outcome in judge(outcomes, self.config):
            file, line = lines.popleft()
            tally.note(place, outcome)
            if isinstance(outcome, Built):
                rows.add(file, line, outcome.n_tokens, outcome.domain)
        if not tally.kept:
            why = "; ".join(places[0] for places in tally.samples.values()) or "there is no record"
            raise NoRecordsError(f"{self.path}: no record can be served: {why}")
        if files != [_describe(path) for path in paths]:
            raise StoreChangedError(f"{self.path}: was changed while it was read; open it anew")
        return rows.finish(files), tally


def _is_values(output: Any) -> bool:
    return output.kind is OutputKind.VALUES


def _jsonl_files(path: Path) -> list[Path]:
    try:
        files = [file.absolute() for file in find_inputs([path])]
    except RecordFileError as error:
        raise NoRecordsError(str(error)) from error
    for file in files:
        if file.suffix.lower() != ".jsonl":
            raise UnsupportedFileError(f"{file}: Unsupported file, allowed: .jsonl; make shards of others")
    return files


def _read(paths: Sequence[Path], lines: deque[tuple[int, Line]]) -> Iterator[Entry]:
    """The records of the files; of each, the number of its file and its line go into `lines`."""
    for number, path in enumerate(paths):
        with path.open("rb") as stream:
            for line, record in read_lines(stream):
                lines.append((number, line))
                yield Place(path, line.number), record


def _describe(path: Path) -> LineFile:
    status = path.stat()
    return LineFile(str(path), status.st_size, status.st_mtime_ns, hash_file(path)["sha256"])


def _reopen(
    kind: type[JsonlStore],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    folder: Path,
    tally: Tally,
    fingerprint: str,
) -> JsonlStore:
    """The store over the index that another process made, or where that is gone, over one of its own."""
    index = (LineIndex(folder), tally) if folder.is_dir() else None
    store = kind(*arguments, **options, _index=index)
    if store.fingerprint != fingerprint:
        raise StoreChangedError(f"{store.path}: other records lie here than those of the store that was pickled")
    return store
