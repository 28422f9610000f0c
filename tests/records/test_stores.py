"""Stores over shards and over .jsonl files, in the numbers of the format's cases."""

import doctest
import gc
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from record_configs import CHAT_SECTIONS, DPO, GRPO, TALK, TEXT_SECTIONS, message, sections_config, sources_config
from record_stores import plain, write_lines, write_records, write_stream
from toy_tokenizer import write_toy_tokenizer

import rukh_loaders.stores
from rukh_assets.records import Pipeline
from rukh_loaders.errors import (
    NoKeyError,
    NoRecordsError,
    NoWindowsError,
    RangeError,
    RecordIndexError,
    RecordRefusedError,
    StoreArgumentError,
    StoreChangedError,
    StoreShardsError,
    UnsupportedFileError,
)
from rukh_loaders.formats import KeyedTensor, ShardWriter, cut_at
from rukh_loaders.records import Built, MaskBuilder, PipelineConfig, Skipped
from rukh_loaders.stores import JsonlStore, ShardStore, Store, detect_format

TEXT = sections_config(TEXT_SECTIONS)
ABC = [{"text": text} for text in ("a b c", "d e", "f g h i")]
GROUP: dict[str, Any] = {"prompt": [message("user", "a")], "responses": ["b", "c d"], "rewards": [1.0, 0.3]}


@pytest.fixture(scope="module")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_tokenizer(tmp_path_factory.mktemp("tokenizer"))


def with_output(config: PipelineConfig, **output: Any) -> PipelineConfig:
    return PipelineConfig.from_dict(config.to_dict() | {"output": output})


@pytest.fixture
def both(tmp_path: Path, toy_folder: Path) -> Any:
    """The same records as shards and as lines: `both(records, config, **options)`."""

    def stores(records: Any, config: PipelineConfig = TEXT, **options: Any) -> tuple[Store, Store]:
        lines = write_lines(tmp_path / "in.jsonl", records)
        Pipeline(config, [lines], tmp_path / "out", toy_folder).run()
        return ShardStore(tmp_path / "out", **options), JsonlStore(lines, config, toy_folder, **options)

    return stores


def test_a13_records_are_read_by_the_offsets_of_a_shard(tmp_path: Path) -> None:
    sequence = KeyedTensor(np.array([5, 6, 7, 8, 9], np.int32), cut_at(np.array([3, 2])))
    ShardWriter(tmp_path / "s").write({"sequence": sequence, "m": KeyedTensor(np.array([True, False]))})
    meta = json.loads((tmp_path / "s" / "meta.json").read_text())
    assert meta == {
        "sequence": {"shape": [5], "dtype": "int32", "offsets": [0, 3, 5]},
        "m": {"shape": [2], "dtype": "bool"},
    }
    assert [(tmp_path / "s" / f"{key}.bin").stat().st_size for key in ("sequence", "m")] == [20, 2]
    store = ShardStore(tmp_path / "s")
    assert (store.num_records, store.token_count) == (2, 2)
    assert plain([store.fetch_record(0, "sequence"), store.fetch_record(1, "sequence")]) == [[5, 6, 7], [8, 9]]
    for outside in (2, -1):
        with pytest.raises(ValueError, match="no record"):
            store.fetch_record(outside, "sequence")
    with pytest.raises(KeyError, match="no m in its records"):
        store.fetch_record(0, "m")


@pytest.mark.parametrize(
    ("tokens", "window", "stride", "windows"),
    [
        (10, 4, 4, [(0, 4), (4, 8)]),
        (9, 4, 4, [(0, 4), (4, 8)]),
        (8, 4, 4, [(0, 4)]),
        (5, 4, 4, [(0, 4)]),
        (4, 4, 4, []),
        (10, 4, 2, [(0, 4), (2, 6), (4, 8)]),
        (10, 4, 1, [(i, i + 4) for i in range(6)]),
        (13, 4, 6, [(0, 4), (6, 10)]),
    ],
)
def test_a14_windows_lie_where_the_table_says(
    tmp_path: Path, tokens: int, window: int, stride: int, windows: list[tuple[int, int]]
) -> None:
    store = ShardStore(write_stream(tmp_path, range(tokens)), window, stride)
    assert len(store) == len(windows)
    assert [store.sample_window(i) for i in range(len(store))] == windows
    for outside in (len(store), -1):
        with pytest.raises(IndexError):
            store.sample_window(outside)


def test_a14_a_store_counts_from_its_end_once(tmp_path: Path) -> None:
    store = ShardStore(write_stream(tmp_path, range(10)), 4, 4)
    assert plain(store[-1]) == {"sequence": [4, 5, 6, 7]}
    with pytest.raises(IndexError):
        store[-3]


def test_b34_what_is_left_over_is_a_window_of_its_own_where_asked(tmp_path: Path) -> None:
    folder = write_stream(tmp_path, range(10))
    store = ShardStore(folder, 4, 4, pad_last=True)
    assert [store.sample_window(i) for i in range(len(store))] == [(0, 4), (4, 8), (8, 9)]
    assert len(ShardStore(folder, 9, pad_last=True)) == 1
    assert [ShardStore(folder, 20, pad_last=True).sample_window(0)] == [(0, 9)]


@pytest.mark.parametrize("options", [{"window_size": -1}, {"stride": 0}, {"stride": -2}, {"weights": {"other": 1}}])
def test_b34_windows_that_there_cannot_be_are_refused(tmp_path: Path, options: Any) -> None:
    with pytest.raises(StoreArgumentError):
        ShardStore(write_stream(tmp_path, range(10)), **options)


def test_a15_ranges_cross_shards(tmp_path: Path) -> None:
    store = ShardStore(write_stream(tmp_path, [1, 2, 3], [4, 5, 6, 7], [8, 9]))
    ranges = [(2, 7), (3, 7), (8, 9), (0, 9), (0, 0), (3, 3), (9, 9)]
    assert [plain(store.fetch(*r, "sequence")) for r in ranges] == [
        *([3, 4, 5, 6, 7], [4, 5, 6, 7], [9], list(range(1, 10))),
        *([], [], []),
    ]
    for begin, end in [(-1, 3), (0, 10), (4, 3), (2, 1)]:
        with pytest.raises(RangeError):
            store.fetch(begin, end, "sequence")
    assert plain(store.fetch(0, 2, ["sequence"])) == {"sequence": [1, 2]}
    assert store.fetch(0, 2, []) == {}
    with pytest.raises(NoKeyError, match=r"^[^'\"]*: no other in its stream, which has the keys sequence$"):
        store.fetch(0, 2, "other")


def test_a_window_without_a_size_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoWindowsError):
        ShardStore(write_stream(tmp_path, range(5))).sample_window(0)


def test_l06_records_of_several_shards_are_numbered_through(both: Any) -> None:
    config = with_output(TEXT, max_tokens_per_shard=3)
    shards, lines = both(ABC, config)
    assert len(list((shards.path / "__default__").iterdir())) == 2
    for store in (shards, lines):
        assert [plain(store.fetch_record(i, "sequence")) for i in range(3)] == [[9, 10, 11], [12, 13], [14, 15, 16, 17]]
        assert [store.record_bounds(i) for i in range(3)] == [(0, 3), (3, 5), (5, 9)]
        assert plain(store.document_begins(1, 4)) == [0, 3]
        assert plain(store.document_begins(3, 4)) == [3]
        assert plain(store.fetch(2, 6, ["sequence", "loss_mask", "position_ids"])) == {
            "sequence": [11, 12, 13, 14],
            "loss_mask": [1, 1, 1, 1],
            "position_ids": [2, 0, 1, 0],
        }


def test_a_mask_of_ones_is_there_though_it_is_not_written(both: Any) -> None:
    shards, lines = both(ABC)
    assert not list(shards.path.rglob("loss_mask.bin"))
    assert plain(shards[1]) == plain(lines[1]) == {"sequence": [12, 13], "loss_mask": [1, 1], "position_ids": [0, 1]}


def test_b06_shards_come_by_number_and_not_by_text(tmp_path: Path) -> None:
    for number in (10000, 9999, 2):
        ShardWriter(tmp_path / "d" / f"shard_{number:04d}").write({"sequence": KeyedTensor(np.array([number]))})
    assert plain(ShardStore(tmp_path).fetch(0, 3, "sequence")) == [2, 9999, 10000]


def test_one_domain_and_one_shard_of_a_corpus_open_alone(both: Any) -> None:
    records = [{"text": "a b c", "s": "x"}, {"text": "d e", "s": "y"}, {"text": "f", "s": "x"}]
    shards, lines = both(records, with_output(TEXT, domain_key="s", max_tokens_per_shard=3))
    folder = shards.path
    assert plain(shards.fetch(0, 6, "sequence")) == plain(lines.fetch(0, 6, "sequence")) == [9, 10, 11, 14, 12, 13]
    assert plain(ShardStore(folder / "x").fetch(0, 4, "sequence")) == [9, 10, 11, 14]
    shard = ShardStore(folder / "x" / "shard_0001")
    assert plain(shard.fetch(0, 1, ["sequence", "loss_mask"])) == {"sequence": [14], "loss_mask": [1]}
    with pytest.raises(NoRecordsError):
        ShardStore(folder / "z")


def test_months_of_a_corpus_are_one_store(tmp_path: Path, toy_folder: Path) -> None:
    config = with_output(TEXT, domain_key="s")
    for month, texts in (("2025-02", "c d"), ("2025-01", "a b")):
        records = write_lines(
            tmp_path / "in.jsonl", [{"text": t, "s": s} for t, s in zip(texts.split(), "yx", strict=True)]
        )
        Pipeline(config, [records], tmp_path / "lake" / month, toy_folder).run()
    store = ShardStore(tmp_path / "lake", weights={"x": 1, "y": 1})
    assert plain(store.fetch(0, 4, ["sequence", "loss_mask"])) == {"sequence": [10, 12, 9, 11], "loss_mask": [1] * 4}
    assert [part.name for part in store.domains] == ["x", "y"]
    assert store.manifest["config_fingerprint"] == config.fingerprint
    assert "data_version" not in store.manifest
    Pipeline(config, [records], tmp_path / "lake" / "2025-03", write_toy_tokenizer(tmp_path / "t2", "T2")).run()
    with pytest.raises(StoreShardsError, match=r"2025-03: has the tokenizer_fingerprint"):
        ShardStore(tmp_path / "lake")


def test_b33_windows_of_weighted_domains_never_cross_into_another(both: Any) -> None:
    records = [{"text": "a b c d e", "s": "x"}, {"text": "f g h", "s": "y"}]
    for store in both(records, with_output(TEXT, domain_key="s"), window_size=2, weights={"y": 3, "x": 1}):
        assert store.items.lengths == (1, 2)
        assert [plain(store[i])["sequence"] for i in range(3)] == [[14, 15], [9, 10], [11, 12]]


def test_b03_shards_of_other_keys_are_refused(tmp_path: Path) -> None:
    write_records(tmp_path / "d" / "shard_0000", [[1, 2]], loss_mask=[[0, 1]])
    write_records(tmp_path / "d" / "shard_0001", [[3]])
    with pytest.raises(StoreShardsError, match="shard_0001: has sequence"):
        ShardStore(tmp_path)


def test_keys_of_other_lengths_are_told_apart_shard_by_shard(tmp_path: Path) -> None:
    for number, (n_ids, n_mask) in enumerate([(3, 2), (2, 3)]):
        keys = {
            "sequence": KeyedTensor(np.zeros(n_ids, np.int32)),
            "loss_mask": KeyedTensor(np.zeros(n_mask, np.int32)),
        }
        ShardWriter(tmp_path / "d" / f"shard_{number:04d}").write(keys)
    with pytest.raises(StoreShardsError, match="3 of 'sequence', 2 of 'loss_mask'"):
        ShardStore(tmp_path).check_same_lengths(["sequence", "loss_mask"])


def test_b30_what_is_fetched_is_the_callers_own(tmp_path: Path) -> None:
    ShardWriter(tmp_path / "shard_0000").write({"sequence": KeyedTensor(np.arange(6), cut_at(np.array([3, 3])))})
    store = ShardStore(tmp_path)
    for taken in (store.fetch(0, 6, "sequence"), store.fetch_record(0, "sequence")):
        assert isinstance(taken, np.ndarray)
        taken[:] = 99
    assert plain(store.fetch(0, 6, "sequence")) == list(range(6))


def test_b30_a_store_is_pickled_as_its_path(both: Any) -> None:
    records = ABC * 500
    for store in both(records, window_size=2):
        pickled = pickle.dumps(store)
        assert len(pickled) < 3000
        again = pickle.loads(pickled)
        assert again.fingerprint == store.fingerprint
        assert plain(again[7]) == plain(store[7])


def test_a_pickled_store_refuses_other_shards(both: Any, tmp_path: Path, toy_folder: Path) -> None:
    shards, _ = both(ABC)
    pickled = pickle.dumps(shards)
    Pipeline(TEXT, [write_lines(tmp_path / "other.jsonl", ABC[:1])], tmp_path / "out", toy_folder).run()
    with pytest.raises(StoreChangedError):
        pickle.loads(pickled)


def test_lines_are_indexed_anew_where_the_index_is_gone(both: Any) -> None:
    _, lines = both(ABC)
    pickled, folder, expected = pickle.dumps(lines), lines._index.folder, plain(lines[1])
    del lines
    gc.collect()
    assert not folder.exists()
    again = pickle.loads(pickled)
    assert plain(again[1]) == expected
    assert again._index.folder != folder


def test_the_index_is_gone_with_the_process(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    code = f"""
from rukh_loaders.stores import JsonlStore
from rukh_loaders.records import PipelineConfig
config = PipelineConfig.from_dict({TEXT.to_dict()!r})
print(JsonlStore({str(lines)!r}, config, {str(toy_folder)!r})._index.folder)
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_leaves_the_index_where_it_is(both: Any) -> None:
    _, lines = both(ABC)
    folder = lines._index.folder
    child = os.fork()
    if child == 0:
        lines._index = None
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.exists()
    assert plain(lines[0]["sequence"]) == [9, 10, 11]


def test_a_file_that_changed_is_not_read_on(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", ABC)
    store = JsonlStore(lines, TEXT, toy_folder)
    write_lines(lines, [*ABC, {"text": "z"}])
    with pytest.raises(StoreChangedError, match="was changed"):
        store.fetch_record(0, "sequence")


@pytest.mark.parametrize(
    ("first", "second"),
    [(["{}", ""], ["x"]), (["\ufeff" + json.dumps({"text": "a"}), ""], [{"text": "b"}])],
)
def test_lines_are_read_from_where_they_stand(tmp_path: Path, toy_folder: Path, first: Any, second: Any) -> None:
    write_lines(tmp_path / "1.jsonl", [*first, {"text": "y z"}])
    write_lines(tmp_path / "2.jsonl", [*second, "   ", {"text": "c d"}])
    store = JsonlStore(tmp_path, TEXT, toy_folder)
    expected = [[9]] * first[0].startswith("\ufeff") + [[33, 34]] + [[10]] * (second != ["x"]) + [[11, 12]]
    assert [plain(store.fetch_record(i, "sequence")) for i in range(len(store))] == expected
    backwards = store.fetch_records(list(range(len(store)))[::-1], ["sequence"])
    assert [plain(r["sequence"]) for r in backwards] == expected[::-1]


def test_a20_bad_lines_are_skipped_with_their_numbers(tmp_path: Path, toy_folder: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", [{"text": "a"}, "not json", "", [1, 2], {"text": "b"}])
    store = JsonlStore(lines, TEXT, toy_folder)
    assert plain(store.fetch(0, 2, "sequence")) == [9, 10]
    report = Pipeline(TEXT, [lines], tmp_path / "out", toy_folder).run()
    for kept, skipped, samples in (
        (store.tally.kept, store.tally.skipped, store.tally.samples),
        (report.kept, report.skipped, report.samples),
    ):
        assert kept == 2
        assert dict(skipped) == {"not_json": 1, "not_an_object": 1}
        places = [text.split(": ")[0] for texts in samples.values() for text in texts]
        assert sorted(places) == [f"{lines}:2", f"{lines}:4"]


def test_a20_nothing_kept_is_an_error(tmp_path: Path, toy_folder: Path) -> None:
    with pytest.raises(NoRecordsError, match=r"in.jsonl:1: not JSON"):
        JsonlStore(write_lines(tmp_path / "in.jsonl", ["x"]), TEXT, toy_folder)


def test_b24_a_malformed_record_is_found_before_training(tmp_path: Path, toy_folder: Path) -> None:
    good = {"chosen": [message("user", "a"), message("assistant", "b")]}
    good["rejected"] = good["chosen"]
    lines = write_lines(tmp_path / "in.jsonl", [{"bad": 1}, good, {"chosen": 5, "rejected": 6}, good])
    store = JsonlStore(lines, sources_config(DPO), toy_folder)
    assert (len(store), store.tally.skipped.total()) == (2, 2)
    assert [len(store.fetch_record(i, "chosen")) for i in range(2)] == [9, 9]
    with pytest.raises(RecordRefusedError, match=r"in.jsonl:3"):
        JsonlStore(lines, sources_config(DPO, strict=True), toy_folder)


def test_b14_a_record_is_built_once_for_all_its_keys(
    tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JsonlStore(write_lines(tmp_path / "in.jsonl", [GROUP, GROUP]), sources_config(GRPO), toy_folder)
    built = []
    build = MaskBuilder.build
    monkeypatch.setattr(MaskBuilder, "build", lambda self, records: built.extend(records) or build(self, records))
    assert set(plain(store[1])) == {"prompts", "prompts_mask", "responses", "masks", "rewards"}
    assert len(built) == 1
    store.fetch_records([0, 1, 0], store.keys)
    assert len(built) == 3


def test_a21_rewards_and_groups_come_back(both: Any) -> None:
    for store in both([GROUP, {**GROUP, "responses": ["", "e"]}], sources_config(GRPO)):
        first, second = (store.fetch_record(i, ("responses", "masks", "rewards")) for i in range(2))
        assert plain(first["responses"]) == [[10], [11, 12]]
        assert plain(second) == plain({"responses": [[], [13]], "masks": [[], [1]], "rewards": first["rewards"]})
        assert first["rewards"].dtype == np.float32
        assert plain(first["rewards"]) == plain(np.array([1.0, 0.3], np.float32))


def test_a_value_that_its_dtype_cannot_hold_is_found_when_lines_are_opened(tmp_path: Path, toy_folder: Path) -> None:
    config = with_output(sources_config(GRPO), dtype={"rewards": "int8"})
    with pytest.raises(NoRecordsError, match=r"in.jsonl:1: rewards: got float 0.3, allowed: numbers that int8"):
        JsonlStore(write_lines(tmp_path / "in.jsonl", [GROUP]), config, toy_folder)


def test_opening_lines_built_batches_of_any_size_at_once(
    tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rukh_loaders.records.corpus.MAX_BATCH_CHARACTERS", 5)
    sizes = []

    class SizedBuilder(MaskBuilder):
        def build(self, records: Sequence[object]) -> list[Built | Skipped]:
            sizes.append(len(records))
            return super().build(records)

    lines = write_lines(tmp_path / "in.jsonl", [{"text": text} for text in ("a b c", "d", "e f", "g h i j")])
    store = JsonlStore(lines, TEXT, toy_folder, builder=SizedBuilder)
    assert (sizes, store.num_records) == ([1, 2, 1], 4)


def test_positions_that_run_on_count_over_the_domain(both: Any) -> None:
    for store in both(ABC, with_output(TEXT, position_ids_mode="continuous")):
        assert plain(store.fetch(2, 6, "position_ids")) == [2, 3, 4, 5]
    for store in both(ABC, with_output(TEXT, position_ids_mode="none")):
        assert "position_ids" not in store.keys


def test_what_a_row_would_cut_is_cut_in_lines_too(both: Any) -> None:
    for store in both([{"messages": TALK}], sections_config(CHAT_SECTIONS, max_packed_len=12)):
        assert plain(store.fetch_record(0, "sequence")) == [1, 4, 6, 27, 5, 4, 7, 9, 10, 5, 4, 8]


def test_the_format_of_a_path_is_found(tmp_path: Path) -> None:
    (tmp_path / "nested" / "below").mkdir(parents=True)
    lines = write_lines(tmp_path / "nested" / "below" / "in.JSONL", ABC)
    assert detect_format(lines) == detect_format(lines.parent) == "jsonl"
    for absent in (tmp_path, tmp_path / "missing"):  # B12: only what is read is found
        with pytest.raises(FileNotFoundError, match="No supported"):
            detect_format(absent)
    with pytest.raises(UnsupportedFileError, match="Unsupported"):
        detect_format(write_lines(tmp_path / "in.json", ABC))
    write_stream(tmp_path / "nested" / ".hidden", [1])
    assert detect_format(lines.parent) == "jsonl"
    write_stream(tmp_path / "nested" / "below" / "shown", [1])
    assert detect_format(tmp_path) == "bin"


def test_records_outside_are_both_kinds_of_error(tmp_path: Path) -> None:
    store = ShardStore(write_records(tmp_path / "shard_0000", [[1], [2]]))
    for kind in (ValueError, IndexError, RecordIndexError):
        with pytest.raises(kind):
            store.fetch_record(2, "sequence")


def test_the_example_of_the_package_runs() -> None:
    result = doctest.testmod(rukh_loaders.stores)
    assert result.attempted > 10
    assert result.failed == 0
