"""docs/records.md says what the config is: its keys, defaults and allowed values, and an example of each training."""

import json
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel
from toy_tokenizer import write_toy_tokenizer

from rukh_assets.records import Pipeline
from rukh_assets.records.chess import CONFIGS
from rukh_loaders import load_dataset
from rukh_loaders.records import PipelineConfig
from rukh_loaders.records.inputs import Section, Source

TYPES = ("seq", "sft", "dpo", "grpo")


@pytest.fixture(scope="module")
def page(project: Path) -> str:
    return (project / "docs" / "records.md").read_text("utf-8")


def fields(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Every key of a model and of the models that its keys are, by its dotted path."""
    found: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found |= fields(field.annotation, f"{prefix}{name}.")
        else:
            found[prefix + name] = field
    return found


KEYS = fields(PipelineConfig) | fields(Section, "section.") | fields(Source, "source.")


def rows(page: str) -> dict[str, tuple[str, str]]:
    """Key to the default, and to what is allowed, as the page has them."""
    table = re.findall(r"^\| `([a-z_.]+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    return {key: (default.strip("`"), allowed) for key, default, allowed in table}


def test_the_tables_have_every_key_of_the_config_with_its_default(page: str) -> None:
    defaults = {
        key: "required" if field.is_required() else json.dumps(field.get_default(call_default_factory=True))
        for key, field in KEYS.items()
    }
    assert {key: default for key, (default, _) in rows(page).items()} == defaults


def test_the_tables_have_every_value_that_a_key_allows(page: str) -> None:
    choices = {
        key: get_args(field.annotation) for key, field in KEYS.items() if get_origin(field.annotation) is Literal
    }
    assert len(choices) >= 9
    for key, values in choices.items():
        for value in values:
            assert re.search(rf"(^|`){re.escape(str(value))}(`|$)", rows(page)[key][1]), (key, value)


def examples(page: str) -> dict[str, tuple[Any, Any]]:
    """Of each training a record and its config."""
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    return dict(zip(TYPES, zip(blocks[::2], blocks[1::2], strict=True), strict=True))


@pytest.mark.parametrize("train_type", TYPES)
def test_the_example_of_each_training_makes_shards_and_reads_lines(page: str, tmp_path: Path, train_type: str) -> None:
    record, config = examples(page)[train_type]
    tokenizer = write_toy_tokenizer(tmp_path / "2025" / "tokenizer", special_tokens={"eos_token": "</s>"})
    lines = tmp_path / "2025" / "2025-01" / "part.jsonl"
    lines.parent.mkdir()
    lines.write_text(json.dumps(record) + "\n")
    (tmp_path / "2025" / "config.json").write_text(json.dumps(config))
    Pipeline(PipelineConfig.from_dict(config), [lines], tmp_path / "shards", tokenizer).run()
    of_lines, of_shards = (load_dataset(train_type, path)[0] for path in (lines, tmp_path / "shards"))
    assert of_lines.keys() == of_shards.keys()
    assert str(of_lines) == str(of_shards)


@pytest.mark.parametrize("train_type", TYPES)
def test_the_examples_are_the_configs_of_the_chess_corpora(page: str, train_type: str) -> None:
    _, config = examples(page)[train_type]
    assert PipelineConfig.from_dict(config) == PipelineConfig.from_dict(CONFIGS[f"chess_{train_type}"])
