"""The uci scheme over whole batches: a move is one id, looked up in a fixed table."""

import pyarrow as pa

from rukh_assets.encode.encoder import Encoded, concatenate
from rukh_assets.encode.games import read_games
from rukh_loaders.tokenizers.uci import UciTokenizer
from rukh_loaders.tokenizers.vocabulary import Vocabulary


class UciEncoder:
    """Ids of `UciTokenizer.encode_game`, a game at a time.

    It looks at tokens, not at the board: `e1h1` is in the table (a queen could go there), so Chess960 castling and
    other illegal moves pass. That a month's games are legal is what the games asset guarantees; the san scheme,
    which replays every game, refuses them.
    """

    def __init__(self) -> None:
        self._tokenizer = UciTokenizer()

    @property
    def vocabulary(self) -> Vocabulary:
        """The 2,030 tokens of the uci scheme."""
        return self._tokenizer.vocabulary

    def encode_batch(self, batch: pa.RecordBatch) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`."""
        encode = self._tokenizer.encode_game
        return concatenate(encode(game.uci, game.white_elo, game.black_elo, game.result) for game in read_games(batch))
