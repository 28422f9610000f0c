"""Files to records: what is a record, what is a bad line, and that neither depends on the way it is read."""

import doctest
import importlib
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from record_configs import CHAT_SECTIONS, PROMPT_RESPONSE, TALK, TEXT_SECTIONS, sections_config

from rukh_loaders.errors import RecordFileError, RecordRefusedError
from rukh_loaders.records import (
    BadLine,
    Built,
    PipelineConfig,
    RecordTokenizer,
    SkipReason,
    Tally,
    build_corpus,
    find_inputs,
    read_batches,
    read_records,
    reading,
)

A20_LINES = b'{"text":"a"}\nnot json\n\n[1,2]\n{"text":"b"}\n'


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def numbered(path: Path) -> list[tuple[int, Any]]:
    return [(number, record.reason if isinstance(record, BadLine) else record) for number, record in read_records(path)]


def tally_of(paths: list[Path], config: PipelineConfig, tokenizer: RecordTokenizer) -> tuple[Tally, list[Any]]:
    tally, sequences = Tally(), []
    for place, outcome in build_corpus(paths, config, tokenizer):
        tally.note(place, outcome)
        if isinstance(outcome, Built):
            sequences.append(outcome.keys["sequence"])
    return tally, sequences


@pytest.mark.parametrize("batch_size", [1, 2, 256])
def test_a20_bad_lines_are_counted_with_their_place_and_the_rest_is_kept(
    batch_size: int, tmp_path: Path, t1: RecordTokenizer
) -> None:
    path = write(tmp_path / "a.jsonl", A20_LINES)
    tally, sequences = tally_of([path], sections_config(TEXT_SECTIONS, batch_size=batch_size), t1)
    assert sequences == [[9], [10]]
    assert tally.kept == 2
    assert tally.skipped == {SkipReason.NOT_JSON: 1, SkipReason.NOT_AN_OBJECT: 1}
    assert tally.samples[SkipReason.NOT_JSON][0].startswith(f"{path}:2: not JSON: ")
    assert tally.samples[SkipReason.NOT_AN_OBJECT] == [f"{path}:4: a JSON list, expected an object"]


def test_a20_a_strict_run_ends_at_the_first_bad_line_with_its_place(tmp_path: Path, t1: RecordTokenizer) -> None:
    path = write(tmp_path / "a.jsonl", A20_LINES)
    with pytest.raises(RecordRefusedError, match=r"a\.jsonl:2: not_json: not JSON"):
        tally_of([path], sections_config(TEXT_SECTIONS, strict=True), t1)


def test_a_strict_run_still_leaves_out_what_is_merely_empty_or_short(tmp_path: Path, t1: RecordTokenizer) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": ""}\n{"text": "a"}\n{"text": "a b"}\n')
    tally, sequences = tally_of([path], sections_config(TEXT_SECTIONS, strict=True, min_chars=2), t1)
    assert sequences == [[9, 10]]
    assert tally.skipped == {SkipReason.MISSING: 1, SkipReason.LENGTH: 1}


def test_b19_what_trains_nothing_is_skipped_and_counted(tmp_path: Path, t1: RecordTokenizer) -> None:
    path = write(tmp_path / "a.jsonl", json.dumps({"messages": TALK}) + "\n" + json.dumps({"messages": TALK[:2]}))
    tally, sequences = tally_of([path], sections_config(CHAT_SECTIONS), t1)
    assert len(sequences) == 1
    assert tally.samples == {SkipReason.NOTHING_TO_TRAIN: [f"{path}:2: sequence: no trained token"]}


def test_sequences_that_were_cut_are_counted(tmp_path: Path, t1: RecordTokenizer) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "a"}\n{"text": "a b"}\n{"text": "a b c"}\n')
    tally, sequences = tally_of([path], sections_config(TEXT_SECTIONS, max_seq_len=1), t1)
    assert (tally.truncated, sequences) == (2, [[9], [9], [9]])


def test_max_items_ends_the_run_after_so_many_records_that_are_kept(tmp_path: Path, t1: RecordTokenizer) -> None:
    path = write(tmp_path / "a.jsonl", '{"p": "a"}\n{"r": "b"}\n{"r": "c"}\n{"r": "d"}\n')
    tally, sequences = tally_of([path], sections_config(PROMPT_RESPONSE, max_items=2), t1)
    assert sequences == [[10], [11]]
    assert tally.kept == 2


def test_files_are_read_in_the_order_given(tmp_path: Path, t1: RecordTokenizer) -> None:
    first = write(tmp_path / "z.jsonl", '{"text": "a"}')
    second = write(tmp_path / "a.json", '[{"text": "b"}, {"text": "c"}]')
    assert tally_of([first, second], sections_config(TEXT_SECTIONS), t1)[1] == [[9], [10], [11]]


def test_batches_hold_so_many_lines_across_the_ends_of_files(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{name}.jsonl", "{}\n" * count) for name, count in (("a", 3), ("b", 0), ("c", 2))]
    batches = [[f"{place.path.name}:{place.line}" for place, _ in batch] for batch in read_batches(files, 2)]
    assert batches == [["a.jsonl:1", "a.jsonl:2"], ["a.jsonl:3", "c.jsonl:1"], ["c.jsonl:2"]]


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b'{"a": 1}', [(1, {"a": 1})]),
        (b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\r\n', [(1, {"a": 1}), (3, {"a": 2})]),
        (b'{"a": 1} {"a": 2}\n', [(1, SkipReason.NOT_JSON)]),
        (b'{"a": "\xff"}\n{"a": 1}\n', [(1, SkipReason.NOT_JSON), (2, {"a": 1})]),
        ('{"a": "\u2028\x85"}\n'.encode(), [(1, {"a": "\u2028\x85"})]),
        (b"[" * 100_000 + b"\n{}\n", [(1, SkipReason.NOT_JSON), (2, {})]),
        (b'{"a": ' + b"9" * 5000 + b"}\n{}\n", [(1, SkipReason.NOT_JSON), (2, {})]),
        (b"null\n3\n", [(1, SkipReason.NOT_AN_OBJECT), (2, SkipReason.NOT_AN_OBJECT)]),
        (b"", []),
        (b"\n \n", []),
    ],
)
def test_lines_are_records_or_bad_lines(tmp_path: Path, content: bytes, records: list[tuple[int, Any]]) -> None:
    assert numbered(write(tmp_path / "a.jsonl", content)) == records


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b'{"a": 1}', [(1, {"a": 1})]),
        (b'\xef\xbb\xbf[{"a": 1},\n 7, {"a": 2}]', [(1, {"a": 1}), (2, SkipReason.NOT_AN_OBJECT), (3, {"a": 2})]),
        (b"[]", []),
        (b"7", [(1, SkipReason.NOT_AN_OBJECT)]),
        (b'{"a": 1}\n{"a": 2}\n', [(2, SkipReason.NOT_JSON)]),
        (b"", [(1, SkipReason.NOT_JSON)]),
    ],
)
def test_a_json_file_is_an_object_or_a_list(tmp_path: Path, content: bytes, records: list[tuple[int, Any]]) -> None:
    assert numbered(write(tmp_path / "a.JSON", content)) == records


def test_a_line_without_end_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 16)
    path = write(tmp_path / "a.jsonl", b'{"a": 1}\n' + b"x" * 5000 + b'\n{"a": "01234567"}\n{"a": "0123456"}\n')
    assert numbered(path) == [(1, {"a": 1}), (2, SkipReason.NOT_JSON), (3, SkipReason.NOT_JSON), (4, {"a": "0123456"})]


def test_a_json_file_too_large_to_be_read_whole_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_JSON_BYTES", 8)
    with pytest.raises(RecordFileError, match=r"a\.json: has more than 8 bytes.*\.jsonl"):
        list(read_records(write(tmp_path / "a.json", '[{"a": 1}]')))


def test_lines_are_read_in_bounded_memory(tmp_path: Path) -> None:
    line = json.dumps({"text": "a" * 10_000}) + "\n"
    path = write(tmp_path / "a.jsonl", line * 1000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_records(path)) == 1000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_a_folder_has_the_jsonl_files_on_its_top_by_name(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("b.jsonl", "a.JSONL", "c.json", "d.txt", "below/e.jsonl"):
        write(tmp_path / name, "{}")
    files = find_inputs([tmp_path, tmp_path / "c.json"])
    assert [file.name for file in files] == ["a.JSONL", "b.jsonl", "c.json"]


def test_missing_paths_and_empty_folders_are_refused_before_the_first_record(
    tmp_path: Path, t1: RecordTokenizer
) -> None:
    good = write(tmp_path / "a.txt", "{}")
    with pytest.raises(RecordFileError, match=r"nothing: is missing"):
        build_corpus([good, tmp_path / "nothing"], sections_config(TEXT_SECTIONS), t1)
    with pytest.raises(RecordFileError, match=r"has no \.jsonl file"):
        build_corpus([tmp_path], sections_config(TEXT_SECTIONS), t1)
    with pytest.raises(RecordFileError, match="cannot be read"):
        list(read_records(tmp_path / "nothing.jsonl"))


def test_the_examples_of_the_package_run() -> None:
    result = doctest.testmod(importlib.import_module("rukh_loaders.records"), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10
    assert result.failed == 0


def test_every_public_name_of_the_package_is_there() -> None:
    module = importlib.import_module("rukh_loaders.records")
    assert all(hasattr(module, public) for public in module.__all__)
