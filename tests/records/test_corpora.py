"""The corpora of a lake: which names they may have, and which files are a month's raw records."""

from pathlib import Path

import pytest

from rukh_assets.errors import CorpusNameError, RawRecordsError, RawRecordsMissingError
from rukh_assets.records.corpora import CorpusNameWarning, found_corpora, named_corpora, raw_files
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import describe_files, write_manifest


def test_a_setting_names_corpora_with_commas_between_each_once() -> None:
    assert named_corpora("web_text, talks,2024,talks, ,") == ["web_text", "talks", "2024"]
    assert named_corpora("") == []


@pytest.mark.parametrize(
    "name", ["..", "../x", "a/b", "a\\b", "/etc", ".a", "_a", "A", "a b", "a.b", "a" * 65, "é", "a\n"]
)
def test_a_text_that_could_be_a_path_or_two_names_on_some_disk_names_no_corpus(name: str, tmp_path: Path) -> None:
    if name.strip() != name:
        assert named_corpora(name) == [name.strip()]
        return
    with pytest.raises(CorpusNameError, match="as the name of a corpus, allowed: 1 to 64 of the letters a to z"):
        named_corpora(f"good,{name}")


def test_folders_are_found_in_the_order_of_their_names_and_others_are_left_out_with_a_warning(tmp_path: Path) -> None:
    assert found_corpora(tmp_path / "absent") == []
    for name in ("talks", "a2", ".talks.building-x"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    assert found_corpora(tmp_path) == ["a2", "talks"]
    (tmp_path / "Talks 2").mkdir()
    with pytest.warns(CorpusNameWarning, match=r"'Talks 2' is left out; allowed: 1 to 64"):
        assert found_corpora(tmp_path) == ["a2", "talks"]


def test_raw_records_are_jsonl_and_json_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    month = tmp_path / "2025-01"
    with pytest.raises(RawRecordsMissingError, match="2025-01: is not there"):
        raw_files(month)
    month.mkdir()
    for name in ("notes.txt", "manifest.json", ".b.jsonl"):
        (month / name).write_text("{}")
    (month / "folder.jsonl").mkdir()
    with pytest.raises(RawRecordsError, match=r"holds no raw records; expected files that end in .jsonl or .json"):
        raw_files(month)
    (month / "manifest.json").unlink()
    for name in ("b.jsonl", "a.JSON", "c.json"):
        (month / name).write_text("{}")
    assert [path.name for path in raw_files(month)] == ["a.JSON", "b.jsonl", "c.json"]


def test_where_a_manifest_lies_beside_raw_records_they_are_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    write_manifest(tmp_path, {"files": describe_files(tmp_path)})
    assert [path.name for path in raw_files(tmp_path)] == ["a.jsonl"]
    (tmp_path / "a.jsonl").write_text('{"text": "b"}\n')
    with pytest.raises(ManifestError, match=r"a\.jsonl: has sha256"):
        raw_files(tmp_path)
