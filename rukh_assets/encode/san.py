"""The san scheme over whole batches: every game is replayed and spelt as numbered movetext."""

import pyarrow as pa

from rukh_assets.board import DONE, uci_to_san_ids
from rukh_assets.encode.arrays import result_codes
from rukh_assets.encode.encoder import Encoded, encode_left
from rukh_assets.encode.games import GameRow, check_columns, rows_without_nulls
from rukh_assets.encode.san_text import spell_moves
from rukh_loaders.tokenizers.san import SanCharTokenizer
from rukh_loaders.tokenizers.vocabulary import Vocabulary


class SanEncoder:
    """Ids of `SanCharTokenizer.encode` of a game's numbered movetext, a space and its result, by the board kernels."""

    def __init__(self) -> None:
        self._tokenizer = SanCharTokenizer()

    @property
    def vocabulary(self) -> Vocabulary:
        """The 35 tokens of the san scheme."""
        return self._tokenizer.vocabulary

    def encode_batch(self, batch: pa.RecordBatch, first_row: int = 0) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`. An illegal move is an `IllegalMoveError`."""
        check_columns(batch)
        games = uci_to_san_ids(batch.column("uci"), result_codes(batch.column("result")))
        left = (games.verdicts != DONE) | ~rows_without_nulls(batch)
        return encode_left(batch, (games.ids, games.lengths), left, self.encode_game, first_row)

    def encode_game(self, game: GameRow) -> list[int]:
        """Encode one game the readable way, by python-chess, which judges what the kernel does not take."""
        return self._tokenizer.encode(f"{spell_moves(game.uci.split(' '), game.place)} {game.result}")
