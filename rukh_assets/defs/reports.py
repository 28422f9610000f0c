"""The assets `tokenizer_stats` and `parity_fixture`: what a page about the tokenizers, and a port of them, need."""

from typing import Any

import dagster as dg

from rukh_assets.defs.metadata import OWNERS
from rukh_assets.defs.partitions import months
from rukh_assets.defs.resources import Lake, MonthConfig
from rukh_assets.encode import SCHEMES
from rukh_assets.reports.fixture import FIXTURE_PGN, FIXTURE_VERSION, standing_fixture, write_fixture
from rukh_assets.reports.month import REPORT_VERSION, publish_newest, standing_report, write_report


@dg.asset(
    deps=[dg.AssetKey([scheme, "pack"]) for scheme in SCHEMES],
    partitions_def=months,
    group_name="reports",
    kinds={"python", "json"},
    owners=OWNERS,
    code_version=str(REPORT_VERSION),
    description=(
        "How long games are in each scheme, from the packs' starts: the whole month, and its first 20,000 games for "
        "the published table, which is that of the newest month."
    ),
)
def tokenizer_stats(context: dg.AssetExecutionContext, config: MonthConfig, lake: Lake) -> dg.MaterializeResult[Any]:
    """Materialise one month's statistics, and publish the newest month's table."""
    month = context.partition_key
    folder, packs = lake.report(month), {scheme: lake.pack(scheme, month) for scheme in SCHEMES}
    manifest = None if config.force else standing_report(packs, lake.bpe_file, folder)
    work = "unchanged: packs and code are what the standing report was made from"
    if manifest is None:
        work = "built"
        manifest = write_report(packs, lake.bpe_file, folder)
    published = publish_newest(lake.reports, lake.published_statistics)
    context.log.info(f"tokenizer_stats {month}: {work}; the published table is that of {published}")
    return dg.MaterializeResult(
        data_version=dg.DataVersion(manifest["data_version"]),
        metadata={
            "work": work,
            "tokens a game": dg.MetadataValue.md(_table(manifest["statistics"])),
            "published table": f"that of {published}",
            "folder": dg.MetadataValue.path(folder),
        },
    )


@dg.asset(
    deps=["vocab", dg.AssetKey(["bpe", "tokenizer"])],
    group_name="reports",
    kinds={"python", "json"},
    owners=OWNERS,
    code_version=str(FIXTURE_VERSION),
    description="Twenty games in every scheme, to test a port of the tokenizers against: `games.json`.",
)
def parity_fixture(context: dg.AssetExecutionContext, config: MonthConfig, lake: Lake) -> dg.MaterializeResult[Any]:
    """Encode the fixture's games, each read strictly."""
    manifest = None if config.force else standing_fixture(FIXTURE_PGN, lake.bpe_file, lake.fixtures)
    work = "unchanged: games, tokenizers and code are what the standing fixture was made from"
    if manifest is None:
        work = "built"
        manifest = write_fixture(FIXTURE_PGN, lake.bpe_file, lake.fixtures)
    context.log.info(f"parity_fixture: {work}")
    return dg.MaterializeResult(
        data_version=dg.DataVersion(manifest["files"]["games.json"]["sha256"]),
        metadata={"work": work, "games": manifest["n_games"], "folder": dg.MetadataValue.path(lake.fixtures)},
    )


def _table(statistics: dict[str, Any]) -> str:
    rows = [
        f"| {scheme} | {row['vocab_size']:,} | {row['mean']} | {row['p50']} | {row['p95']} | {row['pct_le_max_len']} |"
        for scheme, row in statistics["schemes"].items()
    ]
    at_most = f"% at most {statistics['source']['max_len']}"
    return "\n".join(
        [f"| scheme | vocabulary | mean | median | p95 | {at_most} |", "|---|---:|---:|---:|---:|---:|", *rows]
    )
