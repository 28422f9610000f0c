"""games.parquet: the same rows give the same bytes, however they came in."""

from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from rukh_assets.ingest.schema import GAMES_SCHEMA

ROW_GROUP_GAMES = 100_000
"""Games of each row group but the last."""
_DICTIONARY_COLUMNS = ["result", "eco", "time_control", "month"]


class GamesWriter:
    """Writes batches of `GAMES_SCHEMA` to one parquet file in row groups of exactly `ROW_GROUP_GAMES`; a context."""

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(path, GAMES_SCHEMA, compression="zstd", use_dictionary=_DICTIONARY_COLUMNS)
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0

    def append(self, batch: pa.RecordBatch) -> None:
        """Add the games of `batch`, of any number."""
        self._waiting.append(batch)
        self._n_waiting += batch.num_rows
        while self._n_waiting >= ROW_GROUP_GAMES:
            self._write(ROW_GROUP_GAMES)

    def __enter__(self) -> "GamesWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None and self._n_waiting:
            self._write(self._n_waiting)
        self._writer.close()

    def _write(self, n_games: int) -> None:
        # Combined first: pages follow the borders of chunks, which follow those of the batches.
        table = pa.Table.from_batches(self._waiting).combine_chunks()
        self._writer.write_table(table.slice(0, n_games), row_group_size=ROW_GROUP_GAMES)
        self._waiting = table.slice(n_games).to_batches()
        self._n_waiting -= n_games
