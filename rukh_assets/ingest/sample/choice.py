"""Which move a player makes: the best-looking one by the scores, seen through that player's rating."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import chess

from rukh_assets.ingest.sample.dice import Dice
from rukh_assets.ingest.sample.scoring import Scored, score_moves
from rukh_assets.ingest.sample.spelling import spell
from rukh_assets.ingest.sample.survey import Sight, attacks, look
from rukh_assets.ingest.sample.tables import WORTH

MATE = 100_000

#: Centipawns within which a game is level, and what moving back is then worth to a player who repeats.
LEVEL, TO_AND_FRO = 150, 90

#: How many more moves are tried on the board against a king without pieces.
HUNT_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Player:
    """How well one side plays a game."""

    noise: int
    """Centipawns by which a score may be misjudged."""
    careless: int
    """Of 1,000 moves, how many are made without a look at what the reply may take."""
    depth: int
    """How many candidate moves are tried on the board, at most."""
    sees_mates: bool
    """Whether a mate in one by the piece that gives check is never missed."""
    sees_stalemates: bool
    promotes_to: chess.PieceType = chess.QUEEN
    repeats: bool = False
    """Whether, when level and with nothing to do, the player moves to and fro rather than agree to a draw."""

    @classmethod
    def rated(cls, elo: int, promotes_to: chess.PieceType = chess.QUEEN, repeats: bool = False) -> "Player":
        """A player as strong as `elo` (600 to 3,200) among the players of the sample."""
        strength = min(max(elo, 600), 3200) - 600
        return cls(
            noise=90 - strength * 70 // 2600,
            careless=60 - strength * 57 // 2600,
            depth=2 + strength // 500,
            sees_mates=elo >= 1400,
            sees_stalemates=elo >= 2100,
            promotes_to=promotes_to,
            repeats=repeats,
        )


class Chosen(NamedTuple):
    """A move made, and the position after it."""

    san: str
    """Without the marks of check and mate."""
    sight: Sight
    key: Hashable
    """Equal for equal positions, in the sense of repetition."""


class _Candidate(NamedTuple):
    score: int
    order: int
    """Breaks ties, so that two moves never compare further."""
    tried: bool
    move: Scored


def position_key(board: chess.Board) -> Hashable:
    """Equal for positions that are the same for the rule of repetition."""
    return (
        board.turn,
        board.occupied,
        board.occupied_co[chess.WHITE],
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.castling_rights,
        board.ep_square if board.has_legal_en_passant() else None,
    )


def choose(sight: Sight, player: Player, dice: Dice, seen: Counter[Hashable]) -> Chosen | None:
    """Makes `player`'s move on the board of `sight` and returns it; None, the board as it was, when none is legal.

    `seen` counts the positions since the last pawn move or capture.
    """
    board = sight.board
    careless = dice.below(1000) < player.careless
    tries = 0 if careless else player.depth + (HUNT_DEPTH if sight.foe_alone else 0)
    candidates = _candidates(sight, player, careless, dice)
    while candidates:
        best = max(candidates)
        candidates.remove(best)
        move = best.move
        board.push(chess.Move(move.origin, move.target, move.promotion or None))
        after = look(board)
        if after.foe_in_check:  # the move left the own king in check
            board.pop()
            continue
        key = position_key(board)
        if best.tried or tries <= 0 or best.score >= MATE:
            return Chosen(spell(sight, move), after, key)
        tries -= 1
        score = best.score + move.risk - after.most_winnable() + _outlook(after, player, seen[key])
        if player.sees_mates and _can_mate(after):
            score -= MATE // 2
        if not candidates or score >= max(candidates).score:
            return Chosen(spell(sight, move), after, key)
        board.pop()
        candidates.append(best._replace(score=score, tried=True))
    return None


def _candidates(sight: Sight, player: Player, careless: bool, dice: Dice) -> list[_Candidate]:
    """The moves with the scores that the player gives them at first sight."""
    moves = score_moves(sight)
    misjudged = dice.take(2 * len(moves))
    back = _way_back(sight) if player.repeats else None
    candidates = []
    for order, move in enumerate(moves):
        if move.promotion and move.promotion != player.promotes_to:
            continue
        # The sum of two bytes is most often near its middle: small errors are common, large ones rare.
        error = (misjudged[2 * order] + misjudged[2 * order + 1]) * player.noise >> 8
        score = move.merit + error - (move.risk >> 3 if careless else move.risk)
        if move.checks and player.sees_mates and _mates(sight, move):
            score += MATE
        if (move.origin, move.target) == back:
            score += TO_AND_FRO
        candidates.append(_Candidate(score, order, False, move))
    return candidates


def _way_back(sight: Sight) -> tuple[chess.Square, chess.Square] | None:
    """From and to of the move that undoes the player's last one, where the game is level and quiet."""
    if abs(sight.balance) > LEVEL or sight.board.halfmove_clock < 6:
        return None
    last = sight.board.move_stack[-2]
    return last.to_square, last.from_square


def _can_mate(sight: Sight) -> bool:
    """Whether a piece of the player to move can give mate from a square that the other side does not just take."""
    occupied = sight.board.occupied & ~(1 << sight.foe_king)
    for square, kind, reach in sight.me.pieces:
        targets = reach & ~sight.own if kind != chess.KING else 0
        if targets:
            targets &= attacks(kind, sight.foe_king, occupied)
        while targets:
            to = targets.bit_length() - 1
            targets ^= 1 << to
            if _mates(sight, Scored(0, 0, kind, square, to, 0, True)):
                return True
    return False


def _mates(sight: Sight, move: Scored) -> bool:
    """Whether a move that gives check is mate; played out on the board only if the king has no square to go to."""
    board = sight.board
    covered = sight.me.every | (1 << move.target)
    lands_as = move.promotion or move.kind
    if lands_as != chess.PAWN:
        covered |= attacks(lands_as, move.target, (board.occupied ^ (1 << move.origin)) & ~(1 << sight.foe_king))
    if chess.BB_KING_ATTACKS[sight.foe_king] & ~sight.foes & ~covered:
        return False
    board.push(chess.Move(move.origin, move.target, move.promotion or None))
    mates = not board.was_into_check() and board.is_checkmate()
    board.pop()
    return mates


def _outlook(after: Sight, player: Player, seen: int) -> int:
    """What the position after a move adds to its score: a repetition, and the hunt for a king without pieces."""
    ahead = -after.balance
    score = 0
    if seen:
        score = -80 * seen if ahead > 100 else 50 if ahead > -150 else 150
    if len(after.me.pieces) > 1 or ahead < WORTH[chess.ROOK] - 100:
        return score
    flights = (chess.BB_KING_ATTACKS[after.king] & ~after.own & ~after.foe.every).bit_count()
    score -= 14 * flights + 9 * chess.square_distance(after.king, after.foe_king)
    if not flights and player.sees_stalemates and not after.in_check and not any(after.board.generate_legal_moves()):
        score -= ahead
    return score
