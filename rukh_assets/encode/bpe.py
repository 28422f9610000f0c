"""The bpe scheme over whole batches: the pieces of a trained tokenizer, looked up in the games' joined moves."""

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from rukh_assets.board.batches import text_of
from rukh_assets.encode.arrays import result_ids
from rukh_assets.encode.bpe_pieces import is_as_trained, make_tables
from rukh_assets.encode.bpe_writing import FRAME_IDS, Tables, write_games
from rukh_assets.encode.encoder import Encoded, encode_left
from rukh_assets.encode.games import GameRow, check_columns, rows_without_nulls
from rukh_assets.encode.uci_writing import find_games, move_tables
from rukh_assets.errors import UnknownTokenError
from rukh_loaders.formats.pack_info import check_vocab_size
from rukh_loaders.tokenizers.bpe import bpe_text, bpe_vocabulary
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, PAD, RESULT_IDS, UNK, Vocabulary


class BpeEncoder:
    """Ids of a trained `tokenizers.Tokenizer`, framed by `<bos>`, and the result's token and `<eos>`.

    Those of a tokenizer that no training made, though it passes `bpe_vocabulary`, come from the library, game by game.
    """

    def __init__(self, tokenizer: Any) -> None:
        """Take a tokenizer as `train_bpe` or `load_bpe` give it; `bpe_vocabulary` checks it and raises.

        So does `check_vocab_size`: ids beyond uint16 are a `VocabularyTooLargeError`.
        """
        self._tokenizer = tokenizer
        self._vocabulary = bpe_vocabulary(tokenizer)
        check_vocab_size("bpe tokenizer", self._vocabulary.vocab_size)
        self._moves = move_tables()
        self._tables = make_tables(self._vocabulary) if is_as_trained(tokenizer, self._vocabulary) else None

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens and merges of the tokenizer."""
        return self._vocabulary

    def encode_batch(self, batch: pa.RecordBatch, first_row: int = 0) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`. A text that needs `<unk>` is an `UnknownTokenError`."""
        check_columns(batch)
        if self._tables is None:
            encoded = np.empty(0, np.uint16), np.zeros(batch.num_rows, np.int64)
        else:
            encoded = self._write(batch, self._tables)
        return encode_left(batch, encoded, encoded[1] == 0, self.encode_game, first_row)

    def encode_game(self, game: GameRow) -> list[int]:
        """Encode one game the readable way, by the library, which judges what the kernel does not take."""
        text = bpe_text(game.uci)
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if UNK in encoding.ids:
            start, end = encoding.offsets[encoding.ids.index(UNK)]
            ends = list(accumulate(len(move) for move in game.uci.split(" ")))
            raise UnknownTokenError(
                f"{game.place}, ply {bisect_right(ends, start) + 1}: {text[start:end]!r} at character {start} of "
                "the joined moves would be <unk>; "
                f"allowed are texts of the tokenizer's {self._vocabulary.vocab_size} tokens"
            )
        return [BOS, *encoding.ids, RESULT_IDS[game.result], EOS]

    def _write(self, batch: pa.RecordBatch, tables: Tables) -> Encoded:
        """The ids of the games that the kernel takes; the others have length 0."""
        text, offsets, _ = text_of(batch.column("uci"))
        results = result_ids(batch.column("result"))
        readable = rows_without_nulls(batch) & (results != PAD)
        ids = np.empty(int(offsets[-1] - offsets[0]) + FRAME_IDS * batch.num_rows, np.uint16)
        lengths = np.empty(batch.num_rows, np.int64)
        find_games(text, offsets, self._moves, readable, ids)
        longest = int(np.diff(offsets).max(initial=0))
        characters, is_open = np.empty((2, longest + 1), np.uint8)
        written = write_games(text, offsets, readable, results, tables, ids, lengths, characters, is_open)
        assert written >= 0, "the room for ids was reckoned too small"
        ids.resize(written, refcheck=False)
        return ids, lengths
