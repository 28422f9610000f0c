"""What numba has no words for: the squares of a bitboard, the first, the last and how many; an array's memory."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from rukh_assets.board.kernel import Numbers

_ZERO_HAS_NO_ANSWER = ir.Constant(ir.IntType(1), 1)


def _count_trailing_zeros(typing_context: Any, bitboard: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _ZERO_HAS_NO_ANSWER)

    return types.int64(types.int64), generate


def _index_of_highest_one(typing_context: Any, bitboard: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.xor(builder.ctlz(arguments[0], _ZERO_HAS_NO_ANSWER), ir.Constant(ir.IntType(64), 63))

    return types.int64(types.int64), generate


def _count_ones(typing_context: Any, bitboard: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


def _wrapping_difference(typing_context: Any, minuend: Any, subtrahend: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.sub(*arguments)

    return types.int64(types.int64, types.int64), generate


def _data_of_array(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


def _pointer_to_slot(typing_context: Any, pointer: Any, slot: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), generate


lowest_square: Callable[[int], int] = intrinsic(_count_trailing_zeros)
"""The lowest square of a bitboard; an empty one has no answer. Oracle: `chess.lsb`."""

highest_square: Callable[[int], int] = intrinsic(_index_of_highest_one)
"""The highest square of a bitboard; an empty one has no answer. Oracle: `chess.msb`."""

count_squares: Callable[[int], int] = intrinsic(_count_ones)
"""How many squares a bitboard has. Oracle: `chess.popcount`."""

difference: Callable[[int, int], int] = intrinsic(_wrapping_difference)
"""The difference of two bitboards, wrapping: numba leaves `-` open where it overflows, as h8 alone less 1 does."""

memory: Callable[[Numbers], Numbers] = intrinsic(_data_of_array)
"""An array as a bare pointer, for arrays that are arguments of a kernel and so outlive it.

A rule that takes an array counts its references and looks for negative indices, which costs as much as the rule.
"""

from_slot: Callable[[Numbers, int], Numbers] = intrinsic(_pointer_to_slot)
"""The slots of `memory(array)` from one on, counted from 0 again."""
