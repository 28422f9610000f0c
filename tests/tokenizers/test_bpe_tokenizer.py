"""The bpe scheme: trained alike every time, and giving every game back as it was."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from corpora import random_game
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.trainers import BpeTrainer

from rukh_loaders.errors import (
    BpeSettingsError,
    BpeTrainingError,
    SpecialTokenError,
    UnknownIdError,
    UnknownResultError,
    VocabularyFileError,
)
from rukh_loaders.tokenizers import SPECIALS
from rukh_loaders.tokenizers.bpe import (
    bpe_text,
    bpe_vocabulary,
    decode,
    encode,
    load_bpe,
    longest_tokens,
    save_bpe,
    split_moves,
    train_bpe,
)

RANDOM_GAMES = [random_game(seed, max_plies=60)["uci"] for seed in range(100)]


@pytest.fixture(scope="module")
def tokenizer():
    return train_bpe(RANDOM_GAMES, vocab_size=400)


@pytest.fixture(scope="module")
def real_tokenizer(real_games):
    return train_bpe(game["uci"] for game in real_games)


def trained_with(games, specials=SPECIALS, vocab_size=400, **settings):
    """A tokenizer trained by the library itself, on the settings of the page."""
    tokenizer = Tokenizer(BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    texts = [game.replace(" ", "") for game in games]
    trainer = BpeTrainer(vocab_size=vocab_size, special_tokens=list(specials), show_progress=False, **settings)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def test_the_settings_are_exactly_those_of_the_page(tokenizer):
    described = json.loads(tokenizer.to_str())
    model = described.pop("model")
    added = described.pop("added_tokens")
    assert described == {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
    }
    assert len(model.pop("vocab")) == 400
    assert len(model.pop("merges")) == 400 - 8 - 19
    assert model == {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
    }
    assert [(token["id"], token["content"], token["special"]) for token in added] == [
        (i, special, True) for i, special in enumerate(SPECIALS)
    ]


def test_training_is_what_the_library_makes_of_the_settings_of_the_page(real_games, real_tokenizer):
    theirs = trained_with((game["uci"] for game in real_games), vocab_size=4096)
    assert real_tokenizer.to_str() == theirs.to_str()
    assert real_tokenizer.get_vocab_size() == 4096


def test_two_trainings_give_the_same_bytes(tokenizer):
    assert train_bpe(iter(RANDOM_GAMES), vocab_size=400).to_str() == tokenizer.to_str()


def test_training_in_other_processes_with_any_number_of_threads_gives_the_same_bytes(tmp_path, tokenizer):
    (tmp_path / "games.json").write_text(json.dumps(RANDOM_GAMES))
    script = """
import json, sys
from rukh_loaders.tokenizers.bpe import train_bpe
games = json.load(open(sys.argv[1]))
sys.stdout.write(train_bpe(games, vocab_size=400).to_str())
"""
    for threads in ("false", "true"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "games.json")],
            capture_output=True,
            text=True,
            env=os.environ | {"TOKENIZERS_PARALLELISM": threads, "PYTHONHASHSEED": "7"},
        )
        assert done.stdout == tokenizer.to_str()
        assert done.stderr == ""


def test_training_is_quiet_unless_asked(capfd):
    train_bpe(RANDOM_GAMES[:5], vocab_size=40)
    assert capfd.readouterr() == ("", "")


def test_only_the_first_games_are_read(tokenizer):
    def endless():
        yield from RANDOM_GAMES
        raise AssertionError("read too far")

    assert train_bpe(endless(), vocab_size=400, max_games=100).to_str() == tokenizer.to_str()


def test_every_character_of_a_move_is_in_a_vocabulary_trained_on_one_game():
    small = train_bpe(["e2e4"], vocab_size=4096)
    ids = encode(small, "h7h8q h7h8r h7h8b h7h8n a1b2 c3d4 e5f6 g7h8", "1-0")
    assert 4 not in ids
    assert decode(small, ids) == "h7h8qh7h8rh7h8bh7h8na1b2c3d4e5f6g7h8"


def test_training_on_nothing_or_into_too_few_entries_is_refused():
    for nothing in ([], [""], ["  "]):
        with pytest.raises(BpeTrainingError, match="no game with moves to train on"):
            train_bpe(nothing)
    with pytest.raises(BpeTrainingError, match="vocab_size is 26, allowed: at least 27"):
        train_bpe(RANDOM_GAMES, vocab_size=26)
    assert train_bpe(RANDOM_GAMES, vocab_size=27).get_vocab_size() == 27


def test_an_error_while_games_are_read_reaches_the_caller():
    def games():
        yield "e2e4"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        train_bpe(games(), vocab_size=40)


def test_the_text_of_a_game_is_its_moves_without_blanks():
    assert bpe_text("e2e4 e7e5  g1f3\n") == "e2e4e7e5g1f3"
    assert bpe_text("") == ""


def test_a_special_token_among_the_moves_is_refused_not_encoded(tokenizer):
    with pytest.raises(SpecialTokenError, match="the moves hold the special token '<eos>' at 4"):
        encode(tokenizer, "e2e4 <eos>", "1-0")


def test_the_vocabulary_is_in_id_order_with_merges_and_the_hash_of_the_file(tokenizer, tmp_path):
    save_bpe(tokenizer, tmp_path / "bpe.json")
    data = (tmp_path / "bpe.json").read_bytes()
    assert data == tokenizer.to_str().encode()
    vocabulary = bpe_vocabulary(tokenizer)
    assert vocabulary.scheme == "bpe"
    assert vocabulary.vocab_size == 400
    assert vocabulary.vocab_hash == hashlib.sha256(data).hexdigest()
    assert vocabulary.tokens[:8] == SPECIALS
    assert "".join(vocabulary.tokens[8:27]) == "12345678abcdefghnqr"
    assert [left + right for left, right in vocabulary.merges] == list(vocabulary.tokens[27:])


def test_a_loaded_tokenizer_is_the_saved_one(tokenizer, tmp_path):
    save_bpe(tokenizer, tmp_path / "bpe.json")
    loaded = load_bpe(tmp_path / "bpe.json")
    assert loaded.to_str() == tokenizer.to_str()
    assert bpe_vocabulary(loaded) == bpe_vocabulary(tokenizer)


@pytest.mark.parametrize("data", [None, b"", b"{}", b"\xff", b'{"model": 1}'])
def test_what_is_no_tokenizer_file_is_named(tmp_path, data):
    path = tmp_path / "bpe.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(VocabularyFileError, match=r"bpe\.json: cannot be read as a bpe tokenizer"):
        load_bpe(path)


def test_specials_in_another_order_or_missing_are_refused_by_id():
    swapped = ("<bos>", "<pad>", *SPECIALS[2:])
    with pytest.raises(BpeSettingsError, match="id 0 is '<bos>', expected '<pad>'; id 1 is '<pad>', expected '<bos>'"):
        bpe_vocabulary(trained_with(RANDOM_GAMES[:5], specials=swapped))
    with pytest.raises(BpeSettingsError, match="id 7 is '1', expected '<1/2>'"):
        bpe_vocabulary(trained_with(RANDOM_GAMES[:5], specials=SPECIALS[:-1]))


def test_special_tokens_beside_the_eight_are_refused():
    tokenizer = train_bpe(RANDOM_GAMES[:5], vocab_size=40)
    tokenizer.add_special_tokens([AddedToken("<end>", special=True)])
    with pytest.raises(BpeSettingsError, match="'<end>' is a special token, expected those of uci alone"):
        bpe_vocabulary(tokenizer)


def test_a_token_that_was_added_without_training_is_refused_though_it_is_not_special():
    tokenizer = train_bpe(RANDOM_GAMES[:5], vocab_size=40)
    tokenizer.add_tokens(["e2e4"])
    with pytest.raises(BpeSettingsError, match="'e2e4' is an added token, expected those of uci alone"):
        bpe_vocabulary(tokenizer)


def test_specials_that_the_library_does_not_know_as_special_are_refused():
    vocab = {token: i for i, token in enumerate([*SPECIALS, "a", "1"])}
    tokenizer = Tokenizer(BPE(vocab=vocab, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    with pytest.raises(BpeSettingsError, match="'<pad>' is not marked as a special token"):
        bpe_vocabulary(tokenizer)


def test_ids_that_leave_a_gap_are_refused():
    tokenizer = Tokenizer(BPE(vocab={"a": 0, "b": 2}, merges=[]))
    with pytest.raises(BpeSettingsError, match="has id 2 where 1 is expected"):
        bpe_vocabulary(tokenizer)


def set_normalizer(tokenizer):
    tokenizer.normalizer = normalizers.Lowercase()


def set_decoder(tokenizer):
    tokenizer.decoder = decoders.BPEDecoder()


def set_pre_tokenizer(tokenizer):
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()


def set_truncation(tokenizer):
    tokenizer.enable_truncation(100)


def set_padding(tokenizer):
    tokenizer.enable_padding()


def set_unk(tokenizer):
    tokenizer.model.unk_token = "<pad>"


def set_dropout(tokenizer):
    tokenizer.model.dropout = 0.5


def set_prefix(tokenizer):
    tokenizer.model.continuing_subword_prefix = "##"


def set_suffix(tokenizer):
    tokenizer.model.end_of_word_suffix = "</w>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_normalizer, "normalizer is {'type': 'Lowercase'}, expected None"),
        (set_decoder, "decoder is"),
        (set_pre_tokenizer, "pre_tokenizer is 'ByteLevel', expected 'WhitespaceSplit'"),
        (set_truncation, "truncation is"),
        (set_padding, "padding is"),
        (set_unk, "unk_token is '<pad>', expected '<unk>'"),
        (set_dropout, "dropout is 0.5, expected None"),
        (set_prefix, "continuing_subword_prefix is '##', expected None"),
        (set_suffix, "end_of_word_suffix is '</w>', expected None"),
    ],
)
def test_any_other_setting_is_refused_by_its_name_and_both_values(change, message):
    tokenizer = train_bpe(RANDOM_GAMES[:5], vocab_size=40)
    change(tokenizer)
    with pytest.raises(BpeSettingsError, match=message):
        bpe_vocabulary(tokenizer)


def test_another_kind_of_model_is_refused():
    tokenizer = Tokenizer(WordLevel({token: i for i, token in enumerate(SPECIALS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    with pytest.raises(BpeSettingsError, match="model is 'WordLevel', expected 'BPE'"):
        bpe_vocabulary(tokenizer)


def test_a_game_is_framed_by_bos_result_and_eos(tokenizer):
    ids = encode(tokenizer, RANDOM_GAMES[0], "1/2-1/2")
    assert (ids[0], ids[-2:]) == (1, [7, 2])
    assert encode(tokenizer, "", "0-1") == [1, 6, 2]
    with pytest.raises(UnknownResultError, match="unknown result"):
        encode(tokenizer, "e2e4", "*")


def test_frame_and_padding_are_dropped_and_an_unknown_id_is_refused(tokenizer):
    ids = encode(tokenizer, "e2e4 e7e5", "1-0")
    assert decode(tokenizer, [*ids, 0, 0, 3, 4]) == "e2e4e7e5"
    for token_id in (-1, 400):
        with pytest.raises(UnknownIdError, match=f"unknown id {token_id} at position 0"):
            decode(tokenizer, [token_id])


def test_real_games_come_back_move_by_move(real_games, real_tokenizer):
    lengths = []
    for game in real_games:
        ids = encode(real_tokenizer, game["uci"], game["result"])
        assert 4 not in ids
        lengths.append(len(ids))
    for game in real_games[::10]:
        ids = encode(real_tokenizer, game["uci"], game["result"])
        assert split_moves(decode(real_tokenizer, ids)) == game["uci"].split(" ")
    assert sum(lengths) < sum(game["n_plies"] for game in real_games)


@given(seed=st.integers(0, 10**6))
def test_random_games_come_back_move_by_move(tokenizer, seed):
    game = random_game(seed, max_plies=60)
    ids = encode(tokenizer, game["uci"], game["result"])
    assert 4 not in ids
    assert split_moves(decode(tokenizer, ids)) == game["uci"].split(" ")


def test_the_longest_tokens_are_by_length_then_id_without_specials(tokenizer):
    longest = longest_tokens(tokenizer, 5)
    tokens = bpe_vocabulary(tokenizer).tokens
    assert len(longest) == 5
    assert [(-row["length"], row["id"]) for row in longest] == sorted((-row["length"], row["id"]) for row in longest)
    for row in longest:
        assert row == {
            "token": tokens[row["id"]],
            "id": row["id"],
            "length": len(row["token"]),
            "moves": len(row["token"]) // 4,
        }
    every = longest_tokens(tokenizer, 1_000)
    assert len(every) == 400 - 8
    assert not {row["token"] for row in every} & set(SPECIALS)
    assert len(longest_tokens(tokenizer)) == 10
