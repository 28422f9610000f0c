"""The bpe scheme over whole batches: the trained tokenizer's own batch call on the games' joined moves."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import Any

import pyarrow as pa

from rukh_assets.encode.encoder import Encoded, concatenate
from rukh_assets.encode.games import GameRow, read_games
from rukh_assets.errors import UnknownTokenError
from rukh_loaders.tokenizers.bpe import bpe_text, bpe_vocabulary
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, RESULT_IDS, UNK, Vocabulary

_GAMES_A_CALL = 1_000  # an Encoding of the library takes about 100 bytes a token


class BpeEncoder:
    """Ids of a trained `tokenizers.Tokenizer`, framed by `<bos>`, and the result's token and `<eos>`."""

    def __init__(self, tokenizer: Any) -> None:
        """Take a tokenizer as `train_bpe` or `load_bpe` give it; `bpe_vocabulary` checks it and raises."""
        self._tokenizer = tokenizer
        self._vocabulary = bpe_vocabulary(tokenizer)

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens and merges of the tokenizer."""
        return self._vocabulary

    def encode_batch(self, batch: pa.RecordBatch) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`. A text that needs `<unk>` is an `UnknownTokenError`."""
        return concatenate(self._encode(read_games(batch)))

    def _encode(self, games: Iterator[GameRow]) -> Iterator[list[int]]:
        while some := list(islice(games, _GAMES_A_CALL)):
            texts = [bpe_text(game.uci) for game in some]
            encodings: Iterable[Any] = self._tokenizer.encode_batch(texts, add_special_tokens=False)
            for game, text, encoding in zip(some, texts, encodings, strict=True):
                ids: list[int] = encoding.ids
                if UNK in ids:
                    self._refuse(game, text, encoding)
                yield [BOS, *ids, RESULT_IDS[game.result], EOS]

    def _refuse(self, game: GameRow, text: str, encoding: Any) -> None:
        start, end = encoding.offsets[encoding.ids.index(UNK)]
        ends = list(accumulate(len(move) for move in game.uci.split(" ")))
        raise UnknownTokenError(
            f"{game.place}, ply {bisect_right(ends, start) + 1}: {text[start:end]!r} at character {start} of the "
            f"joined moves would be <unk>; allowed are texts of the tokenizer's {self._vocabulary.vocab_size} tokens"
        )
