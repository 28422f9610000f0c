"""Movetext to moves in UCI, as far as it is of the usual kind: moves, numbers, comments, glyphs, NAGs and a result."""

import numpy as np

from rukh_assets.board.characters import LOWER_A, ONE, SPACE
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_assets.board.movetext_tokens import CLOCKS, COMMENT, EVALS, MOVE, OTHERS, RESULT, UNKNOWN, read_token
from rukh_assets.board.play import play, set_up
from rukh_assets.board.position import EMPTY
from rukh_assets.board.san_reading import read_san
from rukh_assets.board.uci_reading import NO_MOVE
from rukh_assets.board.verdicts import DONE, MAX_PLIES, NOT_LEGAL, NULL, TOO_LONG, UNREADABLE

BYTES_PER_CHARACTER, SPARE_BYTES = 2, 8
"""A game has fewer bytes in UCI than twice the characters of its movetext and these: a move takes 2 characters at least
and one after it, where UCI takes 4 and a space, and a promotion 3 and one, where UCI takes 5 and a space."""

PROMOTION_LETTERS: Numbers = np.frombuffer(b"  nbrq", np.uint8)
"""[kind]"""


@kernel
def read_games(
    text: Numbers,
    offsets: Numbers,
    valid: Numbers,
    uci: Numbers,
    uci_offsets: Numbers,
    plies: Numbers,
    results: Numbers,
    comments: Numbers,
    verdicts: Numbers,
    position: Numbers,
) -> bool:
    """Write the moves of each game in UCI, one space between two; False where `uci` is too short.

    Game i is `text[offsets[i]:offsets[i + 1]]` and its moves are `uci[uci_offsets[i]:uci_offsets[i + 1]]`. `results`
    are indices of `RESULTS`; `comments` has three counts a game, `CLOCKS`, `EVALS` and `OTHERS`; `position` is scratch.
    A game with another verdict than `DONE` has no moves; its ply is that of the move at fault, or the last before what
    cannot be read.
    Oracle: `rukh_assets.ingest.movetext.parse_movetext` and `moves_to_uci`.
    """
    written = 0
    uci_offsets[0] = 0
    for game in range(len(verdicts)):
        start, end = offsets[game], offsets[game + 1]
        if written + BYTES_PER_CHARACTER * (end - start) + SPARE_BYTES > len(uci):
            return False
        row = 3 * game
        for column in (CLOCKS, EVALS, OTHERS):
            comments[row + column] = 0
        verdict, ply, result, length = NULL, 0, 0, 0
        if valid[game]:
            verdict, ply, result, length = read_game(
                memory(position), memory(text), start, end, memory(uci), written, memory(comments), row
            )
        verdicts[game] = verdict
        plies[game] = ply
        results[game] = result
        written += length
        uci_offsets[game + 1] = written
    return True


@rule
def read_game(
    position: Numbers, text: Numbers, start: int, end: int, uci: Numbers, first: int, comments: Numbers, row: int
) -> tuple[int, int, int, int]:
    """Write the moves of one game from `uci[first]` on; return the verdict on it, its plies, its result and length."""
    set_up(position)
    cursor = first
    ply = result = 0
    while start < end:
        token, after = read_token(text, start, end, comments, row)
        if token == UNKNOWN or (result and token > COMMENT):
            return UNREADABLE, ply, 0, 0
        if token == MOVE:
            ply += 1
            move = read_san(position, text, start, after)
            if move == NO_MOVE:
                return NOT_LEGAL, ply, 0, 0
            if ply > MAX_PLIES:
                return TOO_LONG, ply, 0, 0
            cursor = write_move(uci, cursor, move)
            play(position, move & 63, (move >> 6) & 63, move >> 12)
        elif token > RESULT:
            result = token - RESULT
        start = after
    return DONE, ply, result, max(cursor - 1 - first, 0)


@rule
def write_move(uci: Numbers, cursor: int, move: int) -> int:
    """Write a move in UCI and a space; return where the next goes."""
    uci[cursor] = LOWER_A + (move & 7)
    uci[cursor + 1] = ONE + ((move >> 3) & 7)
    uci[cursor + 2] = LOWER_A + ((move >> 6) & 7)
    uci[cursor + 3] = ONE + ((move >> 9) & 7)
    cursor += 4
    if move >> 12 != EMPTY:
        uci[cursor] = PROMOTION_LETTERS[move >> 12]
        cursor += 1
    uci[cursor] = SPACE
    return cursor + 1
