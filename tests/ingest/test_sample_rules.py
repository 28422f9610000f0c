"""What the players of sample months go by: dice, exchanges, material and repetition, each against its oracle."""

import hashlib
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import chess
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_assets.board.generate import MAX_MOVES
from rukh_assets.board.intrinsics import count_squares, memory
from rukh_assets.board.position import BLACK, KNIGHT, QUEEN, WHITE, position_of
from rukh_assets.ingest.sample.candidates import list_candidates
from rukh_assets.ingest.sample.dice import Dice, below
from rukh_assets.ingest.sample.exchange import exchange_gain, most_winnable
from rukh_assets.ingest.sample.game import MOVE, PROMOTES_TO, SCRATCH_SIZE, SETTING_SIZE, open_game
from rukh_assets.ingest.sample.mates import is_safe_move, lacks_material
from rukh_assets.ingest.sample.repetition import key_of
from rukh_assets.ingest.sample.survey import SIGHT_SIZE, look
from rukh_assets.ingest.sample.tables import WORTH

UNSIGNED = 2**64 - 1
PIECE_WORTH = [int(WORTH[kind]) for kind in range(7)]


@numba.njit
def products(dice: Any, out: Any) -> None:
    for index in range(len(out)):
        out[index] = below(memory(dice), 256) * below(memory(dice), 1000)


@numba.njit
def gain(position: Any, square: int) -> int:
    return exchange_gain(memory(position), square)


@numba.njit
def gain_at_once(position: Any, sight: Any) -> int:
    look(memory(position), memory(sight))
    return most_winnable(memory(position), memory(sight))


@numba.njit
def facts(position: Any) -> tuple[bool, bool, int]:
    return lacks_material(memory(position), WHITE), lacks_material(memory(position), BLACK), key_of(memory(position))


@numba.njit
def legal_candidates(position: Any, setting: Any, scratch: Any, moves: Any) -> int:
    game = open_game(memory(setting), memory(scratch))
    for slot in range(len(position)):
        game.position[slot] = position[slot]
    look(game.position, game.sight)
    found = 0
    for index in range(list_candidates(game)):
        if is_safe_move(game.position, game.moves[index]):
            moves[found] = game.moves[index] & MOVE
            found += 1
    return found


@numba.njit
def count(bitboard: int) -> int:
    return count_squares(bitboard)


def splitmix64(state: int) -> Iterator[int]:
    """The generator as published, on Python's own integers."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & UNSIGNED
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & UNSIGNED
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & UNSIGNED
        yield mixed ^ mixed >> 31


def stream(key: str) -> Iterator[int]:
    return splitmix64(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "little"))


def boards(seed: int, games: int) -> Iterator[chess.Board]:
    """Every position of random games, which go on to bare kings."""
    rng = random.Random(seed)
    for _ in range(games):
        board = chess.Board()
        while not board.is_game_over() and len(board.move_stack) < 300:
            captures = list(board.generate_legal_captures())
            moves = captures if captures and rng.random() < 0.3 else list(board.legal_moves)
            board.push(rng.choice(moves))
            yield board


def gain_by_recursion(board: chess.Board, square: int, side: bool, occupied: int, victim: int) -> int:
    takers = board.attackers_mask(side, square, occupied) & occupied
    if not takers:
        return 0
    kind = min(board.piece_type_at(taker) for taker in chess.SquareSet(takers))
    occupied &= ~chess.BB_SQUARES[chess.lsb(takers & board.pieces_mask(kind, side))]
    if kind == chess.KING and board.attackers_mask(not side, square, occupied) & occupied:
        return 0
    return max(0, PIECE_WORTH[victim] - gain_by_recursion(board, square, not side, occupied, kind))


def test_dice_are_splitmix64_seeded_by_the_hash_of_their_key() -> None:
    keys = ["a", "b", "sample"]
    dice = Dice.of(keys)
    drawn = np.transpose([dice.below(1000) for _ in range(50)])
    for key, row in zip(keys, drawn, strict=True):
        assert row.tolist() == [(number >> 32) * 1000 >> 32 for number in islice(stream(key), 50)]


def test_kernels_go_on_where_numpy_stopped() -> None:
    """Signed numbers that overflow are undefined in numba: with them, the second factor was the same each time."""
    dice = Dice.of(["key"])
    dice.below(2)
    out = np.empty(500, np.int64)
    products(dice.states.view(np.int64).copy(), out)
    numbers = [number >> 32 for number in islice(stream("key"), 1, 1001)]
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    assert out.tolist() == [(first * 256 >> 32) * (second * 1000 >> 32) for first, second in pairs]


def test_draws_stay_within_their_bounds_and_reach_them() -> None:
    dice = Dice.of(map(str, range(400)))
    assert set(dice.below(5).tolist()) == set(range(5))
    assert set(dice.spread(2).tolist()) == set(range(-2, 3))
    assert set(dice.weighted([1, 0, 3]).tolist()) == {0, 2}
    assert not dice.chance(0, 3).any()
    assert dice.chance(3, 3).all()


def test_the_draws_of_a_stream_do_not_depend_on_the_others() -> None:
    many, one = Dice.of(["a", "b", "c"]), Dice.of(["b"])
    several = many.only(np.array([False, True, True]))
    assert len(several) == 2
    assert [several.weighted([3, 4, 5])[0] for _ in range(20)] == [one.weighted([3, 4, 5])[0] for _ in range(20)]


@given(st.integers(0, UNSIGNED))
def test_squares_are_counted_as_python_chess_counts_them(bitboard: int) -> None:
    assert count(np.uint64(bitboard).astype(np.int64)) == chess.popcount(bitboard)


@pytest.mark.parametrize(
    ("fen", "square", "won"),
    [
        ("4k3/8/8/3p4/8/8/3R4/4K3 w - - 0 1", "d5", 100),  # undefended
        ("4k3/8/4p3/3p4/8/8/3R4/4K3 w - - 0 1", "d5", 0),  # a rook for a pawn is none to make
        ("3rk3/8/8/3r4/8/8/3R4/3RK3 w - - 0 1", "d5", 500),  # from behind
        ("4k3/8/4p3/3n4/4P3/8/8/4K3 w - - 0 1", "d5", 220),
        ("8/8/3k4/3p4/8/8/3R4/3RK3 w - - 0 1", "d5", 100),  # the king may not take back
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", "h8", 0),
    ],
)
def test_what_an_exchange_wins(fen: str, square: str, won: int) -> None:
    assert gain(position_of(chess.Board(fen)), chess.parse_square(square)) == won


def test_exchanges_are_what_trying_all_of_them_gives() -> None:
    seen = set()
    for board in boards(1, games=12):
        position = position_of(board)
        for square in chess.SquareSet(board.occupied_co[not board.turn] & ~board.kings):
            expected = gain_by_recursion(board, square, board.turn, board.occupied, board.piece_type_at(square) or 0)
            assert gain(position, square) == expected, (board.fen(), chess.square_name(square))
            seen.add(expected)
    assert len(seen) > 10


def test_what_can_be_won_at_once_is_the_best_exchange() -> None:
    sight = np.empty(SIGHT_SIZE, np.int64)
    for board in boards(2, games=12):
        position = position_of(board)
        squares = chess.SquareSet(board.occupied_co[not board.turn] & ~board.kings)
        if not board.is_check():
            assert gain_at_once(position, sight) == max((gain(position, square) for square in squares), default=0)


def test_candidates_that_leave_the_king_safe_are_the_legal_moves() -> None:
    setting, scratch = np.zeros(SETTING_SIZE, np.int64), np.zeros(SCRATCH_SIZE, np.int64)
    setting[[PROMOTES_TO, BLACK + PROMOTES_TO]] = KNIGHT, QUEEN
    moves = np.empty(MAX_MOVES, np.int64)
    for board in boards(4, games=30):
        found = moves[: legal_candidates(position_of(board), setting, scratch, moves)].tolist()
        likes = chess.KNIGHT if board.turn == chess.WHITE else chess.QUEEN
        legal = [move for move in board.legal_moves if move.promotion in (None, likes)]
        assert sorted(found) == sorted(
            move.from_square | move.to_square << 6 | (move.promotion or 0) << 12 for move in legal
        ), board.fen()


def test_material_and_repetition_are_judged_as_python_chess_judges_them() -> None:
    keys: dict[object, int] = {}
    lacking = 0
    for board in boards(3, games=30):
        white_lacks, black_lacks, key = facts(position_of(board))
        assert white_lacks == board.has_insufficient_material(chess.WHITE)
        assert black_lacks == board.has_insufficient_material(chess.BLACK)
        assert keys.setdefault(board._transposition_key(), key) == key
        lacking += white_lacks
    assert lacking > 20
    assert len(set(keys.values())) == len(keys) > 1000
