"""Windows of a pack in the ways that `rukh_loaders.rates` has not: nanoGPT's, and written out for other projects."""

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from torch import Tensor

from rukh_loaders.formats import Pack

T = TypeVar("T")
Pair = tuple[Tensor, Tensor]
Batches = Iterator[Pair]


def nanogpt_batches(pack: Pack, block: int, batch: int) -> Batches:
    """nanoGPT's `get_batch`, from the games' starts: the map made anew for each batch, a tensor for each window.

    It draws with repeats, and windows that run over the end of the stream are left out, as they are there.
    """
    starts = torch.from_numpy(pack.starts.copy())
    last = int(np.searchsorted(pack.starts, pack.info.n_tokens - block))
    while True:
        data = np.load(pack.path / "tokens.npy", mmap_mode="r")
        begins = starts[torch.randint(last, (batch,))]
        x = torch.stack([torch.from_numpy(data[begin : begin + block].astype(np.int64)) for begin in begins])
        y = torch.stack([torch.from_numpy(data[begin + 1 : begin + 1 + block].astype(np.int64)) for begin in begins])
        y[:, -1] = 0
        yield x, y


def written_windows(pack: Pack, block: int, most: int) -> NDArray[np.uint16]:
    """The windows of the first games, (windows, block + 1), uint16: `block` ids, and `<pad>` for the last target.

    There are fewer than `most` where the pack has fewer, and those that run over its end are left out.
    """
    whole = sliding_window_view(pack.tokens, block)
    begins = pack.starts[:most]
    begins = begins[begins < len(whole)]
    windows = np.zeros((begins.size, block + 1), np.uint16)
    windows[:, :block] = whole[begins]
    return windows


def without_end(batches: Iterable[T]) -> Iterator[T]:
    """Epoch after epoch."""
    return itertools.chain.from_iterable(itertools.repeat(batches))
