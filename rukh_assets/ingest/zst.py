"""Zstandard files of many frames, as the monthly dumps are: every byte that was written, or an error.

A plain stream reader ends in silence where a file was cut off inside a frame; this one follows the frames itself.
"""

from collections.abc import Iterator
from pathlib import Path

import zstandard

from rukh_assets.errors import DamagedSourceError

_BLOCK = 1 << 10
"""Bytes decoded at once: a block of 4 may stand for 128 KiB (RFC 8878), so this many for at most 32 MiB."""


def read_zst(path: Path) -> Iterator[bytes]:
    """Yield the content of all frames of `path`, skippable frames left out, in blocks of any length.

    Content checksums are verified where a frame has one. Raises `DamagedSourceError` with the file and the byte where
    the frame starts: for a frame that does not decode, that ends early, or bytes that are no frame; and for a file
    without any frame. A file cut off exactly between two frames is whole as far as anyone can see: give its sha256.
    """
    with path.open("rb") as file:
        start = 0
        waiting = file.read(_BLOCK)
        if not waiting:
            raise DamagedSourceError(f"{path}: empty, where at least one zstandard frame is expected")
        while waiting:
            frame = zstandard.ZstdDecompressor().decompressobj()
            length = 0
            while not frame.eof:
                if not waiting:
                    raise DamagedSourceError(
                        f"{path}: ends at byte {start + length}, inside the zstandard frame that starts at byte {start}"
                    )
                length += len(waiting)
                try:
                    yield frame.decompress(waiting)
                except zstandard.ZstdError as error:
                    raise DamagedSourceError(f"{path}: {error}, in the frame that starts at byte {start}") from error
                waiting = b"" if frame.eof else file.read(_BLOCK)
            waiting = frame.unused_data
            start += length - len(waiting)
            waiting = waiting or file.read(_BLOCK)
