"""Whole batches of games to ids, in all three schemes."""

import doctest
import io

import chess.pgn
import numpy as np
import pyarrow as pa
import pytest
from corpora import batch_of, game_of, pgn_games, random_game, random_games
from hypothesis import given, settings
from hypothesis import strategies as st

import rukh_assets.encode
from rukh_assets.encode import SCHEMES, make_encoder
from rukh_assets.encode.san_text import uci_to_san
from rukh_assets.errors import (
    GameColumnsError,
    IllegalMoveError,
    MalformedUciError,
    NullValueError,
    RukhAssetsError,
    UnknownMoveError,
    UnknownResultError,
    UnknownTokenError,
)
from rukh_assets.reports.fixture import FIXTURE_PGN
from rukh_loaders.errors import RukhLoadersError
from rukh_loaders.tokenizers.bpe import decode, encode, save_bpe
from rukh_loaders.tokenizers.replay import split_moves
from rukh_loaders.tokenizers.san import SanCharTokenizer
from rukh_loaders.tokenizers.uci import UciTokenizer

GAME_ID = game_of("e2e4")["game_id"]
SCHOLARS_MATE = "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7"
CASTLING = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 {} g8f6"
UCI, SAN = UciTokenizer(), SanCharTokenizer()


@pytest.fixture(scope="module", params=["real", "random", "fixture"])
def games(request):
    if request.param == "real":
        return list(pgn_games(request.getfixturevalue("shared_data") / "lichess-2021-10-head.pgn"))
    return random_games(100) if request.param == "random" else list(pgn_games(FIXTURE_PGN))


def single_game_ids(scheme, game, bpe):
    uci, result = game["uci"], game["result"]
    if scheme == "uci":
        return UCI.encode_game(uci, game["white_elo"], game["black_elo"], result)
    if scheme == "san":
        return SAN.encode(f"{uci_to_san(uci)} {result}")
    return encode(bpe, uci, result)


def test_the_example_in_the_package_docstring_runs():
    assert doctest.testmod(rukh_assets.encode) == (0, 5)


def test_a_batch_is_its_games_one_after_the_other_as_the_single_game_tokenizers_give_them(encoder, games, bpe):
    ids, lengths = encoder.encode_batch(batch_of(games))
    expected = [single_game_ids(encoder.vocabulary.scheme, game, bpe) for game in games]
    assert (ids.dtype, lengths.dtype) == (np.uint16, np.int64)
    assert lengths.tolist() == [len(game) for game in expected]
    assert ids.tolist() == [id_ for game in expected for id_ in game]


def test_every_game_is_framed_and_no_id_lies_outside_the_vocabulary(encoder, games):
    ids, lengths = encoder.encode_batch(batch_of(games))
    starts = np.cumsum(lengths) - lengths
    assert (ids[starts] == 1).all()
    assert (ids[starts + lengths - 1] == 2).all()
    assert np.count_nonzero(ids == 1) == np.count_nonzero(ids == 2) == len(games)
    assert ids.max() < encoder.vocabulary.vocab_size


def test_a_batch_without_games_gives_no_ids(encoder):
    ids, lengths = encoder.encode_batch(batch_of([]))
    assert (ids.size, lengths.size, ids.dtype, lengths.dtype) == (0, 0, np.uint16, np.int64)


def test_a_slice_gives_the_ids_of_its_own_rows(encoder):
    games = random_games(20)
    ids, lengths = encoder.encode_batch(batch_of(games).slice(7, 9))
    expected_ids, expected_lengths = encoder.encode_batch(batch_of(games[7:16]))
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_array_equal(lengths, expected_lengths)


def test_large_string_columns_give_the_same_ids(encoder):
    batch = batch_of(random_games(20))
    large = pa.RecordBatch.from_arrays(
        [column.cast(pa.large_string()) if column.type == pa.string() else column for column in batch.columns],
        names=batch.schema.names,
    )
    for got, expected in zip(encoder.encode_batch(large.slice(3)), encoder.encode_batch(batch.slice(3)), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"uci": None}, NullValueError, "uci is null"),
        ({"white_elo": None}, NullValueError, "white_elo is null"),
        ({"black_elo": None}, NullValueError, "black_elo is null"),
        ({"result": None}, NullValueError, "result is null"),
        ({"result": "*"}, UnknownResultError, "result '*'; allowed are 1-0, 0-1, 1/2-1/2"),
        ({"result": "1/2"}, UnknownResultError, "result '1/2'"),
        ({"result": ""}, UnknownResultError, "result ''"),
        ({"result": "1-0 "}, UnknownResultError, "result '1-0 '"),
        ({"uci": ""}, MalformedUciError, "uci is empty"),
        ({"uci": " e2e4"}, MalformedUciError, "ply 1: no move at character 0"),
        ({"uci": "e2e4 "}, MalformedUciError, "ply 2: no move at character 5"),
        ({"uci": "e2e4  e7e5"}, MalformedUciError, "ply 2: no move at character 5"),
        ({"uci": "e2e4\te7e5"}, MalformedUciError, r"ply 1: '\t' at character 4"),
        ({"uci": "e2e4 e7e5\n"}, MalformedUciError, r"ply 2: '\n' at character 9"),
        ({"uci": "e2e4\x1ce7e5"}, MalformedUciError, r"ply 1: '\x1c' at character 4"),
        ({"uci": "e2e4 \x1fe7e5"}, MalformedUciError, r"ply 2: '\x1f' at character 5"),
        ({"uci": " "}, MalformedUciError, "ply 1: no move at character 0"),
        ({"uci": "e2e4 е7e5"}, MalformedUciError, r"ply 2: '\u0435' at character 5"),  # noqa: RUF001
        ({"uci": "e2e4\xa0e7e5"}, MalformedUciError, r"ply 1: '\xa0' at character 4"),
        ({"uci": "e2e4 0000"}, UnknownMoveError, "ply 2: '0000' at character 5 is not in the uci table"),
        ({"uci": "E2E4"}, UnknownMoveError, "ply 1: 'E2E4' at character 0"),
        ({"uci": "e2e4 e7e8Q"}, UnknownMoveError, "ply 2: 'e7e8Q'"),
        ({"uci": "e2e4 e7e8k"}, UnknownMoveError, "ply 2: 'e7e8k'"),
        ({"uci": "e2e4,e7e5"}, UnknownMoveError, "ply 1: 'e2e4,e7e5'"),
        ({"uci": "e2e4 a1b4"}, UnknownMoveError, "ply 2: 'a1b4'"),
        ({"uci": "e2e4 <eos>"}, UnknownMoveError, "ply 2: '<eos>'"),
        ({"uci": "<w1500> e2e4"}, UnknownMoveError, "ply 1: '<w1500>'"),
        ({"uci": "e2e4 <unk>"}, UnknownMoveError, "ply 2: '<unk>'"),
    ],
)
def test_a_game_without_ids_is_refused_by_every_scheme_with_its_place(encoder, changes, error, message):
    games = [*random_games(5), game_of("e2e4") | changes, *random_games(3)]
    with pytest.raises(error) as refusal:
        encoder.encode_batch(batch_of(games).slice(2))
    text = str(refusal.value)
    assert text.startswith(f"row 3 (game_id {GAME_ID})")
    assert message in text
    assert text.isascii()
    with pytest.raises(error, match=r"row 1003 \(game_id"):
        encoder.encode_batch(batch_of(games).slice(2), 1000)


def test_a_null_game_id_is_refused(encoder):
    with pytest.raises(NullValueError, match=r"row 0 \(game_id null\): game_id is null"):
        encoder.encode_batch(batch_of([game_of("e2e4", game_id=None)]))


def test_a_missing_column_and_one_of_another_type_are_refused(encoder):
    batch = batch_of([game_of("e2e4")])
    with pytest.raises(GameColumnsError, match="column 'result' is missing; the batch has"):
        encoder.encode_batch(batch.drop_columns(["result"]))
    numbers = batch.set_column(batch.schema.get_field_index("uci"), "uci", pa.array([7]))
    with pytest.raises(GameColumnsError, match="column 'uci' is int64; allowed are string and large_string"):
        encoder.encode_batch(numbers)
    texts = batch.set_column(batch.schema.get_field_index("white_elo"), "white_elo", pa.array(["1500"]))
    with pytest.raises(GameColumnsError, match="column 'white_elo' is string; allowed are integers"):
        encoder.encode_batch(texts)


@pytest.mark.parametrize(
    ("uci", "ply"),
    [
        ("e2e4 e7e5 e4e5", 3),
        ("f2f3 e7e5 g2g4 d8h4 a2a3", 5),  # after mate
        ("e2e4 e7e5 e1e2 e8e7 e2e1 e7e8 g1f3 g8f6 f1c4 f8c5 e1g1", 11),  # castles after the king has moved
        ("e2e4 d7d5 f1b5 a7a6", 4),  # leaves the king in check
        (CASTLING.format("e1h1"), 7),
    ],
)
def test_the_san_scheme_refuses_an_illegal_move_with_its_ply_and_the_position(uci, ply):
    encoder = make_encoder("san")
    with pytest.raises(IllegalMoveError) as refusal:
        encoder.encode_batch(batch_of([game_of(SCHOLARS_MATE), game_of(uci)]))
    move = uci.split()[ply - 1]
    assert str(refusal.value).startswith(f"row 1 (game_id {GAME_ID}), ply {ply}: illegal uci: '{move}' in ")
    with pytest.raises(IllegalMoveError, match=f"ply {ply}: illegal uci: '{move}'"):
        uci_to_san(uci)


def test_the_uci_scheme_looks_at_tokens_so_a_king_that_takes_its_rook_passes_there_only():
    ids, _ = make_encoder("uci").encode_batch(batch_of([game_of(CASTLING.format("e1h1"))]))
    assert UCI.ids["e1h1"] in ids.tolist()


def test_a_rook_may_go_from_e1_to_h1_in_the_san_scheme():
    castled = CASTLING.format("e1g1") + " f1e1 e8g8 g1f1 d7d6 h2h3 a7a6 h3h4 a6a5 f1e2 b7b6 e1h1 b6b5 e2e1"
    assert "Rh1" in uci_to_san(castled)


def test_san_text_has_the_number_glued_to_whites_move_and_none_before_blacks():
    assert uci_to_san("e2e4 e7e5 g1f3") == "1.e4 e5 2.Nf3"
    assert uci_to_san(SCHOLARS_MATE) == "1.e4 e5 2.Bc4 Nc6 3.Qh5 Nf6 4.Qxf7#"
    assert uci_to_san("a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8n") == (
        "1.a4 b5 2.axb5 a6 3.bxa6 Bb7 4.axb7 Nc6 5.bxa8=N"
    )


@pytest.mark.parametrize("uci", ["", "e2e4 ", "e2e4 0000"])
def test_a_text_that_is_no_game_has_no_san(uci):
    with pytest.raises((MalformedUciError, UnknownMoveError)):
        uci_to_san(uci)


def test_a_game_that_the_bpe_tokenizer_can_only_write_with_unk_is_refused_with_its_ply():
    encoder = make_encoder("bpe", without_letter_h())
    with pytest.raises(UnknownTokenError) as refusal:
        encoder.encode_batch(batch_of([game_of("e2e4 e7e5"), game_of("e2e4 e7e5 e4e2 h7h5")]))
    assert str(refusal.value).startswith(f"row 1 (game_id {GAME_ID}), ply 4: 'h")


def test_a_bpe_tokenizer_is_taken_from_its_file(tmp_path, bpe):
    path = tmp_path / "bpe.json"
    save_bpe(bpe, path)
    batch = batch_of(random_games(10))
    for source in (path, str(path)):
        from_file = make_encoder("bpe", source)
        assert from_file.vocabulary == make_encoder("bpe", bpe).vocabulary
        np.testing.assert_array_equal(from_file.encode_batch(batch)[0], make_encoder("bpe", bpe).encode_batch(batch)[0])


def test_a_bpe_tokenizer_with_other_special_ids_is_refused_when_the_encoder_is_built():
    from tokenizers import Tokenizer, models

    other = Tokenizer(models.BPE(vocab={"<unk>": 0, "e": 1}, merges=[], unk_token="<unk>"))
    with pytest.raises(RukhLoadersError):
        make_encoder("bpe", other)


def test_an_unknown_scheme_and_bpe_without_a_tokenizer_are_value_errors():
    with pytest.raises(ValueError, match="scheme 'lan'; allowed are uci, san, bpe") as unknown:
        make_encoder("lan")
    with pytest.raises(ValueError, match="scheme 'bpe' without a tokenizer") as missing:
        make_encoder("bpe")
    assert isinstance(unknown.value, RukhAssetsError)
    assert isinstance(missing.value, RukhAssetsError)


def test_decoding_gives_every_game_of_a_batch_back(encoder, games, bpe):
    ids, lengths = encoder.encode_batch(batch_of(games))
    for game, encoded in zip(games, np.split(ids, np.cumsum(lengths)[:-1]), strict=True):
        assert_decodes_to(game, encoder.vocabulary.scheme, encoded.tolist(), bpe)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_decoding_gives_any_legal_game_back_in_every_scheme(bpe, seed):
    game = random_game(seed)
    for scheme in SCHEMES:
        ids, _ = make_encoder(scheme, bpe).encode_batch(batch_of([game]))
        assert_decodes_to(game, scheme, ids.tolist(), bpe)


def assert_decodes_to(game, scheme, ids, bpe):
    moves = game["uci"].split()
    if scheme == "uci":
        white, black = (min(max(game[f"{side}_elo"], 600), 3299) // 100 * 100 for side in ("white", "black"))
        result = {"1-0": "<1-0>", "0-1": "<0-1>", "1/2-1/2": "<1/2>"}[game["result"]]
        assert UCI.decode(ids) == ["<bos>", f"<w{white:04d}>", f"<b{black:04d}>", *moves, result, "<eos>"]
    elif scheme == "san":
        assert replay(SAN.decode(ids)) == (moves, game["result"])
    else:
        assert split_moves(decode(bpe, ids)) == moves
        assert ids[-2] == {"1-0": 5, "0-1": 6, "1/2-1/2": 7}[game["result"]]


def without_letter_h():
    """A tokenizer that another program trained, without the alphabet given beforehand."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    specials = ["<pad>", "<bos>", "<eos>", "<mask>", "<unk>", "<1-0>", "<0-1>", "<1/2>"]
    vocab = {token: id_ for id_, token in enumerate([*specials, *"abcdefg12345678"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(specials)
    return tokenizer


def replay(text):
    read = chess.pgn.read_game(io.StringIO(text))
    assert not read.errors
    return [move.uci() for move in read.mainline_moves()], read.headers["Result"]
