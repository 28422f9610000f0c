"""Pieces of one text as Arrow columns of strings."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_assets.ingest.pgn_spans import ABSENT


def columns_of(text: bytes, spans: NDArray[np.int64], size: int) -> list[pa.StringArray]:
    """Copy pieces of `text`, valid UTF-8 each, to arrays of strings.

    `spans` is [row, column, (first byte, one after the last)]; a piece that begins at `ABSENT` is null. All pieces
    together have at most `size` bytes, which are less than 2 GiB.
    """
    n_rows, n_columns, _ = spans.shape
    offsets = np.empty((n_columns, n_rows + 1), np.int32)
    valid = np.empty((n_columns, n_rows), np.uint8)
    data = pa.allocate_buffer(size)
    ends = np.empty(n_columns, np.int64)
    copy_pieces(
        np.frombuffer(text, np.uint8),
        spans.reshape(-1),
        offsets.reshape(-1),
        valid.reshape(-1),
        np.frombuffer(data, np.uint8),
        ends,
    )
    columns = []
    begin = 0
    for column, end in enumerate(ends.tolist()):
        n_null = n_rows - int(valid[column].sum())
        bitmap = pa.py_buffer(np.packbits(valid[column], bitorder="little")) if n_null else None
        buffers = [pa.py_buffer(offsets[column]), data.slice(begin, end - begin), bitmap]
        columns.append(pa.StringArray.from_buffers(n_rows, *buffers, n_null))
        begin = end
    return columns


@kernel
def copy_pieces(text: Numbers, spans: Numbers, offsets: Numbers, valid: Numbers, data: Numbers, ends: Numbers) -> None:
    """Write each column's pieces one after the other to `data`, with offsets from the column's begin, and its end.

    `valid` gets 1 for each piece that is not null.
    """
    n_columns = len(ends)
    n_rows = len(valid) // n_columns
    begin = 0
    for column in range(n_columns):
        written = 0
        row_offsets = column * (n_rows + 1)
        offsets[row_offsets] = 0
        for row in range(n_rows):
            span = 2 * (row * n_columns + column)
            start, length = spans[span], spans[span + 1] - spans[span]
            valid[column * n_rows + row] = start != ABSENT
            copy(memory(text), start, memory(data), begin + written, length)
            written += length
            offsets[row_offsets + row + 1] = written
        begin += written
        ends[column] = begin


@rule
def copy(source: Numbers, start: int, target: Numbers, written: int, length: int) -> None:
    """Copy bytes."""
    for index in range(length):
        target[written + index] = source[start + index]
