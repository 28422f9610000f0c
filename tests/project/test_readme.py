"""The README's Python, run as it stands there."""

import re
from pathlib import Path

import pytest
from lakes import lake, run_month

from rukh_assets.records import Pipeline
from rukh_assets.records.chess import GameTexts, make_records
from rukh_loaders.records import PipelineConfig


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


def write_chess_seq(home: Path, month: str) -> None:
    raw = lake(home).raw_corpus("chess_seq")
    make_records(GameTexts(lake(home).games_file(month).parent), month, raw)
    config = PipelineConfig.from_file(raw / "config.json")
    Pipeline(config, [raw / month], home / "data" / "records" / "chess_seq" / month, raw / "tokenizer").run()


def test_the_python_of_the_readme_runs_in_a_lake(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for month in ("2025-01", "2025-02"):
        run_month(month, tmp_path, select=["vocab", "games", "uci/shards", "uci/pack"])
    write_chess_seq(tmp_path, "2025-01")
    (tmp_path / "games.parquet").write_bytes(lake(tmp_path).games_file("2025-01").read_bytes())
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(project / "README.md")
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert out.startswith("torch.Size([64, 200]) tensor(")
    assert "torch.Size([64, 128]) torch.Size([64, 128])" in out
    assert (tmp_path / "packs" / "san" / "meta.json").is_file()
