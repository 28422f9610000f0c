"""Record corpora: JSONL to shards, against the tokenizer's own batch encoding of the same texts."""

import functools
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Variant, Work, interleave
from benchmarks.memory import peak_of_step
from benchmarks.plan import Plan
from benchmarks.report import Floor, Result
from rukh_assets.records import Pipeline, best_fit
from rukh_loaders.records import PipelineConfig, RecordTokenizer

_RECORDS = 4_000
_FULL_BYTES = 1_000_000_000
_WORDS_A_RECORD = 160
_WORDS = 60_000
_VOCAB_SIZE = 32_000
_BATCH = 256
_DOCUMENTS = 1_000_000
_ROW = 8192

CONFIG = PipelineConfig.from_dict(
    {
        "input": {"sections": [{"field": "text", "action": "train"}]},
        "preprocessing": {"batch_size": _BATCH, "packing_strategy": "bfd", "max_packed_len": _ROW},
    }
)


def records(plan: Plan) -> list[Result]:
    """Texts of about 1 kB, and a BPE tokenizer of 32,000 entries trained on them; "games" are records here.

    Beside it, a million documents packed into rows, and with `--full` 1 GB of texts once, for its memory.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = list(_texts(plan.at_most(_RECORDS)))
        tokenizer = _train(texts, folder / "tokenizer")
        lines = _write(folder / "texts.jsonl", texts)
        timings = interleave(
            [
                Variant("encode_batch alone", functools.partial(_encode, texts, tokenizer)),
                Variant("one record at a time", functools.partial(_one_by_one, lines, tokenizer, folder / "plain.npy")),
                Variant("rukh", functools.partial(_run, lines, tokenizer.path, folder / "corpus")),
            ],
            plan.rounds,
        )
        results = plan.compare("records", timings, {"rukh": Floor(least=0.5)})
        results.append(plan.figure("records", "a million documents packed", _pack(), "s", Floor(most=5)))
        if plan.full:
            results.append(_full(plan, texts, tokenizer, folder))
    return results


def _texts(count: int) -> Iterator[str]:
    """Texts of made-up words, of which a few are frequent and most are rare, as in any language."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgkqjxz"))
    lengths = rng.integers(2, 12, _WORDS)
    words = ["".join(rng.choice(letters, length)) for length in lengths.tolist()]
    chances = 1 / np.arange(1, _WORDS + 1)
    for _ in range(count):
        chosen = rng.choice(_WORDS, _WORDS_A_RECORD, p=chances / chances.sum())
        yield " ".join(words[word] for word in chosen.tolist())


def _train(texts: list[str], folder: Path) -> RecordTokenizer:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=_VOCAB_SIZE, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    return RecordTokenizer.from_folder(folder)


def _write(path: Path, texts: list[str], repeats: int = 1) -> Path:
    block = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    with path.open("w") as file:
        for _ in range(repeats):
            file.write(block)
    return path


def _encode(texts: list[str], tokenizer: RecordTokenizer) -> Work:
    n_tokens = 0
    for begin in range(0, len(texts), _BATCH):
        n_tokens += sum(map(len, tokenizer.encode_batch(texts[begin : begin + _BATCH])))
    return Work(len(texts), n_tokens)


def _one_by_one(lines: Path, tokenizer: RecordTokenizer, target: Path) -> Work:
    ids: list[int] = []
    positions: list[int] = []
    count = 0
    with lines.open() as file:
        for line in file:
            one = tokenizer.encode(json.loads(line)["text"])
            ids += one
            positions += range(len(one))
            count += 1
    np.save(target, np.array([ids, positions], np.int32))
    return Work(count, len(ids))


def _run(lines: Path, tokenizer: Path, folder: Path) -> Work:
    report = Pipeline(CONFIG, [lines], folder, tokenizer).run()
    return Work(report.kept, report.n_tokens)


def _pack() -> float:
    """CPU seconds of packing lengths as they are in a corpus of texts."""
    lengths: NDArray[np.int64] = np.random.default_rng(0).lognormal(6, 1.2, _DOCUMENTS).astype(np.int64)
    begun = time.process_time()
    best_fit(lengths.clip(1, _ROW), _ROW)
    return time.process_time() - begun


def _full(plan: Plan, texts: list[str], tokenizer: RecordTokenizer, folder: Path) -> Result:
    repeats = -(-_FULL_BYTES // sum(map(len, texts)))
    lines = _write(folder / "full.jsonl", texts, repeats)
    with peak_of_step() as peak:
        work = _run(lines, tokenizer.path, folder / "full")
    return plan.figure(
        "records",
        "1 GB of texts",
        -1.0 if peak.mb is None else peak.mb,
        "MB",
        Floor(most=400),
        can_tell=peak.mb is not None,
        games=work.games,
    )
