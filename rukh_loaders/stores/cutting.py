"""Where windows lie in a stream, and which items of several parts an index means."""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rukh_loaders.errors import RecordIndexError, StoreArgumentError


@dataclass(frozen=True)
class Cutting:
    """Windows of `window_size` tokens, one each `stride` of them; no windows, but records, where the size is 0.

    A window needs one more token behind it, the target of its last. What is left over at the end of a stream, too short
    for a window, is left out, or with `pad_last` a window of its own that is shorter.
    """

    window_size: int = 0
    stride: int | None = None
    pad_last: bool = False

    def __post_init__(self) -> None:
        if operator.index(self.window_size) < 0:
            raise StoreArgumentError(f"window_size is {self.window_size}; it must be 0, for whole records, or more")
        if self.stride is not None and operator.index(self.stride) < 1:
            raise StoreArgumentError(f"stride is {self.stride}; it must be 1 or more, or None for window_size")

    @property
    def step(self) -> int:
        """Tokens from the beginning of a window to that of the next."""
        return self.window_size if self.stride is None else self.stride

    def count(self, tokens: int) -> int:
        """How many windows a stream of so many tokens has."""
        spare = tokens - 1 - self.window_size
        if self.pad_last:
            return 0 if tokens < 2 else max(-(-spare // self.step), 0) + 1
        return 0 if spare < 0 else spare // self.step + 1

    def window(self, i: int, tokens: int) -> tuple[int, int]:
        """Begin and end of window i of a stream of so many tokens."""
        begin = i * self.step
        return begin, min(begin + self.window_size, tokens - 1)


@dataclass(frozen=True)
class Part:
    """A run of a store that is served in a share of its own: its records, and the tokens that they have."""

    name: str
    records: range
    tokens: range


class Parts:
    """Parts whose items, windows or records, are numbered through, one part after the other."""

    def __init__(self, parts: Iterable[Part], cutting: Cutting, by_window: bool) -> None:
        self.parts = tuple(parts)
        self._cutting = cutting
        self._by_window = by_window
        self.lengths = tuple(cutting.count(len(part.tokens)) if by_window else len(part.records) for part in self.parts)

    def __len__(self) -> int:
        return sum(self.lengths)

    def locate(self, where: str, item: int) -> tuple[Part, int]:
        """The part of an item and its number in it; `RecordIndexError`, an `IndexError`, for one that there is not."""
        rest = operator.index(item)
        for part, length in zip(self.parts, self.lengths, strict=True):
            if 0 <= rest < length:
                return part, rest
            rest -= length
        raise RecordIndexError(f"{where}: no {self.noun} {item}, {self._allowed()}")

    @property
    def noun(self) -> str:
        """What an item is."""
        return "window" if self._by_window else "record"

    def _allowed(self) -> str:
        if len(self):
            return f"allowed: 0 to {len(self) - 1}"
        if not self._by_window:
            return "it has none"
        tokens = sum(len(part.tokens) for part in self.parts)
        return f"the data is too short: {tokens} tokens, and a window takes {self._cutting.window_size + 1}"


def chosen_parts(domains: Sequence[Part], weights: Iterable[str] | None, where: str) -> list[Part]:
    """All domains as one part, or those that weights name, each a part; `StoreArgumentError` for other names."""
    if weights is None:
        end = domains[-1] if domains else Part("", range(0), range(0))
        return [Part("", range(end.records.stop), range(end.tokens.stop))]
    by_name = {part.name: part for part in domains}
    unknown = [name for name in weights if name not in by_name]
    if unknown:
        raise StoreArgumentError(f"{where}: weights name {', '.join(unknown)}; its domains are {', '.join(by_name)}")
    return [by_name[name] for name in weights]
