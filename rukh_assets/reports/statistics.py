"""How long games are in each scheme: the table `tokenizer-stats.json`, from the packs' starts alone."""

import json
from collections.abc import Mapping
from typing import Any

from rukh_assets.encode import SCHEMES
from rukh_assets.errors import StatisticsError
from rukh_assets.reports.lengths import Lengths, pack_lengths
from rukh_loaders.formats import Pack

DEFAULT_MAX_LEN = 200


def month_statistics(
    packs: Mapping[str, Pack], tokenizer: Any, max_len: int = DEFAULT_MAX_LEN, first: int | None = None
) -> dict[str, Any]:
    """Make the table of one month, keys in the order of the published file.

    Args:
        packs: scheme -> pack of the same games, for each of `uci`, `san` and `bpe`.
        tokenizer: the `tokenizers.Tokenizer` of the bpe pack; its longest tokens are listed.
        max_len: the length whose share of games is given: `pct_le_max_len`.
        first: only the first so many games; None or more than there are: all of them. `n_games` is the number used.

    Lengths are ids a game, frame included; means, `np.percentile` values and percents are rounded to 2 digits.

    Raises `StatisticsError` where a scheme is missing, the packs do not hold the same number of games, there is none,
    or `tokenizer` is not that of the bpe pack.
    """
    from rukh_loaders.tokenizers.bpe import bpe_vocabulary, longest_tokens

    n_games = _games_in(packs) if first is None else min(first, _games_in(packs))
    if n_games < 1:
        raise StatisticsError(f"statistics over {n_games} games; at least one is needed")
    fitting, used = packs["bpe"].info.vocab_hash, bpe_vocabulary(tokenizer).vocab_hash
    if fitting != used:
        raise StatisticsError(f"{packs['bpe'].path}: the pack's vocab_hash is {fitting}, the tokenizer's is {used}")
    schemes = {
        scheme: {"vocab_size": packs[scheme].info.vocab_size} | _summary(pack_lengths(packs[scheme], n_games), max_len)
        for scheme in SCHEMES
    }
    return {
        "source": {"games": "games.parquet", "n_games": n_games, "max_len": max_len},
        "schemes": schemes,
        "bpe_longest_tokens": longest_tokens(tokenizer, 10),
    }


def to_bytes(statistics: Mapping[str, Any]) -> bytes:
    """The file's bytes: JSON in the order given, `indent=2`, ASCII, `\\n` line ends and one at the end."""
    return (json.dumps(statistics, indent=2) + "\n").encode("ascii")


def _games_in(packs: Mapping[str, Pack]) -> int:
    missing = [scheme for scheme in SCHEMES if scheme not in packs]
    if missing:
        raise StatisticsError(f"packs of {sorted(packs)}; those of {missing} are missing")
    counts = {scheme: packs[scheme].info.n_games for scheme in SCHEMES}
    if len(set(counts.values())) > 1:
        raise StatisticsError(f"packs of the same games hold the same number of them; got {counts}")
    return counts["uci"]


def _summary(lengths: Lengths, max_len: int) -> dict[str, float]:
    return {
        "mean": round(lengths.mean, 2),
        "p50": round(lengths.percentile(50), 2),
        "p95": round(lengths.percentile(95), 2),
        "pct_le_max_len": round(100 * lengths.n_games_up_to(max_len) / lengths.n_games, 2),
    }
