"""A word-level tokenizer of 35 tokens that every numeric example about record corpora is written in.

Ids: `<unk>` 0, `<s>` 1, `</s>` 2, `<pad>` 3, `<|im_start|>` 4, `<|im_end|>` 5, `system` 6, `user` 7, `assistant` 8,
`a` to `z` 9 to 34. The first six are special tokens; text is split at blanks.
"""

import json
import string
from collections.abc import Mapping
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

SPECIALS = ("<unk>", "<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>")
TOKENS = (*SPECIALS, "system", "user", "assistant", *string.ascii_lowercase)

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

BOS_ONLY = {"bos_token": "<s>"}
SPECIAL_TOKENS: dict[str, dict[str, str]] = {"T1": BOS_ONLY, "T2": BOS_ONLY, "T3": {}, "T4": BOS_ONLY}
"""T1 names a bos token; T2 also puts it before text with special tokens; T3 names none; T4 puts `</s>` after text."""

POST_PROCESSORS = {"T2": "<s> $A", "T4": "$A </s>"}


def write_toy_tokenizer(
    folder: Path,
    variant: str = "T1",
    *,
    template: str | None = CHATML,
    special_tokens: Mapping[str, str] | None = None,
) -> Path:
    """Write tokenizer.json and tokenizer_config.json of a variant, T1 to T4, and return the folder."""
    tokenizer = Tokenizer(WordLevel({token: token_id for token_id, token in enumerate(TOKENS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIALS))
    if variant in POST_PROCESSORS:
        tokenizer.post_processor = TemplateProcessing(
            single=POST_PROCESSORS[variant], special_tokens=[("<s>", 1), ("</s>", 2)]
        )
    config: dict[str, object] = {"special_tokens": {**SPECIAL_TOKENS[variant], **(special_tokens or {})}}
    if template is not None:
        config["chat_template"] = template
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
