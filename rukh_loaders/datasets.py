"""Windows of packs as tensors: the `(x, y)` pairs that a language model is trained on.

A window is `block` tokens of the stream that all games of all months make, one after the other:

    stream     <bos> 41 ... <eos> | <bos> 37 ... <eos> | <bos> 40 ... <eos>
    games      item 0 ----------> | item 1 ----------> | item 2 ----------> <pad> <pad>
    blocks     item 0 -----> item 1 -----> item 2 -----> ...
    random     as many as blocks, each anywhere
    best_fit   rows of whole games that fill a block together, nearly without padding

A window of a game runs over into the games that follow; only what lies past the end of the stream is `<pad>`, whose id
is 0 in every scheme: train with `ignore_index=0`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal, get_args

from rukh_loaders.errors import WindowsError
from rukh_loaders.orders.mixture import Mixture
from rukh_loaders.packs.packs import Packs
from rukh_loaders.windows.best_fit import BestFitRows, TooLong
from rukh_loaders.windows.collation import Window
from rukh_loaders.windows.dataset import Extras, RowsDataset, Source
from rukh_loaders.windows.documents import Trained
from rukh_loaders.windows.rows import Rows, windows_at_games, windows_at_random, windows_of_blocks

__all__ = ["Kind", "PackedDataset", "Source", "Window"]

Kind = Literal["games", "blocks", "random", "best_fit"]


class PackedDataset(RowsDataset):
    """Item i is `(x, y)`, both int64 of shape (block,), where `y` is `x` one token later.

    `packs` is what `open_packs` gave, or a folder that it takes, an opened `Pack`, or a `Mixture`. With chosen games, a
    window never has an id of another game. `windows` says where they are:

        games      window k begins at the `<bos>` of the k-th chosen game and runs on through the chosen games
        blocks     window i begins at token `i * block`; there are `max(1, n_tokens // block)`, none where there are no
                   tokens: the stream is cut without overlap, and a rest shorter than a block is left out unless it is
                   all there is
        random     as many windows as blocks, each at a place that the hash of (`random_offsets`, i) gives: the same in
                   each epoch, so take another number where they shall move
        best_fit   rows of whole games; the last id of a game has the target `<pad>`. A game longer than `block` is left
                   out, or with `too_long="cut"` its first `block` ids are a row. Made at once, when the dataset is:
                   it takes about a second and 9 MB for 3 million games

    `start_at_game` is the short way to say games or blocks. `y[-1]` is `<pad>`, as in the loader whose values these
    are, which throws the target of the last position away; `last_target` keeps it where there is one.

    `gather` makes batches, which hold `position_ids`, `document_ids`, `cu_seqlens` (with `max_seqlen`) and `loss_mask`
    ("moves", "white", "black" or "winner") where these are asked for: see `Batch` and `rukh_loaders.windows.documents`.
    With `widen_on_device` a batch takes 2 bytes an id instead of 16 until its x or y is asked for, on whatever device.

    Items and batches are copies that the caller may write into. A pickled dataset is the paths of its packs and the
    choice, which the process that unpickles it opens again; rows of best_fit are computed again.

    Raises:
        BlockSizeError: `block` is below 2. A `ValueError`.
        WindowsError: another kind of windows, or blocks or random ones where the chosen games are scattered.
        LossMaskError: a loss mask that the scheme does not tell, such as White's moves in `bpe`. A `ValueError`.
        WindowIndexError: an index outside `0..len-1`; negative ones do not count from the end. An `IndexError`.
        PackReplacedError: on unpickling, where another pack lies at a path by now.
    """

    def __init__(
        self,
        packs: Source,
        block: int = 200,
        start_at_game: bool = True,
        last_target: bool = False,
        *,
        windows: Kind | None = None,
        random_offsets: int = 0,
        too_long: TooLong = "leave_out",
        position_ids: bool = False,
        document_ids: bool = False,
        cu_seqlens: bool = False,
        loss_mask: Trained | None = None,
        widen_on_device: bool = False,
    ) -> None:
        random_offsets = operator.index(random_offsets)
        self.windows: Kind = windows or ("games" if start_at_game else "blocks")
        rows_of, kind = _rows(self.windows, random_offsets, too_long)
        super().__init__(
            packs,
            block,
            rows_of,
            kind,
            Extras(position_ids, document_ids, cu_seqlens, loss_mask),
            last_target=last_target,
            targets_end_at_eos=self.windows == "best_fit",
            widen_on_device=widen_on_device,
        )
        self._options: dict[str, Any] = {
            "last_target": self.last_target,
            "windows": self.windows,
            "random_offsets": random_offsets,
            "too_long": too_long,
            "position_ids": position_ids,
            "document_ids": document_ids,
            "cu_seqlens": cu_seqlens,
            "loss_mask": loss_mask,
            "widen_on_device": widen_on_device,
        }

    @property
    def padding(self) -> float | None:
        """Of best_fit: which share of all ids of x is `<pad>`. None of windows, where only the stream's end is."""
        if not len(self) or self.windows != "best_fit":
            return None
        return 1 - sum(rows.filled for rows in self._best_fit) / (len(self) * self.block)

    @property
    def left_out(self) -> int:
        """Of best_fit: how many chosen games are in no row, since they are longer than a block. 0 of windows."""
        return sum(rows.left_out for rows in self._best_fit)

    @property
    def cut(self) -> int:
        """Of best_fit: how many chosen games are in a row with their first ids only. 0 of windows."""
        return sum(rows.cut for rows in self._best_fit)

    @property
    def _best_fit(self) -> list[BestFitRows]:
        return [rows for rows in self._parts if isinstance(rows, BestFitRows)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.packs, self.block, self._options)


def _rows(windows: Kind, seed: int, too_long: TooLong) -> tuple[Callable[[Packs, int], Rows], list[object]]:
    """What makes the rows of packs, and what tells it from others."""
    if too_long not in get_args(TooLong):
        raise WindowsError(f"too_long is {too_long!r}; allowed are {', '.join(get_args(TooLong))}")
    if windows == "games":
        return windows_at_games, [windows]
    if windows == "blocks":
        return lambda packs, width: windows_of_blocks(_consecutive(packs, windows), width), [windows]
    if windows == "random":
        return lambda packs, width: windows_at_random(_consecutive(packs, windows), width, seed), [windows, seed]
    if windows == "best_fit":
        return lambda packs, width: BestFitRows(packs, width, too_long), [windows, too_long]
    raise WindowsError(f"windows is {windows!r}; allowed are {', '.join(get_args(Kind))}")


def _consecutive(packs: Packs, windows: Kind) -> Packs:
    if packs.token_range is None:
        raise WindowsError(
            f"windows is {windows!r} and the chosen games of {packs!r} are scattered, so that their tokens are no "
            "stream to cut; allowed for them are 'games' and 'best_fit'"
        )
    return packs


def _remade(cls: type[PackedDataset], packs: Packs | Mixture, block: int, options: dict[str, Any]) -> PackedDataset:
    return cls(packs, block, **options)
