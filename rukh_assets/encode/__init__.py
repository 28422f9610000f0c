"""Games to ids: whole Arrow batches of the games schema through one of three schemes.

    >>> import pyarrow as pa
    >>> from rukh_assets.encode import make_encoder
    >>> game = {"game_id": 1, "uci": "e2e4 e7e5", "white_elo": 1500, "black_elo": 1480, "result": "1-0"}
    >>> ids, lengths = make_encoder("uci").encode_batch(pa.RecordBatch.from_pylist([game]))
    >>> ids.tolist(), lengths.tolist()
    ([1, 17, 43, 997, 1164, 5, 2], [7])

`encoder` says what an encoder promises, `games` what every scheme accepts; `uci`, `san` and `bpe` are the clear ways,
a game at a time through the single-game tokenizers, and the measure of any faster way.
"""

from pathlib import Path
from typing import Any

from rukh_assets.encode.encoder import Encoder
from rukh_assets.errors import TokenizerRequiredError, UnknownSchemeError

SCHEMES = ("uci", "san", "bpe")

__all__ = ["SCHEMES", "Encoder", "make_encoder"]


def make_encoder(scheme: str, bpe: Any = None) -> Encoder:
    """Build the encoder of a scheme; `bpe` is a `tokenizers.Tokenizer` or the path of its JSON, for that scheme only.

    Raises `UnknownSchemeError`, `TokenizerRequiredError` (both `ValueError`s), and what `load_bpe` and
    `bpe_vocabulary` raise for a file or tokenizer whose special tokens are not those of the contract.
    """
    if scheme == "uci":
        from rukh_assets.encode.uci import UciEncoder

        return UciEncoder()
    if scheme == "san":
        from rukh_assets.encode.san import SanEncoder

        return SanEncoder()
    if scheme != "bpe":
        raise UnknownSchemeError(f"scheme {scheme!r}; allowed are {', '.join(SCHEMES)}")
    if bpe is None:
        raise TokenizerRequiredError("scheme 'bpe' without a tokenizer; give a tokenizers.Tokenizer or a bpe.json")
    from rukh_assets.encode.bpe import BpeEncoder
    from rukh_loaders.tokenizers.bpe import load_bpe

    return BpeEncoder(load_bpe(Path(bpe)) if isinstance(bpe, str | Path) else bpe)
