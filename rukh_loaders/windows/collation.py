"""Items that were gathered at once stay together on their way through torch's own `DataLoader`.

Cut into one tensor an item and stacked again, a batch costs 5 to 10 times what gathering it does. So what a dataset
gives for a batch keeps the whole, and torch's `default_collate` is told, in the table that it has for such types, to
take the whole where it gets it. Any other list of windows is stacked as always.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import torch
from torch.utils.data._utils.collate import default_collate_fn_map


class Window(NamedTuple):
    """One item: `x` and `y`, both int64 of shape (block,)."""

    x: torch.Tensor
    y: torch.Tensor


class Windows(Sequence[Window]):
    """Items that were gathered at once: the rows of `x` and `y`, both int64 of shape (n, block)."""

    def __init__(self, x: torch.Tensor, y: torch.Tensor) -> None:
        self.x = x
        self.y = y

    def __len__(self) -> int:
        return len(self.x)

    @overload
    def __getitem__(self, index: int) -> Window: ...
    @overload
    def __getitem__(self, index: slice) -> Windows: ...
    def __getitem__(self, index: int | slice) -> Window | Windows:
        if isinstance(index, slice):
            return Windows(self.x[index], self.y[index])
        return Window(self.x[index], self.y[index])


def collate_windows(windows: Sequence[Window], *, collate_fn_map: Any = None) -> list[torch.Tensor]:
    """`[x, y]` of a batch, each of shape (n, block)."""
    if isinstance(windows, Windows):
        return [windows.x, windows.y]
    return [torch.stack([window.x for window in windows]), torch.stack([window.y for window in windows])]


default_collate_fn_map[Window] = collate_windows
