"""Shards and the raw lines they are made of give the same items, whatever the records."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_configs import CHAT_SECTIONS, DPO, GRPO, PROMPT_RESPONSE, ROLES, TEXT_SECTIONS
from record_stores import write_lines
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.errors import EmptyCorpusError
from rukh_assets.records import Pipeline
from rukh_loaders import load_dataset
from rukh_loaders.errors import NoRecordsError
from rukh_loaders.record_dataset import RecordDataset
from rukh_loaders.records import PipelineConfig

words = st.lists(st.sampled_from(["a", "b", "c", "zz", "\u00e9"]), max_size=9).map(" ".join)
texts = st.one_of(words, words, st.none(), st.integers(0, 9))
messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": texts}),
    max_size=4,
)
last = st.fixed_dictionaries({"role": st.just("assistant"), "content": words})
talks = st.one_of(*[st.tuples(messages, last).map(lambda talk: [*talk[0], talk[1]])] * 6, messages, st.just("text"))
numbers = st.floats(-1e3, 1e3, width=32)
domains = {"s": st.sampled_from(["x", "y", "../z", None])}
RECORDS = {
    "text": st.fixed_dictionaries({"text": texts, **domains}),
    "answer": st.fixed_dictionaries({"p": texts, "r": texts, **domains}),
    "chat": st.fixed_dictionaries({"messages": talks, **domains}),
    "dpo": st.fixed_dictionaries({"chosen": talks, "rejected": talks, **domains}),
    "pair": st.fixed_dictionaries(
        {
            "prompt": st.one_of(texts, talks),
            "chosen": st.one_of(texts, talks, last.map(lambda answer: [answer])),
            "rejected": st.one_of(words, talks),
            **domains,
        }
    ),
    "grpo": st.fixed_dictionaries(
        {
            "prompt": talks,
            "responses": st.lists(texts, max_size=3),
            "rewards": st.one_of(numbers, numbers, st.lists(numbers, max_size=3)),
            **domains,
        }
    ),
}
INPUTS: dict[str, Any] = {
    "text": {"sections": TEXT_SECTIONS},
    "answer": {"sections": PROMPT_RESPONSE},
    "chat": {"sections": CHAT_SECTIONS},
    "dpo": {"sources": DPO},
    "pair": {"sources": DPO},
    "grpo": {"sources": GRPO},
}
configs = st.fixed_dictionaries(
    {
        "preprocessing": st.fixed_dictionaries(
            {
                "min_chars": st.sampled_from([0, 3]),
                "max_seq_len": st.sampled_from([4, 100]),
                "max_packed_len": st.sampled_from([3, 100]),
                "truncation_mode": st.sampled_from(["keep_start", "keep_end"]),
                "trained_part": st.sampled_from(["turn", "content"]),
                "trained_turns": st.sampled_from(["all", "last"]),
                "batch_size": st.integers(1, 4),
                "max_items": st.sampled_from([None, 3]),
            }
        ),
        "output": st.fixed_dictionaries(
            {
                "domain_key": st.sampled_from([None, "s"]),
                "position_ids_mode": st.sampled_from(["none", "doc_reset", "continuous"]),
                "max_tokens_per_shard": st.sampled_from([1, 10, 1000]),
            }
        ),
    }
)


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tokenizers")
    return {variant: write_toy_tokenizer(folder / variant, variant) for variant in ("T1", "T2", "T3", "T4")}


def items(dataset: RecordDataset) -> list[Any]:
    return [dataset[i] for i in range(len(dataset))]


def assert_same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, torch.Tensor):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        assert_same(list(one.values()), list(other.values()))
    else:
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)


@pytest.mark.parametrize(
    ("train_type", "records_of"),
    [("seq", "text"), ("sft", "answer"), ("sft", "chat"), ("dpo", "dpo"), ("dpo", "pair"), ("grpo", "grpo")],
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_shards_and_lines_give_the_same_items(
    tokenizers: dict[str, Path], train_type: str, records_of: str, data: st.DataObject
) -> None:
    records = data.draw(st.lists(st.one_of(*[RECORDS[records_of]] * 4, st.just("not json"), st.just([1])), max_size=8))
    drawn: dict[str, Any] = data.draw(configs)
    if records_of == "pair":
        drawn["preprocessing"]["record_form"] = "pair"
    if drawn["output"]["position_ids_mode"] == "continuous":
        drawn["output"]["max_tokens_per_shard"] = 1000  # one shard a domain: positions count from 0 in each
    config = PipelineConfig.from_dict({"input": INPUTS[records_of], "mask": ROLES, **drawn})
    tokenizer = tokenizers[data.draw(st.sampled_from(sorted(tokenizers)))]
    window = data.draw(st.sampled_from([0, 1, 3]))
    with tempfile.TemporaryDirectory() as home:
        lines = write_lines(Path(home, "in.jsonl"), records)
        options: dict[str, Any] = {"window_size": window, "tokenizer_path": tokenizer, "config": config}
        try:
            Pipeline(config, [lines], Path(home, "out"), tokenizer).run()
        except EmptyCorpusError:
            with pytest.raises(NoRecordsError):
                load_dataset(train_type, lines, **options)
            return
        shards, lazy = (load_dataset(train_type, path, **options) for path in (Path(home, "out"), lines))
        assert_same(items(shards), items(lazy))
        assert shards.store.num_records == lazy.store.num_records
        assert shards.token_count >= len(shards) * window


def test_positions_that_run_on_were_said_to_be_alike_with_several_shards(
    tokenizers: dict[str, Path], tmp_path: Path
) -> None:
    """They count over each shard, and over the domain where lines are read; other modes know no shards."""
    lines = write_lines(tmp_path / "in.jsonl", [{"text": text} for text in ("a b c", "d e", "f g h i")])

    def positions(path: Path, mode: str, shard: int) -> list[list[int]]:
        output = {"position_ids_mode": mode, "max_tokens_per_shard": shard}
        config = PipelineConfig.from_dict(
            {"input": INPUTS["text"], "preprocessing": {"min_chars": 0}, "output": output}
        )
        if path != lines:
            Pipeline(config, [lines], path, tokenizers["T1"]).run()
        dataset = load_dataset("sft", path, tokenizer_path=tokenizers["T1"], config=config)
        return [dataset[i]["position_ids"].tolist() for i in range(3)]

    lazy = positions(lines, "continuous", 3)
    assert lazy == positions(tmp_path / "one", "continuous", 100) == [[0, 1], [3], [5, 6, 7]]
    assert positions(tmp_path / "two", "continuous", 3) == [[0, 1], [0], [2, 3, 4]]
    assert positions(tmp_path / "reset", "doc_reset", 3) == positions(lines, "doc_reset", 3) == [[0, 1], [0], [0, 1, 2]]


def test_several_files_batches_and_shards_give_the_same_items(tokenizers: dict[str, Path], tmp_path: Path) -> None:
    records = [
        {
            "messages": [{"role": role, "content": "a b c d"[: i % 8]} for role in ("user", "assistant")],
            "s": "yx"[i % 3 % 2],
        }
        for i in range(1000)
    ]
    (tmp_path / "in").mkdir()
    for part in range(2):
        write_lines(tmp_path / "in" / f"{part}.jsonl", records[part::2])
    config = PipelineConfig.from_dict(
        {
            "input": INPUTS["chat"],
            "mask": ROLES,
            "preprocessing": {"batch_size": 64},
            "output": {"domain_key": "s", "max_tokens_per_shard": 999},
        }
    )
    Pipeline(config, [tmp_path / "in"], tmp_path / "out", tokenizers["T1"]).run()
    for window in (0, 64):
        shards, lazy = (
            load_dataset("sft", tmp_path / name, window, tokenizer_path=tokenizers["T1"], config=config)
            for name in ("out", "in")
        )
        assert len(shards.store.domains) == len(lazy.store.domains) == 2
        assert_same(list(shards.__getitems__(range(len(shards)))), list(lazy.__getitems__(range(len(lazy)))))
