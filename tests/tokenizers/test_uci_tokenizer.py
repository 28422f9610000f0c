"""The uci scheme: a fixed enumeration, and games as one id a move."""

import hashlib
import json

import chess
import numpy as np
import pytest
from corpora import random_game
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.errors import RatingError, UnknownIdError, UnknownResultError, VocabularyFileError
from rukh_loaders.tokenizers import UciTokenizer, elo_bin

TOKENIZER = UciTokenizer()


def test_the_vocabulary_file_has_the_hash_of_the_page(tmp_path):
    TOKENIZER.export(tmp_path / "vocab.json")
    data = (tmp_path / "vocab.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "f6aa692bbd581c124dda4db0a088111580df4d311974bb5d4ec29b4d761142f1"
    assert TOKENIZER.to_bytes() == data
    assert list(json.loads(data)) == ["version", "size", "specials", "elo_bins", "tokens"]


def test_the_tracked_vocabulary_is_what_the_tokenizer_writes(project):
    tracked = project / "artifacts" / "tokenizer" / "vocab.json"
    assert tracked.read_bytes() == TOKENIZER.to_bytes()
    assert UciTokenizer.from_file(tracked).vocab == TOKENIZER.vocab


def test_the_vocabulary_hash_is_that_of_the_page():
    expected = "527c5dda224cab570cb84da8f7dcda0f43fe53edaf86822f899568f5dd824b46"
    assert TOKENIZER.vocabulary.vocab_hash == expected
    assert hashlib.sha256(json.dumps(TOKENIZER.vocab).encode()).hexdigest() == expected


def test_there_are_2030_tokens_in_four_sections():
    assert len(TOKENIZER.vocab) == len(set(TOKENIZER.vocab)) == TOKENIZER.vocabulary.vocab_size == 2030
    assert len(TOKENIZER.vocab[62:1854]) == 1792
    assert len(TOKENIZER.vocab[1854:]) == 176
    boundaries = {
        0: "<pad>",
        7: "<1/2>",
        8: "<w0600>",
        34: "<w3200>",
        35: "<b0600>",
        61: "<b3200>",
        62: "a1a2",
        1853: "h8h7",
        1854: "a7a8q",
        2029: "h2h1n",
    }
    assert {token_id: TOKENIZER.vocab[token_id] for token_id in boundaries} == boundaries
    assert {token: TOKENIZER.ids[token] for token in boundaries.values()} == {t: i for i, t in boundaries.items()}
    assert TOKENIZER.vocab[1854:1862] == ["a7a8q", "a7a8r", "a7a8b", "a7a8n", "a7b8q", "a7b8r", "a7b8b", "a7b8n"]
    assert TOKENIZER.vocab[1854 + 88] == "a2a1q"


def test_the_moves_are_those_a_queen_or_a_knight_has_on_an_empty_board():
    squares = [chess.square(file, rank) for file in range(8) for rank in range(8)]
    expected = []
    for square in squares:
        board = chess.Board(None)
        board.set_piece_at(square, chess.Piece.from_symbol("Q"))
        reached = set(board.attacks(square))
        board.set_piece_at(square, chess.Piece.from_symbol("N"))
        reached |= set(board.attacks(square))
        expected += [chess.square_name(square) + chess.square_name(to) for to in squares if to in reached]
    assert TOKENIZER.vocab[62:1854] == expected


EDGES = {-5: 600, 0: 600, 599: 600, 600: 600, 699: 600, 700: 700, 1873: 1800}
EDGES |= {3199: 3100, 3200: 3200, 3299: 3200, 3300: 3200, 9999: 3200, np.int16(1500): 1500}


@pytest.mark.parametrize(("elo", "lower"), EDGES.items())
def test_a_rating_falls_into_a_bin_of_100_and_the_outermost_take_the_rest(elo, lower):
    assert elo_bin(elo) == lower
    ids = TOKENIZER.encode_game("", elo, elo, "1-0")
    assert TOKENIZER.decode(ids) == ["<bos>", f"<w{lower:04d}>", f"<b{lower:04d}>", "<1-0>", "<eos>"]


@pytest.mark.parametrize("elo", [None, "1500", "?", 1500.0, float("nan")])
def test_a_rating_that_is_no_integer_is_refused_not_put_into_a_bin(elo):
    with pytest.raises(RatingError, match="is not an integer"):
        TOKENIZER.encode_game("e2e4", 1500, elo, "1-0")


def test_a_game_is_framed_and_may_be_text_or_a_list():
    expected = [1, 20, 61, TOKENIZER.ids["e2e4"], TOKENIZER.ids["e7e5"], 7, 2]
    assert TOKENIZER.encode_game("e2e4 e7e5", 1800, 3300, "1/2-1/2") == expected
    assert TOKENIZER.encode_game(["e2e4", "e7e5"], 1800, 3300, "1/2-1/2") == expected
    assert TOKENIZER.encode_game("  e2e4\te7e5\n", 1800, 3300, "1/2-1/2") == expected


@pytest.mark.parametrize("move", ["0000", "E2E4", "e7e8Q", "e2e2", "a1b4", "N@f3", "", "<eos>", "<w0600>", "<1-0>"])
def test_what_is_no_move_of_the_table_is_unk_special_tokens_too(move):
    assert TOKENIZER.encode_game([move], 1500, 1500, "1-0")[3:-2] == [4]


def test_an_unfinished_game_is_refused():
    with pytest.raises(UnknownResultError, match=r"unknown result '\*'"):
        TOKENIZER.encode_game("e2e4", 1500, 1500, "*")


@pytest.mark.parametrize("token_id", [-1, 2030])
def test_an_id_outside_is_refused(token_id):
    with pytest.raises(UnknownIdError, match=f"unknown id {token_id} at position 0"):
        TOKENIZER.decode([token_id])


def test_every_move_of_real_games_has_an_id_and_decodes_to_itself(real_games):
    for game in real_games:
        ids = TOKENIZER.encode_game(game["uci"], game["white_elo"], game["black_elo"], game["result"])
        assert 4 not in ids
        assert TOKENIZER.decode(ids)[3:-2] == game["uci"].split(" ")


@given(seed=st.integers(0, 10**6))
def test_every_move_of_random_games_has_an_id_and_decodes_to_itself(seed):
    game = random_game(seed, max_plies=40)
    ids = TOKENIZER.encode_game(game["uci"], game["white_elo"], game["black_elo"], game["result"])
    assert TOKENIZER.decode(ids)[3:-2] == game["uci"].split(" ")


def test_a_file_with_other_line_ends_is_the_same_vocabulary(tmp_path):
    (tmp_path / "vocab.json").write_bytes(TOKENIZER.to_bytes().replace(b"\n", b"\r\n"))
    assert UciTokenizer.from_file(tmp_path / "vocab.json").vocab == TOKENIZER.vocab


def swapped(document):
    tokens = document["tokens"]
    tokens[62], tokens[63] = tokens[63], tokens[62]
    return document


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (swapped, r"tokens\[62\] is 'a1a3', expected 'a1a2'"),
        (lambda d: d | {"tokens": d["tokens"][:-1]}, "tokens has 2029 entries, expected 2030"),
        (lambda d: d | {"version": 2}, "version is 2, expected 1"),
        (lambda d: d | {"version": True}, "version is True, expected 1"),
        (lambda d: d | {"elo_bins": {"min": 600, "max": 3200, "step": 50}}, "elo_bins is"),
        (lambda d: d | {"extra": 1}, "its keys are"),
        (lambda d: dict(reversed(d.items())), "its keys are"),
        (lambda d: list(d), "its keys are list"),
        (lambda d: d | {"tokens": None}, "tokens is None"),
    ],
)
def test_a_file_of_another_vocabulary_is_refused_with_the_first_difference(tmp_path, change, message):
    path = tmp_path / "vocab.json"
    path.write_text(json.dumps(change(json.loads(TOKENIZER.to_bytes()))))
    with pytest.raises(VocabularyFileError, match=rf"vocab\.json: not this vocabulary: {message}"):
        UciTokenizer.from_file(path)


def test_a_missing_file_or_one_that_is_no_json_is_named(tmp_path):
    with pytest.raises(VocabularyFileError, match=r"absent\.json: not a vocabulary file"):
        UciTokenizer.from_file(tmp_path / "absent.json")
    (tmp_path / "vocab.json").write_bytes(b"{")
    with pytest.raises(VocabularyFileError, match=r"vocab\.json: not a vocabulary file"):
        UciTokenizer.from_file(tmp_path / "vocab.json")
