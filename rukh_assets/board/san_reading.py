"""One move in SAN, from the bytes of a word to squares: the spellings that python-chess takes, but for one."""

from rukh_assets.board.attacks import officer_reaches
from rukh_assets.board.characters import (
    CAPITAL_O,
    DASH,
    EQUALS,
    HASH,
    LOWER_A,
    LOWER_X,
    NINE,
    ONE,
    PLUS,
    TO_CAPITAL,
    ZERO,
    B,
    K,
    N,
    Q,
    R,
)
from rukh_assets.board.intrinsics import difference, lowest_square
from rukh_assets.board.kernel import Numbers, rule
from rukh_assets.board.legality import can_castle, is_legal, is_safe
from rukh_assets.board.position import (
    ALL,
    BISHOP,
    BLACK_HOME,
    EMPTY,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    QUEEN,
    ROOK,
    SIDE,
    SQUARES,
    WHITE,
    WHITE_HOME,
)
from rukh_assets.board.tables import ATTACKS
from rukh_assets.board.uci_reading import NO_MOVE

_FILE_A = 0x0101010101010101
_RANK_1 = 0xFF


@rule
def read_san(position: Numbers, text: Numbers, start: int, end: int) -> int:
    """The legal move that the word `text[start:end]` spells, as `origin | target << 6 | promotion << 12`, or `NO_MOVE`.

    A word is `[NBKRQ]?[a-h]?[1-8]?[-x]?` before the target, `=?[nbrqkNBRQK]` (a promotion) and `[+#]` after it, or
    castling; marks and `x` are not compared with the position. Without a piece, file and rank together name the
    origin of any piece. Oracle: `chess.Board.parse_san`, which also takes castling as the king's move to its rook.
    """
    last = end - 1
    if last - start >= 2 and (text[last] == PLUS or text[last] == HASH):
        last -= 1
    if text[start] == CAPITAL_O or text[start] == ZERO:
        return read_castling(position, text, start, last + 1)
    promotion = EMPTY
    if text[last] > NINE:
        promotion = kind_of(text[last] & TO_CAPITAL)
        if promotion in (EMPTY, KING):
            return NO_MOVE
        last -= 1
        if last > start and text[last] == EQUALS:
            last -= 1
    if last <= start:
        return NO_MOVE
    target_file, target_rank = text[last - 1] - LOWER_A, text[last] - ONE
    if (target_file | target_rank) & ~7:
        return NO_MOVE
    target = target_file | target_rank << 3
    last -= 2

    kind = kind_of(text[start])
    cursor = start if kind == EMPTY else start + 1
    file = rank = -1
    if cursor <= last and 0 <= text[cursor] - LOWER_A < 8:
        file = text[cursor] - LOWER_A
        cursor += 1
    if cursor <= last and 0 <= text[cursor] - ONE < 8:
        rank = text[cursor] - ONE
        cursor += 1
    if cursor <= last and (text[cursor] == LOWER_X or text[cursor] == DASH):
        cursor += 1
    if cursor <= last:
        return NO_MOVE
    return find_spelt(position, kind, file, rank, target, promotion)


@rule
def find_spelt(position: Numbers, kind: int, file: int, rank: int, target: int, promotion: int) -> int:
    """The one legal move of a spelling taken apart, or `NO_MOVE`; `kind` may be `EMPTY`, `file` and `rank` -1."""
    if kind != EMPTY:
        origin = find_origin(position, kind, file, rank, target) if promotion == EMPTY else NO_SQUARE
    elif file >= 0 and rank >= 0:
        origin = file | rank << 3
    else:
        origin = find_pawn(position, file, rank, target)
    if origin == NO_SQUARE or (kind == EMPTY and not is_legal(position, origin, target, promotion)):
        return NO_MOVE
    return origin | target << 6 | promotion << 12


@rule
def kind_of(letter: int) -> int:
    """The kind of piece that a capital letter stands for, `EMPTY` for all other characters."""
    if letter == N:
        return KNIGHT
    if letter == B:
        return BISHOP
    if letter == R:
        return ROOK
    if letter == Q:
        return QUEEN
    if letter == K:
        return KING
    return EMPTY


@rule
def read_castling(position: Numbers, text: Numbers, start: int, end: int) -> int:
    """The legal castling that `O-O` or `O-O-O`, or the same with zeros, spells, or `NO_MOVE`."""
    length = end - start
    if length != 3 and length != 5:
        return NO_MOVE
    for index in range(1, length):
        if text[start + index] != (DASH if index & 1 else text[start]):
            return NO_MOVE
    origin = WHITE_HOME if position[SIDE] == WHITE else BLACK_HOME
    target = origin + 2 if length == 3 else origin - 2
    return origin | target << 6 if can_castle(position, origin, target) else NO_MOVE


@rule
def find_origin(position: Numbers, kind: int, file: int, rank: int, target: int) -> int:
    """The square of the one piece of `kind`, not a pawn, that may legally go to `target`, else `NO_SQUARE`.

    A `file` or `rank` that is not negative must be its own.
    """
    side = position[SIDE]
    if (position[side + ALL] >> target) & 1:
        return NO_SQUARE
    candidates = position[side + kind] & ATTACKS[kind, target]
    if file >= 0:
        candidates &= _FILE_A << file
    if rank >= 0:
        candidates &= _RANK_1 << (rank * 8)
    found = NO_SQUARE
    while candidates:
        origin = lowest_square(candidates)
        candidates &= difference(candidates, 1)
        if officer_reaches(position, kind, origin, target) and is_safe(position, kind, origin, target):
            if found != NO_SQUARE:
                return NO_SQUARE
            found = origin
    return found


@rule
def find_pawn(position: Numbers, file: int, rank: int, target: int) -> int:
    """The square of the only own pawn that could go to `target`, or `NO_SQUARE`; its move may be illegal.

    Without a `file` it is the one that pushes. A `rank` that is not negative must be its own.
    """
    pawn = position[SIDE] + PAWN
    back = -8 if position[SIDE] == WHITE else 8
    origin = target + back
    if file >= 0:
        origin += file - (target & 7)
    if origin < 0 or origin > 63:
        return NO_SQUARE
    if position[SQUARES + origin] != pawn:
        origin += back
        if origin < 0 or origin > 63 or position[SQUARES + origin] != pawn:
            return NO_SQUARE
    if rank >= 0 and origin >> 3 != rank:
        return NO_SQUARE
    return origin
