"""games.parquet: the same rows give the same bytes, however they came in."""

from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from rukh_assets.ingest.schema import GAMES_SCHEMA

ROW_GROUP_GAMES = 100_000
"""Games of each row group but the last."""
_STEP_GAMES = 1024
"""Games that the parquet writer takes at once from a chunk before it looks whether a page is full."""
_DICTIONARY_COLUMNS = ["result", "eco", "time_control", "month"]


class GamesWriter:
    """Writes batches of `GAMES_SCHEMA` to one parquet file in row groups of exactly `ROW_GROUP_GAMES`; a context.

    Pages follow the borders of chunks, which would follow those of the batches: so games wait in chunks of whole steps,
    which give the pages that one chunk gives, and of which no second copy is needed.
    """

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(
            path,
            GAMES_SCHEMA,
            compression="zstd",
            use_dictionary=_DICTIONARY_COLUMNS,
            write_batch_size=_STEP_GAMES,
        )
        self._chunks: list[pa.Table] = []
        self._rest: list[pa.RecordBatch] = []
        """Games after those of the chunks, fewer than a step."""
        self._n_chunked = self._n_rest = 0

    def append(self, batch: pa.RecordBatch) -> None:
        """Add the games of `batch`, of any number."""
        self._rest.append(batch)
        self._n_rest += batch.num_rows
        while self._n_chunked + self._n_rest >= ROW_GROUP_GAMES:
            self._chunk(ROW_GROUP_GAMES - self._n_chunked)
            self._write()
        if self._n_rest >= _STEP_GAMES:
            self._chunk(self._n_rest - self._n_rest % _STEP_GAMES)

    def __enter__(self) -> "GamesWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None and self._n_chunked + self._n_rest:
            self._chunk(self._n_rest)
            self._write()
        self._writer.close()

    def _chunk(self, n_games: int) -> None:
        """Move so many games from the rest to a chunk of their own."""
        table = pa.Table.from_batches(self._rest, GAMES_SCHEMA).combine_chunks()
        self._chunks.append(table.slice(0, n_games))
        self._rest = table.slice(n_games).to_batches()
        self._n_chunked += n_games
        self._n_rest -= n_games

    def _write(self) -> None:
        self._writer.write_table(pa.concat_tables(self._chunks), row_group_size=ROW_GROUP_GAMES)
        self._chunks, self._n_chunked = [], 0
