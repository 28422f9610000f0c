"""Documents into rows, in the numbers of the format's cases and against the plain way of packing them."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_assets.errors import RowLengthError
from rukh_assets.records import Rows, best_fit, best_fit_split, one_a_row
from rukh_assets.records.positions import PIECES, highest_position, restarting

Run = tuple[int, int, int]


def rows_of(rows: Rows) -> list[list[Run]]:
    """Each row's runs: document, first token, number of tokens."""
    runs = list(zip(rows.documents.tolist(), rows.begins.tolist(), rows.lengths.tolist(), strict=True))
    return [runs[begin:end] for begin, end in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)]


def documents_of(rows: Rows) -> list[list[int]]:
    return [[document for document, _, _ in row] for row in rows_of(rows)]


def lengths_of(*lengths: int) -> np.ndarray:
    return np.array(lengths, np.int64)


def plainly_packed(lengths: list[int], row_length: int) -> list[list[int]]:
    """Best fit, longest first, as one says it: records times rows."""
    rows: list[list[int]] = []
    for document in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        room = [row_length - sum(lengths[i] for i in row) for row in rows]
        fitting = [(space, number) for number, space in enumerate(room) if space >= lengths[document]]
        if fitting:
            rows[min(fitting)[1]].append(document)
        else:
            rows.append([document])
    return rows


@pytest.mark.parametrize(
    ("lengths", "rows"),
    [((3, 7, 4, 6), [[1, 0], [3, 2]]), ((10, 3, 10), [[0], [2], [1]]), ((5, 5, 5, 5), [[0, 1], [2, 3]]), ((), [])],
)
def test_a12_best_fit_has_the_rows_of_the_format(lengths: tuple[int, ...], rows: list[list[int]]) -> None:
    assert documents_of(best_fit(lengths_of(*lengths), 10)) == rows


@given(st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(1, n), max_size=60))))
def test_best_fit_is_the_plain_way_of_packing(case: tuple[int, list[int]]) -> None:
    row_length, lengths = case
    rows = best_fit(lengths_of(*lengths), row_length)
    assert documents_of(rows) == plainly_packed(lengths, row_length)
    assert rows.row_lengths().tolist() == [sum(lengths[i] for i in row) for row in documents_of(rows)]


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 12))
def test_splitting_loses_nothing_and_no_row_is_too_long(lengths: list[int], row_length: int) -> None:
    rows = best_fit_split(lengths_of(*lengths), row_length)
    assert all(length <= row_length for length in rows.row_lengths())
    tokens = [(d, begin + i) for row in rows_of(rows) for d, begin, length in row for i in range(length)]
    assert sorted(tokens) == [(d, i) for d, length in enumerate(lengths) for i in range(length)]
    chunks = [min(row_length, length - begin) for length in lengths for begin in range(0, length, row_length)]
    order = [(d, begin) for d, length in enumerate(lengths) for begin in range(0, length, row_length)]
    assert [[order.index((d, begin)) for d, begin, _ in row] for row in rows_of(rows)] == plainly_packed(
        chunks, row_length
    )


def test_one_a_row_keeps_the_order() -> None:
    assert rows_of(one_a_row(lengths_of(3, 1), 4)) == [[(0, 0, 3)], [(1, 0, 1)]]


@pytest.mark.parametrize("pack", [one_a_row, best_fit])
def test_a_document_that_is_longer_than_a_row_or_empty_is_refused(pack) -> None:
    with pytest.raises(RowLengthError, match="lengths are 2 to 5, allowed: 1 to 4"):
        pack(lengths_of(2, 5), 4)
    with pytest.raises(RowLengthError, match="lengths are 0 to 2"):
        pack(lengths_of(0, 2), 4)
    with pytest.raises(RowLengthError, match=r"lengths are 0 to 5, allowed: 1$"):
        best_fit_split(lengths_of(0, 5), 4)


def test_a_million_documents_are_packed_in_seconds() -> None:
    lengths = np.random.default_rng(0).lognormal(6, 1.2, 1_000_000).astype(np.int64).clip(1, 8192)
    begun = time.process_time()
    rows = best_fit(lengths, 8192)
    assert time.process_time() - begun < 10  # one comparison a document and row would be 10^11
    assert np.array_equal(np.sort(rows.documents), np.arange(lengths.size))
    assert rows.row_lengths().max() <= 8192
    assert rows.row_lengths().size < 1.01 * lengths.sum() / 8192


def test_positions_restart_with_every_run_or_count_on() -> None:
    lengths = lengths_of(3, 1, 2)
    assert restarting(lengths).tolist() == [0, 1, 2, 0, 0, 1]
    pieces = [lengths[:1], lengths[1:]]
    assert np.concatenate(list(PIECES["doc_reset"](iter(pieces)))).tolist() == [0, 1, 2, 0, 0, 1]
    assert np.concatenate(list(PIECES["continuous"](iter(pieces)))).tolist() == [0, 1, 2, 3, 4, 5]
    assert [highest_position(lengths, mode) for mode in ("doc_reset", "continuous")] == [2, 5]
