"""Tokenizer folders and chat templates: what is read, what is refused with its line, and which turns are trained."""

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from record_configs import CHAT_SECTIONS, TALK, message, sections_config
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from toy_tokenizer import CHATML, write_toy_tokenizer

from rukh_loaders.errors import ChatTemplateError, ConversationError, RecordTokenizerError, UnsafeTemplateError
from rukh_loaders.records import (
    Built,
    ChatTemplate,
    RecordTokenizer,
    Skipped,
    SkipReason,
    build_record,
    build_records,
    turns,
)
from rukh_loaders.records.chat import Message
from rukh_loaders.records.masks import mask_of_spans
from rukh_loaders.records.turns import trained_contents, trained_turns

TEMPLATE_WITH_BOS = "{{ bos_token }} " + CHATML
ALTERNATING = (
    "{% for m in messages %}\n"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}\n"
    "{{ raise_exception('roles must alternate') }}\n"
    "{% endif %}\n"
    "<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>\n"
    "{% endfor %}"
)
DEFAULT_SYSTEM = "{% if messages[0].role != 'system' %}<|im_start|>system z<|im_end|>\n{% endif %}" + CHATML
LAST_MARKED = (
    "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}"
    "{% if loop.last %} z{% endif %}<|im_end|>{% endfor %}"
)


def built(messages: object, tokenizer: RecordTokenizer, **preprocessing: Any) -> tuple[Any, Any]:
    outcome = build_record({"messages": messages}, sections_config(CHAT_SECTIONS, **preprocessing), tokenizer)
    assert isinstance(outcome, Built), outcome
    return outcome.keys["sequence"], outcome.keys["loss_mask"]


def test_text_is_split_at_blanks_and_special_tokens_are_added_where_asked(toy: Any) -> None:
    assert toy("T1").encode("a b  zz user") == [9, 10, 0, 7]
    assert toy("T2").encode("a b") == [1, 9, 10]
    assert toy("T2").encode("a b", add_special_tokens=False) == [9, 10]
    assert toy("T4").encode_batch(["a", "", "b c"]) == [[9, 2], [2], [10, 11, 2]]


def test_special_tokens_have_ids_and_those_without_a_name_have_none(toy: Any) -> None:
    tokenizer = toy("T1", special_tokens={"eos_token": "<|im_end|>", "turn_token": "<|im_end|>"})
    assert (tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id) == (1, 5, None)
    assert tokenizer.stop_ids == (1, 5)
    assert tokenizer.special_ids["turn_token"] == 5
    assert toy("T3").stop_ids == ()
    assert tokenizer.vocab_size == 35


def test_a_conversation_is_rendered_with_the_header_of_an_answer_where_asked(t1: RecordTokenizer) -> None:
    text = t1.render(TALK[1:2])
    assert text == "<|im_start|>user\na b<|im_end|>\n"
    assert t1.render(TALK[1:2], add_generation_prompt=True) == text + "<|im_start|>assistant\n"


def test_padding_and_truncation_in_the_file_do_not_touch_a_batch(tmp_path: Path) -> None:
    folder = write_toy_tokenizer(tmp_path)
    settings = json.loads((folder / "tokenizer.json").read_text())
    settings["padding"] = {
        **{"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None},
        **{"pad_id": 3, "pad_type_id": 0, "pad_token": "<pad>"},
    }
    settings["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    (folder / "tokenizer.json").write_text(json.dumps(settings))
    assert RecordTokenizer.from_folder(folder).encode_batch(["a", "a b c"]) == [[9], [9, 10, 11]]


def rewrite_config(folder: Path, config: object) -> RecordTokenizer:
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return RecordTokenizer.from_folder(folder)


def test_a_folder_as_hugging_face_writes_it_is_read(tmp_path: Path) -> None:
    folder = write_toy_tokenizer(tmp_path)
    named = {
        **{"bos_token": {"content": "<s>", "special": True}, "eos_token": "</s>", "pad_token": None},
        **{"add_bos_token": True, "chat_template": [{"name": "default", "template": CHATML}]},
    }
    tokenizer = rewrite_config(folder, named)
    assert tokenizer.special_ids == {"bos_token": 1, "eos_token": 2}
    assert tokenizer.render(TALK[:1]) == "<|im_start|>system\ns<|im_end|>\n"
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
    assert rewrite_config(folder, {"bos_token": "<s>"}).render(TALK) == "s"


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ([], "tokenizer_config.json: holds a JSON list"),
        ({"special_tokens": {"bos_token": "<bos>"}}, "bos_token is '<bos>', which the vocabulary does not hold"),
        ({"special_tokens": ["<s>"]}, "special_tokens is ['<s>'], expected an object"),
        ({"chat_template": 7}, "chat_template is no text"),
        ({"chat_template": [{"name": "tools", "template": ""}]}, "nor a list with one named 'default'"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused_with_its_file(tmp_path: Path, config: object, text: str) -> None:
    folder = write_toy_tokenizer(tmp_path)
    with pytest.raises(RecordTokenizerError, match=re.escape(text)) as caught:
        rewrite_config(folder, config)
    assert str(caught.value).startswith(str(folder))


def test_a_folder_without_a_tokenizer_or_with_a_broken_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordTokenizerError, match=r"tokenizer\.json: is missing"):
        RecordTokenizer.from_folder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(RecordTokenizerError, match=r"tokenizer\.json: cannot be read as a tokenizer"):
        RecordTokenizer.from_folder(tmp_path)
    folder = write_toy_tokenizer(tmp_path)
    (folder / "tokenizer_config.json").write_text("{")
    with pytest.raises(RecordTokenizerError, match=r"tokenizer_config\.json: is not JSON"):
        RecordTokenizer.from_folder(folder)


def test_the_config_is_optional(tmp_path: Path) -> None:
    folder = write_toy_tokenizer(tmp_path)
    (folder / "tokenizer_config.json").unlink()
    tokenizer = RecordTokenizer.from_folder(folder)
    assert (tokenizer.bos_id, tokenizer.chat, tokenizer.encode("a")) == (None, None, [9])


def test_without_a_template_conversations_are_refused_before_the_first(toy: Any) -> None:
    with pytest.raises(ChatTemplateError, match="has no chat template"):
        build_records([], sections_config(CHAT_SECTIONS), toy("T1", template=None))


def test_the_fingerprint_changes_with_either_file(tmp_path: Path) -> None:
    prints = {
        RecordTokenizer.from_folder(write_toy_tokenizer(tmp_path / str(i), variant, template=template)).fingerprint
        for i, (variant, template) in enumerate([("T1", CHATML), ("T1", CHATML), ("T2", CHATML), ("T1", "x")])
    }
    assert len(prints) == 3


def test_a_pickled_tokenizer_opens_its_folder_again_and_refuses_another(tmp_path: Path) -> None:
    pickled = pickle.dumps(RecordTokenizer.from_folder(write_toy_tokenizer(tmp_path)))
    assert len(pickled) < 1000
    assert pickle.loads(pickled).render(TALK[:1]) == "<|im_start|>system\ns<|im_end|>\n"
    write_toy_tokenizer(tmp_path, "T2")
    with pytest.raises(RecordTokenizerError, match="another tokenizer lies here"):
        pickle.loads(pickled)


def test_a_template_that_is_no_jinja_is_refused_with_its_line(toy: Any) -> None:
    with pytest.raises(ChatTemplateError, match=r"tokenizer_config\.json: line 2 of the chat template: "):
        toy(template="{{ messages }}\n{% endfor %}")


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ 2 ** 100000 }}", "Exceeds the limit"),
        ("{% if a %}" * 120 + "{% endif %}" * 120, "too many levels of indentation"),
        ("{% for a in b %}" * 30 + "{% endfor %}" * 30, "too many statically nested blocks"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "recursion"),
    ],
)
def test_what_python_said_of_a_template_that_cannot_be_compiled_was_no_error_of_ours(
    template: str, why: str, toy: Any
) -> None:
    with pytest.raises(ChatTemplateError, match=rf"tokenizer_config\.json: the chat template cannot be .*{why}"):
        toy(template=template)


def test_what_a_template_raises_names_its_line(toy: Any) -> None:
    with pytest.raises(ConversationError, match="line 3 of the chat template: roles must alternate"):
        toy(template=ALTERNATING).render([message("user", "a"), message("user", "b")])
    with pytest.raises(ConversationError, match="line 2 of the chat template: 'nothing' is undefined"):
        toy(template="a\n{{ nothing.at.all }}").render([])


def test_a_template_that_asks_for_all_memory_ended_in_a_traceback(toy: Any) -> None:
    with pytest.raises(ChatTemplateError, match="line 2 of the chat template: out of memory"):
        toy(template="\n{{ 'a' * 10 ** 17 }}").render(TALK)


@pytest.mark.parametrize(
    "attack",
    [
        "{{ ''.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update(role='x') }}",
        "{{ raise_exception.__globals__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format('') }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{% set f = ''|attr('__class__') %}{{ f.__mro__ }}",
    ],
)
def test_a_template_that_reaches_for_python_or_changes_the_messages_ends_the_run(attack: str, toy: Any) -> None:
    tokenizer = toy(template="\n" + attack)
    with pytest.raises(UnsafeTemplateError, match="line 2 of the chat template"):
        tokenizer.render([dict(TALK[0])])
    with pytest.raises(UnsafeTemplateError):
        build_record({"messages": TALK}, sections_config(CHAT_SECTIONS), tokenizer)


@pytest.mark.parametrize("name", ["open", "__import__", "eval", "config", "strftime_now"])
def test_a_template_sees_nothing_of_python_and_no_clock(name: str, toy: Any) -> None:
    assert toy(template=f"{{{{ {name} is defined }}}}").render([]) == "False"


def test_templates_break_out_of_loops_and_write_json_with_its_letters(toy: Any) -> None:
    template = "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m | tojson }}{% endfor %}"
    assert toy(template=template).render([{"role": "é<"}, {"role": "a"}]) == '{"role": "é<"}'


def test_b27_the_conversation_is_rendered_as_a_whole(toy: Any) -> None:
    alternating = toy(template=ALTERNATING)
    assert built([message("user", "a"), message("assistant", "b")], alternating) == (
        [1, 4, 7, 9, 5, 4, 8, 10, 5],
        [0, 0, 0, 0, 0, 1, 1, 1, 1],
    )
    ids, mask = built(TALK[1:], toy(template=DEFAULT_SYSTEM))
    assert ids == [1, 4, 6, 34, 5, 4, 7, 9, 10, 5, 4, 8, 11, 12, 5]
    assert mask == [0] * 10 + [1] * 5


def test_b27_a_conversation_that_the_template_refuses_drops_its_record_alone(toy: Any) -> None:
    good = {"messages": [message("user", "a"), message("assistant", "b")]}
    bad = {"messages": [message("assistant", "b")]}
    outcomes = build_records([good, bad, good], sections_config(CHAT_SECTIONS), toy(template=ALTERNATING))
    assert [type(outcome) for outcome in outcomes] == [Built, Skipped, Built]
    assert isinstance(outcomes[1], Skipped)
    assert outcomes[1].reason is SkipReason.TEMPLATE
    assert "line 3 of the chat template: roles must alternate" in outcomes[1].detail


def test_b27_a_template_whose_turns_cannot_be_told_apart_drops_the_record(toy: Any) -> None:
    tokenizer = toy(template=LAST_MARKED)
    outcome = build_record({"messages": TALK}, sections_config(CHAT_SECTIONS), tokenizer)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.TEMPLATE
    assert "renders the first 2 messages alone in another way" in outcome.detail
    assert built(TALK[2:], tokenizer) == ([1, 4, 8, 11, 12, 34, 5], [0, 1, 1, 1, 1, 1, 1])


def test_a_template_that_writes_the_last_answer_otherwise_is_told_what_trains_it(toy: Any) -> None:
    thinking = CHATML.replace(
        "{{ message['content'] }}",
        "{% if loop.last and message.role == 'assistant' %}z {% endif %}{{ message['content'] }}",
    )
    tokenizer = toy(template=thinking)
    talk = [message("user", "a"), message("assistant", "b")] * 2
    outcome = build_record({"messages": talk}, sections_config(CHAT_SECTIONS), tokenizer)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.TEMPLATE
    assert "preprocessing.trained_turns 'last' trains that one" in outcome.detail
    ids, mask = built(talk, tokenizer, trained_turns="last")
    assert [token for token, trained in zip(ids, mask, strict=True) if trained] == [4, 8, 34, 10, 5]


def test_a_template_that_writes_the_bos_itself_gets_no_second_one(toy: Any) -> None:
    assert built(TALK[2:], toy(template=TEMPLATE_WITH_BOS)) == ([1, 4, 8, 11, 12, 5], [0, 1, 1, 1, 1, 1])


def test_b27_content_and_end_marker_alone_are_trained_where_asked(t1: RecordTokenizer) -> None:
    talk = [*TALK, message("user", "assistant"), message("assistant", "assistant")]
    ids, mask = built(talk, t1, trained_part="content")
    assert ids[10:] == [4, 8, 11, 12, 5, 4, 7, 8, 5, 4, 8, 8, 5]
    assert mask[10:] == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("content", ["", " a ", "\n"])
def test_b27_blank_and_padded_contents_keep_their_end_marker(content: str, t1: RecordTokenizer) -> None:
    ids, mask = built([message("user", "b"), message("assistant", content)], t1, trained_part="content")
    assert [token for token, trained in zip(ids, mask, strict=True) if trained] == ([9, 5] if "a" in content else [5])


@pytest.mark.parametrize(
    ("template", "trained"),
    [
        (CHATML, "c d<|im_end|>"),
        ("{% for m in messages %}{{ m.role }}: {{ m.content }}\n\n{% endfor %}", "c d\n\n"),
        ("{% for m in messages %}{{ m.role }}: {{ m.content | trim }}</s>{% endfor %}", "c d</s>"),
    ],
)
def test_b27_blanks_behind_the_end_marker_are_not_trained_but_are_where_they_are_the_marker(
    template: str, trained: str
) -> None:
    talk = [message("user", "c d"), message("assistant", "c d"), message("user", "a")]
    text, [(begin, end)] = trained_contents(ChatTemplate(template, "here", {}), talk, [False, True, False])
    assert text[begin:end] == trained
    assert text[:begin].rstrip(" \n").removesuffix(":").endswith("assistant")


@pytest.mark.parametrize("part", ["turn", "content"])
def test_the_trained_tokens_of_a_byte_level_tokenizer_are_the_trained_text(part: str, tmp_path: Path) -> None:
    model = Tokenizer(BPE())
    model.pre_tokenizer = ByteLevel(add_prefix_space=False)
    model.decoder = ByteLevelDecoder()
    specials = ["<|im_start|>", "<|im_end|>"]
    trainer = BpeTrainer(
        vocab_size=300, special_tokens=specials, initial_alphabet=ByteLevel.alphabet(), show_progress=False
    )
    model.train_from_iterator(["the user asks, the assistant answers"] * 3, trainer)
    model.save(str(tmp_path / "tokenizer.json"))
    tokenizer = rewrite_config(tmp_path, {"chat_template": CHATML})
    answers = ["the  été\n\n", "\U0001f600 answers"]
    talk = [
        message("user", "asks?"),
        message("assistant", answers[0]),
        message("user", "é"),
        message("assistant", answers[1]),
    ]
    ids, mask = built(talk, tokenizer, trained_part=part)
    assert ids == tokenizer.encode(tokenizer.render(talk))
    trained = model.decode([i for i, m in zip(ids, mask, strict=True) if m], skip_special_tokens=False)
    before, behind = ("<|im_start|>assistant\n", "\n") if part == "turn" else ("", "")
    assert trained == "".join(f"{before}{answer}<|im_end|>{behind}" for answer in answers)


TEMPLATES = {
    "chatml": CHATML,
    "contents": "{% for m in messages %}{{ m.content }} {% endfor %}",
    "trimmed": "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n\n{% endfor %}",
    "silent roles": "{% for m in messages %}{% if m.role != 'tool' %}{{ m.content }};{% endif %}{% endfor %}",
    "begins with bos": TEMPLATE_WITH_BOS,
    "alternating": ALTERNATING,
    "default system": DEFAULT_SYSTEM,
    "last marked": LAST_MARKED,
}
contents = st.text(" ab\n;<", max_size=4)
talks = st.lists(st.builds(message, st.sampled_from(["user", "assistant", "system", "tool"]), contents), max_size=7)


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(talk=talks, data=st.data())
def test_turns_took_the_square_of_their_number_and_are_told_apart_as_before(
    template: str, talk: list[dict[str, str]], data: st.DataObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    if data.draw(st.booleans()):  # what templates ask for that check the order of roles
        talk = [{**m, "role": ("user", "assistant")[i % 2]} for i, m in enumerate(talk)]
    trained = data.draw(st.lists(st.booleans(), min_size=len(talk), max_size=len(talk)))
    chat = ChatTemplate(template, "here", {"bos_token": "<s>"})
    for trained_spans in (trained_turns, trained_contents):
        outcomes = []
        for few in (0, len(talk)):
            monkeypatch.setattr(turns, "FEW", few)
            try:
                outcomes.append(trained_spans(chat, talk, trained))
            except ConversationError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


class CountingTemplate(ChatTemplate):
    """Counts the messages that it has rendered."""

    rendered = 0

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
        self.rendered += len(messages)
        return super().render(messages, add_generation_prompt=add_generation_prompt)


def test_a_long_conversation_is_rendered_about_twice() -> None:
    chat = CountingTemplate(CHATML, "here", {})
    talk = [message(("user", "assistant")[i % 2], "a b") for i in range(100)]
    trained_turns(chat, talk, [i % 2 == 1 for i in range(100)])
    assert chat.rendered == 200
    trained_contents(chat, talk, [i % 2 == 1 for i in range(100)])
    assert chat.rendered == 200 + 200 + 2 * 50  # each trained one with two other contents


def test_a_token_across_the_edge_of_a_span_is_not_trained() -> None:
    assert mask_of_spans([(0, 2), (2, 4), (4, 6), (6, 9)], [(1, 4), (5, 6), (6, 9)]) == [0, 1, 0, 1]
    assert mask_of_spans([(0, 2), (2, 4)], []) == [0, 0]
    assert mask_of_spans([], [(0, 1)]) == []


SCRIPT = """
import sys

BLOCKED = {"torch", "pyarrow", "chess", "dagster", "tokenizers", "jinja2", "zstandard", "rukh_assets"}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocker())

from rukh_loaders.records import PipelineConfig, RecordTokenizer, find_inputs

print(PipelineConfig().preprocessing.max_seq_len)
try:
    RecordTokenizer.from_folder(".")
except ImportError as error:
    print(error)
"""


def test_records_are_imported_without_torch_tokenizers_and_jinja2(tmp_path: Path, project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(project)},
    )
    assert done.stderr == ""
    assert done.stdout == "2048\ntokenizers is blocked\n"
