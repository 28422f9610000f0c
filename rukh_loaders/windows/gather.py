"""Windows and spans read out of mapped packs, many in one go. No torch.

A window is one row of `np.lib.stride_tricks.sliding_window_view`, in which numpy copies whole rows: 3 to 4 times as
fast as taking id after id, and nothing is copied that is not asked for. What one view cannot give is read apart: at
the seams between packs, and past the end, where rows are filled with `<pad>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rukh_loaders.packs.spanning import Spanning
from rukh_loaders.windows.pieces import Numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rukh_loaders.formats.pack import Pack

Ids = NDArray[np.uint16]


class StreamReader:
    """Reads the stream that `packs` make one after the other, by int64 positions in it.

    Args:
        packs: the packs.
        offsets: int64 (len(packs) + 1,), where in the stream each begins, and its end.
        width: how many ids a window has.
        stop: where windows end: from there on they hold `<pad>`.
    """

    def __init__(self, packs: Sequence[Pack], offsets: Numbers, width: int, stop: int) -> None:
        self.packs = packs
        self.offsets = offsets
        self.width = width
        self.stop = stop
        tokens = Spanning([pack.tokens for pack in packs])
        self._all_tokens = tokens.whole
        self._shifts = tokens.bases - offsets[:-1]
        self._ends = np.minimum(offsets[1:], stop)
        self._views: dict[int, Ids] = {}
        self._only: tuple[Ids, Ids] | None = None
        if len(packs) == 1 and stop >= width:
            only = packs[0].tokens[:stop]
            self._only = only, sliding_window_view(only, width)

    def windows(self, begins: Numbers) -> Ids:
        """The windows that begin at these positions, each before `stop`: uint16 (len(begins), width), a copy."""
        if self._only is None:
            return self._windows(begins, self.width)
        tokens, view = self._only
        try:
            tokens[begins]  # reads the first id of each, so that their cache misses overlap: 6 to 14 % in all
            return view[begins]
        except IndexError:  # one that runs past the end; no check beforehand is as cheap
            return self._windows(begins, self.width)

    def spans(self, begins: Numbers, lengths: Numbers) -> Ids:
        """The `lengths[i]` ids from position `begins[i]` on, for each i, one after the other: uint16, a copy."""
        longest = int(lengths.max(initial=0))
        width = 1 << max(longest - 1, 0).bit_length()  # few widths, so few views
        if longest <= self.width:
            width = min(width, self.width)
        rows = self.windows(begins) if width == self.width else self._windows(begins, width)
        return rows[np.arange(width, dtype=np.int32) < lengths.astype(np.int32)[:, np.newaxis]]

    def _windows(self, begins: Numbers, width: int) -> Ids:
        """All at once those windows that one pack has whole, and one by one the others."""
        pack = np.searchsorted(self.offsets, begins, side="right") - 1
        is_whole = begins + width <= self._ends[pack]
        places = begins + self._shifts[pack]
        if is_whole.all():
            self._all_tokens[places]
            return self._view_of(width)[places] if places.size else np.zeros((0, width), np.uint16)
        out = np.zeros((len(begins), width), np.uint16)  # <pad> is 0
        if is_whole.any():
            out[is_whole] = self._view_of(width)[places[is_whole]]
        for row in np.flatnonzero(~is_whole).tolist():
            self._read(out[row], int(begins[row]), int(pack[row]))
        return out

    def _read(self, out: Ids, begin: int, number: int) -> None:
        """Fill `out` with the ids from position `begin` on, which is in this pack, as far as there are any."""
        end = min(begin + out.size, self.stop)
        at = begin
        while at < end:
            first, after = self.offsets[number : number + 2].tolist()
            part = min(end, after)
            out[at - begin : part - begin] = self.packs[number].tokens[at - first : part - first]
            at, number = part, number + 1

    def _view_of(self, width: int) -> Ids:
        view = self._views.get(width)
        if view is None:
            view = self._views[width] = sliding_window_view(self._all_tokens, width)
        return view
