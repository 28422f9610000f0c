"""The rules of chess as numba kernels over arrays, for whole Arrow arrays of games at a time.

    >>> import pyarrow as pa
    >>> from rukh_assets.board import DONE, movetext_to_uci, uci_to_san_ids
    >>> movetexts = pa.array(["1. e4 { [%clk 0:03:00] } e5 2. Nf3 1-0", "1. e4 Ke4 1-0"])
    >>> games = movetext_to_uci(movetexts)
    >>> games.uci[0].as_py()
    'e2e4 e7e5 g1f3'
    >>> (games.verdicts == DONE).tolist()
    [True, False]
    >>> uci_to_san_ids(games.uci[:1], games.results[:1]).ids[:9].tolist()
    [1, 9, 7, 29, 12, 3, 29, 13, 3]

A kernel never decides alone that a game is bad. What it accepts (`DONE`) is what its oracle accepts, with the same
moves; what it does not, it leaves to the oracle, whose verdict and reason stand. Each kernel and rule names its oracle,
a function of python-chess or of the readable code.

| module | holds |
|---|---|
| `batches.py` | Arrow arrays in and out: `uci_to_san_ids`, `movetext_to_uci`, `check_uci_games`, `load_kernels` |
| `verdicts.py` | what kernels say of a game; result tokens |
| `san_writing.py` | UCI to ids of the san scheme |
| `movetext_reading.py`, `movetext_tokens.py`, `san_reading.py` | movetext to UCI: games, tokens, single moves |
| `uci_reading.py` | UCI to squares, and games replayed |
| `generate.py` | all legal moves, perft |
| `single.py` | the rules on any position, move by move: for tests, and to look into a position |
| `legality.py`, `play.py`, `attacks.py` | the rules: which moves are legal, making them, who attacks what |
| `position.py`, `tables.py`, `characters.py` | the slots of a position; tables by square; characters |
| `kernel.py`, `intrinsics.py` | how all this is compiled |

How things are represented, everywhere here:

- A square is a number from 0 (a1) to 63 (h8), files first, as in python-chess.
- A bitboard is an int64 with the bit of each square in a set. It is signed, so that no unsigned number meets a signed
  one (numba makes a float of the two); what that changes is `>>`, which is followed by `& 1` or not used.
- A kind is a number from PAWN (1) to KING (6); a piece is its kind plus its side, WHITE (0) or BLACK (8).
- A position is one array of int64 slots: at each piece's number its bitboard, at `side + ALL` that of all pieces of a
  side, then the side to move, castling rights (bits of the squares to which kings may castle), the square behind a pawn
  that just made a double step, the pieces that give check, and the piece on each square from slot `SQUARES` on.
- A move is `origin | target << 6 | promotion << 12`, promotion being the kind of the new piece.

Rules are compiled into each kernel that needs them, and take arrays as bare pointers: nothing checks their bounds, so
a kernel makes sure of its room before each game. Nothing is compiled on import.
"""

from rukh_assets.board.batches import (
    SanIds,
    UciGames,
    Verdicts,
    check_uci_games,
    load_kernels,
    movetext_to_uci,
    uci_to_san_ids,
)
from rukh_assets.board.movetext_tokens import CLOCKS, EVALS, OTHERS
from rukh_assets.board.single import find_move, legal_moves, perft, spell_move
from rukh_assets.board.verdicts import (
    DONE,
    FINISHED,
    MAX_PLIES,
    NOT_LEGAL,
    NULL,
    RESULTS,
    TOO_LONG,
    UNKNOWN_RESULT,
    UNREADABLE,
)

__all__ = [
    "CLOCKS",
    "DONE",
    "EVALS",
    "FINISHED",
    "MAX_PLIES",
    "NOT_LEGAL",
    "NULL",
    "OTHERS",
    "RESULTS",
    "TOO_LONG",
    "UNKNOWN_RESULT",
    "UNREADABLE",
    "SanIds",
    "UciGames",
    "Verdicts",
    "check_uci_games",
    "find_move",
    "legal_moves",
    "load_kernels",
    "movetext_to_uci",
    "perft",
    "spell_move",
    "uci_to_san_ids",
]
