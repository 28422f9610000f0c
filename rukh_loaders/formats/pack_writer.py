"""Writing packs: one pass over the games, hashed on the way, the manifest last."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import PackError
from rukh_loaders.formats.manifest import FileRecord, write_hashed, write_manifest
from rukh_loaders.formats.npy import NpyWriter
from rukh_loaders.formats.pack_info import COLUMNS, FORMAT_VERSION, META, PackInfo, check_vocab_size
from rukh_loaders.tokenizers.vocabulary import BOS, EOS


class PackWriter:
    """Writes one pack into `folder`, empty or absent; wrap it in `publish_folder` to have it appear whole.

    A context manager: `append` the games in order, perhaps `append_columns`, then `finish`. `info` holds the numbers
    of games and ids beforehand: other numbers, and columns of other dtypes or lengths, raise `NpyError`. A vocabulary
    that does not fit uint16 raises `VocabularyTooLargeError` before anything is written.
    """

    def __init__(self, folder: Path, info: PackInfo) -> None:
        check_vocab_size(str(folder), info.vocab_size)
        if folder.exists() and any(folder.iterdir()):
            raise PackError(f"{folder}: is not empty, a pack is written into an empty folder")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.info = info
        self._files: dict[str, FileRecord] = {}
        self._tokens = NpyWriter(folder / "tokens.npy", np.uint16, info.n_tokens)
        self._starts = NpyWriter(folder / "starts.npy", np.int64, info.n_games)
        self._columns: dict[str, NpyWriter] = {}
        self._finished = False

    def append(self, ids: NDArray[np.uint16], lengths: NDArray[np.int64]) -> None:
        """Write whole games: `ids` of all of them one after the other, uint16, and the length of each, int64.

        `PackError` unless the lengths add up to the ids, each game is framed by `<bos>` and `<eos>`, and every id lies
        in the vocabulary.
        """
        if ids.dtype != np.uint16 or lengths.dtype != np.int64 or ids.ndim != 1 or lengths.ndim != 1:
            raise PackError(
                f"{self.folder}: got ids of {ids.dtype}, {ids.ndim}-d, and lengths of {lengths.dtype}, "
                f"{lengths.ndim}-d, expected uint16 and int64, 1-d"
            )
        ends = np.cumsum(lengths)
        self._check_games(ids, lengths, ends)
        self._starts.append(self._tokens.written + ends - lengths)
        self._tokens.append(ids)

    def append_columns(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write the next games' values to `columns/*.npy`: all names of `COLUMNS`, each of its dtype, one value a game.

        A pack has columns from the first call on, be it one of no games.
        """
        if columns.keys() != COLUMNS.keys():
            raise PackError(f"{self.folder}: got columns {sorted(columns)}, expected {sorted(COLUMNS)}")
        if not self._columns:
            folder = self.folder / "columns"
            folder.mkdir()
            self._columns = {
                name: NpyWriter(folder / f"{name}.npy", dtype, self.info.n_games) for name, dtype in COLUMNS.items()
            }
        for name, writer in self._columns.items():
            writer.append(columns[name])

    def finish(self, manifest_extra: Mapping[str, Any]) -> dict[str, Any]:
        """Close the arrays, write meta.json, then manifest.json, and return what the manifest holds.

        The manifest is `manifest_extra` and `format_version`, `n_games`, `n_tokens` and `files`.
        """
        for name, writer in self._columns.items():
            self._files[f"columns/{name}.npy"] = writer.close()
        self._files["tokens.npy"] = self._tokens.close()
        self._files["starts.npy"] = self._starts.close()
        self._files[META] = write_hashed(self.folder / META, self.info.to_bytes())
        own = {
            "format_version": FORMAT_VERSION,
            "n_games": self.info.n_games,
            "n_tokens": self.info.n_tokens,
            "files": self._files,
        }
        for key in own.keys() & manifest_extra.keys():
            if manifest_extra[key] != own[key]:
                raise PackError(f"{self.folder}: got {key} {manifest_extra[key]!r} for its manifest, not {own[key]!r}")
        manifest = {**manifest_extra, **own}
        write_manifest(self.folder, manifest)
        self._finished = True
        return manifest

    def __enter__(self) -> "PackWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._finished:
            for writer in (self._tokens, self._starts, *self._columns.values()):
                writer.abandon()
            if kind is None:
                raise PackError(f"{self.folder}: the pack was left before finish()")

    def _check_games(self, ids: NDArray[np.uint16], lengths: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        first = self._starts.written
        total = int(ends[-1]) if ends.size else 0
        if total != ids.size:
            raise PackError(f"{self.folder}: got {ids.size} ids, but lengths that add up to {total}")
        if ids.size == 0 and lengths.size == 0:
            return
        if lengths.min() < 2:
            game = int(lengths.argmin())
            raise PackError(
                f"{self.folder}: game {first + game} has length {lengths[game]}, a framed game has 2 or more"
            )
        unframed = np.flatnonzero((ids[ends - lengths] != BOS) | (ids[ends - 1] != EOS))
        if unframed.size:
            game = int(unframed[0])
            edges = ids[ends[game] - lengths[game]], ids[ends[game] - 1]
            raise PackError(
                f"{self.folder}: game {first + game} begins with id {edges[0]} and ends with {edges[1]}, "
                f"expected <bos> {BOS} and <eos> {EOS}"
            )
        if ids.max() >= self.info.vocab_size:
            at = int(ids.argmax())
            game = int(np.searchsorted(ends, at, side="right"))
            raise PackError(
                f"{self.folder}: game {first + game} has id {ids[at]}, allowed: 0 to {self.info.vocab_size - 1}"
            )
