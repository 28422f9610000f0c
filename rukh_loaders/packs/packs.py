"""Packs of many months opened as one stream, and the games chosen from it.

    packs = open_packs("data/packs/uci", "2024-01:2024-12")
    packs = packs.where(white_elo=(1800, None), eco=("B20", "B99"))
    parts = packs.split(salt="first", val=0.01, test=0.01)
    PackedDataset(parts["train"])

Games and tokens are numbered through all opened packs, the months one after the other, with int64. What is chosen
never moves them: the k-th chosen game is game `select(k)` of the stream.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rukh_loaders.errors import GameIndexError, PackReplacedError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.formats.mapping import without_readahead
from rukh_loaders.formats.pack import Pack, open_pack
from rukh_loaders.packs.choosing import (
    Columns,
    choose_by_answers,
    choose_by_criteria,
    choose_by_function,
    choose_by_place,
    chunks,
)
from rukh_loaders.packs.chosen import Choice, GameRange
from rukh_loaders.packs.criteria import Dates, Numbers, Openings, Texts, read_criteria
from rukh_loaders.packs.months import choose_months, find_packs, month_of
from rukh_loaders.packs.splits import Share, split_choice
from rukh_loaders.packs.stream import Games, Positions, Stream

Root = str | os.PathLike[str] | Pack | Sequence[str | os.PathLike[str] | Pack]


def open_packs(root: Root, months: str | Iterable[str] | None = None, vocab_hash: str | None = None) -> Packs:
    """Open the packs of one scheme, all their games chosen; cheap, as `open_pack` is, which opens each.

    `root` is a folder of packs such as `data/packs/uci`, the folder of one pack, or several packs: folders or opened
    ones. They are put in the order of their months, which are the names of their folders; several packs of which not
    all are named so stay in the given order. `months` takes some: `"2024-01"`, `"2024-01:2024-12"` (both ends
    included) or several of these. With `vocab_hash`, packs of another vocabulary are refused.

    Raises:
        NoPacksError: there is none. A `PackError`, as what `open_pack` raises.
        MonthsError: what is no month, and any month, also one amid a range, that no pack is of. A `ValueError`.
        VocabularyMismatchError: packs of different schemes or vocabularies, or of another than was asked for.
    """
    if isinstance(root, Packs):
        raise TypeError(f"{root!r} is open already; of its games, `where(date=...)` takes those of some days")
    found = choose_months(find_packs(root), months)
    packs = [item if isinstance(item, Pack) else open_pack(item) for item in found]
    if vocab_hash is not None:
        for pack in packs:
            pack.check_vocabulary(vocab_hash)
    return Packs(Stream(packs))


class Packs:
    """Games of one or more opened packs, chosen by their place in the stream or by what the columns say of them.

    Immutable. Pickled, it is the folders and the choice: nothing else where the chosen games are consecutive, one bit
    a game where they are not. `stream` is what was opened; `choice` is which games of it are meant.

    Raises:
        PackReplacedError: on unpickling, where other packs lie in the folders by now.
    """

    def __init__(self, stream: Stream, choice: Choice | None = None) -> None:
        self.stream = stream
        self.choice = GameRange(0, stream.n_games) if choice is None else choice

    @property
    def packs(self) -> tuple[Pack, ...]:
        """The opened packs, in the order of the stream."""
        return self.stream.packs

    @property
    def scheme(self) -> str:
        """`uci`, `san` or `bpe`: that of every pack."""
        return self.packs[0].info.scheme

    @property
    def vocab_size(self) -> int:
        """How many ids there are: every id is below it."""
        return self.packs[0].info.vocab_size

    @property
    def vocab_hash(self) -> str:
        """Hash of the vocabulary of every pack, as docs/formats.md defines it."""
        return self.packs[0].info.vocab_hash

    @property
    def game_offsets(self) -> NDArray[np.int64]:
        """The first game of each pack in the stream, and the number of all games; shape (len(packs) + 1,)."""
        return self.stream.game_offsets

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        """The first token of each pack in the stream, and the number of all tokens; shape (len(packs) + 1,)."""
        return self.stream.token_offsets

    @property
    def n_games(self) -> int:
        """How many games are chosen."""
        return self.choice.count

    @cached_property
    def n_tokens(self) -> int:
        """How many tokens the chosen games have; of a scattered choice all their starts are read, once."""
        if self.token_range is not None:
            begin, end = self.token_range
            return end - begin
        parts = (chunk.games for chunk in chunks(self.stream, self.choice))
        return sum(int((self.ends_of(games) - self.starts_of(games)).sum()) for games in parts)

    @cached_property
    def token_range(self) -> tuple[int, int] | None:
        """Where the chosen games begin and end in the stream, None where others lie between them."""
        if not isinstance(self.choice, GameRange):
            return None
        if self.n_games == 0:
            return 0, 0
        first, last = np.array([self.choice.begin]), np.array([self.choice.end - 1])
        return int(self.starts_of(first)[0]), int(self.ends_of(last)[0])

    @cached_property
    def fingerprint(self) -> str:
        """sha256, hexadecimal: the same for the same packs, wherever they lie, and the same chosen games."""
        return digest([self.stream.fingerprint, self.choice.describe()])

    def select(self, k: ArrayLike) -> Games:
        """The game of the stream that is the k-th chosen one, for each integer of the array `k`; int64.

        Raises:
            GameIndexError: a number outside 0 to `n_games - 1`; negative ones do not count from the end.
        """
        numbers = np.asarray(k)
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"games are chosen by integers, got an array of {numbers.dtype}")
        if numbers.size and (numbers.min() < 0 or numbers.max() >= self.n_games):
            bad = numbers[(numbers < 0) | (numbers >= self.n_games)][0]
            raise GameIndexError(f"no game {bad} in {self!r}: allowed are 0 to {self.n_games - 1}")
        return self.choice.select(numbers.astype(np.int64, copy=False))

    def starts_of(self, games: Games) -> Positions:
        """Where in the stream these games of it have their `<bos>`; int64."""
        return self.stream.starts_of(games)

    def ends_of(self, games: Games) -> Positions:
        """Where in the stream these games of it end, one behind their `<eos>`; int64."""
        return self.stream.ends_of(games)

    def games_at(self, positions: Positions) -> Games:
        """The game of the stream that the token at each position of it is of; int64."""
        return self.stream.games_at(positions)

    def columns_of(self, games: Games) -> dict[str, NDArray[Any]]:
        """What every column says of these games of the stream; the columns that all packs have.

        One value a game, in the column's dtype: `formats.COLUMNS`, such as int64 for `game_id`, int16 for `white_elo`.
        """
        return {name: self.stream.column_of(name, games) for name in self.stream.column_names}

    def column(self, name: str) -> NDArray[Any]:
        """One value a chosen game, in the column's dtype as `columns_of` gives it.

        It is mapped where the chosen games are consecutive and of one pack, else a copy.

        Raises:
            NoColumnError: no such column, or a pack of another program, without it. A `LookupError`.
        """
        if isinstance(self.choice, GameRange):
            return self.stream.column_between(name, self.choice.begin, self.choice.end)
        return np.concatenate([chunk.columns[name] for chunk in chunks(self.stream, self.choice)])

    def where(
        self,
        keep: ArrayLike | Callable[[Columns], ArrayLike] | None = None,
        /,
        *,
        white_elo: Numbers | None = None,
        black_elo: Numbers | None = None,
        n_plies: Numbers | None = None,
        base_seconds: Numbers | None = None,
        increment_seconds: Numbers | None = None,
        result: Texts | None = None,
        eco: Openings | None = None,
        time_control: Texts | None = None,
        date: Dates | None = None,
        **others: Never,
    ) -> Packs:
        """Those of the chosen games that meet all that is asked; None asks for nothing.

        A number, opening or date is one value, `(lowest, highest)` with both ends and None for no bound, or a list or
        set of such alternatives: `white_elo=(1800, None)`, `eco=["B2", ("C50", "C59")]`, `date=("2024-01-01",
        "2024-01-07")`. `result` and `time_control` are one text or several: `"1-0"`, `["300+3", "180+2"]`, `"-"` for
        correspondence. A date or opening that is unknown, and the seconds of correspondence, are in no range.

        `keep` is one bool a chosen game, or a function that is called with the columns of some chosen games after the
        other, a mapping of name to array, and gives one bool for each. It is asked before all else.

        Raises:
            ChoiceError: a value that no game can have, or answers that are not one bool a game. A `ValueError`.
            NoColumnError: a pack of another program, without the column. A `LookupError`.
            TypeError: another keyword, with those that are allowed.
        """
        wanted = {
            "white_elo": white_elo,
            "black_elo": black_elo,
            "n_plies": n_plies,
            "base_seconds": base_seconds,
            "increment_seconds": increment_seconds,
            "result": result,
            "eco": eco,
            "time_control": time_control,
            "date": date,
        }
        _refuse_others(others, wanted)
        asked = read_criteria(wanted)
        chosen = self.choice
        if callable(keep):
            chosen = choose_by_function(self.stream, chosen, keep)
        elif keep is not None:
            chosen = choose_by_answers(self.stream, chosen, keep)
        return Packs(self.stream, choose_by_criteria(self.stream, chosen, asked) if asked else chosen)

    def games(self, places: slice) -> Packs:
        """Those of the chosen games whose numbers among the chosen the slice takes: `games(slice(0, 1000))`.

        Raises:
            ChoiceError: a step below 1. A `ValueError`.
        """
        return Packs(self.stream, choose_by_place(self.stream, self.choice, places))

    def split(self, *, salt: str = "", **shares: Share) -> dict[str, Packs]:
        """The chosen games in parts without a game in common: `split(salt="a", val=0.01, test=0.01)["train"]`.

        Each share is a fraction of all games, met as closely as a fair coin would. `train` has what the shares leave,
        or, given a share of its own, that much of it. A keyed hash of `game_id` decides (`splits.split_hash`), so a
        game is in the same part in every scheme, whatever months are opened and whatever else is chosen; another
        `salt` deals anew. Shares are taken in the given order: one that is put last leaves those before as they were.

        Raises:
            SplitError: a share that is not from 0 to 1, or shares that add up to more than 1. A `ValueError`.
            NoColumnError: a pack of another program, without the column. A `LookupError`.
        """
        parts = split_choice(self.stream, self.choice, salt, shares)
        return {name: Packs(self.stream, choice) for name, choice in parts.items()}

    def without_readahead(self) -> AbstractContextManager[None]:
        """For the first batch out of packs that are not in memory: what is touched is read alone, no page beside it.

        The batches that follow are better off outside: the system's readahead then brings in a whole pack in about
        the time in which a hundred such batches are read.
        """
        return without_readahead(array for pack in self.packs for array in (pack.tokens, pack.starts))

    def verify(self) -> None:
        """Read all packs wholly and raise `PackError` where one is not what it promises: `Pack.verify` of each."""
        for pack in self.packs:
            pack.verify()

    def __reduce__(self) -> tuple[Any, ...]:
        root = os.path.commonpath([pack.path.parent for pack in self.packs])
        names = [pack.path.relative_to(root).as_posix() for pack in self.packs]
        return _reopen, (root, names, self.stream.fingerprint, self.choice)

    def __repr__(self) -> str:
        months = [month_of(pack) or pack.path.name for pack in self.packs]
        span = months[0] if len(months) == 1 else f"{len(months)} packs from {months[0]} to {months[-1]}"
        return f"<Packs {self.scheme} {span}: {self.n_games} of {self.stream.n_games} games>"


def _refuse_others(others: Iterable[str], allowed: Iterable[str]) -> None:
    names = ", ".join(others)
    if names:
        hint = "; the column utc_date is asked for by date" if "utc_date" in others else ""
        raise TypeError(f"where() has no keyword {names}; allowed are {', '.join(allowed)}{hint}")


def _reopen(root: str, names: Sequence[str], fingerprint: str, choice: Choice) -> Packs:
    stream = Stream([open_pack(Path(root, name)) for name in names])
    if stream.fingerprint != fingerprint:
        raise PackReplacedError(
            f"{root}: other packs lie in {', '.join(names[:3])} than were chosen from: "
            f"the fingerprint was {fingerprint} and is {stream.fingerprint}; open them anew"
        )
    return Packs(stream, choice)
