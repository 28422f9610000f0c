"""The rules on single positions against python-chess: legal moves, perft, SAN both ways."""

import chess
import pytest
from board_games import FreshRandom, random_line

from rukh_assets.board import find_move, legal_moves, perft, spell_move
from rukh_assets.errors import IllegalMoveError

PERFT = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1": (20, 400, 8_902, 197_281),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2_039, 97_862, 4_085_603),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2_812, 43_238),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9_467, 422_333),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1_486, 62_379, 2_103_487),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (46, 2_079, 89_890, 3_894_594),
}
"""Published at chessprogramming.org/Perft_Results: the start, Kiwipete, positions 3 to 6."""

SPELT = [
    ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8q", "a8=Q"),
    ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8r", "a8=R"),
    ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8b", "a8=B"),
    ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8n", "a8=N"),
    ("k7/8/8/8/8/8/1p5K/R7 b - - 0 1", "b2a1r", "bxa1=R"),
    ("7k/P5pp/8/8/8/8/8/K7 w - - 0 1", "a7a8r", "a8=R#"),
    ("8/4B3/6Q1/8/8/1B6/4R3/2k1K2R w K - 0 1", "e1g1", "O-O#"),
    ("8/8/Q7/1Q6/8/8/Q7/R3K2k w Q - 0 1", "e1c1", "O-O-O#"),
    ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O+"),
    ("8/Q7/8/2pP1K2/3k1b2/1Q6/Q5p1/7q w - c6 0 1", "d5c6", "dxc6#"),
    ("7k/6pp/8/8/8/8/1B6/K6R w - - 0 1", "b2g7", "Bxg7+"),
    ("4k3/4r3/8/8/8/8/8/R3K3 w Q - 0 1", "e1f2", "Kf2"),
    ("3kr3/3p1N2/8/8/8/8/8/3K4 b - - 0 1", "d8c8", "Kc8"),
    ("4k3/8/8/4N3/8/8/4R3/4K3 w - - 0 1", "e5c6", "Nc6+"),
    ("6rk/6pp/7N/8/8/1Q6/8/K7 w - - 0 1", "b3g8", "Qxg8#"),
    ("6rk/6pp/8/6N1/8/8/8/K7 w - - 0 1", "g5f7", "Nf7#"),
    ("8/8/8/1k6/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1"),
    ("1k6/8/8/8/8/8/8/R3K2R w - - 0 1", "a1d1", "Rd1"),
    ("1k6/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1"),
    ("7k/8/8/R7/8/8/8/R3K3 w - - 0 1", "a1a3", "R1a3"),
    ("4r1k1/8/8/8/8/1N6/4N3/4K3 w - - 0 1", "b3d4", "Nd4"),
    ("6k1/8/8/8/8/1N6/4N3/4K3 w - - 0 1", "b3d4", "Nbd4"),
]
"""Promotions, mates by promotion, castling, en passant and a smothering knight, and how much of the origin is told."""

OTHER_POSITIONS = [
    "8/8/8/K2pP2r/8/8/8/7k w - d6 0 1",
    "8/8/8/8/k2Pp2R/8/8/7K b - d3 0 1",
    "7k/8/8/3pP3/8/8/1B5b/4K3 w - d6 0 1",
    "8/8/8/4k3/2Pp4/8/8/B3K3 b - c3 0 1",
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
    "4r2k/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
    "7k/8/b7/1pP5/8/3K4/8/8 w - b6 0 1",
    "r3k2r/8/8/8/8/8/8/1R2K2R b Kkq - 0 1",
    "r3k2r/8/8/5R2/8/8/8/4K3 b kq - 0 1",
    "r3k2r/8/8/6R1/8/8/8/4K3 b kq - 0 1",
    "r3k2r/8/8/4R3/8/8/8/4K3 b kq - 0 1",
    "r3k2r/8/8/8/7R/8/8/4K3 b kq - 0 1",
    "4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "7k/5KQ1/8/8/8/8/8/8 b - - 0 1",
    "8/8/8/8/8/5n2/4r3/4K2k w - - 0 1",
]
"""En passant that uncovers the king along a rank, from a pin, out of check; castling out of, through and into check,
and with a rook attacked; stalemate, mate, double check."""


@pytest.fixture(scope="module")
def positions() -> list[str]:
    return [*PERFT, *OTHER_POSITIONS, *dict.fromkeys(fen for fen, _, _ in SPELT)]


def test_the_positions_can_arise(positions: list[str]) -> None:
    for fen in positions:
        assert chess.Board(fen).is_valid(), fen


@pytest.mark.parametrize("fen", PERFT)
def test_perft_is_as_published(fen: str) -> None:
    assert tuple(perft(fen, depth) for depth in range(1, 5)) == PERFT[fen]


def test_legal_moves_are_those_of_python_chess(positions: list[str]) -> None:
    for fen in positions:
        assert sorted(legal_moves(fen)) == sorted(move.uci() for move in chess.Board(fen).legal_moves), fen


@pytest.mark.parametrize(("fen", "uci", "san"), SPELT)
def test_a_move_is_spelt_as_in_a_book(fen: str, uci: str, san: str) -> None:
    assert spell_move(fen, uci) == san == chess.Board(fen).san(chess.Move.from_uci(uci))
    assert find_move(fen, san) == uci


def test_every_legal_move_is_spelt_and_read_as_by_python_chess(positions: list[str]) -> None:
    for fen in positions:
        assert_moves_agree(chess.Board(fen))


def test_the_moves_of_random_games_are_spelt_and_read_as_by_python_chess(source: FreshRandom) -> None:
    for _ in range(4):
        board = chess.Board()
        for uci in random_line(source, 100).uci:
            board.push_uci(uci)
            if source.random() < 0.1:
                assert sorted(legal_moves(board.fen())) == sorted(move.uci() for move in board.legal_moves), source
                assert_moves_agree(board)


def test_only_legal_moves_are_legal_of_all_that_can_be_written(positions: list[str], source: FreshRandom) -> None:
    for fen in source.sample(positions, 3):
        legal = {move.uci() for move in chess.Board(fen).legal_moves}
        for origin in chess.SQUARE_NAMES:
            for target in chess.SQUARE_NAMES:
                for promotion in ("", source.choice("qrbn")):
                    uci = origin + target + promotion
                    assert (find_move(fen, uci) is not None) == (uci in legal), (source, fen, uci)


def test_a_move_that_is_not_legal_has_no_spelling() -> None:
    for uci in ("e2e5", "e7e5", "e2", "", "e2e4 ", "e2e4q", "E2E4", "0000"):
        with pytest.raises(IllegalMoveError, match=f"illegal uci: '{uci}' in rnbqkbnr"):
            spell_move(chess.STARTING_FEN, uci)


def assert_moves_agree(board: chess.Board) -> None:
    """Each legal move of a position is written as python-chess writes it, and read from all its spellings or not."""
    fen = board.fen()
    for move in board.legal_moves:
        san, uci = board.san(move), move.uci()
        assert spell_move(fen, uci) == san, (fen, uci)
        assert find_move(fen, san) == uci, (fen, san)
        bare = san.rstrip("+#")
        for spelling in (
            bare,
            bare + "+",
            bare + "#",
            bare.replace("x", ""),
            bare.replace("x", "-"),
            bare.replace("=", ""),
        ):
            assert_reads_as_python_chess(board, spelling)
        for spelling in (board.lan(move), uci, bare.lower(), "P" + bare, bare + "=Q", bare[:1] + bare[-2:], bare[1:]):
            assert_reads_as_python_chess(board, spelling)


def assert_reads_as_python_chess(board: chess.Board, san: str) -> None:
    """A spelling means to the kernel what it means to python-chess, or it is left to it."""
    try:
        expected = board.parse_san(san).uci()
    except ValueError:
        expected = None
    if expected == "0000":
        expected = None
    assert find_move(board.fen(), san) == expected, (board.fen(), san)
