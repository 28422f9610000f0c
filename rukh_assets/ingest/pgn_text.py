"""The bytes of a PGN file as clean text: UTF-8 without a byte order mark, every line end LF."""

import codecs
import re
from collections.abc import Iterable, Iterator

_UNDECODABLE = re.compile("[\udc80-\udcff]")


class CleanText:
    """`blocks` are a file's bytes, cut anywhere. Oracle: `PgnReader`, which does the same with characters."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = blocks
        self.undecodable_bytes = 0
        """Bytes so far that are not UTF-8; each becomes U+FFFD."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield the text in blocks that are not empty, each of whole characters; once."""
        waiting = b""
        at_start = True
        for block in self._blocks:
            waiting += block
            if at_start:
                if len(waiting) < len(codecs.BOM_UTF8):
                    continue
                waiting = waiting.removeprefix(codecs.BOM_UTF8)
                at_start = False
            text, waiting = self._decodable(waiting, is_last=False)
            if text.endswith(b"\r"):  # the LF of this line end may follow
                text, waiting = text[:-1], b"\r" + waiting
            if text:
                yield _with_newlines(text)
        if at_start and codecs.BOM_UTF8.startswith(waiting):
            return
        text, _ = self._decodable(waiting, is_last=True)
        if text:
            yield _with_newlines(text)

    def _decodable(self, data: bytes, *, is_last: bool) -> tuple[bytes, bytes]:
        """Return the text in `data`, and the bytes at its end that may be the begin of a character."""
        if data.isascii():
            return data, b""
        try:
            _, length = codecs.utf_8_decode(data, "strict", is_last)
            return (data, b"") if length == len(data) else (data[:length], data[length:])
        except UnicodeDecodeError:
            text, length = codecs.utf_8_decode(data, "surrogateescape", is_last)
        text, count = _UNDECODABLE.subn("\ufffd", text)
        self.undecodable_bytes += count
        return text.encode(), data[length:]


def _with_newlines(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
