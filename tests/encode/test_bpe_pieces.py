"""The bpe kernel looks pieces up; the library merges. Both give the same ids, whatever text and whatever tokenizer."""

import random
import secrets

import numpy as np
import pyarrow as pa
import pytest
from corpora import batch_of, game_of, pgn_games, random_games
from hypothesis import given, settings
from hypothesis import strategies as st
from readable_encoding import encoded_games, readable_ids
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from rukh_assets.board.batches import text_of
from rukh_assets.encode import make_encoder
from rukh_assets.encode.bpe_pieces import is_as_trained, make_tables
from rukh_assets.encode.bpe_writing import FRAME_IDS, write_games
from rukh_loaders.errors import VocabularyTooLargeError
from rukh_loaders.tokenizers.bpe import ALPHABET, bpe_vocabulary
from rukh_loaders.tokenizers.vocabulary import SPECIALS

TEXTS = st.one_of(
    st.text(ALPHABET, max_size=200),
    st.text("a1", max_size=80),
    st.builds(lambda text, times: text * times, st.text(ALPHABET, max_size=6), st.integers(1, 30)),
)


def trained(texts, vocab_size, alphabet=ALPHABET):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=list(SPECIALS), initial_alphabet=list(alphabet), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def made_by_hand(merges, alphabet):
    """A tokenizer with these merges, the first one of the lowest rank."""
    tokens = dict.fromkeys([*SPECIALS, *alphabet, *(left + right for left, right in merges)])
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIALS))
    return tokenizer


def kernel_ids(tables, texts):
    """The ids of texts without their frames, None for one that the kernel leaves."""
    text, offsets, _ = text_of(pa.array(texts, pa.string()))
    ids = np.empty(text.size + FRAME_IDS * len(texts), np.uint16)
    lengths = np.empty(len(texts), np.int64)
    characters, is_open = np.empty((2, max(map(len, texts)) + 1), np.uint8)
    readable, result_ids = np.ones(len(texts), np.bool_), np.full(len(texts), 5)
    assert write_games(text, offsets, readable, result_ids, tables, ids, lengths, characters, is_open) >= 0
    ends = np.cumsum(lengths)
    games = [ids[end - length : end].tolist() for end, length in zip(ends, lengths, strict=True)]
    return [game[1:-2] if game else None for game in games]


def library_ids(tokenizer, texts):
    return [encoding.ids or None for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def random_text(source, alphabet, longest):
    if source.random() < 0.5:
        return "".join(source.choices(alphabet, k=source.randint(1, longest)))
    unit = "".join(source.choices(alphabet, k=source.randint(1, 5)))
    return (unit * longest)[: source.randint(1, longest)]


def check_random_trainings(count):
    seed = secrets.randbits(64)
    print(f"seed {seed}")
    source = random.Random(seed)
    for _ in range(count):
        alphabet = source.sample(ALPHABET, source.choice((1, 2, 2, 3, 4, 8, 19)))
        texts = [random_text(source, alphabet, 60) for _ in range(source.randint(1, 200))]
        tokenizer = trained(texts, source.choice((len(SPECIALS) + len(alphabet) + 2, 40, 100, 400, 2000)), alphabet)
        vocabulary = bpe_vocabulary(tokenizer)
        assert is_as_trained(tokenizer, vocabulary)
        texts = [random_text(source, alphabet, source.choice((5, 20, 200))) for _ in range(100)]
        assert kernel_ids(make_tables(vocabulary), texts) == library_ids(tokenizer, texts)


def check_random_merges(count):
    seed = secrets.randbits(64)
    print(f"seed {seed}")
    source = random.Random(seed)
    accepted = 0
    for _ in range(count):
        alphabet = source.sample(ALPHABET, source.choice((1, 2, 2, 3)))
        pieces, merges = list(alphabet), {}
        for _ in range(source.randint(1, 12)):
            pair = source.choice(pieces), source.choice(pieces)
            if len("".join(pair)) <= 12:
                merges[pair] = None
                pieces.append("".join(pair))
        tokenizer = made_by_hand(list(merges), alphabet)
        vocabulary = bpe_vocabulary(tokenizer)
        if is_as_trained(tokenizer, vocabulary):
            accepted += 1
            texts = [random_text(source, alphabet, 30) for _ in range(50)]
            assert kernel_ids(make_tables(vocabulary), texts) == library_ids(tokenizer, texts)
    assert 0 < accepted < count


def test_any_training_makes_a_tokenizer_whose_texts_the_kernel_encodes_as_the_library_does():
    check_random_trainings(40)


def test_merges_made_by_hand_are_encoded_as_the_library_does_or_left_to_it():
    check_random_merges(200)


@pytest.mark.long
def test_many_trainings_and_merges_made_by_hand_are_encoded_as_the_library_does():
    check_random_trainings(2000)
    check_random_merges(20_000)


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_any_text_of_the_characters_of_moves_has_the_ids_of_the_library(bpe, texts):
    assert kernel_ids(make_tables(bpe_vocabulary(bpe)), texts) == library_ids(bpe, texts)


def test_at_equal_ranks_the_leftmost_pair_is_merged_first():
    tokenizer = made_by_hand([("a", "a"), ("aa", "a"), ("aa", "aa")], "a")
    texts = ["a" * length for length in range(1, 40)]
    assert kernel_ids(make_tables(bpe_vocabulary(tokenizer)), texts) == library_ids(tokenizer, texts)


def test_the_longest_piece_gives_way_where_a_pair_of_lower_rank_lies_across_its_end():
    tokenizer = made_by_hand([("b", "c"), ("a", "b"), ("bc", "d")], "abcd")
    texts = ["ab", "abc", "abcd", "aabcdab", "ababcd"]
    tables = make_tables(bpe_vocabulary(tokenizer))
    assert kernel_ids(tables, texts) == library_ids(tokenizer, texts)
    assert [[tokenizer.id_to_token(id_) for id_ in game] for game in kernel_ids(tables, ["abcd"])] == [["a", "bcd"]]


@pytest.mark.parametrize(
    "merges",
    [
        [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")],  # two merges make abc
        [("ab", "c"), ("a", "b")],  # abc has a lower rank than its half ab
        [("a", "b"), ("b", "c"), ("a", "bc")],  # abc is ab and c, never itself
    ],
)
def test_a_tokenizer_that_no_training_makes_is_left_to_the_library(merges):
    tokenizer = made_by_hand(merges, ALPHABET)
    assert not is_as_trained(tokenizer, bpe_vocabulary(tokenizer))
    encoder = make_encoder("bpe", tokenizer)
    batch = batch_of(random_games(10))
    assert encoded_games(encoder, batch) == readable_ids(encoder, batch)


def test_a_game_with_a_character_that_is_no_piece_is_left_and_others_are_not():
    tables = make_tables(bpe_vocabulary(made_by_hand([("a", "1")], "ab12")))
    left, taken = kernel_ids(tables, ["a1h1b2", "a1b2 a1"])
    assert left is None
    assert len(taken) == 4


def test_a_text_may_be_longer_than_any_game_at_the_price_of_its_length(bpe):
    texts = [random_text(random.Random(7), ALPHABET, 300_000) + "e2e4" * 20_000]
    assert kernel_ids(make_tables(bpe_vocabulary(bpe)), texts) == library_ids(bpe, texts)


PAIRS = [(left, right) for left in ALPHABET for right in ALPHABET]
WORDS = [left + right for left in map("".join, PAIRS) for right in map("".join, PAIRS)]


def test_a_vocabulary_beyond_uint16_is_refused_when_the_encoder_is_built():
    tokenizer = made_by_hand(PAIRS + [(word[:2], word[2:]) for word in WORDS], ALPHABET)
    with pytest.raises(VocabularyTooLargeError, match="does not fit uint16, allowed: at most 65536"):
        make_encoder("bpe", tokenizer)


def test_a_vocabulary_of_tens_of_thousands_of_pieces_is_encoded_as_the_library_does():
    halved = [word[:2] + " " + word[2:] for word in WORDS]
    encodings = made_by_hand(PAIRS, ALPHABET).encode_batch(WORDS, add_special_tokens=False)
    merges = [word for word, encoding in zip(halved, encodings, strict=True) if " ".join(encoding.tokens) == word]
    tokenizer = made_by_hand(PAIRS + [tuple(merge.split(" ")) for merge in merges], ALPHABET)
    vocabulary = bpe_vocabulary(tokenizer)
    assert vocabulary.vocab_size > 2**15
    assert is_as_trained(tokenizer, vocabulary)
    texts = [game["uci"].replace(" ", "") for game in random_games(100)]
    assert kernel_ids(make_tables(vocabulary), texts) == library_ids(tokenizer, texts)


def test_the_real_games_are_encoded_as_the_library_does_with_a_tokenizer_trained_on_them(shared_data):
    games = list(pgn_games(shared_data / "lichess-2021-10-head.pgn"))
    encoder = make_encoder("bpe", trained([game["uci"].replace(" ", "") for game in games], 4096))
    batch = batch_of([*games, game_of("e2e4")])
    assert encoded_games(encoder, batch) == readable_ids(encoder, batch)
