"""The asset `games`: a raw month, converted, checked, filtered and counted."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
from pydantic import Field

from rukh_assets.defs.metadata import OWNERS, column_schema, counts_table, progress_log
from rukh_assets.defs.partitions import months
from rukh_assets.defs.resources import GameSource, Lake, Machine, MonthConfig
from rukh_assets.errors import LakeError, SourceMissingError
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.month import GAMES_SCHEMA, INGEST_VERSION, read_month, standing_month
from rukh_assets.ingest.sources import SAMPLE, Expectation, Source
from rukh_loaders.formats.publish import exclusive

COLUMN_MEANINGS = {
    "game_id": "first 8 bytes, little-endian, of sha256 of the game's Site",
    "uci": "legal moves from the normal start, UCI, separated by one space",
    "n_plies": "number of moves",
    "white_elo": "Lichess Glicko-2 rating",
    "black_elo": "Lichess Glicko-2 rating",
    "result": "1-0, 0-1 or 1/2-1/2",
    "time_control": "base+increment in seconds, - for correspondence",
    "utc_date": "date of the game, UTC",
    "eco": "opening code, ? where unknown",
    "month": "month of the file that the game came from",
}


class GamesConfig(MonthConfig):
    """`MonthConfig`, and what the raw files are expected to be: a mismatch fails the month before it is published."""

    expected_sha256: str | None = Field(default=None, description="sha256 of the month's only raw file, 64 hex digits.")
    expected_bytes: int | None = Field(default=None, description="Bytes of all raw files of the month together.")
    expected_games: int | None = Field(default=None, description="Games read from all raw files, rejected ones too.")

    def expectation(self) -> Expectation:
        """The same as the ingest takes it."""
        return Expectation(sha256=self.expected_sha256, bytes=self.expected_bytes, games=self.expected_games)


@dg.asset(
    partitions_def=months,
    group_name="games",
    kinds={"python", "parquet"},
    owners=OWNERS,
    code_version=str(INGEST_VERSION),
    output_required=False,
    metadata=column_schema(GAMES_SCHEMA, COLUMN_MEANINGS),
    description=(
        "A month of games: read from Hugging Face parquet, a `.pgn.zst` dump, `.pgn`, games in this format, or the "
        "sample; every move replayed; rejects counted by reason. Launchpad: source, filters, force."
    ),
)
def games(
    context: dg.AssetExecutionContext, config: GamesConfig, lake: Lake, source: GameSource, machine: Machine
) -> Iterator[dg.MaterializeResult[Any]]:
    """Materialise one month, or say why it is skipped."""
    month = context.partition_key
    try:
        raw = source.open(month)
    except SourceMissingError as missing:
        context.log.warning(f"games {month}: skipped, not published yet; nothing was materialised. {missing}")
        context.log_event(
            dg.AssetObservation(asset_key="games", partition=month, metadata={"outcome": f"not published: {missing}"})
        )
        return
    manifest, work = games_of_month(context.log, month, raw, source.kept(), lake, config, machine.workers)
    context.log.info(f"games {month}: {work}; {manifest['counts']['kept']:,} kept of {manifest['counts']['read']:,}")
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(manifest["files"]["games.parquet"]["sha256"]),
        metadata=_metadata(manifest, work) | {"folder": dg.MetadataValue.path(lake.games(month))},
    )


def games_of_month(
    log: dg.DagsterLogManager,
    month: str,
    raw: Source,
    filters: Filters,
    lake: Lake,
    config: GamesConfig,
    workers: int | None,
) -> tuple[dict[str, Any], str]:
    """The manifest of the month's games, read from `raw` where they do not stand, and what was done.

    Sample games never replace real ones (`LakeError`). The month is locked: whoever else wants it (the tokenizer may)
    waits, and then finds it standing.
    """
    folder, expect = lake.games(month), config.expectation()
    if raw.form == SAMPLE and lake.has_games(month, sample=False):
        raise LakeError(
            f"{folder} holds real games of {month}, and sample games never replace them; set RUKH_SOURCE to where real "
            "games come from, or RUKH_HOME to another folder"
        )
    with exclusive(folder):
        manifest = None if config.force else standing_month(month, raw, filters, folder, expect=expect)
        if manifest is not None:
            return manifest, "unchanged: source, filters and code are what the standing month was made from"
        progress = progress_log(log, f"games {month}", ["games read", "kept"])
        manifest = read_month(month, raw, filters, folder, expect=expect, progress=progress, workers=workers)
        return manifest, "built"


def _metadata(manifest: dict[str, Any], work: str) -> dict[str, Any]:
    counts = manifest["counts"]
    return {
        "work": work,
        "dagster/partition_row_count": counts["kept"],
        "games read": counts["read"],
        "games kept": counts["kept"],
        "rejected": counts_table("reason", "games", counts["rejected"]),
        "comments": counts_table("kind", "comments", counts["comments"]),
        "undecodable bytes": counts["undecodable_bytes"],
        "raw files": dg.MetadataValue.json(manifest["source"]),
        "filters": dg.MetadataValue.json(manifest["filters"]),
    }
