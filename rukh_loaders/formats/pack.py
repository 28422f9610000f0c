"""Packs: a month of encoded games as one stream of ids, with where each game starts and one value a game in columns."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import FormatError, PackError, VocabularyMismatchError
from rukh_loaders.formats.manifest import MANIFEST, check_files, read_manifest, verify_files
from rukh_loaders.formats.mapping import give_back
from rukh_loaders.formats.npy import open_npy
from rukh_loaders.formats.pack_info import COLUMNS, FORMAT_VERSION, MAX_VOCAB_SIZE, META, PackInfo, check_vocab_size
from rukh_loaders.formats.pack_writer import PackWriter
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, UNK

__all__ = ["COLUMNS", "FORMAT_VERSION", "MAX_VOCAB_SIZE", "META", "Pack", "PackInfo", "PackWriter", "open_pack"]

SCHEMES_WITH_UNK = ("uci", "bpe")
"""Where id 4 is `<unk>`, which no pack may hold."""

_VERIFY_TOKENS = 1 << 24
"""How many ids `Pack.verify` looks at in one go: 32 MB."""

_ATTEMPTS = 5


class Pack:
    """An opened pack: `tokens`, `starts` and `columns` are read-only arrays over mapped files; no file stays open.

    `path` is its folder, `info` its meta.json, `manifest` its manifest.json (None in a pack that has none), and
    `columns` maps a name of `COLUMNS` to one value a game, empty in a pack that has none. Pickled, it is its path.
    """

    def __init__(self, path: Path) -> None:
        path = path.absolute()  # pickled, it is this path: the current folder may be another one there
        self.path = path
        self.info = PackInfo.from_file(path / META)
        check_vocab_size(str(path / META), self.info.vocab_size)
        self.tokens: NDArray[np.uint16] = open_npy(path / "tokens.npy", np.uint16)
        self.starts: NDArray[np.int64] = open_npy(path / "starts.npy", np.int64)
        self.columns: Mapping[str, NDArray[Any]] = {
            name: open_npy(path / "columns" / f"{name}.npy", dtype)
            for name, dtype in COLUMNS.items()
            if (path / "columns" / f"{name}.npy").exists()
        }
        self.manifest: dict[str, Any] | None = read_manifest(path) if (path / MANIFEST).exists() else None
        self._check_counts()
        if self.manifest is not None:
            _check_format_version(path, self.manifest)
            check_files(path, self.manifest)

    def __len__(self) -> int:
        return self.info.n_games

    def __reduce__(self) -> tuple[Any, tuple[Path, str]]:
        return open_pack, (self.path, self.info.vocab_hash)

    def game(self, i: int) -> NDArray[np.uint16]:
        """The ids of game i, frame included, mapped; outside 0..n_games-1, negatives included, `IndexError`.

        `PackError` where the game's start is outside the pack or not before the next one.
        """
        if not 0 <= i < len(self):
            raise IndexError(f"{self.path}: no game {i}, allowed: 0 to {len(self) - 1}")
        begin, end = int(self.starts[i]), int(self.starts[i + 1]) if i + 1 < len(self) else self.info.n_tokens
        if not 0 <= begin < end <= self.info.n_tokens:
            raise PackError(
                f"{self.path}/starts.npy: game {i} goes from {begin} to {end} of {self.info.n_tokens} tokens, "
                "expected starts that rise"
            )
        return self.tokens[begin:end]

    def check_vocabulary(self, vocab_hash: str) -> None:
        """Raise `VocabularyMismatchError`, with both hashes, when the pack was encoded with another vocabulary."""
        if self.info.vocab_hash != vocab_hash:
            raise VocabularyMismatchError(
                f"{self.path / META}: was encoded with the vocabulary {self.info.vocab_hash}, expected {vocab_hash}"
            )

    def verify(self, on_bytes: Callable[[int], object] | None = None) -> None:
        """Read everything, and raise `PackError` unless the pack is what it promises.

        Every file has the sha256 of the manifest; starts begin at 0 and rise, each at a `<bos>`; the last id is
        `<eos>`; every id lies in the vocabulary; none is `<unk>` where the scheme has one. Ids are read in parts,
        each of which is given back.

        `on_bytes` is called with the size of each piece that was read: in all `verify_bytes`.
        """
        on_bytes = on_bytes or (lambda size: None)
        if self.manifest is not None:
            try:
                verify_files(self.path, self.manifest, on_bytes)
            except FormatError as error:
                raise PackError(str(error)) from error
            except OSError as error:
                raise _unreadable(self.path, error) from error
        self._verify_starts()
        for begin in range(0, self.tokens.size, _VERIFY_TOKENS):
            ids = self.tokens[begin : begin + _VERIFY_TOKENS]
            self._verify_bos(begin, ids)
            self._verify_ids(begin, ids)
            on_bytes(ids.nbytes)
            give_back(ids)

    @property
    def verify_bytes(self) -> int:
        """How much `verify` reads: every file of the manifest once, the ids once more."""
        files = self.manifest["files"] if self.manifest is not None else {}
        return sum(int(record["bytes"]) for record in files.values()) + 2 * self.info.n_tokens

    def _check_counts(self) -> None:
        counts = {"tokens": (self.tokens.size, self.info.n_tokens), "starts": (self.starts.size, self.info.n_games)}
        for name, column in self.columns.items():
            counts[f"columns/{name}"] = (column.size, self.info.n_games)
        for name, (got, expected) in counts.items():
            if got != expected:
                raise PackError(f"{self.path / name}.npy: holds {got} values, meta.json says {expected}")
        if self.starts.size and self.starts[0] != 0:
            raise PackError(f"{self.path}/starts.npy: the first start is {self.starts[0]}, expected 0")
        if self.starts.size and self.starts[-1] >= self.tokens.size:
            raise PackError(
                f"{self.path}/starts.npy: the last start is {self.starts[-1]}, expected below {self.tokens.size}"
            )
        if self.tokens.size and not self.starts.size:
            raise PackError(f"{self.path}: has {self.tokens.size} ids and 0 games")

    def _verify_starts(self) -> None:
        standing = np.flatnonzero(self.starts[1:] <= self.starts[:-1])
        if standing.size:
            at = int(standing[0]) + 1
            raise PackError(
                f"{self.path}/starts.npy: start {self.starts[at]} of game {at} follows {self.starts[at - 1]}, "
                "expected starts that rise"
            )
        if self.tokens.size and self.tokens[-1] != EOS:
            raise PackError(f"{self.path}/tokens.npy: the last id is {self.tokens[-1]}, expected <eos> {EOS}")

    def _verify_bos(self, begin: int, ids: NDArray[np.uint16]) -> None:
        first, end = np.searchsorted(self.starts, [begin, begin + ids.size])
        opening = ids[self.starts[first:end] - begin]
        others = np.flatnonzero(opening != BOS)
        if others.size:
            game = int(others[0])
            raise PackError(
                f"{self.path}/tokens.npy: game {first + game} begins with id {opening[game]}, expected <bos> {BOS}"
            )

    def _verify_ids(self, begin: int, ids: NDArray[np.uint16]) -> None:
        faults = ids >= self.info.vocab_size
        allowed = f"0 to {self.info.vocab_size - 1}"
        if not faults.any() and self.info.scheme in SCHEMES_WITH_UNK:
            faults = ids == UNK
            allowed = f"none of <unk> {UNK}"
        if faults.any():
            at = int(faults.argmax())
            game = int(np.searchsorted(self.starts, begin + at, side="right")) - 1
            raise PackError(
                f"{self.path}/tokens.npy: game {game} has id {ids[at]} at position {begin + at - self.starts[game]}, "
                f"allowed: {allowed}"
            )


def open_pack(path: Path | str, vocab_hash: str | None = None) -> Pack:
    """Open the pack in folder `path`; cheap: it looks at sizes, dtypes and counts, not at the ids (`Pack.verify` does).

    `PackError` names the file and both values. With `vocab_hash`, a pack of another vocabulary raises
    `VocabularyMismatchError`. Packs of other programs that have no manifest and no columns open too.
    """
    path = Path(path)
    pack = _open_whole(path)
    if vocab_hash is not None:
        pack.check_vocabulary(vocab_hash)
    return pack


def _open_whole(path: Path) -> Pack:
    """Open all files of one and the same folder: when it is replaced meanwhile, open once more."""
    for _ in range(_ATTEMPTS):
        before = folder_identity(path)
        fault: FormatError | None = None
        try:
            pack = Pack(path)
        except (FormatError, OSError) as error:
            fault = error if isinstance(error, FormatError) else _unreadable(path, error)
            time.sleep(0.02)  # a folder that is moved aside to be replaced is back within moments
        if folder_identity(path) != before:
            continue
        if fault is not None:
            raise fault if isinstance(fault, PackError) else PackError(str(fault)) from fault
        return pack
    raise PackError(f"{path}: was replaced {_ATTEMPTS} times while it was being opened")


def _unreadable(folder: Path, error: OSError) -> PackError:
    return PackError(f"{error.filename or folder}: cannot be read: {error.strerror or error}")


def folder_identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from every other, however its path is spelled; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_format_version(path: Path, manifest: Mapping[str, Any]) -> None:
    version = manifest.get("format_version", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise PackError(f"{path / MANIFEST}: has format_version {version!r}, this reader knows {FORMAT_VERSION}")
