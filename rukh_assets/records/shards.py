"""A spool to the keyed tensors of a shard, whose values are read, put in order and counted piece by piece."""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_assets.errors import RecordValueError
from rukh_assets.records import positions
from rukh_assets.records.layout import SEQUENCE, Layout, fits
from rukh_assets.records.packing import PACK, Rows
from rukh_assets.records.spool import Spool
from rukh_loaders.formats import Parts, StreamedTensor, cut_at
from rukh_loaders.formats.corpus import POSITION_IDS
from rukh_loaders.formats.tensors import Cut, Tensor

Ints = NDArray[np.int64]

PIECE = 1 << 16
"""So many values are read and written at once, or one run where that is longer. The system maps some 64 kB of a file
around each run that is gathered, which is most of the memory that this takes."""


def shard_tensors(spool: Spool, layout: Layout, row_length: int) -> dict[str, Tensor]:
    """The tensors of what a spool holds; its files must stay until they are written.

    With packing, a record is a row of several documents, which are the parts of `sequence`. `RecordValueError` for
    positions that their dtype cannot hold.
    """
    packed = _pack(spool, layout, row_length)
    tensors: dict[str, Tensor] = {
        name: _stored(spool, layout, name) if packed is None else packed.tensor(spool.path(name), _dtype(layout, name))
        for name in layout.stored
    }
    if packed is not None:
        tensors[SEQUENCE] = packed.with_documents(tensors[SEQUENCE])
    if layout.position_mode is not None:
        runs = np.diff(spool.offsets(SEQUENCE)) if packed is None else packed.rows.lengths
        offsets = tensors[SEQUENCE].offsets
        tensors[POSITION_IDS] = _positions(layout, layout.position_mode, runs, offsets)
    return tensors


def run_slices(lengths: Ints) -> Iterator[slice]:
    """Runs of these lengths in pieces of at most `PIECE` values together, one run at least."""
    ends = cut_at(lengths)
    at = 0
    while at < lengths.size:
        end = max(at + 1, int(np.searchsorted(ends, ends[at] + PIECE, "right")) - 1)
        yield slice(at, end)
        at = end


def _stored(spool: Spool, layout: Layout, name: str) -> Tensor:
    dtype, offsets = _dtype(layout, name), spool.offsets(name)
    size = int(offsets[-1])
    return StreamedTensor(_read(spool.path(name), dtype), dtype, size, offsets, spool.parts(name))


def _pack(spool: Spool, layout: Layout, row_length: int) -> "_Packed | None":
    if layout.packing is None:
        return None
    documents = spool.offsets(SEQUENCE)
    rows = PACK[layout.packing](np.diff(documents), row_length)
    return _Packed(rows, documents[rows.documents] + rows.begins)


@dataclass(frozen=True, eq=False)
class _Packed:
    """Rows of a spool's documents; `begins` is where each of their runs begins in the spool's files."""

    rows: Rows
    begins: Ints

    def tensor(self, path: Path, dtype: np.dtype[Any]) -> StreamedTensor:
        runs = cut_at(self.rows.lengths)
        pieces = _gather(path, dtype, self.begins, self.rows.lengths)
        return StreamedTensor(pieces, dtype, int(runs[-1]), runs[self.rows.offsets])

    def with_documents(self, tensor: Tensor) -> StreamedTensor:
        documents = Parts(cut_at(self.rows.lengths), self.rows.offsets)
        return StreamedTensor(tensor.pieces, tensor.dtype, tensor.size, tensor.offsets, documents)


def _read(path: Path, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    with path.open("rb") as file:
        while (piece := np.fromfile(file, dtype, PIECE)).size:
            yield piece


def _gather(path: Path, dtype: np.dtype[Any], begins: Ints, lengths: Ints) -> Iterator[NDArray[Any]]:
    """Runs of a file's values, in the order given."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    values = np.frombuffer(mapped, dtype)
    for runs in run_slices(lengths):
        yield values[np.repeat(begins[runs], lengths[runs]) + positions.restarting(lengths[runs])]
        if hasattr(mmap, "MADV_DONTNEED"):  # what was read counts as this process' memory until it is given back
            mapped.madvise(mmap.MADV_DONTNEED)


def _positions(layout: Layout, mode: str, runs: Ints, offsets: Cut | None) -> StreamedTensor:
    dtype = _dtype(layout, POSITION_IDS)
    highest = positions.highest_position(runs, mode)
    if not fits(dtype, highest):
        raise RecordValueError(f"{POSITION_IDS}: got {highest}, which {dtype.name} cannot hold; see output.dtype")
    pieces = positions.PIECES[mode](runs[part] for part in run_slices(runs))
    return StreamedTensor((piece.astype(dtype) for piece in pieces), dtype, int(runs.sum()), offsets)


def _dtype(layout: Layout, name: str) -> np.dtype[Any]:
    return np.dtype(layout.keys.keys[name].dtype)
