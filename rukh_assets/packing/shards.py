"""A month's games to encoded shards: one shard a row group of the games file."""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from rukh_assets.encode.encoder import Encoded, Encoder
from rukh_assets.errors import GameRefusedError, ShardsRefusedError
from rukh_assets.packing.games_file import GamesFile, Piece, games_sha256, open_games_file
from rukh_assets.standing import standing_manifest
from rukh_assets.workers import Workers
from rukh_loaders.formats import (
    FileRecord,
    RecordsWriter,
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
PIECE_GAMES = 8192
"""Games that a worker encodes at once: fewer cost calls, more cost memory."""
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
    """Encode a games file into `out_dir/shard_0000`, ...: one shard a row group, a few pieces in memory at a time.

    The folder appears whole, its manifest.json written last. The bytes are the same with any number of `workers` (None
    for all cores); several share a row group, and the next piece is read meanwhile. `progress` is called with the
    number of games so far, after each row group.

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
        pieces = crew.ahead(games.pieces(_ENCODED_COLUMNS, PIECE_GAMES))
        encoded = crew.map(partial(_encode, encoder, games.path), pieces)
        for number, of_row_group in groupby(encoded, key=itemgetter(0)):
            name = shard_name(number)
            with RecordsWriter(building / name, SEQUENCE, np.uint16) as writer:
                for _, (ids, lengths) in of_row_group:
                    writer.append(ids, lengths)
                files |= {f"{name}/{file}": record for file, record in writer.finish().items()}
            shards.append({"name": name, "n_games": writer.n_records, "n_tokens": writer.n_values})
            done += writer.n_records
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


def _encode(encoder: Encoder, path: Path, piece: Piece) -> tuple[int, Encoded]:
    """The piece's row group, ids and lengths."""
    place = f"{path}, row group {piece.row_group}"
    try:
        ids, lengths = encoder.encode_batch(piece.games, piece.first_row)
    except GameRefusedError as error:
        raise type(error)(f"{place}: {error}") from error
    if lengths.size != piece.games.num_rows:
        raise ShardsRefusedError(
            f"{place}: the encoder gave {lengths.size} games for {piece.games.num_rows} rows from row {piece.first_row}"
        )
    return piece.row_group, (ids, lengths)


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
