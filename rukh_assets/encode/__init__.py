"""Games to ids: whole Arrow batches of the games schema through one of three schemes.

    >>> import pyarrow as pa
    >>> from rukh_assets.encode import make_encoder
    >>> game = {"game_id": 1, "uci": "e2e4 e7e5", "white_elo": 1500, "black_elo": 1480, "result": "1-0"}
    >>> ids, lengths = make_encoder("uci").encode_batch(pa.RecordBatch.from_pylist([game]))
    >>> ids.tolist(), lengths.tolist()
    ([1, 17, 43, 997, 1164, 5, 2], [7])

A scheme's encoder looks at whole batches through a kernel, and leaves each game that the kernel does not take to the
readable way, `encode_game`: a game at a time through the single-game tokenizers. Its ids or its error stand.

| module | holds |
|---|---|
| `encoder.py` | what an encoder promises, and how games that were left come back in |
| `games.py` | what every scheme accepts, game by game, and the errors for all else |
| `arrays.py` | the columns of a batch as the arrays that kernels read |
| `uci.py`, `san.py`, `bpe.py` | the three encoders |
| `uci_writing.py`, `bpe_writing.py` | their kernels; that of san is `rukh_assets.board.uci_to_san_ids` |
| `bpe_pieces.py` | a trained tokenizer as tables for its kernel |
| `san_text.py` | games spelt in SAN by python-chess |
"""

from pathlib import Path
from typing import Any

from rukh_assets.encode.encoder import Encoder
from rukh_assets.errors import TokenizerRequiredError, UnknownSchemeError

SCHEMES = ("uci", "san", "bpe")

__all__ = ["SCHEMES", "Encoder", "make_encoder"]


def make_encoder(scheme: str, bpe: Any = None) -> Encoder:
    """Build the encoder of a scheme; `bpe` is a `tokenizers.Tokenizer` or the path of its JSON, for that scheme only.

    Raises `UnknownSchemeError`, `TokenizerRequiredError` (both `ValueError`s), what `load_bpe` and `bpe_vocabulary`
    raise for a file or tokenizer that is not as the contract says, and `VocabularyTooLargeError` above 65,536 ids.
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
