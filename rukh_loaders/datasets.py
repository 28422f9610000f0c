"""Windows of a pack as tensors: the `(x, y)` pairs that a language model is trained on.

A window is `block` tokens of the stream that all games of the month make, one after the other:

    stream           <bos> 41 ... <eos> | <bos> 37 ... <eos> | <bos> 40 ... <eos>
    start_at_game    item 0 ----------> | item 1 ----------> | item 2 ----------> <pad> <pad>
    contiguous       item 0 -----> item 1 -----> item 2 -----> ...

A window longer than its game runs over into the games that follow; only what lies past the end of the stream is
`<pad>`, whose id is 0 in every scheme: train with `ignore_index=0`.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from rukh_loaders.errors import BlockSizeError, PackReplacedError, WindowIndexError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.formats.pack import Pack, open_pack
from rukh_loaders.tokenizers.vocabulary import PAD

Window = tuple[torch.Tensor, torch.Tensor]


class PackedDataset(Dataset[Window]):
    """Item i is `(x, y)`, both int64 of shape (block,), where `y` is `x` one token later.

    With `start_at_game` there is one window a game and window i starts at game i's `<bos>`. Without it, window i
    starts at token `i * block`, and there are `max(1, n_tokens // block)` of them, none in an empty pack: the stream
    is cut without overlap, and a remainder shorter than a block is left out unless it is all there is.

    `y[-1]` is `<pad>`, as in the loader whose values these are, which throws the target of the last position away;
    `last_target` keeps it where the stream has it.

    `pack` is a folder or an opened `Pack`. Items are copies that the caller may write into. A pickled dataset is a
    path, which the process that unpickles it opens again.

    Raises:
        BlockSizeError: `block` is below 2. A `ValueError`.
        WindowIndexError: an index outside `0..len-1`; negative ones do not count from the end. An `IndexError`.
        PackReplacedError: on unpickling, where another pack lies at the path by now.
    """

    def __init__(
        self,
        pack: Pack | str | os.PathLike[str],
        block: int = 200,
        start_at_game: bool = True,
        last_target: bool = False,
    ) -> None:
        if block < 2:
            raise BlockSizeError(f"block is {block}; a window needs 2 tokens or more")
        self.pack = pack if isinstance(pack, Pack) else open_pack(Path(pack))
        self.block = operator.index(block)
        self.start_at_game = start_at_game
        self.last_target = last_target

    def __len__(self) -> int:
        if self.start_at_game:
            return self.pack.info.n_games
        return max(1, self.pack.info.n_tokens // self.block) if self.pack.info.n_tokens else 0

    def __getitem__(self, index: int) -> Window:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Window]:
        """The windows of `indices`, in that order and gathered at once: what torch's loader calls for a batch."""
        x, y = self._gather(self._begins(indices))
        return list(zip(torch.from_numpy(x), torch.from_numpy(y), strict=True))

    def _begins(self, indices: Sequence[int]) -> NDArray[np.int64]:
        """Where in the stream the windows of `indices` begin."""
        windows = [operator.index(index) for index in indices]
        count = len(self)
        for window in windows:
            if not 0 <= window < count:
                raise WindowIndexError(f"no window {window} in {self.pack.path}: it has {count}, numbered from 0")
        chosen = np.array(windows, dtype=np.int64)
        return self.pack.starts[chosen] if self.start_at_game else chosen * self.block

    def _gather(self, begins: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`x` and `y` of the windows that start at `begins`, each of shape (len(begins), block)."""
        positions = begins[:, np.newaxis] + np.arange(self.block + 1)
        ids = self.pack.tokens.take(positions, mode="clip").astype(np.int64)
        ids[positions >= self.pack.info.n_tokens] = PAD
        x, y = ids[:, :-1].copy(), ids[:, 1:].copy()  # apart, so that writing into one leaves the other
        if not self.last_target:
            y[:, -1] = PAD
        return x, y

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"pack": self.pack.path.absolute(), "fingerprint": _fingerprint(self.pack)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        expected = state.pop("fingerprint")
        self.__dict__.update(state)
        self.pack = open_pack(state["pack"])
        found = _fingerprint(self.pack)
        if found != expected:
            raise PackReplacedError(
                f"{self.pack.path} holds another pack than the dataset was made of: "
                f"the fingerprint was {expected} and is {found}; make the dataset anew"
            )


def _fingerprint(pack: Pack) -> str:
    """Digest of what a pack says of itself: the same counts, source and, where there is a manifest, the same bytes."""
    return digest([pack.info.model_dump(), pack.manifest])
