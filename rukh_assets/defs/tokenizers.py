"""The assets `vocab` and `bpe/tokenizer`: what ids mean."""

import os
from typing import Any

import dagster as dg
from pydantic import Field

from rukh_assets.defs.games import GamesConfig, games_of_month
from rukh_assets.defs.metadata import OWNERS, progress_log
from rukh_assets.defs.resources import GameSource, Lake, Machine
from rukh_assets.errors import SourceMissingError, TrainingGamesError
from rukh_assets.training import KEPT, TRAINING_VERSION, TrainingGames, publish_vocab, tokenizer_of_month


class BpeTraining(dg.Config):
    """How the BPE tokenizer is trained, once; a standing tokenizer is kept until `retrain` asks for another."""

    training_month: str | None = Field(
        default=os.environ.get("RUKH_BPE_MONTH") or None,
        description=(
            "Month whose games train it; they are made where they do not stand yet. Unset: the first month that the "
            "source has (of the sample: 2025-01). Environment: RUKH_BPE_MONTH."
        ),
    )
    training_games: int = Field(default=200_000, ge=1, description="The first so many games of that month.")
    vocab_size: int = Field(default=4096, ge=27, le=65_536, description="Entries, 8 specials and 19 letters included.")
    retrain: bool = Field(
        default=False, description="Replace the standing tokenizer; every bpe pack made with it becomes stale."
    )


@dg.asset(
    group_name="tokenizers",
    kinds={"python", "json"},
    owners=OWNERS,
    code_version="1",
    description="The uci vocabulary, `artifacts/tokenizer/vocab.json`: a fixed enumeration of 2,030 tokens.",
)
def vocab(context: dg.AssetExecutionContext, lake: Lake) -> dg.MaterializeResult[Any]:
    """Write the vocabulary where it is not there already."""
    vocabulary, written = publish_vocab(lake.vocab)
    work = "built" if written else "unchanged: the file holds these bytes"
    context.log.info(f"vocab: {work}")
    return dg.MaterializeResult(
        data_version=dg.DataVersion(vocabulary.vocab_hash),
        metadata={
            "work": work,
            "tokens": vocabulary.vocab_size,
            "vocab_hash": vocabulary.vocab_hash,
            "file": dg.MetadataValue.path(lake.vocab),
        },
    )


@dg.asset(
    key=dg.AssetKey(["bpe", "tokenizer"]),
    deps=["games"],
    group_name="tokenizers",
    kinds={"python", "tokenizers", "json"},
    owners=OWNERS,
    code_version=str(TRAINING_VERSION),
    description=(
        "The BPE tokenizer, trained once on the games of one month and then kept: packs of all months share it. "
        "`retrain: true` in the Launchpad replaces it, and every bpe pack becomes stale; one of sample games also "
        "gives way to the first real month."
    ),
)
def bpe_tokenizer(
    context: dg.AssetExecutionContext, config: BpeTraining, lake: Lake, source: GameSource, machine: Machine
) -> dg.MaterializeResult[Any]:
    """Train where no tokenizer stands or `retrain` is set; otherwise keep the standing one and say so."""

    def make_games(month: str) -> None:
        if lake.has_games(month, sample=source.is_sample):
            return
        try:
            raw = source.open(month)
        except SourceMissingError as missing:
            raise TrainingGamesError(
                f"bpe/tokenizer trains on the games of {month} (RUKH_BPE_MONTH, or `training_month`): {missing}"
            ) from missing
        _, made = games_of_month(context.log, month, raw, source.kept(), lake, GamesConfig(), machine.workers)
        context.log.info(f"bpe/tokenizer: games of its training month {month}: {made}")

    manifest, work = tokenizer_of_month(
        lake.bpe,
        TrainingGames(lake.games, make_games, source.first_month, sample=source.is_sample),
        training_month=config.training_month,
        training_games=config.training_games,
        vocab_size=config.vocab_size,
        retrain=config.retrain,
        progress=progress_log(context.log, "bpe/tokenizer", ["games read"]),
    )
    tell = context.log.info if work in ("built", KEPT) else context.log.warning
    tell(f"bpe/tokenizer: {work}")
    return dg.MaterializeResult(
        data_version=dg.DataVersion(manifest["vocab_hash"]),
        metadata={
            "work": work,
            "tokens": manifest["vocab_size"],
            "training month": manifest["settings"]["month"],
            "training games": manifest["training"]["games"],
            "vocab_hash": manifest["vocab_hash"],
            "longest tokens": dg.MetadataValue.md(_tokens_table(manifest["longest_tokens"])),
            "folder": dg.MetadataValue.path(lake.bpe),
        },
    )


def _tokens_table(tokens: list[dict[str, Any]]) -> str:
    rows = [f"| `{token['token']}` | {token['id']} | {token['moves']} |" for token in tokens]
    return "\n".join(["| token | id | moves |", "|---|---:|---:|", *rows])
