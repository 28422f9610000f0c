"""How the functions of this package are compiled."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba

from rukh_assets.board.kernel import kernel as kernel_of_board

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """A kernel as those of the board, in whose cached name is a digest of this package's modules too."""
    function.__qualname__ += f"_{_SOURCES}"
    return kernel_of_board(function)


def step(function: Function) -> Function:
    """Let kernels and rules call `function`, which is compiled once: for what is too long to be a part of each."""
    return cast(Function, numba.njit(nogil=True)(function))


def _digest_of_sources() -> str:
    modules = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\0".join(module.read_bytes() for module in modules)).hexdigest()[:16]


_SOURCES = _digest_of_sources()
