"""The `uci` scheme: one id a move, from a fixed enumeration of 2,030 tokens that no data changes."""

import operator
from collections.abc import Iterable, Sequence
from pathlib import Path

from rukh_loaders.errors import RatingError
from rukh_loaders.formats.publish import publish_file
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, SPECIALS, UNK, Vocabulary, hash_tokens, result_id
from rukh_loaders.tokenizers.vocabulary_file import check_vocabulary_file, dump_vocabulary

FILES = "abcdefgh"
RANKS = "12345678"

ELO_MIN, ELO_MAX, ELO_STEP = 600, 3200, 100
"""First and last bin, and their width: `<w0600>` holds everything below 700, `<w3200>` everything from 3200."""


def elo_bin(elo: int) -> int:
    """The bin's lower bound, 600 to 3200 in steps of 100; what is not an integer raises `RatingError`."""
    try:
        rating = operator.index(elo)
    except TypeError:
        raise RatingError(f"rating {elo!r} is not an integer") from None
    return min(max(rating, ELO_MIN), ELO_MAX + ELO_STEP - 1) // ELO_STEP * ELO_STEP


class UciTokenizer:
    """Games as `<bos> <wXXXX> <bXXXX> move ... <result> <eos>`.

    `vocab` is the list of tokens in id order, `ids` maps a token to its id, `vocabulary` identifies them.
    """

    def __init__(self) -> None:
        moves = [*_move_tokens(), *_promotion_tokens()]
        self.vocab: list[str] = [*SPECIALS, *_elo_tokens(), *moves]
        self.ids: dict[str, int] = {token: i for i, token in enumerate(self.vocab)}
        self.vocabulary = Vocabulary("uci", tuple(self.vocab), hash_tokens(self.vocab))
        self._move_ids = {move: self.ids[move] for move in moves}
        self._white_bin = self.ids[f"<w{ELO_MIN:04d}>"]
        self._black_bin = self.ids[f"<b{ELO_MIN:04d}>"]

    def encode_game(self, uci: str | Sequence[str], white_elo: int, black_elo: int, result: str) -> list[int]:
        """The ids of one game, frame included.

        `uci` is the moves, as a list or as text separated by white space. A move outside the table, such as `0000` or
        `e7e8Q`, becomes `<unk>`; whether a move is legal is not looked at. A rating that is not an integer raises
        `RatingError`, a result other than 1-0, 0-1 and 1/2-1/2 `UnknownResultError`.
        """
        moves = uci.split() if isinstance(uci, str) else uci
        return [
            BOS,
            self._white_bin + (elo_bin(white_elo) - ELO_MIN) // ELO_STEP,
            self._black_bin + (elo_bin(black_elo) - ELO_MIN) // ELO_STEP,
            *(self._move_ids.get(move, UNK) for move in moves),
            result_id(result),
            EOS,
        ]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The token of each id, frame included; an id outside 0..2029 raises `UnknownIdError`."""
        return self.vocabulary.tokens_of(ids)

    def to_bytes(self) -> bytes:
        """The bytes of vocab.json: always the same."""
        document = {
            "version": 1,
            "size": len(self.vocab),
            "specials": list(SPECIALS),
            "elo_bins": {"min": ELO_MIN, "max": ELO_MAX, "step": ELO_STEP},
            "tokens": self.vocab,
        }
        return dump_vocabulary(document)

    def export(self, path: Path | str) -> None:
        """Write vocab.json, in one step."""
        publish_file(Path(path), self.to_bytes())

    @classmethod
    def from_file(cls, path: Path | str) -> "UciTokenizer":
        """The tokenizer, after `path` was found to be a vocab.json of this very enumeration.

        Line ends and blanks may differ; anything else raises `VocabularyFileError` with the first difference.
        """
        tokenizer = cls()
        check_vocabulary_file(Path(path), tokenizer.to_bytes())
        return tokenizer


def _elo_tokens() -> list[str]:
    bins = range(ELO_MIN, ELO_MAX + ELO_STEP, ELO_STEP)
    return [f"<{side}{lower:04d}>" for side in "wb" for lower in bins]


def _move_tokens() -> list[str]:
    """The 1,792 pairs of squares that a queen or a knight could go between, squares in file-major order."""
    squares = [(file, rank) for file in range(8) for rank in range(8)]
    names = {(file, rank): FILES[file] + RANKS[rank] for file, rank in squares}
    return [
        names[a] + names[b] for a in squares for b in squares if _queen_or_knight(abs(a[0] - b[0]), abs(a[1] - b[1]))
    ]


def _queen_or_knight(files: int, ranks: int) -> bool:
    if files == ranks == 0:
        return False
    return files == 0 or ranks == 0 or files == ranks or {files, ranks} == {1, 2}


def _promotion_tokens() -> list[str]:
    """The 176 promotions: White's first; from-file, to-file at most one aside, then queen, rook, bishop, knight."""
    return [
        f"{FILES[start]}{from_rank}{FILES[end]}{to_rank}{piece}"
        for from_rank, to_rank in ("78", "21")
        for start in range(8)
        for end in range(max(start - 1, 0), min(start + 2, 8))
        for piece in "qrbn"
    ]
