"""What ids mean, published once: the uci vocabulary, and the BPE tokenizer that all months share.

A tokenizer is never replaced in silence. Packs made with different tokenizers cannot be trained on together, so a
standing one is kept, whatever became of the games or settings it was trained with, until `retrain` asks for another.
The one exception says so aloud: a tokenizer of sample games gives way as soon as months come from a real source.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rukh_assets.ingest.month import GAMES_FILE
from rukh_assets.packing.games_file import GamesFile, open_games_file
from rukh_loaders.formats import publish_file, publish_folder
from rukh_loaders.formats.manifest import describe_files, digest, read_manifest, verify_files, write_manifest
from rukh_loaders.formats.publish import exclusive
from rukh_loaders.tokenizers import UciTokenizer, Vocabulary
from rukh_loaders.tokenizers.bpe import bpe_vocabulary, longest_tokens, save_bpe, train_bpe

TRAINING_VERSION = 1
BPE_FILE = "bpe.json"
KEPT = "unchanged: the standing tokenizer is kept"


def publish_vocab(path: Path) -> tuple[Vocabulary, bool]:
    """Write the uci vocabulary to `path` unless the file holds it already; the flag says whether it was written."""
    tokenizer = UciTokenizer()
    wanted = tokenizer.to_bytes()
    if path.is_file() and path.read_bytes() == wanted:
        return tokenizer.vocabulary, False
    publish_file(path, wanted)
    return tokenizer.vocabulary, True


@dataclass(frozen=True)
class TrainingGames:
    """Where the games of months lie, and how to make those that do not stand yet.

    So a tokenizer does not depend on the order in which months are made: its training month is made when it is wanted.
    """

    folder_of: Callable[[str], Path]
    """The folder of a month's games, whether they stand or not."""
    make: Callable[[str], None]
    """Make the games of a month where they do not stand."""
    default_month: Callable[[], str]
    """The training month where neither a setting nor a standing tokenizer gives one."""
    sample: bool
    """Whether months are sample games now."""

    @classmethod
    def standing(cls, month: str, folder: Path) -> "TrainingGames":
        """The real games of one month, which stand in `folder`."""
        return cls(lambda _: folder, lambda _: None, lambda: month, sample=False)


def tokenizer_of_month(
    folder: Path,
    games: TrainingGames,
    *,
    training_month: str | None,
    training_games: int,
    vocab_size: int,
    retrain: bool = False,
    progress: Callable[[int], None] | None = None,
) -> tuple[dict[str, Any], str]:
    """Train into `folder` where no tokenizer stands or `retrain` is set; otherwise keep the standing one.

    Args:
        folder: receives `bpe.json` (the bytes of the tokenizer's `to_str()`) and `manifest.json`, whole.
        games: where games to train on lie; missing ones are made only when there is something to train.
        training_month: `YYYY-MM`, or None.
        training_games: the first so many games of that month.
        vocab_size: entries wanted, the eight specials included.
        retrain: replace a standing tokenizer.
        progress: called with the number of games read so far.

    Returns:
        The manifest, and one sentence that says what was done and why.

    Raises:
        ManifestError: the standing tokenizer is not the one that its manifest lists.
        GamesChangedError: the games are not those that their manifest lists.
    """
    with exclusive(folder):
        standing = _standing(folder)
        gives_way = standing is not None and standing["training"]["sample"] and not games.sample
        if standing and not gives_way:
            training_month = training_month or standing["settings"]["month"]
        month = training_month or games.default_month()
        settings = {"month": month, "games": training_games, "vocab_size": vocab_size}
        if standing and not retrain and not gives_way:
            return standing, _why_kept(standing, settings, games.folder_of(month))
        games.make(month)
        manifest = _train(folder, settings, games.folder_of(month), games.sample, progress)
        replaced = "; the one of sample games was replaced, bpe packs made with it are stale" if gives_way else ""
        return manifest, f"built{replaced}"


def _standing(folder: Path) -> dict[str, Any] | None:
    if not folder.is_dir():
        return None
    manifest = read_manifest(folder)
    verify_files(folder, manifest)
    return manifest


def _why_kept(standing: dict[str, Any], settings: dict[str, Any], games_folder: Path) -> str:
    changed = [
        f"{name} was {standing['settings'][name]!r} and is now {settings[name]!r}"
        for name in settings
        if settings[name] != standing["settings"][name]
    ]
    if not changed and games_folder.is_dir():
        sha256 = read_manifest(games_folder)["files"][GAMES_FILE]["sha256"]
        if sha256 != standing["training"]["games_sha256"]:
            changed = [f"the games of {settings['month']} are other ones than it was trained on"]
    return f"{KEPT}, but {'; '.join(changed)}; set `retrain: true` to replace it" if changed else KEPT


def _train(
    folder: Path,
    settings: dict[str, Any],
    games_folder: Path,
    sample: bool,
    progress: Callable[[int], None] | None,
) -> dict[str, Any]:
    with open_games_file(games_folder / GAMES_FILE) as games_file:
        games, games_sha256 = min(settings["games"], games_file.n_games), games_file.record["sha256"]
        moves = _uci_of(games_file, games, progress)
        tokenizer = train_bpe(moves, vocab_size=settings["vocab_size"], max_games=games)
    vocabulary = bpe_vocabulary(tokenizer)
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


def _uci_of(games_file: GamesFile, count: int, progress: Callable[[int], None] | None) -> Iterator[str]:
    """The `uci` column's first `count` games, one row group at a time."""
    read = 0
    for table in games_file.row_groups(["uci"]):
        games = table["uci"][: count - read].to_pylist()
        yield from games
        read += len(games)
        if progress:
            progress(read)
        if read == count:
            return
