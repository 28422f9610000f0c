"""The assets of record corpora: what a month leaves, when it is built again or skipped, and what its checks see."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pytest
from lakes import lake, run_month, tree, work_of
from record_configs import CHAT_SECTIONS, DPO, GRPO, PROMPT_RESPONSE, TEXT_SECTIONS, sections_config, sources_config
from record_lakes import MONTH, run_corpus, talks, write_corpus
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.definitions import defs
from rukh_assets.defs.records import CHESS_CORPORA, corpora, default_corpora
from rukh_assets.errors import SettingError
from rukh_loaders import load_dataset
from rukh_loaders.formats.corpus import open_corpus

CHAT = sections_config(CHAT_SECTIONS)
NAME = "records/talks/shards"
RESPONSES = {"prompt": [{"role": "user", "content": "a"}], "responses": ["b c", "", "d"], "rewards": [1.5, 0, -2]}
FORMS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "texts packed": (
        sections_config(TEXT_SECTIONS, packing_strategy="bfd", max_packed_len=6),
        [{"text": text} for text in ("a b c", "d e", "f", "g h i j")],
    ),
    "prompts split": (
        sections_config(PROMPT_RESPONSE, packing_strategy="bfd_split", max_packed_len=3),
        [{"p": "a b c d e f g", "r": "h"}, {"p": "a", "r": "b"}],
    ),
    "talks": (CHAT, talks(9)),
    "pairs": (sources_config(DPO), [{"chosen": t["messages"], "rejected": t["messages"]} for t in talks(4)]),
    "groups": (sources_config(GRPO), [RESPONSES, {**RESPONSES, "responses": ["e"], "rewards": 3}]),
}


def checks_of(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {item.check_name: item for item in result.get_asset_check_evaluations()}


def metadata_of(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    [event] = result.get_asset_materialization_events()
    return {name: value.value for name, value in event.materialization.metadata.items()}


@pytest.fixture
def talks_corpus(tmp_path: Path) -> Path:
    """The folder of the raw corpus `talks` in a lake at `tmp_path`."""
    return write_corpus(tmp_path, "talks", CHAT, {MONTH: [*talks(12), "not json", {"messages": "hello"}]})


def test_a_month_of_raw_records_becomes_shards_and_its_page_shows_what_became_of_them(
    talks_corpus: Path, tmp_path: Path
) -> None:
    result = run_corpus(tmp_path, "talks")
    assert {name: check.passed for name, check in checks_of(result).items()} == dict.fromkeys(
        ("keys_agree", "masks_train", "groups_agree", "files_are_whole"), True
    )
    shown = metadata_of(result)
    assert (shown["work"], shown["records read"], shown["records kept"], shown["rows"]) == ("built", 14, 12, 12)
    assert "| not_json | 1 |" in shown["skipped"]
    assert "| wrong_type | 1 |" in shown["skipped"]
    assert shown["lengths"].startswith("![tokens a document](data:image/svg+xml;base64,")
    assert shown["first record"] == (
        "    sequence:\n"
        '    - masked  "<s> <|im_start|> user a <|im_end|>"\n'
        '      TRAINED "<|im_start|> assistant a <|im_end|>"'
    )
    corpus = open_corpus(lake(tmp_path).corpus("talks", MONTH))
    corpus.verify()
    assert (len(corpus), corpus.manifest["n_tokens"]) == (12, shown["tokens"])


@pytest.mark.parametrize("form", FORMS)
def test_the_checks_pass_on_what_every_kind_of_config_makes(form: str, tmp_path: Path) -> None:
    config, records = FORMS[form]
    write_corpus(tmp_path, "talks", config, {MONTH: records})
    result = run_corpus(tmp_path, "talks")
    assert metadata_of(result)["records kept"] == len(records)
    assert [check.passed for check in checks_of(result).values()] == [True] * 4


def test_a_second_run_does_no_work_and_a_forced_one_gives_the_same_bytes(talks_corpus: Path, tmp_path: Path) -> None:
    run_corpus(tmp_path, "talks")
    folder = lake(tmp_path).corpus("talks", MONTH)
    inode, before = folder.stat().st_ino, tree(folder)
    assert work_of(run_corpus(tmp_path, "talks"))[NAME].startswith("unchanged: ")
    assert folder.stat().st_ino == inode
    assert work_of(run_corpus(tmp_path, "talks", force=True)) == {NAME: "built"}
    assert folder.stat().st_ino != inode
    assert tree(folder) == before


@pytest.mark.parametrize("changed", ["raw records", "config", "tokenizer", "a file more"])
def test_a_month_is_built_again_when_what_it_is_made_of_changed(
    changed: str, talks_corpus: Path, tmp_path: Path
) -> None:
    run_corpus(tmp_path, "talks")
    if changed == "raw records":
        (talks_corpus / MONTH / "part.jsonl").write_text(json.dumps(talks(1)[0]))
    elif changed == "config":
        sections_config(CHAT_SECTIONS, trained_part="content").to_file(talks_corpus / "config.json")
    elif changed == "tokenizer":
        write_toy_tokenizer(talks_corpus / "tokenizer", special_tokens={"eos_token": "</s>"})
    else:
        (talks_corpus / MONTH / "more.json").write_text(json.dumps(talks(3)))
    assert work_of(run_corpus(tmp_path, "talks")) == {NAME: "built"}
    assert work_of(run_corpus(tmp_path, "talks"))[NAME].startswith("unchanged: ")


def test_a_month_without_raw_records_is_skipped_with_an_observation(talks_corpus: Path, tmp_path: Path) -> None:
    result = run_corpus(tmp_path, "talks", "2024-12")
    assert result.success
    assert not result.get_asset_materialization_events()
    assert not checks_of(result)
    [observed] = [event for event in result.all_events if event.event_type_value == "ASSET_OBSERVATION"]
    assert "2024-12: is not there, so the month has no raw records yet" in str(observed.event_specific_data)
    assert not lake(tmp_path).corpus("talks", "2024-12").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda corpus: (corpus / MONTH / "part.jsonl").unlink(), "holds no raw records; expected files that end in"),
        (lambda corpus: (corpus / MONTH / "part.jsonl").write_text("[]\n"), "all of 1 records were skipped: 1 not_an"),
        (lambda corpus: (corpus / MONTH / "manifest.json").write_text("{}"), "expected an object of name to bytes"),
        (lambda corpus: (corpus / "config.json").unlink(), "config.json: cannot be read: No such file"),
        (lambda corpus: (corpus / "config.json").write_text('{"mask": 1}'), "config.json: mask: got 1, allowed:"),
        (lambda corpus: (corpus / "tokenizer" / "tokenizer.json").unlink(), "tokenizer.json: is missing"),
    ],
)
def test_raw_records_that_cannot_be_used_fail_the_month_and_the_old_shards_stay(
    spoil: Any, said: str, talks_corpus: Path, tmp_path: Path
) -> None:
    run_corpus(tmp_path, "talks")
    before = tree(lake(tmp_path).corpus("talks", MONTH))
    spoil(talks_corpus)
    result = run_corpus(tmp_path, "talks", check=False)
    assert not result.success
    assert said in str(result.failure_data_for_node("records__talks__shards"))
    assert tree(lake(tmp_path).corpus("talks", MONTH)) == before


@pytest.mark.parametrize(
    ("key", "check", "said"),
    [
        ("sequence", "files_are_whole", "sequence.bin: has sha256"),
        ("loss_mask", "masks_train", "loss_mask has no trained token in document 0 of 12"),
    ],
)
def test_shards_damaged_behind_the_manifest_fail_a_check(
    key: str, check: str, said: str, talks_corpus: Path, tmp_path: Path
) -> None:
    run_corpus(tmp_path, "talks")
    file = lake(tmp_path).corpus("talks", MONTH) / "__default__" / "shard_0000" / f"{key}.bin"
    file.write_bytes(bytes(file.stat().st_size))
    result = run_corpus(tmp_path, "talks", check=False)
    found = checks_of(result)
    assert not result.success
    assert not found[check].passed
    assert said in (found[check].description or "")
    assert run_corpus(tmp_path, "talks", force=True).success


def test_the_records_job_runs_from_games_to_the_shards_of_every_corpus_and_the_month_job_without_them() -> None:
    graph = defs.resolve_asset_graph()
    for corpus, raw in CHESS_CORPORA.items():
        key = dg.AssetKey(["records", corpus, "shards"])
        assert graph.get(key).parent_keys == {raw}
        assert dg.AssetKey("games") in graph.get_ancestor_asset_keys(raw)
    records = {key for key in graph.executable_asset_keys if key.path[0] == "records"}
    jobs = {name: defs.resolve_job_def(name).asset_layer.executable_asset_keys for name in ("records", "month")}
    assert jobs["records"] == records | {dg.AssetKey("games")}
    assert jobs["month"] == graph.executable_asset_keys - records
    assert {f"records/{corpus}/shards" for corpus in corpora} <= {key.to_user_string() for key in records}


def test_the_corpora_are_those_of_games_and_those_found_in_the_lake(talks_corpus: Path, tmp_path: Path) -> None:
    for name in (".hidden", "Bad Name", "web", "chess_sft"):
        (talks_corpus.parent / name).mkdir()
    code = "import json; from rukh_assets.definitions import defs; from rukh_assets.defs.records import corpora as c\n"
    code += "defs.resolve_asset_graph(); print(json.dumps(c))"
    environment = {name: value for name, value in os.environ.items() if name != "RUKH_CORPORA"}
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"RUKH_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == [*CHESS_CORPORA, "talks", "web"]
    assert "'Bad Name' is left out; allowed: 1 to 64" in found.stderr


def test_a_setting_names_the_corpora_instead_and_what_is_no_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUKH_CORPORA", "later, talks, chess_sft")
    assert default_corpora() == [*CHESS_CORPORA, "later", "talks"]
    for text in ("../x", "a/b", "A", "a b"):
        monkeypatch.setenv("RUKH_CORPORA", text)
        with pytest.raises(SettingError, match=f"RUKH_CORPORA is {text!r}, expected names with commas between"):
            default_corpora()


def test_lengths_and_the_first_record_are_those_of_the_shards(tmp_path: Path) -> None:
    config, records = FORMS["groups"]
    write_corpus(tmp_path, "talks", config, {MONTH: records})
    shown = metadata_of(run_corpus(tmp_path, "talks"))
    corpus = open_corpus(lake(tmp_path).corpus("talks", MONTH))
    prompts = np.concatenate([np.diff(reader.tensor("prompts").offsets) for reader in corpus.readers])
    assert shown["tokens a document"] == round(float(prompts.mean()), 2)
    assert shown["first record"].splitlines() == [
        "    prompts:",
        '    - masked  "<s> <|im_start|> user a <|im_end|>"',
        "    responses:",
        '    - TRAINED "b c"',
        "    - empty",
        '    - TRAINED "d"',
        "    rewards: 1.5, 0, -2",
    ]


def test_one_job_makes_sample_games_records_of_all_four_types_and_their_shards(tmp_path: Path) -> None:
    first = run_month(MONTH, tmp_path, job="records")
    assert first.success
    assert work_of(first) == dict.fromkeys(
        [
            "games",
            *(key.to_user_string() for key in CHESS_CORPORA.values()),
            *(f"records/{c}/shards" for c in CHESS_CORPORA),
        ],
        "built",
    )
    evaluations = first.get_asset_check_evaluations()
    assert len(evaluations) == 2 + 4 * len(CHESS_CORPORA)
    assert all(evaluation.passed for evaluation in evaluations)
    for corpus in CHESS_CORPORA:
        folder = lake(tmp_path).corpus(corpus, MONTH)
        kind = corpus.removeprefix("chess_")
        assert open_corpus(folder).manifest["counts"]["kept"] > 0
        assert len(load_dataset(kind, folder, window_size=32 if kind == "seq" else 0)) > 0
    again = run_month(MONTH, tmp_path, job="records")
    assert all(work.startswith("unchanged: ") for work in work_of(again).values())
