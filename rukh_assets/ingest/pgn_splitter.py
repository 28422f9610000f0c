"""PGN text to raw games at the speed of kernels; the readable reader splits the games that they leave to it."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from rukh_assets.ingest import pgn
from rukh_assets.ingest.pgn_columns import columns_of
from rukh_assets.ingest.pgn_spans import CUT, END, N_SPANS, ODD, find_spans
from rukh_assets.ingest.pgn_text import CleanText
from rukh_assets.ingest.raw import RAW_SCHEMA, raw_batch

CHUNK_BYTES = 1 << 23
"""Text that is split at once, some thousand games: so memory does not depend on the file."""
_BYTES_PER_CHARACTER = 4
"""The most that a character has in UTF-8."""

Part: TypeAlias = pa.RecordBatch | list[dict[str, Any]]
"""Games one after the other, of kernels or of the readable reader."""


class PgnSplitter:
    """The games of one PGN file: `blocks` are its bytes, cut anywhere, and `file` is its base name.

    They are those of `PgnReader`, the oracle. Wherever that one begins a game it remembers nothing of the games before,
    so at each game's begin either of the two may go on after the other.
    """

    def __init__(self, blocks: Iterable[bytes], file: str) -> None:
        self._clean = CleanText(blocks)
        self._blocks = iter(self._clean)
        self._file = file
        self._text = b""
        self._start = 0
        """Where in the text the next game begins, or the next line of one."""
        self._n_dropped = 0
        """Bytes of the file before the text."""
        self._is_last = False
        """Whether the file ends with the text."""
        self._number = 0
        self._spans = np.empty((pgn.BATCH_GAMES, N_SPANS, 2), np.int64)
        self._ended = np.empty(pgn.BATCH_GAMES, np.uint8)

    @property
    def undecodable_bytes(self) -> int:
        """Bytes so far that are not UTF-8; each is read as U+FFFD."""
        return self._clean.undecodable_bytes

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches of `RAW_SCHEMA` in the file's order, each of at least one game; once."""
        parts: list[Part] = []
        n_games = n_bytes = 0
        why = CUT
        while why != END:
            if why == CUT:
                self._read_on()
            begin = self._n_dropped + self._start
            why = self._split(parts, pgn.BATCH_GAMES - n_games, pgn.BATCH_CHARACTERS - n_bytes)
            if why == ODD:
                self._read_game(parts)
            n_games = sum(map(len, parts))
            n_bytes += self._n_dropped + self._start - begin
            if why in (CUT, END) or n_games >= pgn.BATCH_GAMES or n_bytes >= pgn.BATCH_CHARACTERS:
                if parts:
                    yield _together(parts)
                parts, n_games, n_bytes = [], 0, 0

    def _split(self, parts: list[Part], max_games: int, max_bytes: int) -> int:
        """Add the games from here on that the kernel takes to `parts`, and return why it stopped."""
        spans, ended = self._spans[:max_games], self._ended[:max_games]
        text, begin = np.frombuffer(self._text, np.uint8), self._start
        n_games, self._start, why = find_spans(
            text,
            self._start,
            self._start + max_bytes,
            self._is_last,
            pgn.MAX_GAME_CHARACTERS,
            spans.reshape(-1),
            ended,
        )
        if n_games:
            parts.append(self._batch(n_games, self._start - begin))
        if why == CUT and len(self._text) - self._start > CHUNK_BYTES:
            return ODD  # longer than any usual game: line by line it need not be in memory whole
        return int(why)

    def _batch(self, n_games: int, n_bytes: int) -> pa.RecordBatch:
        """The first games of the spans, which come next in the file."""
        columns = columns_of(self._text, self._spans[:n_games], n_bytes)
        numbers = np.arange(self._number, self._number + n_games)
        self._number += n_games
        place = [pa.repeat(self._file, n_games), pa.array(numbers, pa.int64())]
        ended = pa.array(self._ended[:n_games].astype(np.bool_))
        return pa.RecordBatch.from_arrays([*columns, *place, ended], schema=RAW_SCHEMA)

    def _read_game(self, parts: list[Part]) -> None:
        """Add the game that begins here, if it is one, to `parts`, read by the readable reader."""
        game = pgn.PgnGame()
        line, after = self._line()
        while after > self._start and not pgn.starts_next(game, line):
            pgn.add_line(game, line)
            self._start = after
            line, after = self._line()
        if game.is_game:
            if not parts or isinstance(parts[-1], pa.RecordBatch):
                parts.append([])
            parts[-1].append(game.row() | {"file": self._file, "number": self._number})
            self._number += 1

    def _line(self) -> tuple[str, int]:
        """The line that begins here, and where the one after it does; here too where the file ends."""
        longest = _BYTES_PER_CHARACTER * pgn.MAX_GAME_CHARACTERS
        end = self._text.find(b"\n", self._start)
        while end < 0 and not self._is_last and len(self._text) - self._start <= longest:
            self._read_on()
            end = self._text.find(b"\n")
        if end < 0:  # the last line, or a part of one that is longer than any game
            return self._text[self._start :].decode(), len(self._text)
        return self._text[self._start : end].decode(), end + 1

    def _read_on(self) -> None:
        """Drop the text before here and add the next chunk to what is left."""
        blocks = [self._text[self._start :]]
        missing = CHUNK_BYTES
        while missing > 0 and not self._is_last:
            block = next(self._blocks, None)
            self._is_last = block is None
            blocks.append(block or b"")
            missing -= len(blocks[-1])
        self._n_dropped += self._start
        self._text, self._start = b"".join(blocks), 0


def _together(parts: list[Part]) -> pa.RecordBatch:
    batches = [part if isinstance(part, pa.RecordBatch) else raw_batch(part) for part in parts]
    return pa.concat_batches(batches) if len(batches) > 1 else batches[0]
