"""What the page of a record corpus shows: lengths of documents, and a record as text that stays text."""

import json
from pathlib import Path
from typing import Any

import pytest
from record_configs import GRPO, PROMPT_RESPONSE, TEXT_SECTIONS, message, sections_config, sources_config
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from rukh_assets.records import Pipeline
from rukh_assets.reports.corpus import describe_record, document_lengths
from rukh_loaders.formats.corpus import Corpus, open_corpus
from rukh_loaders.records import PipelineConfig, RecordTokenizer


@pytest.fixture(scope="module")
def byte_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer whose tokens are bytes: every text is told from its ids."""
    folder = tmp_path_factory.mktemp("bytes")
    tokenizer = Tokenizer(BPE({letter: i for i, letter in enumerate(sorted(ByteLevel.alphabet()))}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteDecoder()
    tokenizer.save(str(folder / "tokenizer.json"))
    template = "{% for m in messages %}{{ m.role + ':' + m.content + ';' }}{% endfor %}"
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    return folder


def made(folder: Path, config: PipelineConfig, records: list[dict[str, Any]], tokenizer: Path) -> Corpus:
    (folder / "in.json").write_text(json.dumps(records))
    Pipeline(config, [folder / "in.json"], folder / "out", tokenizer).run()
    return open_corpus(folder / "out")


def described(corpus: Corpus, tokenizer: Path) -> list[str]:
    return describe_record(corpus, 0, RecordTokenizer.from_folder(tokenizer)).splitlines()


def test_whatever_a_record_holds_stays_in_the_indented_block(tmp_path: Path, byte_tokenizer: Path) -> None:
    hostile = {"p": "```\n# x <script>\n\n", "r": "]] ~~~\r\n![x](y)\u2028é"}
    corpus = made(tmp_path, sections_config(PROMPT_RESPONSE), [hostile], byte_tokenizer)
    text = describe_record(corpus, 0, RecordTokenizer.from_folder(byte_tokenizer))
    assert text.split("\n") == [
        "    sequence:",
        f"    - masked  {json.dumps(hostile['p'])}",
        f"      TRAINED {json.dumps(hostile['r'], ensure_ascii=False)}",
    ]


def test_long_texts_are_shortened_in_their_middle_and_many_responses_counted(
    tmp_path: Path, byte_tokenizer: Path
) -> None:
    group = {"prompt": [message("user", "q")], "responses": ["a" * 1000, *"bcdefghijk"], "rewards": 0.25}
    corpus = made(tmp_path, sources_config(GRPO), [group], byte_tokenizer)
    lines = described(corpus, byte_tokenizer)
    assert lines[:2] == ["    prompts:", '    - masked  "user:q;"']
    assert lines[3] == f'    - TRAINED "{"a" * 150} [...] {"a" * 150}"'
    assert lines[4:6] == ['    - TRAINED "b"', '    - TRAINED "c"']
    assert lines[-2:] == ["    - 3 more", "    rewards: 0.25"]


def test_documents_of_packed_rows_are_told_apart(tmp_path: Path, byte_tokenizer: Path) -> None:
    config = sections_config(TEXT_SECTIONS, packing_strategy="bfd", max_packed_len=5)
    corpus = made(tmp_path, config, [{"text": text} for text in ("abc", "de", "f", "ghij")], byte_tokenizer)
    assert sorted(document_lengths(corpus).tolist()) == [1, 2, 3, 4]
    assert described(corpus, byte_tokenizer) == ["    sequence:", '    - TRAINED "ghij"', '    - TRAINED "f"']


def test_of_groups_only_a_document_is_a_whole_group(tmp_path: Path, byte_tokenizer: Path) -> None:
    config = sources_config({"responses": GRPO["responses"]})
    corpus = made(tmp_path, config, [{"responses": ["ab", "", "c"]}, {"responses": ["d"]}], byte_tokenizer)
    assert document_lengths(corpus).tolist() == [3, 1]
