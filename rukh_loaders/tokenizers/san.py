"""The `san` scheme: one id a character of the numbered movetext and the result, 35 tokens, no ratings."""

from collections.abc import Iterable
from pathlib import Path

from rukh_loaders.errors import UnknownCharacterError
from rukh_loaders.formats.publish import publish_file
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, SPECIALS, Vocabulary, hash_tokens
from rukh_loaders.tokenizers.vocabulary_file import check_vocabulary_file, dump_vocabulary

FRAME = SPECIALS[:3]
ALPHABET = " #+-.0123456789=BKNOQRabcdefghx/"
"""ids 3 to 34, in this order."""


class SanCharTokenizer:
    """Texts such as `1.e4 e5 2.Nf3 Nc6 1-0` as `<bos> character ... <eos>`.

    `vocab` is the list of tokens in id order, `ids` maps a token to its id, `vocabulary` identifies them.
    """

    def __init__(self) -> None:
        self.vocab: list[str] = [*FRAME, *ALPHABET]
        self.ids: dict[str, int] = {token: i for i, token in enumerate(self.vocab)}
        self.vocabulary = Vocabulary("san", tuple(self.vocab), hash_tokens(self.vocab))

    def encode(self, text: str) -> list[int]:
        """The ids of the numbered movetext, a space and the result, frame included.

        A character outside the alphabet raises `UnknownCharacterError` with its position; whether the text is a game
        is not looked at.
        """
        try:
            return [BOS, *(self.ids[character] for character in text), EOS]
        except KeyError as error:
            character = error.args[0]
            raise UnknownCharacterError(
                f"character {character!r} at position {text.index(character)} is not in the san alphabet {ALPHABET!r}"
            ) from None

    def decode(self, ids: Iterable[int]) -> str:
        """The text, frame and padding left out; an id outside 0..34 raises `UnknownIdError`."""
        return "".join(token for token in self.vocabulary.tokens_of(ids) if token not in FRAME)

    def to_bytes(self) -> bytes:
        """The alphabet as JSON (docs/formats.md): always the same bytes."""
        return dump_vocabulary(
            {
                "version": 1,
                "scheme": "san",
                "size": len(self.vocab),
                "specials": list(FRAME),
                "tokens": self.vocab,
            }
        )

    def export(self, path: Path | str) -> None:
        """Write the alphabet as JSON, in one step."""
        publish_file(Path(path), self.to_bytes())

    @classmethod
    def from_file(cls, path: Path | str) -> "SanCharTokenizer":
        """The tokenizer, after `path` was found to hold this very alphabet; otherwise `VocabularyFileError`."""
        tokenizer = cls()
        check_vocabulary_file(Path(path), tokenizer.to_bytes())
        return tokenizer
