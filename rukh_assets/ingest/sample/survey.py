"""Which squares each side attacks and which pieces it could win: computed once a position, used for all its moves."""

from dataclasses import dataclass

import chess
from chess import (
    BB_DIAG_ATTACKS,
    BB_DIAG_MASKS,
    BB_FILE_ATTACKS,
    BB_FILE_MASKS,
    BB_KING_ATTACKS,
    BB_KNIGHT_ATTACKS,
    BB_RANK_ATTACKS,
    BB_RANK_MASKS,
    KING,
    PAWN,
)

from rukh_assets.ingest.sample.tables import WORTH

NOT_FILE_A = ~chess.BB_FILE_A & chess.BB_ALL
NOT_FILE_H = ~chess.BB_FILE_H & chess.BB_ALL

#: The material of both sides, without pawns and kings, below which a game is late.
LATE = 2_700


def attacks(kind: chess.PieceType, square: chess.Square, occupied: chess.Bitboard) -> chess.Bitboard:
    """Squares that a knight, bishop, rook, queen or king on `square` attacks, own pieces included."""
    if kind == chess.KNIGHT:
        return BB_KNIGHT_ATTACKS[square]
    if kind == KING:
        return BB_KING_ATTACKS[square]
    if kind == chess.BISHOP:
        return BB_DIAG_ATTACKS[square][BB_DIAG_MASKS[square] & occupied]
    lines = (
        BB_RANK_ATTACKS[square][BB_RANK_MASKS[square] & occupied]
        | BB_FILE_ATTACKS[square][BB_FILE_MASKS[square] & occupied]
    )
    if kind == chess.ROOK:
        return lines
    return lines | BB_DIAG_ATTACKS[square][BB_DIAG_MASKS[square] & occupied]


@dataclass(slots=True)
class Reach:
    """What one side attacks, as bitboards; lines go through the other side's king, who cannot hide on them."""

    pieces: list[tuple[chess.Square, chess.PieceType, chess.Bitboard]]
    """Every piece but the pawns: its square, type and the squares it attacks."""
    by_kind: list[chess.Bitboard]
    """Squares attacked by the pieces of each type (index `chess.PAWN` .. `chess.KING`)."""
    every: chess.Bitboard
    """Squares attacked at all."""
    twice: chess.Bitboard
    """Squares attacked by two pieces or more."""

    def loss(self, worth: int, target: chess.Bitboard, defended: bool) -> int:
        """What this side wins by capturing a piece of `worth` on `target`, one of the squares it attacks."""
        if not defended:
            return worth
        for kind, reach in enumerate(self.by_kind):
            if reach & target:
                return max(0, worth - WORTH[kind])
        return 0


@dataclass(slots=True)
class Sight:
    """A position as the player to move sees it before looking at single moves."""

    board: chess.Board
    colour: chess.Color
    own: chess.Bitboard
    foes: chess.Bitboard
    king: chess.Square
    foe_king: chess.Square
    me: Reach
    foe: Reach
    late: bool
    balance: int
    """Material of the player to move less the other side's, in centipawns."""

    @property
    def in_check(self) -> bool:
        """Whether the player to move is in check."""
        return bool(self.foe.every & (1 << self.king))

    @property
    def foe_in_check(self) -> bool:
        """Whether the other side's king could be taken: the move that led here was illegal."""
        return bool(self.me.every & (1 << self.foe_king))

    @property
    def foe_alone(self) -> bool:
        """Whether the other side has at most pawns beside its king."""
        return len(self.foe.pieces) == 1

    def most_winnable(self) -> int:
        """The worth that the player to move can win at once from what the other side leaves standing."""
        if not self.me.every & self.foes:
            return 0
        return max((loss for loss, _, _ in winnable(self.board, self.me, self.foe, self.foes)), default=0)


def look(board: chess.Board) -> Sight:
    """The sight of the player to move on `board`."""
    colour = board.turn
    own, foes, kings = board.occupied_co[colour], board.occupied_co[not colour], board.kings
    me, foe = survey(board, colour), survey(board, not colour)
    mine, theirs = _material(me), _material(foe)
    return Sight(
        board=board,
        colour=colour,
        own=own,
        foes=foes,
        king=(kings & own).bit_length() - 1,
        foe_king=(kings & foes).bit_length() - 1,
        me=me,
        foe=foe,
        late=mine + theirs < LATE,
        balance=mine - theirs + WORTH[PAWN] * ((board.pawns & own).bit_count() - (board.pawns & foes).bit_count()),
    )


def _material(side: Reach) -> int:
    return sum([WORTH[kind] for _, kind, _ in side.pieces]) - WORTH[KING]


def survey(board: chess.Board, colour: chess.Color) -> Reach:
    """What the pieces of `colour` attack on `board`."""
    mine = board.occupied_co[colour]
    occupied = board.occupied & ~(board.kings & ~mine)
    pawns = board.pawns & mine
    if colour:
        left, right = (pawns & NOT_FILE_A) << 7, (pawns & NOT_FILE_H) << 9
    else:
        left, right = (pawns & NOT_FILE_A) >> 9, (pawns & NOT_FILE_H) >> 7
    every, twice = left | right, left & right
    by_kind = [0, every, 0, 0, 0, 0, 0]
    pieces = []
    for kind, of_kind in (
        (chess.KNIGHT, board.knights),
        (chess.BISHOP, board.bishops),
        (chess.ROOK, board.rooks),
        (chess.QUEEN, board.queens),
        (KING, board.kings),
    ):
        left_over = of_kind & mine
        while left_over:
            square = left_over.bit_length() - 1
            left_over ^= 1 << square
            reach = attacks(kind, square, occupied)
            pieces.append((square, kind, reach))
            by_kind[kind] |= reach
            twice |= every & reach
            every |= reach
    return Reach(pieces, by_kind, every, twice)


def winnable(
    board: chess.Board, taker: Reach, owner: Reach, owned: chess.Bitboard
) -> list[tuple[int, chess.Square, int]]:
    """Pieces among `owned` that `taker` could win as they stand.

    Each is its worth lost, its square, and what would still be lost were it defended (once more).
    """
    found = []
    for square, kind, _ in owner.pieces:
        target = 1 << square
        if taker.every & target and kind != KING:
            worth = WORTH[kind]
            loss = taker.loss(worth, target, bool(owner.every & target))
            if loss:
                found.append((loss, square, taker.loss(worth, target, True)))
    loose_pawns = board.pawns & owned & taker.every & ~owner.every
    while loose_pawns:
        square = loose_pawns.bit_length() - 1
        loose_pawns ^= 1 << square
        found.append((WORTH[PAWN], square, 0))
    return found
