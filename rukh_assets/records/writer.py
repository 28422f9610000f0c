"""Built records to shards: when which domain gets one, and what goes into it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rukh_assets.records.layout import Layout
from rukh_assets.records.shards import shard_tensors
from rukh_assets.records.spool import Record, Spool
from rukh_loaders.formats import FileRecord, ShardWriter, shard_name
from rukh_loaders.formats.corpus import ShardEntry
from rukh_loaders.records import Built, PipelineConfig, Place

_SPOOLS = ".spools"


class CorpusWriter:
    """Writes `<domain>/shard_0000`, ... into a folder that is being built.

    When the tokens since the last shards reach `max_tokens_per_shard`, in all domains together, every domain that got
    a record since gets one. Records wait as lists until there are `buffer_tokens` numbers in them, then in files. So
    of a shard only the lengths of its records are in memory.
    """

    def __init__(self, folder: Path, config: PipelineConfig, layout: Layout, buffer_tokens: int) -> None:
        self.files: dict[str, FileRecord] = {}
        self._folder = folder
        self._layout = layout
        self._row_length = config.preprocessing.max_packed_len
        self._tokens_a_shard = config.output.max_tokens_per_shard
        self._buffer_tokens = buffer_tokens
        self._waiting: dict[str, list[Record]] = {}
        self._n_waiting = 0
        self._n_tokens = 0
        self._spools: dict[str, Spool] = {}
        self._shards: dict[str, list[ShardEntry]] = {}

    def add(self, place: Place, built: Built) -> None:
        """Take a record; `RecordValueError` for ids that do not fit, when they are written."""
        self._waiting.setdefault(built.domain, []).append((place, built))
        self._n_waiting += sum(map(_count, built.keys.values()))
        self._n_tokens += built.n_tokens
        if self._n_tokens >= self._tokens_a_shard:
            self._write_shards()
        elif self._n_waiting >= self._buffer_tokens:
            self._spool()

    def finish(self) -> list[ShardEntry]:
        """Write the last shards; all of them, by domain and number."""
        self._write_shards()
        shutil.rmtree(self._folder / _SPOOLS)
        return [shard for domain in sorted(self._shards) for shard in self._shards[domain]]

    def _spool(self) -> None:
        for domain, records in self._waiting.items():
            if domain not in self._spools:
                self._spools[domain] = Spool(self._folder / _SPOOLS / domain, self._layout)
            self._spools[domain].add(records)
        self._waiting.clear()
        self._n_waiting = 0

    def _write_shards(self) -> None:
        self._spool()
        for domain, spool in sorted(self._spools.items()):
            self._write_shard(domain, spool)
            shutil.rmtree(spool.folder)
        self._spools.clear()
        self._n_tokens = 0

    def _write_shard(self, domain: str, spool: Spool) -> None:
        shards = self._shards.setdefault(domain, [])
        name = f"{domain}/{shard_name(len(shards))}"
        tensors = shard_tensors(spool, self._layout, self._row_length)
        self._layout.keys.check(name, tensors)
        records = ShardWriter(self._folder / name).write(tensors)
        self.files |= {f"{name}/{file}": record for file, record in records.items()}
        offsets = tensors[self._layout.primary].offsets
        n_records = 0 if offsets is None else offsets.size - 1
        shards.append(ShardEntry(name, domain, n_records, spool.n_records, spool.n_tokens))


def _count(column: Sequence[Any]) -> int:
    """Numbers in a column, which is a list of numbers or of lists of them."""
    return sum(map(len, column)) if column and isinstance(column[0], list) else len(column)
