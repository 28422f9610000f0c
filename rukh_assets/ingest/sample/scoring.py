"""A score in centipawns for every move of a position, from what each side attacks: no search.

A move has a merit (what it captures, threatens and improves) and a risk (what the reply could win: the piece moved, or
another left standing). Whether it leaves the own king in check is for the caller to see, the king's own steps apart.
"""

from typing import NamedTuple

import chess
from chess import BB_KING_ATTACKS, BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK

from rukh_assets.ingest.sample.survey import Sight, attacks, winnable
from rukh_assets.ingest.sample.tables import CASTLINGS, CENTRE, MOBILITY, PASSED_FRONT, PLACE, WORTH

#: Bonus for castling, and what giving it up by a move of the king costs.
CASTLING, CASTLING_LOST = 55, 45


class Scored(NamedTuple):
    """One move and what speaks for and against it."""

    merit: int
    risk: int
    kind: chess.PieceType
    origin: chess.Square
    target: chess.Square
    promotion: chess.PieceType
    """0 when none."""
    checks: bool
    """Whether the piece attacks the other king from its new square."""


class Danger(NamedTuple):
    """An own piece that the other side could win as things stand."""

    here: chess.Bitboard
    loss: int
    loss_defended: int
    saves: chess.Bitboard
    """Squares where a move takes the only attacker or stands in its way."""


def score_moves(sight: Sight) -> list[Scored]:
    """Every move of the position that is legal as far as attack masks tell, in no particular order."""
    allowed = _evasions(sight) if sight.in_check else chess.BB_ALL
    dangers = _dangers(sight) if sight.foe.every & sight.own else []
    moves: list[Scored] = []
    for square, kind, reach in sight.me.pieces:
        targets = reach & ~sight.own & (~sight.foe.every if kind == KING else allowed)
        if targets:
            moves += _score_piece(sight, dangers, square, kind, reach, targets, 0)
    moves += _score_pawns(sight, dangers, allowed)
    if sight.board.castling_rights and not sight.in_check:
        moves += _score_castlings(sight)
    return moves


def _evasions(sight: Sight) -> chess.Bitboard:
    """Where a piece other than the king may go when the king is in check."""
    checkers = sight.board.attackers_mask(not sight.colour, sight.king)
    if checkers.bit_count() != 1:
        return 0
    return checkers | chess.between(checkers.bit_length() - 1, sight.king)


def _dangers(sight: Sight) -> list[Danger]:
    """The own pieces in danger, worst first, three at most."""
    board = sight.board
    found = winnable(board, sight.foe, sight.me, sight.own)
    found.sort(reverse=True)
    dangers = []
    for loss, square, loss_defended in found[:3]:
        attackers = board.attackers_mask(not sight.colour, square)
        single = attackers.bit_count() == 1
        saves = attackers | chess.between(attackers.bit_length() - 1, square) if single else 0
        dangers.append(Danger(1 << square, loss, loss_defended, saves))
    return dangers


def _score_castlings(sight: Sight) -> list[Scored]:
    board, place = sight.board, PLACE[sight.late][sight.colour][KING]
    return [
        Scored(CASTLING + place[to] - place[sight.king], 0, KING, sight.king, to, 0, False)
        for rook, empty, safe, to in CASTLINGS[sight.colour]
        if board.castling_rights & rook and not board.occupied & empty and not sight.foe.every & safe
    ]


def _score_pawns(sight: Sight, dangers: list[Danger], allowed: chess.Bitboard) -> list[Scored]:
    board, colour = sight.board, sight.colour
    empty, takes = ~board.occupied, sight.foes
    if board.ep_square is not None:
        takes |= 1 << board.ep_square
        allowed |= 1 << board.ep_square  # it may take a checking pawn that stands elsewhere
    step, start, last = (8, chess.BB_RANK_2, chess.BB_RANK_8) if colour else (-8, chess.BB_RANK_7, chess.BB_RANK_1)
    moves: list[Scored] = []
    left_over = board.pawns & sight.own
    while left_over:
        square = left_over.bit_length() - 1
        here = 1 << square
        left_over ^= here
        reach = chess.BB_PAWN_ATTACKS[colour][square]
        targets = reach & takes
        ahead = 1 << (square + step)
        if ahead & empty:
            targets |= ahead
            if here & start:
                targets |= (1 << (square + 2 * step)) & empty
        targets &= allowed
        if targets:
            for promotion in (QUEEN, ROOK, BISHOP, KNIGHT) if targets & last else (0,):
                moves += _score_piece(sight, dangers, square, PAWN, reach, targets, promotion)
    return moves


def _from_square(sight: Sight, square: chess.Square, kind: chess.PieceType, reach: chess.Bitboard) -> int:
    """What leaving `square` is worth, whatever the target."""
    merit = -PLACE[sight.late][sight.colour][kind][square] - MOBILITY[kind] * reach.bit_count()
    merit -= 4 * (reach & CENTRE).bit_count()
    if sight.late:
        return merit
    near_king = BB_KING_ATTACKS[sight.king] & (1 << square)
    if kind == PAWN:
        return merit - 14 if near_king else merit
    if kind == KING:
        rights = sight.board.castling_rights & (chess.BB_RANK_1 if sight.colour else chess.BB_RANK_8)
        return merit - CASTLING_LOST if rights else merit
    played = sight.board.move_stack
    if len(played) > 1 and played[-2].to_square == square:
        merit -= 12  # a second move in a row with the same piece
    return merit


def _score_piece(
    sight: Sight,
    dangers: list[Danger],
    square: chess.Square,
    kind: chess.PieceType,
    reach: chess.Bitboard,
    targets: chess.Bitboard,
    promotion: chess.PieceType,
) -> list[Scored]:
    """The moves of one piece to each of `targets`."""
    board, colour, foes, me, foe = sight.board, sight.colour, sight.foes, sight.me, sight.foe
    here, foe_king = 1 << square, 1 << sight.foe_king
    occupied = (board.occupied ^ here) & ~foe_king
    attacked, place = foe.every, PLACE[sight.late][colour][kind]
    ring = BB_KING_ATTACKS[sight.foe_king]
    lands_as = promotion or kind
    worth, mobility = WORTH[lands_as], MOBILITY[kind]
    base = _from_square(sight, square, kind, reach) - 7 * (reach & ring).bit_count()
    if promotion:
        base += worth - WORTH[PAWN]
    loose_foes = foes & ~attacked
    left_behind = reach & sight.own & attacked & ~me.twice
    moves = []
    while targets:
        to = targets.bit_length() - 1
        target = 1 << to
        targets ^= target
        new_reach = chess.BB_PAWN_ATTACKS[colour][to] if lands_as == PAWN else attacks(lands_as, to, occupied)
        exposed = 0
        if attacked & target:
            exposed = foe.loss(worth, target, bool((me.twice if reach & target else me.every) & target))
        standing = 0
        for danger, loss, loss_defended, saves in dangers:
            if danger != here and not saves & target:
                standing = max(standing, loss_defended if new_reach & danger else loss)
        if left_behind & ~new_reach:
            standing = max(standing, _cheapest(board, left_behind & ~new_reach))

        merit = base + place[to] + mobility * new_reach.bit_count() + 4 * (new_reach & CENTRE).bit_count()
        if foes & target:
            merit += WORTH[board.piece_type_at(to) or PAWN]
        elif kind == PAWN and not board.pawns & foes & PASSED_FRONT[colour][to]:
            merit += 12
        checks = bool(new_reach & foe_king)
        if not exposed:
            merit += 7 * (new_reach & ring).bit_count() + (14 if new_reach & loose_foes else 0) + (12 if checks else 0)
        risk = max(exposed, standing) + (min(exposed, standing) >> 2)
        moves.append(Scored(merit, risk, kind, square, to, promotion, checks))
    return moves


def _cheapest(board: chess.Board, squares: chess.Bitboard) -> int:
    """About what is lost when pieces on `squares` lose a defender: the cheapest of them, discounted."""
    if board.pawns & squares:
        return 60
    if (board.knights | board.bishops) & squares:
        return 200
    return 300
