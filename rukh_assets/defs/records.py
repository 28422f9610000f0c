"""The assets `records/<corpus>/shards`: a month of a corpus' raw records as ids and masks.

Raw records lie in `data/raw_records/<corpus>/<YYYY-MM>/`, and beside the months the corpus' config.json and tokenizer/.
The corpora are those that the project makes of games, and beside them those that RUKH_CORPORA names, or where it is
not set, the folders that are found when the code location loads: reload it to see a new one.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg

from rukh_assets.defs.metadata import OWNERS, counts_table, picture, progress_log
from rukh_assets.defs.partitions import months
from rukh_assets.defs.resources import Lake, Machine, MonthConfig
from rukh_assets.errors import CorpusNameError, RawRecordsMissingError, SettingError
from rukh_assets.records import RECORDS_VERSION, Report
from rukh_assets.records.corpora import corpus_pipeline, found_corpora, named_corpora, raw_files
from rukh_assets.reports.corpus import describe_record, document_lengths
from rukh_assets.reports.lengths import count_lengths
from rukh_assets.reports.pictures import length_counts, sparkline_svg
from rukh_loaders.formats.corpus import open_corpus
from rukh_loaders.records import RecordTokenizer

CHESS_CORPORA = {f"chess_{kind}": dg.AssetKey(["records", "chess", kind]) for kind in ("seq", "sft", "dpo", "grpo")}
"""The corpora that are made of games, and the assets that make their raw records."""

REPORTED_SKIPS = 20


def default_corpora() -> list[str]:
    """The corpora made of games, then those of RUKH_CORPORA, or where it is not set, those found in the lake.

    `SettingError` for a RUKH_CORPORA that is no list of names.
    """
    text = os.environ.get("RUKH_CORPORA")
    try:
        others = named_corpora(text) if text else found_corpora(Lake().raw_records)
    except CorpusNameError as error:
        raise SettingError(f"RUKH_CORPORA is {text!a}, expected names with commas between: {error}") from error
    return list(dict.fromkeys([*CHESS_CORPORA, *others]))


def shards_key(corpus: str) -> dg.AssetKey:
    """The key of a corpus' shards."""
    return dg.AssetKey(["records", corpus, "shards"])


def corpus_shards(corpus: str) -> dg.AssetsDefinition:
    """The asset `records/<corpus>/shards`."""
    key = shards_key(corpus)
    name = key.to_user_string()

    @dg.asset(
        key=key,
        deps=[CHESS_CORPORA[corpus]] if corpus in CHESS_CORPORA else [],
        partitions_def=months,
        group_name="records",
        kinds={"python", "tokenizers", "numpy"},
        owners=OWNERS,
        code_version=str(RECORDS_VERSION),
        output_required=False,
        description=(
            f"The month's raw records of `data/raw_records/{corpus}` as ids, masks and values, by the config and the "
            "tokenizer there; bad lines and records that train nothing are counted by reason."
        ),
    )
    def shards(
        context: dg.AssetExecutionContext, config: MonthConfig, lake: Lake, machine: Machine
    ) -> Iterator[dg.MaterializeResult[Any]]:
        month = context.partition_key
        folder = lake.corpus(corpus, month)
        try:
            files = raw_files(lake.raw_corpus_month(corpus, month))
        except RawRecordsMissingError as missing:
            context.log.warning(f"{name} {month}: skipped, nothing was materialised. {missing}")
            metadata = {"outcome": f"no raw records: {missing}"}
            context.log_event(dg.AssetObservation(asset_key=key, partition=month, metadata=metadata))
            return
        pipeline = corpus_pipeline(lake.raw_corpus(corpus), files, folder, machine.workers)
        work = "unchanged: raw records, config, tokenizer and code are what the standing shards were made from"
        if config.force or pipeline.standing() is None:
            work = "built"
            report = pipeline.run(progress_log(context.log, f"{name} {month}", ["records", "tokens"]))
            _tell_skipped(context.log, f"{name} {month}", report)
        context.log.info(f"{name} {month}: {work}")
        yield _result(work, folder, pipeline.tokenizer)

    return shards


def _tell_skipped(log: dg.DagsterLogManager, what: str, report: Report) -> None:
    """A line of log for a few places of each reason for which records were skipped."""
    places = [f"{reason}: {place}" for reason, places in report.samples.items() for place in places]
    for line in places[:REPORTED_SKIPS]:
        log.warning(f"{what}: skipped, {line}")


def _result(work: str, folder: Path, tokenizer: RecordTokenizer) -> dg.MaterializeResult[Any]:
    corpus = open_corpus(folder)
    manifest = corpus.manifest
    counts = manifest["counts"]
    lengths = document_lengths(corpus)
    return dg.MaterializeResult(
        data_version=dg.DataVersion(manifest["data_version"]),
        metadata={
            "work": work,
            "dagster/partition_row_count": manifest["n_records"],
            "records read": counts["read"],
            "records kept": counts["kept"],
            "skipped": counts_table("reason", "records", counts["skipped"]),
            "sequences cut": counts["truncated"],
            "rows": manifest["n_records"],
            "tokens": manifest["n_tokens"],
            "shards": len(manifest["shards"]),
            "tokens a document": round(float(lengths.mean()), 2),
            "lengths": picture(sparkline_svg(length_counts(count_lengths(lengths))), "tokens a document"),
            "first record": dg.MetadataValue.md(describe_record(corpus, 0, tokenizer)),
            "keys": dg.MetadataValue.json({name: asdict(key) for name, key in corpus.keys.keys.items()}),
            "raw files": dg.MetadataValue.json(manifest["sources"]),
            "config": dg.MetadataValue.json(manifest["config"]),
            "tokenizer": manifest["tokenizer_fingerprint"],
            "open it": f"rukh_loaders.formats.open_corpus({str(folder)!r})",
            "folder": dg.MetadataValue.path(folder),
        },
    )


corpora = default_corpora()
record_assets = [corpus_shards(corpus) for corpus in corpora]
