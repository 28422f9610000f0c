"""Games chosen by what their columns say, read a chunk at a time so that memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rukh_loaders.errors import ChoiceError, NoColumnError
from rukh_loaders.packs.chosen import BLOCK, Choice, ChoiceBuilder, GameRange
from rukh_loaders.packs.criteria import Criterion
from rukh_loaders.packs.stream import Stream

CHUNK = 1 << 20
"""Games looked at in one go: 8 MB of the widest column."""

Answers = NDArray[np.bool_]
"""One a chosen game of a chunk: whether it stays chosen."""

Columns = Mapping[str, NDArray[Any]]


class Chunk:
    """Some of the chosen games, consecutive among the chosen: the first is the `first`-th, there are `count`."""

    def __init__(self, stream: Stream, chosen: NDArray[np.bool_], begin: int, first: int) -> None:
        self.first = first
        self.count = int(np.count_nonzero(chosen))
        self._stream = stream
        self._begin = begin
        self._chosen = chosen

    @property
    def games(self) -> NDArray[np.int64]:
        """The chosen games of the chunk, as numbers of the stream."""
        return np.flatnonzero(self._chosen) + self._begin

    @cached_property
    def columns(self) -> Columns:
        """One value a chosen game of the chunk, by name; each column is read when it is first asked for."""
        return _ChunkColumns(self._stream, self._begin, self._chosen, self.count)

    def spread(self, answers: Answers) -> NDArray[np.bool_]:
        """The answers for the chosen games put among those that were not chosen, which stay so."""
        if self.count == self._chosen.size:
            return answers
        spread = np.zeros(self._chosen.size, np.bool_)
        spread[self._chosen] = answers
        return spread


def chunks(stream: Stream, choice: Choice) -> Iterator[Chunk]:
    """All games from the first chosen one to the last, in chunks that a `ChoiceBuilder` takes the answers for."""
    first = 0
    for low in range(choice.begin // BLOCK * BLOCK, choice.end, CHUNK):
        begin, end = max(low, choice.begin), min(low + CHUNK, choice.end)
        chunk = Chunk(stream, choice.mask(begin, end), begin, first)
        yield chunk
        first += chunk.count


def choose(stream: Stream, choice: Choice, keep: Callable[[Chunk], Answers]) -> Choice:
    """Those of the chosen games for which `keep`, asked chunk by chunk, says yes."""
    builder = ChoiceBuilder(choice.begin, choice.end)
    for chunk in chunks(stream, choice):
        builder.append(chunk.spread(keep(chunk)))
    return builder.finish()


def choose_by_criteria(stream: Stream, choice: Choice, criteria: Sequence[Criterion]) -> Choice:
    """Those of the chosen games that meet every criterion; `NoColumnError` names a pack without the column."""
    for name in {name for criterion in criteria for box in criterion for name, _, _ in box}:
        stream.check_column(name)
    return choose(stream, choice, lambda chunk: _meet(chunk, criteria))


def choose_by_answers(stream: Stream, choice: Choice, answers: ArrayLike) -> Choice:
    """Those of the chosen games for which the array says True; `ChoiceError` unless it is one bool a chosen game."""
    given = _checked("the array", np.asarray(answers), choice.count)
    return choose(stream, choice, lambda chunk: given[chunk.first : chunk.first + chunk.count])


def choose_by_function(stream: Stream, choice: Choice, keep: Callable[[Columns], ArrayLike]) -> Choice:
    """Those of the chosen games for which `keep` of their columns, called a chunk at a time, says True."""
    return choose(stream, choice, lambda chunk: _checked("the function", np.asarray(keep(chunk.columns)), chunk.count))


def choose_by_place(stream: Stream, choice: Choice, places: slice) -> Choice:
    """Those of the chosen games that the slice of their numbers takes; of a range with step 1 a range, for free."""
    begin, end, step = places.indices(choice.count)
    if step < 1:
        raise ChoiceError(f"games{places}: the step is {step}; games keep their order, so it must be 1 or more")
    if begin >= end:
        return GameRange(0, 0)
    if step == 1 and isinstance(choice, GameRange):
        return GameRange(choice.begin + begin, choice.begin + end)

    def taken(chunk: Chunk) -> Answers:
        k = np.arange(chunk.first, chunk.first + chunk.count)
        answers: Answers = (k >= begin) & (k < end) & ((k - begin) % step == 0)
        return answers

    return choose(stream, choice, taken)


def _meet(chunk: Chunk, criteria: Sequence[Criterion]) -> Answers:
    answers = np.ones(chunk.count, np.bool_)
    for criterion in criteria:
        met = np.zeros(chunk.count, np.bool_)
        for box in criterion:
            inside = np.ones(chunk.count, np.bool_)
            for name, low, high in box:
                values = chunk.columns[name]
                inside &= (values >= low) & (values <= high)
            met |= inside
        answers &= met
    return answers


def _checked(source: str, answers: NDArray[Any], count: int) -> Answers:
    if answers.dtype != np.bool_ or answers.shape != (count,):
        raise ChoiceError(
            f"{source} that games are chosen by gave {answers.dtype} of shape {answers.shape}; "
            f"allowed is one bool for each of the {count} chosen games"
        )
    return answers


@dataclass(frozen=True, eq=False)
class _ChunkColumns(Mapping[str, NDArray[Any]]):
    stream: Stream
    begin: int
    chosen: NDArray[np.bool_]
    count: int

    def __getitem__(self, name: str) -> NDArray[Any]:
        values = self.stream.column_between(name, self.begin, self.begin + self.chosen.size)
        return values if self.count == self.chosen.size else values[self.chosen]

    def __contains__(self, name: object) -> bool:
        return name in self.stream.column_names

    def __iter__(self) -> Iterator[str]:
        if not len(self):
            packs = ", ".join(str(pack.path) for pack in self.stream.packs[:3])
            raise NoColumnError(f"{packs}: have no column in common, so a function has nothing to tell games by")
        return iter(self.stream.column_names)

    def __len__(self) -> int:
        return len(self.stream.column_names)
