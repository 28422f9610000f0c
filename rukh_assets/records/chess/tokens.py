"""Games as text: the tokens of the uci scheme, a blank between two, and the tokenizer folder that reads them.

The ids are those of packs of the uci scheme, so a model that was trained on packs goes on with these records.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.tokenizers import UciTokenizer
from rukh_loaders.tokenizers.uci import elo_bin
from rukh_loaders.tokenizers.vocabulary import BOS, EOS, PAD, SPECIALS, UNK

CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
"""Roles leave no trace in the text: whose move it is follows from how many were made."""

_NAMED = {"bos_token": BOS, "eos_token": EOS, "pad_token": PAD, "unk_token": UNK}
_SQUARES = [file + rank for rank in "12345678" for file in "abcdefgh"]
_PROMOTIONS = ("", "", "n", "b", "r", "q")
"""[kind]"""


def ratings_text(white_elo: int, black_elo: int) -> str:
    """What a game begins with, such as `<w1500> <b1600>`."""
    return f"<w{elo_bin(white_elo):04d}> <b{elo_bin(black_elo):04d}>"


def move_text(move: int) -> str:
    """A move, `origin | target << 6 | promotion << 12`, in UCI."""
    return _SQUARES[move & 63] + _SQUARES[move >> 6 & 63] + _PROMOTIONS[move >> 12]


def moves_text(moves: NDArray[np.uint16]) -> str:
    """Moves in UCI, a blank between two."""
    return " ".join(map(move_text, moves.tolist()))


@cache
def move_tokens() -> tuple[str, ...]:
    """Every move that the uci scheme has a token for."""
    return tuple(token for token in UciTokenizer().vocab if not token.startswith("<"))


def write_tokenizer(folder: Path) -> None:
    """Write tokenizer.json and tokenizer_config.json: whole words, with the ids of the uci scheme; text gets a bos."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing

    bos, unknown = SPECIALS[BOS], SPECIALS[UNK]
    tokenizer = Tokenizer(WordLevel(UciTokenizer().ids, unk_token=unknown))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single=f"{bos} $A", special_tokens=[(bos, BOS)])
    tokenizer.add_special_tokens([SPECIALS[token_id] for token_id in _NAMED.values()])
    config = {
        "special_tokens": {name: SPECIALS[token_id] for name, token_id in _NAMED.items()},
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer.json").write_text(tokenizer.to_str(pretty=True) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
