"""What a page shows of a corpus of records: the lengths of its documents, and one of them with its trained part."""

import json
from collections.abc import Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from rukh_loaders.formats import ShardReader
from rukh_loaders.formats.corpus import POSITION_IDS, Corpus, KeyKind
from rukh_loaders.records import RecordTokenizer

_SHOWN_CHARACTERS = 300
_SHOWN_PARTS = 8
_SHOWN_RUNS = 24
_INDENT = "    "


def document_lengths(corpus: Corpus) -> NDArray[np.int64]:
    """Tokens of each document under the first key of ids: of packed rows each document, of groups all together."""
    key = _ids_keys(corpus)[0]
    is_group = corpus.keys.keys[key].kind is KeyKind.GROUP
    lengths = []
    for reader in corpus.readers:
        tensor = reader.tensor(key)
        cut = tensor.offsets if is_group or tensor.parts is None else tensor.parts.offsets
        assert cut is not None  # opening the corpus has checked it
        lengths.append(np.diff(cut))
    return np.concatenate(lengths)


def describe_record(corpus: Corpus, i: int, tokenizer: RecordTokenizer) -> str:
    """Record i of the first shard as Markdown: an indented block, a line for each run of trained or masked tokens.

    Texts stand as JSON strings and are shortened in their middle, so that whatever a record holds stays text.
    `IndexError` for a record that is not there.
    """
    reader = corpus.readers[0]
    lines = []
    for name, key in corpus.keys.keys.items():
        if key.kind is KeyKind.VALUES:
            lines.append(f"{name}: {', '.join(f'{number:g}' for number in reader.record(name, i)[:_SHOWN_PARTS])}")
        elif key.along is None:
            lines += [f"{name}:", *_describe_parts(corpus, reader, name, i, tokenizer)]
    return "\n".join(_INDENT + line for line in lines)


def _describe_parts(
    corpus: Corpus, reader: ShardReader, name: str, i: int, tokenizer: RecordTokenizer
) -> Iterator[str]:
    ids = reader.parts(name, i)
    masks = _split_mask(corpus, reader, name, i, [part.size for part in ids])
    for part, mask in list(zip(ids, masks, strict=True))[:_SHOWN_PARTS]:
        yield from _describe_runs(part.tolist(), mask.tolist(), tokenizer)
    if len(ids) > _SHOWN_PARTS:
        yield f"- {len(ids) - _SHOWN_PARTS} more"


def _split_mask(corpus: Corpus, reader: ShardReader, name: str, i: int, sizes: list[int]) -> list[NDArray[np.int64]]:
    """The mask that goes along a key's record, part by part; ones where it is not written."""
    keys = corpus.keys.keys.items()
    mask = next((mask for mask, key in keys if key.along == name and mask != POSITION_IDS), None)
    whole = np.ones(sum(sizes), np.int64) if mask is None else reader.record(mask, i).astype(np.int64)
    return np.split(whole, np.cumsum(sizes)[:-1])


def _describe_runs(ids: list[int], mask: list[int], tokenizer: RecordTokenizer) -> Iterator[str]:
    runs = [
        (trained, [i for i, _ in run]) for trained, run in groupby(zip(ids, mask, strict=True), lambda pair: pair[1])
    ]
    bullet = "- "
    for trained, run in runs[:_SHOWN_RUNS]:
        yield f"{bullet}{'TRAINED' if trained else 'masked '} {_quote(tokenizer.decode(run))}"
        bullet = "  "
    if len(runs) > _SHOWN_RUNS:
        yield f"  {len(runs) - _SHOWN_RUNS} more runs"
    if not runs:
        yield "- empty"


def _quote(text: str) -> str:
    if len(text) > _SHOWN_CHARACTERS:
        half = _SHOWN_CHARACTERS // 2
        text = f"{text[:half]} [...] {text[-half:]}"
    return json.dumps(text, ensure_ascii=False)


def _ids_keys(corpus: Corpus) -> list[str]:
    """The keys of ids, sequences before groups: the first is the one whose tokens the manifest counts."""
    keys = corpus.keys.keys.items()
    kinds = (KeyKind.SEQUENCE, KeyKind.GROUP)
    return [name for kind in kinds for name, key in keys if key.kind is kind and key.along is None]
