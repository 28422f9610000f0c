"""Shards: raw arrays by key, cut into records by offsets, in folders ordered by their number."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.errors import ShardError
from rukh_loaders.formats.manifest import describe_files
from rukh_loaders.formats.shard import KeyedTensor, ShardReader, ShardWriter, list_shards, shard_name


@pytest.fixture
def shard(tmp_path):
    folder = tmp_path / "shard_0000"
    sequence = KeyedTensor(np.array([1, 9, 2, 1, 2], np.uint16), np.array([0, 3, 5]))
    ShardWriter(folder).write({"sequence": sequence, "mask": KeyedTensor(np.array([True, False]))})
    return folder


def change_meta(folder, key, **changes):
    meta = json.loads((folder / "meta.json").read_bytes())
    meta[key] |= changes
    (folder / "meta.json").write_text(json.dumps(meta))


def test_the_files_are_what_the_page_of_formats_says(shard):
    assert (shard / "sequence.bin").read_bytes() == bytes([1, 0, 9, 0, 2, 0, 1, 0, 2, 0])
    assert (shard / "mask.bin").read_bytes() == b"\1\0"
    assert json.loads((shard / "meta.json").read_bytes()) == {
        "sequence": {"shape": [5], "dtype": "uint16", "offsets": [0, 3, 5]},
        "mask": {"shape": [2], "dtype": "bool"},
    }


def test_the_writer_returns_size_and_hash_of_each_file(tmp_path):
    records = ShardWriter(tmp_path / "shard_0000").write({"sequence": KeyedTensor(np.arange(3), np.array([0, 3]))})
    assert records == describe_files(tmp_path / "shard_0000")
    assert sorted(records) == ["meta.json", "sequence.bin"]


def test_records_are_read_whole_and_mapped(shard):
    reader = ShardReader(shard)
    assert reader.keys == ("mask", "sequence")
    assert reader.n_records("sequence") == 2
    assert [reader.record("sequence", i).tolist() for i in range(2)] == [[1, 9, 2], [1, 2]]
    assert reader.tensor("mask").values.tolist() == [True, False]
    assert reader.tensor("mask").offsets is None
    assert not reader.record("sequence", 0).flags.writeable


@given(
    records=st.lists(st.lists(st.integers(0, 65_535), max_size=6), max_size=6),
    dtype=st.sampled_from(["uint16", ">u2", "int64", "float64", "int32"]),
)
def test_what_is_written_is_read_whatever_the_machine_order(tmp_path_factory, records, dtype):
    folder = tmp_path_factory.mktemp("shards") / "shard_0000"
    values = np.array([value for record in records for value in record], dtype)
    offsets = np.cumsum([0, *map(len, records)])
    ShardWriter(folder).write({"sequence": KeyedTensor(values, offsets)})
    reader = ShardReader(folder)
    assert reader.n_records("sequence") == len(records)
    assert [reader.record("sequence", i).tolist() for i in range(len(records))] == records


@pytest.mark.parametrize("index", [-1, 2])
def test_a_record_outside_is_an_index_error(shard, index):
    with pytest.raises(IndexError, match=f"no record {index} of 'sequence', allowed: 0 to 1"):
        ShardReader(shard).record("sequence", index)


def test_an_unknown_key_and_a_key_without_records_are_named(shard):
    reader = ShardReader(shard)
    with pytest.raises(ShardError, match="has no key 'labels', only mask, sequence"):
        reader.tensor("labels")
    with pytest.raises(ShardError, match="key 'mask' has no offsets"):
        reader.record("mask", 0)


def test_a_pickled_reader_is_its_path(shard):
    assert len(pickle.dumps(ShardReader(shard))) < 1_000
    assert pickle.loads(pickle.dumps(ShardReader(shard))).record("sequence", 1).tolist() == [1, 2]


def test_shards_are_ordered_by_number(tmp_path):
    for number in (10_000, 9_999, 2, 0):
        ShardWriter(tmp_path / shard_name(number)).write({})
    names = [path.name for path in list_shards(tmp_path)]
    assert names == ["shard_0000", "shard_0002", "shard_9999", "shard_10000"]


def test_what_is_not_a_shard_is_not_listed(tmp_path, shard):
    (tmp_path / "shard_0001").mkdir()
    (tmp_path / "shard_0001" / "sequence.bin").write_bytes(b"\1\0")
    for name in ("shard_1", "shard_00x1", "my_shard_0002", "shard_0003.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.json").write_text("{}")
    assert list_shards(tmp_path) == [shard]
    with pytest.raises(ShardError, match="is not a folder of shards"):
        list_shards(tmp_path / "absent")


def test_a_folder_without_meta_is_refused_by_name(shard):
    (shard / "meta.json").unlink()
    with pytest.raises(ShardError, match=r"meta\.json: cannot be read, so this is no shard"):
        ShardReader(shard)


@pytest.mark.parametrize(("data", "size"), [(b"\1\0", 2), (b"\1\0" * 6, 12)])
def test_a_file_of_another_size_than_meta_says_is_refused_with_both(shard, data, size):
    (shard / "sequence.bin").write_bytes(data)
    with pytest.raises(ShardError, match=rf"sequence\.bin: has {size} bytes, its meta\.json says 10"):
        ShardReader(shard)


def test_a_missing_file_is_refused_by_name(shard):
    (shard / "sequence.bin").unlink()
    with pytest.raises(ShardError, match=r"sequence\.bin: cannot be opened"):
        ShardReader(shard)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": [1, 3, 5]}, "first and last offset 1 and 5, expected 0 and 5"),
        ({"offsets": [0, 3, 4]}, "first and last offset 0 and 4, expected 0 and 5"),
        ({"offsets": []}, "first and last offset missing"),
        ({"offsets": [0, 4, 3, 5]}, "offset 3 after 4 at record 1: offsets must not fall"),
        ({"offsets": [0, 3.0, 5]}, "expected a list of integers"),
        ({"dtype": "object"}, "has dtype 'object', allowed: bool"),
        ({"dtype": ["uint16"]}, "has dtype"),
        ({"shape": [5, 1]}, r"has shape \[5, 1\], expected \[N\]"),
        ({"shape": [-1]}, "expected"),
        ({"version": 1}, "expected an object of shape, dtype and perhaps offsets"),
    ],
)
def test_a_meta_that_does_not_follow_the_format_is_refused_with_its_values(shard, changes, message):
    change_meta(shard, "sequence", **changes)
    with pytest.raises(ShardError, match=rf"meta\.json: key 'sequence'.*{message}"):
        ShardReader(shard)


def test_a_key_never_becomes_a_path_outside_the_shard(shard):
    meta = {"../outside": {"shape": [1], "dtype": "bool"}}
    (shard / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ShardError, match="is not a name of letters, digits and _"):
        ShardReader(shard)
    with pytest.raises(ShardError, match="is not a name of letters, digits and _"):
        ShardWriter(shard.parent / "shard_0001").write({"../outside": KeyedTensor(np.zeros(1, bool))})


@pytest.mark.parametrize(
    "tensor",
    [
        KeyedTensor(np.zeros((2, 2), np.uint16)),
        KeyedTensor(np.array(["a"])),
        KeyedTensor(np.zeros(3, np.uint16), np.array([0, 2])),
        KeyedTensor(np.zeros(3, np.uint16), np.array([0, 2, 1, 3])),
        KeyedTensor(np.zeros(3, np.uint16), np.array([0.0, 3.0])),
    ],
)
def test_the_writer_refuses_before_it_writes_anything(tmp_path, tensor):
    with pytest.raises(ShardError, match="key 'sequence'"):
        ShardWriter(tmp_path / "shard_0000").write({"first": KeyedTensor(np.zeros(1)), "sequence": tensor})
    assert list(tmp_path.iterdir()) == []


def test_a_shard_is_not_written_over_another(shard):
    with pytest.raises(ShardError, match="is not empty"):
        ShardWriter(shard).write({})
