"""Files of records to a corpus of shards."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from rukh_assets.errors import EmptyCorpusError, OutputFolderError
from rukh_assets.records.inputs import InputFile, hash_inputs, read_in_batches
from rukh_assets.records.layout import check_vocabulary, layout_of
from rukh_assets.records.writer import CorpusWriter
from rukh_assets.standing import standing_manifest
from rukh_assets.workers import Workers
from rukh_loaders.errors import ManifestError
from rukh_loaders.formats import digest, publish_folder, read_manifest, write_manifest
from rukh_loaders.formats.corpus import CONTENT, CORPUS_FORMAT_VERSION, ShardEntry
from rukh_loaders.records import Built, MaskBuilder, PipelineConfig, RecordTokenizer, Tally, build_batch, judge

RECORDS_VERSION = 1
"""Raised with any change that makes other bytes of the same inputs."""

BUFFER_TOKENS = 1 << 20
"""Numbers that wait in memory as Python lists, of some 40 bytes each, before they go into files."""

_LIBRARIES = ("jinja2", "numpy", "tokenizers")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Report:
    """What became of the records: counts, a few places of each reason why some were skipped, and the shards.

    `truncated` counts sequences that were cut; `n_records` are those of the shards, rows where rows are packed, and
    `n_tokens` the ids of the first key of ids.
    """

    output_dir: Path
    kept: int
    skipped: dict[str, int]
    samples: dict[str, list[str]]
    truncated: int
    shards: list[ShardEntry]

    @property
    def n_records(self) -> int:
        """Records in all shards."""
        return sum(shard.n_records for shard in self.shards)

    @property
    def n_tokens(self) -> int:
        """Tokens in all shards."""
        return sum(shard.n_tokens for shard in self.shards)


class Pipeline:
    """Reads `input_paths`, builds records as `config` says with the tokenizer of a folder, and writes `output_dir`.

    No byte that is written depends on `workers` (threads that build batches; the tokenizer's own are as many as there
    are cores) or on `buffer_tokens`, which bounds the memory beside that of the batches. Opening it checks everything
    that can be checked before a record is read: the config, the tokenizer and its vocabulary, the input paths.

    Errors: those of `RecordTokenizer.from_folder`, `MaskBuilder`, `find_inputs` and `layout_of`; `RecordValueError`
    for a dtype too small for the vocabulary; `OutputFolderError` for an output folder that holds something else than a
    corpus, or an input or the tokenizer, since it is replaced whole.
    """

    def __init__(
        self,
        config: PipelineConfig,
        input_paths: Iterable[Path | str],
        output_dir: Path | str,
        tokenizer_path: Path | str,
        workers: int | None = 1,
        buffer_tokens: int = BUFFER_TOKENS,
    ) -> None:
        self.config = config
        self.output_dir = Path(output_dir)
        self.workers = workers
        self.buffer_tokens = buffer_tokens
        self.tokenizer = RecordTokenizer.from_folder(tokenizer_path)
        self.layout = layout_of(config)
        check_vocabulary(self.layout, self.tokenizer.vocab_size)
        self._builder = MaskBuilder(config.for_building(), self.tokenizer)
        self.inputs = hash_inputs(input_paths)
        _check_output(self.output_dir, [*(file.path for file in self.inputs), self.tokenizer.path])

    def run(self, progress: Progress | None = None) -> Report:
        """Write the corpus, in place of one that stands there already; it appears whole.

        `progress` is called with the number of records read so far and the tokens of those kept.

        Raises:
            EmptyCorpusError: no record was kept; nothing is written then, and an old corpus stays.
            RecordRefusedError: a bad line or record where the config is strict.
            RecordValueError: an id or a position that its dtype cannot hold.
            SourceChangedError: an input file was changed while it was read.
        """
        with Workers(self.workers) as crew, publish_folder(self.output_dir) as building:
            writer = CorpusWriter(building, self.config, self.layout, self.buffer_tokens)
            tally = self._write_records(writer, crew, progress)
            if not tally.kept:
                raise EmptyCorpusError(_describe_empty(self.inputs, tally))
            shards = writer.finish()
            write_manifest(building, self._manifest(tally, shards, writer))
        skipped = {reason.value: count for reason, count in sorted(tally.skipped.items())}
        samples = {reason.value: places for reason, places in sorted(tally.samples.items())}
        return Report(self.output_dir, tally.kept, skipped, samples, tally.truncated, shards)

    def standing(self) -> dict[str, Any] | None:
        """The manifest of the corpus in `output_dir` if it is whole and `run` would make it again, else None."""
        return standing_manifest(self.output_dir, self._inputs())

    def _write_records(self, writer: CorpusWriter, crew: Workers, progress: Progress | None) -> Tally:
        tally = Tally()
        n_tokens = 0
        batches = crew.ahead(read_in_batches(self.inputs, self.config.preprocessing.batch_size))
        built = chain.from_iterable(crew.map(partial(build_batch, builder=self._builder), batches))
        for n_read, (place, outcome) in enumerate(judge(built, self.config), 1):
            tally.note(place, outcome)
            if isinstance(outcome, Built):
                writer.add(place, outcome)
                n_tokens += outcome.n_tokens
            if progress is not None:
                progress(n_read, n_tokens)
        return tally

    def _manifest(self, tally: Tally, shards: list[ShardEntry], writer: CorpusWriter) -> dict[str, Any]:
        skipped = {reason.value: count for reason, count in tally.skipped.items()}
        return {
            "format_version": CORPUS_FORMAT_VERSION,
            "code_version": RECORDS_VERSION,
            "content": CONTENT,
            **self.layout.keys.to_json(),
            "config": self.config.to_dict(),
            "config_fingerprint": self.config.fingerprint,
            "tokenizer_fingerprint": self.tokenizer.fingerprint,
            "vocab_size": self.tokenizer.vocab_size,
            "sources": [{"name": file.path.name, **file.record} for file in self.inputs],
            "counts": {
                "read": tally.kept + tally.skipped.total(),
                "kept": tally.kept,
                "skipped": skipped,
                "truncated": tally.truncated,
            },
            "skipped_at": {
                reason.value: [[place.path.name, place.line] for place in places]
                for reason, places in tally.places.items()
            },
            "shards": [asdict(shard) for shard in shards],
            "n_records": sum(shard.n_records for shard in shards),
            "n_tokens": sum(shard.n_tokens for shard in shards),
            "files": writer.files,
            "inputs": self._inputs(),
            "data_version": digest(writer.files),
            "libraries": {name: version(name) for name in _LIBRARIES},
        }

    def _inputs(self) -> str:
        return digest(
            {
                "sources": [file.record["sha256"] for file in self.inputs],
                "config": self.config.fingerprint,
                "tokenizer": self.tokenizer.fingerprint,
                "code_version": RECORDS_VERSION,
            }
        )


def _check_output(folder: Path, read: Iterable[Path]) -> None:
    """Raise `OutputFolderError` where replacing the folder would remove more than an old corpus."""
    for path in read:
        if path.resolve().is_relative_to(folder.resolve()):
            raise OutputFolderError(f"{folder}: would be replaced whole, and {path}, which is read, lies in it")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        content = read_manifest(folder).get("content")
    except ManifestError:
        content = None
    if content != CONTENT:
        raise OutputFolderError(
            f"{folder}: would be replaced whole, and it holds something else than a corpus of records; "
            "allowed: a folder that is new, empty or such a corpus"
        )


def _describe_empty(inputs: list[InputFile], tally: Tally) -> str:
    files = ", ".join(str(file.path) for file in inputs)
    if not tally.skipped:
        return f"{files}: no records, so there is nothing to write"
    reasons = "; ".join(
        f"{count} {reason.value}, such as {tally.samples[reason][0]}" for reason, count in sorted(tally.skipped.items())
    )
    return f"{files}: all of {tally.skipped.total()} records were skipped: {reasons}"
