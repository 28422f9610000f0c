"""Where the games of a batch begin and end, as models and losses ask for it. No torch.

A document is a game, or what a row has of it: a window that begins amid a game begins a document there, at position 0.

Position ids that restart do not by themselves stop a model from attending to the games before: give it `document_ids`
or `cu_seqlens` as well, as a mask in which a position sees its own document only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import LossMaskError
from rukh_loaders.tokenizers.san import SanCharTokenizer
from rukh_loaders.tokenizers.uci import ELO_MAX, ELO_MIN, ELO_STEP
from rukh_loaders.tokenizers.vocabulary import PAD, RESULT_IDS, SPECIALS
from rukh_loaders.windows.gather import Ids
from rukh_loaders.windows.pieces import Numbers, Pieces, ranges

Trained = Literal["moves", "white", "black", "winner"]
"""The targets to train on: all moves, those of one side, or those of the side that won (of a draw, none)."""

Spans = Callable[[Numbers, Numbers], Ids]
"""The ids of the stream from these positions on, so many of each, one after the other."""

UCI_HEAD = 3
"""`<bos>`, White's rating and Black's: the first move is id 3 of its game."""

UCI_FIRST_MOVE = len(SPECIALS) + 2 * ((ELO_MAX - ELO_MIN) // ELO_STEP + 1)
"""The lowest id of `uci` that is a move: 62."""

_SAN = SanCharTokenizer().ids
_UCI_WINNERS = {RESULT_IDS["1-0"]: 0, RESULT_IDS["0-1"]: 1}
_SAN_WINNERS = {_SAN["0"]: 0, _SAN["1"]: 1}
"""The last character of `1-0` and of `0-1`; a draw ends in 2."""


class Documents:
    """The documents of `rows` rows of `block` ids, in which `pieces` lie."""

    def __init__(self, pieces: Pieces, rows: int, block: int) -> None:
        self.pieces = pieces
        self.rows = rows
        self.block = block

    @cached_property
    def _places(self) -> Numbers:
        return places_of(self.pieces, self.block)

    def position_ids(self) -> Numbers:
        """0, 1, 2, ... in each document; 0 in the padding. int64 (rows, block)."""
        out = np.zeros(self.rows * self.block, np.int64)
        out[self._places] = self._places - np.repeat(self._begins, self.pieces.length)
        return out.reshape(self.rows, self.block)

    def document_ids(self) -> NDArray[np.int32]:
        """The number of each document in the batch, from 0; -1 in the padding. int32 (rows, block)."""
        out = np.full(self.rows * self.block, -1, np.int32)
        out[self._places] = np.repeat(np.arange(self._begins.size, dtype=np.int32), self.pieces.length)
        return out.reshape(self.rows, self.block)

    def cu_seqlens(self) -> NDArray[np.int32]:
        """Where sequences begin in the flattened rows, and their end: int32, from 0 to `rows * block`, rising strictly.

        Documents are sequences, and so is the padding at the end of a row.
        """
        is_begin = np.zeros(self.rows * self.block + 1, np.bool_)
        is_begin[:: self.block] = True
        is_begin[self._begins] = True
        is_begin[self._begins + self.pieces.length] = True
        return np.flatnonzero(is_begin).astype(np.int32)

    @property
    def _begins(self) -> Numbers:
        return self.pieces.row * self.block + self.pieces.column


class LossMask:
    """Which targets of a batch are trained on.

        moves     the moves, without the game's frame: `<bos>`, ratings, result, `<eos>`
        white     White's moves; `black`: Black's
        winner    the moves of the side that won; none of a draw: choose decided games beforehand

    In `uci` a move is one id. In `san` it is the characters of its word, the blank that ends it and, for White, the
    number before it. In `bpe` an id may hold moves of both sides, so that only `moves` can be told.

    Raises:
        LossMaskError: something else, or what cannot be told of the scheme.
    """

    def __init__(self, trained: Trained, scheme: str) -> None:
        if trained not in get_args(Trained):
            raise LossMaskError(f"loss_mask is {trained!r}; allowed are {', '.join(get_args(Trained))}, and None")
        if scheme == "bpe" and trained != "moves":
            raise LossMaskError(
                f"loss_mask is {trained!r} and the packs are of bpe, in which one id may hold moves of both sides; "
                "allowed are 'moves' and None, or packs of uci or san"
            )
        if scheme not in ("uci", "san", "bpe"):
            raise LossMaskError(
                f"loss_mask is {trained!r} and the packs are of the scheme {scheme!r}, whose moves are not known; "
                "masks can be told of uci, san and bpe"
            )
        self.trained = trained
        self.scheme = scheme

    def of(self, pieces: Pieces, tokens: Ids, spans: Spans) -> NDArray[np.bool_]:
        """Of each target whether it is trained on: bool (rows, width - 1).

        `tokens`, (rows, width), are the rows and `pieces` what they are made of; a target is the id one column later.
        """
        ids = tokens.reshape(-1)
        places = places_of(pieces, tokens.shape[1])
        trained = np.zeros(ids.size, np.bool_)
        trained[places] = self._trained(pieces, ids[places], spans)
        mask: NDArray[np.bool_] = trained.reshape(tokens.shape)[:, 1:] & (tokens[:, 1:] != PAD)
        return mask

    def _trained(self, pieces: Pieces, ids: Ids, spans: Spans) -> NDArray[np.bool_]:
        if self.scheme == "bpe":
            return ids >= len(SPECIALS)
        if self.scheme == "uci":
            is_move, ply = ids >= UCI_FIRST_MOVE, ranges(pieces.offset, pieces.length) - UCI_HEAD
        else:
            is_move, ply = _san_moves(pieces, spans), _san_words(pieces, ids, spans)
        if self.trained == "moves":
            return is_move
        side = {"white": 0, "black": 1}.get(self.trained)
        sides = _winners(pieces, spans, self.scheme) if side is None else np.full(pieces.row.size, side)
        is_sides: NDArray[np.bool_] = ply % 2 == np.repeat(sides, pieces.length)
        return is_move & is_sides


def _san_moves(pieces: Pieces, spans: Spans) -> NDArray[np.bool_]:
    """Of each id whether it is before the result and behind the `<bos>`."""
    last = _last_before_eos(pieces, spans)
    result = np.where(np.isin(last, list(_SAN_WINNERS)), len("1-0"), len("1/2-1/2"))
    place = ranges(pieces.offset, pieces.length)
    moves: NDArray[np.bool_] = (place > 0) & (place < np.repeat(pieces.game_length - 1 - result, pieces.length))
    return moves


def _san_words(pieces: Pieces, ids: Ids, spans: Spans) -> Numbers:
    """Of each id the number of blanks before it in its game: which ply its word is, from 0."""
    blanks = (ids == _SAN[" "]).astype(np.int64)
    before = np.cumsum(blanks) - blanks
    first = np.cumsum(pieces.length) - pieces.length
    words: Numbers = before - np.repeat(before[first] - _blanks_before(pieces, spans), pieces.length)
    return words


def _blanks_before(pieces: Pieces, spans: Spans) -> Numbers:
    """How many blanks each piece's game has before the piece: read, where it begins amid its game."""
    amid = np.flatnonzero(pieces.offset)
    lengths = pieces.offset[amid]
    blanks = spans(pieces.game_begin[amid], lengths) == _SAN[" "]
    game = np.repeat(amid, lengths)
    return np.bincount(game[blanks], minlength=pieces.row.size).astype(np.int64)


def _winners(pieces: Pieces, spans: Spans, scheme: str) -> Numbers:
    """Who won each piece's game, as its last ids say: 0 White, 1 Black, 2 neither."""
    last = _last_before_eos(pieces, spans)
    winners = np.full(pieces.row.size, 2)
    for result, side in (_UCI_WINNERS if scheme == "uci" else _SAN_WINNERS).items():
        winners[last == result] = side
    return winners


def _last_before_eos(pieces: Pieces, spans: Spans) -> Ids:
    return spans(pieces.game_begin + pieces.game_length - 2, np.ones_like(pieces.row))


def places_of(pieces: Pieces, width: int) -> Numbers:
    """Where the pieces' ids are in the flattened rows."""
    return ranges(pieces.row * width + pieces.column, pieces.length)
