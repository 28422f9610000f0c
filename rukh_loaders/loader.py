"""Whole batches out of a dataset, in an order that a seed decides."""

from __future__ import annotations

from collections.abc import Sized
from typing import TypeVar, cast

import torch
from torch.utils.data import DataLoader, Dataset, Sampler, SequentialSampler

from rukh_loaders.errors import LoaderArgumentError, NoBatchError
from rukh_loaders.sampler import ShuffledSampler

T = TypeVar("T")


def make_loader(
    dataset: Dataset[T],
    batch_size: int,
    seed: int = 0,
    workers: int = 0,
    shuffle: bool = True,
    drop_last: bool = True,
) -> DataLoader[T]:
    """A torch `DataLoader` over a dataset that has a length, such as `PackedDataset`: one iteration is one epoch.

    Over a `PackedDataset` a batch is `[x, y]`, both int64 of shape (batch_size, block), contiguous, and the caller's
    own to write into. With `shuffle` each iteration serves every item once, in an order that depends on `seed` and on
    the number of the epoch alone (`loader.sampler.epoch`, which may be set); without it, in the order of the dataset.
    `drop_last` leaves out a last batch that is not full.

    `workers` processes give the same batches as none, and are seldom worth it: a batch costs less to gather than to
    send. Torch's global random numbers are neither used nor advanced.

    Raises:
        LoaderArgumentError: `batch_size` is below 1 or `workers` below 0.
        NoBatchError: the dataset is empty, or smaller than one batch that `drop_last` would leave out, so that a loop
            over the loader would do nothing and say nothing.
    """
    count = len(cast(Sized, dataset))
    if batch_size < 1:
        raise LoaderArgumentError(f"batch_size is {batch_size}; it must be 1 or more")
    if workers < 0:
        raise LoaderArgumentError(f"workers is {workers}; it must be 0 or more, 0 for none")
    if count == 0:
        raise NoBatchError("the dataset has no items, so there is no batch to serve")
    if drop_last and count < batch_size:
        raise NoBatchError(
            f"the dataset has {count} items and batch_size is {batch_size}, so no batch is full and drop_last would "
            f"leave none; lower batch_size or pass drop_last=False"
        )
    sampler: Sampler[int] = ShuffledSampler(count, seed) if shuffle else SequentialSampler(cast(Sized, dataset))
    return DataLoader(
        dataset,
        batch_size=batch_size,
        sampler=sampler,
        num_workers=workers,
        drop_last=drop_last,
        generator=torch.Generator(),  # else each iteration draws the workers' seed from the global one
    )
