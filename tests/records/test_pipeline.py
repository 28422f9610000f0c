"""Files of records to a corpus, in the numbers of the format's cases."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import bytes_below
from record_configs import CHAT_SECTIONS, DPO, GRPO, PROMPT_RESPONSE, ROLES, TALK, TEXT_SECTIONS, message
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.errors import EmptyCorpusError, OutputFolderError, RecordValueError, SourceChangedError
from rukh_assets.records import Pipeline, Report
from rukh_assets.records.__main__ import main
from rukh_loaders.command_line import run as run_loaders
from rukh_loaders.errors import RecordConfigError, RecordFileError, RecordRefusedError
from rukh_loaders.formats import hash_file
from rukh_loaders.formats.corpus import Corpus, open_corpus
from rukh_loaders.records import Built, PipelineConfig, RecordTokenizer, SkipReason, build_corpus, build_records
from rukh_loaders.stores import JsonlStore

ABC = [{"text": text} for text in ("a b c", "d e", "f g h i")]
GRPO_RECORD: dict[str, Any] = {"prompt": [message("user", "a")], "responses": ["b", "c d"], "rewards": [1.0, 0.3]}
DPO_RECORDS = [
    {
        "chosen": [message("user", "a"), message("assistant", "b")],
        "rejected": [message("user", "a"), message("assistant", "c d")],
    },
    {"chosen": [message("assistant", "e f")], "rejected": [message("user", "g"), message("assistant", "h")]},
]

Write = Callable[..., Corpus]


def config_of(sections: Any = None, sources: Any = None, output: Any = None, **preprocessing: Any) -> PipelineConfig:
    return PipelineConfig.from_dict(
        {
            "input": {"sections": sections} if sources is None else {"sources": sources},
            "mask": ROLES,
            "preprocessing": {"min_chars": 0, **preprocessing},
            "output": output or {},
        }
    )


TEXT = config_of(TEXT_SECTIONS)


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture
def run(tmp_path: Path, toy_folder: Path) -> Callable[..., Report]:
    """Write records into `tmp_path / "out"`: `run(records, config)`."""

    def run_pipeline(records: Iterable[Any], config: PipelineConfig = TEXT, **options: Any) -> Report:
        lines = write_lines(tmp_path / "in.jsonl", records)
        return Pipeline(config, [lines], tmp_path / "out", options.pop("tokenizer", toy_folder), **options).run()

    return run_pipeline


@pytest.fixture
def write(tmp_path: Path, run: Callable[..., Report]) -> Write:
    """As `run`, and the corpus opened and verified."""

    def write_corpus(records: Iterable[Any], config: PipelineConfig = TEXT, **options: Any) -> Corpus:
        run(records, config, **options)
        corpus = open_corpus(tmp_path / "out")
        corpus.verify()
        return corpus

    return write_corpus


def values(corpus: Corpus, key: str = "sequence") -> dict[str, list[Any]]:
    """All values of a key, by shard."""
    pairs = zip(corpus.shards, corpus.readers, strict=True)
    return {shard.name: reader.tensor(key).values.tolist() for shard, reader in pairs}


def records_of(corpus: Corpus, key: str, shard: int = 0) -> list[Any]:
    reader = corpus.readers[shard]
    return [reader.record(key, i).tolist() for i in range(reader.n_records(key))]


def parts_of(corpus: Corpus, key: str) -> list[Any]:
    [reader] = corpus.readers
    return [[part.tolist() for part in reader.parts(key, i)] for i in range(reader.n_records(key))]


def test_a03_texts_become_one_shard_of_records(write: Write) -> None:
    corpus = write(ABC)
    assert values(corpus) == {"__default__/shard_0000": list(range(9, 18))}
    assert values(corpus, "position_ids") == {"__default__/shard_0000": [0, 1, 2, 0, 1, 0, 1, 2, 3]}
    [shard] = corpus.readers
    assert {key: shard.tensor(key).dtype.name for key in shard.keys} == {"sequence": "int32", "position_ids": "int32"}
    assert records_of(corpus, "sequence") == [[9, 10, 11], [12, 13], [14, 15, 16, 17]]
    assert corpus.keys.all_ones == {"loss_mask": "sequence"}


def test_a03_positions_count_on_or_are_left_out(write: Write) -> None:
    corpus = write(ABC, config_of(TEXT_SECTIONS, output={"position_ids_mode": "continuous"}))
    assert values(corpus, "position_ids") == {"__default__/shard_0000": list(range(9))}
    assert write(ABC, config_of(TEXT_SECTIONS, output={"position_ids_mode": "none"})).readers[0].keys == ("sequence",)


def test_a06_the_empty_prompt_leaves_special_tokens_to_the_response(write: Write, tmp_path: Path) -> None:
    t2 = write_toy_tokenizer(tmp_path / "t2", "T2")
    corpus = write([{"p": "a b", "r": "c"}, {"p": "", "r": "c"}], config_of(PROMPT_RESPONSE), tokenizer=t2)
    assert records_of(corpus, "sequence") == [[1, 9, 10, 11], [1, 11]]
    assert records_of(corpus, "loss_mask") == [[0, 0, 0, 1], [1, 1]]


def test_a10_a_shard_is_full_when_its_tokens_reach_the_threshold(write: Write) -> None:
    corpus = write(ABC, config_of(TEXT_SECTIONS, output={"max_tokens_per_shard": 5}))
    assert values(corpus) == {"__default__/shard_0000": [9, 10, 11, 12, 13], "__default__/shard_0001": [14, 15, 16, 17]}
    corpus = write(ABC, config_of(TEXT_SECTIONS, output={"max_tokens_per_shard": 3}))
    assert list(values(corpus).values()) == [[9, 10, 11], list(range(12, 18))]


def test_a10_max_items_counts_records_that_are_kept(write: Write) -> None:
    corpus = write([{"text": ""}, *ABC], config_of(TEXT_SECTIONS, max_items=2))
    assert list(values(corpus).values()) == [[9, 10, 11, 12, 13]]
    assert corpus.manifest["counts"] == {"read": 3, "kept": 2, "skipped": {"missing": 1}, "truncated": 0}


def test_a11_every_domain_gets_a_shard_when_all_together_are_full(write: Write) -> None:
    pairs = [("a b c", "x"), ("d e", "y"), ("f", "x"), ("g", 7)]
    corpus = write(
        [{"text": text, "s": domain} for text, domain in pairs],
        config_of(TEXT_SECTIONS, output={"domain_key": "s", "max_tokens_per_shard": 5}),
    )
    assert values(corpus) == {
        "__default__/shard_0000": [15],
        "x/shard_0000": [9, 10, 11],
        "x/shard_0001": [14],
        "y/shard_0000": [12, 13],
    }


@pytest.mark.parametrize("domain", ["../esc", "/tmp/esc", "", ".", "..", ".hidden", "a/b", "con\x00"])
def test_b25_no_domain_leaves_the_output_folder_or_hides_in_it(write: Write, tmp_path: Path, domain: str) -> None:
    corpus = write([{"text": "a", "s": domain}], config_of(TEXT_SECTIONS, output={"domain_key": "s"}))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out"]
    [folder] = [path for path in (tmp_path / "out").iterdir() if path.name != "manifest.json"]
    assert folder.name == corpus.shards[0].domain
    assert not folder.name.startswith(".")
    assert len(corpus) == 1


def test_a12_best_fit_packs_rows_and_marks_their_documents(write: Write) -> None:
    corpus = write(ABC, config_of(TEXT_SECTIONS, packing_strategy="bfd", max_packed_len=6))
    assert list(values(corpus).values()) == [[14, 15, 16, 17, 12, 13, 9, 10, 11]]
    assert list(values(corpus, "position_ids").values()) == [[0, 1, 2, 3, 0, 1, 0, 1, 2]]
    assert records_of(corpus, "sequence") == [[14, 15, 16, 17, 12, 13], [9, 10, 11]]
    assert parts_of(corpus, "sequence") == [[[14, 15, 16, 17], [12, 13]], [[9, 10, 11]]]
    [shard] = corpus.shards
    assert (shard.n_records, shard.n_documents, shard.n_tokens) == (2, 3, 9)


def test_a12_longer_records_are_cut_at_the_end_that_the_config_says(write: Write) -> None:
    long = [{"text": "a b c d e f g h i j k l"}]
    config = config_of(TEXT_SECTIONS, max_packed_len=10, truncation_mode="keep_end")
    assert records_of(write(long, config), "sequence") == [list(range(11, 21))]
    config = config_of(TEXT_SECTIONS, max_packed_len=10, packing_strategy="bfd")
    corpus = write(long, config)
    assert records_of(corpus, "sequence") == [list(range(9, 19))]
    assert corpus.manifest["counts"]["truncated"] == 1


def test_b09_chunks_restart_their_positions_and_are_documents_of_their_own(write: Write) -> None:
    texts = [{"text": "a b c d e f"}, {"text": "g h i j k l"}]
    corpus = write(texts, config_of(TEXT_SECTIONS, max_packed_len=4, packing_strategy="bfd_split"))
    assert records_of(corpus, "position_ids") == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 0, 1]]
    assert parts_of(corpus, "sequence") == [[[9, 10, 11, 12]], [[15, 16, 17, 18]], [[13, 14], [19, 20]]]
    assert corpus.shards[0].n_tokens == 12


def test_b09_what_is_cut_at_the_start_counts_from_0(write: Write) -> None:
    corpus = write(
        [{"text": "a b c d e f g"}, {"text": "h i"}],
        config_of(TEXT_SECTIONS, max_packed_len=4, packing_strategy="bfd", truncation_mode="keep_end"),
    )
    assert records_of(corpus, "sequence") == [[12, 13, 14, 15], [16, 17]]
    assert records_of(corpus, "position_ids") == [[0, 1, 2, 3], [0, 1]]


def test_b13_a_row_is_one_record_whatever_it_is_packed_of(write: Write) -> None:
    corpus = write(
        [{"text": "a b c"}, {"text": "d e f g"}, {"text": "h i"}],
        config_of(TEXT_SECTIONS, max_packed_len=5, packing_strategy="bfd"),
    )
    assert records_of(corpus, "sequence") == [[12, 13, 14, 15], [9, 10, 11, 16, 17]]


@pytest.mark.parametrize("strategy", ["simple", "bfd", "bfd_split"])
@pytest.mark.parametrize("order", [1, -1])
def test_b01_b02_every_record_has_its_whole_mask_in_either_order(write: Write, strategy: str, order: int) -> None:
    records = [{"p": "a", "r": "b"}, {"p": "", "r": "c d"}][::order]
    corpus = write(records, config_of(PROMPT_RESPONSE, packing_strategy=strategy))
    ids = values(corpus)["__default__/shard_0000"]
    mask = values(corpus, "loss_mask")["__default__/shard_0000"]
    trained = {9: 0, 10: 1, 11: 1, 12: 1}
    assert sorted(ids) == list(trained)
    assert mask == [trained[token] for token in ids]


def test_b03_a_shard_whose_records_are_all_trained_has_the_mask_too(write: Write) -> None:
    corpus = write(
        [{"p": "", "r": "a b"}, {"p": "c", "r": "d"}],
        config_of(PROMPT_RESPONSE, output={"max_tokens_per_shard": 1, "dtype": {"loss_mask": "bool"}}),
    )
    assert values(corpus, "loss_mask") == {
        "__default__/shard_0000": [True, True],
        "__default__/shard_0001": [False, True],
    }


def test_a_mask_that_the_config_names_is_written_even_if_all_ones(write: Write) -> None:
    source = {"sequence": {"sections": TEXT_SECTIONS, "mask_key": "m"}}
    assert values(write(ABC[:1], config_of(sources=source)), "m") == {"__default__/shard_0000": [1, 1, 1]}


def test_b06_shards_are_listed_by_domain_and_number(write: Write) -> None:
    config = config_of(TEXT_SECTIONS, output={"domain_key": "s", "max_tokens_per_shard": 1})
    corpus = write([{"text": "a", "s": "ba"[i % 2]} for i in range(8)], config)
    assert [shard.name for shard in corpus.shards] == [f"{d}/shard_{i:04d}" for d in "ab" for i in range(4)]


def test_l01_a21_dpo_records_come_back_as_the_builder_made_them(write: Write, toy_folder: Path) -> None:
    config = config_of(sources=DPO)
    corpus = write(DPO_RECORDS, config)
    built = build_records(DPO_RECORDS, config, RecordTokenizer.from_folder(toy_folder))
    assert len(corpus) == 2
    for i, outcome in enumerate(built):
        assert isinstance(outcome, Built)
        [reader] = corpus.readers
        assert {key: reader.record(key, i).tolist() for key in reader.keys} == outcome.keys


def test_l02_l03_a21_groups_and_rewards_come_back(write: Write) -> None:
    more = {"prompt": [message("user", "e")], "responses": ["f", "", "g h"], "rewards": [1, 0.9, 0.5]}
    corpus = write([GRPO_RECORD, more], config_of(sources=GRPO))
    assert records_of(corpus, "prompts") == [[1, 4, 7, 9, 5], [1, 4, 7, 13, 5]]
    assert parts_of(corpus, "responses") == [[[10], [11, 12]], [[14], [], [15, 16]]]  # B20: the empty one stays
    assert parts_of(corpus, "masks") == [[[1], [1, 1]], [[1], [], [1, 1]]]
    rewards = corpus.readers[0].tensor("rewards")
    assert rewards.values.dtype == np.float32
    assert rewards.values.tolist() == np.array([1, 0.3, 1, 0.9, 0.5], np.float32).tolist()
    assert rewards.offsets is not None
    assert rewards.offsets.tolist() == [0, 2, 5]


def test_b20_as_many_rewards_as_responses_or_the_record_is_skipped(run: Callable[..., Report]) -> None:
    bad = {**GRPO_RECORD, "rewards": [1.0, 0.3, 0.1]}
    report = run([GRPO_RECORD, bad], config_of(sources=GRPO))
    assert (report.kept, report.skipped) == (1, {"group_lengths": 1})


def test_l04_jsonl_is_no_format_that_a_config_can_ask_for() -> None:
    with pytest.raises(RecordConfigError, match=r"output\.storage_format: got 'jsonl'"):
        config_of(TEXT_SECTIONS, output={"storage_format": "jsonl"})


def test_dtypes_are_those_of_the_config(write: Write) -> None:
    dtypes = {"sequence": "uint16", "loss_mask": "bool", "position_ids": "int64"}
    corpus = write([{"messages": TALK}], config_of(CHAT_SECTIONS, output={"dtype": dtypes}))
    [reader] = corpus.readers
    assert {key: reader.tensor(key).dtype.name for key in reader.keys} == dtypes
    assert records_of(corpus, "sequence") == [[1, 4, 6, 27, 5, 4, 7, 9, 10, 5, 4, 8, 11, 12, 5]]
    assert records_of(corpus, "loss_mask") == [[False] * 10 + [True] * 5]


def test_a_vocabulary_that_does_not_fit_is_refused_before_anything_is_read(run: Callable[..., Report]) -> None:
    with pytest.raises(RecordValueError, match=r"output\.dtype\.sequence: bool cannot hold .*highest id, 34"):
        run(ABC, config_of(TEXT_SECTIONS, output={"dtype": {"sequence": "bool"}}))


@pytest.mark.parametrize(
    ("dtype", "reward", "detail"),
    [
        ({"rewards": "int32"}, 0.5, "float 0.5, allowed: numbers that int32 can hold"),
        ({"rewards": "uint64"}, -1, "int -1, allowed: numbers that uint64 can hold"),
        ({"rewards": "int64"}, 2.0**63, "float 9.223372036854776e+18, allowed: numbers that int64 can hold"),
        ({"rewards": "bool"}, 2, "int 2, allowed: numbers that bool can hold"),
        ({"rewards": "float16"}, 65520, "int 65520, allowed: numbers that float16 can hold"),
        ({}, 1e39, "float 1e+39, allowed: numbers that float32 can hold"),
    ],
)
def test_a_value_that_its_dtype_cannot_hold_ended_the_run(
    run: Callable[..., Report], tmp_path: Path, toy_folder: Path, dtype: dict[str, str], reward: float, detail: str
) -> None:
    """A record is skipped for it, as for any other bad value, and so it is where lines are read as they are."""
    fine = {**GRPO_RECORD, "rewards": [1, 0]}
    config = config_of(sources=GRPO, output={"dtype": dtype})
    report = run([fine, {**fine, "rewards": [1, reward]}, fine], config)
    assert (report.kept, report.skipped) == (2, {"wrong_type": 1})
    place = f"{tmp_path / 'in.jsonl'}:2: rewards: got {detail}, see output.dtype"
    assert report.samples == {"wrong_type": [place]}
    store = JsonlStore(tmp_path / "in.jsonl", config, toy_folder)
    assert (store.tally.kept, store.tally.samples) == (2, {SkipReason.WRONG_TYPE: [place]})
    strict = config_of(sources=GRPO, output={"dtype": dtype}, strict=True)
    with pytest.raises(RecordRefusedError, match=r"in\.jsonl:2: wrong_type: rewards"):
        Pipeline(strict, [tmp_path / "in.jsonl"], tmp_path / "strict", toy_folder).run()


def test_a_float_dtype_rounds_what_it_can_hold_and_no_more_is_skipped(write: Write) -> None:
    config = config_of(sources=GRPO, output={"dtype": {"rewards": "float16"}})
    corpus = write([{**GRPO_RECORD, "rewards": [65519, 1e-9]}], config)
    assert values(corpus, "rewards") == {"__default__/shard_0000": [65504.0, 0.0]}


def test_an_id_that_no_vocabulary_lists_is_checked_too_and_placed(tmp_path: Path, run: Callable[..., Report]) -> None:
    folder = write_toy_tokenizer(tmp_path / "tokenizer", "T4")
    file = folder / "tokenizer.json"
    model = json.loads(file.read_text())
    model["post_processor"]["special_tokens"]["</s>"]["ids"] = [300]
    file.write_text(json.dumps(model))
    config = config_of(TEXT_SECTIONS, output={"dtype": {"sequence": "uint8"}})
    with pytest.raises(RecordValueError, match=r"in\.jsonl:1: sequence: got 300, which uint8 cannot hold"):
        run(ABC, config, tokenizer=folder)


def test_positions_that_do_not_fit_are_an_error(run: Callable[..., Report]) -> None:
    config = config_of(TEXT_SECTIONS, output={"dtype": {"position_ids": "int8"}, "position_ids_mode": "continuous"})
    run([{"text": "a " * 128}], config)
    with pytest.raises(RecordValueError, match="position_ids: got 128, which int8 cannot hold"):
        run([{"text": "a " * 129}], config)


def test_b19_a_row_limit_that_leaves_nothing_to_train_skips_the_record(run: Callable[..., Report]) -> None:
    records = [{"p": "a b c", "r": "d"}, {"p": "a", "r": "d"}]
    for strategy in ("simple", "bfd"):
        report = run(records, config_of(PROMPT_RESPONSE, max_packed_len=3, packing_strategy=strategy))
        assert (report.kept, report.skipped, report.truncated) == (1, {"nothing_to_train": 1}, 0)


def test_a_sequence_is_not_packed_beside_others_and_dpo_is_never_packed(write: Write) -> None:
    beside = {"sequence": {"sections": TEXT_SECTIONS}, "other": {"sections": TEXT_SECTIONS}}
    with pytest.raises(RecordConfigError, match="got 'bfd' for sequence beside other"):
        write(ABC, config_of(sources=beside, packing_strategy="bfd"))
    corpus = write(DPO_RECORDS, config_of(sources=DPO, packing_strategy="bfd", max_packed_len=4))
    assert records_of(corpus, "chosen")[0] == [1, 4, 7, 9, 5, 4, 8, 10, 5]
    assert "position_ids" not in corpus.keys.keys
    corpus = write(DPO_RECORDS, config_of(sources=DPO, max_packed_len=7))
    assert records_of(corpus, "chosen")[0] == [1, 4, 7, 9, 5, 4, 8]


def test_a_config_of_values_only_is_refused(run: Callable[..., Report]) -> None:
    with pytest.raises(RecordConfigError, match="values only"):
        run([GRPO_RECORD], config_of(sources={"rewards": GRPO["rewards"]}))


A20_LINES = [{"text": "a"}, "not json", "", [1, 2], {"text": "b"}]


def test_a20_b21_bad_lines_are_counted_with_their_places_as_they_are_online(
    run: Callable[..., Report], tmp_path: Path, toy_folder: Path
) -> None:
    report = run(A20_LINES)
    assert values(open_corpus(tmp_path / "out")) == {"__default__/shard_0000": [9, 10]}
    assert (report.kept, report.skipped) == (2, {"not_json": 1, "not_an_object": 1})
    assert report.samples["not_json"][0].startswith(f"{tmp_path / 'in.jsonl'}:2: ")
    assert report.samples["not_an_object"][0].startswith(f"{tmp_path / 'in.jsonl'}:4: ")
    online = build_corpus([tmp_path / "in.jsonl"], TEXT, RecordTokenizer.from_folder(toy_folder))
    assert [o.keys["sequence"] for _, o in online if isinstance(o, Built)] == [[9], [10]]


def test_b21_a_strict_run_ends_at_the_first_bad_line_and_leaves_nothing(
    run: Callable[..., Report], tmp_path: Path
) -> None:
    with pytest.raises(RecordRefusedError, match=r"in\.jsonl:2: not_json"):
        run(A20_LINES, config_of(TEXT_SECTIONS, strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


def test_b22_a_run_that_keeps_nothing_is_an_error_and_leaves_an_old_corpus(write: Write, tmp_path: Path) -> None:
    write(ABC)
    before = bytes_below(tmp_path / "out")
    with pytest.raises(
        EmptyCorpusError, match=r"all of 2 records were skipped: 1 missing, such as .*in\.jsonl:1: .*; "
    ):
        write([{"txt": "a"}, "[]"])
    with pytest.raises(EmptyCorpusError, match="no records"):
        write([])
    assert bytes_below(tmp_path / "out") == before


def test_b10_a_run_replaces_an_old_corpus_whole(write: Write, tmp_path: Path) -> None:
    many = write(ABC, config_of(TEXT_SECTIONS, output={"max_tokens_per_shard": 1}))
    assert len(many.shards) == 3
    write(ABC[:1])
    assert [path.name for path in sorted((tmp_path / "out").rglob("shard_*"))] == ["shard_0000"]
    assert many.readers[2].record("sequence", 0).tolist() == [14, 15, 16, 17]  # who has it open keeps reading it


def test_a_folder_that_is_no_corpus_is_not_replaced(run: Callable[..., Report], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    run(ABC)
    (tmp_path / "out" / "manifest.json").unlink()
    with pytest.raises(OutputFolderError, match="holds something else than a corpus"):
        run(ABC)
    assert (tmp_path / "out" / "__default__").is_dir()


def test_a_folder_with_an_input_or_the_tokenizer_in_it_is_not_replaced(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    with pytest.raises(OutputFolderError, match=r"in\.jsonl, which is read, lies in it"):
        Pipeline(TEXT, [lines], tmp_path, toy_folder)
    with pytest.raises(OutputFolderError, match=r"tokenizer.*, which is read, lies in it"):
        Pipeline(TEXT, [lines], toy_folder, toy_folder)


def test_a_missing_input_is_an_error_before_anything_is_written(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    with pytest.raises(RecordFileError, match=r"absent\.jsonl: is missing"):
        Pipeline(TEXT, [lines, tmp_path / "absent.jsonl"], tmp_path / "out", toy_folder)


def test_an_input_that_changes_while_it_is_read_is_noticed(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    pipeline = Pipeline(TEXT, [lines], tmp_path / "out", toy_folder)
    write_lines(lines, ABC[:2])
    with pytest.raises(SourceChangedError, match=r"in\.jsonl: was changed"):
        pipeline.run()
    assert not (tmp_path / "out").exists()


def test_files_of_json_lists_and_folders_are_read_in_order(tmp_path: Path, toy_folder: Path) -> None:
    (tmp_path / "in").mkdir()
    write_lines(tmp_path / "in" / "b.jsonl", ABC[1:2])
    write_lines(tmp_path / "in" / "a.jsonl", ABC[:1])
    (tmp_path / "last.json").write_text("\ufeff" + json.dumps(ABC[2:]), encoding="utf-8")
    Pipeline(TEXT, [tmp_path / "in", tmp_path / "last.json"], tmp_path / "out", toy_folder).run()
    corpus = open_corpus(tmp_path / "out")
    assert list(values(corpus).values()) == [list(range(9, 18))]
    assert [source["name"] for source in corpus.manifest["sources"]] == ["a.jsonl", "b.jsonl", "last.json"]


def test_b32_the_manifest_says_what_the_corpus_was_made_from(write: Write, tmp_path: Path, toy_folder: Path) -> None:
    manifest = write(ABC).manifest
    assert manifest["tokenizer_fingerprint"] == RecordTokenizer.from_folder(toy_folder).fingerprint
    assert (manifest["config"], manifest["config_fingerprint"]) == (TEXT.to_dict(), TEXT.fingerprint)
    assert manifest["sources"] == [{"name": "in.jsonl", **hash_file(tmp_path / "in.jsonl")}]
    assert str(tmp_path) not in json.dumps(manifest)


def test_the_manifest_did_not_say_where_records_were_skipped(write: Write) -> None:
    manifest = write(["not json", *ABC, *[{"text": ""}] * 6]).manifest
    assert manifest["counts"]["skipped"] == {"not_json": 1, "missing": 6}
    places = {"not_json": [["in.jsonl", 1]], "missing": [["in.jsonl", line] for line in range(5, 10)]}
    assert manifest["skipped_at"] == places


def test_the_check_command_took_a_corpus_for_a_pack(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(ABC)
    for path in (tmp_path / "out", tmp_path):
        assert run_loaders(["check", str(path)]) == 0
        assert capsys.readouterr().out.endswith("3 records, 9 tokens: ok\n1 corpus of records checked, no fault\n")
    file = tmp_path / "out" / "__default__" / "shard_0000" / "sequence.bin"
    file.write_bytes(b"\x01" + file.read_bytes()[1:])
    assert run_loaders(["check", str(tmp_path)]) == 1
    assert "FAULT" in capsys.readouterr().out


def test_b31_what_stands_and_would_be_made_again_is_told(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    pipeline = Pipeline(TEXT, [lines], tmp_path / "out", toy_folder)
    assert pipeline.standing() is None
    pipeline.run()
    assert pipeline.standing() == open_corpus(tmp_path / "out").manifest
    other = config_of(TEXT_SECTIONS, output={"position_ids_mode": "none"})
    assert Pipeline(other, [lines], tmp_path / "out", toy_folder).standing() is None
    write_lines(lines, ABC[:2])
    assert Pipeline(TEXT, [lines], tmp_path / "out", toy_folder).standing() is None


@pytest.mark.parametrize("strategy", ["simple", "bfd", "bfd_split"])
def test_b31_workers_batches_and_buffers_change_no_byte(
    tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    rng = np.random.default_rng(0)
    letters = [" ".join(rng.choice(list("abcdefgh"), rng.integers(0, 40))) for _ in range(300)]
    records = [{"p": text[:7], "r": text, "s": "xyz"[i % 3]} for i, text in enumerate(letters)]
    lines = write_lines(tmp_path / "in.jsonl", records)

    def run(name: str, batch_size: int = 16, **options: Any) -> dict[Path, bytes]:
        limits = {"packing_strategy": strategy, "max_packed_len": 24, "batch_size": batch_size}
        output = {"domain_key": "s", "max_tokens_per_shard": 1500}
        pipeline = Pipeline(
            config_of(PROMPT_RESPONSE, None, output, **limits), [lines], tmp_path / name, toy_folder, **options
        )
        pipeline.run()
        return bytes_below(tmp_path / name)

    def shards_of(files: dict[Path, bytes]) -> dict[Path, bytes]:
        return {path: data for path, data in files.items() if path.name != "manifest.json"}

    once = run("once")
    assert len(once) > 12
    assert run("workers", workers=3) == once
    assert run("buffer", buffer_tokens=1) == once
    assert shards_of(run("batches", batch_size=7)) == shards_of(once)
    monkeypatch.setattr("rukh_loaders.records.corpus.MAX_BATCH_CHARACTERS", 100)
    monkeypatch.setattr("rukh_assets.records.shards.PIECE", 10)
    assert run("pieces") == once


@pytest.fixture
def line(tmp_path: Path, toy_folder: Path) -> Callable[..., int]:
    """Runs the command line over lines of records; the exit code."""
    TEXT.to_file(tmp_path / "config.json")

    def run_line(records: Iterable[Any], *more: str) -> int:
        lines = write_lines(tmp_path / "in.jsonl", records)
        options = ["-o", tmp_path / "out", "-c", tmp_path / "config.json", "--tokenizer", toy_folder]
        return main([str(lines), *map(str, options), *more])

    return run_line


def test_the_command_line_writes_and_reports(
    line: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line(A20_LINES, "--workers", "2", "--batch-size", "1") == 0
    out = capsys.readouterr().out
    assert f"{tmp_path / 'out'}: 2 records kept, 2 skipped, 0 sequences cut" in out
    assert "1 shards, 2 rows, 2 tokens" in out
    assert f"skipped 1: not_json\n  {tmp_path / 'in.jsonl'}:2: not JSON" in out
    assert open_corpus(tmp_path / "out").manifest["config"]["preprocessing"]["batch_size"] == 1


@pytest.mark.parametrize(
    ("records", "more", "message"),
    [
        (["not json"], (), "all of 1 records were skipped: 1 not_json"),
        ([], (), "no records"),
        (A20_LINES, ("--strict",), "in.jsonl:2: not_json"),
        (ABC, ("-c", "absent.json"), "absent.json: cannot be read"),
    ],
)
def test_a20_the_command_line_exits_1_where_nothing_is_written(
    line: Callable[..., int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    records: list[Any],
    more: tuple[str, ...],
    message: str,
) -> None:
    assert line(records, *more) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_cannot_be_made_was_a_traceback(
    line: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "in.jsonl" / "deep" / "out"
    assert line(ABC, "-o", str(target)) == 1
    assert capsys.readouterr().err == f"error: {target}: nothing can be made there: Not a directory\n"


@pytest.mark.parametrize("more", [("--batch-size", "0"), ("--workers", "x"), ("--unknown",)])
def test_the_command_line_exits_2_for_wrong_usage(line: Callable[..., int], more: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        line(ABC, *more)
    assert caught.value.code == 2


def test_the_command_line_finds_the_tokenizer_that_its_config_names_or_that_lies_beside(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    config, out = tmp_path / "made" / "config.json", tmp_path / "out"

    def made_with() -> str:
        assert main([str(lines), "-o", str(out), "-c", str(config)]) == 0
        return str(open_corpus(out).manifest["tokenizer_fingerprint"])

    folders = [
        write_toy_tokenizer(folder, variant)
        for folder, variant in ((config.parent, "T1"), (config.parent / "tokenizer", "T2"), (tmp_path / "t3", "T3"))
    ]
    own, beside, named = (RecordTokenizer.from_folder(folder).fingerprint for folder in folders)
    config.write_text(json.dumps(TEXT.to_dict() | {"tokenizer_path": "../t3"}))
    assert made_with() == named
    TEXT.to_file(config)
    assert made_with() == beside
    (config.parent / "tokenizer" / "tokenizer.json").unlink()
    assert made_with() == own


def test_the_help_says_where_the_tokenizer_is_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "tokenizer_path" in capsys.readouterr().out
