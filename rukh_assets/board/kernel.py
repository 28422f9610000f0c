"""How the functions of this package are compiled, and what they see of arrays."""

import functools
import hashlib
import inspect
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
    so the name under which a kernel is cached holds a digest of all modules of this package and of the kernel's own:
    none runs with stale rules inside.
    """
    function.__qualname__ += f"_{_digest_of_sources(Path(inspect.getfile(function)).parent)}"
    try:
        return cast(Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no folder for the cache
        return cast(Function, numba.njit(nogil=True)(function))


def rule(function: Function) -> Function:
    """Make `function` a part of each kernel that calls it, in line: with calls between them, rules take twice as long.

    Not meant to be called from Python.
    """
    return cast(Function, numba.njit(nogil=True, forceinline=True)(function))


def step(function: Function) -> Function:
    """Let kernels and rules call `function`, which is compiled once: for what is too long to be a part of each."""
    return cast(Function, numba.njit(nogil=True)(function))


@functools.cache
def _digest_of_sources(package: Path) -> str:
    modules = sorted({*Path(__file__).parent.glob("*.py"), *package.glob("*.py")})
    return hashlib.sha256(b"\0".join(module.read_bytes() for module in modules)).hexdigest()[:16]
