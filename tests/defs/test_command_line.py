"""`dg launch` as a user types it: no daemon, no DAGSTER_HOME, one setting."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lakes import HEAD_FORMS, lake

from rukh_loaders.formats.manifest import read_manifest


def launch(project: Path, home: Path, source: str, *what: str) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).parent / "dg", "launch", *what]
    environment = os.environ | {"RUKH_HOME": str(home), "RUKH_SOURCE": source}
    environment.pop("DAGSTER_HOME", None)
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_real_head_gives_the_same_games_id_by_id_from_all_three_forms(
    project: Path, shared_data: Path, tmp_path: Path
) -> None:
    files = {}
    for form, pattern in HEAD_FORMS.items():
        home = tmp_path / form
        ran = launch(project, home, str(shared_data / pattern), "--assets", "games", "--partition", "2021-10")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        manifest = read_manifest(lake(home).games("2021-10"))
        counts = manifest["counts"]
        assert counts["read"] == 999 == counts["kept"] + sum(counts["rejected"].values())
        files[form] = pq.read_table(lake(home).games_file("2021-10"))
    assert files["pgn"].num_rows > 100
    assert files["pgn"].equals(files["zst"])
    assert files["pgn"].equals(files["hf"])


@pytest.mark.parametrize("name", ["truncated-midframe", "bitflip"])
def test_a_damaged_dump_ends_with_an_error_that_names_it(
    name: str, project: Path, shared_data: Path, tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / f"{name}-2021-10.pgn.zst").write_bytes((shared_data / f"{name}.pgn.zst").read_bytes())
    source = str(raw / (name + "-{year}-{month}.pgn.zst"))
    ran = launch(project, tmp_path / "lake", source, "--assets", "games", "--partition", "2021-10")
    assert ran.returncode != 0
    assert f"{name}-2021-10.pgn.zst" in ran.stdout + ran.stderr
    assert not list((tmp_path / "lake").rglob("*.parquet"))


def test_a_month_before_the_first_or_not_over_yet_is_no_partition(project: Path, tmp_path: Path) -> None:
    for month in ("2012-12", "2099-01", "2021-13", "../../x"):
        ran = launch(project, tmp_path, "sample", "--assets", "games", "--partition", month)
        assert ran.returncode != 0
        assert month in ran.stdout + ran.stderr
    assert not list(tmp_path.iterdir())
