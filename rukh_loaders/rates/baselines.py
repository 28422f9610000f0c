"""Windows of a pack as plain loaders serve them, and the gather that caps every loader.

All serve windows of `block` tokens from random games' starts without end, `x` and `y` int64 of shape (batch, block),
the last target thrown away.
"""

from collections.abc import Generator

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, RandomSampler

from rukh_loaders.errors import BenchmarkError
from rukh_loaders.formats.pack import Pack

Pair = tuple[Tensor, Tensor]
Numbers = NDArray[np.int64]

_WITHOUT_END = 1 << 62
_LIMIT_GAMES = 1 << 20
"""About the most games that `gather_alone` reads: all over the pack, and their starts take 8 to 16 MB."""


class NaiveWindows(Dataset[Pair]):
    """One item at a time, sliced from `np.memmap` and copied twice: widened for `x`, and moved by one for `y`."""

    def __init__(self, pack: Pack, block: int) -> None:
        self.tokens: NDArray[np.uint16] = np.load(pack.path / "tokens.npy", mmap_mode="r")
        self.starts: NDArray[np.int64] = np.load(pack.path / "starts.npy", mmap_mode="r")
        self.block = block

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Pair:
        begin = self.starts[index]
        ids = self.tokens[begin : begin + self.block].astype(np.int64)
        if len(ids) < self.block:
            ids = np.pad(ids, (0, self.block - len(ids)))
        x = torch.from_numpy(ids)
        y = torch.zeros_like(x)
        y[:-1] = x[1:]
        return x, y


class CarefulWindows(Dataset[Pair]):
    """One item at a time with nothing wasted: plain arrays over the maps, and `x` and `y` two views of one copy."""

    def __init__(self, pack: Pack, block: int) -> None:
        self.tokens = pack.tokens
        self.starts = pack.starts
        self.block = block

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> Pair:
        begin = self.starts.item(index)
        window = self.tokens[begin : begin + self.block]
        ids = np.zeros(self.block + 1, np.int64)
        ids[: window.size] = window
        return torch.from_numpy(ids[:-1]), torch.from_numpy(ids[1:])


def batches_by_item(windows: NaiveWindows | CarefulWindows, batch_size: int) -> Generator[Pair, None, None]:
    """A map-style dataset through torch's `DataLoader`, in a random order with repeats.

    With repeats, since to shuffle `DataLoader` first makes a list of all indices: minutes for a large pack.
    """
    draws = RandomSampler(windows, replacement=True, num_samples=_WITHOUT_END, generator=torch.Generator())
    yield from DataLoader(windows, batch_size, sampler=draws, generator=torch.Generator())


def gather_alone(pack: Pack, block: int, batch_size: int) -> Generator[tuple[Numbers, Numbers], None, None]:
    """The limit: where windows begin is known beforehand, and one pair of arrays, hot in the cache, takes them all.

    `BenchmarkError` where fewer than `batch_size` games have a whole window.
    """
    whole = int(np.searchsorted(pack.starts, pack.info.n_tokens - block)) if pack.info.n_tokens > block else 0
    if whole < batch_size:
        raise BenchmarkError(
            f"{pack.path}: a window of {block + 1} tokens begins at {whole} of its games, "
            f"a batch of {batch_size} needs as many"
        )
    windows = sliding_window_view(pack.tokens, block + 1)
    spread = pack.starts[: whole : max(1, whole // _LIMIT_GAMES)]
    begins = np.random.default_rng(0).permutation(spread)
    batches = begins[: begins.size // batch_size * batch_size].reshape(-1, batch_size)
    x, y = np.zeros((2, batch_size, block), np.int64)
    while True:
        for chosen_begins in batches:
            pack.tokens[chosen_begins]  # as the loader does, so that cache misses overlap
            ids = windows[chosen_begins]
            x[:] = ids[:, :-1]
            y[:, :-1] = ids[:, 1:-1]
            yield x, y
