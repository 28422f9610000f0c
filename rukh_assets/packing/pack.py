"""Shards to a pack: one stream of ids, where each game starts, and the columns to choose games by."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rukh_assets.encode.encoder import Encoded, Encoder
from rukh_assets.errors import GamesChangedError, NullValueError, ShardsRefusedError
from rukh_assets.packing.columns import GAME_COLUMNS, pack_columns
from rukh_assets.packing.games_file import GamesFile, games_sha256, open_games_file
from rukh_assets.packing.shards import (
    PACKING_VERSION,
    SEQUENCE,
    SHARDS_FORMAT_VERSION,
    library_versions,
    write_shards,
)
from rukh_assets.standing import standing_manifest
from rukh_assets.workers import Workers
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import (
    COLUMNS,
    PackInfo,
    PackWriter,
    ShardReader,
    check_files,
    digest,
    list_shards,
    publish_folder,
    read_manifest,
    verify_files,
)

SOURCE = "games.parquet"
"""`source` in every meta.json: what the games were read from."""

_NEEDED = {
    *("format_version", "code_version", "scheme", "vocab_size", "vocab_hash", "vocab_fingerprint"),
    *("games", "shards", "n_games", "n_tokens", "files", "data_version"),
}


def pack_shards(shards_dir: Path, games_parquet: Path, out_dir: Path, *, workers: int | None = None) -> PackInfo:
    """Put the shards of `write_shards` one after the other into a pack at `out_dir`, which appears whole.

    Row i of `games_parquet` is game i of the pack. What is read is checked: the manifest, each file's size and sha256,
    the counts, and that the games file is the one that the shards were made from. With more `workers` than one (None
    for all cores) the next shard is checked meanwhile. Memory: two shards, or the columns of one row group.

    Raises:
        ManifestError: no manifest, or a file that is not the one it lists; both values are named.
        ShardsRefusedError: shards of another version, other shards than the manifest lists, counts that differ.
        GamesChangedError: another games file; both sha256 are named.
        NullValueError, UnknownResultError, TimeControlError, GameColumnsError: a games file without valid columns.
        PackError: a shard's games are not framed, or have ids outside the vocabulary.
    """
    with open_games_file(games_parquet) as games, publish_folder(out_dir) as building:
        return _fill(building, shards_dir, games, workers)


def pack_month(
    games_parquet: Path | str, encoder: Encoder, out_dir: Path | str, *, workers: int | None = None
) -> PackInfo:
    """Encode and pack a games file in one call: `write_shards` and `pack_shards`, the same bytes, no shards kept."""
    games_parquet, out_dir = Path(games_parquet), Path(out_dir)
    with open_games_file(games_parquet) as games, publish_folder(out_dir) as building:
        # Both inside the folder that is being built, so that what a killed process leaves goes with it.
        shards_dir, pack_dir = building / "shards", building / "pack"
        write_shards(games_parquet, encoder, shards_dir, workers=workers)
        info = _fill(pack_dir, shards_dir, games, workers)
        shutil.rmtree(shards_dir)
        for path in list(pack_dir.iterdir()):
            path.rename(building / path.name)
        pack_dir.rmdir()
    return info


def standing_pack(shards_dir: Path, games_parquet: Path, out_dir: Path) -> dict[str, Any] | None:
    """The manifest of the pack in `out_dir` if it is whole and `pack_shards` would make it again, else None."""
    try:
        shards = read_manifest(shards_dir)
    except ManifestError:
        return None
    if shards.get("games", {}).get("sha256") != games_sha256(games_parquet):
        return None
    return standing_manifest(out_dir, _inputs(shards))


def _fill(folder: Path, shards_dir: Path, games: GamesFile, workers: int | None) -> PackInfo:
    manifest = _read_checked(shards_dir, games)
    info = PackInfo(
        n_games=manifest["n_games"],
        n_tokens=manifest["n_tokens"],
        scheme=manifest["scheme"],
        vocab_size=manifest["vocab_size"],
        vocab_hash=manifest["vocab_hash"],
        source=SOURCE,
    )
    with Workers(workers) as crew, PackWriter(folder, info) as writer:
        shards = (_read_shard(shards_dir, shard, manifest["files"]) for shard in manifest["shards"])
        for ids, lengths in crew.ahead(shards):
            writer.append(ids, lengths)
        months = _append_columns(writer, games)
        writer.finish(
            {
                "months": months,
                "code_version": PACKING_VERSION,
                "games": manifest["games"],
                "inputs": _inputs(manifest),
                "vocab_fingerprint": manifest["vocab_fingerprint"],
                "libraries": library_versions(),
            }
        )
    return info


def _read_checked(shards_dir: Path, games: GamesFile) -> dict[str, Any]:
    """The manifest of shards that fit together and were made from these games; file contents are not yet looked at."""
    manifest = read_manifest(shards_dir)
    missing = _NEEDED - manifest.keys()
    if missing:
        raise ShardsRefusedError(f"{shards_dir}: its manifest lacks {sorted(missing)}")
    versions = {"format_version": SHARDS_FORMAT_VERSION, "code_version": PACKING_VERSION}
    for key, expected in versions.items():
        _agree(shards_dir, key, manifest[key], "this code's", expected)
    if manifest["games"]["sha256"] != games.record["sha256"]:
        raise GamesChangedError(
            f"{games.path}: has sha256 {games.record['sha256']}, "
            f"the shards in {shards_dir} were made from {manifest['games']['sha256']}"
        )
    check_files(shards_dir, manifest)
    listed, found = [shard["name"] for shard in manifest["shards"]], [path.name for path in list_shards(shards_dir)]
    if listed != found:
        odd = sorted(set(listed) ^ set(found)) or ["none, but in another order"]
        raise ShardsRefusedError(
            f"{shards_dir}: the manifest lists {len(listed)} shards, the folder has {len(found)}; "
            f"in one of the two only: {odd[:5]}"
        )
    _agree(shards_dir, "n_games", manifest["n_games"], "that of the games file", games.n_games)
    for key in ("n_games", "n_tokens"):
        total = sum(shard[key] for shard in manifest["shards"])
        _agree(shards_dir, key, manifest[key], "the sum over its shards", total)
    return manifest


def _read_shard(shards_dir: Path, shard: Mapping[str, Any], files: Mapping[str, Any]) -> Encoded:
    """Ids and lengths of one shard, its files hashed and its counts compared."""
    folder = shards_dir / shard["name"]
    verify_files(shards_dir, {"files": {name: files[name] for name in files if name.startswith(f"{shard['name']}/")}})
    tensor = ShardReader(folder).tensor(SEQUENCE)
    if tensor.offsets is None:
        raise ShardsRefusedError(f"{folder}: {SEQUENCE} has no offsets, so it holds no games")
    lengths = np.diff(tensor.offsets)
    _agree(folder, "n_games", shard["n_games"], "that of its offsets", lengths.size)
    _agree(folder, "n_tokens", shard["n_tokens"], f"that of its {SEQUENCE}", tensor.values.size)
    return tensor.values, lengths


def _append_columns(writer: PackWriter, games: GamesFile) -> list[str]:
    """Write the columns, one row group of the games file at a time; the months that the games are from."""
    writer.append_columns({name: np.empty(0, dtype) for name, dtype in COLUMNS.items()})
    months: set[str] = set()
    row = 0
    for table in games.row_groups((*GAME_COLUMNS, "month")):
        writer.append_columns(pack_columns(table, str(games.path), row))
        if table["month"].null_count:
            raise NullValueError(f"{games.path}: month is null at or after row {row}; only utc_date may be")
        months.update(table["month"].unique().to_pylist())
        row += table.num_rows
    return sorted(months)


def _inputs(shards: Mapping[str, Any]) -> str:
    """A digest of the shards and of what their ids mean: another tokenizer may well give a month the same ids."""
    made_from = {key: shards[key] for key in ("data_version", "games", "scheme", "vocab_size", "vocab_hash")}
    return digest(made_from | {"code_version": PACKING_VERSION})


def _agree(place: Path, what: str, said: object, whose: str, found: object) -> None:
    if said != found:
        raise ShardsRefusedError(f"{place}: the manifest's {what} is {said}, {whose} is {found}")
