"""A month through the whole chain: by its plain functions, or by Dagster, which calls the same.

    python -m benchmarks.chain HF BPE [WARM-UP]    one month of a raw corpus in a process of its own
    python -m benchmarks.chain                     the imports alone

prints a JSON object with the seconds of CPU time, those of the warm-up left out, and the most memory that the process
held since it started. The bpe tokenizer stands already, as it does for every month but the first.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import tokenizers  # noqa: F401  # what the chain imports when it needs it is imports all the same

import rukh_assets.board  # noqa: F401
from benchmarks.corpora import MONTH, open_month, setting_of
from benchmarks.memory import peak_of_process
from rukh_assets.definitions import defs
from rukh_assets.defs.checks import (
    games_counts_agree,
    games_exist,
    pack_counts_agree,
    pack_stream_is_whole,
    pack_vocabulary_is_the_tokenizers,
)
from rukh_assets.defs.resources import Lake
from rukh_assets.encode import SCHEMES
from rukh_assets.ingest.filters import Filters
from rukh_assets.ingest.month import read_month
from rukh_assets.packing import pack_shards, write_shards
from rukh_assets.reports.fixture import FIXTURE_PGN, verify_fixture, write_fixture
from rukh_assets.reports.month import publish_newest, write_report
from rukh_assets.training import TrainingGames, publish_vocab, tokenizer_of_month
from rukh_loaders.tokenizers.bpe import TRAINING_GAMES, VOCAB_SIZE


@contextmanager
def lake_with_tokenizer(bpe: Path) -> Iterator[Lake]:
    """An empty lake in a temporary folder, but for the tokenizer."""
    with tempfile.TemporaryDirectory() as home:
        lake = Lake(home=home)
        shutil.copytree(bpe, lake.bpe)
        yield lake


def run_plainly(lake: Lake, hf: Path) -> None:
    """Call what the assets of the job `month` call, in their order."""
    publish_vocab(lake.vocab)
    read_month(MONTH, open_month(hf), Filters(), lake.games(MONTH))
    tokenizer_of_month(
        lake.bpe,
        TrainingGames.standing(MONTH, lake.games(MONTH)),
        training_month=None,
        training_games=TRAINING_GAMES,
        vocab_size=VOCAB_SIZE,
    )
    for scheme in SCHEMES:
        write_shards(lake.games_file(MONTH), lake.encoder(scheme), lake.shards(scheme, MONTH))
        pack_shards(lake.shards(scheme, MONTH), lake.games_file(MONTH), lake.pack(scheme, MONTH))
    write_report({scheme: lake.pack(scheme, MONTH) for scheme in SCHEMES}, lake.bpe_file, lake.report(MONTH))
    publish_newest(lake.reports, lake.published_statistics)
    write_fixture(FIXTURE_PGN, lake.bpe_file, lake.fixtures)


def check_plainly(lake: Lake) -> None:
    """Call what the asset checks of the job call; each raises where something is wrong."""
    games_exist(lake, MONTH)
    games_counts_agree(lake, MONTH)
    for scheme in SCHEMES:
        pack_counts_agree(scheme)(lake, MONTH)
        pack_vocabulary_is_the_tokenizers(scheme)(lake, MONTH)
        pack_stream_is_whole(scheme)(lake, MONTH)
    verify_fixture(lake.fixtures, lake.bpe_file)


def run_by_dagster(lake: Lake, hf: Path) -> dg.ExecuteInProcessResult:
    """Run the job `month`, checks included, in this process and on an instance that is gone afterwards."""
    return defs.resolve_job_def("month").execute_in_process(
        partition_key=MONTH,
        run_config={
            "resources": {"lake": {"config": {"home": lake.home}}, "source": {"config": {"source": setting_of(hf)}}},
            "loggers": {"console": {"config": {"log_level": "ERROR"}}},
        },
    )


def main() -> None:
    """Measure one month, or the imports."""
    cpu_s = 0.0
    if len(sys.argv) > 1:
        hf, bpe, *warm_up = map(Path, sys.argv[1:])
        for corpus in (*warm_up, hf):
            with lake_with_tokenizer(bpe) as lake:
                began = time.process_time()
                run_plainly(lake, corpus)
                cpu_s = time.process_time() - began
    print(json.dumps({"cpu_s": cpu_s, "peak_mb": peak_of_process()}))


if __name__ == "__main__":
    main()
