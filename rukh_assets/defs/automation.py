"""What starts runs without a hand: the jobs over the chain and over the record corpora, and their schedules."""

import dagster as dg

from rukh_assets.defs.partitions import latest_complete_month, months
from rukh_assets.defs.records import corpora
from rukh_assets.defs.resources import GameSource, Lake
from rukh_assets.errors import SourceMissingError
from rukh_assets.records.chess import SEQ
from rukh_assets.records.chess.games import games_sha256
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats.manifest import MANIFEST, read_manifest

_RECORDS = dg.AssetSelection.key_prefixes(["records"])

month_job = dg.define_asset_job(
    "month",
    selection=dg.AssetSelection.all() - _RECORDS,
    partitions_def=months,
    description="One month through the whole chain: games, shards and packs of every scheme, statistics, fixture.",
)

records_job = dg.define_asset_job(
    "records",
    selection=_RECORDS.upstream(),
    partitions_def=months,
    description="One month of every record corpus: games, the records made of them, and the shards of all raw records.",
)


@dg.schedule(
    name="monthly",
    job=month_job,
    # Dumps appear in the first days of a month; a month that is not there on the 3rd is asked for again each day.
    cron_schedule="0 6 3-12 * *",
    execution_timezone="UTC",
    description="From the 3rd to the 12th at 06:00 UTC: the latest complete month, until it is built.",
)
def monthly_schedule(
    context: dg.ScheduleEvaluationContext, lake: Lake, source: GameSource
) -> dg.RunRequest | dg.SkipReason:
    """Request the latest complete month, unless it stands already or is not published yet."""
    month = latest_complete_month(context.scheduled_execution_time)
    if (lake.report(month) / MANIFEST).exists() and lake.has_games(month, sample=source.is_sample):
        return dg.SkipReason(f"{month} stands: the last asset of its chain is in {lake.report(month)}")
    if context.instance_ref and (run := _running(context.instance, month_job.name, month)):
        return dg.SkipReason(f"run {run} is at work on {month}")
    try:
        source.find(month)
    except SourceMissingError as missing:
        return dg.SkipReason(f"{month} is not published yet, the next tick looks again: {missing}")
    return dg.RunRequest(partition_key=month)


@dg.schedule(
    name="monthly_records",
    job=records_job,
    # Six hours after the other schedule, whose run may still make the games that are wanted here.
    cron_schedule="0 12 3-12 * *",
    execution_timezone="UTC",
    description="From the 3rd to the 12th at 12:00 UTC: the latest complete month's records, until all are built.",
)
def monthly_records_schedule(
    context: dg.ScheduleEvaluationContext, lake: Lake, source: GameSource
) -> dg.RunRequest | dg.SkipReason:
    """Request the latest complete month where raw records wait for their shards, or games to make some of."""
    month = latest_complete_month(context.scheduled_execution_time)
    raw = [corpus for corpus in corpora if lake.raw_corpus_month(corpus, month).is_dir()]
    waiting = [corpus for corpus in raw if not (lake.corpus(corpus, month) / MANIFEST).exists()]
    if not waiting and lake.has_games(month, sample=source.is_sample) and _records_are_of_the_games(lake, month):
        return dg.SkipReason(f"{month} stands: {', '.join(raw)} have shards")
    if context.instance_ref and (run := _running(context.instance, records_job.name, month)):
        return dg.SkipReason(f"run {run} is at work on {month}")
    try:
        source.find(month)
    except SourceMissingError as missing:
        if not waiting:
            return dg.SkipReason(f"no raw records of {month} wait, and its games are not published yet: {missing}")
    return dg.RunRequest(partition_key=month)


def _records_are_of_the_games(lake: Lake, month: str) -> bool:
    """Whether the chess corpora were made of the games that stand: sample games may have given way to real ones."""
    try:
        made = read_manifest(lake.raw_corpus_month(SEQ, month))
        return bool(made.get("games") == games_sha256(lake.games(month)))
    except ManifestError:
        return False


def _running(instance: dg.DagsterInstance, job: str, month: str) -> str | None:
    """The id of a run of a job that waits or works on the month."""
    unfinished = [
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
    ]
    found = instance.get_runs(
        dg.RunsFilter(job_name=job, statuses=unfinished, tags={"dagster/partition": month}), limit=1
    )
    return found[0].run_id if found else None
