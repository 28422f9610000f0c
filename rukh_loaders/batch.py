"""A batch of training windows, and what anything must offer that a loader can serve batches of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

import torch
from torch import Tensor

from rukh_loaders.tokenizers.vocabulary import EOS, PAD

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from rukh_loaders.orders.order import Order

Shuffle = bool | Literal["blocks"]
"""True: any order; "blocks": in an order that reads neighbours together; False: the order of the data."""

FILLER = -1
"""The index of a row that only fills a batch up."""


class AnyBatch(Protocol):
    """What a loader needs of a batch, to bring it where it will be used."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The batch on another device."""

    def pin_memory(self) -> Self:
        """The batch in page-locked memory."""

    def widened(self) -> Self:
        """The batch with all its tensors as they will be used."""

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that it holds."""


AnyBatchT = TypeVar("AnyBatchT", bound=AnyBatch)
AnyBatchT_co = TypeVar("AnyBatchT_co", bound=AnyBatch, covariant=True)


class BatchSource(Protocol[AnyBatchT_co]):
    """What a loader serves: so many items, any of them gathered into one batch, in the order of an epoch."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever an index would mean another item; a loader's state is refused by another one."""

    def __len__(self) -> int: ...

    def gather(self, indices: NDArray[np.int64]) -> AnyBatchT_co:
        """The items of `indices`, one a row; `FILLER` gives a row of `<pad>`. Other indices outside raise."""

    def order(self, seed: int, epoch: int, shuffle: Shuffle) -> Order:
        """The indices of one epoch, a pure function of the arguments."""


class Batch:
    """B rows of T ids: `x`, and in `y` the id that follows each, both int64 of shape (B, T), contiguous and private.

    `for x, y in loader` unpacks a batch. The other tensors are None unless the dataset was asked for them:

        index           int64 (B,)    the items in the rows; -1 for a row that only fills up: all <pad>, no loss
        position_ids    int64 (B, T)  0, 1, 2, ... from the first id of each game, or of what a window has of it
        document_ids    int32 (B, T)  which game of the batch a position belongs to, from 0; -1 where there is none
        cu_seqlens      int32 (n,)    where the games begin in the flattened x, from 0 to B * T, strictly increasing;
                                      the padding at the end of a row is a sequence of its own
        max_seqlen      int           the longest of those sequences
        loss_mask       bool (B, T)   which of the targets in y to train on

    A batch made by `of_tokens` holds 2 bytes an id, `tokens_uint16`, from which `x` and `y` are made when first asked
    for: on the device that the batch was moved to by then.
    """

    index: Tensor
    position_ids: Tensor | None = None
    document_ids: Tensor | None = None
    cu_seqlens: Tensor | None = None
    max_seqlen: int | None = None
    loss_mask: Tensor | None = None
    tokens_uint16: Tensor | None = None
    _x: Tensor | None = None
    _y: Tensor | None = None
    _targets_end_at_eos = False

    def __init__(self, x: Tensor, y: Tensor, index: Tensor) -> None:
        self._x = x
        self._y = y
        self.index = index

    @classmethod
    def of_tokens(cls, tokens_uint16: Tensor, index: Tensor, *, targets_end_at_eos: bool = False) -> Batch:
        """A batch that is widened where it will be used.

        Args:
            tokens_uint16: (B, T + 1), the ids of x and after them the last target, as the int16 of the same bits:
                torch has few operations on uint16.
            index: int64 (B,).
            targets_end_at_eos: the target of an `<eos>` is `<pad>`, whatever stands after it.
        """
        batch = cls.__new__(cls)
        batch.index = index
        batch.tokens_uint16 = tokens_uint16
        batch._targets_end_at_eos = targets_end_at_eos
        return batch

    @property
    def x(self) -> Tensor:
        """The ids, int64 (B, T)."""
        return self._x if self._x is not None else self._widen()[0]

    @property
    def y(self) -> Tensor:
        """The id after each of `x`, int64 (B, T); `<pad>` where there is none."""
        return self._y if self._y is not None else self._widen()[1]

    def __iter__(self) -> Iterator[Tensor]:
        return iter((self.x, self.y))

    def __len__(self) -> int:
        return len(self.index)

    def widened(self) -> Batch:
        """This batch with `x` and `y` made and the narrow ids given up; one that has no narrow ids as it is."""
        if self.tokens_uint16 is not None:
            if self._x is None:
                self._widen()
            self.tokens_uint16 = None
        return self

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """The batch on another device; narrow ids are moved narrow."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Batch:
        """The batch in page-locked memory, from which a device copies without waiting."""
        return self._each(lambda tensor: tensor.pin_memory())

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor that the batch holds, such as to record a stream on; narrow ids before they are widened."""
        return (value for value in vars(self).values() if isinstance(value, Tensor))

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        batch = type(self).__new__(type(self))
        for name, value in vars(self).items():
            setattr(batch, name, change(value) if isinstance(value, Tensor) else value)
        return batch

    def _widen(self) -> tuple[Tensor, Tensor]:
        assert self.tokens_uint16 is not None
        wide = self.tokens_uint16.to(torch.int64) & 0xFFFF  # the ids from 32,768 on are negative as int16
        # Not `contiguous`, which copies nothing of a single row: x and y would share their memory.
        self._x, self._y = (ids.clone(memory_format=torch.contiguous_format) for ids in (wide[:, :-1], wide[:, 1:]))
        if self._targets_end_at_eos:
            self._y.masked_fill_(self._x == EOS, PAD)
        return self._x, self._y

    def __repr__(self) -> str:
        rows = self.tokens_uint16 if self.tokens_uint16 is not None else self.x
        present = [
            name
            for name in ("position_ids", "document_ids", "cu_seqlens", "loss_mask")
            if getattr(self, name) is not None
        ]
        return f"Batch(rows={len(self)}, device={str(rows.device)!r}, with={present})"
