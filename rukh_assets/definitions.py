"""The code location: explicit lists of what `rukh_assets.defs` defines, nothing else."""

import dagster as dg

from rukh_assets.defs.automation import month_job, monthly_records_schedule, monthly_schedule, records_job
from rukh_assets.defs.checks import checks
from rukh_assets.defs.chess_records import chess_assets
from rukh_assets.defs.games import games
from rukh_assets.defs.record_checks import record_checks
from rukh_assets.defs.records import record_assets
from rukh_assets.defs.reports import parity_fixture, tokenizer_stats
from rukh_assets.defs.resources import GameSource, Lake, Machine
from rukh_assets.defs.schemes import scheme_assets
from rukh_assets.defs.tokenizers import bpe_tokenizer, vocab

defs = dg.Definitions(
    assets=[
        games,
        *scheme_assets,
        vocab,
        bpe_tokenizer,
        tokenizer_stats,
        parity_fixture,
        *chess_assets,
        *record_assets,
    ],
    asset_checks=[*checks, *record_checks],
    jobs=[month_job, records_job],
    schedules=[monthly_schedule, monthly_records_schedule],
    resources={"lake": Lake(), "source": GameSource(), "machine": Machine()},
    executor=dg.in_process_executor,
)
