"""The san scheme over whole batches: every game is replayed by python-chess and spelt as numbered movetext."""

from collections.abc import Iterator, Sequence

import chess
import pyarrow as pa

from rukh_assets.encode.encoder import Encoded, concatenate
from rukh_assets.encode.games import GameRow, read_games, split_uci
from rukh_assets.errors import IllegalMoveError
from rukh_loaders.tokenizers.san import SanCharTokenizer
from rukh_loaders.tokenizers.vocabulary import Vocabulary


class SanEncoder:
    """Ids of `SanCharTokenizer.encode` of a game's numbered movetext, a space and its result."""

    def __init__(self) -> None:
        self._tokenizer = SanCharTokenizer()

    @property
    def vocabulary(self) -> Vocabulary:
        """The 35 tokens of the san scheme."""
        return self._tokenizer.vocabulary

    def encode_batch(self, batch: pa.RecordBatch) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`. An illegal move is an `IllegalMoveError`."""
        return concatenate(self._tokenizer.encode(text) for text in _san_texts(batch))


def uci_to_san(uci: str) -> str:
    """Spell a game from the normal start as numbered movetext: `e2e4 e7e5 g1f3` is `1.e4 e5 2.Nf3`.

    Check and mate are marked as python-chess marks them; the result is not part of the text.

    Raises `MalformedUciError` or `UnknownMoveError` as `split_uci` does, and `IllegalMoveError` with the ply and the
    position. Castling is the king's move of two files: `e1h1`, which python-chess itself takes, is illegal here.
    """
    return _movetext(split_uci(uci), "game")


def _san_texts(batch: pa.RecordBatch) -> Iterator[str]:
    for game in read_games(batch):
        yield _san_text(game)


def _san_text(game: GameRow) -> str:
    return f"{_movetext(game.uci.split(' '), game.place)} {game.result}"


def _movetext(moves: Sequence[str], place: str) -> str:
    board = chess.Board()
    words = []
    for ply, move in enumerate(moves, 1):
        number = f"{board.fullmove_number}." if board.turn == chess.WHITE else ""
        words.append(number + board.san_and_push(_legal_move(board, move, ply, place)))
    return " ".join(words)


def _legal_move(board: chess.Board, move: str, ply: int, place: str) -> chess.Move:
    try:
        legal = board.parse_uci(move)
    except chess.IllegalMoveError:
        legal = chess.Move.null()
    if legal.uci() != move:  # parse_uci rewrites castling spelt as king takes rook, and answers with the two-file move
        raise IllegalMoveError(f"{place}, ply {ply}: illegal uci: {move!r} in {board.fen()}")
    return legal
