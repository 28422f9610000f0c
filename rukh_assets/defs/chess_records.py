"""The assets `records/chess/<type>`: a month's games as raw records of each training type."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from rukh_assets.defs.metadata import OWNERS, progress_log
from rukh_assets.defs.partitions import months
from rukh_assets.defs.records import CHESS_CORPORA
from rukh_assets.defs.resources import GameSource, Lake, Machine, MonthConfig
from rukh_assets.errors import EmptyCorpusError, SourceMissingError
from rukh_assets.records.chess import (
    CHESS_RECORDS_VERSION,
    DPO,
    GRPO,
    SEQ,
    SFT,
    AnnotatedGames,
    GameTexts,
    Groups,
    OneSide,
    Pairs,
    Side,
    make_records,
)
from rukh_assets.records.chess.making import Recipe
from rukh_loaders.formats import MANIFEST

Results = Iterator[dg.MaterializeResult[Any]]

SHOWN_CHARACTERS = 1200


class SideConfig(MonthConfig):
    """`MonthConfig`, and whose moves are trained."""

    side: Side = Field(default="winner", description="Whose moves are trained; of a draw there is no winner.")


class GroupsConfig(MonthConfig):
    """`MonthConfig`, and which positions become groups."""

    first_plies: int = Field(default=40, ge=2, le=300, description="How many plies of each game are looked at.")
    min_games: int = Field(default=2, ge=2, description="How many games at least moved on from a position.")


class PairsConfig(MonthConfig):
    """`MonthConfig`, and how clear a pair has to be."""

    margin: int = Field(default=100, ge=100, description="Centipawns between the two moves, at least.")


def _asset(corpus: str, deps: list[str | dg.AssetKey], description: str) -> Callable[..., dg.AssetsDefinition]:
    return dg.asset(
        key=CHESS_CORPORA[corpus],
        deps=deps,
        partitions_def=months,
        group_name="records",
        kinds={"python", "json"},
        owners=OWNERS,
        code_version=str(CHESS_RECORDS_VERSION),
        output_required=False,
        description=f"{description} JSON lines in `data/raw_records/{corpus}`, with config and tokenizer beside them.",
    )


@_asset(SEQ, ["games"], "Whole games as text, in the tokens of the uci scheme.")
def chess_seq(context: dg.AssetExecutionContext, config: MonthConfig, lake: Lake) -> Results:
    """One record a game."""
    recipe = GameTexts(lake.games(context.partition_key))
    yield from _make(context, lake, recipe, config.force, "games")


@_asset(SFT, ["games"], "Whole games as talks: ratings, then moves in turn, of which one side's are trained.")
def chess_sft(context: dg.AssetExecutionContext, config: SideConfig, lake: Lake) -> Results:
    """One record a game that has the side."""
    recipe = OneSide(lake.games(context.partition_key), config.side)
    yield from _make(context, lake, recipe, config.force, "games")


@_asset(
    GRPO,
    ["games"],
    "Positions that several games reached, the moves played there, and what each did to the evaluation (the source's "
    "`%eval` comments; in a sample month, material).",
)
def chess_grpo(
    context: dg.AssetExecutionContext,
    config: GroupsConfig,
    lake: Lake,
    source: GameSource,
    machine: Machine,
) -> Results:
    """One record a position; nothing where the raw month is not there any more or says nothing of its positions."""
    month = context.partition_key
    try:
        raw = source.open(month)
    except SourceMissingError as missing:
        _skip(context, f"the raw month is not there: {missing}")
        return
    annotated = AnnotatedGames(month, raw, source.kept(), lake.games(month))
    recipe = Groups(annotated, config.first_plies, config.min_games, machine.workers)
    yield from _make(context, lake, recipe, config.force, "games")


@_asset(DPO, [CHESS_CORPORA[GRPO]], "Of a group the best move and one that is clearly worse.")
def chess_dpo(context: dg.AssetExecutionContext, config: PairsConfig, lake: Lake) -> Results:
    """At most one record a group; nothing where there are no groups."""
    groups = lake.raw_corpus_month(GRPO, context.partition_key)
    if not (groups / MANIFEST).is_file():
        _skip(context, f"there are no groups in {groups}")
        return
    yield from _make(context, lake, Pairs(groups, config.margin), config.force, "groups")


def _make(context: dg.AssetExecutionContext, lake: Lake, recipe: Recipe, force: bool, unit: str) -> Results:
    month, corpus = context.partition_key, recipe.corpus
    name = context.asset_key.to_user_string()
    progress = progress_log(context.log, f"{name} {month}", [unit, "records"])
    try:
        manifest, work = make_records(recipe, month, lake.raw_corpus(corpus), force=force, progress=progress)
    except EmptyCorpusError as empty:
        if lake.raw_corpus_month(corpus, month).exists():  # records of other games, or made by other settings
            raise
        _skip(context, str(empty))
        return
    context.log.info(f"{name} {month}: {work}; {manifest['n_records']:,} records")
    yield dg.MaterializeResult(
        data_version=dg.DataVersion(manifest["data_version"]),
        metadata=_metadata(manifest, work, lake.raw_corpus_month(corpus, month)),
    )


def _skip(context: dg.AssetExecutionContext, why: str) -> None:
    key, month = context.asset_key, context.partition_key
    context.log.warning(f"{key.to_user_string()} {month}: skipped, nothing was materialised. {why}")
    metadata = {"outcome": f"no records: {why}"}
    context.log_event(dg.AssetObservation(asset_key=key, partition=month, metadata=metadata))


def _metadata(manifest: dict[str, Any], work: str, folder: Path) -> dict[str, Any]:
    with (folder / min(manifest["files"])).open(encoding="ascii") as file:
        first = file.readline()
    shown = first if len(first) <= SHOWN_CHARACTERS else f"{first[:SHOWN_CHARACTERS]} ..."
    said = {name.replace("_", " "): count for name, count in manifest["counts"].items()}
    origin = {"evaluation": manifest["evaluation"]} if "evaluation" in manifest else {}
    return {
        "work": work,
        "dagster/partition_row_count": manifest["n_records"],
        **said,
        **origin,
        "first record": dg.MetadataValue.md(f"```json\n{shown}\n```"),
        "folder": dg.MetadataValue.path(folder),
    }


chess_assets = [chess_seq, chess_sft, chess_grpo, chess_dpo]
