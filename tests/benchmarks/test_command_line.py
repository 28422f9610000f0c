"""`python -m benchmarks`, for real, with few games."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks.stages import STAGES, Stage


def bench(project: Path, tmp_path: Path, *arguments: str) -> tuple[str, list[dict[str, Any]]]:
    """The screen and the JSON of a run that keeps its corpora under a test's own folder."""
    results = tmp_path / "results" / "latest.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments, "--results", results],
        cwd=project,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout, json.loads(results.read_text("ascii"))


def test_a_small_run_of_two_stages_shows_a_table_and_writes_json(project: Path, tmp_path: Path) -> None:
    screen, results = bench(project, tmp_path, "--quick", "--games", "20", "--stage", "uci", "--stage", "packing")
    assert {result["stage"] for result in results} == {"uci", "packing"}
    timed = [result for result in results if result["games_per_s"]]
    assert all(result["games_per_s"] > 0 and result["ratio"] > 0 for result in timed)
    assert [result["games"] for result in timed if result["stage"] == "uci"] == [20, 20, 20, 20]
    floors = [result for result in results if result["floor"]]
    assert {result["met"] for result in floors} == {None}
    assert screen.startswith("stage")
    assert screen.rstrip().endswith("Floors: 0 of 3 met; not judged: uci, uci, packing")


@pytest.mark.long
def test_a_small_run_of_every_stage_has_a_result_of_each(project: Path, tmp_path: Path) -> None:
    _, results = bench(project, tmp_path, "--quick", "--games", "40")
    assert {result["stage"] for result in results} == set(STAGES)


def test_a_stage_that_needs_the_real_games_is_marked_where_they_are_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "head_is_present", lambda: False)
    (result,) = command.run_stage("pgn_zst_head", ["12", "1"])
    assert result.variant == "not run"
    assert "shared/data" in (result.note or "")


def test_a_stage_that_needs_a_gpu_is_marked_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "gpu_may_be_present", lambda: False)
    (result,) = command.run_stage("loader_gpu", ["20", "1"])
    assert result.variant == "not run"
    assert "GPU" in (result.note or "")


def test_a_stage_that_fails_is_named_and_the_others_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "head_is_present", lambda: False)
    monkeypatch.setitem(STAGES, "broken", Stage("encoding", "nothing"))  # unknown to the process that is to run it
    stages = ["--stage", "broken", "--stage", "movetext_head"]
    with pytest.raises(SystemExit, match=r"Failed.*: broken"):
        command.main(["--quick", *stages, "--results", str(tmp_path / "latest.json")])
    assert "not run" in capsys.readouterr().out
    assert [result["stage"] for result in json.loads((tmp_path / "latest.json").read_text())] == ["movetext_head"]


def test_help_names_the_stages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert all(name in said for name in STAGES)


@pytest.mark.parametrize("arguments", [["--stage", "chess"], ["--games", "19"], ["--games", "many"]])
def test_unknown_stages_and_too_few_games_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)
