"""A source of a few integers in the place of a pack: item i is x = [i, i + 1] and y = [i + 1, i + 2]."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from rukh_loaders.batch import FILLER, Batch
from rukh_loaders.orders.order import BlockOrder, FeistelOrder, SequentialOrder


@dataclass(frozen=True)
class IntegerSource:
    """`count` integers; the name of the data stands in the fingerprint."""

    count: int = 64
    name: str = "integers"

    @property
    def fingerprint(self):
        return f"{self.name}, {self.count} of them"

    def __len__(self):
        return self.count

    def gather(self, indices):
        ids = indices[:, np.newaxis] + np.arange(3)
        ids[indices == FILLER] = 0
        return Batch(
            torch.from_numpy(ids[:, :-1].copy()),
            torch.from_numpy(ids[:, 1:].copy()),
            torch.from_numpy(indices.astype(np.int64)),
        )

    def order(self, seed, epoch, shuffle):
        if shuffle == "blocks":
            return BlockOrder(self.count, seed, epoch, block=4, buffer=2)
        return FeistelOrder(self.count, seed, epoch) if shuffle else SequentialOrder(self.count)


def served(batches: Iterable[Batch]) -> list[int]:
    """The items in the rows of batches, in the order of the rows, without those that only fill up."""
    return [item for batch in batches for item in batch.index.tolist() if item != FILLER]
