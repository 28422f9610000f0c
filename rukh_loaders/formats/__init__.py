"""The files on disk: what docs/formats.md describes, read and written. No torch, no Dagster.

    publish    a folder or file that appears whole or not at all
    manifest   which files a folder holds, with sizes and hashes, and what it was made from
    npy        one-dimensional .npy files: written in one pass, read through a map
    shard      keyed arrays with record offsets: what the encoders write
    tensors    one key of a shard: values, and where they are cut into records and parts
    corpus     a corpus of records: shards of several domains in one order, with what their keys are
    pack       one month of one scheme: tokens.npy, starts.npy, meta.json, columns/, manifest.json

Two games of three and four ids, published as a pack, opened and read:

>>> import tempfile
>>> from pathlib import Path
>>> import numpy as np
>>> from rukh_loaders.formats import PackInfo, PackWriter, open_pack, publish_folder
>>> home = tempfile.TemporaryDirectory()
>>> target = Path(home.name, "packs", "toy", "2025-01")
>>> info = PackInfo(n_games=2, n_tokens=7, scheme="toy", vocab_size=12, vocab_hash="5e1f", source="by hand")
>>> with publish_folder(target) as folder, PackWriter(folder, info) as writer:
...     writer.append(np.array([1, 9, 2, 1, 10, 11, 2], np.uint16), np.array([3, 4], np.int64))
...     manifest = writer.finish({"months": ["2025-01"]})
>>> sorted(manifest["files"])
['meta.json', 'starts.npy', 'tokens.npy']

>>> pack = open_pack(target, vocab_hash="5e1f")
>>> len(pack), pack.starts.tolist(), pack.game(1).tolist()
(2, [0, 3], [1, 10, 11, 2])
>>> pack.verify()

A pack of another vocabulary is refused, with both hashes:

>>> open_pack(target, vocab_hash="0ff0")
Traceback (most recent call last):
    ...
rukh_loaders.errors.VocabularyMismatchError: ...meta.json: was encoded with the vocabulary 5e1f, expected 0ff0
>>> home.cleanup()
"""

from rukh_loaders.formats.manifest import (
    MANIFEST,
    FileRecord,
    check_files,
    describe_files,
    digest,
    hash_file,
    read_manifest,
    to_json,
    verify_files,
    write_manifest,
)
from rukh_loaders.formats.npy import NpyWriter, open_npy
from rukh_loaders.formats.pack import COLUMNS, Pack, PackInfo, PackWriter, open_pack
from rukh_loaders.formats.publish import publish_file, publish_folder
from rukh_loaders.formats.shard import ShardReader, ShardWriter, list_shards, shard_name
from rukh_loaders.formats.shard_records import RecordsWriter
from rukh_loaders.formats.tensors import KeyedTensor, Parts, StreamedTensor, cut_at

__all__ = [
    "COLUMNS",
    "MANIFEST",
    "FileRecord",
    "KeyedTensor",
    "NpyWriter",
    "Pack",
    "PackInfo",
    "PackWriter",
    "Parts",
    "RecordsWriter",
    "ShardReader",
    "ShardWriter",
    "StreamedTensor",
    "check_files",
    "cut_at",
    "describe_files",
    "digest",
    "hash_file",
    "list_shards",
    "open_npy",
    "open_pack",
    "publish_file",
    "publish_folder",
    "read_manifest",
    "shard_name",
    "to_json",
    "verify_files",
    "write_manifest",
]
