"""Writing the ids of a month, hashed: PackWriter against a file that is written twice and read once more."""

import functools
import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import baselines
from benchmarks.measure import Variant, Work, interleave
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from rukh_loaders.formats import PackInfo, PackWriter, publish_folder
from rukh_loaders.tokenizers import BOS, EOS, SPECIALS, UciTokenizer

_IDS_A_GAME = 64
_GAMES_A_PIECE = 1 << 17
_PIECES = 16
"""16 pieces of 2^23 ids: 268 MB."""

Piece = NDArray[np.uint16]


def packing(plan: Plan) -> list[Result]:
    """268 MB of ids, or fewer for few games, to tokens.npy and its sha256; beside it, what each alone takes.

    With the time that elapsed as well, since much of that is waiting for the disk.
    """
    games_a_piece = plan.at_most(_GAMES_A_PIECE)
    pieces = [framed_games(games_a_piece)] * _PIECES
    work = Work(games_a_piece * _PIECES, games_a_piece * _PIECES * _IDS_A_GAME)

    def doing(write: Callable[[Sequence[Piece], Path], None], folder: Path) -> Callable[[], Work]:
        folder.mkdir()

        def run() -> Work:
            write(pieces, folder)
            return work

        return run

    with tempfile.TemporaryDirectory() as folder:
        timings = interleave(
            [
                Variant("raw file, memmap, msync, sha256", doing(_write_twice_and_hash, Path(folder, "hashed"))),
                Variant("the same without sha256", doing(baselines.write_twice, Path(folder, "twice"))),
                Variant("rukh", doing(functools.partial(write_pack, info=info_of(work.games)), Path(folder, "rukh"))),
                Variant("write, fsync, rename alone", doing(_write_once, Path(folder, "once"))),
                Variant("sha256 alone", doing(_hash, Path(folder, "none"))),
            ],
            plan.rounds,
        )
    results = plan.compare("packing", timings, {"rukh": Floor(least=3)})
    return [replace(result, value=timings[result.variant].elapsed_s, unit="s elapsed") for result in results]


def framed_games(count: int) -> Piece:
    ids = np.random.default_rng(0).integers(len(SPECIALS), 2030, (count, _IDS_A_GAME), np.uint16)
    ids[:, 0], ids[:, -1] = BOS, EOS
    return ids.reshape(-1)


def info_of(games: int) -> PackInfo:
    vocabulary = UciTokenizer().vocabulary
    return PackInfo(
        n_games=games,
        n_tokens=games * _IDS_A_GAME,
        scheme=vocabulary.scheme,
        vocab_size=vocabulary.vocab_size,
        vocab_hash=vocabulary.vocab_hash,
        source="games.parquet",
    )


def _write_twice_and_hash(pieces: Sequence[Piece], folder: Path) -> None:
    baselines.write_twice(pieces, folder)
    baselines.hash_again(folder / "tokens.npy")


def _hash(pieces: Sequence[Piece], folder: Path) -> None:
    sha256 = hashlib.sha256()
    for piece in pieces:
        sha256.update(piece.data)


def write_pack(pieces: Sequence[Piece], folder: Path, info: PackInfo) -> None:
    with publish_folder(folder / "pack") as building, PackWriter(building, info) as writer:
        for piece in pieces:
            writer.append(piece, np.full(piece.size // _IDS_A_GAME, _IDS_A_GAME, np.int64))
        writer.finish({})


def _write_once(pieces: Sequence[Piece], folder: Path) -> None:
    with publish_folder(folder / "pack") as building, (building / "tokens.raw").open("wb") as file:
        for piece in pieces:
            file.write(piece.data)
