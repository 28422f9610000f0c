"""Movetext to moves: what is skipped, what is a move, and what rejects the game."""

import io
import random
import re
import time
from contextlib import suppress

import chess
import chess.pgn
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_assets.errors import MovetextError, NotLegalError
from rukh_assets.ingest.movetext import check_uci, find_drop, moves_to_uci, parse_movetext

SCHOLAR = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"


def uci(text: str) -> str:
    return " ".join(moves_to_uci(parse_movetext(text).sans))


def not_legal(text: str) -> NotLegalError:
    with pytest.raises(NotLegalError) as error:
        uci(text)
    return error.value


@pytest.mark.parametrize("glyph", ["!", "?", "!!", "??", "!?", "?!", " ?!", " $6", "$6"])
def test_glyphs_never_reach_the_moves(glyph: str) -> None:  # row 4
    assert parse_movetext(f"1. e4{glyph} {{ [%clk 0:03:00] }} e5").sans == ["e4", "e5"]
    assert parse_movetext(f"Nf3+{glyph} O-O{glyph} e8=Q#{glyph}").sans == ["Nf3+", "O-O", "e8=Q#"]


@pytest.mark.parametrize(
    "spelling",
    [
        "1. e4 { [%clk 0:03:00] } e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#",
        "1. e4 { [%clk 0:03:00] } 1... e5 2. Qh5 2... Nc6 3. Bc4 3... Nf6 4. Qxf7#",
        "1.e4 e5 2.Qh5 Nc6 3.Bc4 Nf6 4.Qxf7# 1-0",
        "1.e4 1...e5 2.Qh5 2...Nc6 3.Bc4 3...Nf6 4.Qxf7",
        "1 . e4 1. ... e5 2 Qh5 Nc6\n3.\nBc4\tNf6 4. Qxf7+ 1-0\n",
        "e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#",
        "{one}e4{two}e5 ; three } { (\nQh5(2. Nf3 (2. f4)) Nc6 Bc4 $1 $20 Nf6 Qxf7#",
    ],
)
def test_numbers_comments_and_variations_do_not_change_the_moves(spelling: str) -> None:  # row 5
    assert uci(spelling) == SCHOLAR


def test_castling_after_the_king_has_moved_is_illegal_at_its_ply() -> None:  # row 6
    error = not_legal("1. e4 e5 2. Ke2 Nf6 3. Ke1 Nc6 4. Nf3 d6 5. Be2 Be7 6. O-O O-O 1-0")
    assert error.ply == 11
    assert str(error).startswith("illegal san: 'O-O' in ")


def test_a_move_after_mate_is_illegal_and_the_game_is_not_cut_at_the_mate() -> None:  # row 7
    assert not_legal("1. f3 e5 2. g4 Qh4# 3. a3").ply == 5


def test_a_king_that_walks_into_nothing_legal_rejects_the_whole_game() -> None:  # row 8
    assert not_legal("1. e4 e5 2. Ke3 d6 *").ply == 3


@pytest.mark.parametrize("null", ["--", "Z0", "0000", "@@@@"])
def test_null_moves_are_illegal(null: str) -> None:  # row 9
    error = not_legal(f"1. e4 {null} 2. d4")
    assert (error.ply, str(error).split(" in ")[0]) == (2, f"null move: {null!r}")


CASTLE_SHORT = "1. e4 e5 2. Nf3 Nf6 3. Be2 Be7 4. "
CASTLE_LONG = "1. d4 d5 2. Nc3 Nc6 3. Bf4 Bf5 4. Qd2 Qd7 5. "


@pytest.mark.parametrize("spelling", ["O-O", "0-0", "O-O+", "e1g1", "e1h1"])
def test_short_castling_is_the_kings_move_however_it_is_spelt(spelling: str) -> None:  # row 10
    assert uci(CASTLE_SHORT + spelling).split()[-1] == "e1g1"


@pytest.mark.parametrize("spelling", ["O-O-O", "0-0-0", "0-0-0#", "e1c1", "e1a1"])
def test_long_castling_is_the_kings_move_however_it_is_spelt(spelling: str) -> None:  # row 10
    assert uci(CASTLE_LONG + spelling).split()[-1] == "e1c1"


@pytest.mark.parametrize("spelling", ["Kg1", "Kxh1", "Kh1", "Ke1g1", "o-o", "O-O-O"])
def test_no_other_spelling_castles_short(spelling: str) -> None:  # row 10
    assert not_legal(CASTLE_SHORT + spelling).ply == 7


@pytest.mark.parametrize("drop", ["N@f3", "@e4", "P@e4", "N@f3+"])
def test_drops_are_found_before_any_replay(drop: str) -> None:  # row 11
    assert find_drop(parse_movetext(f"1. e4 e5 2. {drop}").sans) == 3


def test_an_ordinary_game_has_no_drop() -> None:  # row 11
    assert find_drop(["e4", "e5", "@@@@"]) is None


@pytest.mark.parametrize("word", ["exd5,Nf3", "e9", "e4e9", "Pe4", "zz", "12e4", "20000", "e2e4q", "Nf3=Q", "e1=Q"])
def test_words_that_are_no_legal_move_are_illegal(word: str) -> None:  # row 12
    assert not_legal(word).ply == 1


def test_an_ambiguous_move_is_illegal_and_the_full_square_is_accepted() -> None:  # row 12
    knights = "1. Nf3 d6 2. Nc3 d5 3. Nd4 a6 4. "
    assert str(not_legal(knights + "Nb5")).startswith("ambiguous san: 'Nb5'")
    assert uci(knights + "Nc3b5").split()[-1] == uci(knights + "Ncb5").split()[-1] == "c3b5"


def test_promotions_have_a_lower_case_letter_in_uci() -> None:
    assert uci("1. h4 g5 2. hxg5 h6 3. gxh6 Nf6 4. h7 Rg8 5. hxg8=N").split()[-1] == "h7g8n"
    assert uci("1. h4 g5 2. hxg5 h6 3. gxh6 Nf6 4. h7 Rg8 5. hxg8Q").split()[-1] == "h7g8q"


def test_a_variation_before_the_first_move_is_skipped() -> None:  # row 15
    movetext = parse_movetext("(1. d4 d5) 1. e4 e5 *")
    assert (movetext.sans, movetext.result) == (["e4", "e5"], "*")


def test_comments_and_variations_are_skipped_wherever_they_are() -> None:  # row 16
    movetext = parse_movetext("{a} 1. e4 {b ; c} (1. d4 {)} (1. c4) 1-0 2. x) e5 {d} {e (} ; f }\n{g} 1-0 {h}")
    assert (movetext.sans, movetext.result) == (["e4", "e5"], "1-0")
    assert movetext.comments == ["a", "b ; c", ")", "d", "e (", " f }", "g", "h"]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("1. e4 {a {b} c} e5", 14),  # braces do not nest: the second one is left over
        ("1. e4 } e5", 6),
        ("1. e4 ) e5", 6),
        ("1. e4 {never closed", 6),
        ("1. e4 (1. d4 (1. c4)", 6),
        ("1. e4 1-0 e5", 10),
        ("1. e4 1-0 0-1", 10),
        ("1-0 1-0", 4),
        ("1-0 (1. e4)", 4),
        ("1. e4 $ e5", 6),
        ("1. e4 1/..... e5", 7),
        ("1. e4 e5 1/2", 10),
        ("1. e4 ... e5", 6),
        ("[Event", 0),
        ("1. e4 e.p.", 7),
        ("1. e4 caf\u00e9", 9),
        ("1.\u00a0e4", 2),
        ("1. e4\x1ce5", 5),
        ("1. e4 \u00bd-\u00bd", 6),
        ("1. \u0661. e4", 3),
    ],
)
def test_what_is_left_over_rejects_the_game_and_is_named_by_its_position(text: str, position: int) -> None:  # row 16
    with pytest.raises(MovetextError) as error:
        parse_movetext(text)
    assert error.value.position == position
    assert str(position) in str(error.value)


@pytest.mark.parametrize("result", ["1-0", "0-1", "1/2-1/2", "*"])
def test_movetext_of_a_result_only_has_no_moves(result: str) -> None:  # row 14
    movetext = parse_movetext(f" {result}")
    assert (movetext.sans, movetext.result) == ([], result)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 2**20,
        "{ " + "\\" * 2**20,
        "(" * 2**20,
        "(" * 2**19 + ")" * 2**19,
        "1" * 2**20,
        "1" + " " * 2**20 + ";",
        "1 " * 2**19,
        "$" * 2**20,
        "!" * 2**20 + "{",
        "e4 " * 2**18,
        "{}" * 2**19 + "(",
        ";" * 2**20,
        "0-" * 2**19,
        "1." * 2**19 + "{",
    ],
)
def test_a_megabyte_of_anything_takes_linear_time(text: str) -> None:  # row 19
    begin = time.process_time()
    with suppress(MovetextError):
        parse_movetext(text)
    assert time.process_time() - begin < 5  # a quadratic path would take hours


def test_uci_moves_are_checked_as_they_are_spelt() -> None:
    check_uci(SCHOLAR.split())
    for moves, ply in [
        ("e2e4 e7e5 e1e3", 3),
        ("e2e4 0000", 2),
        ("e2e4 E7E5", 2),
        ("e2e4 e7e5 g1f3 g8f6 f1e2 f8e7 e1h1", 7),
        ("e2e4 ", 2),
    ]:
        with pytest.raises(NotLegalError) as error:
            check_uci(moves.split(" "))
        assert error.value.ply == ply


def random_game(rng: random.Random, n_plies: int) -> str:
    """Without variations: python-chess plays those too, and after an illegal move in one it leaves the main line."""
    board = chess.Board()
    words = []
    for ply in range(n_plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        words.append(f"{ply // 2 + 1}." + ("" if ply % 2 == 0 else ".."))
        words.append(board.san_and_push(rng.choice(moves)))
        words.append(rng.choice(["", "{ [%clk 0:01:00] }", "!?", "$1", "; x\n"]))
    return " ".join(words)


FRAGMENTS = ["{", "}", ";", "\n", "$", "?", "1.", "...", "0-0", "O-O", "--", "0000", "@@@@", "N@f3", " 1-0"]
FRAGMENTS += [" ", "e4", "Kg1", "e1h1", "1/", "\t", "\x1c", "\u00e9", "=Q", "+", ",", "-", "2", "\\", "*", "."]


@given(st.integers(0, 2**32), st.integers(0, 40), st.integers(0, 4))
def test_what_is_accepted_after_random_edits_is_what_python_chess_reads(seed: int, n_plies: int, edits: int) -> None:
    rng = random.Random(seed)
    text = random_game(rng, n_plies)
    for _ in range(edits):
        begin = rng.randrange(len(text) + 1)
        text = text[:begin] + rng.choice([rng.choice(FRAGMENTS), ""]) + text[begin + rng.randrange(3) :]
    text = re.sub(r"\n\s+", "\n", text)  # a blank line ends a game for python-chess; here the next tags do
    try:
        moves = moves_to_uci(parse_movetext(text).sans)
    except (MovetextError, NotLegalError):
        return
    game = chess.pgn.read_game(io.StringIO(text))
    assert moves == ([move.uci() for move in game.mainline_moves()] if game else [])
