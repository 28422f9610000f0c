"""The kernels over Arrow arrays of strings."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rukh_assets.board.movetext_reading import BYTES_PER_CHARACTER, SPARE_BYTES, read_games
from rukh_assets.board.position import SIZE
from rukh_assets.board.san_writing import IDS_PER_MOVE, SPARE_IDS, write_games
from rukh_assets.board.uci_reading import CHARACTERS_PER_MOVE, check_games
from rukh_assets.errors import BatchTooLargeError, GameColumnsError


@dataclass(frozen=True, slots=True)
class SanIds:
    """Games in the san scheme, one after the other; of n games."""

    ids: NDArray[np.uint16]
    """The ids of all games whose verdict is `DONE`."""
    lengths: NDArray[np.int64]
    """[n]: how many ids a game has; 0 with any other verdict."""
    verdicts: NDArray[np.uint8]
    """[n]"""
    plies: NDArray[np.int32]
    """[n]: the plies of a game; with another verdict than `DONE` that of the move at fault, from 1, or 0."""


@dataclass(frozen=True, slots=True)
class UciGames:
    """Games read from movetext; of n games."""

    uci: pa.StringArray
    """[n]: the moves, one space between two; empty with another verdict than `DONE`."""
    plies: NDArray[np.int32]
    """[n]: the plies of a game; with another verdict than `DONE` as many as were read, the one at fault included."""
    results: NDArray[np.uint8]
    """[n]: the result token at the end, an index of `RESULTS`."""
    comments: NDArray[np.int32]
    """[n, 3]: `[%clk ...]`, `[%eval ...]`, comments that hold anything else. Counts where the last is 0, which then
    are all; otherwise, or with another verdict than `DONE`, the game's comments are for the readable path to count."""
    verdicts: NDArray[np.uint8]
    """[n]"""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Games in UCI, replayed; of n games."""

    verdicts: NDArray[np.uint8]
    """[n]: `DONE` where all moves are legal and spelt as the games format does; a game without moves is."""
    plies: NDArray[np.int32]
    """[n]: as in `SanIds`."""


def uci_to_san_ids(uci: pa.Array, results: NDArray[np.uint8]) -> SanIds:
    """Encode games in UCI in the san scheme; `results` are indices of `FINISHED`.

    Oracle: `SanCharTokenizer.encode(f"{uci_to_san(uci)} {result}")`.
    """
    text, offsets, valid = text_of(uci)
    count = len(uci)
    moves = np.diff(offsets) // CHARACTERS_PER_MOVE + 1
    ids = np.empty(int(moves.sum()) * IDS_PER_MOVE + count * SPARE_IDS, np.uint16)
    lengths, verdicts, plies = np.empty(count, np.int64), np.empty(count, np.uint8), np.empty(count, np.int32)
    codes = np.array(results, np.uint8)
    if codes.shape != (count,):
        raise ValueError(f"{codes.shape} results for {count} games; allowed is one each")
    written = write_games(text, offsets, valid, codes, ids, lengths, verdicts, plies, _position())
    assert written >= 0, "the room for ids was reckoned too small"
    ids.resize(written, refcheck=False)
    return SanIds(ids, lengths, verdicts, plies)


def movetext_to_uci(movetext: pa.Array) -> UciGames:
    """Read games from movetext, with or without a result token at the end.

    Raises `BatchTooLargeError` where all moves together have 2 GiB or more in UCI. Oracle: `parse_movetext`,
    `moves_to_uci` and `comment_kinds` of `rukh_assets.ingest`.
    """
    text, offsets, valid = text_of(movetext)
    count = len(movetext)
    uci = np.empty(int(offsets[-1] - offsets[0]) * BYTES_PER_CHARACTER + count * SPARE_BYTES, np.uint8)
    uci_offsets, comments = np.empty(count + 1, np.int64), np.empty(3 * count, np.int32)
    plies = np.empty(count, np.int32)
    results, verdicts = np.empty(count, np.uint8), np.empty(count, np.uint8)
    fits = read_games(text, offsets, valid, uci, uci_offsets, plies, results, comments, verdicts, _position())
    assert fits, "the room for moves was reckoned too small"
    uci.resize(int(uci_offsets[-1]), refcheck=False)
    return UciGames(_strings(uci, uci_offsets), plies, results, comments.reshape(count, 3), verdicts)


def check_uci_games(uci: pa.Array) -> Verdicts:
    """Replay games in UCI. Oracle: `rukh_assets.ingest.movetext.check_uci`."""
    text, offsets, valid = text_of(uci)
    verdicts, plies = np.empty(len(uci), np.uint8), np.empty(len(uci), np.int32)
    check_games(text, offsets, valid, verdicts, plies, _position())
    return Verdicts(verdicts, plies)


def load_kernels() -> None:
    """Compile the three batch kernels, or load them from the cache, so that workers need not wait for each other."""
    none = pa.array([], pa.string())
    uci_to_san_ids(none, np.empty(0, np.uint8))
    movetext_to_uci(none)
    check_uci_games(none)


def text_of(strings: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """The bytes of a string array, where each string begins and the last ends, and 1 for each that is not null.

    Of the same types whatever the array is, slices included: other types are other kernels, compiled anew.
    """
    if pa.types.is_string(strings.type):
        offset_type: type[np.signedinteger] = np.int32
    elif pa.types.is_large_string(strings.type):
        offset_type = np.int64
    else:
        raise GameColumnsError(f"texts are {strings.type}; allowed are string and large_string")
    _, offsets_buffer, data = strings.buffers()
    text = np.frombuffer(data or b"", np.uint8)
    text.flags.writeable = False
    offsets = np.zeros(len(strings) + 1, np.int64)
    if len(strings):
        offsets[:] = np.frombuffer(offsets_buffer, offset_type)[strings.offset :][: len(offsets)]
    valid = np.ones(len(strings), np.uint8)
    if strings.null_count:
        valid[:] = strings.is_valid().to_numpy(zero_copy_only=False)
    return text, offsets, valid


def _strings(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.StringArray:
    if offsets[-1] > np.iinfo(np.int32).max:
        raise BatchTooLargeError(
            f"{len(offsets) - 1} games have {offsets[-1]} bytes in UCI; allowed are fewer than 2**31"
        )
    buffers = [pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.StringArray.from_buffers(len(offsets) - 1, *buffers)


def _position() -> NDArray[np.int64]:
    return np.empty(SIZE, np.int64)
