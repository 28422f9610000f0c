"""The monthly schedule: which month a tick asks for, and when it asks for none."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from lakes import run_month

from rukh_assets.definitions import defs
from rukh_assets.defs.automation import monthly_records_schedule, monthly_schedule
from rukh_assets.defs.partitions import latest_complete_month, months
from rukh_assets.defs.resources import GameSource, Lake
from rukh_loaders.formats.manifest import write_manifest

TICK = """
import datetime, json, sys
import dagster as dg
from rukh_assets.definitions import defs
from rukh_assets.defs.automation import monthly_schedule
from rukh_assets.defs.resources import GameSource, Lake
at = datetime.datetime.fromisoformat(sys.argv[1])
with dg.instance_for_test() as instance:
    context = dg.build_schedule_context(
        instance=instance, scheduled_execution_time=at, repository_def=defs.get_repository_def(),
        resources={"lake": Lake(home=sys.argv[2]), "source": GameSource(source="sample")},
    )
    tick = monthly_schedule.evaluate_tick(context)
print(json.dumps([request.partition_key for request in tick.run_requests]))
"""


def tick(
    at: datetime,
    lake: Lake,
    source: GameSource,
    run_at_work: str | None = None,
    schedule: dg.ScheduleDefinition = monthly_schedule,
) -> Any:
    with dg.instance_for_test() as instance:
        if run_at_work:
            tags = {"dagster/partition": run_at_work}
            instance.add_run(dg.DagsterRun(job_name=schedule.job_name, status=dg.DagsterRunStatus.STARTED, tags=tags))
        context = dg.build_schedule_context(
            instance=instance,
            scheduled_execution_time=at,
            repository_def=defs.get_repository_def(),
            resources={"lake": lake, "source": source},
        )
        return schedule.evaluate_tick(context)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_the_tick_of_the_third_asks_for_the_latest_complete_month_under_any_tz(zone: str, tmp_path: Path) -> None:
    for at, month in (("2026-12-03T06:00:00+00:00", "2026-11"), ("2027-01-03T06:00:00+00:00", "2026-12")):
        ran = subprocess.run(
            [sys.executable, "-c", TICK, at, str(tmp_path)],
            env=os.environ | {"TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(ran.stdout) == [month]


def test_a_month_is_complete_from_its_last_instant_on() -> None:
    assert latest_complete_month(datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)) == "2024-01"
    assert latest_complete_month(datetime(2024, 3, 1, tzinfo=UTC)) == "2024-02"
    with pytest.raises(ValueError, match="no month had ended at 2013-01-15"):
        latest_complete_month(datetime(2013, 1, 15, tzinfo=UTC))


def test_the_running_month_is_not_a_partition() -> None:
    keys = months.get_partition_keys(current_time=datetime(2026, 11, 30, tzinfo=UTC))
    assert keys[0] == "2013-01"
    assert keys[-1] == "2026-10"


def test_the_schedule_is_off_until_turned_on_and_ticks_on_the_third() -> None:
    assert monthly_schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    assert monthly_schedule.execution_timezone == "UTC"
    assert monthly_schedule.cron_schedule == "0 6 3-12 * *"


def test_a_month_that_stands_or_is_at_work_is_not_asked_for_again(tmp_path: Path) -> None:
    lake, source = Lake(home=str(tmp_path)), GameSource(source="sample")
    at = datetime(2026, 12, 5, 6, tzinfo=UTC)
    assert "is at work on 2026-11" in tick(at, lake, source, run_at_work="2026-11").skip_message
    assert tick(at, lake, source, run_at_work="2026-10").run_requests
    lake.report("2026-11").mkdir(parents=True)
    (lake.report("2026-11") / "manifest.json").write_text("{}")
    lake.games("2026-11").mkdir(parents=True)
    write_manifest(lake.games("2026-11"), {"source": {"form": "sample"}})
    assert "2026-11 stands" in tick(at, lake, source).skip_message
    (tmp_path / "2026-11.pgn").write_text('[Event "x"]\n')
    real = GameSource(source=str(tmp_path / "{year}-{month}.pgn"))
    assert tick(at, lake, real).run_requests


def test_a_month_that_is_not_published_yet_is_skipped_and_asked_for_the_next_day(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    source = GameSource(source=str(raw / "{year}-{month}.pgn"))
    lake = Lake(home=str(tmp_path / "lake"))
    ticked = tick(datetime(2026, 12, 3, 6, tzinfo=UTC), lake, source)
    assert ticked.run_requests == []
    assert "2026-11 is not published yet" in (ticked.skip_message or "")
    (raw / "2026-11.pgn").write_text('[Event "x"]\n')
    ticked = tick(datetime(2026, 12, 4, 6, tzinfo=UTC), lake, source)
    assert [request.partition_key for request in ticked.run_requests or []] == ["2026-11"]


def test_records_are_asked_for_until_all_that_the_month_has_are_shards(tmp_path: Path) -> None:
    here, at = Lake(home=str(tmp_path)), datetime(2025, 3, 5, 12, tzinfo=UTC)
    sample = GameSource(source="sample")

    def ticked(source: GameSource = sample, run_at_work: str | None = None) -> Any:
        return tick(at, here, source, run_at_work, monthly_records_schedule)

    assert [request.partition_key for request in ticked().run_requests] == ["2025-02"]
    assert "is at work on 2025-02" in ticked(run_at_work="2025-02").skip_message
    run_month("2025-02", tmp_path, job="records")
    assert "2025-02 stands: chess_seq" in ticked().skip_message
    run_month("2025-02", tmp_path, select=["games"], filters={"min_elo": None})
    assert ticked().run_requests


def test_records_that_are_not_made_of_games_are_asked_for_though_the_games_are_not_published(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    here, at = Lake(home=str(tmp_path)), datetime(2026, 12, 5, 12, tzinfo=UTC)
    source = GameSource(source=str(tmp_path / "raw" / "{year}-{month}.pgn"))
    ticked = tick(at, here, source, schedule=monthly_records_schedule)
    assert "no raw records of 2026-11 wait, and its games are not published yet" in ticked.skip_message
    here.raw_corpus_month("chess_sft", "2026-11").mkdir(parents=True)
    assert tick(at, here, source, schedule=monthly_records_schedule).run_requests


def test_the_schedule_of_the_records_is_off_until_turned_on_and_ticks_after_the_other() -> None:
    assert monthly_records_schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    assert monthly_records_schedule.execution_timezone == "UTC"
    assert monthly_records_schedule.cron_schedule == "0 12 3-12 * *"
