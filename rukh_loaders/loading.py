"""One call from a path to a dataset, whether shards lie there or raw .jsonl files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rukh_loaders.errors import NoRecordsError, RecordConfigError, StoreChangedError, TrainTypeError
from rukh_loaders.record_dataset import RecordDataset
from rukh_loaders.record_datasets import DpoDataset, GrpoDataset, SeqDataset, SftDataset
from rukh_loaders.records import PipelineConfig, RecordTokenizer
from rukh_loaders.records.config_file import TOKENIZER_PATH, parse_config, read_config_file
from rukh_loaders.records.pairs import pair_config
from rukh_loaders.stores import JsonlStore, ShardStore, Store, detect_format

DATASET_CONFIG = "dataset_config.json"
"""The config of the .jsonl files that it lies beside, and a `tokenizer_path`."""
CORPUS_CONFIG = "config.json"
"""The config of the months that it lies beside, as in `data/raw_records/<corpus>/`."""
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")

DATASETS: dict[str, type[RecordDataset]] = {
    kind.train_type: kind for kind in (SeqDataset, SftDataset, DpoDataset, GrpoDataset)
}
STREAMED = ("seq", "sft")
_FIELDS = {
    "seq": "messages",
    "sft": "messages",
    "dpo": "prompt, chosen and rejected",
    "grpo": "prompt, responses and rewards",
}
"""The fields that the config of a type reads."""

Config = PipelineConfig | Mapping[str, Any] | Path | str


def load_dataset(
    train_type: str,
    path: Path | str,
    window_size: int = 0,
    stride: int | None = None,
    tokenizer_path: Path | str | None = None,
    config: Config | None = None,
    *,
    max_len: int = 2048,
    weights: Mapping[str, float] | None = None,
    pad_last: bool = False,
    pad_id: int | None = None,
    **options: Any,
) -> RecordDataset:
    """The dataset of a type of training over what lies at `path`, to be served by `make_loader` or torch's own loader.

    Shards are opened as they are: with `tokenizer_path` or `config`, these must be what they were made with. Records of
    .jsonl files are built as they are served, by `config`: one that is given, or dataset_config.json in the folder, or
    beside the file, or config.json beside the month, where the folder is that of a month, such as
    `data/raw_records/talks/2025-01`; else by that of their type, and `tokenizer_path` must be given:

        seq, sft   `messages`, of which the assistants' are trained
        dpo        `prompt`, `chosen` and `rejected`, see `rukh_loaders.records.pairs`
        grpo       `prompt` (messages), `responses` (texts) and `rewards`

    Args:
        train_type: "seq", "sft", "dpo" or "grpo".
        path: a corpus, a domain or a shard of it; a .jsonl file or a folder of them.
        window_size, stride: of seq and sft, see `Store`; without a window, whole records.
        tokenizer_path: a tokenizer folder. Without it, that which the config's key of this name says (a path that is
            not absolute is one from the config file's folder), or `tokenizer` beside the config file, or the config
            file's folder itself.
        config: a `PipelineConfig`, a dict, or a JSON file of one.
        max_len: ids of a record, where the config is that of the type.
        weights, pad_last: see `Store`.
        pad_id: what a batch is padded with; by default the tokenizer's pad token, or 0.
        options: of the dataset, such as `positions` of `SftDataset` and `document_ids`.

    Raises:
        TrainTypeError: another type of training.
        StoreChangedError: the shards were made with another tokenizer or config.
        RecordConfigError: no tokenizer is named, or a config that cannot be; with a path and what is allowed.
        NoRecordsError: there is nothing to open, or no record that the config fits. A `FileNotFoundError`.
    """
    if train_type not in DATASETS:
        raise TrainTypeError(f"train_type is {train_type!r}; allowed are {', '.join(DATASETS)}")
    window = (window_size, stride) if train_type in STREAMED else (0, None)
    given = _config_of(config)
    store: Store
    if detect_format(path) == "bin":
        store = ShardStore(path, *window, pad_last=pad_last, weights=weights)
        tokenizer = None if tokenizer_path is None else RecordTokenizer.from_folder(tokenizer_path)
        _check_made_with(store, tokenizer, given)
    else:
        found = given or _config_beside(Path(path)) or _Found(_config_of_type(train_type, max_len), None)
        tokenizer = RecordTokenizer.from_folder(_tokenizer_of(found, tokenizer_path, path))
        try:
            store = JsonlStore(path, found.config, tokenizer, *window, pad_last=pad_last, weights=weights)
        except NoRecordsError as error:
            raise error if found.is_given else _without_config(error, train_type) from error
    if pad_id is None:
        pad_id = (tokenizer.pad_id if tokenizer else None) or 0
    return DATASETS[train_type](store, pad_id, **options)


@dataclass(frozen=True)
class _Found:
    """A config, and the tokenizer folder that it names."""

    config: PipelineConfig
    tokenizer_path: Path | None
    is_given: bool = False
    """Somebody wrote it, so it is not what the type of training has by default."""


def _config_of(config: Config | None) -> _Found | None:
    if config is None:
        return None
    if isinstance(config, PipelineConfig):
        return _Found(config, None, is_given=True)
    if isinstance(config, Mapping):
        return _Found(*parse_config(dict(config), Path()), is_given=True)
    return _Found(*read_config_file(Path(config)), is_given=True)


def _config_beside(path: Path) -> _Found | None:
    folder = path if path.is_dir() else path.parent
    places = [folder / DATASET_CONFIG]
    if _MONTH.fullmatch(folder.absolute().name):
        places.append(folder.absolute().parent / CORPUS_CONFIG)
    return next((_config_of(file) for file in places if file.is_file()), None)


def _config_of_type(train_type: str, max_len: int) -> PipelineConfig:
    if train_type == "dpo":
        return pair_config(max_len)
    chat = {"field": "messages", "action": "$role", "template": True}
    group = {
        "prompts": {"sections": [{"field": "prompt", "action": "mask", "template": True}]},
        "responses": {"sections": [{"field": "responses", "action": "train"}], "list_field": True, "mask_key": "masks"},
        "rewards": {"sections": [{"field": "rewards", "action": "value"}]},
    }
    return PipelineConfig.from_dict(
        {
            "input": {"sources": group} if train_type == "grpo" else {"sections": [chat]},
            "mask": {"system": "mask", "user": "mask", "assistant": "train"},
            "preprocessing": {"max_seq_len": max_len},
        }
    )


def _tokenizer_of(found: _Found, given: Path | str | None, path: Path | str) -> Path | str:
    chosen = given or found.tokenizer_path
    if chosen is None:
        raise RecordConfigError(
            f"{path}: .jsonl files need a tokenizer: pass {TOKENIZER_PATH}, or put a {DATASET_CONFIG} beside them"
        )
    return chosen


def _without_config(error: NoRecordsError, train_type: str) -> NoRecordsError:
    return NoRecordsError(
        f"{error}; {train_type} without a config reads {_FIELDS[train_type]}: for other records pass config=, "
        f"or put a {DATASET_CONFIG} beside them"
    )


def _check_made_with(store: ShardStore, tokenizer: RecordTokenizer | None, config: _Found | None) -> None:
    asked = {
        "tokenizer_fingerprint": tokenizer and tokenizer.fingerprint,
        "config_fingerprint": config and config.config.fingerprint,
    }
    for name, fingerprint in asked.items():
        made_with = store.manifest.get(name)
        if fingerprint is not None and made_with not in (None, fingerprint):
            raise StoreChangedError(
                f"{store.path}: was made with the {name} {made_with}; that asked for is {fingerprint}"
            )
