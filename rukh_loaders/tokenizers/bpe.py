"""The `bpe` scheme: pieces of the moves' text, learned by Hugging Face `tokenizers`, which is imported when used.

The text of a game is its UCI moves joined without blanks, so a piece may span several moves.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rukh_loaders.errors import (
    BpeSettingsError,
    BpeTrainingError,
    SpecialTokenError,
    UnknownIdError,
    VocabularyFileError,
)
from rukh_loaders.formats.publish import publish_file
from rukh_loaders.tokenizers.replay import split_moves
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, SPECIALS, UNK, Vocabulary, result_id

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "bpe_text",
    "bpe_vocabulary",
    "decode",
    "encode",
    "load_bpe",
    "longest_tokens",
    "save_bpe",
    "split_moves",
    "train_bpe",
]

VOCAB_SIZE = 4096
TRAINING_GAMES = 200_000

ALPHABET = "12345678abcdefghnqr"
"""Every character of a UCI move. All are in any bpe vocabulary, seen in training or not, so no move needs `<unk>`."""


def bpe_text(uci: str) -> str:
    """The moves joined without blanks; text with a special token in it raises `SpecialTokenError`."""
    text = "".join(uci.split())
    if "<" in text:
        for special in SPECIALS:
            if special in text:
                raise SpecialTokenError(f"the moves hold the special token {special!r} at {text.index(special)}")
    return text


def train_bpe(
    games: Iterable[str],
    vocab_size: int = VOCAB_SIZE,
    *,
    max_games: int = TRAINING_GAMES,
    show_progress: bool = False,
) -> "Tokenizer":
    """Train on the first `max_games` games, each its UCI moves separated by blanks; the same games, the same bytes.

    The vocabulary has `vocab_size` entries, special tokens included, or fewer when the games hold no more pairs.
    `BpeTrainingError` when there are no moves to learn from, or `vocab_size` has no room for specials and alphabet.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.trainers import BpeTrainer

    smallest = len(SPECIALS) + len(ALPHABET)
    if vocab_size < smallest:
        raise BpeTrainingError(
            f"vocab_size is {vocab_size}, allowed: at least {smallest} (special tokens and alphabet)"
        )
    texts = (text for text in map(bpe_text, islice(games, max_games)) if text)
    first = next(texts, None)
    if first is None:
        raise BpeTrainingError("no game with moves to train on")
    tokenizer = Tokenizer(BPE(unk_token=SPECIALS[UNK]))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    trainer = BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIALS),
        initial_alphabet=list(ALPHABET),
        show_progress=show_progress,
    )
    tokenizer.train_from_iterator(_chain(first, texts), trainer)
    return tokenizer


def save_bpe(tokenizer: "Tokenizer", path: Path | str) -> None:
    """Write the tokenizer's own JSON, `to_str()`, in one step: the sha256 of the file is its `vocab_hash`."""
    publish_file(Path(path), tokenizer.to_str().encode())


def load_bpe(path: Path | str) -> "Tokenizer":
    """Read a file of `save_bpe`; `VocabularyFileError` when there is none. Its settings: see `bpe_vocabulary`."""
    from tokenizers import Tokenizer

    try:
        text = Path(path).read_text("utf-8")
        return Tokenizer.from_str(text)
    except Exception as error:  # the library raises a bare Exception for what it cannot read
        raise VocabularyFileError(f"{path}: cannot be read as a bpe tokenizer: {error}") from error


def bpe_vocabulary(tokenizer: "Tokenizer") -> Vocabulary:
    """Tokens, merges and hash of a tokenizer, after its settings and special tokens were found to be the right ones.

    `BpeSettingsError` names every setting that differs.
    """
    text = tokenizer.to_str()
    described = json.loads(text)
    tokens = _tokens_in_order(tokenizer)
    faults = [*_wrong_settings(described), *_wrong_specials(tokens, described)]
    if faults:
        raise BpeSettingsError("not a bpe tokenizer of this project: " + "; ".join(faults))
    merges = tuple(_pair(merge) for merge in described["model"]["merges"])
    return Vocabulary("bpe", tuple(tokens), hashlib.sha256(text.encode()).hexdigest(), merges)


def encode(tokenizer: "Tokenizer", uci: str, result: str) -> list[int]:
    """The ids of one game: `<bos>`, the pieces of its moves, the result, `<eos>`.

    A character outside the alphabet becomes `<unk>`; whether a move is legal is not looked at. A result other than
    1-0, 0-1 and 1/2-1/2 raises `UnknownResultError`.
    """
    ids = tokenizer.encode(bpe_text(uci), add_special_tokens=False).ids
    return [BOS, *ids, result_id(result), EOS]


def decode(tokenizer: "Tokenizer", ids: Iterable[int]) -> str:
    """The text of the moves, special tokens left out: `split_moves` cuts it. An unknown id raises `UnknownIdError`."""
    pieces = []
    vocab_size = tokenizer.get_vocab_size()
    for position, token_id in enumerate(map(int, ids)):
        token = tokenizer.id_to_token(token_id) if 0 <= token_id < vocab_size else None
        if token is None:
            last = vocab_size - 1
            raise UnknownIdError(
                f"unknown id {token_id} at position {position}: the bpe vocabulary has ids 0 to {last}"
            )
        if token_id >= len(SPECIALS):
            pieces.append(token)
    return "".join(pieces)


def longest_tokens(tokenizer: "Tokenizer", count: int = 10) -> list[dict[str, Any]]:
    """The longest tokens, special ones left out, by length, then by id: token, id, length, and moves (length // 4)."""
    numbered = list(enumerate(_tokens_in_order(tokenizer)))[len(SPECIALS) :]
    numbered.sort(key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {"token": token, "id": token_id, "length": len(token), "moves": len(token) // 4}
        for token_id, token in numbered[:count]
    ]


def _chain(first: str, others: Iterator[str]) -> Iterator[str]:
    yield first
    yield from others


def _tokens_in_order(tokenizer: "Tokenizer") -> list[str]:
    by_id = sorted(tokenizer.get_vocab(with_added_tokens=True).items(), key=lambda pair: pair[1])
    gap = next((i for i, (_, token_id) in enumerate(by_id) if token_id != i), None)
    if gap is not None:
        raise BpeSettingsError(
            f"the bpe vocabulary has id {by_id[gap][1]} where {gap} is expected: ids must leave no gap"
        )
    return [token for token, _ in by_id]


def _pair(merge: list[str] | str) -> tuple[str, str]:
    """A merge is a pair, or, as libraries before 0.20 wrote it, both halves with a blank between."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left, right


def _wrong_settings(described: dict[str, Any]) -> list[str]:
    """Each setting that is not as docs/formats.md says, with both values."""
    model = described["model"]
    pre_tokenizer = described.get("pre_tokenizer") or {}
    settings = [
        ("model", model.get("type"), "BPE"),
        ("unk_token", model.get("unk_token"), SPECIALS[UNK]),
        ("pre_tokenizer", pre_tokenizer.get("type"), "WhitespaceSplit"),
        *((name, described.get(name), None) for name in ("normalizer", "decoder", "post_processor")),
        *((name, described.get(name), None) for name in ("truncation", "padding")),
        *((name, model.get(name) or None, None) for name in ("continuing_subword_prefix", "end_of_word_suffix")),
        *((name, model.get(name) or None, None) for name in ("dropout", "fuse_unk", "byte_fallback", "ignore_merges")),
    ]
    return [f"{name} is {got!r}, expected {expected!r}" for name, got, expected in settings if got != expected]


def _wrong_specials(tokens: list[str], described: dict[str, Any]) -> list[str]:
    added = {token["content"]: token for token in described["added_tokens"]}
    faults = []
    for token_id, special in enumerate(SPECIALS):
        got = tokens[token_id] if token_id < len(tokens) else None
        if got != special:
            faults.append(f"id {token_id} is {got!r}, expected {special!r}")
        elif special not in added or not added[special]["special"]:
            faults.append(f"{special!r} is not marked as a special token")
    for token in added:
        if token not in SPECIALS:
            kind = "a special" if added[token]["special"] else "an added"
            faults.append(f"{token!r} is {kind} token, expected those of uci alone")
    return faults
