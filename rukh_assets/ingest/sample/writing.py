"""Movetext as Lichess writes it, with a clock after each move.

Each function writes one word and the space after it to `text`, from `cursor` on, and returns where the next word goes.
"""

import numpy as np

from rukh_assets.board.characters import DOT, SPACE, ZERO
from rukh_assets.board.kernel import Numbers, rule
from rukh_assets.board.san_writing import write_number
from rukh_assets.board.verdicts import RESULTS
from rukh_loaders.tokenizers.san import ALPHABET, FRAME

CHARACTERS_PER_PLY, SPARE_CHARACTERS = 36, 8
"""A ply takes 7 characters in SAN, 6 for its number, 20 for its clock and a space after each at most; a result 7."""

_CHARACTERS: Numbers = np.frombuffer(b" " * len(FRAME) + ALPHABET.encode(), np.uint8)
"""[id of the san scheme]"""
_CLOCK: Numbers = np.frombuffer(b"{ [%clk 0:00:00] } ", np.uint8)
_HOURS, _MINUTES, _SECONDS = 8, 10, 13
_RESULTS: Numbers = np.frombuffer("".join(result.ljust(8) for result in RESULTS).encode(), np.uint8)
_RESULT_LENGTHS: Numbers = np.array([len(result) for result in RESULTS], np.int64)


@rule
def write_ids(ids: Numbers, count: int, text: Numbers, cursor: int) -> int:
    """The characters of `count` ids of the san scheme."""
    for index in range(count):
        text[cursor + index] = _CHARACTERS[ids[index]]
    text[cursor + count] = SPACE
    return cursor + count + 1


@rule
def write_move_number(number: int, is_black: bool, ids: Numbers, text: Numbers, cursor: int) -> int:
    """`12.` or, before a move of Black's, `12...`; `ids` is scratch."""
    cursor = write_ids(ids, write_number(ids, 0, number), text, cursor)
    if is_black:
        text[cursor - 1] = text[cursor] = DOT
        text[cursor + 1] = SPACE
        cursor += 2
    return cursor


@rule
def write_clock(seconds: int, text: Numbers, cursor: int) -> int:
    """A comment with the time left, less than ten hours."""
    for index in range(len(_CLOCK)):
        text[cursor + index] = _CLOCK[index]
    minutes = seconds // 60
    text[cursor + _HOURS] = ZERO + minutes // 60
    write_two_digits(minutes % 60, text, cursor + _MINUTES)
    write_two_digits(seconds % 60, text, cursor + _SECONDS)
    return cursor + len(_CLOCK)


@rule
def write_two_digits(number: int, text: Numbers, cursor: int) -> None:
    """A number below 100, without a space."""
    text[cursor] = ZERO + number // 10
    text[cursor + 1] = ZERO + number % 10


@rule
def write_result(result: int, text: Numbers, cursor: int) -> int:
    """`RESULTS[result]`, without a space: it ends the movetext."""
    length = _RESULT_LENGTHS[result]
    for index in range(length):
        text[cursor + index] = _RESULTS[8 * result + index]
    return cursor + length
