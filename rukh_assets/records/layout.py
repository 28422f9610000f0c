"""Which keys the shards of a config have: what of a record is written under which name, as what dtype, how packed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rukh_assets.errors import RecordValueError
from rukh_loaders.errors import RecordConfigError
from rukh_loaders.formats.corpus import POSITION_IDS, CorpusKeys, KeyKind, RecordKey
from rukh_loaders.records import Output, OutputKind, PipelineConfig

SEQUENCE = "sequence"
"""The one output that can be packed into rows and that gets position ids."""

INT_DTYPE = "int32"
"""Of ids, masks and positions where the config says nothing."""


@dataclass(frozen=True)
class Layout:
    """The keys of every shard, and how rows are made: `position_mode` is None where there are no position ids.

    `stored` are the keys that come from records, all but the position ids; `primary` is the first key of ids, whose
    tokens are counted; `packing` is None where rows are not packed, and a row is a record.
    """

    keys: CorpusKeys
    stored: tuple[str, ...]
    primary: str
    packing: str | None
    position_mode: str | None


def layout_of(config: PipelineConfig) -> Layout:
    """The layout of a config's shards.

    A mask is left out where whatever the record it is all ones: of a single sequence whose texts are all trained, if
    the config does not name its mask. Groups always have theirs. `RecordConfigError` for a config of values only, and
    for one that packs a `sequence` beside others, which would not be packed with it.
    """
    outputs = config.outputs()
    with_ids = [output for output in outputs if output.kind is not OutputKind.VALUES]
    if not with_ids:
        raise RecordConfigError("input.sources: values only, expected a source of texts or messages as well")
    keys: dict[str, RecordKey] = {}
    all_ones: dict[str, str] = {}
    for output in outputs:
        keys[output.name] = RecordKey(KeyKind(output.kind.value), _dtype(config, output.name, output.kind))
        if output.mask_name is None:
            continue
        if _writes_mask(config, output):
            dtype = _dtype(config, output.mask_name, output.kind)
            keys[output.mask_name] = RecordKey(KeyKind(output.kind.value), dtype, along=output.name)
        else:
            all_ones[output.mask_name] = output.name
    stored = tuple(keys)
    has_sequence = any(output.name == SEQUENCE and output.kind is OutputKind.SEQUENCE for output in outputs)
    mode = config.output.position_ids_mode if has_sequence else "none"
    if mode != "none":
        dtype = _dtype(config, POSITION_IDS, OutputKind.SEQUENCE)
        keys[POSITION_IDS] = RecordKey(KeyKind.SEQUENCE, dtype, along=SEQUENCE)
    primary = next((o for o in with_ids if o.kind is OutputKind.SEQUENCE), with_ids[0])
    return Layout(
        CorpusKeys(keys, all_ones),
        stored,
        primary.name,
        _packing(config, outputs, has_sequence),
        None if mode == "none" else mode,
    )


def check_vocabulary(layout: Layout, vocab_size: int) -> None:
    """Raise `RecordValueError` where a key of ids has a dtype that the vocabulary's highest id does not fit."""
    for name, key in layout.keys.keys.items():
        if key.kind is not KeyKind.VALUES and key.along is None:
            highest = vocab_size - 1
            if not fits(np.dtype(key.dtype), highest):
                raise RecordValueError(
                    f"output.dtype.{name}: {key.dtype} cannot hold the tokenizer's highest id, {highest}"
                )


def fits(dtype: np.dtype[Any], integer: int) -> bool:
    """Whether the dtype holds every integer from 0 up to this one exactly."""
    if dtype.kind == "b":
        return integer <= 1
    if dtype.kind == "f":
        return integer <= 1 << (np.finfo(dtype).nmant + 1)
    return integer <= np.iinfo(dtype).max


def _packing(config: PipelineConfig, outputs: tuple[Output, ...], has_sequence: bool) -> str | None:
    strategy = config.preprocessing.packing_strategy
    if strategy == "simple" or not has_sequence:
        return None
    if len(outputs) > 1:
        others = ", ".join(output.name for output in outputs if output.name != SEQUENCE)
        raise RecordConfigError(
            f"preprocessing.packing_strategy: got {strategy!r} for {SEQUENCE} beside {others}, which cannot be packed "
            "with it; allowed: 'simple'"
        )
    return strategy


def _writes_mask(config: PipelineConfig, output: Output) -> bool:
    source = (config.input.sources or {}).get(output.name)
    is_named = source is not None and source.mask_key is not None
    return output.kind is OutputKind.GROUP or is_named or not output.always_trains


def _dtype(config: PipelineConfig, name: str, kind: OutputKind) -> str:
    if kind is OutputKind.VALUES:
        return config.value_dtype(name).name
    return config.output.dtype.get(name, INT_DTYPE)
