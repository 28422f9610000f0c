"""Cutting joined moves apart: `b` is a file and a bishop, so the game is replayed."""

import chess
import pytest
from corpora import random_game
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.tokenizers.bpe import split_moves


def legal(moves: str) -> list[str]:
    """The moves, seen to be a legal game."""
    board = chess.Board()
    for move in moves.split():
        board.push_uci(move)
    return moves.split()


@pytest.mark.parametrize(
    "moves",
    [
        # a bishop, then a move from the b-file
        "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8b g8f6 b2b4",
        "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7b8b c6b4 b1c3",
        "b2b4 a7a5 b4a5 b7b6 a5b6 c8a6 b6b7 a6b5 b7a8b b5a4 b1c3",
        # no promotion, then a move from the b-file: a rook, a queen and a king go to the last rank
        "a2a4 b7b5 a4b5 a7a6 a1a6 c8b7 a6a7 h7h6 a7a8 b7a8",
        "a2a4 b7b5 a4b5 a7a6 b5a6 a8a6 a1a2 a6a2 c2c4 a2a1 b1c3",
        "e2e4 b7b5 d1g4 b5b4 g4g7 b4b3 g7g8 b3a2 g8f8 e8f8",
        "d2d4 b7b6 d4d5 e7e6 d5e6 e8e7 e6f7 e7e6 f7g8b e6e7 b2b4",
        "e2e4 e7e5 e1e2 e8e7 e2e1 b7b6 b2b3 e7e8 b3b4 b6b5",
        # captures that promote, by both colours, to each piece
        "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 d7d6 b7a8n d8c8 b2b3",
        "h2h4 g7g5 h4g5 h7h6 g5h6 g8f6 h6h7 h8g8 h7g8r b7b6 b2b3",
        "a2a3 b7b5 a3a4 b5a4 b2b3 a4b3 a1a2 b3a2 c1b2 a2b1b b2c3 b8c6",
        "a2a3 b7b5 a3a4 b5a4 b2b3 a4b3 h2h3 b3c2 h3h4 c2b1b",
    ],
)
def test_legal_games_with_b_files_and_bishops_are_cut_right(moves):
    assert split_moves("".join(moves.split())) == legal(moves)


@pytest.mark.parametrize(
    "moves",
    [
        "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 c5e3 f2e3 f6g8 f3e5 e8e7 f1f7 e7d6 f7f8 b8c6",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1 c6d4 d1e1 d4e2 e1e2 f5c2 e2e1 e8c8 e1e7 b7b6 e7e8 b6b5",
        "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 d2d3 e8g8 e1e2 f6e4 c4f7 f8f7 f3d4 f7f2 e2e3 f2f1 b1c3",
        "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e2e3 e8c8 c3d5 d7d5 e1e2 d5d4 b2b4 d4a1 d2e1 d8d2 e2f3 d2d1 b4b5",
    ],
)
def test_a_rook_that_castled_is_known_where_it_stands_when_it_reaches_the_last_rank(moves):
    assert split_moves("".join(moves.split())) == legal(moves)


def test_en_passant_removes_the_pawn():
    # The pawn that stood on b5 is gone; the queen that comes to its square and leaves it is no pawn.
    moves = "a2a4 h7h6 a4a5 b7b5 a5b6 h6h5 b6b7 h5h4 b7a8b h4h3 b2b4"
    assert split_moves("".join(moves.split())) == legal(moves)


def test_real_games_are_cut_into_their_moves(real_games):
    for game in real_games:
        assert split_moves(game["uci"].replace(" ", "")) == game["uci"].split(" ")


@given(seed=st.integers(0, 10**6))
def test_random_games_are_cut_into_their_moves(seed):
    moves = random_game(seed, max_plies=100)["uci"].split(" ")
    assert split_moves("".join(moves)) == moves


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("", []),
        ("a7", ["a7"]),
        ("e2e4e7", ["e2e4", "e7"]),
        # nothing stands on the fourth rank: by the ranks
        ("e4e5e5e6", ["e4e5", "e5e6"]),
        ("a4a5b2b1b", ["a4a5", "b2b1b"]),
        # pieces that stand in the way of the letter: q, r and n begin no move, b begins one
        ("a1a7a7a8qe7e5", ["a1a7", "a7a8q", "e7e5"]),
        ("a1a7a7a8b7b5", ["a1a7", "a7a8", "b7b5"]),
        ("a2a7a7a8b7b5", ["a2a7", "a7a8b", "7b5"]),
        # more than one file aside, other ranks, backwards
        ("e2e7e7g8b7b5", ["e2e7", "e7g8", "b7b5"]),
        ("a7a8b8c6", ["a7a8b", "8c6"]),
        ("a8a7b8c6", ["a8a7", "b8c6"]),
        ("a6a7b8c6", ["a6a7", "b8c6"]),
        ("h2h1qh7h8n", ["h2h1q", "h7h8n"]),
        ("z9z9b2b3", ["z9z9", "b2b3"]),
        ("<unk>", ["<unk", ">"]),
    ],
)
def test_nonsense_is_cut_by_the_ranks(text, moves):
    assert split_moves(text) == moves


@given(st.text("abcdefgh12345678qrbn<>", max_size=60))
def test_the_pieces_of_any_text_are_the_text(text):
    pieces = split_moves(text)
    assert "".join(pieces) == text
    assert all(len(piece) in (4, 5) for piece in pieces[:-1])
