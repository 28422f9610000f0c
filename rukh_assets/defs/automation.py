"""What starts runs without a hand: the job over the chain, and its schedule."""

import dagster as dg

from rukh_assets.defs.partitions import latest_complete_month, months
from rukh_assets.defs.resources import GameSource, Lake
from rukh_assets.errors import SourceMissingError
from rukh_loaders.formats.manifest import MANIFEST

month_job = dg.define_asset_job(
    "month",
    selection=dg.AssetSelection.all(),
    partitions_def=months,
    description="One month through the whole chain: games, shards and packs of every scheme, statistics, fixture.",
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
    if context.instance_ref and (run := _running(context.instance, month)):
        return dg.SkipReason(f"run {run} is at work on {month}")
    try:
        source.find(month)
    except SourceMissingError as missing:
        return dg.SkipReason(f"{month} is not published yet, the next tick looks again: {missing}")
    return dg.RunRequest(partition_key=month)


def _running(instance: dg.DagsterInstance, month: str) -> str | None:
    """The id of a run of the job that waits or works on the month."""
    unfinished = [
        dg.DagsterRunStatus.QUEUED,
        dg.DagsterRunStatus.NOT_STARTED,
        dg.DagsterRunStatus.STARTING,
        dg.DagsterRunStatus.STARTED,
    ]
    found = instance.get_runs(
        dg.RunsFilter(job_name=month_job.name, statuses=unfinished, tags={"dagster/partition": month}), limit=1
    )
    return found[0].run_id if found else None
