"""Configs: the defaults and JSON of the format, and mistakes named at load by the path of their key."""

import json
from pathlib import Path
from typing import Any

import pytest
from record_configs import DPO, GRPO, PROMPT_RESPONSE, TEXT_SECTIONS

from rukh_loaders.errors import RecordConfigError
from rukh_loaders.records import IgnoredSectionsWarning, PipelineConfig

DEFAULTS: dict[str, Any] = {
    "version": 1,
    "input": {"sections": None, "sources": None},
    "mask": {},
    "mask_default": "mask",
    "preprocessing": {
        "max_seq_len": 2048,
        "min_chars": 50,
        "max_chars": 2_000_000,
        "max_items": None,
        "batch_size": 256,
        "packing_strategy": "simple",
        "max_packed_len": 8192,
        "truncation_mode": "keep_start",
    },
    "output": {
        "domain_key": None,
        "storage_format": "bin",
        "max_tokens_per_shard": 100_000_000,
        "dtype": {},
        "position_ids_mode": "doc_reset",
    },
}

EXAMPLE: dict[str, Any] = {
    "version": 1,
    "input": {"sections": [{"field": "messages", "action": "$role", "template": True}], "sources": None},
    "mask": {"system": "mask", "user": "mask", "assistant": "train"},
    "mask_default": "mask",
    "preprocessing": {**DEFAULTS["preprocessing"], "packing_strategy": "bfd"},
    "output": {**DEFAULTS["output"], "domain_key": "source", "dtype": {"loss_mask": "bool"}},
}


def changed(path: str, value: object) -> dict[str, Any]:
    """A config of one text section with the value at the dotted path."""
    config: dict[str, Any] = {"input": {"sections": TEXT_SECTIONS}}
    *parents, last = path.split(".")
    place = config
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = value
    return config


def test_a01_the_defaults_are_those_of_the_format() -> None:
    assert PipelineConfig().to_dict() == DEFAULTS
    assert PipelineConfig.from_dict({}) == PipelineConfig()


@pytest.mark.parametrize(
    "written",
    [
        DEFAULTS,
        EXAMPLE,
        {**DEFAULTS, "input": {"sections": None, "sources": GRPO}},
        {**DEFAULTS, "input": {"sections": None, "sources": DPO}},
        {**DEFAULTS, "input": {"sections": [{**TEXT_SECTIONS[0], "template": False}], "sources": None}},
    ],
)
def test_a01_a_dict_comes_back_as_it_was(written: dict[str, Any]) -> None:
    assert PipelineConfig.from_dict(written).to_dict() == written


def test_a01_options_of_our_own_are_written_only_where_they_are_set() -> None:
    options = {"append_eos": True, "trained_part": "content", "strict": True}
    config = PipelineConfig.from_dict({"preprocessing": options})
    assert config.to_dict()["preprocessing"] == {**DEFAULTS["preprocessing"], **options}


def test_a_file_comes_back_as_it_was_with_its_letters_kept(tmp_path: Path) -> None:
    config = PipelineConfig.from_dict({**EXAMPLE, "mask": {"élève": "train"}})
    config.to_file(tmp_path / "config.json")
    assert PipelineConfig.from_file(tmp_path / "config.json") == config
    text = (tmp_path / "config.json").read_text("utf-8")
    assert "élève" in text
    assert text.startswith('{\n  "version": 1,\n')


@pytest.mark.parametrize(
    ("path", "value", "allowed"),
    [
        ("preprocessing.packing_strategy", "x", "'simple', 'bfd' or 'bfd_split'"),
        ("preprocessing.truncation_mode", "x", "'keep_start' or 'keep_end'"),
        ("preprocessing.max_seq_len", 0, "greater than 0"),
        ("preprocessing.max_seq_len", 12.5, "a valid integer"),
        ("preprocessing.max_seq_len", "12", "a valid integer"),
        ("preprocessing.max_seq_len", True, "a valid integer"),
        ("preprocessing.min_chars", -1, "greater than or equal to 0"),
        ("preprocessing.max_chars", -1, "greater than or equal to 0"),
        ("preprocessing.max_items", 0, "greater than 0"),
        ("preprocessing.batch_size", 0, "greater than 0"),
        ("preprocessing.max_packed_len", 0, "greater than 0"),
        ("preprocessing.trained_part", "x", "'turn' or 'content'"),
        ("preprocessing.foo", 1, "max_seq_len, min_chars"),
        ("output.storage_format", "h5", "'bin'"),
        ("output.storage_format", "jsonl", "'bin'"),
        ("output.position_ids_mode", "x", "'none', 'doc_reset' or 'continuous'"),
        ("output.max_tokens_per_shard", 0, "greater than 0"),
        ("output.dtype.sequence", "int128", "'int32'"),
        ("mask.user", "trian", "'train' or 'mask'"),
        ("mask_default", "trian", "'train' or 'mask'"),
        ("version", 99, "1"),
        ("foo", 1, "version, input, mask"),
    ],
)
def test_a02_a_wrong_value_is_refused_by_its_path_with_what_is_allowed(path: str, value: object, allowed: str) -> None:
    with pytest.raises(RecordConfigError) as caught:
        PipelineConfig.from_dict(changed(path, value))
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert repr(value) in text
    assert allowed in text


@pytest.mark.parametrize(
    ("sections", "text"),
    [
        ([{"action": "train"}], "input.sections.0.field: missing"),
        ([{"field": "text"}], "input.sections.0.action: missing"),
        ([{"field": "text", "action": "trian"}], "input.sections.0.action: got 'trian'"),
        ([{"field": "text", "action": "train", "tempalte": True}], "input.sections.0.tempalte: got True"),
        ([{"field": "text", "action": "$role"}], "input.sections.0: action '$role' needs template: true"),
        ([{"field": "text", "action": "value"}], "input.sections.0: action 'value' is for the only section"),
        ([], "input.sections: got []"),
    ],
)
def test_a02_a_section_that_could_never_be_built_is_refused_at_load(sections: list[Any], text: str) -> None:
    with pytest.raises(RecordConfigError, match="^" + "input.sections") as caught:
        PipelineConfig.from_dict({"input": {"sections": sections}})
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    ("sources", "text"),
    [
        (
            {"r": {"sections": [{"field": "r", "action": "value"}, {"field": "s", "action": "train"}]}},
            "input.sources.r: action 'value' is for the only section",
        ),
        (
            {"r": {"sections": [{"field": "r", "action": "value", "template": True}]}},
            "input.sources.r.sections.0: action 'value' reads numbers",
        ),
        ({"r": {"sections": []}}, "input.sources.r.sections: got []"),
        ({"../r": {"sections": TEXT_SECTIONS}}, "input.sources.../r: is no name of a key"),
        ({"r": {"sections": TEXT_SECTIONS, "mask_key": "a b"}}, "input.sources.r.mask_key: got 'a b'"),
        (
            {"r": {"sections": TEXT_SECTIONS}, "s": {"sections": TEXT_SECTIONS, "mask_key": "r_mask"}},
            "input.sources: two arrays would be named 'r_mask'",
        ),
        ({"position_ids": {"sections": TEXT_SECTIONS}}, "input.sources: two arrays would be named 'position_ids'"),
    ],
)
def test_a02_sources_that_do_not_fit_together_are_refused_at_load(sources: dict[str, Any], text: str) -> None:
    with pytest.raises(RecordConfigError) as caught:
        PipelineConfig.from_dict({"input": {"sources": sources}})
    assert str(caught.value).startswith(text)


def test_b22_a_dtype_for_a_key_that_the_config_does_not_make_is_refused() -> None:
    with pytest.raises(RecordConfigError, match=r"^output\.dtype\.loss_maks: .*sequence, loss_mask, position_ids"):
        PipelineConfig.from_dict(changed("output.dtype.loss_maks", "bool"))


def test_limits_of_length_that_no_text_can_meet_are_refused() -> None:
    with pytest.raises(RecordConfigError, match=r"^preprocessing: min_chars is 50, above max_chars, 40"):
        PipelineConfig.from_dict(changed("preprocessing.max_chars", 40))


def test_every_mistake_of_a_config_is_named_at_once() -> None:
    with pytest.raises(RecordConfigError) as caught:
        PipelineConfig.from_dict({"mask_default": "x", "preprocessing": {"foo": 1, "batch_size": 0}})
    assert [line.split(":")[0] for line in str(caught.value).split("; ")] == [
        "mask_default",
        "preprocessing.batch_size",
        "preprocessing.foo",
    ]


def test_sources_win_over_sections_and_say_so() -> None:
    with pytest.warns(IgnoredSectionsWarning, match=r"input\.sections is ignored, since input\.sources is given"):
        config = PipelineConfig.from_dict({"input": {"sections": TEXT_SECTIONS, "sources": DPO}})
    assert [output.name for output in config.outputs()] == ["chosen", "rejected"]


def test_no_sources_at_all_leave_the_sections_in_force() -> None:
    config = PipelineConfig.from_dict({"input": {"sections": TEXT_SECTIONS, "sources": {}}})
    assert [(output.name, output.mask_name) for output in config.outputs()] == [("sequence", "loss_mask")]


def test_a_config_without_input_has_nothing_to_build() -> None:
    with pytest.raises(RecordConfigError, match="neither sections nor sources"):
        PipelineConfig().outputs()


def test_the_outputs_name_their_masks_and_say_what_can_be_trained() -> None:
    config = PipelineConfig.from_dict({"input": {"sources": GRPO}})
    grpo = config.outputs()
    assert [(output.name, output.mask_name, output.kind.value) for output in grpo] == [
        ("prompts", "prompts_mask", "sequence"),
        ("responses", "masks", "group"),
        ("rewards", None, "values"),
    ]
    assert [config.can_train(output) for output in grpo] == [False, True, False]
    text, mixed = (
        PipelineConfig.from_dict({"input": {"sections": s}}).outputs()[0] for s in (TEXT_SECTIONS, PROMPT_RESPONSE)
    )
    assert (text.always_trains, mixed.always_trains) == (True, False)


def test_the_fingerprint_tells_meanings_apart_and_not_spellings() -> None:
    plain = PipelineConfig.from_dict({"input": {"sections": TEXT_SECTIONS}})
    spelt = PipelineConfig.from_dict({"input": {"sections": [{**TEXT_SECTIONS[0], "template": False}]}, "version": 1})
    other = PipelineConfig.from_dict(changed("preprocessing.append_eos", True))
    assert plain.fingerprint == spelt.fingerprint
    assert plain.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"{", "is not JSON"), (b"[]", "got a JSON list"), (b"\xff", "is not JSON"), (b'{"foo": 1}', "foo: got 1")],
)
def test_a_file_that_is_no_config_is_named(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(RecordConfigError) as caught:
        PipelineConfig.from_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert text in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordConfigError, match=r"nothing\.json: cannot be read"):
        PipelineConfig.from_file(tmp_path / "nothing.json")


def test_a_config_is_json_all_through() -> None:
    assert json.loads(json.dumps(PipelineConfig.from_dict(EXAMPLE).to_dict())) == EXAMPLE
