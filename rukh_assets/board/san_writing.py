"""Games in UCI to ids of the san scheme, from the board straight to ids."""

import numpy as np

from rukh_assets.board.attacks import officer_reaches
from rukh_assets.board.intrinsics import difference, lowest_square, memory
from rukh_assets.board.kernel import Numbers, Table, kernel, rule
from rukh_assets.board.legality import has_evasion, is_legal, is_safe
from rukh_assets.board.play import play, set_up
from rukh_assets.board.position import CHECKERS, EMPTY, KING, PAWN, SIDE, SQUARES
from rukh_assets.board.tables import ATTACKS
from rukh_assets.board.uci_reading import CHARACTERS_PER_MOVE, NO_MOVE, read_uci
from rukh_assets.board.verdicts import DONE, FINISHED, MAX_PLIES, NOT_LEGAL, NULL, TOO_LONG, UNKNOWN_RESULT, UNREADABLE
from rukh_loaders.tokenizers.san import ALPHABET, FRAME
from rukh_loaders.tokenizers.vocabulary import BOS, EOS

IDS_PER_MOVE, SPARE_IDS = 7 + 1 + 6, 16
"""A move has 7 characters in SAN at most, one space after it, and a number of at most 5 digits and a dot before it; a
game has its frame and result besides."""


def _id(character: str) -> int:
    return len(FRAME) + ALPHABET.index(character)


SPACE, TAKES, CHECK, MATE, PROMOTES, CASTLES, DASH = (_id(character) for character in " x+#=O-")
DOT, DIGIT, FILE, RANK = (_id(character) for character in ".0a1")
"""Ids; digits, files and ranks follow one another, so that of digit 7 is `DIGIT + 7`."""

LETTERS: Numbers = np.array([0, 0, *(_id(letter) for letter in "NBRQK")], np.int64)
"""[kind]: id of its letter."""

RESULT_IDS: Table = np.array([[_id(character) for character in result.ljust(7)] for result in FINISHED], np.int64)
"""[code, index]"""

RESULT_LENGTHS: Numbers = np.array([len(result) for result in FINISHED], np.int64)
"""[code]"""


@kernel
def write_games(
    text: Numbers,
    offsets: Numbers,
    valid: Numbers,
    results: Numbers,
    ids: Numbers,
    lengths: Numbers,
    verdicts: Numbers,
    plies: Numbers,
    position: Numbers,
) -> int:
    """Write the ids of games in UCI one after the other and return their number, or -1 where `ids` is too short.

    Game i is `text[offsets[i]:offsets[i + 1]]`, its result `FINISHED[results[i]]`; `position` is scratch. A game with
    another verdict than `DONE` has length 0; its ply is that of the move at fault.
    Oracle: `SanCharTokenizer.encode(f"{uci_to_san(uci)} {result}")`.
    """
    written = 0
    for game in range(len(verdicts)):
        start, end, result = offsets[game], offsets[game + 1], results[game]
        if written + IDS_PER_MOVE * ((end - start) // CHARACTERS_PER_MOVE + 1) + SPARE_IDS > len(ids):
            return -1
        verdict, ply, length = NULL, 0, 0
        if valid[game]:
            verdict, ply, length = write_game(memory(position), memory(text), start, end, result, memory(ids), written)
        verdicts[game] = verdict
        plies[game] = ply
        lengths[game] = length
        written += length
    return written


@rule
def write_game(
    position: Numbers, text: Numbers, start: int, end: int, result: int, ids: Numbers, first: int
) -> tuple[int, int, int]:
    """Write the ids of one game from `ids[first]` on; return the verdict on it, its plies and its length."""
    if result < 1 or result >= len(FINISHED):
        return UNKNOWN_RESULT, 0, 0
    if start == end:
        return UNREADABLE, 0, 0
    set_up(position)
    ids[first] = BOS
    cursor = first + 1
    ply = 0
    while start < end:
        ply += 1
        move = read_uci(text, start, end)
        if move == NO_MOVE:
            return UNREADABLE, ply, 0
        if ply > MAX_PLIES:
            return TOO_LONG, ply, 0
        origin, target, promotion = move & 63, (move >> 6) & 63, (move >> 12) & 7
        if not is_legal(position, origin, target, promotion):
            return NOT_LEGAL, ply, 0
        if ply & 1:
            cursor = write_number(ids, cursor, (ply + 1) >> 1)
        cursor = write_and_play(position, origin, target, promotion, ids, cursor)
        ids[cursor] = SPACE
        cursor += 1
        start += (move >> 16) + 1
    for index in range(RESULT_LENGTHS[result]):
        ids[cursor + index] = RESULT_IDS[result, index]
    cursor += RESULT_LENGTHS[result]
    ids[cursor] = EOS
    return DONE, ply, cursor + 1 - first


@rule
def write_number(ids: Numbers, cursor: int, number: int) -> int:
    """Write a move number and its dot; return where the next id goes."""
    dot = cursor + 1 + (number >= 10) + (number >= 100) + (number >= 1000) + (number >= 10000)
    ids[dot] = DOT
    for place in range(dot - 1, cursor - 1, -1):
        ids[place] = DIGIT + number % 10
        number //= 10
    return dot + 1


@rule
def write_and_play(position: Numbers, origin: int, target: int, promotion: int, ids: Numbers, cursor: int) -> int:
    """Write a legal move and make it; return where the next id goes. Oracle: `chess.Board.san_and_push`."""
    cursor = write_san(position, origin, target, promotion, ids, cursor)
    play(position, origin, target, promotion)
    if position[CHECKERS]:
        ids[cursor] = CHECK if has_evasion(position) else MATE
        cursor += 1
    return cursor


@rule
def write_san(position: Numbers, origin: int, target: int, promotion: int, ids: Numbers, cursor: int) -> int:
    """Write a legal move without the mark of check or mate; return where the next id goes.

    Oracle: `chess.Board.san`.
    """
    kind = position[SQUARES + origin] - position[SIDE]
    takes = position[SQUARES + target] != EMPTY
    if kind == PAWN:
        takes = (origin ^ target) & 7 != 0
        if takes:
            ids[cursor] = FILE + (origin & 7)
            cursor += 1
    elif kind == KING and origin - target == 2:
        return write_castling(ids, cursor, 2)
    elif kind == KING and target - origin == 2:
        return write_castling(ids, cursor, 1)
    else:
        ids[cursor] = LETTERS[kind]
        cursor += 1
        if kind != KING:
            cursor = write_origin(position, kind, origin, target, ids, cursor)
    if takes:
        ids[cursor] = TAKES
        cursor += 1
    ids[cursor] = FILE + (target & 7)
    ids[cursor + 1] = RANK + (target >> 3)
    cursor += 2
    if promotion != EMPTY:
        ids[cursor] = PROMOTES
        ids[cursor + 1] = LETTERS[promotion]
        cursor += 2
    return cursor


@rule
def write_castling(ids: Numbers, cursor: int, wings: int) -> int:
    """Write `O-O`, or `O-O-O` for two `wings`; return where the next id goes."""
    ids[cursor] = CASTLES
    for _ in range(wings):
        ids[cursor + 1] = DASH
        ids[cursor + 2] = CASTLES
        cursor += 2
    return cursor + 1


@rule
def write_origin(position: Numbers, kind: int, origin: int, target: int, ids: Numbers, cursor: int) -> int:
    """Write what of `origin` is needed if other pieces of this kind have a legal move to `target`.

    The file, if it tells them apart; else the rank, if that does; else both. Returns where the next id goes.
    """
    others = position[position[SIDE] + kind] & ATTACKS[kind, target] & ~(1 << origin)
    same_file = same_rank = any_other = False
    while others:
        other = lowest_square(others)
        others &= difference(others, 1)
        if officer_reaches(position, kind, other, target) and is_safe(position, kind, other, target):
            any_other = True
            same_file |= (other ^ origin) & 7 == 0
            same_rank |= (other ^ origin) >> 3 == 0
    if any_other and (same_rank or not same_file):
        ids[cursor] = FILE + (origin & 7)
        cursor += 1
    if same_file:
        ids[cursor] = RANK + (origin >> 3)
        cursor += 1
    return cursor
