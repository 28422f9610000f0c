"""A program: encodes games whose last character is the last byte of a page, behind which none may be read."""

import ctypes
import mmap

import numpy as np
import pyarrow as pa
from corpora import batch_of, game_of, random_games
from readable_encoding import outcome

from rukh_assets.encode import SCHEMES, make_encoder
from rukh_loaders.tokenizers.bpe import train_bpe

GAMES = ("e2e4", "e2e4 e7e5", "e2e4 e", "e2e4 e7", "e2e4 e7e", "e2e4 e7e8q", "e2e4 ", "e", "a7a8q", "a7a8qq")
RESULTS = ("1-0", "1/2-1/2", "1", "1/2-1/")


def guarded_page():
    """The bytes of a page, and what owns them."""
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    both = np.frombuffer(pages, np.uint8)
    behind = ctypes.c_void_p(both.ctypes.data + mmap.PAGESIZE)
    assert ctypes.CDLL(None, use_errno=True).mprotect(behind, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    return both[: mmap.PAGESIZE], pages


def text_at_the_end(text):
    """A column of one text that ends with its page."""
    page, owner = guarded_page()
    page[page.size - len(text) :] = np.frombuffer(text.encode(), np.uint8)
    data = pa.foreign_buffer(page.ctypes.data + page.size - len(text), len(text), base=owner)
    return pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, len(text)], np.int32)), data)


def main():
    bpe = train_bpe([game["uci"] for game in random_games(50, 10)])
    encoders = [make_encoder(scheme, bpe) for scheme in SCHEMES]
    for uci in GAMES:
        for result in RESULTS:
            batch = batch_of([game_of("")])
            for name, text in (("uci", uci), ("result", result)):
                batch = batch.set_column(batch.schema.get_field_index(name), name, text_at_the_end(text))
            for encoder in encoders:
                outcome(encoder.encode_batch, batch)
    print("read to the end")


if __name__ == "__main__":
    main()
