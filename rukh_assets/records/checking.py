"""What has to hold of the shards of an opened corpus, beyond what opening it checks: read from them, key by key.

Memory is bounded: values are read in pieces of whole documents.
"""

import numpy as np
from numpy.typing import NDArray

from rukh_assets.errors import CheckFailedError
from rukh_assets.records.layout import SEQUENCE
from rukh_assets.records.shards import run_slices
from rukh_loaders.formats import ShardReader
from rukh_loaders.formats.corpus import POSITION_IDS, Corpus, KeyKind
from rukh_loaders.formats.tensors import Cut
from rukh_loaders.records import PipelineConfig

Ints = NDArray[np.int64]


def verify_masks(corpus: Corpus) -> dict[str, int]:
    """The trained tokens by mask, of the masks that are written.

    Raises:
        CheckFailedError: a mask holds something else than 0 and 1, or a document has nothing to train although its
            config can train it. Of documents that packing splits, a chunk may have nothing; the shard may not.
    """
    config = PipelineConfig.from_dict(corpus.manifest["config"])
    can_train = {output.name for output in config.outputs() if config.can_train(output)}
    is_split = config.preprocessing.packing_strategy == "bfd_split"
    trained: dict[str, int] = {}
    for reader in corpus.readers:
        for mask, ids in masks_of(corpus).items():
            counts = _count_trained(reader, mask, _documents(reader, ids))
            trained[mask] = trained.get(mask, 0) + int(counts.sum())
            untrained = counts.sum(keepdims=True) if is_split and ids == SEQUENCE else counts
            if ids in can_train and not untrained.all():
                raise CheckFailedError(
                    f"{reader.folder}: {mask} has no trained token in document {int(untrained.argmin())} of "
                    f"{counts.size}, expected at least one"
                )
    return trained


def verify_groups(corpus: Corpus) -> dict[str, int]:
    """The groups by key.

    Raises:
        CheckFailedError: beside groups, a record has neither one value nor as many as one of its groups has sequences.
    """
    groups = [name for name, key in corpus.keys.keys.items() if key.kind is KeyKind.GROUP and key.along is None]
    values = [name for name, key in corpus.keys.keys.items() if key.kind is KeyKind.VALUES]
    for reader in corpus.readers if groups else ():
        sizes = np.stack([_group_sizes(reader, name) for name in groups])
        for name in values:
            counts = np.diff(_offsets(reader, name))
            wrong = np.flatnonzero((counts != 1) & (counts != sizes).all(axis=0))
            if wrong.size:
                raise CheckFailedError(
                    f"{reader.folder}: record {wrong[0]} has {counts[wrong[0]]} of {name}, expected 1 or as many as "
                    f"its group has sequences, {' or '.join(map(str, sizes[:, wrong[0]]))}"
                )
    return {name: sum(reader.n_records(name) for reader in corpus.readers) for name in groups}


def masks_of(corpus: Corpus) -> dict[str, str]:
    """The masks that are written, each with its key of ids."""
    found = {name: key.along for name, key in corpus.keys.keys.items() if name != POSITION_IDS}
    return {mask: ids for mask, ids in found.items() if ids is not None}


def _documents(reader: ShardReader, ids: str) -> Cut:
    """Where the values of a key are cut into documents: the parts of packed rows, all of a group, else the records."""
    tensor = reader.tensor(ids)
    return _offsets(reader, ids) if ids != SEQUENCE or tensor.parts is None else tensor.parts.offsets


def _count_trained(reader: ShardReader, mask: str, cut: Cut) -> Ints:
    """Ones of a mask in each document."""
    counts = np.empty(cut.size - 1, np.int64)
    for part in run_slices(np.diff(cut)):
        begins, ends = cut[:-1][part], cut[1:][part]
        values = reader.tensor(mask).values[begins[0] : ends[-1]]
        ones = values == 1
        if not (ones | (values == 0)).all():
            raise CheckFailedError(f"{reader.folder}: {mask} holds {values[~ones].max()}, allowed: 0 and 1")
        before = np.concatenate([[0], np.cumsum(ones, dtype=np.int64)])
        counts[part] = before[ends - begins[0]] - before[begins - begins[0]]
    return counts


def _group_sizes(reader: ShardReader, name: str) -> Ints:
    parts = reader.tensor(name).parts
    assert parts is not None  # opening the corpus has checked it
    return np.diff(parts.records)


def _offsets(reader: ShardReader, name: str) -> Cut:
    offsets = reader.tensor(name).offsets
    assert offsets is not None  # opening the corpus has checked it
    return offsets
