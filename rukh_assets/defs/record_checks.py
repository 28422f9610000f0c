"""The blocking checks of `records/<corpus>/shards`: what has to hold of a month before anybody trains on it."""

from collections.abc import Callable
from typing import Any

import dagster as dg

from rukh_assets.defs.checks import MonthCheck, agree, month_check
from rukh_assets.defs.records import corpora, shards_key
from rukh_assets.defs.resources import Lake
from rukh_assets.records.checking import verify_groups, verify_masks
from rukh_loaders.formats.corpus import Corpus, open_corpus

CorpusCheck = Callable[[Corpus], dict[str, Any]]


def keys_agree(corpus: Corpus) -> dict[str, Any]:
    """All keys of a shard have the same records, masks are as long as their ids, and the manifest counts the same."""
    manifest = corpus.manifest  # opening it has compared the keys of each shard
    counts = manifest["counts"]
    agree("records read", manifest=counts["read"], kept_and_skipped=counts["kept"] + sum(counts["skipped"].values()))
    agree("documents", kept=counts["kept"], shards=sum(shard.n_documents for shard in corpus.shards))
    agree("tokens", manifest=manifest["n_tokens"], shards=sum(shard.n_tokens for shard in corpus.shards))
    return agree("rows", manifest=manifest["n_records"], shards=len(corpus))


def masks_train(corpus: Corpus) -> dict[str, Any]:
    """Masks are 0 or 1, and every document that the config can train has a trained token."""
    return {**verify_masks(corpus)}


def groups_agree(corpus: Corpus) -> dict[str, Any]:
    """Beside a group, a record has one value, such as a reward, for all its sequences or one for each."""
    return {**verify_groups(corpus)}


def files_are_whole(corpus: Corpus) -> dict[str, Any]:
    """Every file has the sha256 that the manifest says."""
    corpus.verify()
    return {"files": len(corpus.manifest["files"])}


def of_month(corpus: str, check: CorpusCheck) -> MonthCheck:
    """The check of whatever month of a corpus is asked for."""

    def run(lake: Lake, month: str) -> dict[str, Any]:
        return check(open_corpus(lake.corpus(corpus, month)))

    return run


def corpus_checks(corpus: str) -> list[dg.AssetChecksDefinition]:
    """The checks of one corpus' shards."""
    return [
        month_check(shards_key(corpus), check.__name__, of_month(corpus, check), check.__doc__)
        for check in (keys_agree, masks_train, groups_agree, files_are_whole)
    ]


record_checks = [check for corpus in corpora for check in corpus_checks(corpus)]
