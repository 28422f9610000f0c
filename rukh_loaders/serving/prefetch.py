"""What an iterator gives, made ahead of time by one thread."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from rukh_loaders.errors import IterationClosedError

T = TypeVar("T")

_JOIN_SECONDS = 0.9
"""How long `close` waits for the item in the making, after which the thread ends by itself."""


@dataclass(frozen=True)
class _Made(Generic[T]):
    item: T


@dataclass(frozen=True)
class _Ended:
    error: BaseException


class Prefetcher(Iterator[T]):
    """The items of `items` in their order, up to `ahead` (1 or more) of them made before they are asked for.

    One thread makes them, and it alone runs the code of `items`. An exception of `items` is raised by `next()` at the
    place of the item that it prevented, and by each `next()` after that. The thread ends with the items, at `close`,
    when nothing refers to the prefetcher any more, or with the interpreter, whichever comes first; so `items` must not
    refer to the prefetcher. Several threads may call `next()`: each item goes to one of them, the end to all.

    Raises:
        IterationClosedError: the thread is not in this process, which was forked from the one that began it.
    """

    def __init__(self, items: Iterator[T], ahead: int) -> None:
        # A word for each item that may be made, which bounds both queues; False asks the thread to end.
        self._wanted: SimpleQueue[bool] = SimpleQueue()
        self._made: SimpleQueue[_Made[T] | _Ended] = SimpleQueue()
        self._ended: BaseException | None = None
        for _ in range(ahead):
            self._wanted.put(True)
        # A daemon, since the interpreter waits for all others before it runs the finalizer that ends this one.
        self._thread = threading.Thread(
            target=_make, args=(items, self._wanted, self._made), name="rukh-prefetch", daemon=True
        )
        self._stop = weakref.finalize(self, _end_thread, self._wanted, self._thread)
        self._thread.start()

    def __next__(self) -> T:
        if self._ended is not None:
            raise self._ended
        if not self._thread.is_alive() and self._made.empty():
            raise IterationClosedError("the thread that makes the batches is not in this process; iterate anew here")
        made = self._made.get()
        if isinstance(made, _Ended):
            self._ended = made.error
            self._made.put(made)  # for other threads that wait for an item
            raise made.error
        self._wanted.put(True)
        return made.item

    def close(self) -> None:
        """End the thread, and wait at most a second for it. `next()` gives nothing more. May be called again."""
        if self._ended is None:
            self._ended = StopIteration()
        self._stop()


def _make(items: Iterator[T], wanted: SimpleQueue[bool], made: SimpleQueue[_Made[T] | _Ended]) -> None:
    try:
        while wanted.get():
            made.put(_Made(next(items)))
        made.put(_Ended(StopIteration()))  # a thread may be waiting
    except BaseException as error:  # StopIteration too: the taker is to see it
        made.put(_Ended(error))


def _end_thread(wanted: SimpleQueue[bool], thread: threading.Thread) -> None:
    with contextlib.suppress(Empty):
        while True:
            wanted.get_nowait()  # so that nothing is made any more that nobody will see
    wanted.put(False)
    # It cannot be joined by itself, where the garbage collector may run, or where a Ctrl-C came before it began.
    with contextlib.suppress(RuntimeError):
        thread.join(_JOIN_SECONDS)
