"""Runs of the chain in this process, in a lake under a test's own folder."""

import hashlib
import re
from pathlib import Path
from typing import Any

import dagster as dg
from months import TAGS, pgn

from rukh_assets.definitions import defs
from rukh_assets.defs.resources import Lake
from rukh_assets.ingest.sample import sample_batches

GAMES = 120
HEAD_FORMS = {
    "hf": "hf/data/year={year}/month={month}/*.parquet",
    "pgn": "lichess-{year}-{month}-head.pgn",
    "zst": "lichess-{year}-{month}-head.pgn.zst",
}
"""The real head of a month under the shared data, as source settings, by form."""


def resource_config(
    home: Path, *, source: str = "sample", workers: int | None = None, **settings: Any
) -> dict[str, Any]:
    configs = {
        "lake": {"home": str(home)},
        "source": {"source": source, "sample_games": GAMES, **settings},
        "machine": {"workers": workers},
    }
    return {name: {"config": config} for name, config in configs.items()}


def run_month(
    month: str,
    home: Path,
    *,
    select: list[str] | None = None,
    ops: dict[str, Any] | None = None,
    check: bool = True,
    vocab_size: int = 300,
    job: str = "month",
    instance: dg.DagsterInstance | None = None,
    **settings: Any,
) -> dg.ExecuteInProcessResult:
    """The job over the chain for one month, or another, or some of its assets; in process, without DAGSTER_HOME."""
    bpe = {"bpe__tokenizer": {"config": {"vocab_size": vocab_size}}}
    if job != "month" or (select and "bpe/tokenizer" not in select):
        bpe = {}
    return defs.resolve_job_def(job).execute_in_process(
        partition_key=month,
        instance=instance,
        asset_selection=[dg.AssetKey.from_user_string(key) for key in select] if select else None,
        run_config={
            "resources": resource_config(home, **settings),
            "ops": bpe | {name: {"config": config} for name, config in (ops or {}).items()},
        },
        raise_on_error=check,
    )


def work_of(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """What each asset said it did: `built` or `unchanged: why`."""
    return {
        event.asset_key.to_user_string(): str(event.materialization.metadata["work"].value)
        for event in result.get_asset_materialization_events()
    }


def tree(folder: Path) -> dict[str, str]:
    """sha256 of every file under `folder`, by relative path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lake_tree(home: Path) -> dict[str, str]:
    """The same of everything that the chain writes, Dagster's own files left out."""
    return {
        name: sha256
        for part in ("data/games", "data/shards", "data/packs", "data/reports", "artifacts")
        for name, sha256 in {f"{part}/{name}": sha256 for name, sha256 in tree(home / part).items()}.items()
    }


def write_pgn(path: Path, month: str, games: int) -> None:
    """A raw month as a PGN file: a sample, written as Lichess writes its dumps."""
    columns = {tag: re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tag.replace("UTC", "Utc")).lower() for tag in TAGS}
    with path.open("w") as file:
        for batch in sample_batches(month, games, seed=0):
            for game in batch.to_pylist():
                tags = {tag: game[column] for tag, column in columns.items()}
                file.write(
                    pgn(game["movetext"], **tags, WhiteTitle=game["white_title"], BlackTitle=game["black_title"])
                )
                file.write("\n")


def lake(home: Path) -> Lake:
    return Lake(home=str(home))
