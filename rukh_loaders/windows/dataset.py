"""What all datasets over packs share: rows of ids as batches of tensors, with their masks, orders and indices."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from rukh_loaders.batch import FILLER, Batch, Shuffle
from rukh_loaders.errors import BlockSizeError, WindowIndexError, WindowsError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.orders.mixture import Mixture, MixtureOrder
from rukh_loaders.orders.order import BlockOrder, FeistelOrder, Order, SequentialOrder
from rukh_loaders.packs.packs import Packs, Root, open_packs
from rukh_loaders.tokenizers.vocabulary import EOS, PAD
from rukh_loaders.windows.collation import Window, Windows
from rukh_loaders.windows.documents import Documents, LossMask, Trained
from rukh_loaders.windows.gather import Ids
from rukh_loaders.windows.pieces import Numbers, Pieces
from rukh_loaders.windows.rows import JoinedRows, Rows

Source = Root | Packs | Mixture


@dataclass(frozen=True)
class Extras:
    """What a batch holds besides x and y, see `Batch`."""

    position_ids: bool = False
    document_ids: bool = False
    cu_seqlens: bool = False
    loss_mask: Trained | None = None

    @cached_property
    def any(self) -> bool:
        """Whether it holds anything besides."""
        return self.position_ids or self.document_ids or self.cu_seqlens or self.loss_mask is not None


class RowsDataset(Dataset[Window]):
    """Item i is row i of `rows`, as `(x, y)`; `gather` makes a whole batch of them at once.

    A row is `block + 1` ids: x is all but the last, y all but the first.

    Args:
        source: what the rows are of.
        block: the ids of an item.
        rows_of: makes the rows of width `block + 1` of one `Packs`.
        kind: what decides which item an index is, besides the games, as JSON.
        last_target: keep the target of the last position.
        targets_end_at_eos: the target of an `<eos>` is `<pad>`.
        widen_on_device: batches hold 2 bytes an id until they are used.

    Raises:
        BlockSizeError: `block` is below 2. A `ValueError`.
        LossMaskError: a loss mask that the scheme does not tell. A `ValueError`.
    """

    def __init__(
        self,
        source: Source,
        block: int,
        rows_of: Callable[[Packs, int], Rows],
        kind: Sequence[object],
        extras: Extras,
        *,
        last_target: bool,
        targets_end_at_eos: bool,
        widen_on_device: bool,
    ) -> None:
        if operator.index(block) < 2:
            raise BlockSizeError(f"block is {block}; a window needs 2 tokens or more")
        self.block = operator.index(block)
        self.packs = source if isinstance(source, (Packs, Mixture)) else open_packs(source)
        self.last_target = bool(last_target)
        self.widen_on_device = widen_on_device
        self._targets_end_at_eos = targets_end_at_eos
        self._extras = extras
        self._kind = [*kind, self.block, self.last_target]
        parts = self._packs_of_parts()
        loss_mask = extras.loss_mask
        self._loss_mask = None if loss_mask is None else LossMask(loss_mask, parts[0].scheme)
        self._parts = [rows_of(packs, self.block + 1) for packs in parts]
        streams = [int(packs.token_offsets[-1]) for packs in parts]
        self._rows: Rows = self._parts[0] if len(parts) == 1 else JoinedRows(self._parts, streams)
        self._count = len(self._rows)
        self._has_read = False

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Window:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Window]:
        """The items of `indices`, in that order and gathered at once: what torch's loader calls for a batch."""
        return Windows(*self._widened(self._tokens(self._checked(indices)))) if len(indices) else []

    def gather(self, indices: NDArray[np.int64]) -> Batch:
        """The items of `indices`, int64 of shape (n,), as one batch of n rows.

        -1 gives a row that only fills up: x and y are `<pad>`, the loss mask is False.

        Raises:
            WindowIndexError: an index outside `-1..len-1`. An `IndexError`.
            TypeError: no one-dimensional numpy array of integers.
        """
        if not isinstance(indices, np.ndarray) or indices.ndim != 1:
            got = f"one of shape {indices.shape}" if isinstance(indices, np.ndarray) else type(indices).__name__
            raise TypeError(f"indices are a numpy array of shape (n,), got {got}")
        if indices.dtype.kind not in "iu":
            raise TypeError(f"indices are integers, got an array of {indices.dtype}")
        if indices.dtype == np.uint64 and indices.size and int(indices.max()) >= 1 << 63:  # as int64 it is negative
            self._check_index(int(indices.max()))
        indices = indices.astype(np.int64)  # a copy: the batch keeps it
        tokens = self._tokens(indices) if self._are_items(indices) else self._tokens_and_fillers(indices)
        index = torch.from_numpy(indices)
        if self.widen_on_device:
            narrow = torch.from_numpy(tokens.view(np.int16))
            batch = Batch.of_tokens(narrow, index, targets_end_at_eos=self._targets_end_at_eos)
        else:
            batch = Batch(*self._widened(tokens), index)
        if self._extras.any:
            self._add_extras(batch, indices, tokens)
        return batch

    def order(self, seed: int, epoch: int, shuffle: Shuffle) -> Order:
        """The indices of one epoch: all items once, or of a mixture its samples, which its schedule decides.

        Raises:
            WindowsError: `"blocks"` over a mixture, whose parts are served at once.
        """
        if isinstance(self.packs, Mixture):
            if shuffle == "blocks":
                raise WindowsError("shuffle is 'blocks' over a mixture, which has no such order; allowed: True, False")
            lengths = tuple(map(len, self._parts))
            return MixtureOrder(lengths, self.packs.schedule, seed, epoch, shuffle, self.packs.samples)
        if shuffle == "blocks":
            return BlockOrder(len(self), seed, epoch)
        return FeistelOrder(len(self), seed, epoch) if shuffle else SequentialOrder(len(self))

    @cached_property
    def fingerprint(self) -> str:
        """sha256, hexadecimal: changes whenever an index means another item, whatever the batches hold besides."""
        return digest([self.packs.fingerprint, self._kind])

    def _packs_of_parts(self) -> Sequence[Packs]:
        return self.packs.parts if isinstance(self.packs, Mixture) else (self.packs,)

    def _tokens(self, indices: Numbers) -> Ids:
        """The rows, uint16 (n, block + 1)."""
        tokens = self._rows.tokens(indices) if self._has_read else self._first_tokens(indices)
        if not self.last_target:
            tokens[:, -1] = PAD
        return tokens

    def _first_tokens(self, indices: Numbers) -> Ids:
        """The same, for packs that are perhaps not in memory: only the pages of these rows are waited for."""
        self._has_read = True
        with ExitStack() as stack:
            for packs in self._packs_of_parts():
                stack.enter_context(packs.without_readahead())
            return self._rows.tokens(indices)

    def _tokens_and_fillers(self, indices: Numbers) -> Ids:
        """The same where -1 is a row of `<pad>`; other indices outside raise."""
        fillers = indices == FILLER
        outside = indices[~fillers & ((indices < 0) | (indices >= self._count))]
        if outside.size:
            self._check_index(int(outside[0]))
        tokens = np.zeros((indices.size, self.block + 1), np.uint16)  # <pad> is 0
        tokens[~fillers] = self._tokens(indices[~fillers])
        return tokens

    def _widened(self, tokens: Ids) -> tuple[torch.Tensor, torch.Tensor]:
        """x and y, int64 (n, block): apart, so that writing into one leaves the other."""
        x, y = tokens[:, :-1].astype(np.int64), tokens[:, 1:].astype(np.int64)
        if self._targets_end_at_eos:
            y[tokens[:, :-1] == EOS] = PAD
        return torch.from_numpy(x), torch.from_numpy(y)

    def _add_extras(self, batch: Batch, indices: Numbers, tokens: Ids) -> None:
        pieces = self._pieces(indices)
        documents = Documents(pieces.within(self.block), indices.size, self.block)
        if self._extras.position_ids:
            batch.position_ids = torch.from_numpy(documents.position_ids())
        if self._extras.document_ids:
            batch.document_ids = torch.from_numpy(documents.document_ids())
        if self._extras.cu_seqlens:
            sequences = documents.cu_seqlens()
            batch.cu_seqlens = torch.from_numpy(sequences)
            batch.max_seqlen = int(np.diff(sequences).max(initial=0))
        if self._loss_mask is not None:
            batch.loss_mask = torch.from_numpy(self._loss_mask.of(pieces, tokens, self._rows.spans))

    def _pieces(self, indices: Numbers) -> Pieces:
        kept = np.flatnonzero(indices != FILLER)
        return self._rows.pieces(indices[kept]).moved(kept)

    def _are_items(self, indices: Numbers) -> bool:
        """Whether each index is that of an item."""
        # As unsigned numbers, negative ones are the largest. The ufunc itself, since `max` takes half as long again.
        return not indices.size or bool(np.maximum.reduce(indices.view(np.uint64)) < self._count)

    def _checked(self, indices: Sequence[int]) -> Numbers:
        """`indices` as an array, after each was found to be an item."""
        numbers = np.asarray(indices)
        if numbers.dtype != np.int64 or not self._are_items(numbers):
            for index in indices:
                self._check_index(operator.index(index))
        return numbers.astype(np.int64, copy=False)

    def _check_index(self, index: int) -> None:
        if not 0 <= index < self._count:
            raise WindowIndexError(f"no window {index} in {self.packs!r}: it has {self._count}, numbered from 0")
