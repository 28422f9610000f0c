"""How far a long reading is, on a terminal."""

import sys
import time
from types import TracebackType
from typing import TextIO

_SECONDS_BETWEEN = 0.1


class Progress:
    """A context manager that keeps `label 37 %` on one line of the terminal while `advance` is called.

    `total` is what the calls add up to. It draws on stderr, removes the line in the end, and where stderr is no
    terminal writes nothing.
    """

    def __init__(self, label: str, total: int, stream: TextIO | None = None) -> None:
        self.label = label
        self.total = total
        self.done = 0
        self._stream = sys.stderr if stream is None else stream  # None where stderr is closed
        self._shown = self._stream is not None and self._stream.isatty()
        self._next = 0.0

    def advance(self, count: int) -> None:
        """Say that `count` more are done."""
        self.done += count
        if self._shown and (now := time.monotonic()) >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._draw(f"{self.label} {self.done / max(self.total, 1):.0%}")

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._draw("")

    def _draw(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()
