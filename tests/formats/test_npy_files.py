"""One-dimensional .npy files: the bytes of np.save, written in one pass, read through a map."""

import gc
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.errors import NpyError
from rukh_loaders.formats.manifest import hash_file
from rukh_loaders.formats.npy import NpyWriter, open_npy

DTYPES = ("uint16", "int64", "int16", "int8", "int32")


def write(path, count, *pieces):
    with NpyWriter(path, np.int16, count) as writer:
        for piece in pieces:
            writer.append(piece)


@given(
    dtype=st.sampled_from(DTYPES),
    pieces=st.lists(st.lists(st.integers(0, 100), max_size=5), max_size=4),
)
def test_the_bytes_are_those_of_np_save(tmp_path_factory, dtype, pieces):
    folder = tmp_path_factory.mktemp("npy")
    whole = np.array([value for piece in pieces for value in piece], dtype)
    with NpyWriter(folder / "mine.npy", dtype, whole.size) as writer:
        for piece in pieces:
            writer.append(np.array(piece, dtype))
    np.save(folder / "theirs.npy", whole)
    assert (folder / "mine.npy").read_bytes() == (folder / "theirs.npy").read_bytes()
    assert writer.record == hash_file(folder / "theirs.npy")
    assert open_npy(folder / "mine.npy", dtype).tolist() == whole.tolist()


def test_a_piece_may_be_a_slice_with_gaps(tmp_path):
    write(tmp_path / "a.npy", 5, np.arange(10, dtype=np.int16)[::2])
    assert np.load(tmp_path / "a.npy").tolist() == [0, 2, 4, 6, 8]


def test_the_header_comes_last_so_an_unfinished_file_is_no_npy(tmp_path):
    with pytest.raises(NpyError, match="a piece of float64"):
        write(tmp_path / "a.npy", 3, np.array([1, 2], np.int16), np.array([3.0]))
    with pytest.raises(NpyError, match=r"a\.npy: is not a \.npy file"):
        open_npy(tmp_path / "a.npy", np.int16)


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([np.array([1], np.int16)], r"a\.npy: got 1 elements, expected 2"),
        ([np.array([1, 2, 3], np.int16)], r"a\.npy: got 3 elements, expected 2"),
        ([np.array([1, 2])], r"a\.npy: got a piece of int64 and shape \(2,\), expected int16, 1-d"),
        ([np.array([1, 2], ">i2")], r"a piece of >i2"),
        ([np.array([[1, 2]], np.int16)], r"shape \(1, 2\), expected int16, 1-d"),
    ],
)
def test_too_few_too_many_and_other_dtypes_are_refused_with_both_values(tmp_path, pieces, message):
    with pytest.raises(NpyError, match=message):
        write(tmp_path / "a.npy", 2, *pieces)


def test_an_open_writer_has_no_record_yet(tmp_path):
    with NpyWriter(tmp_path / "a.npy", np.int16, 0) as writer, pytest.raises(NpyError, match="not closed yet"):
        _ = writer.record
    empty = (tmp_path / "a.npy").read_bytes()
    assert writer.record == {"bytes": 128, "sha256": hashlib.sha256(empty).hexdigest()}


def test_an_opened_array_is_plain_and_read_only(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5, dtype=np.uint16))
    np.save(tmp_path / "empty.npy", np.empty(0, np.uint16))
    for name in ("a", "empty"):
        array = open_npy(tmp_path / f"{name}.npy", np.uint16)
        assert type(array) is np.ndarray
        assert not array.flags.writeable
    gc.collect()
    assert array.size == 0


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not list what a process has mapped")
def test_an_opened_array_holds_no_descriptor_and_is_unmapped_with_its_last_view(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(5, dtype=np.uint16))
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    array = open_npy(path, np.uint16)
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    part = array[2:]
    del array
    path.unlink()
    assert part.tolist() == [2, 3, 4]
    assert str(path) in Path("/proc/self/maps").read_text()
    del part
    gc.collect()
    assert str(path) not in Path("/proc/self/maps").read_text()


def test_an_opened_array_cannot_be_made_writable(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5, dtype=np.uint16))
    array = open_npy(tmp_path / "a.npy", np.uint16)
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True


def test_a_header_of_another_length_is_read_too(tmp_path):
    header = b"{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }".ljust(64 - 10 - 1) + b"\n"
    values = np.array([7, 8, 9], "<u2")
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes()
    (tmp_path / "a.npy").write_bytes(data)
    assert open_npy(tmp_path / "a.npy", np.uint16).tolist() == [7, 8, 9]


@pytest.mark.parametrize("change", ["cut", "longer"])
def test_a_file_of_another_size_than_its_header_says_is_refused(tmp_path, change):
    np.save(tmp_path / "a.npy", np.arange(5, dtype=np.uint16))
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data[:-1] if change == "cut" else data + b"\0\0")
    size = 137 if change == "cut" else 140
    with pytest.raises(NpyError, match=rf"a\.npy: has {size} bytes, its header says 138"):
        open_npy(tmp_path / "a.npy", np.uint16)


def test_other_dtypes_shapes_and_versions_are_refused(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(4, dtype=np.int32))
    with pytest.raises(NpyError, match=r"holds int32 of shape \(4,\), expected uint16, 1-d"):
        open_npy(path, np.uint16)
    np.save(path, np.zeros((2, 2), np.uint16))
    with pytest.raises(NpyError, match=r"holds uint16 of shape \(2, 2\), expected uint16, 1-d"):
        open_npy(path, np.uint16)
    np.save(path, np.arange(4, dtype=">u2"))
    with pytest.raises(NpyError, match="holds >u2"):
        open_npy(path, np.uint16)
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.arange(4, dtype=np.uint16), version=(2, 0))
    with pytest.raises(NpyError, match=r"is \.npy version 2\.0, expected 1\.0"):
        open_npy(path, np.uint16)


def test_pickled_objects_are_never_read(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(NpyError, match="holds object"):
        open_npy(tmp_path / "a.npy", np.uint16)


def test_a_missing_file_or_one_that_is_text_is_refused(tmp_path):
    (tmp_path / "a.npy").write_text("not an array")
    with pytest.raises(NpyError, match=r"a\.npy: is not a \.npy file"):
        open_npy(tmp_path / "a.npy", np.uint16)
    with pytest.raises(NpyError, match=r"b\.npy: cannot be opened: No such file"):
        open_npy(tmp_path / "b.npy", np.uint16)
