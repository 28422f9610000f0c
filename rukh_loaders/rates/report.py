"""The rates of a machine as text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rukh_loaders.formats.pack import Pack
from rukh_loaders.rates.measuring import CAREFUL, LIMIT, LOADER, NAIVE, NO_THREAD, ROUNDS, Rate, measure
from rukh_loaders.rates.residency import resident_share

Rates = Mapping[int, Mapping[str, Rate]]
"""By batch size and by way."""

_MOSTLY = 0.99
_UNDISTURBED = 0.9


def bench_report(pack: Pack, block: int, batch_sizes: Sequence[int], seconds: float) -> str:
    """Measure for about `seconds` in all, and say in words and a table what this machine serves.

    Raises `BenchmarkError` where the pack is too small for a batch of whole windows.
    """
    tokens = pack.path / "tokens.npy"
    lines = [
        f"{pack.path}: {pack.info.n_games:,} games, {pack.info.n_tokens:,} tokens",
        describe_residency(tokens, resident_share(tokens)),
        f"windows of {block} tokens from games' starts, shuffled; elapsed time, medians of {ROUNDS} rounds",
    ]
    rates = {size: measure(pack, block, size, seconds / len(batch_sizes)) for size in dict.fromkeys(batch_sizes)}
    return "\n".join([*lines, "", *rate_table(rates), "", *conclusions(rates)])


def describe_residency(file: Path, share: float | None) -> str:
    """Whether the rates are those of memory or of the disk."""
    size = f"{file.name} has {file.stat().st_size / 1e6:,.1f} MB"
    if share is None:
        return f"{size}; the system does not tell how much of it lies in memory"
    if share >= _MOSTLY:
        return f"{size}, all of it in memory"
    return f"{size}, {share:.0%} of it in memory: the rates are partly the disk's, so measure once more"


def rate_table(rates: Rates) -> list[str]:
    """Lines of a table: for each batch size millions of tokens a second, and how many times the naive way that is."""
    names = (NAIVE, CAREFUL, NO_THREAD, LOADER, LIMIT)
    wide = max(map(len, names))
    sizes = "".join(f"{f'batch {size}':>20}" for size in rates)
    units = "".join(f"{'Mtok/s':>11}{'x naive':>9}" for _ in rates)
    return [f"{'':{wide}}{sizes}", f"{'':{wide}}{units}", *(f"{name:{wide}}{_row(rates, name)}" for name in names)]


def conclusions(rates: Rates) -> list[str]:
    """How near the loader comes to the limit, and whether something else kept the machine busy."""
    best = {size: max(of[name].tokens_per_s for name in (LOADER, NO_THREAD)) for size, of in rates.items()}
    shares = ", ".join(f"{best[size] / of[LIMIT].tokens_per_s:.0%} at batch {size}" for size, of in rates.items())
    lines = [f"make_loader reaches {shares} of what a gather alone does."]
    running = min(of[LIMIT].running for of in rates.values())
    if running < _UNDISTURBED:
        lines.append(f"The gather ran {running:.0%} of the time and waited else: for other programs or the disk.")
    return lines


def _row(rates: Rates, name: str) -> str:
    return "".join(
        f"{of[name].tokens_per_s / 1e6:11.1f}{of[name].tokens_per_s / of[NAIVE].tokens_per_s:9.1f}"
        for of in rates.values()
    )
