"""A shard written record by record: the bytes of one written at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.errors import ShardError
from rukh_loaders.formats import KeyedTensor, RecordsWriter, ShardWriter, describe_files, list_shards, shard_name

PIECES = st.lists(st.lists(st.lists(st.integers(0, 65_535), max_size=4), max_size=4), max_size=4)


@given(PIECES)
def test_the_bytes_are_those_of_all_records_written_at_once(tmp_path_factory, pieces):
    folder = tmp_path_factory.mktemp("shards")
    with RecordsWriter(folder / shard_name(0), "sequence", np.uint16) as writer:
        for records in pieces:
            values = np.array([value for record in records for value in record], np.uint16)
            writer.append(values, np.array([len(record) for record in records], np.int64))
        files = writer.finish()
    records = [record for piece in pieces for record in piece]
    values = np.array([value for record in records for value in record], np.uint16)
    offsets = np.cumsum([0, *map(len, records)])
    at_once = ShardWriter(folder / shard_name(1)).write({"sequence": KeyedTensor(values, offsets)})
    assert files == at_once == describe_files(folder / shard_name(0)) == describe_files(folder / shard_name(1))
    assert (writer.n_records, writer.n_values) == (len(records), values.size)


def test_a_shard_that_was_not_finished_is_none(tmp_path):
    with RecordsWriter(tmp_path / shard_name(0), "sequence", np.uint16) as writer:
        writer.append(np.array([1, 2], np.uint16), np.array([2]))
    assert list_shards(tmp_path) == []


@pytest.mark.parametrize(
    ("values", "lengths", "message"),
    [
        (np.array([1, 2]), [2], "got values of int64 and shape"),
        (np.array([[1, 2]], np.uint16), [2], r"shape \(1, 2\), expected uint16, 1-d"),
        (np.array([1, 2], np.uint16), [1], "got 2 values, and lengths that add up to 1"),
        (np.array([1, 2], np.uint16), [3, -1], "the least of them -1"),
    ],
)
def test_records_that_do_not_fit_are_refused(tmp_path, values, lengths, message):
    with RecordsWriter(tmp_path / "shard_0000", "sequence", np.uint16) as writer:
        with pytest.raises(ShardError, match=message):
            writer.append(values, np.array(lengths, np.int64))
        assert writer.n_records == 0


@pytest.mark.parametrize(("key", "dtype"), [("../outside", np.uint16), ("sequence", np.complex128)])
def test_a_key_that_no_shard_may_have_is_refused_before_anything_is_written(tmp_path, key, dtype):
    with pytest.raises(ShardError):
        RecordsWriter(tmp_path / "shard_0000", key, dtype)
    assert list(tmp_path.iterdir()) == []


def test_records_are_not_written_over_another_shard(tmp_path):
    ShardWriter(tmp_path / "shard_0000").write({})
    with pytest.raises(ShardError, match="is not empty"):
        RecordsWriter(tmp_path / "shard_0000", "sequence", np.uint16)
