"""One record to ids and masks, in the numbers of the format's cases."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_configs import (
    CHAT_SECTIONS,
    DPO,
    GRPO,
    PROMPT_RESPONSE,
    TALK,
    TEXT_SECTIONS,
    message,
    sections_config,
    sources_config,
)
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from rukh_loaders.errors import RecordConfigError, RecordTokenizerError
from rukh_loaders.records import (
    Built,
    PipelineConfig,
    RecordTokenizer,
    Skipped,
    SkipReason,
    build_record,
    build_records,
    safe_domain,
)

TALK_IDS = [1, 4, 6, 27, 5, 4, 7, 9, 10, 5, 4, 8, 11, 12, 5]
TALK_MASK = [0] * 10 + [1] * 5
GRPO_RECORD = {"prompt": [message("user", "a")], "responses": ["b", "c d"], "rewards": [1.0, 0.3]}
DPO_RECORD = {
    "chosen": [message("user", "a"), message("assistant", "b")],
    "rejected": [message("user", "a"), message("assistant", "c d")],
}


def built(record: object, config: PipelineConfig, tokenizer: RecordTokenizer) -> Built:
    outcome = build_record(record, config, tokenizer)
    assert isinstance(outcome, Built), outcome
    return outcome


def sequence(record: object, config: PipelineConfig, tokenizer: RecordTokenizer) -> tuple[Any, Any]:
    keys = built(record, config, tokenizer).keys
    assert list(keys) == ["sequence", "loss_mask"]
    return keys["sequence"], keys["loss_mask"]


def reason(record: object, config: PipelineConfig, tokenizer: RecordTokenizer) -> SkipReason:
    outcome = build_record(record, config, tokenizer)
    assert isinstance(outcome, Skipped), outcome
    return outcome.reason


def test_a03_text_is_trained_whole(t1: RecordTokenizer) -> None:
    records = [{"text": text} for text in ("a b c", "d e", "f g h i")]
    outcomes = build_records(records, sections_config(TEXT_SECTIONS), t1)
    assert [outcome.keys for outcome in outcomes if isinstance(outcome, Built)] == [
        {"sequence": [9, 10, 11], "loss_mask": [1, 1, 1]},
        {"sequence": [12, 13], "loss_mask": [1, 1]},
        {"sequence": [14, 15, 16, 17], "loss_mask": [1, 1, 1, 1]},
    ]


def test_a04_a_chat_trains_the_assistant(t1: RecordTokenizer, t3: RecordTokenizer) -> None:
    config = sections_config(CHAT_SECTIONS)
    assert sequence({"messages": TALK}, config, t1) == (TALK_IDS, TALK_MASK)
    assert sequence({"messages": TALK}, config, t3) == (TALK_IDS[1:], TALK_MASK[1:])


def test_a04_roles_without_an_action_take_the_default(t1: RecordTokenizer, t3: RecordTokenizer) -> None:
    config = PipelineConfig.from_dict({"input": {"sections": CHAT_SECTIONS}, "mask_default": "train"})
    assert sequence({"messages": TALK}, config, t1) == (TALK_IDS, [0] + [1] * 14)
    assert sequence({"messages": TALK}, config, t3) == (TALK_IDS[1:], [1] * 14)


def test_a05_a_cut_before_the_answer_is_flagged_as_nothing_to_train(t1: RecordTokenizer) -> None:
    outcome = built({"messages": TALK}, sections_config(CHAT_SECTIONS, max_seq_len=10), t1)
    assert outcome.keys == {"sequence": TALK_IDS[:10], "loss_mask": [0] * 10}
    assert outcome.untrained == ("sequence",)
    assert outcome.truncated == 1
    whole = built({"messages": TALK}, sections_config(CHAT_SECTIONS), t1)
    assert (whole.untrained, whole.truncated) == ((), 0)


def test_a05_a_bos_alone_is_dropped(t1: RecordTokenizer) -> None:
    assert reason({"messages": TALK}, sections_config(CHAT_SECTIONS, max_seq_len=1), t1) is SkipReason.EMPTY


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"messages": []}, SkipReason.MISSING),
        ({}, SkipReason.MISSING),
        ({"messages": None}, SkipReason.MISSING),
        ({"messages": "a b"}, SkipReason.WRONG_TYPE),
        ({"messages": ["a b"]}, SkipReason.WRONG_TYPE),
        ({"messages": [{"role": 1, "content": "a"}]}, SkipReason.WRONG_TYPE),
        ([1, 2], SkipReason.NOT_AN_OBJECT),
    ],
)
def test_a05_what_is_no_conversation_is_dropped(record: object, why: SkipReason, t1: RecordTokenizer) -> None:
    assert reason(record, sections_config(CHAT_SECTIONS), t1) is why


def test_b26_keep_end_keeps_the_end_of_what_is_built_too(t1: RecordTokenizer) -> None:
    config = sections_config(CHAT_SECTIONS, max_seq_len=5, truncation_mode="keep_end")
    assert sequence({"messages": TALK}, config, t1) == ([4, 8, 11, 12, 5], [1] * 5)


def test_a06_the_first_section_that_contributes_takes_the_special_tokens(t2: RecordTokenizer) -> None:
    config = sections_config(PROMPT_RESPONSE)
    assert sequence({"p": "a b", "r": "c"}, config, t2) == ([1, 9, 10, 11], [0, 0, 0, 1])
    assert sequence({"p": "", "r": "c"}, config, t2) == ([1, 11], [1, 1])


def test_a06_special_tokens_are_put_where_a_section_asks(t2: RecordTokenizer) -> None:
    config = sections_config([{**section, "add_special_tokens": True} for section in PROMPT_RESPONSE])
    assert sequence({"p": "a", "r": "b"}, config, t2) == ([1, 9, 1, 10], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"min_chars": 3}, True),
        ({"min_chars": 4}, False),
        ({"max_chars": 3}, True),
        ({"max_chars": 2}, False),
    ],
)
def test_a07_the_limits_of_length_are_inclusive(limits: dict[str, int], kept: bool, t1: RecordTokenizer) -> None:
    outcome = build_record({"text": "a b"}, sections_config(TEXT_SECTIONS, **limits), t1)
    assert outcome.domain == "__default__" if isinstance(outcome, Built) else outcome.reason is SkipReason.LENGTH
    assert isinstance(outcome, Built) is kept


def test_a07_prompts_and_responses_are_not_measured(t1: RecordTokenizer) -> None:
    config = sections_config(PROMPT_RESPONSE, min_chars=50)
    assert sequence({"p": "a", "r": "b"}, config, t1) == ([9, 10], [0, 1])


def test_a07_a_section_of_the_wrong_length_is_left_out_not_the_record(t1: RecordTokenizer) -> None:
    sections = [{"field": "p", "action": "train"}, {"field": "r", "action": "train"}]
    assert sequence({"p": "a", "r": "b c"}, sections_config(sections, min_chars=3), t1) == ([10, 11], [1, 1])


def test_a08_both_sides_of_a_preference(t1: RecordTokenizer) -> None:
    assert built(DPO_RECORD, sources_config(DPO), t1).keys == {
        "chosen": [1, 4, 7, 9, 5, 4, 8, 10, 5],
        "chosen_mask": [0, 0, 0, 0, 0, 1, 1, 1, 1],
        "rejected": [1, 4, 7, 9, 5, 4, 8, 11, 12, 5],
        "rejected_mask": [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
    }


def test_a08_a_preference_of_one_side_is_dropped_alone_and_in_a_batch(t1: RecordTokenizer) -> None:
    half = {"chosen": DPO_RECORD["chosen"]}
    config = sources_config(DPO)
    assert reason(half, config, t1) is SkipReason.MISSING
    first, second, third = build_records([DPO_RECORD, half, DPO_RECORD], config, t1)
    assert isinstance(second, Skipped)
    assert first == third == build_record(DPO_RECORD, config, t1)


def test_a09_a_group_of_responses_with_its_rewards(t1: RecordTokenizer) -> None:
    assert built(GRPO_RECORD, sources_config(GRPO), t1).keys == {
        "prompts": [1, 4, 7, 9, 5],
        "prompts_mask": [0, 0, 0, 0, 0],
        "responses": [[10], [11, 12]],
        "masks": [[1], [1, 1]],
        "rewards": [1.0, 0.3],
    }


def test_a09_prompt_and_each_response_are_cut(t1: RecordTokenizer) -> None:
    record = {**GRPO_RECORD, "responses": ["b c d e", "f"]}
    outcome = built(record, sources_config(GRPO, max_seq_len=3), t1)
    assert outcome.keys["responses"] == [[10, 11, 12], [14]]
    assert outcome.keys["prompts"] == [1, 4, 7]
    assert outcome.truncated == 2


def test_a09_one_reward_for_all(t1: RecordTokenizer) -> None:
    assert built({**GRPO_RECORD, "rewards": 0.9}, sources_config(GRPO), t1).keys["rewards"] == [0.9]


@pytest.mark.parametrize(
    ("rewards", "why"),
    [
        (None, SkipReason.MISSING),
        ([], SkipReason.MISSING),
        ("0.9", SkipReason.WRONG_TYPE),
        ([1.0, None], SkipReason.WRONG_TYPE),
        ([1.0, float("nan")], SkipReason.WRONG_TYPE),
        (10**400, SkipReason.WRONG_TYPE),
        ([1.0, 0.3, 0.2], SkipReason.GROUP_LENGTHS),
    ],
)
def test_a09_rewards_that_are_missing_or_do_not_fit_drop_the_record(
    rewards: object, why: SkipReason, t1: RecordTokenizer
) -> None:
    assert reason({**GRPO_RECORD, "rewards": rewards}, sources_config(GRPO), t1) is why


def test_a09_responses_get_no_special_tokens_unless_asked(t2: RecordTokenizer) -> None:
    config = sources_config(GRPO)
    outcomes = [build_record(GRPO_RECORD, config, t2), *build_records([GRPO_RECORD] * 2, config, t2)]
    assert [outcome.keys["responses"] for outcome in outcomes if isinstance(outcome, Built)] == [[[10], [11, 12]]] * 3
    asked = {"sections": [{"field": "responses", "action": "train", "add_special_tokens": True}], "list_field": True}
    assert built(GRPO_RECORD, sources_config({"responses": asked}), t2).keys == {
        "responses": [[1, 10], [1, 11, 12]],
        "responses_mask": [[1, 1], [1, 1, 1]],
    }


def test_b01_b02_a_record_trained_whole_has_a_mask_of_ones_among_those_that_are_not(t1: RecordTokenizer) -> None:
    records = [{"p": "", "r": "c d"}, {"p": "a", "r": "b"}]
    config = sections_config(PROMPT_RESPONSE)
    assert [sequence(record, config, t1)[1] for record in records] == [[1, 1], [0, 1]]


def test_b19_groups_and_sides_that_train_nothing_are_flagged_by_name(t1: RecordTokenizer) -> None:
    record = {**DPO_RECORD, "rejected": [message("user", "a")]}
    assert built(record, sources_config(DPO), t1).untrained == ("rejected",)
    masked = sections_config([{"field": "text", "action": "mask"}])
    assert built({"text": "a b"}, masked, t1).untrained == ()


def test_b20_an_empty_response_keeps_its_place(t1: RecordTokenizer) -> None:
    record = {**GRPO_RECORD, "responses": ["b", "", "c"], "rewards": [1, 0, 0.5]}
    keys = built(record, sources_config(GRPO), t1).keys
    assert keys["responses"] == [[10], [], [11]]
    assert keys["masks"] == [[1], [], [1]]
    assert keys["rewards"] == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    ("responses", "why"),
    [
        ("b c", SkipReason.WRONG_TYPE),
        (["b", ["c"]], SkipReason.WRONG_TYPE),
        ([], SkipReason.MISSING),
        (["", " "], SkipReason.EMPTY),
    ],
)
def test_b20_responses_that_are_no_list_of_texts_drop_the_record(
    responses: object, why: SkipReason, t1: RecordTokenizer
) -> None:
    assert reason({**GRPO_RECORD, "responses": responses}, sources_config(GRPO), t1) is why


def test_list_elements_may_be_conversations_without_a_bos(t1: RecordTokenizer) -> None:
    source = {"sections": [{"field": "talks", "action": "$role", "template": True}], "list_field": True}
    record = {"talks": [[message("user", "a")], [message("assistant", "b")]]}
    assert built(record, sources_config({"talks": source}), t1).keys == {
        "talks": [[4, 7, 9, 5], [4, 8, 10, 5]],
        "talks_mask": [[0, 0, 0, 0], [1, 1, 1, 1]],
    }


def test_several_sections_of_a_list_field_append_elements(t1: RecordTokenizer) -> None:
    source = {"sections": [{"field": f, "action": "train"} for f in ("x", "y")], "list_field": True}
    assert built({"x": ["a"], "y": ["b c", "d"]}, sources_config({"r": source}), t1).keys["r"] == [[9], [10, 11], [12]]


def test_b23_null_is_absent_and_not_the_word_none(t1: RecordTokenizer) -> None:
    config = sections_config(PROMPT_RESPONSE)
    assert sequence({"p": None, "r": "b"}, config, t1) == ([10], [1])
    assert reason({"p": None, "r": None}, config, t1) is SkipReason.MISSING
    talk = {"messages": [message("user", "a"), {"role": "assistant", "content": None}]}
    assert sequence(talk, sections_config(CHAT_SECTIONS), t1)[0] == [1, 4, 7, 9, 5, 4, 8, 5]


@pytest.mark.parametrize("content", [["p"], {"p": "q"}, [{"type": "text", "text": "p"}], True])
def test_a_content_that_is_no_text_was_trained_as_python_writes_it(content: Any, t1: RecordTokenizer) -> None:
    talk = {"messages": [message("user", "a"), {"role": "assistant", "content": content}]}
    for part in ("turn", "content"):
        assert reason(talk, sections_config(CHAT_SECTIONS, trained_part=part), t1) is SkipReason.WRONG_TYPE


def test_parts_that_the_template_reads_are_texts_and_numbers_are_written_out(toy: Any) -> None:
    template = (
        "{% for m in messages %}{{ m.role }} {% if m.content is string %}{{ m.content }}"
        "{% else %}{% for part in m.content %}{{ part.text }} {% endfor %}{% endif %} {% endfor %}"
    )
    content = [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    talk = {"messages": [message("user", "a"), {"role": "assistant", "content": content}]}
    assert sequence(talk, sections_config(CHAT_SECTIONS), toy(template=template))[0] == [1, 7, 9, 8, 10, 11]
    numbers = {"messages": [{"role": "assistant", "content": 7}]}
    assert sequence(numbers, sections_config(CHAT_SECTIONS), toy())[0] == [1, 4, 8, 0, 5]


def test_one_long_conversation_took_memory_without_a_limit(t1: RecordTokenizer) -> None:
    talk = {"messages": [message("user", "a " * 100), message("assistant", "b")]}
    rendered = len(t1.render(talk["messages"]))
    for more, less in (("max_record_chars", "max_chars"), ("max_chars", "max_record_chars")):
        cut: dict[str, Any] = {less: 1, "max_seq_len": 3, "truncation_mode": "keep_end"}
        skipped = sections_config(CHAT_SECTIONS, **cut, **{more: rendered - 1})
        assert reason(talk, skipped, t1) is SkipReason.LENGTH
        assert sequence(talk, sections_config(CHAT_SECTIONS, **cut, **{more: rendered}), t1) == ([8, 10, 5], [1, 1, 1])


def test_numbers_are_text_and_lists_and_objects_are_not(toy: Any) -> None:
    config = sections_config(TEXT_SECTIONS)
    assert sequence({"text": 7}, config, toy()) == ([0], [1])
    assert reason({"text": {"a": "b"}}, config, toy()) is SkipReason.WRONG_TYPE
    assert reason({"text": ["a", "b"]}, config, toy()) is SkipReason.WRONG_TYPE


def test_half_a_surrogate_pair_drops_its_record_alone(t1: RecordTokenizer) -> None:
    outcomes = build_records([{"text": "a"}, {"text": "\ud800"}, {"text": "b"}], sections_config(TEXT_SECTIONS), t1)
    assert [type(outcome) for outcome in outcomes] == [Built, Skipped, Built]
    assert isinstance(outcomes[1], Skipped)
    assert outcomes[1].reason is SkipReason.BAD_TEXT


def test_a_text_that_the_tokenizer_cannot_encode_drops_its_record_alone(tmp_path: Path) -> None:
    Tokenizer(WordLevel({"a": 0}, unk_token="<unk>")).save(str(tmp_path / "tokenizer.json"))
    tokenizer = RecordTokenizer.from_folder(tmp_path)
    records = [{"text": text} for text in ("a", "b", "a", "a", "c")]
    outcomes = build_records(records, sections_config(TEXT_SECTIONS), tokenizer)
    assert [type(outcome) for outcome in outcomes] == [Built, Skipped, Built, Built, Skipped]
    assert isinstance(outcomes[1], Skipped)
    assert outcomes[1].reason is SkipReason.BAD_TEXT
    assert outcomes[1].detail.startswith("the tokenizer cannot encode it: ")


def test_b28_an_end_is_appended_to_what_ends_trained_where_asked(toy: Any) -> None:
    tokenizer = toy("T1", special_tokens={"eos_token": "</s>"})
    text = sections_config(TEXT_SECTIONS, append_eos=True)
    assert sequence({"text": "a b"}, text, tokenizer) == ([9, 10, 2], [1, 1, 1])
    assert sequence({"text": "a b </s>"}, text, tokenizer) == ([9, 10, 2], [1, 1, 1])
    cut = sections_config(TEXT_SECTIONS, append_eos=True, max_seq_len=2)
    assert sequence({"text": "a b"}, cut, tokenizer) == ([9, 10], [1, 1])
    keys = built(GRPO_RECORD, sources_config(GRPO, append_eos=True), tokenizer).keys
    assert (keys["prompts"], keys["responses"]) == ([1, 4, 7, 9, 5], [[10, 2], [11, 12, 2]])


def test_b28_an_end_that_the_tokenizer_does_not_name_is_refused_before_the_first_record(t1: RecordTokenizer) -> None:
    with pytest.raises(RecordTokenizerError, match="append_eos"):
        build_records([], sections_config(TEXT_SECTIONS, append_eos=True), t1)


def test_a_config_without_input_is_refused_before_the_first_record(t1: RecordTokenizer) -> None:
    with pytest.raises(RecordConfigError, match="neither sections nor sources"):
        build_records([], PipelineConfig(), t1)


@pytest.mark.parametrize("domain", ["wiki", "A-b_9", "__default__"])
def test_b25_a_plain_domain_names_its_folder(domain: str) -> None:
    assert safe_domain(domain) == domain


@pytest.mark.parametrize(
    "domain", ["../esc", "", ".", "..", ".hidden", "a/b", "a\\b", "C:", "manifest.json", "x" * 300]
)
def test_b25_any_other_domain_is_made_one_and_keeps_apart_from_the_rest(domain: str) -> None:
    assert safe_domain(domain) not in {safe_domain(other) for other in ("a_b", "esc", "x" * 299, "a.b", "__default__")}
    assert 0 < len(safe_domain(domain)) <= 64


@given(st.text())
def test_b25_no_domain_leaves_its_folder(domain: str) -> None:
    name = safe_domain(domain)
    assert 0 < len(name) <= 64
    assert name.isascii()
    assert name.replace("_", "").replace("-", "").isalnum() or set(name) <= {"_", "-"}
    assert safe_domain(name) == name


def test_the_domain_comes_from_the_record(t1: RecordTokenizer) -> None:
    config = PipelineConfig.from_dict(
        {
            "input": {"sections": TEXT_SECTIONS},
            "preprocessing": {"min_chars": 0},
            "output": {"domain_key": "s"},
        }
    )
    assert [built({"text": "a", "s": s}, config, t1).domain for s in ("x", 7, None)] == [
        "x",
        "__default__",
        "__default__",
    ]


def test_tokens_are_counted_over_the_first_sequence(t1: RecordTokenizer) -> None:
    assert built(GRPO_RECORD, sources_config(GRPO), t1).n_tokens == 5
    assert built({"text": "a b"}, sections_config(TEXT_SECTIONS), t1).n_tokens == 2
    only_group = {"responses": GRPO["responses"]}
    assert built(GRPO_RECORD, sources_config(only_group), t1).n_tokens == 3


WORDS = st.lists(st.sampled_from(["a", "b", "zz", "<s>", "<|im_end|>", "\n", "é"]), max_size=4).map(" ".join)
MESSAGES = st.lists(st.builds(message, st.sampled_from(["system", "user", "assistant", "tool"]), WORDS), max_size=4)
FIELDS = st.one_of(st.none(), WORDS, MESSAGES, st.lists(WORDS, max_size=3), st.integers(), st.floats())
RECORDS = st.dictionaries(
    st.sampled_from(["text", "p", "r", "messages", "chosen", "rejected", "prompt", "responses", "rewards"]), FIELDS
)
CONFIGS = [
    sections_config(TEXT_SECTIONS, max_seq_len=3),
    sections_config(PROMPT_RESPONSE),
    sections_config([*CHAT_SECTIONS, *TEXT_SECTIONS], truncation_mode="keep_end", max_seq_len=5),
    sections_config(CHAT_SECTIONS, trained_part="content"),
    sources_config(DPO),
    sources_config(GRPO, max_seq_len=2),
]


@settings(deadline=None)
@given(st.lists(RECORDS, max_size=6), st.sampled_from(CONFIGS), st.sampled_from(["t1", "t2", "t3"]))
def test_b07_a_batch_gives_what_its_records_give_alone_with_masks_of_equal_length(
    t1: RecordTokenizer,
    t2: RecordTokenizer,
    t3: RecordTokenizer,
    records: list[dict[str, Any]],
    config: PipelineConfig,
    variant: str,
) -> None:
    tokenizer = {"t1": t1, "t2": t2, "t3": t3}[variant]
    together = build_records(records, config, tokenizer)
    assert together == [build_record(record, config, tokenizer) for record in records]
    for outcome in together:
        if isinstance(outcome, Built):
            for output in config.outputs():
                if output.mask_name is not None:
                    ids, mask = outcome.keys[output.name], outcome.keys[output.mask_name]
                    nested = ids and isinstance(ids[0], list)
                    assert list(map(len, ids)) == list(map(len, mask)) if nested else len(ids) == len(mask)
