"""Where the tags and the movetext of each game of a PGN text are, found by a kernel in the text's bytes.

It takes the ordinary layout alone: tag lines without escapes, a blank line or none, movetext in lines without a blank
one between. All else is `ODD` and for the readable reader, whose split stands. Oracle: `rukh_assets.ingest.pgn`.
"""

import numpy as np
from numpy.typing import NDArray

from rukh_assets.board.characters import CLOSING_BRACE, CLOSING_BRACKET, OPENING_BRACE, SPACE
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, Table, kernel, rule
from rukh_assets.board.movetext_tokens import RESULT_LENGTHS, is_result
from rukh_assets.ingest.raw import TAGS

N_SPANS = len(TAGS) + 1
"""The columns of a game: its tags in the order of `TAGS`, then its movetext."""

GAMES, CUT, ODD, END = range(4)
"""Why the kernel stopped: as many games or bytes as it was to take; the text is cut off inside a game; a game that is
for the readable reader; no game is left."""

ABSENT = -1
UNKNOWN, ENDED, UNENDED = range(3)
"""Whether the last word outside comments is a result token."""

NEWLINE, QUOTE, BACKSLASH, OPENING_BRACKET, PERCENT, SEMICOLON = b'\n"\\[%;'
FIRST_PRINTABLE, LAST_PRINTABLE = b"!~"
EVENT, MOVETEXT = list(TAGS).index("Event"), len(TAGS)
BYTES_AT_ONCE = 64

NAMES: Table = np.array([list(name.encode().ljust(max(map(len, TAGS)))) for name in TAGS], np.uint8)
"""[column, index]"""
NAME_LENGTHS: Numbers = np.array([len(name) for name in TAGS], np.int64)
"""[column]"""


def _name_characters() -> NDArray[np.uint8]:
    allowed = np.zeros(256, np.uint8)
    allowed[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")] = 1
    return allowed


IN_NAME: Numbers = _name_characters()
"""[character]: 1 where the name of a tag may hold it."""


@kernel
def find_spans(
    text: Numbers, start: int, stop: int, is_last: bool, max_game: int, spans: Numbers, ended: Numbers
) -> tuple[int, int, int]:
    """Find the games of `text` from `start` on, where one begins; return their number, where the next begins, and why.

    The text is valid UTF-8 with LF for line ends; where it `is_last`, the file ends with it. A game has `N_SPANS`
    pairs in `spans`, its columns' first byte and the one after the last, both `ABSENT` without such a tag, and `ended`
    as 0 or 1. A game of `max_game` bytes or more is odd; the kernel stops before games that begin at `stop` or
    later, and when `ended` is full.
    """
    games = 0
    while games < len(ended) and start < stop:
        why, start, after, state = find_game(
            memory(text), start, len(text), is_last, memory(spans), 2 * N_SPANS * games
        )
        if why == GAMES and after - start >= max_game:
            why = ODD
        if why != GAMES:
            return games, start, why
        ended[games] = state == ENDED
        games += 1
        start = after
    return games, start, GAMES


@rule
def find_game(
    text: Numbers, start: int, end: int, is_last: bool, spans: Numbers, row: int
) -> tuple[int, int, int, int]:
    """Find one game; return `GAMES` or why it was not taken, its begin, the next one's, and how it ended."""
    start = skip_newlines(text, start, end)
    if start == end:
        return END if is_last else CUT, start, start, UNKNOWN
    at_end = ODD if is_last else CUT
    for index in range(row, row + 2 * N_SPANS):
        spans[index] = ABSENT
    cursor = start
    while cursor < end and text[cursor] == OPENING_BRACKET:
        why, cursor = find_tag(text, cursor, end, at_end, spans, row)
        if why != GAMES:
            return why, start, start, UNKNOWN
    movetext = skip_newlines(text, cursor, end)
    if movetext == end:
        return at_end, start, start, UNKNOWN
    if cursor == start or text[movetext] == OPENING_BRACKET:
        return ODD, start, start, UNKNOWN
    why, after, movetext_end, state = find_movetext(text, movetext, end, is_last)
    spans[row + 2 * MOVETEXT] = movetext
    spans[row + 2 * MOVETEXT + 1] = movetext_end
    return why, start, after, state


@rule
def find_tag(text: Numbers, start: int, end: int, at_end: int, spans: Numbers, row: int) -> tuple[int, int]:
    """Find the tag whose line begins at `start` with a bracket; return why it was not taken or `GAMES`, and its end."""
    name_end = skip_name(text, start + 1, end)
    if name_end + 2 > end:
        return at_end, start
    value = name_end + 2
    if name_end == start + 1 or text[name_end] != SPACE or text[name_end + 1] != QUOTE:
        return ODD, start
    value_end = value
    while value_end < end and text[value_end] not in (QUOTE, BACKSLASH, NEWLINE):
        value_end += 1
    if value_end + 3 > end:
        return at_end, start
    if text[value_end] != QUOTE or text[value_end + 1] != CLOSING_BRACKET or text[value_end + 2] != NEWLINE:
        return ODD, start
    column = column_of(text, start + 1, name_end)
    if column != ABSENT:
        if column == EVENT and spans[row + 2 * column] != ABSENT:
            return ODD, start
        spans[row + 2 * column] = value
        spans[row + 2 * column + 1] = value_end
    return GAMES, value_end + 3


@rule
def column_of(text: Numbers, start: int, end: int) -> int:
    """The column of the tag of this name, or `ABSENT`."""
    for column in range(len(NAME_LENGTHS)):
        if NAME_LENGTHS[column] == end - start:
            index = 0
            while index < end - start and text[start + index] == NAMES[column, index]:
                index += 1
            if index == end - start:
                return column
    return ABSENT


@rule
def find_movetext(text: Numbers, line: int, end: int, is_last: bool) -> tuple[int, int, int, int]:
    """Find where movetext ends; return `GAMES` or why it was not taken, the next game's begin, its end, how it ended.

    It ends before a tag line, a blank line between or not, or with the file.
    """
    while True:
        if not begins_text(text, line, end):
            return ODD, line, line, UNKNOWN
        line_end = find_line_end(text, line, end)
        if line_end == end and not is_last:
            return CUT, line, line, UNKNOWN
        if line_end < end and text[line_end] == SEMICOLON:
            return ODD, line, line, UNKNOWN
        why, state = last_word(text, line, line_end)
        following = skip_newlines(text, line_end, end)
        if why != GAMES:
            return why, line, line, UNKNOWN
        if following == end or following > line_end + 1 or text[following] == OPENING_BRACKET:
            break
        line = following
    if following == end and not is_last:
        why = CUT
    elif state == UNKNOWN:
        why = ODD
    elif following < end:
        why = begins_tags(text, following, end, is_last)
    return why, following, line_end, state


@rule
def begins_text(text: Numbers, line: int, end: int) -> bool:
    """Whether a line is without any doubt one of movetext, by its first characters."""
    cursor = line
    while cursor < end and text[cursor] == SPACE:
        cursor += 1
    if cursor == end or text[line] == PERCENT or text[cursor] == OPENING_BRACKET:
        return False
    return FIRST_PRINTABLE <= text[cursor] <= LAST_PRINTABLE


@rule
def begins_tags(text: Numbers, line: int, end: int, is_last: bool) -> int:
    """`GAMES` where a line begins as one of tags does."""
    if text[line] != OPENING_BRACKET:
        return ODD
    name_end = skip_name(text, line + 1, end)
    if name_end + 2 > end:
        return ODD if is_last else CUT
    if name_end == line + 1 or text[name_end] != SPACE or text[name_end + 1] != QUOTE:
        return ODD
    return GAMES


@rule
def last_word(text: Numbers, start: int, end: int) -> tuple[int, int]:
    """Whether the last word of a line is a result token, `UNKNOWN` where no word follows its last comment.

    `ODD` where a comment goes on in the next line. The line has no semicolon and does not begin in a comment.
    """
    tail = end
    while tail > start and text[tail - 1] != CLOSING_BRACE:
        tail -= 1
        if text[tail] == OPENING_BRACE or not SPACE <= text[tail] <= LAST_PRINTABLE:
            return ODD, UNKNOWN
    while end > tail and text[end - 1] == SPACE:
        end -= 1
    if end == tail:
        return GAMES, UNKNOWN
    word = end
    while word > tail and text[word - 1] != SPACE:
        word -= 1
    for code in range(1, len(RESULT_LENGTHS)):
        if RESULT_LENGTHS[code] == end - word and is_result(text, word, end, code):
            return GAMES, ENDED
    return GAMES, UNENDED


@rule
def find_line_end(text: Numbers, cursor: int, end: int) -> int:
    """Where the first newline or semicolon is, or `end`."""
    while cursor + BYTES_AT_ONCE <= end:
        found = np.uint8(0)
        for index in range(BYTES_AT_ONCE):
            character = text[cursor + index]
            found = max(found, np.uint8(character == np.uint8(NEWLINE)), np.uint8(character == np.uint8(SEMICOLON)))
        if found:
            break
        cursor += BYTES_AT_ONCE
    while cursor < end and text[cursor] != NEWLINE and text[cursor] != SEMICOLON:
        cursor += 1
    return cursor


@rule
def skip_newlines(text: Numbers, cursor: int, end: int) -> int:
    """Where the newlines end that begin at `cursor`, which may be none."""
    while cursor < end and text[cursor] == NEWLINE:
        cursor += 1
    return cursor


@rule
def skip_name(text: Numbers, cursor: int, end: int) -> int:
    """Where the name of a tag ends that begins at `cursor`."""
    while cursor < end and IN_NAME[text[cursor]]:
        cursor += 1
    return cursor
