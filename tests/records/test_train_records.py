"""The example that trains on records: all four types learn, and only what is trained counts."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from record_configs import ROLES

from rukh_assets.records import Pipeline
from rukh_loaders import load_dataset
from rukh_loaders.records import PipelineConfig


@pytest.fixture(autouse=True, scope="module")
def one_thread():  # type: ignore[no-untyped-def]
    """Threads of torch wait for each other where the cores are busy, and these models need none."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def example(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_records", project / "examples" / "train_records.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tokenizer(example: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = example.write_tokenizer(tmp_path_factory.mktemp("example") / "tokenizer")
    return folder


@pytest.mark.parametrize("train_type", ["seq", "sft", "dpo", "grpo"])
def test_every_type_learns(example: ModuleType, tokenizer: Path, train_type: str) -> None:
    data = example.write_corpus(tokenizer.parent / train_type, train_type)
    losses = example.train(train_type, data, tokenizer, 30)
    assert len(losses) == 30
    assert np.mean(losses[-5:]) < np.mean(losses[:2]) - 0.05
    if train_type == "dpo":
        assert losses[0] == pytest.approx(np.log(2))


def test_shards_are_trained_on_as_lines_are(example: ModuleType, tokenizer: Path, tmp_path: Path) -> None:
    data = example.write_corpus(tmp_path / "lines", "sft")
    config = PipelineConfig.from_dict(
        {"input": {"sections": [{"field": "messages", "action": "$role", "template": True}]}, "mask": ROLES}
    )
    Pipeline(config, [data], tmp_path / "shards", tokenizer).run()
    shards, lines = (example.train("sft", path, tokenizer, 3) for path in (tmp_path / "shards", data))
    assert shards == lines
    assert example.vocab_size(load_dataset("sft", tmp_path / "shards").store) == 32


@pytest.mark.parametrize("train_type", ["seq", "sft", "dpo", "grpo"])
def test_regression_records_longer_than_the_context_are_cut_to_it(
    example: ModuleType, tokenizer: Path, tmp_path: Path, train_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = example.write_corpus(tmp_path / train_type, train_type, 40)
    monkeypatch.setattr(example, "CONTEXT", 7)
    assert np.isfinite(example.train(train_type, data, tokenizer, 4)).all()


def test_all_months_of_a_corpus_are_trained_on_by_its_folder(
    example: ModuleType, tokenizer: Path, tmp_path: Path
) -> None:
    lines = example.write_corpus(tmp_path / "lines", "seq")
    config = PipelineConfig.from_dict(example.SEQ_CONFIG)
    for month in ("2025-01", "2025-02"):
        Pipeline(config, [lines], tmp_path / "corpus" / month, tokenizer).run()
    assert len(example.train("seq", tmp_path / "corpus", None, 3)) == 3


def test_of_a_long_row_the_part_up_to_the_last_trained_id_counts(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "CONTEXT", 3)
    ids = torch.arange(5).repeat(3, 1)
    mask = torch.tensor([[0, 1, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 0]]).bool()
    cut, trained = example.up_to_the_last_trained(ids, mask)
    assert cut.tolist() == [[0, 1, 2], [1, 2, 3], [0, 1, 2]]
    assert trained.int().tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]


def test_only_trained_targets_are_in_the_loss(example: ModuleType, tokenizer: Path, tmp_path: Path) -> None:
    data = example.write_corpus(tmp_path / "sft", "sft", 8)
    batch = load_dataset("sft", data, tokenizer_path=tokenizer).gather(np.arange(8))
    model = example.TinyDecoder(32, example.CONTEXT, width=16, depth=1)

    def loss() -> float:
        return example.sft_loss(model, model, batch).item()  # type: ignore[no-any-return]

    before = loss()
    untrained = ~batch["loss_mask"]
    assert untrained.any()
    batch["target_ids"][untrained] = 5
    assert loss() == before
    first = batch["loss_mask"].nonzero()[0]
    batch["target_ids"][*first] += 1
    assert loss() != before
