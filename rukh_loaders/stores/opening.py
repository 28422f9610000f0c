"""The shards at a path, in one order, and what their keys are: as a manifest says, or without one as they look."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rukh_loaders.errors import ManifestError, NoRecordsError, StoreShardsError
from rukh_loaders.formats.corpus import CONTENT, KeyKind, open_corpus
from rukh_loaders.formats.manifest import MANIFEST, digest, hash_file, read_manifest
from rukh_loaders.formats.shard import META, ShardReader
from rukh_loaders.stores.finding import find_shards, is_shown

SEQUENCE = "sequence"
"""Never a group: its parts are the documents of a packed row."""


@dataclass(frozen=True)
class Shard:
    """An opened shard and the domain that it is of."""

    domain: str
    reader: ShardReader


@dataclass(frozen=True)
class Shards:
    """Shards of the same keys; `manifest` is empty where there is none.

    `groups` are the keys that hold several arrays a record, `values` those that hold no ids, and `along` those that go
    along with ids: masks and positions. `all_ones` are masks that are not written, and the ids that each goes along.
    """

    shards: tuple[Shard, ...]
    groups: frozenset[str]
    fingerprint: str
    values: frozenset[str] = frozenset()
    along: frozenset[str] = frozenset()
    all_ones: Mapping[str, str] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of every shard."""
        return self.shards[0].reader.keys


def open_shards(path: Path) -> Shards:
    """The shards of a corpus, a domain or a shard of one, by its manifest; of a folder of corpora, such as months, all.

    Else all shards at and below the path. In any case by domain; within one by folder, then by number.
    `NoRecordsError`, a `FileNotFoundError`, where there is none; `StoreShardsError` for shards whose keys differ and
    for corpora of other keys or of another tokenizer, and the errors of `open_corpus` and `ShardReader`.
    """
    for root in (path, *path.absolute().parents[:2]):
        if _is_corpus(root):
            return _of_corpus(root, path)
    manifests = (file.parent for file in path.rglob(MANIFEST) if is_shown(file.parent, path))
    roots = sorted(folder for folder in manifests if _is_corpus(folder))
    return _of_corpora(roots, path) if roots else _without_manifest(path)


def _is_corpus(folder: Path) -> bool:
    if not (folder / MANIFEST).is_file():
        return False
    try:
        return read_manifest(folder).get("content") == CONTENT
    except ManifestError:
        if (folder / META).exists():  # of something else, above shards that are whole in themselves
            return False
        raise


def _of_corpus(root: Path, path: Path) -> Shards:
    corpus = open_corpus(root)
    below = "" if root == path else path.absolute().relative_to(root).as_posix()
    pairs = zip(corpus.shards, corpus.readers, strict=True)
    chosen = [(entry, reader) for entry, reader in pairs if below in ("", entry.domain, entry.name)]
    if not chosen:
        raise NoRecordsError(f"{path}: is neither a domain nor a shard of the corpus {root}")
    kinds = {name: key.kind for name, key in corpus.keys.keys.items()}
    return Shards(
        tuple(Shard(entry.domain, reader) for entry, reader in chosen),
        frozenset(name for name, kind in kinds.items() if kind is KeyKind.GROUP),
        digest([corpus.manifest.get("data_version"), [entry.name for entry, _ in chosen]]),
        frozenset(name for name, kind in kinds.items() if kind is KeyKind.VALUES),
        frozenset(name for name, key in corpus.keys.keys.items() if key.along is not None),
        corpus.keys.all_ones,
        corpus.manifest,
    )


def _of_corpora(roots: list[Path], path: Path) -> Shards:
    """Several corpora as one; what their manifests say alike is its manifest."""
    corpora = [_of_corpus(root, root) for root in roots]
    first = corpora[0]
    for root, corpus in zip(roots, corpora, strict=True):
        for name in ("keys", "all_ones", "tokenizer_fingerprint"):
            one, other = first.manifest.get(name), corpus.manifest.get(name)
            if one != other:
                _check_one_corpus(roots, path)
                raise StoreShardsError(f"{root}: has the {name} {other}, and {roots[0]} {one}; all must be alike")
    alike = {
        name: value
        for name, value in first.manifest.items()
        if all(corpus.manifest.get(name) == value for corpus in corpora)
    }
    shards = sorted((shard for corpus in corpora for shard in corpus.shards), key=lambda shard: shard.domain)
    fingerprint = digest([corpus.fingerprint for corpus in corpora])
    return replace(first, shards=tuple(shards), fingerprint=fingerprint, manifest=alike)


def _check_one_corpus(roots: list[Path], path: Path) -> None:
    """Raise where the folder is one of corpora with months of their own, such as `data/records`."""
    names = sorted({root.relative_to(path).parts[0] for root in roots if len(root.relative_to(path).parts) > 1})
    if len(names) > 1:
        raise StoreShardsError(f"{path}: holds corpora that are not alike, choose one corpus: {', '.join(names)}")


def _without_manifest(path: Path) -> Shards:
    folders = find_shards(path)
    if not folders:
        found = "has no shard" if path.is_dir() else "is missing"
        raise NoRecordsError(f"{path}: No supported data: it {found}")
    readers = [ShardReader(folder) for folder in folders]
    looks = [_look(reader) for reader in readers]
    for folder, look in zip(folders, looks, strict=True):
        if look != looks[0]:
            raise StoreShardsError(f"{folder}: has {_say(look)}, and {folders[0]} {_say(looks[0])}; all must be alike")
    contents = [[str(f.relative_to(path)), hash_file(f / META)["sha256"], _sizes(f)] for f in folders]
    return Shards(
        tuple(Shard(folder.parent.name, reader) for folder, reader in zip(folders, readers, strict=True)),
        frozenset(key for key, (_, cut) in looks[0].items() if cut == "groups" and key != SEQUENCE),
        digest(contents),
    )


_Look = dict[str, tuple[str, str]]


def _look(reader: ShardReader) -> _Look:
    """dtype and cut of each key."""
    tensors = {key: reader.tensor(key) for key in reader.keys}
    return {
        key: (t.dtype.name, "groups" if t.parts is not None else "a stream" if t.offsets is None else "records")
        for key, t in tensors.items()
    }


def _say(look: _Look) -> str:
    return ", ".join(f"{key} ({dtype}, {cut})" for key, (dtype, cut) in look.items()) or "no keys"


def _sizes(folder: Path) -> list[list[object]]:
    return [[file.name, file.stat().st_size] for file in sorted(folder.glob("*.bin"))]
