"""One encoder on several workers: each batch in slices, the ids of the slices put together again."""

from itertools import pairwise

import numpy as np
import pyarrow as pa

from rukh_assets.encode.encoder import Encoded, Encoder
from rukh_assets.errors import GameRefusedError
from rukh_assets.workers import Workers
from rukh_loaders.tokenizers.vocabulary import Vocabulary

_SLICES_PER_WORKER = 4
"""More than one, since no two workers are equally fast."""


class SpreadEncoder:
    """An `Encoder` with the ids and the refusals of another one, which the workers call side by side."""

    def __init__(self, encoder: Encoder, workers: Workers) -> None:
        self._encoder = encoder
        self._workers = workers

    @property
    def vocabulary(self) -> Vocabulary:
        """That of the encoder."""
        return self._encoder.vocabulary

    def encode_batch(self, batch: pa.RecordBatch) -> Encoded:
        """Encode a batch; see `Encoder.encode_batch`."""
        n_slices = min(self._workers.count * _SLICES_PER_WORKER, batch.num_rows)
        if self._workers.count == 1 or n_slices < 2:
            return self._encoder.encode_batch(batch)
        borders = [batch.num_rows * number // n_slices for number in range(n_slices + 1)]
        slices = [batch.slice(start, end - start) for start, end in pairwise(borders)]
        try:
            encoded = list(self._workers.map(self._encoder.encode_batch, slices))
        except GameRefusedError:
            return self._encoder.encode_batch(batch)  # whose words count the rows of the whole batch
        ids, lengths = zip(*encoded, strict=True)
        return np.concatenate(ids), np.concatenate(lengths)
