"""A game of a pack turned back into text, moves and a board."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import UnreadableIdsError
from rukh_loaders.formats.pack import Pack
from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer, bpe
from rukh_loaders.tokenizers.replay import FILES, squares_after
from rukh_loaders.tokenizers.san_moves import san_to_uci, san_words
from rukh_loaders.tokenizers.vocabulary import SPECIALS, Vocabulary

LAKE_BPE = Path("artifacts", "tokenizer", "bpe", "bpe.json")
"""Where a lake keeps its bpe tokenizer; its packs lie in `data/packs/bpe`."""


@dataclass(frozen=True)
class GameText:
    """One game as its scheme writes it.

    `movetext` is numbered, `moves` are its moves in the same notation, `frame` is the special tokens around them.
    """

    frame: str
    movetext: str
    moves: tuple[str, ...]
    in_san: bool = False

    def uci_moves(self, plies: int) -> list[str]:
        """The first so many moves in UCI; `SanMoveError` where a san game's text cannot be played."""
        moves = list(self.moves[:plies])
        return san_to_uci(moves) if self.in_san else moves


GameReader = Callable[[NDArray[np.uint16]], GameText]


def game_reader(pack: Pack, tokenizer: Path | None = None) -> GameReader:
    """What reads the games of `pack`; `tokenizer` is the bpe.json that a `bpe` pack was encoded with.

    Without it the one of the lake is taken in which the pack lies, if there is one. `UnreadableIdsError` says why ids
    have no meaning here: none of the three schemes, another vocabulary than that of the pack, no tokenizer at hand.
    """
    scheme = pack.info.scheme
    if scheme == "uci":
        return _uci_reader(pack)
    if scheme == "san":
        return _san_reader(pack)
    if scheme == "bpe":
        return _bpe_reader(pack, tokenizer or _tokenizer_of_lake(pack))
    raise UnreadableIdsError(f"the scheme {scheme!r} is none of uci, san and bpe, so its ids have no known meaning")


def board_text(moves: Sequence[str]) -> str:
    """The board after UCI moves from the normal start, White below, a line a rank; White's pieces are upper case."""
    squares = squares_after(moves)
    ranks = [f"{rank + 1}  {' '.join(squares[rank * 8 : rank * 8 + 8])}" for rank in reversed(range(8))]
    return "\n".join([*ranks, f"   {' '.join(FILES)}"])


def numbered(moves: Sequence[str]) -> str:
    """Moves with the number of each of White's before it: `1.e2e4 e7e5 2.g1f3`."""
    return " ".join(f"{ply // 2 + 1}.{move}" if ply % 2 == 0 else move for ply, move in enumerate(moves))


def _uci_reader(pack: Pack) -> GameReader:
    tokenizer = UciTokenizer()
    _check_vocabulary(pack, tokenizer.vocabulary)

    def read(ids: NDArray[np.uint16]) -> GameText:
        tokens = tokenizer.decode(ids.tolist())
        moves = tuple(token for token in tokens if not token.startswith("<"))
        return GameText(_frame(tokens), numbered(moves), moves)

    return read


def _san_reader(pack: Pack) -> GameReader:
    tokenizer = SanCharTokenizer()
    _check_vocabulary(pack, tokenizer.vocabulary)

    def read(ids: NDArray[np.uint16]) -> GameText:
        text = tokenizer.decode(ids.tolist())
        frame = _frame(tokenizer.vocabulary.tokens_of(ids.tolist()))
        return GameText(frame, text, tuple(san_words(text)), in_san=True)

    return read


def _bpe_reader(pack: Pack, path: Path | None) -> GameReader:
    if path is None:
        raise UnreadableIdsError("the ids of a bpe pack are read with its tokenizer: give --tokenizer bpe.json")
    try:
        tokenizer = bpe.load_bpe(path)
    except ModuleNotFoundError:
        raise UnreadableIdsError("the ids of a bpe pack are read by the package `tokenizers`: install it") from None
    vocabulary = bpe.bpe_vocabulary(tokenizer)
    _check_vocabulary(pack, vocabulary, str(path))

    def read(ids: NDArray[np.uint16]) -> GameText:
        tokens = vocabulary.tokens_of(ids.tolist())
        moves = tuple(bpe.split_moves("".join(token for token in tokens if token not in SPECIALS)))
        return GameText(_frame(tokens), numbered(moves), moves)

    return read


def _tokenizer_of_lake(pack: Pack) -> Path | None:
    # <lake>/data/packs/bpe/<month>
    path = pack.path.parents[3] / LAKE_BPE if len(pack.path.parents) > 3 else None
    return path if path is not None and path.is_file() else None


def _check_vocabulary(pack: Pack, vocabulary: Vocabulary, where: str = "this release") -> None:
    """A later version of `tokenizers` may write a tokenizer as other JSON: the same fingerprint will do."""
    fingerprint = (pack.manifest or {}).get("vocab_fingerprint")
    if pack.info.vocab_hash != vocabulary.vocab_hash and fingerprint != vocabulary.vocab_fingerprint:
        raise UnreadableIdsError(
            f"{pack.path}: was encoded with the {pack.info.scheme} vocabulary {pack.info.vocab_hash}, "
            f"{where} has {vocabulary.vocab_hash}"
        )


def _frame(tokens: Sequence[str]) -> str:
    """The special tokens, the game itself as `...`."""
    within = [position for position, token in enumerate(tokens) if not token.startswith("<") or not token.endswith(">")]
    if not within:
        return " ".join(tokens)
    return " ".join([*tokens[: within[0]], "...", *tokens[within[-1] + 1 :]])
