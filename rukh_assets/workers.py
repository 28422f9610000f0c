"""Work spread over the cores of this machine, its results in the order of the work however many workers there are.

    >>> from rukh_assets.workers import Workers
    >>> with Workers(2) as workers:
    ...     list(workers.map(len, ["pawn", "king", "rook a1"]))
    [4, 4, 7]

Workers are threads: what takes time in this project holds no GIL. One worker is the calling thread, with no other
beside it.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from rukh_assets.errors import WorkersError

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """`count` workers, all cores that this process may use where it is None; a context, in which they live.

    Raises `WorkersError` for a count under 1.
    """

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise WorkersError(f"{count} workers; allowed are 1 and more, or none for all cores")
        self.count = count or _cores()
        self._executor: Executor = ThreadPoolExecutor(self.count) if self.count > 1 else CallingThread()
        self._readers = ThreadPoolExecutor()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield what `function` returns for each item, in the items' order.

        At most `count + 1` items are taken of which no result was yielded yet. Raises what `function` or the items
        raise, at the same item for any `count`.
        """
        running: deque[Future[Result]] = deque()
        try:
            for item in items:
                running.append(self._executor.submit(function, item))
                if len(running) > self.count:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()

    def ahead(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, of which the next is made in another thread meanwhile; with one worker, not ahead."""
        if self.count == 1:
            yield from items
            return
        source, end = iter(items), object()
        coming: Future[Any] = self._readers.submit(next, source, end)
        while (item := coming.result()) is not end:
            coming = self._readers.submit(next, source, end)
            yield item

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._readers.shutdown(cancel_futures=True)
        self._executor.shutdown(cancel_futures=True)


class CallingThread(Executor):
    """An executor without threads: it does the work when it is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do the work and return it, done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _cores() -> int:
    """As many as this process may use, which in a container are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


ALONE = Workers(1)
"""The calling thread alone."""
