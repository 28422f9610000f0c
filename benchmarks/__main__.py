"""`python -m benchmarks`: run stages, show the table, write the JSON."""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora import head_is_present
from benchmarks.machine import ONE_THREAD, gpu_may_be_present, pinned
from benchmarks.report import RESULTS, Result, from_json, not_run, to_json, to_table, verdict
from benchmarks.stages import STAGES

GAMES, ROUNDS = 200_000, 5
QUICK_GAMES, QUICK_ROUNDS = 20_000, 1
FEWEST_GAMES = 20


def main(arguments: Sequence[str]) -> None:
    """Run what the command line asks for; a stage that fails is named in the end, and the others are shown."""
    chosen = _parse(arguments)
    games = chosen.games or (QUICK_GAMES if chosen.quick else GAMES)
    rounds = QUICK_ROUNDS if chosen.quick else ROUNDS
    settings = [str(games), str(rounds), *(["--full"] if chosen.full else [])]
    results: list[Result] = []
    failed: list[str] = []
    for name in chosen.stage or STAGES:
        began = time.monotonic()
        print(f"{name} ...", end="", file=sys.stderr, flush=True)
        try:
            results += run_stage(name, settings)
        except subprocess.CalledProcessError:
            failed.append(name)
        print(f" {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(to_table(results))
    print(f"\n{verdict(results)}")
    chosen.results.parent.mkdir(parents=True, exist_ok=True)
    chosen.results.write_text(to_json(results))
    if failed:
        sys.exit(f"Failed, for the reason shown above: {', '.join(failed)}")


def run_stage(name: str, settings: Sequence[str]) -> list[Result]:
    """Measure one stage in a process of its own, so that none runs in the memory and threads of another.

    Raises `CalledProcessError` where it fails; its traceback is on stderr.
    """
    stage = STAGES[name]
    if stage.needs_head and not head_is_present():
        return [not_run(name, "the real games (shared/data beside the project) are not on this machine")]
    if stage.needs_gpu and not gpu_may_be_present():
        return [not_run(name, "no GPU that torch could use is on this machine")]
    with pinned() if stage.one_core else contextlib.nullcontext():
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.stages.one", name, *settings],
            env=os.environ | (ONE_THREAD if stage.one_core else {}),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return from_json(done.stdout)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure each step against plain Python and against what caps it; see docs/benchmarks.md.",
        epilog=f"Stages: {', '.join(STAGES)}.",
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK_GAMES} games and {QUICK_ROUNDS} round: a minute or two"
    )
    parser.add_argument(
        "--full", action="store_true", help="let growth go to five times as many games, and records to 1 GB"
    )
    parser.add_argument(
        "--stage", action="append", choices=STAGES, metavar="NAME", help="this stage only; may be given again"
    )
    parser.add_argument("--games", type=_games, help=f"games of a corpus (default: {GAMES:,})")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes (default: %(default)s)")
    return parser.parse_args(arguments)


def _games(text: str) -> int:
    if (number := int(text)) < FEWEST_GAMES:
        raise argparse.ArgumentTypeError(f"{text}: at least {FEWEST_GAMES} games")
    return number


if __name__ == "__main__":
    main(sys.argv[1:])
