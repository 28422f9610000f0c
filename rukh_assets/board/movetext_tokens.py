"""The tokens of movetext, from bytes to where each ends. Oracle: `rukh_assets.ingest.movetext.parse_movetext`.

Variations, and comments to the end of a line, are not read here.
"""

import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.characters import (
    CLOSING_BRACE,
    CLOSING_BRACKET,
    DOT,
    OPENING_BRACE,
    SPACE,
    STAR,
    ZERO,
)
from rukh_assets.board.kernel import Numbers, Table, rule
from rukh_assets.board.verdicts import RESULTS

CLOCKS, EVALS, OTHERS = range(3)
"""Columns of the counts of comments: commands `[%clk ...]` and `[%eval ...]`, and comments that hold anything else."""

UNKNOWN, BLANK, COMMENT, MARK, MOVE, RESULT = range(6)
"""What a token is. Numbers, glyphs and NAGs are marks; `RESULT` is the result of code 0, and those of others follow."""

OTHER, SPACES, BRACKETS, GLYPHS, DOLLAR, LETTERS, DIGITS = range(7)
"""What a character is. Words are of `LETTERS` and `DIGITS`; a number or a result ends before the four kinds before."""


def _kinds() -> NDArray[np.uint8]:
    kinds = np.full(256, OTHER, np.uint8)
    characters = {
        SPACES: b" \t\n\r\f\v",
        BRACKETS: b"{}();",
        GLYPHS: b"!?",
        DOLLAR: b"$",
        LETTERS: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz@=+#,-",
        DIGITS: b"0123456789",
    }
    for kind, members in characters.items():
        kinds[list(members)] = kind
    return kinds


KINDS: Numbers = _kinds()
"""[character]"""

RESULT_BYTES: Table = np.array([list(result.ljust(7).encode()) for result in RESULTS], np.uint8)
"""[code, index]"""

RESULT_LENGTHS: Numbers = np.array([len(result) for result in RESULTS], np.int64)
"""[code]"""

COMMANDS: Table = np.array([list(b"[%clk  "), list(b"[%eval ")], np.uint8)
"""[column, index]: how a command begins."""

COMMAND_LENGTHS: Numbers = np.array([len(b"[%clk "), len(b"[%eval ")], np.int64)
"""[column]"""

MAX_NUMBER_DIGITS = 4
"""What the oracle takes for a move number."""

FAILED = -1


@rule
def read_token(text: Numbers, start: int, end: int, counts: Numbers, row: int) -> tuple[int, int]:
    """What the token at `start` is and where it ends; `UNKNOWN` for what is not read here or is no token.

    `start` is before `end`. What a comment holds is added to the three `counts` from `row` on.
    """
    kind = KINDS[text[start]]
    if kind == SPACES:
        return BLANK, start + 1
    if kind == LETTERS:
        return MOVE, skip_word(text, start, end)
    if kind == DIGITS:
        return read_digits(text, start, end)
    if kind == GLYPHS:
        return MARK, start + 1
    after = FAILED
    if text[start] == OPENING_BRACE:
        after = skip_comment(text, start + 1, end, counts, row)
        kind = COMMENT
    elif kind == DOLLAR:
        after = skip_digits(text, start + 1, end)
        kind = MARK if after > start + 1 else UNKNOWN
    elif text[start] == STAR and ends_token(text, start + 1, end):
        return RESULT + len(RESULT_LENGTHS) - 1, start + 1
    return (UNKNOWN, start) if after == FAILED else (kind, after)


@rule
def read_digits(text: Numbers, start: int, end: int) -> tuple[int, int]:
    """What the token that begins with a digit is, and where it ends: a number, a result or a move."""
    after = skip_digits(text, start, end)
    if text[start] != ZERO and after - start <= MAX_NUMBER_DIGITS:
        if ends_token(text, after, end):
            return MARK, after
        if text[after] == DOT:
            while after < end and text[after] == DOT:
                after += 1
            return MARK, after
    for code in range(1, len(RESULT_LENGTHS)):
        if is_result(text, start, end, code):
            return RESULT + code, start + RESULT_LENGTHS[code]
    return MOVE, skip_word(text, start, end)


@rule
def is_result(text: Numbers, start: int, end: int, code: int) -> bool:
    """Whether the token at `start` is the result of this code."""
    length = RESULT_LENGTHS[code]
    if end - start < length or not ends_token(text, start + length, end):
        return False
    index = 0
    while index < length and text[start + index] == RESULT_BYTES[code, index]:
        index += 1
    return index == length


@rule
def ends_token(text: Numbers, cursor: int, end: int) -> bool:
    """Whether a number or a result may end before `cursor`."""
    return cursor >= end or SPACES <= KINDS[text[cursor]] <= DOLLAR


@rule
def skip_word(text: Numbers, cursor: int, end: int) -> int:
    """Where the word ends that `cursor` is in."""
    while cursor < end and KINDS[text[cursor]] >= LETTERS:
        cursor += 1
    return cursor


@rule
def skip_digits(text: Numbers, cursor: int, end: int) -> int:
    """Where the digits end that begin at `cursor`, which may be none."""
    while cursor < end and KINDS[text[cursor]] == DIGITS:
        cursor += 1
    return cursor


@rule
def skip_comment(text: Numbers, start: int, end: int, counts: Numbers, row: int) -> int:
    """Where the comment ends whose first character after `{` is at `start`; `FAILED` where it does not.

    Oracle of the counts: `rukh_assets.ingest.comments.comment_kinds`.
    """
    cursor = start
    while cursor < end and text[cursor] != CLOSING_BRACE:
        if text[cursor] == SPACE:
            cursor += 1
            continue
        column = CLOCKS
        after = skip_command(text, cursor, end, CLOCKS)
        if after == FAILED:
            column = EVALS
            after = skip_command(text, cursor, end, EVALS)
        if after == FAILED:
            column = OTHERS
            after = cursor
            while after < end and text[after] != CLOSING_BRACE:
                after += 1
        counts[row + column] += 1
        cursor = after
    return cursor + 1 if cursor < end else FAILED


@rule
def skip_command(text: Numbers, start: int, end: int, column: int) -> int:
    """Where the command ends that is counted in `column` and begins at `start`.

    `FAILED` where another text begins, or the comment ends before the command does.
    """
    cursor = start + COMMAND_LENGTHS[column]
    if cursor > end:
        return FAILED
    for index in range(COMMAND_LENGTHS[column]):
        if text[start + index] != COMMANDS[column, index]:
            return FAILED
    while cursor < end and text[cursor] != CLOSING_BRACKET:
        if text[cursor] == CLOSING_BRACE:
            return FAILED
        cursor += 1
    return cursor + 1 if cursor < end else FAILED
