"""The three ways to write a game as ids, one game at a time: plain, and the judge of every faster way.

    uci   UciTokenizer        one id a move; 2,030 tokens, fixed
    san   SanCharTokenizer    one id a character of the movetext; 35 tokens, fixed
    bpe   functions           pieces learned from games; needs the package `tokenizers`, imported when used

`<pad>` is 0, `<bos>` 1 and `<eos>` 2 in all three.

>>> from rukh_loaders.tokenizers import SanCharTokenizer, UciTokenizer
>>> uci = UciTokenizer()
>>> ids = uci.encode_game("e2e4 e7e5 g1f3", white_elo=1873, black_elo=3300, result="1-0")
>>> ids
[1, 20, 61, 997, 1164, 1455, 5, 2]
>>> uci.decode(ids)
['<bos>', '<w1800>', '<b3200>', 'e2e4', 'e7e5', 'g1f3', '<1-0>', '<eos>']
>>> uci.ids["a7a8q"], len(uci.vocab)
(1854, 2030)

>>> san = SanCharTokenizer()
>>> san.decode(san.encode("1.e4 e5 2.Nf3 1-0"))
'1.e4 e5 2.Nf3 1-0'

The text of `bpe` has no blanks, and splitting it again replays the game, since `b` is a file and a bishop:

>>> from rukh_loaders.tokenizers import bpe
>>> bpe.bpe_text("e2e4 e7e5 g1f3")
'e2e4e7e5g1f3'
>>> bpe.split_moves("a2a4b7b5a4b5a7a6b5a6c8b7a6b7d7d6b7a8b")
['a2a4', 'b7b5', 'a4b5', 'a7a6', 'b5a6', 'c8b7', 'a6b7', 'd7d6', 'b7a8b']

>>> tokenizer = bpe.train_bpe(["e2e4 e7e5 g1f3", "e2e4 e7e5 g1f3 b8c6"], vocab_size=40)
>>> bpe.decode(tokenizer, bpe.encode(tokenizer, "e2e4 e7e5 b1c3", result="0-1"))
'e2e4e7e5b1c3'
"""

from rukh_loaders.tokenizers.san import SanCharTokenizer
from rukh_loaders.tokenizers.uci import UciTokenizer, elo_bin
from rukh_loaders.tokenizers.vocabulary import (
    BOS,
    EOS,
    MASK,
    PAD,
    RESULT_IDS,
    RESULT_TOKENS,
    SPECIALS,
    UNK,
    Vocabulary,
)

__all__ = [
    "BOS",
    "EOS",
    "MASK",
    "PAD",
    "RESULT_IDS",
    "RESULT_TOKENS",
    "SPECIALS",
    "UNK",
    "SanCharTokenizer",
    "UciTokenizer",
    "Vocabulary",
    "elo_bin",
]
