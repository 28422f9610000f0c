"""What packs hold, in words: the text that `python -m rukh_loaders inspect` shows. No torch.

    describe_packs(packs)                 a table of several packs
    describe_pack(pack)                   what one holds: sizes, lengths of games, ranges of columns
    describe_moves(pack, game)            one game's columns and moves
    describe_board(pack, game, ply)       the board after so many moves

| module | holds |
|---|---|
| `packs.py`, `games.py` | the functions above |
| `game_text.py` | ids turned back into moves and a board, scheme by scheme |
| `columns.py`, `lengths.py` | columns in words, how long games are |
"""

from rukh_loaders.inspection.games import describe_board, describe_moves
from rukh_loaders.inspection.packs import describe_pack, describe_packs

__all__ = ["describe_board", "describe_moves", "describe_pack", "describe_packs"]
