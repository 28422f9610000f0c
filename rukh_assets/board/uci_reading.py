"""Moves in UCI, as the games format spells them: from the bytes of a text to squares, and whether all are legal."""

from rukh_assets.board.characters import LOWER_A, ONE, SPACE, B, N, Q, R
from rukh_assets.board.intrinsics import memory
from rukh_assets.board.kernel import Numbers, kernel, rule
from rukh_assets.board.legality import is_legal
from rukh_assets.board.play import play, set_up
from rukh_assets.board.position import BISHOP, EMPTY, KNIGHT, QUEEN, ROOK
from rukh_assets.board.verdicts import DONE, MAX_PLIES, NOT_LEGAL, NULL, TOO_LONG, UNREADABLE

CHARACTERS_PER_MOVE = 5
"""The least that a move takes, its space included."""

NO_MOVE = -1


@rule
def read_uci(text: Numbers, start: int, end: int) -> int:
    """The move that begins at `start`, as `origin | target << 6 | promotion << 12 | length << 16`, or `NO_MOVE`.

    The text ends at `end`. A move is two squares and, for promotions, one of `q r b n`; it ends with the text, or with
    one space that another character follows.
    """
    if end - start < 4:
        return NO_MOVE
    origin_file, origin_rank = text[start] - LOWER_A, text[start + 1] - ONE
    target_file, target_rank = text[start + 2] - LOWER_A, text[start + 3] - ONE
    if (origin_file | origin_rank | target_file | target_rank) & ~7:
        return NO_MOVE
    move = origin_file | (origin_rank << 3) | (target_file << 6) | (target_rank << 9)
    after = start + 4
    if after < end and text[after] != SPACE:
        promotion = promotion_of(text[after])
        if promotion == EMPTY:
            return NO_MOVE
        move |= promotion << 12
        after += 1
    if after < end and (text[after] != SPACE or after + 1 == end):
        return NO_MOVE
    return move | (after - start) << 16


@rule
def promotion_of(letter: int) -> int:
    """The kind of piece that a lower-case letter promotes to, `EMPTY` for all other characters."""
    if letter == Q | 32:
        return QUEEN
    if letter == N | 32:
        return KNIGHT
    if letter == R | 32:
        return ROOK
    if letter == B | 32:
        return BISHOP
    return EMPTY


@kernel
def check_games(
    text: Numbers, offsets: Numbers, valid: Numbers, verdicts: Numbers, plies: Numbers, position: Numbers
) -> None:
    """Replay games in UCI and write a verdict for each, and its plies: all of them, or up to the one at fault.

    Game i is `text[offsets[i]:offsets[i + 1]]`; `position` is scratch. Oracle:
    `rukh_assets.ingest.movetext.check_uci`.
    """
    for game in range(len(verdicts)):
        verdict, ply = NULL, 0
        if valid[game]:
            verdict, ply = check_game(memory(position), memory(text), offsets[game], offsets[game + 1])
        verdicts[game] = verdict
        plies[game] = ply


@rule
def check_game(position: Numbers, text: Numbers, start: int, end: int) -> tuple[int, int]:
    """The verdict on one game and its plies."""
    set_up(position)
    ply = 0
    while start < end:
        ply += 1
        move = read_uci(text, start, end)
        if move == NO_MOVE:
            return UNREADABLE, ply
        if ply > MAX_PLIES:
            return TOO_LONG, ply
        origin, target, promotion = move & 63, (move >> 6) & 63, (move >> 12) & 7
        if not is_legal(position, origin, target, promotion):
            return NOT_LEGAL, ply
        play(position, origin, target, promotion)
        start += (move >> 16) + 1
    return DONE, ply
