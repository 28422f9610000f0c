"""One game of a pack in words: its columns, its moves, and the board after any of them."""

import textwrap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import NoSuchGameError, NoSuchPlyError, UnreadableIdsError
from rukh_loaders.formats.pack import Pack
from rukh_loaders.inspection.columns import column_value
from rukh_loaders.inspection.game_text import GameText, board_text, game_reader

WIDTH = 100


def describe_moves(pack: Pack, game: int, tokenizer: Path | None = None) -> str:
    """The game's columns and its moves; where its ids cannot be read, the ids themselves and why.

    `tokenizer` is that of a bpe pack, as `game_reader` takes it. `NoSuchGameError` for a game that is not there.
    """
    ids = _ids(pack, game)
    try:
        text = game_reader(pack, tokenizer)(ids)
    except UnreadableIdsError as error:
        return "\n".join([_head(pack, game, ids.size), "", _wrapped(" ".join(map(str, ids))), "", f"ids only: {error}"])
    return "\n".join([_head(pack, game, ids.size), f"  {'frame':14}{text.frame}", "", _wrapped(text.movetext)])


def describe_board(pack: Pack, game: int, ply: int | None = None, tokenizer: Path | None = None) -> str:
    """The board after `ply` moves of the game, after all of them by default.

    Raises:
        NoSuchGameError, NoSuchPlyError: the pack has no such game, or the game no such ply.
        UnreadableIdsError: what `game_reader` raises.
        SanMoveError: the text of a san game that no legal moves give.
    """
    text = game_reader(pack, tokenizer)(_ids(pack, game))
    plies = len(text.moves)
    ply = plies if ply is None else ply
    if not 0 <= ply <= plies:
        raise NoSuchPlyError(f"{pack.path}: game {game} has no ply {ply}, allowed: 0 (the start) to {plies}")
    return f"{_wording(text, ply)}\n\n{board_text(text.uci_moves(ply))}"


def _wording(text: GameText, ply: int) -> str:
    turn = "White" if ply % 2 == 0 else "Black"
    if ply == 0:
        return f"ply 0 of {len(text.moves)}: the start, {turn} to move"
    move = f"{(ply + 1) // 2}.{'..' if ply % 2 == 0 else ''}{text.moves[ply - 1]}"
    return f"ply {ply} of {len(text.moves)}: after {move}, " + (
        "the last move" if ply == len(text.moves) else f"{turn} to move"
    )


def _ids(pack: Pack, game: int) -> NDArray[np.uint16]:
    if not 0 <= game < len(pack):
        allowed = f"0 to {len(pack) - 1}" if len(pack) else "none, since it is empty"
        raise NoSuchGameError(f"{pack.path}: has no game {game}, allowed: {allowed}")
    return pack.game(game)


def _head(pack: Pack, game: int, size: int) -> str:
    begin = int(pack.starts[game])
    head = f"game {game} of 0 to {len(pack) - 1}: {size} tokens, {begin:,} to {begin + size - 1:,} of the stream"
    values = {name: column_value(name, int(column[game])) for name, column in pack.columns.items()}
    if {"base_seconds", "increment_seconds"} <= values.keys():
        base, increment = values.pop("base_seconds"), values.pop("increment_seconds")
        values["time control"] = base if base == "correspondence" else f"{base}+{increment}"
    return "\n".join([head, *(f"  {name:14}{value}" for name, value in values.items())])


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
