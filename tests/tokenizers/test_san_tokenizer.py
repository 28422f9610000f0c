"""The san scheme: one id a character of the numbered movetext and the result."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rukh_loaders.errors import UnknownCharacterError, UnknownIdError, VocabularyFileError
from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer
from rukh_loaders.tokenizers.san import ALPHABET

TOKENIZER = SanCharTokenizer()


def test_the_vocabulary_is_35_tokens_with_the_hash_of_their_list():
    assert len(TOKENIZER.vocab) == TOKENIZER.vocabulary.vocab_size == 35
    assert TOKENIZER.vocab[:3] == ["<pad>", "<bos>", "<eos>"]
    assert "".join(TOKENIZER.vocab[3:]) == " #+-.0123456789=BKNOQRabcdefghx/"
    expected = "071108b1002fa3d9f791b9e5fb8e8dec0d06c1ca1332addf6d83552cc45ce554"
    assert TOKENIZER.vocabulary.vocab_hash == expected
    assert hashlib.sha256(json.dumps(TOKENIZER.vocab).encode()).hexdigest() == expected


def test_a_text_is_framed_and_decodes_to_itself():
    ids = TOKENIZER.encode("1.e4 e5 2.Nf3 Nc6 1-0")
    assert ids[:6] == [1, 9, 7, 29, 12, 3]
    assert ids[-1] == 2
    assert len(ids) == 2 + len("1.e4 e5 2.Nf3 Nc6 1-0")
    assert TOKENIZER.decode(ids) == "1.e4 e5 2.Nf3 Nc6 1-0"
    assert TOKENIZER.decode([*ids, 0, 0]) == "1.e4 e5 2.Nf3 Nc6 1-0"


@given(st.text(ALPHABET))
def test_any_text_of_the_alphabet_decodes_to_itself(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@pytest.mark.parametrize(
    ("text", "character", "position"), [("1.e4 e5 *", "*", 8), ("1.P", "P", 2), ("e4\u00a0", "\\xa0", 2)]
)
def test_a_character_outside_the_alphabet_is_named_with_its_position(text, character, position):
    with pytest.raises(UnknownCharacterError) as raised:
        TOKENIZER.encode(text)
    assert f"character '{character}' at position {position} is not in the san alphabet" in str(raised.value)


def test_a_special_token_in_a_text_is_not_taken_for_one():
    with pytest.raises(UnknownCharacterError, match="character '<' at position 0"):
        TOKENIZER.encode("<eos>")


@pytest.mark.parametrize("token_id", [-1, 35])
def test_an_id_outside_is_refused(token_id):
    with pytest.raises(UnknownIdError, match="the san vocabulary has ids 0 to 34"):
        TOKENIZER.decode([token_id])


def test_a_written_alphabet_is_read_and_another_file_is_refused(tmp_path):
    path = tmp_path / "san.json"
    TOKENIZER.export(path)
    assert SanCharTokenizer.from_file(path).vocab == TOKENIZER.vocab
    assert list(json.loads(path.read_bytes())) == ["version", "scheme", "size", "specials", "tokens"]
    UciTokenizer().export(path)
    with pytest.raises(VocabularyFileError, match="its keys are"):
        SanCharTokenizer.from_file(path)
