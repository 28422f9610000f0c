"""The tokenizer of a record corpus: a folder of tokenizer.json, and tokenizer_config.json for names and chat template.

tokenizer_config.json holds `special_tokens`, a map such as `{"bos_token": "<s>"}`, and `chat_template`, one Jinja text.
Where it has no `special_tokens`, the keys that Hugging Face writes are read: `bos_token` and others on top, as texts or
as objects with `content`, a `chat_template` that may be a list of named ones (`default` is taken), or the file
chat_template.jinja beside it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rukh_loaders.errors import ChatTemplateError, RecordTokenizerError
from rukh_loaders.formats.manifest import digest
from rukh_loaders.records.chat import ChatTemplate, Message

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"
TEMPLATE = "chat_template.jinja"


class RecordTokenizer:
    """A tokenizer folder, opened with `from_folder`.

    `special_tokens` maps names to texts and `special_ids` the same names to ids; `bos_id`, `eos_id` and `pad_id` are
    None where the folder names no such token; `stop_ids` are the ids of all named tokens, in the folder's order.
    `chat` is None without a chat template. `fingerprint` is a sha256 over the files. Pickled, it is the path: another
    process opens the folder itself, and refuses it when its files have changed.
    """

    def __init__(
        self,
        path: Path,
        tokenizer: "Tokenizer",
        special_tokens: Mapping[str, str],
        chat: ChatTemplate | None,
        fingerprint: str,
    ) -> None:
        self.path = path
        self.special_tokens = dict(special_tokens)
        self.chat = chat
        self.fingerprint = fingerprint
        self._tokenizer = tokenizer
        self.special_ids = {name: self._id_of(name, token) for name, token in special_tokens.items()}
        self.bos_id, self.eos_id, self.pad_id = map(self.special_ids.get, ("bos_token", "eos_token", "pad_token"))
        self.stop_ids = tuple(dict.fromkeys(self.special_ids.values()))

    @classmethod
    def from_folder(cls, path: Path | str) -> "RecordTokenizer":
        """Open a folder; tokenizer.json must be there. Padding and truncation that it asks for are left out.

        `RecordTokenizerError` for files that are missing or cannot be read, and for a special token that is not in the
        vocabulary; `ChatTemplateError` for a template that is no Jinja, with its line.
        """
        from tokenizers import Tokenizer

        folder = Path(path)
        files = {name: _read(folder / name) for name in (TOKENIZER, CONFIG, TEMPLATE)}
        model = files[TOKENIZER]
        if model is None:
            raise RecordTokenizerError(f"{folder / TOKENIZER}: is missing, a tokenizer folder must have it")
        try:
            tokenizer = Tokenizer.from_str(model)
        except Exception as error:  # the library raises a bare Exception for what it cannot read
            raise RecordTokenizerError(f"{folder / TOKENIZER}: cannot be read as a tokenizer: {error}") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        config = _parse_config(folder / CONFIG, files[CONFIG])
        special_tokens = _special_tokens(folder / CONFIG, config)
        found = _find_template(folder, config, files[TEMPLATE])
        chat = None if found is None else ChatTemplate(*found, special_tokens)
        return cls(folder, tokenizer, special_tokens, chat, _fingerprint(files))

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path.absolute(), self.fingerprint)

    @property
    def vocab_size(self) -> int:
        """One more than the highest id."""
        return 1 + max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """The ids of a text, with what the post-processor adds to it where asked."""
        return self.encode_batch([text], add_special_tokens=add_special_tokens)[0]

    def encode_batch(self, texts: Sequence[str], *, add_special_tokens: bool = True) -> list[list[int]]:
        """The ids of many texts, encoded by the library's threads; each as `encode` gives it."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=add_special_tokens)
        return [encoding.ids for encoding in encoded]

    def encode_with_offsets(self, texts: Sequence[str]) -> "list[Encoding]":
        """Many texts without special tokens: `ids`, and `offsets`, begin and end of each token's characters."""
        encoded: list[Encoding] = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return encoded

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens among them; an id that the vocabulary does not hold gives no text."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=False)
        return text

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool = False) -> str:
        """The text of a conversation; `ChatTemplateError` without a template, and see `ChatTemplate.render`."""
        return self.required_chat().render(messages, add_generation_prompt=add_generation_prompt)

    def required_chat(self) -> ChatTemplate:
        """The chat template; `ChatTemplateError` where the folder has none."""
        if self.chat is None:
            raise ChatTemplateError(f"{self.path}: has no chat template, neither in {CONFIG} nor as {TEMPLATE}")
        return self.chat

    def _id_of(self, name: str, token: str) -> int:
        token_id: int | None = self._tokenizer.token_to_id(token)
        if token_id is None:
            raise RecordTokenizerError(f"{self.path / CONFIG}: {name} is {token!a}, which the vocabulary does not hold")
        return token_id


def _reopen(path: Path, fingerprint: str) -> RecordTokenizer:
    tokenizer = RecordTokenizer.from_folder(path)
    if tokenizer.fingerprint != fingerprint:
        raise RecordTokenizerError(
            f"{path}: another tokenizer lies here than the one that was pickled: "
            f"the fingerprint was {fingerprint} and is {tokenizer.fingerprint}"
        )
    return tokenizer


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RecordTokenizerError(f"{path}: cannot be read: {error}") from error


def _fingerprint(files: Mapping[str, str | None]) -> str:
    return digest({name: text and hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()})


def _parse_config(path: Path, text: str | None) -> dict[str, Any]:
    try:
        config = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise RecordTokenizerError(f"{path}: is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise RecordTokenizerError(f"{path}: holds a JSON {type(config).__name__}, expected an object")
    return config


def _special_tokens(path: Path, config: dict[str, Any]) -> dict[str, str]:
    """Name to text: `special_tokens`, or Hugging Face's `<name>_token` keys, which may be null."""
    named = config.get("special_tokens")
    if named is None:
        on_top = {name: _content(token) for name, token in config.items() if name.endswith("_token")}
        return {name: token for name, token in on_top.items() if isinstance(token, str)}
    if not isinstance(named, dict) or not all(isinstance(token, str) for token in named.values()):
        raise RecordTokenizerError(f"{path}: special_tokens is {named!a}, expected an object of name to text")
    return named


def _content(token: object) -> object:
    return token.get("content") if isinstance(token, dict) else token


def _find_template(folder: Path, config: dict[str, Any], file: str | None) -> tuple[str, str] | None:
    """The template's text and the file it stands in, or None where there is none."""
    template = config.get("chat_template")
    if template is None:
        return None if file is None else (file, str(folder / TEMPLATE))
    if isinstance(template, list):
        named = (item for item in template if isinstance(item, dict))
        template = next((item.get("template") for item in named if item.get("name") == "default"), None)
    if not isinstance(template, str):
        raise RecordTokenizerError(f"{folder / CONFIG}: chat_template is no text, nor a list with one named 'default'")
    return template, str(folder / CONFIG)
