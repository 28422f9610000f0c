"""One call from a path to a dataset."""

import json
from pathlib import Path
from typing import Any

import pytest
from record_configs import CHAT_SECTIONS, DPO, GRPO, TALK, TEXT_SECTIONS, message, sections_config, sources_config
from record_stores import plain, write_lines, write_stream
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.records import Pipeline
from rukh_assets.records.__main__ import main
from rukh_loaders import load_dataset
from rukh_loaders.errors import (
    NoRecordsError,
    RecordConfigError,
    StoreChangedError,
    StoreShardsError,
    TrainTypeError,
)
from rukh_loaders.formats.corpus import open_corpus
from rukh_loaders.record_datasets import GrpoDataset, SeqDataset
from rukh_loaders.records import Built, MaskBuilder, PipelineConfig, RecordTokenizer, Skipped, SkipReason
from rukh_loaders.records.pairs import pair_config

TEXT = sections_config(TEXT_SECTIONS)
CHAT = CHAT_SECTIONS[0]
EXAMPLE = {
    "version": 1,
    "input": {"sections": [{"field": "text", "action": "train"}]},
    "preprocessing": {"max_seq_len": 128, "min_chars": 0},
    "output": {"position_ids_mode": "none"},
}
GROUP = {"prompt": [message("user", "a")], "responses": ["b", "c d"], "rewards": [1.0, 0.3]}
ANSWERS = {"prompt": "a", "chosen": "b", "rejected": "c d"}


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def toy(toy_folder: Path) -> RecordTokenizer:
    return RecordTokenizer.from_folder(toy_folder)


@pytest.fixture
def corpus(tmp_path: Path, toy_folder: Path) -> Path:
    lines = write_lines(tmp_path / "in.jsonl", [{"text": "a b c d e f"}])
    Pipeline(TEXT, [lines], tmp_path / "out", toy_folder).run()
    return tmp_path / "out"


def test_shards_and_lines_are_told_apart(corpus: Path, toy_folder: Path) -> None:
    for path, options in ((corpus, {}), (corpus.parent / "in.jsonl", {"config": TEXT, "tokenizer_path": toy_folder})):
        dataset = load_dataset("seq", path, window_size=2, stride=1, **options)  # type: ignore[arg-type]
        assert isinstance(dataset, SeqDataset)
        assert (len(dataset), plain(dataset[3]["target_ids"])) == (4, [13, 14])


def test_another_type_of_training_is_refused(corpus: Path) -> None:
    with pytest.raises(TrainTypeError, match="train_type is 'online_dpo'; allowed are seq, sft, dpo, grpo"):
        load_dataset("online_dpo", corpus)


def test_b32_shards_of_another_tokenizer_or_config_are_refused(corpus: Path, toy_folder: Path, tmp_path: Path) -> None:
    assert len(load_dataset("seq", corpus, tokenizer_path=toy_folder, config=TEXT)) == 1
    with pytest.raises(StoreChangedError, match="config_fingerprint"):
        load_dataset("seq", corpus, config=sections_config(TEXT_SECTIONS, max_seq_len=5))
    other = write_toy_tokenizer(tmp_path / "t2", "T2")
    with pytest.raises(StoreChangedError, match="tokenizer_fingerprint"):
        load_dataset("seq", corpus, tokenizer_path=other)


@pytest.mark.parametrize("as_file", [True, False])
def test_b16_the_config_beside_a_file_is_found(tmp_path: Path, toy_folder: Path, as_file: bool) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [{"text": "a b"}])
    beside = tmp_path / "dataset_config.json"
    beside.write_text(json.dumps({"tokenizer_path": str(toy_folder), **EXAMPLE}))
    dataset = load_dataset("seq", lines if as_file else tmp_path)
    assert plain(dataset[0]) == {"input_ids": [9], "target_ids": [10]}
    assert dataset.keys == ("sequence", "loss_mask")
    assert len(load_dataset("seq", lines, config=beside)) == 1
    assert len(load_dataset("seq", lines, config={"tokenizer_path": str(toy_folder), **EXAMPLE})) == 1


def test_a_config_without_a_tokenizer_means_its_own_folder(tmp_path: Path) -> None:
    write_toy_tokenizer(tmp_path)
    write_lines(tmp_path / "in.jsonl", [{"text": "a b"}])
    (tmp_path / "dataset_config.json").write_text(json.dumps(EXAMPLE))
    assert len(load_dataset("seq", tmp_path)) == 1
    write_toy_tokenizer(tmp_path / "tok", "T2")
    (tmp_path / "dataset_config.json").write_text(json.dumps(EXAMPLE | {"tokenizer_path": "tok"}))
    assert plain(load_dataset("seq", tmp_path)[0]["input_ids"]) == [1, 9]


@pytest.mark.parametrize("as_file", [True, False])
def test_the_config_and_tokenizer_beside_the_months_of_a_lake_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_file: bool
) -> None:
    write_toy_tokenizer(tmp_path / "tokenizer", "T2")
    (tmp_path / "config.json").write_text(json.dumps(EXAMPLE))
    month = tmp_path / "2025-01"
    month.mkdir()
    lines = write_lines(month / "part_0000.jsonl", [{"text": "a b"}])
    assert plain(load_dataset("seq", lines if as_file else month)[0]["input_ids"]) == [1, 9]
    assert len(load_dataset("seq", lines, config=tmp_path / "config.json")) == 1
    monkeypatch.chdir(month)
    assert len(load_dataset("seq", ".")) == 1
    (month / "dataset_config.json").write_text(json.dumps(EXAMPLE | {"tokenizer_path": "nowhere"}))
    with pytest.raises(ValueError, match="nowhere"):
        load_dataset("seq", month)


def test_a_config_json_beside_another_folder_than_a_month_is_not_meant(tmp_path: Path, toy_folder: Path) -> None:
    (tmp_path / "config.json").write_text('{"architectures": []}')
    (tmp_path / "talks").mkdir()
    lines = write_lines(tmp_path / "talks" / "in.jsonl", [{"messages": TALK}])
    assert len(load_dataset("sft", lines, tokenizer_path=toy_folder)) == 1


@pytest.mark.parametrize(
    ("train_type", "fields"),
    [
        ("seq", "messages"),
        ("sft", "messages"),
        ("dpo", "prompt, chosen and rejected"),
        ("grpo", "prompt, responses and rewards"),
    ],
)
def test_records_that_only_a_config_can_read_are_said_to_need_one(
    tmp_path: Path, toy_folder: Path, train_type: str, fields: str
) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [{"text": "a b"}])
    with pytest.raises(NoRecordsError, match=rf"{train_type} without a config reads {fields}: .* pass config="):
        load_dataset(train_type, lines, tokenizer_path=toy_folder)
    with pytest.raises(NoRecordsError) as given:
        load_dataset(train_type, lines, tokenizer_path=toy_folder, config=sections_config([{**CHAT, "field": "x"}]))
    assert "config" not in str(given.value)


def test_of_corpora_that_are_not_alike_one_is_to_be_chosen(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [{"text": "a b", "messages": TALK}])
    for name, config in (("plain", TEXT), ("talks", sections_config([CHAT]))):
        Pipeline(config, [lines], tmp_path / "records" / name / "2025-01", toy_folder).run()
    with pytest.raises(StoreShardsError, match=r"records: holds corpora .*, choose one corpus: plain, talks$"):
        load_dataset("seq", tmp_path / "records")
    assert len(load_dataset("seq", tmp_path / "records" / "plain")) == 1


def test_lines_without_a_tokenizer_are_refused(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [{"text": "a b"}])
    for config in (None, EXAMPLE, TEXT):
        with pytest.raises(RecordConfigError, match="need a tokenizer"):
            load_dataset("seq", lines, config=config)
    (tmp_path / "dataset_config.json").write_text("{}")
    with pytest.raises(RecordConfigError, match=r"dataset_config.json: input: neither sections nor sources"):
        load_dataset("seq", lines)
    (tmp_path / "dataset_config.json").write_text('{"tokenizer_path": "x", "inputs": {}}')
    with pytest.raises(RecordConfigError, match=r"dataset_config.json: inputs"):
        load_dataset("seq", lines)


def test_without_a_config_that_of_the_type_is_used(tmp_path: Path, toy_folder: Path) -> None:
    write_lines(tmp_path / "talks.jsonl", [{"messages": TALK}])
    talk = load_dataset("sft", tmp_path / "talks.jsonl", tokenizer_path=toy_folder)
    assert plain(talk[0])["input_ids"] == [1, 4, 6, 27, 5, 4, 7, 9, 10, 5, 4, 8, 11, 12]
    assert plain(talk[0])["loss_mask"] == [*[False] * 9, *[True] * 5]
    write_lines(tmp_path / "groups.jsonl", [GROUP])
    groups = load_dataset("grpo", tmp_path / "groups.jsonl", tokenizer_path=toy_folder, window_size=9)
    assert isinstance(groups, GrpoDataset)
    assert plain(groups[0]["responses"]) == [[10], [11, 12]]


def test_b05_two_records_are_two_items_whatever_their_positions(tmp_path: Path, toy_folder: Path) -> None:
    """L05 too: groups are read from raw lines one by one."""
    lines = write_lines(tmp_path / "in.jsonl", [GROUP, GROUP])
    for mode in ("none", "doc_reset", "continuous"):
        config = PipelineConfig.from_dict(sources_config(GRPO).to_dict() | {"output": {"position_ids_mode": mode}})
        assert len(load_dataset("grpo", lines, config=config, tokenizer_path=toy_folder)) == 2


def test_the_padding_is_the_tokenizers(tmp_path: Path) -> None:
    folder = write_toy_tokenizer(tmp_path / "tok", special_tokens={"pad_token": "<pad>"})
    lines = write_lines(tmp_path / "in.jsonl", [GROUP])
    assert load_dataset("grpo", lines, tokenizer_path=folder).pad_id == 3
    assert load_dataset("grpo", lines, tokenizer_path=folder, pad_id=9).pad_id == 9
    assert load_dataset("seq", write_stream(tmp_path / "s", range(9)), 4).pad_id == 0


def test_a17_a_prompt_and_two_answers(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [ANSWERS, {"bad": 1}])
    dataset = load_dataset("dpo", lines, tokenizer_path=toy_folder)
    assert [plain(dataset[i]) for i in range(len(dataset))] == [
        {
            "chosen": [4, 7, 9, 5, 4, 8, 10, 5],
            "chosen_mask": [*[False] * 6, True, True],
            "rejected": [4, 7, 9, 5, 4, 8, 11, 12, 5],
            "rejected_mask": [*[False] * 6, *[True] * 3],
        }
    ]


def test_a17_what_max_len_leaves_untrained_is_flagged(toy: RecordTokenizer) -> None:
    [built] = MaskBuilder(pair_config(5), toy).build([ANSWERS])
    assert isinstance(built, Built)
    for side in ("chosen", "rejected"):
        assert (built.keys[side], built.keys[f"{side}_mask"]) == ([4, 7, 9, 5, 4], [0] * 5)
    assert built.untrained == ("chosen", "rejected")  # B19: a store leaves it out, and counts it


def test_b17_whole_conversations_and_prompts_give_the_same(toy: RecordTokenizer) -> None:
    user, b, c = message("user", "a"), message("assistant", "b"), message("assistant", "c d")
    records: list[Any] = [
        ANSWERS,
        {"input": "a", "prompt": "", "chosen": "b", "rejected": "c d"},
        {"prompt": [user], "chosen": [b], "rejected": [message("assistant", "c "), message("assistant", "d")]},
        {"prompt": "a", "chosen": [user, b], "rejected": [user, c]},
        {"chosen": [user, b], "rejected": [user, c]},
    ]
    first, *others = MaskBuilder(pair_config(), toy).build(records)
    assert isinstance(first, Built)
    assert others == [first] * 4


def test_b17_only_the_last_answer_is_trained(toy: RecordTokenizer) -> None:
    before = [message("user", "a"), message("assistant", "b")]
    record = {"prompt": [*before, message("user", "c")], "chosen": "d", "rejected": "e"}
    [built] = MaskBuilder(pair_config(), toy).build([record])
    assert isinstance(built, Built)
    assert built.keys["chosen_mask"] == [*[0] * 14, 1, 1]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"bad": 1}, SkipReason.MISSING),
        ({"chosen": "b", "rejected": "c"}, SkipReason.MISSING),
        ({"prompt": "a", "chosen": None, "rejected": "c"}, SkipReason.MISSING),
        ({"prompt": "a", "chosen": "  ", "rejected": "c"}, SkipReason.MISSING),
        ({"prompt": "a", "chosen": [message("assistant", "\n")], "rejected": "c"}, SkipReason.MISSING),
        ({"prompt": "a", "chosen": [{"role": "assistant", "content": ["x"]}], "rejected": "c"}, SkipReason.WRONG_TYPE),
        (
            {"prompt": "a", "chosen": [{"role": "assistant", "content": ["x"]}] * 2, "rejected": "c"},
            SkipReason.WRONG_TYPE,
        ),
        ({"prompt": 5, "chosen": "b", "rejected": "c"}, SkipReason.WRONG_TYPE),
        ({"prompt": "a", "chosen": {"x": 1}, "rejected": "c"}, SkipReason.WRONG_TYPE),
        ({"prompt": "a", "chosen": ["x"], "rejected": "c"}, SkipReason.WRONG_TYPE),
        ([], SkipReason.NOT_AN_OBJECT),
    ],
)
def test_a17_malformed_pairs_are_skipped_with_a_reason(toy: RecordTokenizer, record: Any, reason: SkipReason) -> None:
    [skipped] = MaskBuilder(pair_config(), toy).build([record])
    assert isinstance(skipped, Skipped)
    assert skipped.reason is reason


def test_b11_pairs_of_whole_conversations_are_the_same_from_shards(tmp_path: Path, toy_folder: Path) -> None:
    conversations = [
        {side: [message("user", "a"), message("assistant", ANSWERS[side])] for side in ("chosen", "rejected")}
    ]
    lines = write_lines(tmp_path / "in.jsonl", conversations)
    Pipeline(pair_config(), [lines], tmp_path / "out", toy_folder).run()
    shards = load_dataset("dpo", tmp_path / "out", tokenizer_path=toy_folder, config=pair_config())
    assert plain(shards[0]) == plain(load_dataset("dpo", lines, tokenizer_path=toy_folder)[0])


def test_b11_lines_of_a_prompt_and_two_answers_could_not_be_written_as_shards(tmp_path: Path, toy_folder: Path) -> None:
    user = message("user", "a")
    other = {"input": [user], "chosen": [message("assistant", "b")], "rejected": [user, message("assistant", "c")]}
    lines = write_lines(tmp_path / "in.jsonl", [ANSWERS, {"prompt": "a"}, other, "not json"])
    pair_config().to_file(tmp_path / "config.json")
    options = ["-o", tmp_path / "out", "-c", tmp_path / "config.json", "--tokenizer", toy_folder]
    assert main([str(lines), *map(str, options)]) == 0
    lazy = load_dataset("dpo", lines, tokenizer_path=toy_folder)
    shards = load_dataset("dpo", tmp_path / "out", config=pair_config())
    assert [plain(shards[i]) for i in range(len(shards))] == [plain(lazy[i]) for i in range(2)]
    assert open_corpus(tmp_path / "out").manifest["counts"]["skipped"] == {"missing": 1, "not_json": 1}
    assert lazy.store.tally.skipped == {SkipReason.MISSING: 1, SkipReason.NOT_JSON: 1}  # type: ignore[attr-defined]


def test_a_config_of_pairs_has_to_read_both_sides() -> None:
    with pytest.raises(
        RecordConfigError, match=r"record_form: got 'pair', which needs templates of chosen and rejected"
    ):
        sections_config(TEXT_SECTIONS, record_form="pair")


def test_b18_an_appended_end_moves_no_mask(tmp_path: Path) -> None:
    t4 = RecordTokenizer.from_folder(write_toy_tokenizer(tmp_path, "T4"))
    [built] = MaskBuilder(pair_config(), t4).build([ANSWERS])
    assert isinstance(built, Built)
    assert built.keys["chosen_mask"] == [0, 0, 0, 0, 0, 0, 1, 1]


def test_the_builder_of_a_given_config_reads_no_prompt(toy: RecordTokenizer) -> None:
    [skipped] = MaskBuilder(sources_config(DPO), toy).build([ANSWERS])
    assert isinstance(skipped, Skipped)
