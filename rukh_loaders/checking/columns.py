"""Whether the columns of a pack are those of its games: row i of the one is game i of the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.errors import PackError
from rukh_loaders.formats.pack import Pack
from rukh_loaders.tokenizers import UciTokenizer
from rukh_loaders.tokenizers.uci import ELO_MAX, ELO_MIN, ELO_STEP
from rukh_loaders.tokenizers.vocabulary import RESULT_IDS

Numbers = NDArray[np.int64]
FromIds = Callable[[Pack, Numbers, Numbers], Numbers]
"""What the ids of games say of them: takes the pack, where the games start, and where they end."""

GAMES_AT_ONCE = 1 << 18

FRAME_TOKENS = {"uci": 5, "bpe": 3}
"""Tokens beside the moves: `<bos>`, in `uci` two ratings, the result, `<eos>`."""

_COLUMN_OF_RESULT = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}
_NO_RESULT = -2


def check_columns(pack: Pack) -> None:
    """Raise `PackError` where a column says otherwise than the ids of its game; names the game and both values.

    Compared is what ids tell without being decoded: in `uci` the number of moves, the bins of both ratings and the
    result, in `bpe` the result, in other schemes nothing. Starts must have been found to rise (`Pack.verify`).
    """
    columns = {name: said for name, said in _SAID.get(pack.info.scheme, {}).items() if name in pack.columns}
    if not columns:
        return
    for first in range(0, len(pack), GAMES_AT_ONCE):
        starts, ends = _bounds(pack, first)
        _check_room(pack, first, ends - starts)
        for name, said in columns.items():
            _compare(pack, name, first, said(pack, starts, ends))


def _bounds(pack: Pack, first: int) -> tuple[Numbers, Numbers]:
    bounds = pack.starts[first : first + GAMES_AT_ONCE + 1]
    if first + GAMES_AT_ONCE >= len(pack):
        bounds = np.append(bounds, np.int64(pack.info.n_tokens))
    return bounds[:-1], bounds[1:]


def _check_room(pack: Pack, first: int, lengths: Numbers) -> None:
    least = FRAME_TOKENS[pack.info.scheme]
    if lengths.min() < least:
        game = int(np.argmax(lengths < least))
        raise PackError(f"{pack.path}: game {first + game} has {lengths[game]} tokens, expected {least} or more")


def _compare(pack: Pack, name: str, first: int, said: Numbers) -> None:
    values = pack.columns[name][first : first + said.size]
    wrong = np.flatnonzero((_elo_bins(values) if name.endswith("_elo") else values) != said)
    if wrong.size:
        game = int(wrong[0])
        bin_said = f"a rating of the bin {said[game]}" if name.endswith("_elo") else f"{said[game]}"
        raise PackError(
            f"{pack.path}/columns/{name}.npy: game {first + game} has {values[game]}, its ids say {bin_said}"
        )


def _elo_bins(ratings: NDArray[Any]) -> Numbers:
    """As `tokenizers.elo_bin`, of many."""
    return np.clip(ratings.astype(np.int64), ELO_MIN, ELO_MAX) // ELO_STEP * ELO_STEP


def _plies(pack: Pack, starts: Numbers, ends: Numbers) -> Numbers:
    return ends - starts - FRAME_TOKENS["uci"]


def _elo_said(place: int, first_id: int) -> FromIds:
    """The bins of the ratings at this place of each game, `first_id` being that of the lowest."""

    def said(pack: Pack, starts: Numbers, ends: Numbers) -> Numbers:
        return ELO_MIN + (pack.tokens[starts + place].astype(np.int64) - first_id) * ELO_STEP

    return said


def _result_said(pack: Pack, starts: Numbers, ends: Numbers) -> Numbers:
    ids = pack.tokens[ends - 2]
    found = [ids == RESULT_IDS[result] for result in _COLUMN_OF_RESULT]
    return np.select(found, list(_COLUMN_OF_RESULT.values()), _NO_RESULT)


_IDS = UciTokenizer().ids

_SAID: dict[str, dict[str, FromIds]] = {
    "uci": {
        "n_plies": _plies,
        "white_elo": _elo_said(1, _IDS[f"<w{ELO_MIN:04d}>"]),
        "black_elo": _elo_said(2, _IDS[f"<b{ELO_MIN:04d}>"]),
        "result": _result_said,
    },
    "bpe": {"result": _result_said},
}
