"""Packs in words: several as a table, one in full."""

from collections.abc import Mapping, Sequence
from typing import Any

from rukh_loaders.formats.pack import META, Pack
from rukh_loaders.inspection.columns import describe_columns
from rukh_loaders.inspection.lengths import histogram, lengths_of


def describe_packs(packs: Sequence[Pack]) -> str:
    """A table of several packs, a line each; and their sum, where they are of one scheme."""
    rows = [(pack.path.name, pack.info.scheme, *_figures([pack]), pack.info.vocab_hash[:12]) for pack in packs]
    if len({pack.info.scheme for pack in packs}) == 1:
        rows.append(("all", "", *_figures(packs), ""))
    rows.insert(0, ("pack", "scheme", "games", "tokens", "tokens/game", "size", "vocabulary"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_row(row, widths) for row in rows)


def describe_pack(pack: Pack) -> str:
    """What the pack holds and was made from, how long its games are, and the ranges of its columns."""
    info, manifest = pack.info, pack.manifest or {}
    games, tokens, _, size = _figures([pack])
    months = ", ".join(manifest.get("months", [])) or "no month stated"
    lines = [
        str(pack.path),
        f"{info.scheme} pack of {months}: {games} games, {tokens} tokens, {size}",
        "",
        f"source      {info.source}{_hash_of_games(manifest)}",
        f"vocabulary  {info.vocab_size:,} ids, hash {info.vocab_hash}",
        f"manifest    {'size and sha256 of every file' if pack.manifest is not None else 'none'}",
    ]
    if len(pack):
        lines += ["", _describe_lengths(pack), "", describe_columns(pack)]
    return "\n".join(lines)


def _hash_of_games(manifest: Mapping[str, Any]) -> str:
    games = manifest.get("games")
    return f", sha256 {games['sha256']}" if isinstance(games, dict) and "sha256" in games else ""


def _describe_lengths(pack: Pack) -> str:
    lengths = lengths_of(pack)
    mean = pack.info.n_tokens / len(pack)
    figures = f"median {lengths.quantile(0.5)}, mean {mean:.1f}, 95% at most {lengths.quantile(0.95)}"
    head = f"tokens a game: {lengths.shortest} to {lengths.longest}, {figures}"
    return "\n".join([head, *(f"  {line}" for line in histogram(lengths))])


def _figures(packs: Sequence[Pack]) -> tuple[str, str, str, str]:
    """Games, tokens, tokens a game, and size of all together."""
    games, tokens = sum(pack.info.n_games for pack in packs), sum(pack.info.n_tokens for pack in packs)
    return f"{games:,}", f"{tokens:,}", f"{tokens / max(games, 1):.1f}", f"{sum(map(_bytes, packs)) / 1e6:,.1f} MB"


def _bytes(pack: Pack) -> int:
    files = [META, "tokens.npy", "starts.npy", *(f"columns/{name}.npy" for name in pack.columns)]
    return sum((pack.path / name).stat().st_size for name in files)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        cell.ljust(width) if column in (0, 1, 6) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()
