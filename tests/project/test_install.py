"""What an install brings, seen in a fresh virtual environment. Needs a package index, so it is a long test."""

import subprocess
import venv
from pathlib import Path

import pytest

NOT_FOR_TRAINING = {"dagster", "pyarrow", "chess", "tokenizers", "zstandard"}


@pytest.mark.long
def test_the_train_extra_installs_no_dagster_pyarrow_or_python_chess(project: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    copy = tmp_path / "rukh"
    subprocess.run(["git", "clone", "-q", project, copy], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-c", copy / "constraints.txt", f"{copy}[train]"], check=True)
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True
    )
    installed = {line.split("==")[0].lower() for line in listed.stdout.splitlines()}
    assert {"torch", "numpy", "pydantic", "rukh"} <= installed
    assert not installed & NOT_FOR_TRAINING
    code = "import rukh_loaders as r; print(r.open_pack, r.PackedDataset, r.make_loader)"
    subprocess.run([python, "-c", code], cwd=tmp_path, check=True)
