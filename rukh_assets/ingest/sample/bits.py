"""What the sample needs beside the intrinsics of the board: counting squares, and parts of one scratch array."""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic

from rukh_assets.board.kernel import Numbers


def _count_ones(typing_context: Any, bitboard: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


def _pointer_to_slot(typing_context: Any, pointer: Any, slot: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), generate


count_squares: Callable[[int], int] = intrinsic(_count_ones)
"""How many squares a bitboard has. Oracle: `chess.popcount`."""

from_slot: Callable[[Numbers, int], Numbers] = intrinsic(_pointer_to_slot)
"""The slots of `memory(array)` from one on, counted from 0 again."""
