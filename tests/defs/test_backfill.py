"""A running Dagster: backfills from the UI's button and the command line, and one failing month among good ones."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import open_page
from dagster_server import BIN, RunningDagster, running_dagster, wait_for
from lakes import HEAD_FORMS, lake, lake_tree, run_month, write_pgn

MONTHS = ["2025-01", "2025-02", "2025-03"]
FAILING = "2024-12"
CHAIN = [
    *("games", "vocab", "bpe/tokenizer", "tokenizer_stats", "parity_fixture"),
    *(f"{scheme}/{kind}" for scheme in ("uci", "san", "bpe") for kind in ("shards", "pack")),
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three raw months, and one before them that fails: none of its games is finished."""
    raw = tmp_path_factory.mktemp("raw")
    for month in MONTHS:
        write_pgn(raw / f"{month}.pgn", month, games=60)
    (raw / f"{FAILING}.pgn").write_text('[Event "x"]\n[Result "*"]\n\n*\n')
    return str(raw / "{year}-{month}.pgn")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def dagster(project: Path, home: Path, source: str) -> Iterator[RunningDagster]:
    with running_dagster(project, home, RUKH_SOURCE=source, RUKH_BPE_MONTH=MONTHS[0]) as running:
        yield running


def ended_runs(dagster: RunningDagster, backfill: str, count: int) -> dict[str, str] | None:
    """Month -> status of the backfill's runs, once all have ended; runs without a month count as ''."""
    runs = {}
    for run in dagster.runs():
        tags = {tag["key"]: tag["value"] for tag in run["tags"]}
        if tags.get("dagster/backfill") == backfill:
            runs[tags.get("dagster/partition", "")] = run["status"]
    return runs if len(runs) == count and set(runs.values()) <= {"SUCCESS", "FAILURE", "CANCELED"} else None


def backfilled(dagster: RunningDagster, backfill: str) -> str:
    return str(wait_for(f"the end of backfill {backfill}", lambda: dagster.backfill_ended(backfill), seconds=300))


def test_three_months_backfilled_from_the_ui_equal_the_same_made_one_by_one(
    dagster: RunningDagster, home: Path, source: str, tmp_path: Path
) -> None:
    assert backfilled(dagster, dagster.backfill(CHAIN, MONTHS)) == "COMPLETED_SUCCESS"
    for month in MONTHS:
        run_month(month, tmp_path, source=source, ops={"bpe__tokenizer": {"training_month": MONTHS[0]}})
    one_by_one = lake_tree(tmp_path)
    assert len(one_by_one) > 100
    assert lake_tree(home) == one_by_one


def test_a_backfill_from_the_command_line_goes_on_after_a_failing_month_and_repeats_no_work(
    dagster: RunningDagster, home: Path, project: Path
) -> None:
    before = lake_tree(home)
    command = [BIN / "dagster", "job", "backfill", "-w", "workspace.yaml", "-j", "month", "--noprompt"]
    command += ["--from", FAILING, "--to", "2025-03"]
    launched = subprocess.run(command, cwd=project, env=dagster.environment, capture_output=True, text=True, check=True)
    found = re.search(r"Launched backfill job `(\w+)`", launched.stdout)
    assert found, launched.stdout
    runs = wait_for("four runs", lambda: ended_runs(dagster, found[1], 4), seconds=240)
    assert runs == dict.fromkeys(MONTHS, "SUCCESS") | {FAILING: "FAILURE"}
    assert lake_tree(home) == before


def test_the_real_head_runs_through_the_launchpad_in_all_three_forms_to_the_same_games(
    dagster: RunningDagster, shared_data: Path, tmp_path: Path
) -> None:
    runs = {
        form: dagster.materialise(
            ["games"],
            "2021-10",
            {"lake": {"home": str(tmp_path / form)}, "source": {"source": str(shared_data / pattern)}},
        )
        for form, pattern in HEAD_FORMS.items()
    }
    for form, run in runs.items():
        assert wait_for(f"the run of {form}", lambda run=run: dagster.run_ended(run), seconds=120) == "SUCCESS"
    files = [lake(tmp_path / form).games_file("2021-10").read_bytes() for form in HEAD_FORMS]
    assert len(files[0]) > 10_000
    assert files[0] == files[1] == files[2]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="headless Chromium is not on this machine")
def test_the_graph_and_the_page_of_games_open_in_a_browser(dagster: RunningDagster, tmp_path: Path) -> None:
    run = dagster.materialise(["games"], MONTHS[0], {})
    assert wait_for("the run", lambda: dagster.run_ended(run), seconds=120) == "SUCCESS"
    graph = open_page(f"{dagster.url}/asset-groups", tmp_path / "graph.png")
    for group in ("games", "uci", "san", "bpe", "tokenizers", "reports"):
        assert group in graph
    page = open_page(f"{dagster.url}/assets/games?view=partitions&partition=2025-01", tmp_path / "games.png")
    assert "2025-01" in page
    assert "rejected" in page
    assert "games kept" in page
