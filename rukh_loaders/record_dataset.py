"""What the datasets of records have in common: items of a store, batches of them, and the order of an epoch."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from rukh_loaders.batch import FILLER, Shuffle
from rukh_loaders.collate import RecordBatch, Sample
from rukh_loaders.errors import NoKeyError, StoreArgumentError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.orders.mixture import MixtureOrder
from rukh_loaders.orders.order import BlockOrder, FeistelOrder, Order, SequentialOrder
from rukh_loaders.stores.store import Store


class RecordDataset(ABC):
    """Items of a store; `pad_id` stands where a batch has no id.

    Raises:
        NoKeyError: the store lacks `required_keys`. A `KeyError`.
        RecordIndexError: an index outside `0..len-1`, negative ones too. An `IndexError` and a `ValueError`.
    """

    required_keys: ClassVar[tuple[str, ...]]
    train_type: ClassVar[str]
    collate: ClassVar[Callable[..., RecordBatch]]

    def __init__(self, store: Store, pad_id: int = 0) -> None:
        missing = [key for key in self.required_keys if key not in store.keys]
        if missing:
            raise NoKeyError(
                f"{store.path}: has the keys {', '.join(store.keys) or 'none'}; "
                f"{self.train_type} also needs {', '.join(missing)}"
            )
        self.store = store
        self.pad_id = operator.index(pad_id)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the store."""
        return self.store.keys

    @property
    def token_count(self) -> int:
        """The tokens of the store's stream."""
        return self.store.token_count

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever an index means another item."""
        return digest([self.train_type, self.store.fingerprint])

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, index: int) -> Sample:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """The items of `indices`, read at once: what torch's loader calls for a batch."""
        return self._samples([operator.index(index) for index in indices])

    def gather(self, indices: NDArray[np.int64]) -> RecordBatch:
        """The items of `indices` as one batch, and their `index`; -1 gives a row that only fills up, without a loss."""
        samples = iter(self._samples(indices[indices != FILLER].tolist()))
        rows = [self._filler() if index == FILLER else next(samples) for index in indices.tolist()]
        batch = type(self).collate(rows, self.pad_id)
        batch["index"] = torch.from_numpy(indices.astype(np.int64))
        return batch

    def order(self, seed: int, epoch: int, shuffle: Shuffle) -> Order:
        """The indices of one epoch: each item once, or of weighted domains what their schedule decides.

        `StoreArgumentError` for `"blocks"` over weighted domains, which have no such order.
        """
        if self.store.schedule is not None:
            if shuffle == "blocks":
                raise StoreArgumentError("shuffle is 'blocks' over weighted domains; allowed: True, False")
            return MixtureOrder(self.store.items.lengths, self.store.schedule, seed, epoch, shuffle)
        if shuffle == "blocks":
            return BlockOrder(len(self), seed, epoch)
        return FeistelOrder(len(self), seed, epoch) if shuffle else SequentialOrder(len(self))

    @abstractmethod
    def _samples(self, items: Sequence[int]) -> list[Sample]: ...

    @abstractmethod
    def _filler(self) -> Sample: ...
