"""SAN read without a chess library gives the moves that python-chess wrote."""

import chess
import pytest
from corpora import pgn_games, random_game
from hypothesis import given, settings
from hypothesis import strategies as st

from rukh_assets.encode.san_text import uci_to_san
from rukh_loaders.errors import SanMoveError
from rukh_loaders.tokenizers.san_moves import san_to_uci, san_words


def read(movetext):
    return " ".join(san_to_uci(san_words(movetext)))


@given(seed=st.integers(0, 3000))
@settings(max_examples=60, deadline=None)
def test_random_games_full_of_promotions_checks_and_castling_are_read_back(seed):
    uci = random_game(seed)["uci"]
    assert read(uci_to_san(uci)) == uci


def test_real_games_are_read_back(shared_data):
    for game in pgn_games(shared_data / "lichess-2021-10-head.pgn")[::4]:
        assert read(f"{uci_to_san(game['uci'])} {game['result']}") == game["uci"]


@pytest.mark.parametrize(
    "uci",
    [
        # Ne2: the knight on c3 is pinned, so the one on g1 is meant without saying so
        "e2e4 e7e5 b1c3 f8b4 d2d3 a7a6 g1e2",
        # a pawn that could be taken in passing, taken
        "e2e4 a7a6 e4e5 d7d5 e5d6",
        # two rooks on one rank, then on one file
        "a2a4 h7h6 h2h4 g7g6 a1a3 g6g5 h1h3 g5g4 a3e3 g4h3 e3e5 f7f6 e5h5 h8h7 h5d5",
    ],
)
def test_moves_whose_piece_is_told_by_a_pin_a_capture_or_a_letter_are_read(uci):
    board = chess.Board()
    for move in uci.split():
        board.push_uci(move)
    assert read(uci_to_san(uci)) == uci


@pytest.mark.parametrize(
    ("movetext", "message"),
    [
        ("1.e4 e5 2.Ke4", r"the san 'Ke4' at ply 3 means no move on the board, expected one move"),
        ("1.e9", r"the san 'e9' at ply 1 means no move on the board"),
        ("1.Nf3 a6 2.Nc3 a5 3.Nd4 a4 4.Nb5", r"the san 'Nb5' at ply 7 means c3b5 or d4b5, expected one move"),
    ],
)
def test_a_word_that_is_not_one_move_is_refused_with_its_ply(movetext, message):
    with pytest.raises(SanMoveError, match=message):
        san_to_uci(san_words(movetext))


def test_numbers_and_the_result_are_no_moves():
    assert san_words("1.e4 e5 2.Nf3 1/2-1/2") == ["e4", "e5", "Nf3"]
    assert san_words("1. e4 1... e5 *") == ["e4", "e5"]
