"""The blocking checks: what has to hold of a month before anything is built on it.

Each asset validates what it reads as well, since a blocking check stops only what is downstream in the same run.
"""

import warnings
from collections.abc import Callable
from typing import Any

import dagster as dg

from rukh_assets.defs.partitions import months
from rukh_assets.defs.resources import Lake
from rukh_assets.encode import SCHEMES
from rukh_assets.errors import CheckFailedError, RukhAssetsError
from rukh_assets.ingest.month import open_games
from rukh_assets.reports.fixture import verify_fixture
from rukh_loaders.errors import RukhLoadersError
from rukh_loaders.formats import open_pack
from rukh_loaders.formats.manifest import read_manifest, verify_files

MonthCheck = Callable[[Lake, str], dict[str, Any]]


def agree(what: str, **values: object) -> dict[str, Any]:
    """The values, when all are equal.

    Raises:
        CheckFailedError: with every name and value, when they are not.
    """
    if len(set(values.values())) > 1:
        raise CheckFailedError(f"{what} differ: " + ", ".join(f"{name} {value}" for name, value in values.items()))
    return {name: str(value) for name, value in values.items()}


def games_exist(lake: Lake, month: str) -> dict[str, Any]:
    """A month has games, and its files are those that its manifest lists."""
    manifest, file = open_games(lake.games(month))
    verify_files(lake.games(month), manifest)
    if file.metadata.num_rows < 1:
        raise CheckFailedError(f"{lake.games_file(month)} holds no game; at least one is wanted")
    return {"games": file.metadata.num_rows}


def games_counts_agree(lake: Lake, month: str) -> dict[str, Any]:
    """Games read are the kept and the rejected ones, and the kept ones are the rows of the file."""
    manifest, file = open_games(lake.games(month))
    counts = manifest["counts"]
    accounted = counts["kept"] + sum(counts["rejected"].values())
    agree("games read", manifest=counts["read"], kept_and_rejected=accounted)
    return agree("games kept", manifest=counts["kept"], rows=file.metadata.num_rows)


def pack_counts_agree(scheme: str) -> MonthCheck:
    """Games, shards, pack and manifest count the same games, shards and pack the same tokens."""

    def check(lake: Lake, month: str) -> dict[str, Any]:
        _, file = open_games(lake.games(month))
        shards, pack = read_manifest(lake.shards(scheme, month)), open_pack(lake.pack(scheme, month))
        manifest = pack.manifest or {}
        agree("tokens", shards=shards["n_tokens"], pack=pack.info.n_tokens, manifest=manifest.get("n_tokens"))
        return agree(
            "games",
            games=file.metadata.num_rows,
            shards=shards["n_games"],
            pack=pack.info.n_games,
            starts=len(pack.starts),
            manifest=manifest.get("n_games"),
        )

    return check


def pack_vocabulary_is_the_tokenizers(scheme: str) -> MonthCheck:
    """The pack's vocabulary hash is that of the tokenizer which stands."""

    def check(lake: Lake, month: str) -> dict[str, Any]:
        standing = lake.encoder(scheme).vocabulary
        info = open_pack(lake.pack(scheme, month)).info
        agree("vocabulary sizes", pack=info.vocab_size, tokenizer=standing.vocab_size)
        return agree("vocabulary hashes", pack=info.vocab_hash, tokenizer=standing.vocab_hash)

    return check


def pack_stream_is_whole(scheme: str) -> MonthCheck:
    """Files are the manifest's; starts begin at 0, rise, are each a bos; eos is last; ids are known, none is unk."""

    def check(lake: Lake, month: str) -> dict[str, Any]:
        pack = open_pack(lake.pack(scheme, month))
        pack.verify()
        return {"tokens": pack.info.n_tokens, "games": pack.info.n_games}

    return check


def month_check(asset: dg.AssetKey, name: str, check: MonthCheck, description: str | None) -> dg.AssetChecksDefinition:
    """A blocking check of one month of `asset`; the only place that knows that partitioned checks are a preview."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=dg.PreviewWarning)

        @dg.asset_check(asset=asset, name=name, blocking=True, partitions_def=months, description=description)
        def run(context: dg.AssetCheckExecutionContext, lake: Lake) -> dg.AssetCheckResult:
            return result_of(lambda: check(lake, context.partition_key))

    return run


def result_of(check: Callable[[], dict[str, Any]]) -> dg.AssetCheckResult:
    """What `check` returns is shown with the pass; an error of ours is shown as the reason of the failure."""
    try:
        return dg.AssetCheckResult(passed=True, metadata=check())
    except (RukhAssetsError, RukhLoadersError) as error:
        return dg.AssetCheckResult(passed=False, description=str(error))


@dg.asset_check(
    asset="parity_fixture", blocking=True, description="Every id of the fixture is what the tokenizers give."
)
def fixture_agrees(lake: Lake) -> dg.AssetCheckResult:
    """The fixture is encoded again with the tokenizers that stand."""
    return result_of(lambda: {"games": verify_fixture(lake.fixtures, lake.bpe_file)})


def pack_checks(scheme: str) -> list[dg.AssetChecksDefinition]:
    """The checks of one scheme's pack."""
    key = dg.AssetKey([scheme, "pack"])
    made = {
        "counts_agree": pack_counts_agree,
        "vocabulary_is_the_tokenizers": pack_vocabulary_is_the_tokenizers,
        "stream_is_whole": pack_stream_is_whole,
    }
    return [month_check(key, name, make(scheme), make.__doc__) for name, make in made.items()]


checks = [
    month_check(dg.AssetKey("games"), "games_exist", games_exist, games_exist.__doc__),
    month_check(dg.AssetKey("games"), "counts_agree", games_counts_agree, games_counts_agree.__doc__),
    *(check for scheme in SCHEMES for check in pack_checks(scheme)),
    fixture_agrees,
]
