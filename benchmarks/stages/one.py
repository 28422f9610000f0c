"""One stage in this process, its results as JSON: `python -m benchmarks.stages.one STAGE GAMES ROUNDS [--full]`."""

import argparse
import sys

from benchmarks.corpora import DISTINCT_GAMES, default_corpora
from benchmarks.plan import Plan
from benchmarks.report import to_json
from benchmarks.stages import STAGES


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("games", type=int)
    parser.add_argument("rounds", type=int)
    parser.add_argument("--full", action="store_true")
    chosen = parser.parse_args(arguments)
    corpora = default_corpora(min(DISTINCT_GAMES, chosen.games))
    print(to_json(STAGES[chosen.stage].run(Plan(corpora, chosen.games, chosen.rounds, chosen.full))))


if __name__ == "__main__":
    main(sys.argv[1:])
