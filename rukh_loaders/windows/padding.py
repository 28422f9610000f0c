"""A game a row, padded: the simplest way to batches, and what it costs beside the others.

print(padding_report("data/packs/uci", block=200))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rukh_loaders.errors import BlockSizeError
from rukh_loaders.packs.packs import Packs, Root, open_packs
from rukh_loaders.windows.best_fit import BestFitRows
from rukh_loaders.windows.dataset import Extras, RowsDataset, Source
from rukh_loaders.windows.documents import Trained
from rukh_loaders.windows.pieces import Numbers
from rukh_loaders.windows.rows import GameRows

GAMES_AT_ONCE = 1 << 20
"""Games whose lengths are looked at in one go."""


class PaddedDataset(RowsDataset):
    """Item i is the i-th chosen game alone, `(x, y)` of shape (block,): cut where it is longer, else `<pad>` behind it.

    In all other ways it is as `PackedDataset`, whose options of the same names it has: the same orders, batches, masks
    and errors.
    """

    def __init__(
        self,
        packs: Source,
        block: int = 200,
        last_target: bool = False,
        *,
        position_ids: bool = False,
        document_ids: bool = False,
        cu_seqlens: bool = False,
        loss_mask: Trained | None = None,
        widen_on_device: bool = False,
    ) -> None:
        extras = Extras(position_ids, document_ids, cu_seqlens, loss_mask)
        super().__init__(
            packs,
            block,
            GameRows,
            ["padded"],
            extras,
            last_target=last_target,
            targets_end_at_eos=False,
            widen_on_device=widen_on_device,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.packs, self.block, self.last_target)
        return _remade, (type(self), arguments, self._extras, self.widen_on_device)


@dataclass(frozen=True)
class PaddingRow:
    """One way to make rows, over one epoch.

    A target is useful where it is an id of a game and not `<pad>`. `seen` is how often an id of the games is such a
    target, on average: windows at games overlap.
    """

    name: str
    rows: int
    block: int
    targets: int
    seen: float

    @property
    def padded(self) -> float:
        """The share of all targets that is `<pad>`."""
        return 1 - self.targets / (self.rows * self.block) if self.rows else 0.0

    def useful(self, batch_size: int) -> float:
        """Useful targets in a batch of so many rows, on average."""
        return self.targets / self.rows * batch_size if self.rows else 0.0


@dataclass(frozen=True)
class PaddingReport:
    """The ways to make rows of the same games compared; printed, it is a table. See `padding_report`."""

    padded: PaddingRow
    games: PaddingRow
    blocks: PaddingRow
    best_fit: PaddingRow
    n_games: int
    left_out: int
    batch_size: int

    def __str__(self) -> str:
        lines = [
            f"{'':28}{'rows':>14}{'padded targets':>16}{f'useful in {self.batch_size} rows':>22}{'each id seen':>14}"
        ]
        for way in (self.padded, self.games, self.blocks, self.best_fit):
            useful = f"{way.useful(self.batch_size):,.0f}"
            lines.append(f"{way.name:28}{way.rows:>14,}{way.padded:>16.2%}{useful:>22}{way.seen:>14.2f}")
        block = self.padded.block
        lines.append(f"{self.n_games:,} games; {self.left_out:,} longer than {block} ids, which best_fit leaves out")
        return "\n".join(lines)


def padding_report(packs: Packs | Root, block: int = 200, batch_size: int = 256) -> PaddingReport:
    """How much of each batch is of use, exactly, for the ways to make rows that there are.

    It reads where the games begin, no ids, and packs them as best_fit does: seconds for millions of games. All is
    counted with the defaults, where the last position of a row has no target.

    Raises:
        BlockSizeError: `block` is below 2. A `ValueError`.
    """
    if block < 2:
        raise BlockSizeError(f"block is {block}; a row needs 2 tokens or more")
    packs = packs if isinstance(packs, Packs) else open_packs(packs)
    n_tokens, n_games = packs.n_tokens, packs.n_games
    padded = games = fitting = before = 0
    for lengths in _lengths(packs):
        padded += int(np.minimum(lengths, block).sum()) - lengths.size
        begins = before + np.cumsum(lengths) - lengths
        games += int(np.minimum(n_tokens - begins, block).sum()) - lengths.size
        fitting += int((lengths[lengths <= block] - 1).sum())
        before += int(lengths.sum())
    n_blocks = max(1, n_tokens // block) if n_tokens else 0
    blocks = min(n_blocks * block, n_tokens) - n_blocks
    best_fit = BestFitRows(packs, block + 1, "leave_out")

    def row(name: str, rows: int, targets: int) -> PaddingRow:
        return PaddingRow(name, rows, block, targets, targets / n_tokens if n_tokens else 0.0)

    return PaddingReport(
        padded=row("a game a row, padded", n_games, padded),
        games=row("windows at games", n_games, games),
        blocks=row("blocks of the stream", n_blocks, blocks),
        best_fit=row("whole games, best fit", len(best_fit), fitting),
        n_games=n_games,
        left_out=best_fit.left_out,
        batch_size=batch_size,
    )


def _lengths(packs: Packs) -> Iterator[Numbers]:
    """How long the chosen games are, a million at a time."""
    for begin in range(0, packs.n_games, GAMES_AT_ONCE):
        games = packs.select(np.arange(begin, min(begin + GAMES_AT_ONCE, packs.n_games)))
        yield packs.ends_of(games) - packs.starts_of(games)


def _remade(
    cls: type[PaddedDataset], arguments: tuple[Source, int, bool], extras: Extras, widen_on_device: bool
) -> PaddedDataset:
    return cls(
        *arguments,
        position_ids=extras.position_ids,
        document_ids=extras.document_ids,
        cu_seqlens=extras.cu_seqlens,
        loss_mask=extras.loss_mask,
        widen_on_device=widen_on_device,
    )
