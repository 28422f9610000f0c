"""The columns of a batch of games as plain arrays: what kernels read instead of Python objects.

The arrays have the same types whatever the columns have, slices and `large_string` included: a kernel is compiled once.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rukh_assets.board import FINISHED
from rukh_loaders.tokenizers.uci import ELO_MAX, ELO_MIN, ELO_STEP
from rukh_loaders.tokenizers.vocabulary import PAD, RESULT_IDS


def result_codes(results: pa.Array) -> NDArray[np.uint8]:
    """The index of each result in `rukh_assets.board.FINISHED`, 0 for a null and any other text."""
    indices = pc.index_in(results, pa.array(FINISHED[1:], results.type)).fill_null(-1)
    return np.asarray(indices.to_numpy() + 1, np.uint8)


def result_ids(results: pa.Array) -> NDArray[np.int64]:
    """The id of each result's token, `PAD` for a null and any other text. Oracle: `result_id`."""
    ids = np.array([PAD, *(RESULT_IDS[result] for result in FINISHED[1:])], np.int64)
    return ids[result_codes(results)]


def elo_bins(ratings: pa.Array) -> NDArray[np.int64]:
    """The number of each rating's bin, from 0; that of a null is undefined. Oracle: `elo_bin`."""
    values = np.asarray(ratings.fill_null(0), np.float64)  # integers of any type: their order stays
    return np.clip(values, ELO_MIN, ELO_MAX).astype(np.int64) // ELO_STEP - ELO_MIN // ELO_STEP
