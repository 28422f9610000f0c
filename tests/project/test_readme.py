"""The README's Python, run as it stands there."""

import re
from pathlib import Path

import pytest
from lakes import lake, run_month


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


def test_the_python_of_the_readme_runs_in_a_lake(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for month in ("2025-01", "2025-02"):
        run_month(month, tmp_path, select=["vocab", "games", "uci/shards", "uci/pack"])
    (tmp_path / "games.parquet").write_bytes(lake(tmp_path).games_file("2025-01").read_bytes())
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(project / "README.md")
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("torch.Size([64, 200]) tensor(")
    assert (tmp_path / "packs" / "san" / "meta.json").is_file()
