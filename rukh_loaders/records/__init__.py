"""Record corpora: JSON and JSONL records to token ids and masks, by one config, offline and online alike.

    files ──▶ records ──▶ texts and spans ──▶ ids and masks        Built | Skipped, each with its place

    config, inputs     PipelineConfig: which fields become which arrays, and what of them is trained
    tokenizer_folder   RecordTokenizer: tokenizer.json, special tokens, chat template     needs `tokenizers`
    chat, turns        chat templates in a sandbox; what of a conversation is trained     needs `jinja2`
    passages, masks    MaskBuilder: one record, or a batch, to ids and masks
    pairs              pair_config: a prompt and two answers as two conversations
    reading            read_records: the lines of .jsonl and .json files, bad ones too
    corpus             build_corpus: files to built records; judge, Tally

Both packages come with `pip install rukh[records]` and are imported when used. A folder with a tokenizer of six words:

>>> import json, tempfile
>>> from pathlib import Path
>>> from tokenizers import Tokenizer
>>> from tokenizers.models import WordLevel
>>> from tokenizers.pre_tokenizers import WhitespaceSplit
>>> home = tempfile.TemporaryDirectory()
>>> folder = Path(home.name)
>>> words = ["<unk>", "<s>", "user", "assistant", "hello", "hi"]
>>> model = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
>>> model.pre_tokenizer = WhitespaceSplit()
>>> model.save(str(folder / "tokenizer.json"))
>>> template = "{% for m in messages %}{{ m.role + ' ' + m.content + ' ' }}{% endfor %}"
>>> named = {"special_tokens": {"bos_token": "<s>"}, "chat_template": template}
>>> _ = (folder / "tokenizer_config.json").write_text(json.dumps(named))

>>> from rukh_loaders.records import PipelineConfig, RecordTokenizer, build_record
>>> tokenizer = RecordTokenizer.from_folder(folder)
>>> tokenizer.bos_id, tokenizer.encode("hello hi there")
(1, [4, 5, 0])

A config for conversations: their field is a list of messages, and the assistant's turns are trained. What is not given
has a default; what is misspelt is refused with the path of the key and what is allowed:

>>> config = PipelineConfig.from_dict({
...     "input": {"sections": [{"field": "messages", "action": "$role", "template": True}]},
...     "mask": {"assistant": "train"},
... })
>>> PipelineConfig.from_dict({"mask": {"assistant": "trian"}})
Traceback (most recent call last):
    ...
rukh_loaders.errors.RecordConfigError: mask.assistant: got 'trian', allowed: 'train' or 'mask'

One record. Every mask is there, as long as its ids, and 1 where a loss looks:

>>> talk = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
>>> build_record({"messages": talk}, config, tokenizer).keys
{'sequence': [1, 2, 4, 3, 5], 'loss_mask': [0, 0, 0, 1, 1]}
>>> build_record({"messages": "hello"}, config, tokenizer).reason
<SkipReason.WRONG_TYPE: 'wrong_type'>

A file of records. A bad line is counted with its place and ends nothing, unless `preprocessing.strict` is set:

>>> from rukh_loaders.records import Tally, build_corpus
>>> lines = [json.dumps({"messages": talk}), "not json", json.dumps({"messages": talk[:1]})]
>>> _ = (folder / "talks.jsonl").write_text("\\n".join(lines))
>>> tally = Tally()
>>> for place, outcome in build_corpus([folder / "talks.jsonl"], config, tokenizer):
...     print(place.line, type(outcome).__name__)
...     tally.note(place, outcome)
1 Built
2 Skipped
3 Skipped
>>> tally.kept, {reason.value: count for reason, count in tally.skipped.items()}
(1, {'not_json': 1, 'nothing_to_train': 1})
>>> home.cleanup()
"""

from rukh_loaders.records.chat import ChatTemplate
from rukh_loaders.records.config import PipelineConfig, Preprocessing, Writing
from rukh_loaders.records.corpus import (
    Place,
    Tally,
    build_batch,
    build_corpus,
    judge,
    read_batches,
)
from rukh_loaders.records.inputs import IgnoredSectionsWarning, Input, Output, OutputKind, Section, Source
from rukh_loaders.records.masks import MaskBuilder, build_record, build_records
from rukh_loaders.records.outcomes import DEFAULT_DOMAIN, Built, Skipped, SkipReason, safe_domain
from rukh_loaders.records.reading import BadLine, find_inputs, read_records
from rukh_loaders.records.tokenizer_folder import RecordTokenizer

__all__ = [
    "DEFAULT_DOMAIN",
    "BadLine",
    "Built",
    "ChatTemplate",
    "IgnoredSectionsWarning",
    "Input",
    "MaskBuilder",
    "Output",
    "OutputKind",
    "PipelineConfig",
    "Place",
    "Preprocessing",
    "RecordTokenizer",
    "Section",
    "SkipReason",
    "Skipped",
    "Source",
    "Tally",
    "Writing",
    "build_batch",
    "build_corpus",
    "build_record",
    "build_records",
    "find_inputs",
    "judge",
    "read_batches",
    "read_records",
    "safe_domain",
]
