"""A corpus of records: shards of one or more domains, in one order on every machine, and what their keys are.

`manifest.json` lists the shards and describes the keys; `open_corpus` checks every shard against it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from rukh_loaders.errors import CorpusError
from rukh_loaders.formats.manifest import check_files, read_manifest, verify_files
from rukh_loaders.formats.shard import ShardReader
from rukh_loaders.formats.tensors import Tensor

CORPUS_FORMAT_VERSION = 1
CONTENT = "records"
"""What a corpus' manifest says under `content`, by which it is told from other folders."""

POSITION_IDS = "position_ids"


class KeyKind(StrEnum):
    """What a record has under a key."""

    SEQUENCE = "sequence"
    """One array. Where rows are packed, the array of ids has parts: the documents of the row."""
    GROUP = "group"
    """Arrays, the record's parts."""
    VALUES = "values"
    """One array of numbers that are no ids."""


@dataclass(frozen=True)
class RecordKey:
    """One key of all shards. `along`: the key of ids that it goes with, value for value (masks, positions)."""

    kind: KeyKind
    dtype: str
    along: str | None = None


@dataclass(frozen=True)
class ShardEntry:
    """One shard: `name` is its folder, `<domain>/shard_0000`; a document is a record as it was before packing.

    `n_records` is that of each key, so a packed row counts once; `n_tokens` counts the ids of the first key of ids.
    """

    name: str
    domain: str
    n_records: int
    n_documents: int
    n_tokens: int


@dataclass(frozen=True)
class CorpusKeys:
    """The keys of every shard of a corpus.

    `all_ones` names the masks that are not written, since whatever the record they are all ones, and the key of ids
    that each goes along with: a reader who wants one makes it.
    """

    keys: Mapping[str, RecordKey]
    all_ones: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As the manifest has it: `keys` and `all_ones`."""
        keys = {name: {k: v for k, v in asdict(key).items() if v is not None} for name, key in self.keys.items()}
        return {"keys": keys, "all_ones": dict(self.all_ones)}

    def check(self, where: str, tensors: Mapping[str, Tensor]) -> None:
        """Raise `CorpusError` unless a shard has these keys and no other, each whole and as long as what it goes along.

        Checked before a shard is written, and again when it is opened. `where` is the shard.
        """
        if tensors.keys() != self.keys.keys():
            got, expected = (", ".join(sorted(names)) or "none" for names in (tensors, self.keys))
            raise CorpusError(f"{where}: has the keys {got}, expected {expected}")
        for name, key in self.keys.items():
            _check_key(f"{where}: key {name!r}", tensors[name], key)
        for name, key in self.keys.items():
            if key.along is not None and not _is_along(tensors[name], tensors[key.along], key):
                raise CorpusError(f"{where}: key {name!r} is not cut where {key.along!r} is, which it goes along with")


class Corpus:
    """An opened corpus: `shards` and their `readers` by domain and number, what its `keys` are, and its `manifest`."""

    def __init__(self, folder: Path, manifest: dict[str, Any], keys: CorpusKeys, shards: list[ShardEntry]) -> None:
        self.folder = folder
        self.manifest = manifest
        self.keys = keys
        self.shards = shards
        self.readers = [ShardReader(folder / shard.name) for shard in shards]
        for shard, reader in zip(shards, self.readers, strict=True):
            keys.check(str(reader.folder), {key: reader.tensor(key) for key in reader.keys})
            first = next(iter(keys.keys))
            if reader.n_records(first) != shard.n_records:
                raise CorpusError(
                    f"{reader.folder}: has {reader.n_records(first)} records, the manifest says {shard.n_records}"
                )

    def __len__(self) -> int:
        """Number of records; of packed rows, where rows are packed."""
        return sum(shard.n_records for shard in self.shards)

    def verify(self) -> None:
        """Read every file and raise `ManifestError` unless each has the sha256 that the manifest says."""
        verify_files(self.folder, self.manifest)


def open_corpus(folder: Path | str) -> Corpus:
    """Open a corpus; everything but the hashes is checked, see `Corpus.verify`.

    `ManifestError` for a manifest that cannot be read or that lists other files, `CorpusError` for one of something
    else and for shards whose keys are not what it says, `ShardError` for a damaged shard.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    version = manifest.get("format_version")
    if manifest.get("content") != CONTENT or version != CORPUS_FORMAT_VERSION:
        raise CorpusError(
            f"{folder}: holds {manifest.get('content')!a} of format version {version!a}, "
            f"expected {CONTENT!r} of format version {CORPUS_FORMAT_VERSION}"
        )
    check_files(folder, manifest)
    try:
        keys = {
            name: RecordKey(KeyKind(key["kind"]), key["dtype"], key.get("along"))
            for name, key in manifest["keys"].items()
        }
        shards = [ShardEntry(**shard) for shard in manifest["shards"]]
        all_ones = dict(manifest["all_ones"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"{folder}: its manifest does not describe keys and shards: {error!r}") from error
    for shard in shards:
        _check_name(folder, shard.name)
    return Corpus(folder, manifest, CorpusKeys(keys, all_ones), shards)


def _check_name(folder: Path, name: str) -> None:
    parts = PurePosixPath(name).parts
    if len(parts) != 2 or ".." in parts or name.startswith("/"):
        raise CorpusError(f"{folder}: its manifest lists the shard {name!a}, expected <domain>/<shard>")


def _check_key(where: str, tensor: Tensor, key: RecordKey) -> None:
    if tensor.dtype.name != key.dtype:
        raise CorpusError(f"{where} is {tensor.dtype.name}, expected {key.dtype}")
    if tensor.offsets is None or tensor.offsets.size < 2 or tensor.size == 0:
        raise CorpusError(f"{where} has no records, expected at least one, and a value in it")
    if key.kind is KeyKind.GROUP and tensor.parts is None:
        raise CorpusError(f"{where} has no parts, expected those of a group")


def _is_along(tensor: Tensor, ids: Tensor, key: RecordKey) -> bool:
    same = tensor.offsets is not None and np.array_equal(tensor.offsets, ids.offsets)  # type: ignore[arg-type]
    if key.kind is not KeyKind.GROUP or tensor.parts is None or ids.parts is None:
        return same
    return (
        same
        and np.array_equal(tensor.parts.offsets, ids.parts.offsets)
        and np.array_equal(tensor.parts.records, ids.parts.records)
    )
