"""Shards and files to open as stores, and what is in them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rukh_loaders.formats import KeyedTensor, ShardWriter, cut_at


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records), encoding="utf-8")
    return path


def write_stream(folder: Path, *segments: Sequence[int], **others: Any) -> Path:
    """Shards of a stream `sequence` without offsets, as other programs write them; `others` are one shard's keys."""
    for i, segment in enumerate(segments):
        keys = {"sequence": np.array(segment, np.int32), **{k: np.array(v) for k, v in others.items()}}
        tensors = {key: KeyedTensor(values) for key, values in keys.items()}
        ShardWriter(folder / "__default__" / f"shard_{i:04d}").write(tensors)
    return folder


def write_records(folder: Path, records: Sequence[Sequence[int]], **others: Sequence[Sequence[int]]) -> Path:
    """One shard whose keys hold records."""
    tensors = {}
    for key, rows in {"sequence": records, **others}.items():
        values = np.array([v for row in rows for v in row], np.int32)
        tensors[key] = KeyedTensor(values, cut_at(np.array([len(row) for row in rows])))
    ShardWriter(folder).write(tensors)
    return folder


def plain(value: Any) -> Any:
    """Arrays and tensors as lists, all the way down."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value
