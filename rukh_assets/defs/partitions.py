"""The months: one partition each, `YYYY-MM` in UTC, from the first month that Lichess published."""

from datetime import datetime

import dagster as dg

# A literal: Dagster parses it with `fmt`, and history keyed by another start would be orphaned.
months = dg.MonthlyPartitionsDefinition(start_date="2013-01", fmt="%Y-%m")


def latest_complete_month(at: datetime) -> str:
    """The last month that had ended, in UTC, at `at` (an aware datetime): 2026-11 all through December 2026.

    Raises:
        ValueError: when no month of the partitions had ended at `at`.
    """
    with dg.partition_loading_context(effective_dt=at):
        key = months.get_last_partition_key()
    if key is None:
        raise ValueError(f"no month had ended at {at.isoformat()}; the first partition is 2013-01")
    return key
