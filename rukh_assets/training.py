"""What ids mean, published once: the uci vocabulary, and the BPE tokenizer that all months share.

A tokenizer is never replaced in silence. Packs made with different tokenizers cannot be trained on together, so a
standing one is kept, whatever became of the games or settings it was trained with, until `retrain` asks for another.
The one exception says so aloud: a tokenizer of sample games gives way as soon as months come from a real source.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from rukh_assets.errors import TrainingGamesError
from rukh_assets.ingest.month import open_games
from rukh_loaders.formats import publish_file, publish_folder
from rukh_loaders.formats.manifest import check_files, describe_files, digest, read_manifest, write_manifest
from rukh_loaders.formats.publish import exclusive
from rukh_loaders.tokenizers import UciTokenizer, Vocabulary
from rukh_loaders.tokenizers.bpe import bpe_vocabulary, longest_tokens, save_bpe, train_bpe

TRAINING_VERSION = 1
BPE_FILE = "bpe.json"
KEPT = "none: the standing tokenizer is kept"


def publish_vocab(path: Path) -> tuple[Vocabulary, bool]:
    """Write the uci vocabulary to `path` unless the file holds it already; the flag says whether it was written."""
    tokenizer = UciTokenizer()
    wanted = tokenizer.to_bytes()
    if path.is_file() and path.read_bytes() == wanted:
        return tokenizer.vocabulary, False
    publish_file(path, wanted)
    return tokenizer.vocabulary, True


def tokenizer_of_month(
    folder: Path,
    games_folders: Mapping[str, Path],
    *,
    sample: bool,
    training_month: str | None,
    training_games: int,
    vocab_size: int,
    retrain: bool = False,
    progress: Callable[[int], None] | None = None,
) -> tuple[dict[str, Any], str]:
    """Train into `folder` where no tokenizer stands or `retrain` is set; otherwise keep the standing one.

    Args:
        folder: receives `bpe.json` (the bytes of the tokenizer's `to_str()`) and `manifest.json`, whole.
        games_folders: month -> folder of its games, for every month that has games.
        sample: whether months are sample games now; only months made the same way can train.
        training_month: None means the earliest month that can train, or the month of the standing tokenizer.
        training_games: the first so many games of that month.
        vocab_size: entries wanted, the eight specials included.
        retrain: replace a standing tokenizer.
        progress: called with the number of games read so far.

    Returns:
        The manifest, and one sentence that says what was done and why.

    Raises:
        TrainingGamesError: the training month has no games; names the months that have.
    """
    with exclusive(folder):
        standing = _standing(folder)
        gives_way = standing is not None and standing["training"]["sample"] and not sample
        if standing and not retrain and not gives_way:
            month = training_month or standing["settings"]["month"]
            settings = {"month": month, "games": training_games, "vocab_size": vocab_size}
            return standing, _why_kept(standing, settings, games_folders)
        months = [month for month in sorted(games_folders) if _is_sample(games_folders[month]) == sample]
        month = training_month or next(iter(months), None)
        if month is None or month not in months:
            raise TrainingGamesError(month, months)
        settings = {"month": month, "games": training_games, "vocab_size": vocab_size}
        manifest = _train(folder, settings, games_folders[month], sample, progress)
        replaced = "; the one of sample games was replaced, bpe packs made with it are stale" if gives_way else ""
        return manifest, f"built{replaced}"


def _is_sample(games_folder: Path) -> bool:
    return bool(read_manifest(games_folder)["source"]["form"] == "sample")


def _standing(folder: Path) -> dict[str, Any] | None:
    if not folder.is_dir():
        return None
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    return manifest


def _why_kept(standing: dict[str, Any], settings: dict[str, Any], games_folders: Mapping[str, Path]) -> str:
    month = settings["month"]
    changed = [
        f"{name} was {standing['settings'][name]!r} and is now {settings[name]!r}"
        for name in settings
        if settings[name] != standing["settings"][name]
    ]
    if not changed and month in games_folders:
        sha256 = read_manifest(games_folders[month])["files"]["games.parquet"]["sha256"]
        if sha256 != standing["training"]["games_sha256"]:
            changed = [f"the games of {month} are other ones than it was trained on"]
    if changed:
        return f"{KEPT}, but {'; '.join(changed)}; set `retrain: true` to replace it"
    return KEPT


def _train(
    folder: Path,
    settings: dict[str, Any],
    games_folder: Path,
    sample: bool,
    progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    games_manifest, games_file = open_games(games_folder)
    games = min(settings["games"], games_manifest["counts"]["kept"])
    tokenizer = train_bpe(_uci_of(games_file, games, progress), vocab_size=settings["vocab_size"])
    vocabulary = bpe_vocabulary(tokenizer)
    games_sha256 = games_manifest["files"]["games.parquet"]["sha256"]
    manifest = {
        "format_version": 1,
        "code_version": TRAINING_VERSION,
        "settings": settings,
        "training": {"games": games, "games_sha256": games_sha256, "sample": sample},
        "inputs": digest([TRAINING_VERSION, settings, games_sha256]),
        "vocab_size": vocabulary.vocab_size,
        "vocab_hash": vocabulary.vocab_hash,
        "vocab_fingerprint": vocabulary.vocab_fingerprint,
        "longest_tokens": longest_tokens(tokenizer),
        "libraries": {"tokenizers": version("tokenizers")},
    }
    with publish_folder(folder) as building:
        save_bpe(tokenizer, building / BPE_FILE)
        manifest["files"] = describe_files(building)
        write_manifest(building, manifest)
    return manifest


def _uci_of(games_file: pq.ParquetFile, count: int, progress: Callable[[int], None] | None) -> Iterator[str]:
    """The `uci` column's first `count` games, one row group at a time."""
    read = 0
    for batch in games_file.iter_batches(batch_size=10_000, columns=["uci"]):
        games = batch.column(0).to_pylist()[: count - read]
        yield from games
        read += len(games)
        if progress:
            progress(read)
        if read == count:
            return
