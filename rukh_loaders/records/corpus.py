"""Files to built records, each with the place it came from, and the count of what was kept and what was not.

`build_corpus` is the whole way. Who spreads the work over several workers takes its parts: `read_batches`, then
`build_batch` for each in any order, then `judge` over all outcomes in the order of the batches.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rukh_loaders.errors import RecordRefusedError
from rukh_loaders.records.config import PipelineConfig
from rukh_loaders.records.masks import MaskBuilder
from rukh_loaders.records.outcomes import Built, Skipped, SkipReason
from rukh_loaders.records.reading import BadLine, find_inputs, read_records
from rukh_loaders.records.tokenizer_folder import RecordTokenizer

MAX_BATCH_CHARACTERS = 1 << 21
"""A batch is no larger than this, or it is one record: encoded, a text takes some hundred times its size."""

SAMPLES = 5
"""Of each reason, so many places are kept in a tally."""


@dataclass(frozen=True)
class Place:
    """Where a record stands: a file, and in it a line from 1 (in a .json list, an element)."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


Entry = tuple[Place, dict[str, Any] | BadLine]
Outcome = tuple[Place, Built | Skipped]


@dataclass
class Tally:
    """Counts of outcomes: records kept, skipped by reason, and sequences that were cut.

    Of each reason, `places` are the first few, and `samples` the same with what was got there, as texts.
    """

    kept: int = 0
    truncated: int = 0
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    samples: dict[SkipReason, list[str]] = field(default_factory=dict)
    places: dict[SkipReason, list[Place]] = field(default_factory=dict)

    def note(self, place: Place, outcome: Built | Skipped) -> None:
        """Count one outcome of `judge`."""
        if isinstance(outcome, Built):
            self.kept += 1
            self.truncated += outcome.truncated
            return
        self.skipped[outcome.reason] += 1
        samples = self.samples.setdefault(outcome.reason, [])
        if len(samples) < SAMPLES:
            samples.append(f"{place}: {outcome.detail}")
            self.places.setdefault(outcome.reason, []).append(place)


def build_corpus(paths: Iterable[Path | str], config: PipelineConfig, tokenizer: RecordTokenizer) -> Iterator[Outcome]:
    """Every record of the files with its place, built or skipped, in order, a batch in memory at a time.

    Errors: those of `find_inputs`, `MaskBuilder` and `judge`; the first two come before the first record.
    """
    builder = MaskBuilder(config, tokenizer)
    files = find_inputs(paths)
    batches = read_batches(files, config.preprocessing.batch_size)
    return judge((outcome for batch in batches for outcome in build_batch(batch, builder)), config)


def read_batches(files: Iterable[Path], batch_size: int) -> Iterator[list[Entry]]:
    """The lines of the files in order and in batches, across the ends of files."""
    return in_batches(
        ((Place(path, line), record) for path in files for line, record in read_records(path)), batch_size
    )


def in_batches(entries: Iterable[Entry], batch_size: int) -> Iterator[list[Entry]]:
    """Entries in order, at most `batch_size` and, but for one alone, `MAX_BATCH_CHARACTERS` of text at a time."""
    batch: list[Entry] = []
    characters = 0
    for entry in entries:
        more = _count_characters(entry[1])
        if batch and (len(batch) == batch_size or characters + more > MAX_BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(entry)
        characters += more
    if batch:
        yield batch


def build_batch(batch: list[Entry], builder: MaskBuilder) -> list[Outcome]:
    """Every entry's outcome, in order; a bad line is skipped for its own reason."""
    built = iter(builder.build([record for _, record in batch if not isinstance(record, BadLine)]))
    return [
        (place, Skipped(record.reason, record.detail) if isinstance(record, BadLine) else next(built))
        for place, record in batch
    ]


def judge(outcomes: Iterable[Outcome], config: PipelineConfig) -> Iterator[Outcome]:
    """The outcomes as they count: a record that trains nothing is skipped, and `max_items` ends the run.

    `RecordRefusedError` at the first bad line or malformed record where the config is strict.
    """
    kept = 0
    for place, outcome in outcomes:
        if isinstance(outcome, Built) and outcome.untrained:
            detail = f"{', '.join(outcome.untrained)}: no trained token"
            outcome = Skipped(SkipReason.NOTHING_TO_TRAIN, detail)
        if isinstance(outcome, Skipped) and outcome.reason.is_fault and config.preprocessing.strict:
            raise RecordRefusedError(f"{place}: {outcome.reason}: {outcome.detail}")
        yield place, outcome
        kept += isinstance(outcome, Built)
        if kept == config.preprocessing.max_items:
            return


def _count_characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_count_characters, value.values()))
    return sum(map(_count_characters, value)) if isinstance(value, list) else 0
