"""The uci scheme over whole batches: a move is one id, looked up in a fixed table."""

import numpy as np
import pyarrow as pa

from rukh_assets.board.batches import text_of
from rukh_assets.board.uci_reading import CHARACTERS_PER_MOVE
from rukh_assets.encode.arrays import elo_bins, result_ids
from rukh_assets.encode.encoder import Encoded, encode_left
from rukh_assets.encode.games import GameRow, check_columns, rows_without_nulls
from rukh_assets.encode.uci_writing import FRAME_IDS, move_tables, write_games
from rukh_loaders.tokenizers.uci import ELO_MIN, UciTokenizer
from rukh_loaders.tokenizers.vocabulary import PAD, Vocabulary


class UciEncoder:
    """Ids of `UciTokenizer.encode_game`, by a kernel.

    It looks at tokens, not at the board: `e1h1` is in the table (a queen could go there), so Chess960 castling and
    other illegal moves pass. That a month's games are legal is what the games asset guarantees; the san scheme,
    which replays every game, refuses them.
    """

    def __init__(self) -> None:
        self._tokenizer = UciTokenizer()
        self._tables = move_tables()
        self._first_white_id = self._tokenizer.ids[f"<w{ELO_MIN:04d}>"]
        self._first_black_id = self._tokenizer.ids[f"<b{ELO_MIN:04d}>"]

    @property
    def vocabulary(self) -> Vocabulary:
        """The 2,030 tokens of the uci scheme."""
        return self._tokenizer.vocabulary

    def encode_batch(self, batch: pa.RecordBatch, first_row: int = 0) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`."""
        check_columns(batch)
        text, offsets, _ = text_of(batch.column("uci"))
        results = result_ids(batch.column("result"))
        most_plies = np.diff(offsets) // CHARACTERS_PER_MOVE + 1
        ids = np.empty(int(most_plies.sum()) + FRAME_IDS * batch.num_rows, np.uint16)
        lengths = np.empty(batch.num_rows, np.int64)
        written = write_games(
            text,
            offsets,
            rows_without_nulls(batch) & (results != PAD),
            self._first_white_id + elo_bins(batch.column("white_elo")),
            self._first_black_id + elo_bins(batch.column("black_elo")),
            results,
            self._tables,
            ids,
            lengths,
        )
        assert written >= 0, "the room for ids was reckoned too small"
        ids.resize(written, refcheck=False)
        return encode_left(batch, (ids, lengths), lengths == 0, self.encode_game, first_row)

    def encode_game(self, game: GameRow) -> list[int]:
        """Encode one game the readable way, which judges what the kernel does not take."""
        return self._tokenizer.encode_game(game.uci, game.white_elo, game.black_elo, game.result)
