"""Shards of records: parts inside records, streamed values, and corpora that are what their manifest says."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import change_manifest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rukh_loaders.errors import CorpusError, ManifestError, ShardError
from rukh_loaders.formats import (
    KeyedTensor,
    Parts,
    ShardReader,
    ShardWriter,
    StreamedTensor,
    cut_at,
    describe_files,
    write_manifest,
)
from rukh_loaders.formats.corpus import CorpusKeys, KeyKind, RecordKey, open_corpus

Groups = list[list[list[int]]]


def ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def group_tensor(groups: Groups) -> KeyedTensor:
    """Records of sequences of ids, as one key."""
    sequences = [sequence for group in groups for sequence in group]
    parts = Parts(cut_at(np.array([len(s) for s in sequences], int)), cut_at(np.array([len(g) for g in groups], int)))
    values = np.array([value for sequence in sequences for value in sequence], np.int32)
    return KeyedTensor(values, parts.offsets[parts.records], parts)


def change_meta(folder: Path, change: Any) -> None:
    meta = json.loads((folder / "meta.json").read_bytes())
    change(meta)
    (folder / "meta.json").write_text(json.dumps(meta))


def test_a13_a_shard_has_the_files_and_the_meta_of_the_format(tmp_path: Path) -> None:
    sequence = KeyedTensor(np.array([1, 2, 3, 4, 5], np.int32), ints(0, 3, 5))
    ShardWriter(tmp_path / "shard_0000").write({"sequence": sequence, "m": KeyedTensor(np.array([True, False]))})
    assert json.loads((tmp_path / "shard_0000" / "meta.json").read_bytes()) == {
        "sequence": {"shape": [5], "dtype": "int32", "offsets": [0, 3, 5]},
        "m": {"shape": [2], "dtype": "bool"},
    }
    assert [(tmp_path / "shard_0000" / name).stat().st_size for name in ("sequence.bin", "m.bin")] == [20, 2]
    reader = ShardReader(tmp_path / "shard_0000")
    assert [reader.record("sequence", i).size for i in range(2)] == [3, 2]
    for index in (2, -1):
        with pytest.raises(IndexError):
            reader.record("sequence", index)


@given(groups=st.lists(st.lists(st.lists(st.integers(0, 99), max_size=4), max_size=4), max_size=5))
def test_l02_groups_come_back_with_their_edges_empty_sequences_too(
    tmp_path_factory: pytest.TempPathFactory, groups: Groups
) -> None:
    folder = tmp_path_factory.mktemp("shards") / "shard_0000"
    ShardWriter(folder).write({"responses": group_tensor(groups)})
    reader = ShardReader(folder)
    assert reader.n_records("responses") == len(groups)
    read = [[part.tolist() for part in reader.parts("responses", i)] for i in range(len(groups))]
    assert read == groups
    assert [reader.record("responses", i).tolist() for i in range(len(groups))] == [
        list(chain(*group)) for group in groups
    ]


def test_a_record_without_parts_is_one_part(tmp_path: Path) -> None:
    ShardWriter(tmp_path / "shard_0000").write({"ids": KeyedTensor(np.arange(3), ints(0, 1, 3))})
    reader = ShardReader(tmp_path / "shard_0000")
    assert [part.tolist() for part in reader.parts("ids", 1)] == [[1, 2]]
    with pytest.raises(IndexError):
        reader.parts("ids", 2)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"offsets": [0, 1, 4], "records": [0, 2, 2]}, "parts that do not begin and end where its records do"),
        ({"offsets": [0, 2], "records": [0, 1, 1]}, "in its parts, first and last offset 0 and 2, expected 0 and 4"),
        ({"offsets": [0, 3, 1, 4], "records": [0, 1, 3]}, "in its parts, offset 1 after 3 at part 1"),
        ({"offsets": [0, 1, 4], "records": [0, 1, 3]}, "in its parts, first and last record 0 and 3, expected 0 and 2"),
        ({"offsets": [0, 1, 4], "records": [0, "1", 2]}, "parts: has records .*expected a list of integers"),
        ({"offsets": [0, 1, 4]}, "expected an object of offsets and records"),
        ([], "expected an object of offsets and records"),
    ],
)
def test_damaged_parts_are_refused_with_their_values(tmp_path: Path, parts: Any, message: str) -> None:
    ShardWriter(tmp_path / "shard_0000").write({"responses": group_tensor([[[1]], [[2, 3, 4]]])})
    ShardReader(tmp_path / "shard_0000")
    change_meta(tmp_path / "shard_0000", lambda meta: meta["responses"].update(parts=parts))
    with pytest.raises(ShardError, match=message):
        ShardReader(tmp_path / "shard_0000")


def test_parts_without_records_are_refused_by_the_writer(tmp_path: Path) -> None:
    tensor = KeyedTensor(np.arange(2), None, Parts(ints(0, 2), ints(0, 1)))
    with pytest.raises(ShardError, match="parts but no offsets"):
        ShardWriter(tmp_path / "shard_0000").write({"ids": tensor})


def test_b03_keys_of_a_shard_have_as_many_records_when_written_and_when_read(tmp_path: Path) -> None:
    ids = KeyedTensor(np.arange(4), ints(0, 2, 4))
    mask = KeyedTensor(np.ones(4, bool), ints(0, 4))
    with pytest.raises(ShardError, match="not as many records in each key: 2 in 'ids', 1 in 'mask'"):
        ShardWriter(tmp_path / "shard_0000").write({"ids": ids, "mask": mask})
    ShardWriter(tmp_path / "shard_0000").write({"ids": ids, "mask": KeyedTensor(np.ones(4, bool), ints(0, 2, 4))})
    change_meta(tmp_path / "shard_0000", lambda meta: meta["mask"].update(offsets=[0, 4]))
    with pytest.raises(ShardError, match=r"meta\.json: has not as many records in each key"):
        ShardReader(tmp_path / "shard_0000")


def test_streamed_values_give_the_bytes_and_hashes_of_whole_ones(tmp_path: Path) -> None:
    groups = [[[i, i + 1], []] for i in range(70_000)]  # more offsets than meta.json takes at once
    whole = group_tensor(groups)
    pieces = iter(np.array_split(whole.values, 7))
    streamed = StreamedTensor(pieces, whole.dtype, whole.size, whole.offsets, whole.parts)
    one = ShardWriter(tmp_path / "one").write({"a": KeyedTensor(np.zeros(2)), "responses": whole})
    other = ShardWriter(tmp_path / "other").write({"a": KeyedTensor(np.zeros(2)), "responses": streamed})
    assert one == other == describe_files(tmp_path / "other")
    text = (tmp_path / "other" / "meta.json").read_text()
    assert text == json.dumps(json.loads(text)) + "\n"


@pytest.mark.parametrize("sizes", [[3], [2, 3], []])
def test_streamed_values_of_another_number_or_dtype_are_refused(tmp_path: Path, sizes: list[int]) -> None:
    pieces = (np.zeros(size, np.int32) for size in sizes)
    with pytest.raises(ShardError, match="expected 4"):
        ShardWriter(tmp_path / "shard_0000").write({"ids": StreamedTensor(pieces, np.dtype(np.int32), 4)})
    assert not (tmp_path / "shard_0000" / "meta.json").exists()
    with pytest.raises(ShardError, match="the last of float64"):
        ShardWriter(tmp_path / "1").write({"ids": StreamedTensor([np.zeros(4)], np.dtype(np.int32), 4)})


KEYS = CorpusKeys(
    {
        "sequence": RecordKey(KeyKind.SEQUENCE, "int32"),
        "loss_mask": RecordKey(KeyKind.SEQUENCE, "bool", "sequence"),
        "responses": RecordKey(KeyKind.GROUP, "int32"),
        "masks": RecordKey(KeyKind.GROUP, "int32", "responses"),
    }
)


def tensors() -> dict[str, KeyedTensor]:
    groups = [[[1], [2, 3]], [[4]]]
    return {
        "sequence": KeyedTensor(np.arange(5, dtype=np.int32), ints(0, 2, 5)),
        "loss_mask": KeyedTensor(np.ones(5, bool), ints(0, 2, 5)),
        "responses": group_tensor(groups),
        "masks": group_tensor([[[1] * len(sequence) for sequence in group] for group in groups]),
    }


def wrong_tensors() -> Iterator[Any]:
    ids = KeyedTensor(np.arange(5, dtype=np.int32), ints(0, 2, 5))
    mask_of = lambda *offsets: KeyedTensor(np.ones(offsets[-1], bool), ints(*offsets))  # noqa: E731
    yield pytest.param({"loss_mask": mask_of(0, 2, 4)}, "'loss_mask' is not cut where 'sequence' is", id="B02 shorter")
    yield pytest.param({"loss_mask": mask_of(0, 3, 5)}, "'loss_mask' is not cut where 'sequence' is", id="B02 shifted")
    yield pytest.param(
        {"masks": group_tensor([[[1, 1], [1]], [[1]]])}, "'masks' is not cut where 'responses' is", id="2"
    )
    yield pytest.param({"masks": KeyedTensor(np.ones(4, np.int32), ints(0, 3, 4))}, "has no parts", id="no parts")
    yield pytest.param({"sequence": KeyedTensor(ids.values)}, "'sequence' has no records", id="no offsets")
    yield pytest.param(
        {"sequence": KeyedTensor(np.zeros(0, np.int32), ints(0, 0, 0))}, "has no records", id="B36 empty"
    )
    yield pytest.param({"loss_mask": ids}, "'loss_mask' is int32, expected bool", id="dtype")
    yield pytest.param({"loss_mask": None}, "has the keys masks, responses, sequence, expected loss_mask", id="B03")
    yield pytest.param({"more": ids}, "has the keys loss_mask, masks, more, responses, sequence, expected", id="more")


@pytest.mark.parametrize(("changes", "message"), wrong_tensors())
def test_a_shard_that_is_not_what_the_corpus_says_is_refused_when_written_and_when_opened(
    tmp_path: Path, changes: dict[str, KeyedTensor | None], message: str
) -> None:
    KEYS.check("shard", tensors())
    wrong = {name: tensor for name, tensor in {**tensors(), **changes}.items() if tensor is not None}
    with pytest.raises(CorpusError, match=message):
        KEYS.check("shard", wrong)
    write_corpus(tmp_path / "whole", tensors())
    assert len(open_corpus(tmp_path / "whole")) == 2
    write_corpus(tmp_path / "wrong", wrong)
    with pytest.raises(CorpusError, match=message):
        open_corpus(tmp_path / "wrong")


def write_corpus(folder: Path, shard: dict[str, KeyedTensor]) -> None:
    """A corpus of one shard, unchecked."""
    ShardWriter(folder / "x" / "shard_0000").write(shard)
    entry = {"name": "x/shard_0000", "domain": "x", "n_records": 2, "n_documents": 2, "n_tokens": 5}
    files = describe_files(folder)
    manifest = {"format_version": 1, "content": "records", **KEYS.to_json(), "shards": [entry], "files": files}
    write_manifest(folder, manifest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"content": "packs"}, "holds 'packs' of format version 1, expected 'records' of format version 1"),
        ({"format_version": 2}, "of format version 2"),
        ({"keys": {"sequence": {"kind": "tensor", "dtype": "int32"}}}, "does not describe keys and shards"),
        ({"shards": [{"name": "x"}]}, "does not describe keys and shards"),
    ],
)
def test_a_manifest_of_something_else_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_corpus(tmp_path / "corpus", tensors())
    change_manifest(tmp_path / "corpus", **changes)
    with pytest.raises(CorpusError, match=message):
        open_corpus(tmp_path / "corpus")


@pytest.mark.parametrize("name", ["../x/shard_0000", "/x/shard_0000", "x", "x/y/shard_0000"])
def test_a_shard_outside_the_corpus_is_refused(tmp_path: Path, name: str) -> None:
    write_corpus(tmp_path / "corpus", tensors())
    entry = {"name": name, "domain": "x", "n_records": 2, "n_documents": 2, "n_tokens": 5}
    change_manifest(tmp_path / "corpus", shards=[entry])
    with pytest.raises(CorpusError, match="expected <domain>/<shard>"):
        open_corpus(tmp_path / "corpus")


def test_other_counts_a_missing_file_and_changed_bytes_are_noticed(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", tensors())
    corpus = open_corpus(tmp_path / "corpus")
    corpus.verify()
    mask = tmp_path / "corpus" / "x" / "shard_0000" / "loss_mask.bin"
    mask.write_bytes(bytes(5))
    with pytest.raises(ManifestError, match="sha256"):
        open_corpus(tmp_path / "corpus").verify()
    mask.unlink()
    with pytest.raises(ManifestError, match="is missing"):
        open_corpus(tmp_path / "corpus")
    write_corpus(tmp_path / "other", tensors())
    entry = {"name": "x/shard_0000", "domain": "x", "n_records": 3, "n_documents": 2, "n_tokens": 5}
    change_manifest(tmp_path / "other", shards=[entry])
    with pytest.raises(CorpusError, match="has 2 records, the manifest says 3"):
        open_corpus(tmp_path / "other")
