"""The code location: explicit lists of what `rukh_assets.defs` defines, nothing else."""

import dagster as dg

from rukh_assets.defs.automation import month_job, monthly_schedule
from rukh_assets.defs.checks import checks
from rukh_assets.defs.games import games
from rukh_assets.defs.reports import parity_fixture, tokenizer_stats
from rukh_assets.defs.resources import GameSource, Lake, Machine
from rukh_assets.defs.schemes import scheme_assets
from rukh_assets.defs.tokenizers import bpe_tokenizer, vocab

defs = dg.Definitions(
    assets=[games, *scheme_assets, vocab, bpe_tokenizer, tokenizer_stats, parity_fixture],
    asset_checks=checks,
    jobs=[month_job],
    schedules=[monthly_schedule],
    resources={"lake": Lake(), "source": GameSource(), "machine": Machine()},
    executor=dg.in_process_executor,
)
