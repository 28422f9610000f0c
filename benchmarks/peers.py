"""The same windows through loaders of other projects, each in the fastest way that its own documentation shows.

What they keep on disk is theirs: every window is written for them, `block + 1` ids each, overlaps and all. They give
one tensor a batch, of which `x` and `y` are views, as their users cut it: the copy that would make them contiguous,
which the package's own batches are, is not counted against them.
"""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

from benchmarks.window_loaders import Batches, without_end

Windows = NDArray[np.uint16]
"""(windows, block + 1)."""

INSTALL = "pip install -c constraints.txt -e '.[peers]'"
_CHUNK_WINDOWS = 8192


@dataclass(frozen=True)
class Peer:
    """A loader of another project: how it is given the windows, and how it serves them, shuffled and without end."""

    module: str
    write: Callable[[Windows, Path], None]
    batches: Callable[[Path, int, int], Iterator[Tensor]]
    """From the folder, the ids of a window, and the windows of a batch: integers (batch, ids)."""

    @property
    def is_installed(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    def pairs(self, folder: Path, block: int, batch: int) -> Batches:
        """`(x, y)` of each batch, int64."""
        for served in self.batches(folder, block + 1, batch):
            ids = served.to(torch.int64)  # where they are already, this does nothing
            yield ids[:, :-1], ids[:, 1:]


def _write_arrow(windows: Windows, folder: Path) -> None:
    import datasets
    import pyarrow as pa

    datasets.disable_progress_bars()
    ids = pa.FixedSizeListArray.from_arrays(pa.array(windows.reshape(-1)), windows.shape[1])
    datasets.Dataset(pa.table({"ids": ids})).save_to_disk(folder)


def _datasets(folder: Path, width: int, batch: int) -> Iterator[Tensor]:
    """The page "Use with PyTorch": a batch sampler, so that a batch is one query."""
    for served in without_end(_queries(folder, "torch", batch)):
        yield served["ids"]


def _datasets_arrow(folder: Path, width: int, batch: int) -> Iterator[Tensor]:
    """The same queries, made into tensors by hand: past what its documentation shows to those who train."""
    for served in without_end(_queries(folder, "arrow", batch)):
        ids = served["ids"].combine_chunks().flatten().to_numpy().reshape(batch, width)
        yield torch.from_numpy(ids.astype(np.int64))


def _queries(folder: Path, layout: str, batch: int) -> DataLoader[Any]:
    import datasets

    rows = datasets.load_from_disk(folder).with_format(layout)
    sampler = BatchSampler(RandomSampler(rows), batch, drop_last=True)
    return DataLoader(rows, sampler=sampler, batch_size=None, collate_fn=lambda served: served)


def _write_ds(windows: Windows, folder: Path) -> None:
    windows.tofile(folder / "windows.ds")


def _datatrove(folder: Path, width: int, batch: int) -> Iterator[Tensor]:
    """Its dataset of one token file, through torch's loader."""
    from datatrove.utils.dataset import DatatroveFileDataset

    rows = DatatroveFileDataset(str(folder / "windows.ds"), width - 1, token_size=2)
    for served in without_end(DataLoader(rows, batch, shuffle=True, drop_last=True)):
        yield served["input_ids"]


def _write_chunks(windows: Windows, folder: Path) -> None:
    from litdata import TokensLoader
    from litdata.streaming.cache import Cache

    width = windows.shape[1]
    cache = Cache(str(folder), chunk_size=_CHUNK_WINDOWS * width, item_loader=TokensLoader(width))
    for number, begin in enumerate(range(0, len(windows), _CHUNK_WINDOWS)):
        cache[number] = torch.from_numpy(windows[begin : begin + _CHUNK_WINDOWS].reshape(-1))
    cache.done()
    cache.merge(1)


def _litdata(folder: Path, width: int, batch: int) -> Iterator[Tensor]:
    """The section "LLM training" of its readme; it shuffles chunks, and the windows within each."""
    from litdata import StreamingDataLoader, StreamingDataset, TokensLoader

    rows = StreamingDataset(str(folder), item_loader=TokensLoader(width), shuffle=True, drop_last=True)
    return without_end(StreamingDataLoader(rows, batch_size=batch))


def _write_npy(windows: Windows, folder: Path) -> None:
    np.save(folder / "windows.npy", windows)


def _grain(folder: Path, width: int, batch: int) -> Iterator[Tensor]:
    """Without threads, which its options advise where the data lie in memory."""
    import grain

    windows = np.load(folder / "windows.npy", mmap_mode="r").view(np.ndarray)  # the subclass for maps is slow to index
    rows = grain.MapDataset.source(windows).shuffle(seed=0).repeat()
    batches = rows.batch(batch, drop_remainder=True).to_iter_dataset(grain.ReadOptions(0, 0))
    return (torch.from_numpy(served.astype(np.int64)) for served in batches)


PEERS = {
    "datasets": Peer("datasets", _write_arrow, _datasets),
    "datatrove": Peer("datatrove", _write_ds, _datatrove),
    "litdata": Peer("litdata", _write_chunks, _litdata),
    "grain": Peer("grain", _write_npy, _grain),
}
BY_HAND = {"datasets, Arrow by hand": Peer("datasets", _write_arrow, _datasets_arrow)}
"""Half a loader of one's own on top of a peer: shown, and not among those that the floor is over."""
