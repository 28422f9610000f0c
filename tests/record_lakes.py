"""Corpora of raw records in a lake under a test's own folder, and runs of their assets in this process."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dagster as dg
from lakes import lake
from record_configs import message
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.defs.record_checks import corpus_checks
from rukh_assets.defs.records import corpus_shards
from rukh_assets.defs.resources import Machine
from rukh_loaders.records import PipelineConfig

MONTH = "2025-01"


def write_corpus(
    home: Path,
    corpus: str,
    config: PipelineConfig,
    months: dict[str, Iterable[dict[str, Any] | str]],
) -> Path:
    """config.json, tokenizer/ (the toy's T1) and `<month>/part.jsonl` of a corpus; its folder."""
    folder = lake(home).raw_corpus(corpus)
    write_toy_tokenizer(folder / "tokenizer")
    config.to_file(folder / "config.json")
    for month, records in months.items():
        (folder / month).mkdir()
        lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
        (folder / month / "part.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return folder


def run_corpus(
    home: Path, corpus: str, month: str = MONTH, *, force: bool = False, check: bool = True
) -> dg.ExecuteInProcessResult:
    """The corpus' asset and its checks for one month, in process, without DAGSTER_HOME."""
    name = f"records__{corpus}__shards"
    definitions = dg.Definitions(
        assets=[corpus_shards(corpus)],
        asset_checks=corpus_checks(corpus),
        resources={"lake": lake(home), "machine": Machine(workers=2)},
        executor=dg.in_process_executor,
    )
    return definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        partition_key=month,
        run_config={"ops": {name: {"config": {"force": force}}}},
        raise_on_error=check,
    )


def talks(count: int) -> list[dict[str, Any]]:
    """Conversations of the toy tokenizer's letters, all different in length or letters."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        {
            "messages": [
                message("user", " ".join(letters[: 1 + i % 5])),
                message("assistant", " ".join(letters[i % 20 : i % 20 + 1 + i % 3])),
            ]
        }
        for i in range(count)
    ]
