"""A trained bpe vocabulary as the tables that kernels look pieces up in."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_assets.encode.bpe_writing import (
    END,
    HINT_BYTES,
    LEFT,
    LENGTH,
    MADE,
    NO_PIECE,
    PAIR_SLOTS,
    PIECE_WIDTH,
    RIGHT,
    SHORTER,
    STATE_WIDTH,
    Tables,
    add_pairs,
)
from rukh_loaders.tokenizers.bpe import ALPHABET
from rukh_loaders.tokenizers.vocabulary import Vocabulary


def is_as_trained(tokenizer: Any, vocabulary: Vocabulary) -> bool:
    """Whether the merges are such as training makes, which `bpe_writing` relies on; those of other programs may not be.

    A piece is made by one merge, of a rank above those of its halves; and each piece of the characters of moves is its
    own encoding.
    """
    ranks = {left + right: rank for rank, (left, right) in enumerate(vocabulary.merges)}
    in_order = all(max(ranks.get(half, -1) for half in pair) < rank for rank, pair in enumerate(vocabulary.merges))
    ids = _pieces_of_moves(vocabulary)
    encodings = tokenizer.encode_batch(list(ids), add_special_tokens=False)
    own = all(encoding.ids == [id_] for encoding, id_ in zip(encodings, ids.values(), strict=True))
    return len(ranks) == len(vocabulary.merges) and in_order and own


def make_tables(vocabulary: Vocabulary) -> Tables:
    """The tables of a vocabulary of at most 65,536 ids that `is_as_trained`."""
    ids = _pieces_of_moves(vocabulary)
    beginnings = {"": 0}
    for piece in ids:
        for end in range(1, len(piece) + 1):
            beginnings.setdefault(piece[:end], len(beginnings))
    longest = _longest(beginnings, ids)
    pieces = np.zeros((vocabulary.vocab_size, PIECE_WIDTH), np.uint16)
    for piece, id_ in ids.items():
        pieces[id_, [LENGTH, SHORTER]] = len(piece), longest[beginnings[piece[:-1]]]
    every_id = {token: id_ for id_, token in enumerate(vocabulary.tokens)}
    lefts, rights, made = (
        np.array([every_id[token] for token in tokens], np.int64)
        for tokens in (
            [left for left, _ in vocabulary.merges],
            [right for _, right in vocabulary.merges],
            [left + right for left, right in vocabulary.merges],
        )
    )
    pieces[made, MADE] = np.arange(1, made.size + 1)
    pieces[made, LEFT], pieces[made, RIGHT] = lefts, rights
    hints, pairs = np.zeros(HINT_BYTES, np.uint8), np.zeros(PAIR_SLOTS, np.int64)
    add_pairs(lefts, rights, hints, pairs)
    return Tables(_characters(ids), _steps(beginnings), longest, pieces.reshape(-1), hints, pairs)


def _pieces_of_moves(vocabulary: Vocabulary) -> dict[str, int]:
    """The tokens that moves may be made of, and their ids."""
    return {token: id_ for id_, token in enumerate(vocabulary.tokens) if not set(token) - set(ALPHABET)}


def _characters(ids: Mapping[str, int]) -> NDArray[np.uint8]:
    characters = np.full(256, END, np.uint8)
    for index, character in enumerate(ALPHABET):
        if character in ids:
            characters[ord(character)] = index
    return characters


def _steps(beginnings: Mapping[str, int]) -> NDArray[np.int32]:
    steps = np.zeros((len(beginnings), STATE_WIDTH), np.int32)
    for text, beginning in beginnings.items():
        if text:
            steps[beginnings[text[:-1]], ALPHABET.index(text[-1])] = beginning
    return steps.reshape(-1)


def _longest(beginnings: Mapping[str, int], ids: Mapping[str, int]) -> NDArray[np.int32]:
    longest = np.full(len(beginnings), NO_PIECE, np.int32)
    for text, beginning in beginnings.items():  # shorter ones first
        longest[beginning] = ids[text] if text in ids else longest[beginnings[text[:-1]]] if text else NO_PIECE
    return longest
