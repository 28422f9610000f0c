"""What the three schemes share: the special tokens, their ids, and what identifies a vocabulary."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rukh_loaders.errors import UnknownIdError, UnknownResultError

SPECIALS = ("<pad>", "<bos>", "<eos>", "<mask>", "<unk>", "<1-0>", "<0-1>", "<1/2>")
"""ids 0 to 7 of `uci` and `bpe`; `san` has the first three alone."""

PAD, BOS, EOS, MASK, UNK = range(5)

RESULT_TOKENS = {"1-0": "<1-0>", "0-1": "<0-1>", "1/2-1/2": "<1/2>"}
RESULT_IDS = {result: SPECIALS.index(token) for result, token in RESULT_TOKENS.items()}


def result_id(result: str) -> int:
    """The id of `<1-0>`, `<0-1>` or `<1/2>`; any other result, such as `*`, raises `UnknownResultError`."""
    try:
        return RESULT_IDS[result]
    except KeyError:
        raise UnknownResultError(f"unknown result {result!r}, allowed: {', '.join(RESULT_TOKENS)}") from None


def hash_tokens(tokens: Sequence[str]) -> str:
    """`vocab_hash` of `uci` and `san`: sha256 of the JSON list of the tokens in id order."""
    return hashlib.sha256(json.dumps(list(tokens)).encode()).hexdigest()


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of one scheme in id order, and for `bpe` the ordered merges.

    `vocab_hash` is what meta.json of a pack carries. Of `bpe` it is the hash of the library's own JSON, which a later
    version may write in another way; `vocab_fingerprint` does not change with that.
    """

    scheme: str
    tokens: tuple[str, ...]
    vocab_hash: str
    merges: tuple[tuple[str, str], ...] = ()

    @property
    def vocab_size(self) -> int:
        """Number of ids."""
        return len(self.tokens)

    @property
    def vocab_fingerprint(self) -> str:
        """sha256 of the JSON `[[token, ...], [[left, right], ...]]`: tokens in id order, then merges in order."""
        content = [list(self.tokens), [list(pair) for pair in self.merges]]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def tokens_of(self, ids: Iterable[int]) -> list[str]:
        """The token of each id; an id outside 0..vocab_size-1, negatives included, raises `UnknownIdError`."""
        tokens = []
        for position, token_id in enumerate(ids):
            if not 0 <= token_id < self.vocab_size:
                raise UnknownIdError(
                    f"unknown id {int(token_id)} at position {position}: "
                    f"the {self.scheme} vocabulary has ids 0 to {self.vocab_size - 1}"
                )
            tokens.append(self.tokens[token_id])
        return tokens
