"""The fixture's games: twenty, legal, and between them every way to write a move and to end a game.

The games of before 1970 are history, their ratings invented; the others were made for this file.
"""

import io
import re

import chess
import chess.pgn
import pytest

from rukh_assets.reports.fixture import FIXTURE_PGN
from rukh_assets.reports.strict_pgn import read_strictly

Game = chess.pgn.Game

MATES = {
    "01": "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR",  # the shortest
    "02": "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR",  # Scholar's mate
    "03": "rn1q1bnr/ppp1kB1p/3p2p1/3NN3/4P3/8/PPPP1PPP/R1BbK2R",  # Legall
    "04": "1n1Rkb1r/p4ppp/4q3/4p1B1/4P3/8/PPP2PPP/2K5",  # Morphy at the opera
    "05": "r1bk3r/p2pBpNp/n4n2/1p1NP2P/6P1/3P4/P1P1K3/q5b1",  # Anderssen, the Immortal
    "06": "1r3kr1/pbpBBp1p/1b3P2/8/8/2P2q2/P4PPP/3R2K1",  # Anderssen, the Evergreen
    "08": "rnbB1b1r/ppk2ppp/2p5/4q3/4n3/8/PPP2PPP/2KR1BNR",  # Reti and Tartakower
    "09": "1Q6/5pk1/2p3p1/1p2N2p/1b5P/1bn5/2r3P1/2K5",  # Byrne and Fischer
    "12": "r1bq1r2/pp2n3/4N1Pk/3pPp2/1b1n2Q1/2N5/PP3PP1/R1B1K2R",  # Gundersen and Faul
}
"""The final position of each of the known games that end in mate."""


def read() -> list[Game]:
    stream = io.StringIO(FIXTURE_PGN.read_text(encoding="ascii"))
    return list(iter(lambda: chess.pgn.read_game(stream), None))


@pytest.fixture(scope="module")
def games() -> list[Game]:
    return read()


@pytest.fixture(scope="module")
def sans(games: list[Game]) -> list[list[str]]:
    return [[node.san() for node in game.mainline()] for game in games]


def written_by(sans: list[list[str]], colour: chess.Color) -> set[str]:
    return {san for game in sans for san in game[0 if colour else 1 :: 2]}


def test_the_file_is_ascii_with_line_feeds_and_ends_in_one() -> None:
    data = FIXTURE_PGN.read_bytes()
    assert data.isascii()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert not data.endswith(b"\n\n")
    assert max(map(len, data.splitlines())) <= 80


def test_twenty_games_are_read_without_an_error_by_both_readers(games: list[Game]) -> None:
    assert len(games) == len(read_strictly(FIXTURE_PGN)) == 20
    assert not [error for game in games for error in game.errors]


def test_every_move_is_spelt_as_python_chess_spells_it(games: list[Game], sans: list[list[str]]) -> None:
    movetexts = re.split(r"\n\n(?=\[)|(?<=\])\n\n", FIXTURE_PGN.read_text(encoding="ascii"))[1::2]
    for game, moves, movetext in zip(games, sans, movetexts, strict=True):
        *words, result = (word for word in movetext.split() if not re.fullmatch(r"\d+\.", word))
        assert words == moves
        assert result == game.headers["Result"]


def test_every_game_has_its_tags(games: list[Game]) -> None:
    for number, game in enumerate(games, 1):
        assert game.headers["Site"] == f"rukh:fixture/{number:02d}"
        assert re.fullmatch(r"(\d{4}|\?{4})\.(\d\d|\?\?)\.(\d\d|\?\?)", game.headers["Date"])
        assert re.fullmatch(r"[A-E]\d\d", game.headers["ECO"])
        assert all(600 <= int(game.headers[tag]) < 3300 for tag in ("WhiteElo", "BlackElo"))
        assert "?" not in (game.headers["Event"], game.headers["White"], game.headers["Black"])


def test_all_three_results_occur(games: list[Game]) -> None:
    assert {game.headers["Result"] for game in games} == {"1-0", "0-1", "1/2-1/2"}


@pytest.mark.parametrize("number", MATES)
def test_a_known_game_ends_in_its_known_mate(games: list[Game], number: str) -> None:
    board = games[int(number) - 1].end().board()
    assert board.board_fen() == MATES[number]
    assert board.is_checkmate()


def test_the_result_is_that_of_the_final_position(games: list[Game]) -> None:
    for game in games:
        outcome = game.end().board().outcome()
        assert outcome is None or outcome.result() == game.headers["Result"]


def test_draws_are_by_stalemate_repetition_fifty_moves_and_agreement(games: list[Game]) -> None:
    ends = [game.end().board() for game in games if game.headers["Result"] == "1/2-1/2"]
    assert [board.is_stalemate() for board in ends].count(True) == 1
    assert [board.is_repetition(3) for board in ends].count(True) == 1
    assert [board.is_fifty_moves() for board in ends].count(True) == 1
    assert len(ends) == 4


@pytest.mark.parametrize("colour", chess.COLORS)
@pytest.mark.parametrize("castling", ["O-O", "O-O-O"])
def test_both_colours_castle_on_both_sides(sans: list[list[str]], colour: chess.Color, castling: str) -> None:
    assert castling in {san.rstrip("+#") for san in written_by(sans, colour)}


def test_pawns_take_en_passant_for_both_colours(games: list[Game]) -> None:
    nodes = [node for game in games for node in game.mainline()]
    assert {node.turn() for node in nodes if node.parent.board().is_en_passant(node.move)} == set(chess.COLORS)


@pytest.mark.parametrize("piece", "QRBN")
def test_pawns_promote_to_each_piece(sans: list[list[str]], piece: str) -> None:
    assert any(re.search(f"={piece}", san) for game in sans for san in game)


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(r"[QRBN][a-h]x?[a-h][1-8][+#]?", id="file"),
        pytest.param(r"[QRBN][1-8]x?[a-h][1-8][+#]?", id="rank"),
        pytest.param(r"[QRBN][a-h][1-8]x?[a-h][1-8][+#]?", id="both"),
        pytest.param(r"[QRBN][a-h]x[a-h][1-8][+#]?", id="file and capture"),
        pytest.param(r"[a-h]x[a-h][1-8]=[QRBN][+#]?", id="promotion and capture"),
        pytest.param(r".*=[QRBN]\+", id="promotion and check"),
        pytest.param(r".*=[QRBN]#", id="promotion and mate"),
        pytest.param(r"O-O(-O)?\+", id="castling and check"),
        pytest.param(r"[KQRBN]?[^=]*\+", id="check"),
        pytest.param(r"[KQRBN]?[^=]*#", id="mate"),
    ],
)
def test_every_way_to_spell_a_move_occurs(sans: list[list[str]], spelling: str) -> None:
    assert any(re.fullmatch(spelling, san) for game in sans for san in game)


def test_one_game_is_shorter_than_ten_plies_and_one_longer_than_two_hundred(sans: list[list[str]]) -> None:
    plies = sorted(map(len, sans))
    assert plies[0] < 10
    assert plies[-1] > 200
