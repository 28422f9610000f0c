"""How the functions of this package are compiled, and what they see of arrays."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


class Numbers(Protocol):
    """An array of whole numbers as a kernel sees it: read and written by index, and nothing checks the bounds."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> int: ...
    def __setitem__(self, index: int, value: int, /) -> None: ...


class Table(Protocol):
    """A constant array of two dimensions as a kernel sees it."""

    def __getitem__(self, index: tuple[int, int], /) -> int: ...


def kernel(function: Function) -> Function:
    """Compile `function` at its first call, or load it from numba's cache; it holds no GIL while it runs.

    The cache lies where numba puts it (NUMBA_CACHE_DIR, else beside the module, else in the user's cache); where none
    of them can be written to, each process compiles anew. numba compares the source of the kernel's own module only,
    so the name under which a kernel is cached holds a digest of all modules of this package: none runs with stale
    rules inside.
    """
    function.__qualname__ += f"_{_SOURCES}"
    try:
        return cast(Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no folder for the cache
        return cast(Function, numba.njit(nogil=True)(function))


def rule(function: Function) -> Function:
    """Make `function` a part of each kernel that calls it, in line: with calls between them, rules take twice as long.

    Not meant to be called from Python.
    """
    return cast(Function, numba.njit(nogil=True, forceinline=True)(function))


def _digest_of_sources() -> str:
    modules = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\0".join(module.read_bytes() for module in modules)).hexdigest()[:16]


_SOURCES = _digest_of_sources()
