"""Ids and hashes that every reader of the packs relies on."""

import hashlib
import json

import pytest

from rukh_loaders.errors import UnknownIdError, UnknownResultError
from rukh_loaders.tokenizers import (
    BOS,
    EOS,
    MASK,
    PAD,
    RESULT_IDS,
    RESULT_TOKENS,
    SPECIALS,
    UNK,
    SanCharTokenizer,
    UciTokenizer,
    Vocabulary,
)
from rukh_loaders.tokenizers.vocabulary import result_id


def test_the_special_tokens_have_ids_0_to_7():
    assert SPECIALS == ("<pad>", "<bos>", "<eos>", "<mask>", "<unk>", "<1-0>", "<0-1>", "<1/2>")
    assert (PAD, BOS, EOS, MASK, UNK) == (0, 1, 2, 3, 4)
    assert RESULT_TOKENS == {"1-0": "<1-0>", "0-1": "<0-1>", "1/2-1/2": "<1/2>"}
    assert RESULT_IDS == {"1-0": 5, "0-1": 6, "1/2-1/2": 7}


@pytest.mark.parametrize("tokenizer", [UciTokenizer(), SanCharTokenizer()])
def test_pad_bos_and_eos_are_0_1_and_2_in_every_scheme(tokenizer):
    assert [tokenizer.ids[token] for token in ("<pad>", "<bos>", "<eos>")] == [0, 1, 2]


@pytest.mark.parametrize("result", ["*", "", "1/2", "1-0 ", None])
def test_a_result_that_is_none_is_refused(result):
    with pytest.raises(UnknownResultError, match=r"unknown result .*, allowed: 1-0, 0-1, 1/2-1/2"):
        result_id(result)


def test_the_fingerprint_is_over_tokens_and_ordered_merges():
    vocabulary = Vocabulary("bpe", ("a", "b", "ab"), "hash", (("a", "b"),))
    recipe = hashlib.sha256(b'[["a", "b", "ab"], [["a", "b"]]]').hexdigest()
    assert vocabulary.vocab_fingerprint == recipe
    assert Vocabulary("bpe", ("a", "b", "ab"), "written otherwise", (("a", "b"),)).vocab_fingerprint == recipe
    assert Vocabulary("bpe", ("b", "a", "ab"), "hash", (("a", "b"),)).vocab_fingerprint != recipe
    assert Vocabulary("bpe", ("a", "b", "ab"), "hash").vocab_fingerprint != recipe


def test_a_fixed_vocabulary_has_no_merges_in_its_fingerprint():
    tokens = UciTokenizer().vocab
    assert UciTokenizer().vocabulary.vocab_fingerprint == hashlib.sha256(json.dumps([tokens, []]).encode()).hexdigest()


@pytest.mark.parametrize("token_id", [-1, 3, 65_535])
def test_an_id_outside_is_named_with_its_position(token_id):
    vocabulary = Vocabulary("toy", ("a", "b", "c"), "hash")
    assert vocabulary.vocab_size == 3
    with pytest.raises(UnknownIdError, match=f"id {token_id} at position 1: the toy vocabulary has ids 0 to 2"):
        vocabulary.tokens_of([0, token_id])
