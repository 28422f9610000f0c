"""One month of games, from its source to the folder that holds its games.parquet."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from rukh_assets.board import load_kernels
from rukh_assets.errors import DamagedSourceError, EmptyMonthError, GameColumnsError
from rukh_assets.ingest.comments import CommentCounts
from rukh_assets.ingest.expectation import Expectation as Expectation
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.judge import Judged, judge
from rukh_assets.ingest.rejects import Rejects
from rukh_assets.ingest.replay import KERNELS, Kernels
from rukh_assets.ingest.schema import GAMES_SCHEMA as GAMES_SCHEMA
from rukh_assets.ingest.schema import split_month
from rukh_assets.ingest.seen import SeenIds
from rukh_assets.ingest.sources import Source
from rukh_assets.ingest.verdicts import REASONS
from rukh_assets.ingest.writer import GamesWriter
from rukh_assets.standing import standing_manifest
from rukh_assets.workers import Workers
from rukh_loaders.formats.manifest import check_files, describe_files, digest, read_manifest, write_manifest
from rukh_loaders.formats.publish import publish_folder

FORMAT_VERSION = 1
INGEST_VERSION = "3"
"""Goes up with every change of the code that changes what a month holds."""

GAMES_FILE = "games.parquet"
REJECTS_FILE = "rejects.jsonl"

NO_EXPECTATION = Expectation()

Progress = Callable[[int, int], None]


def inputs_digest(month: str, source: Source, filters: Filters) -> str:
    """Return the digest of all that decides what a month holds; the manifest has it as `inputs`."""
    return digest(
        {
            "code_version": INGEST_VERSION,
            "filters": filters.model_dump(mode="json"),
            "month": month,
            "source": source.describe(),
        }
    )


def standing_month(
    month: str, source: Source, filters: Filters, out_dir: Path, *, expect: Expectation = NO_EXPECTATION
) -> dict[str, Any] | None:
    """Return the manifest of `out_dir` where `read_month` would write the same again, None where there is work.

    Reads no game. Raises `DamagedSourceError` where the source or the month that stands is not what `expect` says.
    """
    expect.check_files(source.files)
    manifest = standing_manifest(out_dir, inputs_digest(month, source, filters))
    if manifest:
        expect.check_games(manifest["counts"]["read"], source.files)
    return manifest


def open_games(folder: Path) -> tuple[dict[str, Any], pq.ParquetFile]:
    """Open a month that `read_month` wrote: its manifest, and its games.parquet, of which only the footer is read.

    Raises `ManifestError` where the manifest is missing or a file is missing or of another size, `DamagedSourceError`
    where the footer cannot be read, and `GameColumnsError` where the columns are not `GAMES_SCHEMA`.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    path = folder / GAMES_FILE
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DamagedSourceError(f"{path}: {error}") from error
    if not file.schema_arrow.equals(GAMES_SCHEMA):
        raise GameColumnsError(f"{path}: columns are {file.schema_arrow}; expected {GAMES_SCHEMA}")
    return manifest, file


def read_month(
    month: str,
    source: Source,
    filters: Filters,
    out_dir: Path,
    *,
    expect: Expectation = NO_EXPECTATION,
    progress: Progress | None = None,
    workers: int | None = None,
    kernels: Kernels = KERNELS,
) -> dict[str, Any]:
    """Write the games of `month` (`YYYY-MM`) that `filters` keep to `out_dir`, whole or not at all.

    `out_dir` then holds games.parquet (`GAMES_SCHEMA`, the source's order), rejects.jsonl and manifest.json, in place
    of what was there; the manifest is returned. The same source and filters give the same bytes, with any number of
    `workers` (None for all cores) and any `kernels`. Each game that was read is kept or has exactly one of the reasons
    in the manifest's `counts`. `progress` is called after each batch with the games read and the games kept so far.

    Raises `DamagedSourceError` where the source is not what `expect` says, cannot be read to its end, or changes
    meanwhile, and `EmptyMonthError` where no game is kept; nothing is published then.
    """
    split_month(month)
    expect.check_files(source.files)
    load_kernels()
    with publish_folder(out_dir) as folder:
        tally = Tally(month)
        with Workers(workers) as crew, GamesWriter(folder / GAMES_FILE) as writer:
            batches = crew.ahead(source.batches(crew))
            for judged in crew.map(partial(judge, month=month, filters=filters, kernels=kernels), batches):
                writer.append(tally.add(judged))
                if progress:
                    progress(tally.read, tally.kept)
        source.check_unchanged()
        expect.check_games(tally.read, source.files)
        tally.check(source.name)
        (folder / REJECTS_FILE).write_bytes(tally.rejects.to_jsonl())
        manifest = {
            "format_version": FORMAT_VERSION,
            "code_version": INGEST_VERSION,
            "inputs": inputs_digest(month, source, filters),
            "month": month,
            "source": source.describe(),
            "filters": filters.model_dump(mode="json"),
            "counts": tally.counts() | {"undecodable_bytes": source.undecodable_bytes},
            "files": describe_files(folder),
            "libraries": {"chess": chess.__version__, "pyarrow": pa.__version__, "zstandard": zstandard.__version__},
        }
        write_manifest(folder, manifest)
    return manifest


class Tally:
    """The games of one month so far: how many were read, kept, and rejected for which reason."""

    def __init__(self, month: str) -> None:
        self.read = 0
        self.kept = 0
        self.rejects = Rejects()
        self._month = month
        self._comments = CommentCounts()
        self._seen = SeenIds()

    def add(self, judged: Judged) -> pa.RecordBatch:
        """Return the games of the next batch of the source that are kept, as `GAMES_SCHEMA`."""
        first = self._seen.add(np.asarray(judged.games["game_id"], np.int64))
        judged.reasons[judged.rows[~first]] = REASONS.index("duplicate")
        self.rejects.add(judged.batch, judged.reasons, judged.verdicts)
        self._comments.merge(judged.comments)
        kept = judged.games if first.all() else judged.games.filter(pa.array(first))
        self.read += judged.batch.num_rows
        self.kept += kept.num_rows
        return kept

    def check(self, source: str) -> None:
        """Raise `EmptyMonthError` where nothing was kept."""
        rejected = self.rejects.counts()
        if self.read != self.kept + sum(rejected.values()):
            raise AssertionError(f"{source}: {self.read} games read, {self.kept} kept, rejected {rejected}")
        if not self.kept:
            reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.items() if count) or "none"
            raise EmptyMonthError(
                f"{source}, month {self._month}: no game was kept of {self.read} read; rejected: {reasons}", rejected
            )

    def counts(self) -> dict[str, Any]:
        """Return the counts for the manifest; `read` is `kept` and all of `rejected` together."""
        return {
            "read": self.read,
            "kept": self.kept,
            "rejected": self.rejects.counts(),
            "comments": self._comments.as_dict(),
        }
