"""Which squares each side attacks, and what its material is worth: once a position, used for all its moves.

A sight is what a position looks like to the player to move, in `SIGHT_SIZE` slots. It has bitboards of attacked
squares: at each piece's number those attacked by all such pieces, at `side + ALL` those attacked at all, at
`side + TWICE` those attacked by two or more, and from `REACH` on, by square, those that the officer there attacks.
Lines go through the other side's king, who cannot hide on them.
"""

from rukh_assets.board.attacks import occupied_squares, officer_attacks
from rukh_assets.board.intrinsics import count_squares, lowest_square
from rukh_assets.board.kernel import Numbers, rule, step
from rukh_assets.board.position import ALL, BLACK, EMPTY, KING, KNIGHT, PAWN, QUEEN, SIDE, WHITE
from rukh_assets.ingest.sample.tables import NOT_FILE_A, NOT_FILE_H, WORTH

TWICE = EMPTY
REACH = 16
LATE, BALANCE = REACH + 64, REACH + 65
SIGHT_SIZE = REACH + 66

LATE_MATERIAL = 2_700
"""The material of both sides, without pawns and kings, below which a game is late."""


@step
def look(position: Numbers, sight: Numbers) -> None:
    """Fill `sight` for the player to move; `BALANCE` is that player's material less the other's, in centipawns."""
    mover = position[SIDE]
    for side in range(WHITE, BLACK + 1, BLACK):
        survey_pawns(position, sight, side)
        for kind in range(KNIGHT, KING + 1):
            survey_officers(position, sight, side, kind)
    mine, theirs = officers_worth(position, mover), officers_worth(position, mover ^ BLACK)
    pawns = count_squares(position[mover + PAWN]) - count_squares(position[(mover ^ BLACK) + PAWN])
    sight[LATE] = mine + theirs < LATE_MATERIAL
    sight[BALANCE] = mine - theirs + WORTH[PAWN] * pawns


@rule
def survey_pawns(position: Numbers, sight: Numbers, side: int) -> None:
    """Begin the sight of a side with what its pawns attack."""
    pawns = position[side + PAWN]
    if side == WHITE:
        left, right = (pawns & NOT_FILE_A) << 7, (pawns & NOT_FILE_H) << 9
    else:
        left, right = (pawns & NOT_FILE_A) >> 9, (pawns & NOT_FILE_H) >> 7  # never negative: no pawn stands on h8
    sight[side + PAWN] = sight[side + ALL] = left | right
    sight[side + TWICE] = left & right


@rule
def survey_officers(position: Numbers, sight: Numbers, side: int, kind: int) -> None:
    """Add what all pieces of one kind attack to the sight of a side."""
    occupied = occupied_squares(position) & ~position[(side ^ BLACK) + KING]
    every, twice, of_kind = sight[side + ALL], sight[side + TWICE], 0
    pieces = position[side + kind]
    while pieces:
        square = lowest_square(pieces)
        pieces ^= 1 << square
        reach = officer_attacks(kind, square, occupied)
        sight[REACH + square] = reach
        of_kind |= reach
        twice |= every & reach
        every |= reach
    sight[side + kind], sight[side + ALL], sight[side + TWICE] = of_kind, every, twice


@rule
def officers_worth(position: Numbers, side: int) -> int:
    """The material of a side without pawns and king."""
    total = 0
    for kind in range(KNIGHT, QUEEN + 1):
        total += WORTH[kind] * count_squares(position[side + kind])
    return total


@rule
def has_king_and_pawns_only(position: Numbers, side: int) -> bool:
    """Whether a side has no other piece."""
    return position[side + ALL] == position[side + PAWN] | position[side + KING]


@rule
def loss_on(sight: Numbers, taker: int, worth: int, square: int, defended: bool) -> int:
    """What the side `taker` wins by capturing a piece of `worth` on one of the squares it attacks."""
    if not defended:
        return worth
    for kind in range(PAWN, KING):
        if (sight[taker + kind] >> square) & 1:
            return max(0, worth - WORTH[kind])
    return 0


@rule
def distance(square: int, other: int) -> int:
    """How many steps a king takes from one square to the other. Oracle: `chess.square_distance`."""
    return max(abs((square & 7) - (other & 7)), abs((square >> 3) - (other >> 3)))
