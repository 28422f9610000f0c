"""`python -m rukh_assets.records`: files of records to a corpus of shards.

Exit code 0, 1 for an error (also when no record is kept), 2 for wrong usage. The report goes to stdout, progress and
errors to stderr.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rukh_assets.errors import RukhAssetsError
from rukh_assets.records.pipeline import Pipeline, Report
from rukh_loaders.errors import RukhLoadersError
from rukh_loaders.records import PipelineConfig
from rukh_loaders.records.config_file import read_config_file

_SECONDS_BETWEEN_LINES = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _parse(arguments)
    try:
        config, tokenizer = read_config_file(options.config)
        tokenizer = tokenizer if options.tokenizer is None else options.tokenizer
        pipeline = Pipeline(_override(config, options), options.inputs, options.output_dir, tokenizer, options.workers)
        report = pipeline.run(_Progress())
    except (RukhLoadersError, RukhAssetsError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(report_lines(report)))
    return 0


def report_lines(report: Report) -> list[str]:
    """The report as text: what was written, and what was skipped with places to look at."""
    lines = [
        f"{report.output_dir}: {report.kept} records kept, {sum(report.skipped.values())} skipped, "
        f"{report.truncated} sequences cut",
        f"{len(report.shards)} shards, {report.n_records} rows, {report.n_tokens} tokens",
    ]
    for reason, count in report.skipped.items():
        lines.append(f"skipped {count}: {reason}")
        lines += [f"  {sample}" for sample in report.samples[reason]]
    return lines


class _Progress:
    """A line on stderr now and then."""

    def __init__(self) -> None:
        self._begun = self._last = time.monotonic()

    def __call__(self, n_read: int, n_tokens: int) -> None:
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            rate = n_tokens / (now - self._begun)
            print(f"{n_read} records, {n_tokens} tokens, {rate:.0f} tokens/s", file=sys.stderr)


def _override(config: PipelineConfig, options: argparse.Namespace) -> PipelineConfig:
    """The config with what the command line says instead; checked like one from a file."""
    given = config.to_dict()
    if options.batch_size is not None:
        given["preprocessing"]["batch_size"] = options.batch_size
    if options.strict:
        given["preprocessing"]["strict"] = True
    return PipelineConfig.from_dict(given)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m rukh_assets.records",
        description="Files of JSON records to a corpus of shards that training reads.",
    )
    parser.add_argument("inputs", nargs="+", type=Path, help=".jsonl or .json files, or folders of .jsonl files")
    parser.add_argument("-o", "--output-dir", required=True, type=Path, help="written whole; an old corpus is replaced")
    parser.add_argument("-c", "--config", required=True, type=Path, help="the config, a JSON file: see docs/records.md")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        help="folder of tokenizer.json; by default the config's key tokenizer_path, a path from the config's folder, "
        "or tokenizer/ beside the config, or the config's folder",
    )
    parser.add_argument("--batch-size", type=_positive, help="records encoded together, instead of the config's")
    parser.add_argument("--workers", type=_positive, default=1, help="threads that build batches (default: 1)")
    parser.add_argument("--strict", action="store_true", help="end at the first bad line or malformed record")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
