"""A month's games to encoded shards: one shard a row group of the games file."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.encode.encoder import Encoded, Encoder
from rukh_assets.encode.spread import SpreadEncoder
from rukh_assets.errors import GameRefusedError, ShardsRefusedError
from rukh_assets.packing.games_file import GamesFile, games_sha256, open_games_file
from rukh_assets.standing import standing_manifest
from rukh_assets.workers import Workers
from rukh_loaders.formats import (
    FileRecord,
    KeyedTensor,
    ShardWriter,
    digest,
    publish_folder,
    shard_name,
    write_manifest,
)
from rukh_loaders.formats.pack_info import check_vocab_size
from rukh_loaders.tokenizers.vocabulary import Vocabulary

PACKING_VERSION = 1
"""Raised with any change that makes other bytes of the same games: standing shards and packs are then made again."""

SHARDS_FORMAT_VERSION = 1
SEQUENCE = "sequence"
"""The one key of a game shard: uint16 with offsets, record i is game i."""

_ENCODED_COLUMNS = ("game_id", "uci", "white_elo", "black_elo", "result")
_LIBRARIES = ("chess", "numba", "numpy", "pyarrow", "tokenizers")


def write_shards(
    games_parquet: Path,
    encoder: Encoder,
    out_dir: Path,
    progress: Callable[[int], None] | None = None,
    *,
    workers: int | None = None,
) -> dict[str, Any]:
    """Encode a games file into `out_dir/shard_0000`, ...: one shard a row group, one row group in memory at a time.

    The folder appears whole, its manifest.json written last. The bytes are the same with any number of `workers` (None
    for all cores); several share a row group, and the next one is read meanwhile. `progress` is called with the number
    of games so far.

    Returns:
        The manifest: format and code version, scheme, vocabulary size, hash and fingerprint, `games` (`n_games` and
        sha256 of the games file), `shards` (name, `n_games`, `n_tokens` of each, in order), `n_games`, `n_tokens`,
        `files`, `inputs` (a digest of games, vocabulary and code version), `data_version` (one of the files), and
        versions of libraries.

    Raises:
        VocabularyTooLargeError: more than 65,536 ids; nothing has been written then.
        GameRefusedError: a game that has no ids; names the row group.
        GameColumnsError, GamesChangedError: what `open_games_file` and `GamesFile.row_groups` refuse.
    """
    vocabulary = encoder.vocabulary
    check_vocab_size(str(out_dir), vocabulary.vocab_size)
    with open_games_file(games_parquet) as games, publish_folder(out_dir) as building, Workers(workers) as crew:
        shards: list[dict[str, Any]] = []
        files: dict[str, FileRecord] = {}
        done = 0
        spread = SpreadEncoder(encoder, crew)
        for number, table in enumerate(crew.ahead(games.row_groups(_ENCODED_COLUMNS))):
            ids, lengths = _encode(spread, table, f"{games.path}, row group {number}")
            name = shard_name(number)
            records = ShardWriter(building / name).write({SEQUENCE: KeyedTensor(ids, _offsets(lengths))})
            files |= {f"{name}/{file}": record for file, record in records.items()}
            shards.append({"name": name, "n_games": lengths.size, "n_tokens": ids.size})
            done += lengths.size
            if progress:
                progress(done)
        manifest = _manifest(games, vocabulary, shards, files)
        write_manifest(building, manifest)
    return manifest


def standing_shards(games_parquet: Path, encoder: Encoder, out_dir: Path) -> dict[str, Any] | None:
    """The manifest of the shards in `out_dir` if they are whole and `write_shards` would make them again, else None."""
    return standing_manifest(out_dir, _inputs(games_sha256(games_parquet), encoder.vocabulary))


def library_versions() -> dict[str, str]:
    """Versions of the libraries that the bytes of shards and packs come from."""
    return {name: version(name) for name in _LIBRARIES}


def _encode(encoder: Encoder, table: pa.Table, place: str) -> Encoded:
    try:
        encoded = [encoder.encode_batch(batch) for batch in table.combine_chunks().to_batches()]
    except GameRefusedError as error:
        raise type(error)(f"{place}: {error}") from error
    if len(encoded) == 1:  # but for row groups with more text than one Arrow array holds
        ids, lengths = encoded[0]
    else:
        ids = np.concatenate([np.empty(0, np.uint16), *(ids for ids, _ in encoded)])
        lengths = np.concatenate([np.empty(0, np.int64), *(lengths for _, lengths in encoded)])
    if lengths.size != table.num_rows:
        raise ShardsRefusedError(f"{place}: the encoder gave {lengths.size} games for {table.num_rows} rows")
    return ids, lengths


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _manifest(
    games: GamesFile, vocabulary: Vocabulary, shards: list[dict[str, Any]], files: dict[str, FileRecord]
) -> dict[str, Any]:
    return {
        "format_version": SHARDS_FORMAT_VERSION,
        "code_version": PACKING_VERSION,
        "scheme": vocabulary.scheme,
        "vocab_size": vocabulary.vocab_size,
        "vocab_hash": vocabulary.vocab_hash,
        "vocab_fingerprint": vocabulary.vocab_fingerprint,
        "games": {"n_games": games.n_games, "sha256": games.record["sha256"]},
        "shards": shards,
        "n_games": sum(shard["n_games"] for shard in shards),
        "n_tokens": sum(shard["n_tokens"] for shard in shards),
        "files": files,
        "inputs": _inputs(games.record["sha256"], vocabulary),
        "data_version": digest(files),
        "libraries": library_versions(),
    }


def _inputs(games: str, vocabulary: Vocabulary) -> str:
    return digest({"games": games, "vocab_hash": vocabulary.vocab_hash, "code_version": PACKING_VERSION})
